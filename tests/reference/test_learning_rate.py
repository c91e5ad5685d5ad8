"""LISA's learning rate against recorded rates."""

from itertools import islice

import pytest

from spacy_lal.training.schedules import make_inverse_sqrt


def test_recorded_rates(load_json):
    recorded = load_json("lisa_lr")
    rates = list(islice(make_inverse_sqrt(0.04, 8000), recorded[-1]["step0"] + 1))
    found = [rates[at["step0"]] for at in recorded]
    assert found == pytest.approx([at["lr"] for at in recorded], rel=1e-12)
