"""`own-vectors`: word vectors inside the components of a pipeline that was trained without."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from .checks import check_folder, clear_errors


def own_vectors(
    model: Annotated[Path, typer.Argument(help="Folder of a trained pipeline.", exists=True)],
    output: Annotated[Path, typer.Argument(help="Where to write the new pipeline.")],
) -> None:
    """Write MODEL to OUTPUT with its word vectors stored inside its components."""
    from ..pipeline import own_vectors as pipeline
    from ..pipeline.loading import load_pipeline

    with clear_errors(f"own-vectors: {model}"):
        check_folder(output, [model])
        pipeline.own_vectors(load_pipeline(model)).to_disk(output)
    msg.good(str(output))
