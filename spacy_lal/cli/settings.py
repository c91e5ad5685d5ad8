"""`settings`: a trained pipeline with other settings, which are stored with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from wasabi import msg

from .checks import check_folder, clear_errors


def settings(
    ctx: typer.Context,
    model: Annotated[str, typer.Argument(help="A pipeline: a package's name or a folder.")],
    output: Annotated[Path, typer.Argument(help="Where to write the pipeline.")],
) -> None:
    """Write MODEL to OUTPUT with other settings of its config, given as `spacy train` takes them:
    --components.lisa_srl.overwrite_parser 3."""
    from spacy.cli._util import parse_config_overrides

    from ..ged.gec_detector import READING
    from ..pipeline.loading import load_pipeline

    with clear_errors(f"settings: {model}"):
        changed = parse_config_overrides(ctx.args)
        if not changed:
            raise ValueError("no settings: name some, as --components.NAME.SETTING VALUE")
        for place in changed:
            if not place.startswith(("components.", "nlp.")):
                raise ValueError(f"{place}: only settings of [components] and [nlp] can be changed")
            if ".model." in place and place.rpartition(".")[2] not in READING:
                raise ValueError(f"{place}: this is stored with the weights and can't be changed")
        check_folder(output, [Path(model)])
        nlp = load_pipeline(model, config=changed)
        for place, value in changed.items():
            _set_in_cfg(nlp, place, value)
        nlp.to_disk(output)
    msg.good(str(output))


def _set_in_cfg(nlp: Any, place: str, value: Any) -> None:
    """Set what is stored beside the weights, and read from there: a detector's threshold."""
    section, _, rest = place.partition(".")
    name, _, setting = rest.rpartition(".")
    if section == "components" and name in nlp.pipe_names:
        cfg = getattr(nlp.get_pipe(name), "cfg", {})
        if setting in cfg:
            cfg[setting] = value
