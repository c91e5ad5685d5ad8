"""The learning rate by hand; recorded rates are in tests/reference."""

from __future__ import annotations

from itertools import islice

import pytest
from spacy.util import registry

from spacy_lal.training.schedules import make_inverse_sqrt


def test_by_hand() -> None:
    """4^(-3/2) = 1/8 a step up to 4^(-1/2) = 1/2 at step 4; 9^(-1/2) = 1/3 at step 9."""
    rates = list(islice(make_inverse_sqrt(2.0, 4), 9))
    assert rates[:4] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert rates[8] == pytest.approx(2 / 3)


@pytest.mark.parametrize("steps", [0, -1])
def test_no_warmup_steps(steps: int) -> None:
    with pytest.raises(ValueError, match=rf"warmup_steps .* must be at least 1, not {steps}"):
        make_inverse_sqrt(0.04, steps)


def test_from_a_config() -> None:
    block = {"@schedules": "spacy-lal.inverse_sqrt.v1", "factor": 0.04, "warmup_steps": 8000}
    schedule = registry.resolve({"learn_rate": block})["learn_rate"]
    assert next(schedule) == pytest.approx(0.04 * 8000**-1.5)
