"""The server: an ASGI application and its queue. One thread annotates, as spaCy and memory allow no
more."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.json_schema import models_json_schema
from spacy.glossary import GLOSSARY
from spacy.language import Language
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from .. import __version__
from ..annotate.records import AnnotatedText
from ..annotations.extensions import label_meanings
from ..drawing.html import all_styles
from ..formats.files import first_error
from .answers import VIEWS, answer, by_parts, card, views

STATIC = Path(__file__).parent / "static"
"""Folder of the page's static files."""
FILES = {
    "/": ("index.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    **{
        f"/{name}.js": (f"{name}.js", "text/javascript")
        for name in ("page", "state", "picture", "words", "panels")
    },
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
LONGEST_QUERY = 500
"""Greatest length of a pattern, in characters."""
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""Host names of this machine."""

T = TypeVar("T")
_OneOf: Any = Literal

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Limits:
    """Limits of requests: characters of a text, greatest k of the k best trees, number of waiting
    texts, and seconds for a text, waiting included."""

    max_chars: int = 2000
    max_trees: int = 10
    waiting: int = 32
    seconds: float = 30.0


class Worker:
    """Queue of jobs for one thread, in order of arrival, within `limits`. An abandoned job is
    dropped unless it has begun; threads can't be stopped, so the next job waits until the running
    one ends."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._jobs: set[Future[Any]] = set()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="parse")

    @property
    def waiting(self) -> int:
        """Number of running and waiting jobs."""
        return len(self._jobs)

    async def do(self, work: Callable[[], T]) -> T:
        """Return the job's result. Raises QueueFull or TimeoutError, and the job's errors."""
        if self.waiting > self._limits.waiting:  # one of them is running
            raise asyncio.QueueFull
        future = self._thread.submit(work)
        self._jobs.add(future)
        future.add_done_callback(self._jobs.discard)
        return await asyncio.wait_for(asyncio.wrap_future(future), self._limits.seconds)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


def question_type(models: Mapping[str, list[str]], limits: Limits) -> type[BaseModel]:
    """Return the schema of requests. models: pipelines and their views."""
    shown = [view for view in VIEWS if any(view in known for known in models.values())]
    said = "How many of the most probable trees to list."
    pattern = "A pattern of spacy_lal.search, whose matches to find."
    a_view: Any = _OneOf[tuple(shown)]
    fields: dict[str, Any] = {
        "text": (str, Field(max_length=limits.max_chars)),
        "model": (_OneOf[tuple(models)], next(iter(models))),
        "views": (list[a_view], Field([], max_length=len(VIEWS))),
        "trees": (int, Field(0, ge=0, le=limits.max_trees, description=said)),
        "query": (str, Field("", max_length=LONGEST_QUERY, description=pattern)),
    }
    return create_model("Question", __config__=ConfigDict(extra="forbid", strict=True), **fields)


def make_app(
    pipelines: Mapping[str, Language],
    limits: Limits | None = None,
    *,
    hosts: Sequence[str] = LOOPBACK,
) -> Starlette:
    """Return the page and `POST /parse` for these pipelines. hosts: accepted host names; requests
    by other names are refused, as a protection against DNS rebinding."""
    limits = limits or Limits()
    worker = Worker(limits)
    models = {name: views(nlp) for name, nlp in pipelines.items()}
    question = question_type(models, limits)
    about = {
        "models": models,
        "names": VIEWS,
        "cards": {name: card(nlp) for name, nlp in pipelines.items()},
        "by_parts": [name for name, nlp in pipelines.items() if by_parts(nlp)],
        "max_chars": limits.max_chars,
        "max_trees": limits.max_trees,
    }

    async def parse(request: Request) -> Response:
        asked = _checked(await _body(request, limits), question, models)
        name = asked.pop("model")
        try:
            found = await worker.do(lambda: answer(pipelines[name], **asked))
        except asyncio.QueueFull:
            wait = {"Retry-After": "2"}
            raise HTTPException(503, "too many texts are waiting: try again soon", wait) from None
        except TimeoutError:
            said = f"this text was not done in {limits.seconds:g} seconds"
            raise HTTPException(503, said, {"Retry-After": "5"}) from None
        except Exception:
            logger.exception("a text failed")
            raise HTTPException(500, "the pipeline failed on this text") from None
        return JSONResponse({"model": name, **found})

    async def health(request: Request) -> Response:
        waiting = worker.waiting
        return JSONResponse({"status": "ok", "models": list(models), "waiting": waiting})

    async def refuse(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        worker.close()

    files = {
        "/models": JSONResponse(about),
        "/labels": JSONResponse(GLOSSARY | label_meanings()),
        "/openapi.json": JSONResponse(openapi(question)),
        "/pictures.css": Response(all_styles(), media_type="text/css"),
    }
    for path, (file, kind) in FILES.items():
        files[path] = Response((STATIC / file).read_text(encoding="utf8"), media_type=kind)
    return Starlette(
        routes=[
            Route("/parse", parse, methods=["POST"]),
            Route("/health", health),
            *(Route(path, response, methods=["GET"]) for path, response in files.items()),
        ],
        middleware=[
            Middleware(BaseHTTPMiddleware, dispatch=_with_headers),
            Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False),
        ],
        exception_handlers={HTTPException: refuse},
        lifespan=lifespan,
    )


async def _with_headers(
    request: Request, call_next: Callable[[Request], Awaitable[Response]]
) -> Response:
    response = await call_next(request)
    response.headers.update(HEADERS)
    return response


async def _body(request: Request, limits: Limits) -> bytes:
    """Return the body. Raises HTTPException for another type, a large body, or a timeout."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    # other sites' pages can't send JSON unasked
    if kind != "application/json":
        raise HTTPException(415, "send JSON, with the header Content-Type: application/json")
    body = bytearray()
    try:
        async with asyncio.timeout(limits.seconds):
            async for part in request.stream():
                body += part
                # a character takes up to 12 bytes of JSON, as two escapes
                if len(body) > 12 * limits.max_chars + 4096:
                    said = f"the text is too long: at most {limits.max_chars:,} characters"
                    raise HTTPException(413, said)
    except (TimeoutError, ClientDisconnect):
        raise HTTPException(400, "the request was not complete in time") from None
    return bytes(body)


def _checked(
    body: bytes, question: type[BaseModel], models: Mapping[str, list[str]]
) -> dict[str, Any]:
    """Return the fields of a request. Raises HTTPException, naming the first wrong one."""
    try:
        asked = question.model_validate_json(body).model_dump()
    except ValidationError as error:
        long = error.errors()[0]["type"] == "string_too_long"
        raise HTTPException(413 if long else 400, first_error(error)) from None
    known = models[asked["model"]]
    if unknown := [view for view in asked["views"] if view not in known]:
        raise HTTPException(400, f"views: {unknown[0]!r} is none of {', '.join(known)}")
    if asked["trees"] and "kbest" not in known:
        raise HTTPException(400, f"{asked['model']} has no parser that ranks trees")
    return asked


def openapi(question: type[BaseModel]) -> dict[str, Any]:
    """Return the OpenAPI description of the server."""
    described: dict[str, Any] = json.loads((STATIC / "openapi.json").read_text(encoding="utf8"))
    described["info"]["version"] = __version__
    bodies: list[Any] = [(body, "validation") for body in (question, AnnotatedText)]
    _, schemas = models_json_schema(bodies, ref_template="#/components/schemas/{model}")
    described["components"]["schemas"] |= schemas["$defs"]
    return described
