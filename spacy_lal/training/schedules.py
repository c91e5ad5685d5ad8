"""Learning rates: `spacy-lal.inverse_sqrt.v1`, `spacy-lal.falling.v1`, and `spacy-lal.plateau.v1`
with its logger."""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import count
from typing import IO, Any
from weakref import WeakSet

from spacy.language import Language

LogStep = Callable[[dict[str, Any] | None], None]
Logger = Callable[[Language, IO[str], IO[str]], tuple[LogStep, Callable[[], None]]]

BETTER = 1.0001
"""Least ratio of a better score to the best one, as in the released code of Mrini et al."""


def make_inverse_sqrt(factor: float, warmup_steps: int) -> Iterator[float]:
    """Yield the learning rates factor * min(t^-1/2, t * warmup_steps^-3/2) of steps t = 1, 2, ...

    They rise linearly to factor / sqrt(warmup_steps), then fall with the inverse square root of t:
    Vaswani et al. 2017, section 5.3, eq. 3, where the factor is d_model^-1/2. Strubell et al. 2018
    (A.4, eq. 8) have a factor of 0.04; 8000 warm-up steps are their released program's. Raises
    ValueError if warmup_steps < 1.
    """
    if warmup_steps < 1:
        raise ValueError(
            f"warmup_steps of spacy-lal.inverse_sqrt.v1 must be at least 1, not {warmup_steps}"
        )
    return (factor * min(t**-0.5, t * warmup_steps**-1.5) for t in count(1))


def _risen(updates: int, warmup_steps: int) -> float:
    return min(1.0, updates / warmup_steps) if warmup_steps else 1.0


@dataclass(eq=False)
class Falling(Iterator[float]):
    """The linear schedule of Li et al. 2020 (Budgeted Training), with a warm-up.

    The rate rises linearly to learn_rate at update warmup_steps, and falls linearly in training, to
    zero at its end: after `training.max_steps`, or the minutes of `lal train --minutes`, whichever
    is nearer. Only `lal train` tells how near the end is.
    """

    learn_rate: float
    warmup_steps: int = 0

    def __post_init__(self) -> None:
        self.updates = 0
        self.share: float | None = None
        """Share of the training that is over; None where nobody says."""
        _FALLING.add(self)

    def __next__(self) -> float:
        self.updates += 1
        if self.updates == 3 and self.share is None:
            warnings.warn(
                "spacy-lal.falling.v1 doesn't know when training ends: use `lal train`, with "
                "training.max_steps or --minutes",
                stacklevel=2,
            )
        left = max(0.0, 1 - (self.share or 0.0))
        return self.learn_rate * _risen(self.updates, self.warmup_steps) * left


_FALLING: WeakSet[Falling] = WeakSet()


def tell_share(share: float) -> None:
    """Tell every `spacy-lal.falling.v1` which share of the training is over."""
    for schedule in _FALLING:
        schedule.share = share


@dataclass(eq=False)
class Plateau(Iterator[float]):
    """The schedule of the released code of Mrini et al. 2020 (the paper has none).

    The rate rises linearly to learn_rate at update warmup_steps. It is then multiplied with factor
    after more than `patience` evaluations in a row without improvement (with 5, at the sixth), and
    the count begins again. A better score is more than a ten-thousandth above the best. Evaluations
    in the warm-up don't count, but their scores may be the best.

    evaluations: number of evaluations that count as one, with the best score so far. The released
        code evaluates four times an epoch and counts epochs.
    Raises ValueError for values out of range.

    The training's logger has to be `spacy-lal.PlateauLogger.v1`; the second update after an
    evaluation is the first with a lower rate.
    """

    learn_rate: float
    _: KW_ONLY
    warmup_steps: int = 0
    patience: int = 5
    factor: float = 0.5
    evaluations: int = 1

    def __post_init__(self) -> None:
        least = min(self.warmup_steps, self.patience, self.evaluations - 1)
        if least < 0 or not 0 < self.factor < 1:
            raise ValueError(
                "spacy-lal.plateau.v1 needs a factor between 0 and 1, evaluations from 1 on, and "
                f"other numbers from 0 on, not {self}"
            )
        self.updates = 0
        self.falls: int | None = None
        _MADE.add(self)

    def __next__(self) -> float:
        self.updates += 1
        # spaCy evaluates after its first update
        if self.updates == 3 and self.falls is None:
            warnings.warn(
                "spacy-lal.plateau.v1 gets no scores: [training.logger] should be "
                "spacy-lal.PlateauLogger.v1",
                stacklevel=2,
            )
        risen = _risen(self.updates, self.warmup_steps)
        return self.learn_rate * risen * self.factor ** (self.falls or 0)

    def set_scores(self, checkpoints: list[tuple[float, int]]) -> None:
        """Count the rate's falls after all evaluations so far, as (score, step from 0)."""
        self.falls = 0
        best = highest = -math.inf
        counted = worse = 0
        for score, step in checkpoints:
            highest = max(highest, score)
            if step + 1 < self.warmup_steps:
                continue
            counted += 1
            if counted % self.evaluations:
                continue
            if highest > best * BETTER:
                best, worse = highest, 0
            else:
                worse += 1
            if worse > self.patience:
                self.falls, worse = self.falls + 1, 0


_MADE: WeakSet[Plateau] = WeakSet()
"""Schedules for the logger; earlier trainings' get scores without effect."""


def make_plateau_logger(logger: Logger) -> Logger:
    """Log with `logger`, and give the scores to `spacy-lal.plateau.v1` of this training."""

    def setup(
        nlp: Language, stdout: IO[str], stderr: IO[str]
    ) -> tuple[LogStep, Callable[[], None]]:
        log, finalize = logger(nlp, stdout, stderr)

        def log_step(info: dict[str, Any] | None) -> None:
            if info is not None:
                for schedule in _MADE:
                    schedule.set_scores(info["checkpoints"])
            log(info)

        return log_step, finalize

    return setup
