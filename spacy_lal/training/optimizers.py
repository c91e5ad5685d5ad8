"""Optimizers of configs: `spacy-lal.Nadam.v1` and `spacy-lal.GroupedAdam.v1`."""

import math
import re
import warnings
from collections.abc import Iterator
from typing import Any

from thinc.api import Adam, Optimizer
from thinc.backends import get_array_ops
from thinc.optimizers import FloatOrSeq, KeyT
from thinc.types import FloatsXd, Ints1d

from ..layers.settings import with_settings_of

Rows = slice | Ints1d
"""Rows of an array, as a slice or by their numbers."""

_BLOCK = 1 << 15
"""Elements updated at once; they fit a CPU cache, which doubles the speed of large matrices."""


@with_settings_of(Adam)
class Nadam(Optimizer):
    """The optimizer of Strubell et al. 2018: Adam with Nesterov's momentum (Dozat 2016).

    With gradient g, at update t = 1, 2, ... of a parameter w:

        m = beta1 m + (1 - beta1) g
        v = beta2 v + (1 - beta2) g^2
        rate = learn_rate sqrt(1 - beta2^t) / (1 - beta1^t)
        w = w - rate (beta1 m + (1 - beta1) g) / (sqrt(v) + eps)

    The bias correction is Adam's (Kingma and Ba 2015, end of section 2: eps is their epsilon hat),
    as in TensorFlow's NadamOptimizer and the released program. Dozat's own form lets beta1 grow,
    and corrects the term in m for one step more than the term in g. All settings but `lazy` are
    those of Thinc's `Adam.v1`; any float may be a schedule. The released program sets beta2 = 0.98,
    eps = 1e-12.

    grad_clip: the largest gradient norm of one parameter; 0 for no limit. The paper clips norms to
        1 (A.4); the released program clips the norm of all parameters together, which an optimizer
        that gets one parameter at a time can't. The same limit is reached less often here.
    lazy: in parameters with two or more dimensions, skip rows whose gradient is exactly zero, in w,
        m, v and L2, so that a word's vector changes only in steps with the word. t counts the
        updates of the whole parameter; a row's late first gradient moves it by up to (1 - beta1^2)
        / sqrt(1 - beta2) learning rates. (The released program mixes up the m of rows.) In other
        matrices, a unit without effect on a step's output keeps its incoming weights.
    """

    # Thinc's class forbids undeclared attributes
    __slots__ = ["lazy"]

    def __init__(self, learn_rate: FloatOrSeq = 0.001, *, lazy: bool = False, **adam: Any) -> None:
        super().__init__(learn_rate, **adam)
        self.lazy = lazy

    def __call__(
        self, key: KeyT, weights: FloatsXd, gradient: FloatsXd, *, lr_scale: float = 1.0
    ) -> tuple[FloatsXd, FloatsXd]:
        """Update `weights` in place and zero `gradient`."""
        if not weights.size:
            return weights, gradient
        ops = get_array_ops(weights)
        if key not in self.mom1:
            self.mom1[key], self.mom2[key] = ops.xp.zeros_like(weights), ops.xp.zeros_like(weights)
        self.nr_update[key] += 1
        t = self.nr_update[key]
        # on a GPU a launch costs more than it saves
        block = _BLOCK if ops.device_type == "cpu" else weights.size
        height = max(1, block * len(weights) // weights.size)

        rows = self._rows(gradient)
        if self.L2 and not self.L2_is_weight_decay:
            gradient[rows] += self.L2 * weights[rows]
        if self.grad_clip:
            gradient = ops.clip_gradient(gradient, self.grad_clip)
        for part in _parts(rows, len(weights), height):
            self._update(key, weights, gradient, part, lr_scale)
        gradient.fill(0)
        if self.averages is not None:
            if key not in self.averages:
                self.averages[key] = ops.xp.zeros_like(weights)
            # all rows: an average still approaches a constant value
            for part in _parts(slice(None), len(weights), height):
                ops.update_averages(self.averages[key][part], weights[part], t)
        return weights, gradient

    def _rows(self, gradient: FloatsXd) -> Rows:
        if not self.lazy or gradient.ndim < 2:
            return slice(None)
        found = (gradient.reshape((len(gradient), -1)) != 0).any(1)
        return slice(None) if found.all() else found.nonzero()[0]

    def _update(
        self, key: KeyT, weights: FloatsXd, gradient: FloatsXd, rows: Rows, lr_scale: float
    ) -> None:
        t, rate = self.nr_update[key], lr_scale * self.learn_rate
        xp = get_array_ops(weights).xp
        w, g, m, v = (a[rows] for a in (weights, gradient, self.mom1[key], self.mom2[key]))
        new = (1 - self.b1) * g
        m *= self.b1
        m += new
        v *= self.b2
        v += (1 - self.b2) * (g * g)
        new += self.b1 * m
        new /= xp.sqrt(v) + self.eps
        w -= rate * (1 - self.b2**t) ** 0.5 / (1 - self.b1**t) * new
        if self.L2 and self.L2_is_weight_decay:
            w -= rate * self.L2 * w
        # rows by their numbers are copies
        weights[rows], self.mom1[key][rows], self.mom2[key][rows] = w, m, v


def _parts(rows: Rows, total: int, height: int) -> Iterator[Rows]:
    """Yield these rows of `total`, at most `height` at a time."""
    if isinstance(rows, slice):
        return (slice(k, k + height) for k in range(0, total, height))
    return (rows[k : k + height] for k in range(0, len(rows), height))


@with_settings_of(Adam)
class GroupedAdam(Optimizer):
    """Thinc's Adam with a learning rate for each group of parameters.

    groups: each with `names`, a regular expression, and `factor`. The first group whose `names`
        match in a parameter's name multiplies its learn_rate by `factor`; 0 freezes it, at no cost
        of time or memory. Names are those in the component's torch module, such as
        `transformer.encoder.layer.3.attention.self.query.weight`; Thinc's own layers have W, b or
        E. A group without parameters in the first update causes a warning. In a config, `$` is
        `$$`.

    All other settings are those of Thinc's `Adam.v1`; any float may be a schedule. grad_clip limits
    the norm of each parameter's gradient, since an optimizer gets one parameter at a time.
    use_averages takes the memory of a second copy of the trained parameters, and a sixth of the
    update's time. Raises ValueError for a group with other settings or values out of range.
    """

    __slots__ = ["_factors", "_unused", "groups"]

    def __init__(
        self, learn_rate: FloatOrSeq = 0.001, *, groups: list[dict[str, Any]], **adam: Any
    ) -> None:
        super().__init__(learn_rate, **adam)
        self.groups = [_group(group) for group in groups]
        self._factors: dict[str, float] = {}
        self._unused = {names for names, _ in self.groups}

    def factor(self, name: str) -> float:
        """Return the learning rate factor of a parameter name."""
        if name not in self._factors:
            found = ((names, factor) for names, factor in self.groups if names.search(name))
            names, self._factors[name] = next(found, (None, 1.0))
            self._unused -= {names}
        return self._factors[name]

    def freezes(self, name: str) -> bool:
        """Return whether parameters of this name are frozen and need no gradient."""
        return self.factor(name) == 0

    def __call__(
        self, key: KeyT, weights: FloatsXd, gradient: FloatsXd, *, lr_scale: float = 1.0
    ) -> tuple[FloatsXd, FloatsXd]:
        """Update `weights` and zero `gradient`; the parameter's name is the last part of key."""
        factor = self.factor(key[-1])
        if factor == 0:
            gradient.fill(0)
            return weights, gradient
        return super().__call__(key, weights, gradient, lr_scale=lr_scale * factor)

    def step_schedules(self) -> None:
        super().step_schedules()
        for names in self._unused:
            warnings.warn(
                f"no parameter's name has {names.pattern!r} in it, so this group of "
                "[training.optimizer] does nothing",
                stacklevel=2,
            )
        self._unused.clear()


def _group(settings: dict[str, Any]) -> tuple[re.Pattern[str], float]:
    try:
        names, factor = re.compile(settings["names"]), settings.get("factor", 1.0)
    except (KeyError, re.error) as error:
        raise ValueError(f"a group needs names, a regular expression: {settings}") from error
    if settings.keys() - {"names", "factor"} or not 0 <= factor < math.inf:
        raise ValueError(f"a group has names and a factor of at least 0, not {settings}")
    return names, factor
