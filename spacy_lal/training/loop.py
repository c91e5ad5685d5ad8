"""Training as in `spacy train`, resumable after a crash, and the description of a training: its
config, its files, and its initial pipeline."""

import json
import os.path
import shutil
import sys
from collections.abc import Collection, Iterable, Iterator
from hashlib import blake2b, file_digest
from importlib.metadata import version
from pathlib import Path
from timeit import default_timer
from typing import Any

from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.training import Example
from spacy.training.loop import (
    DIR_MODEL_BEST,
    DIR_MODEL_LAST,
    clean_output_dir,
    create_before_to_disk_callback,
    create_evaluation_callback,
    create_train_batches,
    subdivide_batch,
    update_meta,
)
from spacy.util import dict_to_dot, registry, resolve_dot_names
from thinc.api import Config, Optimizer, fix_random_seed, set_gpu_allocator
from wasabi import msg

from ..formats.files import remove_unfinished, replace_folder
from .checkpoint import Saved, models_of, random_state, with_own_random
from .schedules import tell_share

MAY_CHANGE = ("training.max_steps", "training.patience", "training.logger")
"""Settings that decide when training stops and what it prints, not its results."""

MISSING = "not there"
"""Value of missing settings."""


class CorpusError(ValueError):
    """Unreadable development data, with the reader's message."""


def train(
    nlp: Language,
    output: Path,
    run: dict[str, Any],
    *,
    resume: dict[str, Any] | None = None,
    every: int = 0,
    minutes: float = 0.0,
    use_gpu: int = -1,
) -> None:
    """Train a pipeline, and write checkpoints from which training resumes to the same result.

    nlp: just initialised. output: folder of model-best, model-last and the checkpoint.
    run: description of the training, kept with the checkpoint. resume: the state of the checkpoint
        in `output`, None to begin anew.
    every: steps between checkpoints beside those after evaluations; 0 for none.
    minutes: after these, training ends with an evaluation; 0 for no limit.
    Raises CheckpointError if a checkpoint doesn't fit the pipeline or the data, CorpusError for
    unreadable development data.
    """
    remove_unfinished(output)
    config = nlp.config.interpolate()
    if config["training"]["seed"] is not None:
        fix_random_seed(config["training"]["seed"])
    if use_gpu >= 0 and config["training"]["gpu_allocator"]:
        set_gpu_allocator(config["training"]["gpu_allocator"])
    settings = registry.resolve(config["training"], schema=ConfigSchemaTraining)
    corpora = [settings["train_corpus"], settings["dev_corpus"]]
    train_corpus, dev_corpus = resolve_dot_names(config, corpora)

    def dev(nlp: Language) -> Iterator[Example]:
        try:
            yield from dev_corpus(nlp)
        except ValueError as error:  # apart from training's own
            raise CorpusError(str(error)) from error

    before_to_disk = create_before_to_disk_callback(settings["before_to_disk"])
    evaluate = create_evaluation_callback(nlp, dev, settings["score_weights"])
    optimizer: Optimizer = settings["optimizer"]
    frozen = settings["frozen_components"]
    data_random = resume["data_random"] if resume is not None else random_state(gpus=False)
    batches = with_own_random(
        create_train_batches(nlp, train_corpus, settings["batcher"], settings["max_epochs"]),
        data_random,
    )
    begins = describe_pipeline(nlp, frozen)
    saved = Saved(nlp, optimizer, frozen, run, begins, data_random)

    def save_pipeline(best: bool) -> None:
        with nlp.use_params(optimizer.averages):
            replace_folder(output / DIR_MODEL_LAST, before_to_disk(nlp).to_disk)
        if best:
            replace_folder(
                output / DIR_MODEL_BEST, lambda new: shutil.copytree(output / DIR_MODEL_LAST, new)
            )

    if resume is None:
        clean_output_dir(output)
        # a checkpoint exists before the first step
        saved.write(output)
    else:
        msg.info(f"Goes on after {resume['progress']['steps']} steps")
        saved.read(output, resume, batches, lambda: dev(nlp))
    progress = saved.progress

    msg.info(f"Pipeline: {nlp.pipe_names}")
    msg.info(f"Learn rate: {optimizer.learn_rate}")
    with nlp.select_pipes(disable=frozen):
        log_step, finalize_logger = settings["logger"](nlp, sys.stdout, sys.stderr)
    began = default_timer() - progress.seconds
    max_steps, patience, limit = settings["max_steps"], settings["patience"], 60 * minutes
    try:
        while not progress.over(max_steps, patience, limit):
            epoch, batch = next(batches, (0, None))
            if batch is None:
                progress.exhausted = True
                break
            step = progress.steps
            if settings["before_update"]:
                settings["before_update"](nlp, {"step": step, "epoch": epoch})
            tell_share(progress.share(max_steps, limit))
            _update(nlp, batch, optimizer, progress.losses, settings)
            score, scores = None, None
            last = limit and default_timer() - began >= limit
            evaluated = last or step % settings["eval_frequency"] == 0
            if evaluated:
                with nlp.use_params(optimizer.averages):
                    score, scores = evaluate()
                progress.results.append((float(score), step))
            progress.steps += 1
            progress.words += sum(len(example) for example in batch)
            progress.seconds = default_timer() - began
            info = {
                "epoch": epoch,
                "step": step,
                "score": score,
                "other_scores": scores,
                "losses": progress.losses,
                "checkpoints": progress.results,
                "seconds": int(progress.seconds),
                "words": progress.words,
            }
            if evaluated:
                with nlp.select_pipes(disable=frozen):
                    update_meta(settings, nlp, info)
                save_pipeline(best=score == max(progress.results)[0])
                info["output_path"] = str(output / DIR_MODEL_LAST)
            log_step(info if evaluated else None)
            if evaluated:
                progress.losses = {}
            if evaluated or (every and progress.steps % every == 0):
                saved.write(output)
    finally:
        finalize_logger()
    save_pipeline(best=False)
    progress.finished = True
    saved.write(output)


def _update(
    nlp: Language,
    batch: list[Example],
    optimizer: Optimizer,
    losses: dict[str, float],
    settings: dict[str, Any],
) -> None:
    frozen = settings["frozen_components"]
    for part in subdivide_batch(batch, settings["accumulate_gradient"]):
        nlp.update(
            part,
            drop=settings["dropout"],
            losses=losses,
            sgd=False,  # type: ignore[arg-type]
            exclude=frozen,
            annotates=settings["annotating_components"],
        )
    for name in models_of(nlp, frozen):
        pipe: Any = nlp.get_pipe(name)
        if getattr(pipe, "is_trainable", False):
            pipe.finish_update(optimizer)
    optimizer.step_schedules()


def describe_run(config: Config, files: Iterable[Path], output: Path) -> dict[str, Any]:
    """Describe the config and files of a training, before the pipeline is made.
    config: the interpolated config. files: further input. output: a folder that isn't read. Files
        and folders named in [corpora] and [initialize] are described by their contents."""
    settings = dict_to_dot(config)
    named = [
        Path(text)
        for key, value in settings.items()
        if key.startswith(("corpora.", "initialize."))
        for text in (value if isinstance(value, list) else [value])
        # no text is no folder, though Path("") is one
        if isinstance(text, str) and text
    ]
    contents = {
        str(path): _digest_file(path)
        for start in (*named, *files)
        for path in _files(start)
        if output.resolve() not in path.resolve().parents
    }
    return {
        "config": json.loads(json.dumps(settings)),
        "files": contents,
        "versions": {
            name: version(name) for name in ("spacy", "thinc", "torch", "numpy", "spacy-lal")
        },
    }


def describe_pipeline(nlp: Language, frozen: Collection[str]) -> dict[str, str]:
    """Return a digest of each component before the first update; with weights if it is `frozen`."""
    digests = {}
    for name, model in models_of(nlp).items():
        exclude = ["vocab"] if name in frozen else ["vocab", "model"]
        headers = [getattr(shim, "header", None) for node in model.walk() for shim in node.shims]
        component: bytes = nlp.get_pipe(name).to_bytes(exclude=exclude)  # type: ignore[attr-defined]
        digests[name] = blake2b(component + repr(headers).encode(), digest_size=16).hexdigest()
    return digests


def differences(here: dict[str, Any], there: dict[str, Any]) -> list[str]:
    """Return the fixed settings and the files that differ in two results of `describe_run`."""
    found = []
    for key, now, before in unequal(here["config"], there["config"]):
        if not any(key == name or key.startswith(f"{name}.") for name in MAY_CHANGE):
            found.append(f"{key} is {now}, and was {before}")
    for path, now, before in unequal(here["files"], there["files"]):
        what = "is" if now == MISSING else "was" if before == MISSING else None
        found.append(f"{path} {what} {MISSING}" if what else f"{path} has changed")
    return found


def unequal(here: dict[str, Any], there: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the keys whose values differ, with both values."""
    for key in sorted(here.keys() | there.keys()):
        now, before = here.get(key, MISSING), there.get(key, MISSING)
        if now != before:
            yield key, now, before


def _files(start: Path) -> list[Path]:
    # unlike Path's methods, these take any text
    inside = sorted(start.rglob("*")) if os.path.isdir(start) else [start]
    return [path for path in inside if os.path.isfile(path)]


def _digest_file(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=16)).hexdigest()
