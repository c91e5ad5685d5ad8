"""Approximate randomisation against all exchanges."""

from itertools import product
from pathlib import Path

import pytest
from spacy.cli._util import app
from typer.testing import CliRunner

import spacy_lal.cli  # noqa: F401
from spacy_lal.scoring.significance import Counts, compare

OURS: list[Counts] = [(3, 1, 0), (2, 0, 1), (4, 1, 1), (1, 0, 0), (0, 2, 2), (5, 0, 1), (2, 2, 2)]
THEIRS: list[Counts] = [(2, 1, 1), (2, 0, 1), (3, 2, 2), (0, 1, 1), (1, 2, 1), (3, 0, 3), (2, 2, 2)]


def f_of(sentences: list[Counts], beta: float) -> float:
    right, excess, missed = map(sum, zip(*sentences, strict=True))
    precision, recall = right / (right + excess), right / (right + missed)
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


@pytest.mark.parametrize("beta", [1.0, 0.5])
def test_all_exchanges(beta: float) -> None:
    observed = abs(f_of(OURS, beta) - f_of(THEIRS, beta))
    as_much = 0
    for swaps in product((False, True), repeat=len(OURS)):
        rows = [(b, a) if s else (a, b) for a, b, s in zip(OURS, THEIRS, swaps, strict=True)]
        ours, theirs = ([row[k] for row in rows] for k in (0, 1))
        as_much += abs(f_of(ours, beta) - f_of(theirs, beta)) >= observed - 1e-9
    f, other, p = compare(OURS, THEIRS, beta=beta, trials=20_000)
    assert (f, other) == pytest.approx((f_of(OURS, beta), f_of(THEIRS, beta)))
    assert p == pytest.approx(as_much / 2 ** len(OURS), abs=0.015)
    assert compare(OURS, THEIRS, beta=beta, trials=20_000)[2] == p
    assert compare(THEIRS, OURS, beta=beta, trials=20_000)[2] == pytest.approx(p, abs=0.015)


def test_extremes() -> None:
    assert compare(OURS, OURS) == (f_of(OURS, 1), f_of(OURS, 1), 1.0)
    right, wrong = [(1, 0, 0)] * 30, [(0, 1, 1)] * 30
    assert compare(right, wrong, trials=999) == (1.0, 0.0, 1 / 1000)
    assert compare([(0, 0, 0)], [(0, 0, 0)]) == (1.0, 1.0, 1.0)
    for few in ([], OURS[:3]):
        with pytest.raises(ValueError, match=rf"the same sentences: {len(few)} and 7"):
            compare(few, OURS)


TREES = ["(S (NP (P I)) (VP (V saw) (NP (P her))))", "(S (NP (P I)) (VP (V saw) (P her)))"]
ROLES = ["-  (A0*)\nsee  (V*)\n-  (A1*)\n\n", "-  (A0*)\nsee  (V*)\n-  (A2*)\n\n"]
LABELS = ["I\tc\nsees\ti\n\n", "I\tc\nsees\tc\n\n"]


@pytest.mark.parametrize(
    ("kind", "right", "wrong", "shown"),
    [
        ("trees", TREES[0] + "\n", TREES[1] + "\n", "F1 93.33, of {other} 100.00: p = "),
        ("roles", *ROLES, "F1 75.00, of {other} 100.00: p = "),
        ("errors", *LABELS, "F0.5 83.33, of {other} 100.00: p = "),
    ],
)
def test_commands(kind: str, right: str, wrong: str, shown: str, tmp_path: Path) -> None:
    """Two sentences, one of which the first system has wrong: an exchange makes no difference."""
    gold, found, other = (tmp_path / name for name in ("gold", "found", "other"))
    gold.write_text(2 * right)
    found.write_text(right + wrong)
    other.write_text(2 * right)
    command = ["lal", "score", kind, str(gold), str(found)]
    alone = CliRunner().invoke(app, command)
    ran = CliRunner().invoke(app, [*command, "--against", str(other)])
    assert ran.exit_code == 0, ran.output
    assert ran.stdout == alone.stdout + shown.format(other=other) + "1.0000\n"
    other.write_text(right)
    refused = CliRunner().invoke(app, [*command, "--against", str(other)])
    assert refused.exit_code == 1
