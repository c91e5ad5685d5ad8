"""The server: an ASGI application."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from spacy.language import Language

from .. import __version__
from ..drawing.html import all_styles
from .answers import Question, answer, views
from .schema import openapi
from .worker import Busy, Limits, TooSlow, Worker

try:
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
except ImportError as error:  # pragma: no cover
    raise ImportError("the page needs a web server: pip install 'spacy-lal[demo]'") from error

STATIC = Path(__file__).parent / "static"
"""Folder of the page's static files."""
FILES = {
    "/": ("index.html", "text/html"),
    "/page.js": ("page.js", "text/javascript"),
    "/page.css": ("page.css", "text/css"),
}
"""Static files and their media types, by URL path."""
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of all answers; they forbid everything that the page doesn't need."""
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""Host names of this machine."""

logger = logging.getLogger(__name__)


def make_app(
    pipelines: Mapping[str, Language],
    limits: Limits | None = None,
    *,
    hosts: Sequence[str] = LOOPBACK,
) -> Starlette:
    """Return the page and `POST /parse` for these pipelines. hosts: accepted host names; requests
    by other names are refused, as a protection against DNS rebinding."""
    limits = limits or Limits()
    worker = Worker(limits.waiting, limits.seconds)
    models = {name: views(nlp) for name, nlp in pipelines.items()}
    schema = openapi(models, limits, __version__)

    async def parse(request: Request) -> Response:
        name, question = _question(await _body(request, limits), models, limits)
        try:
            found = await worker.do(lambda: answer(pipelines[name], question))
        except Busy:
            wait = {"Retry-After": "2"}
            raise HTTPException(503, "too many texts are waiting: try again soon", wait) from None
        except TooSlow:
            said = f"this text was not done in {limits.seconds:g} seconds"
            raise HTTPException(503, said, {"Retry-After": "5"}) from None
        except Exception:
            logger.exception("a text failed")
            raise HTTPException(500, "the pipeline failed on this text") from None
        return JSONResponse({"model": name, **found})

    async def health(request: Request) -> Response:
        waiting = worker.waiting
        return JSONResponse({"status": "ok", "models": list(models), "waiting": waiting})

    async def about(request: Request) -> Response:
        most = {"max_chars": limits.max_chars, "max_trees": limits.max_trees}
        return JSONResponse({"models": models, **most})

    async def described(request: Request) -> Response:
        return JSONResponse(schema)

    async def refuse(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        worker.close()

    return Starlette(
        routes=[
            Route("/parse", parse, methods=["POST"]),
            Route("/health", health),
            Route("/models", about),
            Route("/openapi.json", described),
            Route("/pictures.css", _text(all_styles(), "text/css")),
            *(
                Route(path, _text((STATIC / name).read_text(encoding="utf8"), kind))
                for path, (name, kind) in FILES.items()
            ),
        ],
        middleware=[
            Middleware(SecurityHeaders),
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False),
        ],
        exception_handlers={HTTPException: refuse},
        lifespan=lifespan,
    )


async def _body(request: Request, limits: Limits) -> bytes:
    """Return the body. Raises HTTPException for another type, a large body, or a timeout."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    # other sites' pages can't send JSON unasked
    if kind != "application/json":
        raise HTTPException(415, "send JSON, with the header Content-Type: application/json")
    parts, size = [], 0
    try:
        async with asyncio.timeout(limits.seconds):
            async for part in request.stream():
                size += len(part)
                if size > limits.max_bytes:
                    raise HTTPException(413, _too_long(limits))
                parts.append(part)
    except (TimeoutError, ClientDisconnect):
        raise HTTPException(400, "the request was not complete in time") from None
    return b"".join(parts)


def _too_long(limits: Limits) -> str:
    return f"the text is too long: at most {limits.max_chars:,} characters"


def _question(body: bytes, models: Mapping[str, list[str]], limits: Limits) -> tuple[str, Question]:
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the request is not JSON") from None
    if not isinstance(asked, dict):
        raise HTTPException(400, 'the request must be a JSON object, such as {"text": "…"}')
    if unknown := sorted({*asked} - {"text", "model", "view", "trees"}):
        raise HTTPException(400, f"unknown field: {', '.join(unknown)[:80]}")
    text, name = asked.get("text"), asked.get("model", next(iter(models)))
    view, trees = asked.get("view", ""), asked.get("trees", 0)
    if not isinstance(text, str):
        raise HTTPException(400, "text must be a string")
    if len(text) > limits.max_chars:
        raise HTTPException(413, f"{_too_long(limits)}, these are {len(text):,}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise HTTPException(400, "text is not Unicode: it has half a pair of surrogates") from None
    if not isinstance(name, str) or name not in models:
        raise HTTPException(400, f"model must be one of {', '.join(models)}")
    if view != "" and view not in models[name]:
        raise HTTPException(400, f"view must be one of {', '.join(models[name])}, or empty")
    whole = isinstance(trees, int) and not isinstance(trees, bool)
    if not whole or not 0 <= trees <= limits.max_trees:
        raise HTTPException(400, f"trees must be a whole number from 0 to {limits.max_trees}")
    if trees and "kbest" not in models[name]:
        raise HTTPException(400, f"{name} has no parser that ranks trees")
    if view == "kbest":
        trees = trees or min(2, limits.max_trees)
    return name, Question(text, view, trees)


def _text(content: str, kind: str) -> Any:
    async def file(request: Request) -> Response:
        return Response(content, media_type=kind)

    return file


class SecurityHeaders:
    """Middleware that adds `HEADERS` to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                extra = [(k.lower().encode(), v.encode()) for k, v in HEADERS.items()]
                message["headers"] = [*message["headers"], *extra]
            await send(message)

        await self.app(scope, receive, with_headers if scope["type"] == "http" else send)
