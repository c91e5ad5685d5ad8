"""Training as `spacy train` does it, which goes on where it was killed."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from timeit import default_timer
from typing import Any

import numpy as np
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
from spacy.util import registry, resolve_dot_names
from thinc.api import Optimizer, fix_random_seed, set_gpu_allocator
from torch import Tensor
from wasabi import msg

from .checkpoint import CheckpointError, read_tensors, write_checkpoint
from .parameters import (
    read_optimizer,
    read_weights,
    run_schedules,
    set_optimizer,
    set_weights,
)
from .randomness import RandomState, with_own_random
from .same_run import describe_pipeline

Batch = list[Example]


@dataclass
class Progress:
    """How far training is.

    steps: updates made. words: in their batches. seconds: that they took. losses: since the last
    evaluation, by component, each with NumPy's name of its type if it has one. results: score and
    number of the step, from 0, of each evaluation. performance: what goes to meta.json.
    exhausted: all epochs were read. finished: training is over, and its results are written.
    """

    steps: int = 0
    words: int = 0
    seconds: float = 0.0
    losses: dict[str, Any] = field(default_factory=dict)
    results: list[tuple[float, int]] = field(default_factory=list)
    performance: dict[str, Any] = field(default_factory=dict)
    exhausted: bool = False
    finished: bool = False

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Progress:
        """Undo `asdict`, after JSON."""
        values = values | {"results": [(score, step) for score, step in values["results"]]}
        return cls(**values)

    def over(self, max_steps: int, patience: int) -> bool:
        """Whether training stops here; in spaCy's counting, which has max_steps + 1 updates."""
        if self.exhausted:
            return True
        if not self.results:
            return False
        last = self.steps - 1
        best = -max((score, -step) for score, step in self.results)[1]
        return bool(patience and last - best >= patience) or bool(max_steps and last >= max_steps)


def train(
    nlp: Language,
    output: Path,
    run: dict[str, Any],
    *,
    resume: dict[str, Any] | None = None,
    every: int = 0,
    use_gpu: int = -1,
) -> None:
    """Train a pipeline, and write checkpoints from which this goes on to the same result.

    nlp: just initialised. output: folder for model-best, model-last and the checkpoint. run: what
    this is a training of, kept with the checkpoint. resume: the state in the checkpoint in
    `output`, None to begin anew. every: write checkpoints after so many steps too, not only after
    evaluations; 0 for these only.

    Raises CheckpointError if a checkpoint doesn't fit the pipeline or the data.
    """
    config = nlp.config.interpolate()
    if config["training"]["seed"] is not None:
        fix_random_seed(config["training"]["seed"])
    if use_gpu >= 0 and config["training"]["gpu_allocator"]:
        set_gpu_allocator(config["training"]["gpu_allocator"])
    settings = registry.resolve(config["training"], schema=ConfigSchemaTraining)
    corpora = [settings["train_corpus"], settings["dev_corpus"]]
    train_corpus, dev_corpus = resolve_dot_names(config, corpora)
    before_to_disk = create_before_to_disk_callback(settings["before_to_disk"])
    evaluate = create_evaluation_callback(nlp, dev_corpus, settings["score_weights"])
    optimizer: Optimizer = settings["optimizer"]
    frozen = settings["frozen_components"]
    begins = describe_pipeline(nlp, frozen)

    data_random = RandomState.now(gpus=False)
    if resume is not None:
        data_random = RandomState.from_json(resume["data_random"])
    batches = with_own_random(
        create_train_batches(nlp, train_corpus, settings["batcher"], settings["max_epochs"]),
        data_random,
    )
    progress = Progress()

    def save_checkpoint() -> None:
        weights, graded = read_weights(nlp, frozen)
        moments, numbers = read_optimizer(nlp, optimizer)
        progress.performance = nlp.meta.get("performance", {})
        state = {
            "run": run,
            "begins": begins,
            "progress": asdict(progress) | {"losses": _losses_to_json(progress.losses)},
            "data_random": data_random.to_json(),
            "random": RandomState.now().to_json(),
            "optimizer": numbers,
            "graded": graded,
        }
        tensors = _named("weights", weights) | _named("optimizer", moments)
        write_checkpoint(output, tensors, state)

    def save_pipeline(best: bool) -> None:
        with nlp.use_params(optimizer.averages):
            _replace(output / DIR_MODEL_LAST, before_to_disk(nlp).to_disk)
        if best:
            _replace(
                output / DIR_MODEL_BEST, lambda new: shutil.copytree(output / DIR_MODEL_LAST, new)
            )

    if resume is None:
        clean_output_dir(output)
        # so that there is no moment at which something is trained and can't go on
        save_checkpoint()
    else:
        for name, digest in begins.items():
            if resume["begins"].get(name) != digest:
                raise CheckpointError(
                    f"{name} begins with other labels, vocabularies or shapes than the component "
                    "that the checkpoint is of"
                )
        progress = Progress.from_json(resume["progress"])
        msg.info(f"Goes on after {progress.steps} steps")
        _skip(batches, progress)
        run_schedules(optimizer, progress.steps, progress.results)
        tensors = read_tensors(output)
        set_weights(nlp, frozen, _of("weights", tensors), set(resume["graded"]))
        set_optimizer(nlp, optimizer, _of("optimizer", tensors), resume["optimizer"])
        progress.losses = _losses_from_json(progress.losses)
        nlp.meta["performance"] = progress.performance
        progress.finished = False
        del tensors
        RandomState.from_json(resume["random"]).restore()

    _say_what_is_trained(nlp, settings, optimizer)
    with nlp.select_pipes(disable=frozen):
        log_step, finalize_logger = settings["logger"](nlp, sys.stdout, sys.stderr)
    began = default_timer() - progress.seconds
    max_steps, patience = settings["max_steps"], settings["patience"]
    try:
        while not progress.over(max_steps, patience):
            epoch, batch = next(batches, (0, None))
            if batch is None:
                progress.exhausted = True
                break
            step = progress.steps
            if settings["before_update"]:
                settings["before_update"](nlp, {"step": step, "epoch": epoch})
            _update(nlp, batch, optimizer, progress.losses, settings)
            score, scores = None, None
            evaluated = step % settings["eval_frequency"] == 0
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
                save_checkpoint()
    finally:
        finalize_logger()
    save_pipeline(best=False)
    progress.finished = True
    save_checkpoint()


def _update(
    nlp: Language,
    batch: Batch,
    optimizer: Optimizer,
    losses: dict[str, float],
    settings: dict[str, Any],
) -> None:
    """One step of all components that are trained."""
    frozen: Collection[str] = settings["frozen_components"]
    for part in subdivide_batch(batch, settings["accumulate_gradient"]):
        nlp.update(
            part,
            drop=settings["dropout"],
            losses=losses,
            sgd=False,  # type: ignore[arg-type]
            exclude=frozen,
            annotates=settings["annotating_components"],
        )
    pipes: list[tuple[str, Any]] = nlp.pipeline
    for name, pipe in pipes:
        trainable = getattr(pipe, "is_trainable", False)
        if name not in frozen and trainable and pipe.model not in (True, False, None):
            pipe.finish_update(optimizer)
    optimizer.step_schedules()


def _skip(batches: Iterator[tuple[int, Batch]], progress: Progress) -> None:
    """Read what was trained on. Raises CheckpointError if it isn't what it was."""
    words = 0
    for _ in range(progress.steps):
        _, batch = next(batches, (0, []))
        words += sum(len(example) for example in batch)
    if words != progress.words:
        raise CheckpointError(
            f"the training data have changed: the first {progress.steps} batches have {words} "
            f"words, and had {progress.words}"
        )


def _replace(folder: Path, write: Callable[[Path], Any]) -> None:
    """Write a folder, complete before it takes the place of the one of that name."""
    new, old = (folder.with_name(f"{folder.name}.{which}") for which in ("new", "old"))
    for left in (new, old):
        shutil.rmtree(left, ignore_errors=True)
    write(new)
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _say_what_is_trained(
    nlp: Language,
    settings: dict[str, Any],
    optimizer: Optimizer,
) -> None:
    lines = [f"Pipeline: {nlp.pipe_names}"]
    if settings["frozen_components"]:
        lines.append(f"Frozen components: {settings['frozen_components']}")
    if settings["annotating_components"]:
        lines.append(f"Set annotations on update for: {settings['annotating_components']}")
    lines.append(f"Learn rate: {optimizer.learn_rate}")
    for line in lines:
        msg.info(line)


def _losses_to_json(losses: dict[str, Any]) -> dict[str, Any]:
    # a sum in 32 bits goes on in 32 bits
    return {name: [float(loss), _type(loss)] for name, loss in losses.items()}


def _losses_from_json(losses: dict[str, Any]) -> dict[str, Any]:
    return {
        name: np.dtype(kind).type(loss) if kind else loss for name, (loss, kind) in losses.items()
    }


def _type(value: Any) -> str | None:
    return str(value.dtype) if isinstance(value, np.generic | np.ndarray) else None


def _named(kind: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {f"{kind}/{name}": tensor for name, tensor in tensors.items()}


def _of(kind: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    start = f"{kind}/"
    return {
        name.removeprefix(start): tensor
        for name, tensor in tensors.items()
        if name.startswith(start)
    }
