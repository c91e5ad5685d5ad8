"""`train`: `spacy train` with checkpoints."""

import logging
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from .checks import clear_errors


def train(
    ctx: typer.Context,
    config: Annotated[Path, typer.Argument(help="The config.", exists=True, dir_okay=False)],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for model-best, model-last, checkpoint.")
    ],
    resume: Annotated[bool, typer.Option("--resume", help="Continue from a checkpoint.")] = False,
    every: Annotated[
        int, typer.Option("--checkpoint-steps", min=0, help="Also write one every N steps.")
    ] = 0,
    minutes: Annotated[
        float, typer.Option(min=0, help="End after so many minutes of training; 0: by the config.")
    ] = 0.0,
    code: Annotated[
        Path | None, typer.Option("--code", "-c", help="Python file to import first.", exists=True)
    ] = None,
    use_gpu: Annotated[int, typer.Option("--gpu-id", "-g", help="GPU, or -1 for the CPU.")] = -1,
    verbose: Annotated[bool, typer.Option("--verbose", "-V", help="Say more.")] = False,
) -> None:
    """Train as `spacy train` does, with checkpoints from which --resume continues.

    The result is the same as if training had never stopped. All other options are settings of the
    config, such as --training.max_steps 1000. OUTPUT keeps the checkpoint after training, so you
    can continue with a larger max_steps; else delete the checkpoint. With the learning
    rate spacy-lal.falling.v1, the rate is zero at the end, whether steps or minutes end training.
    """
    from spacy.cli._util import (
        import_code,
        parse_config_overrides,
        setup_gpu,
        show_validation_error,
    )
    from spacy.training.initialize import init_nlp
    from spacy.training.loop import DIR_MODEL_BEST, DIR_MODEL_LAST
    from spacy.util import load_config, logger

    from ..formats.files import alone_in
    from ..training.checkpoint import CHECKPOINT, CheckpointError, read_state
    from ..training.loop import CorpusError, describe_run, differences, unequal
    from ..training.loop import train as train_pipeline

    if verbose:
        logger.setLevel(logging.DEBUG)
    overrides = parse_config_overrides(ctx.args)
    import_code(code)
    with show_validation_error(config):
        raw = load_config(config, overrides=overrides, interpolate=False)
    with clear_errors("train"):
        run = describe_run(raw.interpolate(), [code] if code else [], output)
        state, place = read_state(output), output / CHECKPOINT
        if state and not state["progress"]["steps"] and differences(run, state["run"]):
            state = None  # nothing is lost before the first step
        if state and not resume:
            raise ValueError(f"{place} exists: continue from it with --resume, or delete it")
        if state:
            if found := differences(run, state["run"]):
                raise ValueError(f"{place} is of another training: {'; '.join(found)}")
            for name, now, before in unequal(run["versions"], state["run"]["versions"]):
                msg.warn(f"{name} is {now}, and was {before}: last digits may differ")
            if state["progress"]["finished"] and run["config"] == state["run"]["config"]:
                msg.good(f"{output}: finished after {state['progress']['steps']} steps")
                return
        elif resume:
            for name in (DIR_MODEL_BEST, DIR_MODEL_LAST):
                if (output / name).exists():
                    raise ValueError(f"{name} is there, but no {place}: train without --resume")
            msg.info(f"no {CHECKPOINT} in {output} yet: training begins")
        output.mkdir(parents=True, exist_ok=True)
        alone = ExitStack()
        alone.enter_context(alone_in(output))
    with alone:
        setup_gpu(use_gpu)
        with clear_errors("train"), show_validation_error(config, hint_fill=False):
            nlp = init_nlp(raw, use_gpu=use_gpu)
        try:
            train_pipeline(
                nlp, output, run, resume=state, every=every, minutes=minutes, use_gpu=use_gpu
            )
        except (CheckpointError, CorpusError, NotImplementedError, OSError) as error:
            with clear_errors("train"):
                raise error
    msg.good(f"Saved pipeline to output directory {output / DIR_MODEL_LAST}")
