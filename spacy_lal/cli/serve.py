"""`serve`: a web page with the annotation of texts."""

import socket
import sys
from typing import Annotated

import typer
from wasabi import msg

from .checks import clear_errors


def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]...",
            help="Pipelines' names or folders; by default all installed ones with lal in the name.",
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port, 0 for a free one.")] = 8000,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A name by which browsers may call the server, too.")
    ] = None,
    max_chars: Annotated[int, typer.Option(min=1, help="Longest text, in characters.")] = 2000,
    waiting: Annotated[int, typer.Option(min=1, help="Texts that may wait their turn.")] = 32,
    seconds: Annotated[float, typer.Option(min=0.1, help="How long one text may take.")] = 30.0,
) -> None:
    """Serve a page that shows the annotation of typed text, and POST /parse for programs.

    Only this machine can reach it, unless --host is given. Needs the extra [demo].
    """
    with clear_errors("serve"):
        try:
            import uvicorn

            from ..page.app import LOOPBACK, Limits, make_app
        except ImportError:
            raise ImportError("needs a web server: pip install 'spacy-lal[demo]'") from None
        from spacy.util import get_installed_models

        from ..annotate.annotating import load

        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # before pipelines are loaded; requests before the server runs are queued
        listening = socket.create_server((host, port), family=family)
        names = models or sorted(name for name in get_installed_models() if "_lal_" in name)
        if not names:
            raise ValueError("no pipeline is installed: name one, or a folder")
        pipelines = {name: load(name) for name in dict.fromkeys(names)}
        limits = Limits(max_chars=max_chars, waiting=waiting, seconds=seconds)
        # as browsers get it, too: a socket shortens IPv6 addresses
        where = listening.getsockname()
        hosts = [*LOOPBACK, *map(_in_address, allow_host or ())]
        shown = _in_address(where[0])
        if where[0] in ("0.0.0.0", "::"):
            # all addresses of the machine; browsers elsewhere use a name of --allow-host
            shown = "localhost"
        else:
            hosts += [_in_address(host), shown]
        app = make_app(pipelines, limits, hosts=hosts)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            # bounds the memory of requests, whose size is bounded
            limit_concurrency=8 * waiting,
            timeout_keep_alive=5,
        )
        msg.good(f"http://{shown}:{where[1]} shows {', '.join(pipelines)}; Ctrl-C stops it")
        sys.stdout.flush()
        uvicorn.Server(config).run(sockets=[listening])


def _in_address(host: str) -> str:
    """Return a host as in addresses and the header Host: IPv6 in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
