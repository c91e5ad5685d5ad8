"""`import KIND SOURCE OUT`: what others have published, as pipelines of this package.

Each kind is a command in a file of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from wasabi import msg

from .checks import check_folder, clear_errors

if TYPE_CHECKING:
    from ..published.imported import Imported

OutArgument = Annotated[Path, typer.Argument(help="Folder of the pipeline to write.")]
LangOption = Annotated[str, typer.Option("--lang", help="Language code of the pipeline.")]
LicenceOption = Annotated[
    str | None, typer.Option("--license", help="Licence of the published weights, for meta.json.")
]

import_app = typer.Typer(
    name="import",
    help="Make pipelines of models that others have published. Nothing is downloaded.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def run_import(
    source: Path,
    output: Path,
    licence: str | None,
    read: Callable[[], Imported],
    others: tuple[Path, ...] = (),
) -> None:
    """Read `source` and write the pipeline to `output`; bad input is one line and exit status 1.

    others: what is read besides `source`.
    """
    with clear_errors("import", source):
        from ..published.imported import write_imported

        check_folder(output, [source, *others])
        write_imported(read(), output, licence)
    msg.good(str(output))
