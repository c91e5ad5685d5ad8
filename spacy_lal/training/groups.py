"""`spacy-lal.GroupedAdam.v1`: Adam that gives parameters learning rates by their names."""

import math
import re
import warnings
from dataclasses import dataclass
from typing import Any

from thinc.api import Optimizer
from thinc.optimizers import FloatOrSeq, KeyT
from thinc.types import FloatsXd

_LAYER = re.compile(r"(?:^|\.)(\d+)(?:\.|$)")
"""The number of a layer in a parameter's name, as in `transformer.encoder.layer.3.output.bias`."""


def make_grouped_adam(
    learn_rate: FloatOrSeq = 0.001,
    *,
    groups: list[dict[str, Any]],
    without_L2: str | None = None,
    beta1: FloatOrSeq = 0.9,
    beta2: FloatOrSeq = 0.999,
    eps: FloatOrSeq = 1e-8,
    L2: FloatOrSeq = 0.0,
    L2_is_weight_decay: bool = True,
    grad_clip: FloatOrSeq = 1.0,
    use_averages: bool = True,
) -> "GroupedAdam":
    """Make Thinc's Adam with a learning rate for each group of parameters.

    groups: each with the arguments of `Group`. A parameter belongs to the first group whose `names`
    are found in its own, and has learn_rate times the group's factor; with none, learn_rate.
    Names are those in the component's torch module, such as
    `transformer.encoder.layer.3.attention.self.query.weight`; Thinc's own layers have W, b or E.
    A group that no parameter of the first update belongs to is warned of. In a config, `$` is `$$`.

    without_L2: a regular expression, such as `bias|[Nn]orm`; L2 leaves parameters alone in whose
    names it is found. With L2_is_weight_decay, a parameter decays by L2 times its own rate, as in
    AdamW (Loshchilov and Hutter 2019) with groups of parameters.

    The others mean what they mean in Thinc's `Adam.v1`, so any float may be a schedule. grad_clip
    limits the norm of each parameter's gradient by itself: an optimizer sees one at a time, so the
    norm of all of them together can't be clipped. use_averages takes as much memory again as the
    parameters that are trained, and a sixth of the update's time.

    Raises ValueError for a group with other arguments or values out of range.
    """
    return GroupedAdam(
        learn_rate,
        groups=[_group(group) for group in groups],
        without_L2=_pattern(without_L2, "without_L2") if without_L2 else None,
        beta1=beta1,
        beta2=beta2,
        eps=eps,
        L2=L2,
        L2_is_weight_decay=L2_is_weight_decay,
        grad_clip=grad_clip,
        use_averages=use_averages,
    )


@dataclass(frozen=True)
class Group:
    """Parameters that learn at a rate of their own.

    names: a regular expression that is found in their names.
    factor: of the learning rate; 0 freezes them, and then they cost neither time nor memory.
    layers: of a stack of layers, how many there are; the first whole number between dots in a name
    is its layer's, from 0. depth_decay: each layer has the rate of the one above it times this, so
    that the top one has `factor`. Parameters without a number are below layer 0.
    Raises ValueError for values out of range.
    """

    names: str
    factor: float = 1.0
    depth_decay: float = 1.0
    layers: int | None = None

    def __post_init__(self) -> None:
        _pattern(self.names, "names")
        if not 0 <= self.factor < math.inf:
            raise ValueError(
                f"the factor of the group {self.names!r} is {self.factor}: it must be at least "
                "0, and finite"
            )
        if not 0 < self.depth_decay <= 1:
            raise ValueError(
                f"the depth_decay of the group {self.names!r} is {self.depth_decay}: it must be "
                "above 0 and at most 1"
            )
        if (self.depth_decay < 1) != (self.layers is not None):
            raise ValueError(
                f"the group {self.names!r} has only one of depth_decay (below 1) and layers, "
                "which belong together"
            )

    def factor_of(self, name: str) -> float:
        """What a parameter of this group multiplies the learning rate with."""
        if self.layers is None:
            return self.factor
        found = _LAYER.search(name)
        layer = int(found[1]) if found else -1
        if layer >= self.layers:
            raise ValueError(
                f"the group {self.names!r} has layers = {self.layers}, but the parameter {name} "
                "is of a layer above"
            )
        return self.factor * self.depth_decay ** (self.layers - 1 - layer)


class GroupedAdam(Optimizer):
    """Thinc's Adam, and what is different about each parameter; see `make_grouped_adam`."""

    # Thinc's class forbids attributes that are not declared
    __slots__ = ["_factors", "_unused", "groups", "without_L2"]

    def __init__(
        self,
        learn_rate: FloatOrSeq,
        *,
        groups: list[Group],
        without_L2: re.Pattern[str] | None,
        **settings: Any,
    ) -> None:
        super().__init__(learn_rate, **settings)
        self.groups = groups
        self.without_L2 = without_L2
        self._factors: dict[str, float] = {}
        self._unused: set[Group] = set(groups)

    def factor(self, name: str) -> float:
        """What the parameter of this name multiplies the learning rate with."""
        if name not in self._factors:
            group = next((g for g in self.groups if re.search(g.names, name)), None)
            self._factors[name] = group.factor_of(name) if group else 1.0
            self._unused -= {group}
        return self._factors[name]

    def freezes(self, name: str) -> bool:
        """Whether parameters of this name never change, so that none needs a gradient."""
        return self.factor(name) == 0

    def __call__(
        self, key: KeyT, weights: FloatsXd, gradient: FloatsXd, *, lr_scale: float = 1.0
    ) -> tuple[FloatsXd, FloatsXd]:
        """Update `weights`, set `gradient`, of the same shape, to zero; return both.

        key: of the parameter, its name last; its state is kept under it.
        """
        factor = self.factor(key[-1])
        if factor == 0:
            gradient.fill(0)
            return weights, gradient
        decay = self.L2
        if self.without_L2 and self.without_L2.search(key[-1]):
            self.L2 = 0.0
        try:
            return super().__call__(key, weights, gradient, lr_scale=lr_scale * factor)
        finally:
            self.L2 = decay

    def step_schedules(self) -> None:
        super().step_schedules()
        for group in self._unused:
            warnings.warn(
                f"no parameter's name has {group.names!r} in it, so this group of "
                "[training.optimizer] does nothing",
                stacklevel=2,
            )
        self._unused.clear()


def _group(settings: dict[str, Any]) -> Group:
    try:
        return Group(**settings)
    except TypeError as err:
        raise ValueError(f"a group of parameters can't be {settings}: {err}") from None


def _pattern(text: str, setting: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as err:
        raise ValueError(f"{setting} is no regular expression: {text!r}: {err}") from None
