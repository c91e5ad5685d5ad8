"""Corrections of roles in sequence, by hand: He et al. 2017, Strubell et al. 2018."""

import json
import random
from pathlib import Path
from xml.etree import ElementTree

import pytest
import spacy
from spacy.cli._util import app
from spacy.tokens import DocBin
from typer.testing import CliRunner

import spacy_lal.cli  # noqa: F401
from spacy_lal.annotations import FrameSpans, set_constituents
from spacy_lal.drawing.charts import corrections_svg
from spacy_lal.evaluation.oracle_corrections import CORRECTIONS, correct_roles
from tests.pipeline.toy_frames import frames_examples
from tests.silver.teacher import toy_teacher

Span = tuple[int, int, str]


def frame(*spans: Span, at: int = 20) -> FrameSpans:
    return FrameSpans(at, "", [(at, at + 1, "V"), *spans])


def f1_and_changes(gold: list[Span], found: list[Span]) -> dict[str, tuple[float, int]]:
    """After every correction that changed something."""
    rows = correct_roles([([frame(*gold)], [frame(*found)], None)])["corrections"]
    assert [row["correction"] for row in rows] == ["predicted", *CORRECTIONS]
    changed = [row for row in rows if row["changes"]]
    return {row["correction"]: (row["f"], row["changes"]) for row in changed}


@pytest.mark.parametrize(
    ("correction", "gold", "found"),
    [
        ("fix labels", [(0, 2, "ARG1")], [(0, 2, "ARG0")]),
        ("fix labels", [(0, 2, "ARGM-TMP")], [(0, 2, "R-ARG0")]),
        ("move core argument", [(5, 7, "ARG0")], [(0, 2, "ARG0")]),
        ("move core argument", [(5, 7, "A1")], [(0, 2, "A1")]),
        ("merge spans", [(0, 5, "ARG1")], [(0, 2, "ARG2"), (2, 5, "ARGM-LOC")]),
        ("merge spans", [(0, 5, "ARG1")], [(0, 2, "ARG1"), (3, 5, "ARG2")]),  # a word between
        ("split spans", [(0, 2, "ARG1"), (2, 5, "ARGM-LOC")], [(0, 5, "ARG2")]),
        ("split spans", [(0, 2, "ARG1"), (3, 5, "ARG2")], [(0, 5, "ARG1")]),
        ("fix boundary", [(0, 5, "ARG1")], [(1, 7, "ARG1")]),
        ("drop argument", [], [(1, 7, "ARG1")]),
        ("add argument", [(0, 5, "ARGM-NEG")], []),
    ],
)
def test_each_correction_alone(correction: str, gold: list[Span], found: list[Span]) -> None:
    kept = (8, 10, "ARG4")
    assert f1_and_changes([*gold, kept], [*found, kept]) == {correction: (1.0, 1)}


def test_what_isnt_near_enough() -> None:
    """Two words between two spans; a label that isn't core, or is gold twice."""
    merged = f1_and_changes([(0, 6, "ARG1")], [(0, 2, "ARG2"), (4, 6, "ARG3")])
    assert merged == {}  # both overlap the gold span, whose label is another
    moved = f1_and_changes([(5, 7, "ARGM-TMP")], [(0, 2, "ARGM-TMP")])
    assert [*moved] == ["drop argument", "add argument"]
    twice = f1_and_changes([(5, 7, "ARG1"), (8, 9, "ARG1")], [(0, 2, "ARG1")])
    assert twice == {"drop argument": (0.0, 1), "add argument": (1.0, 2)}
    # two predicted spans don't move to one place
    both = f1_and_changes([(5, 7, "ARG1")], [(0, 2, "ARG1"), (3, 4, "ARG1")])
    assert both == {"move core argument": (pytest.approx(2 / 3), 1), "drop argument": (1.0, 1)}


def test_a_sequence_by_hand() -> None:
    """Gold: 6 arguments of two predicates, predicted: 5, one of them right."""
    gold = [(0, 2, "ARG0"), (3, 7, "ARG1"), (8, 10, "ARGM-LOC"), (10, 12, "ARGM-TMP")]
    found = [(0, 2, "ARG2"), (3, 5, "ARG1"), (5, 7, "ARG2"), (8, 12, "ARGM-LOC")]
    trees = [(0, 12, "S"), (3, 7, "NP"), (5, 7, "PP-LOC"), (10, 12, "SBAR"), (10, 12, "S")]
    second = frame((0, 2, "ARG1"), (13, 14, "ARG2"), at=30)
    predicted = frame((0, 2, "ARG1"), at=30)
    result = correct_roles([([frame(*gold), second], [frame(*found), predicted], trees)])
    counts = [  # right, predicted, gold
        (1, 5, 6),
        (2, 5, 6),  # ARG0
        (2, 5, 6),
        (3, 4, 6),  # [3-5][5-7] -> ARG1
        (5, 5, 6),  # 8-12 -> ARGM-LOC, ARGM-TMP
        (5, 5, 6),
        (5, 5, 6),
        (6, 6, 6),  # ARG2
    ]
    f1 = [2 * right / (found + gold) for right, found, gold in counts]
    assert [row["f"] for row in result["corrections"]] == pytest.approx(f1)
    assert [row["p"] for row in result["corrections"]] == pytest.approx(
        [right / found for right, found, _ in counts]
    )
    # Y of [X][Y] -> [XY] is a PP; of [XY] -> [X][Y], the innermost constituent is an S
    assert result["phrases"] == {
        "PP": {"merged": 1, "split": 0, "share": 0.5},
        "S": {"merged": 0, "split": 1, "share": 0.5},
    }


def test_wrong_and_missed_predicates() -> None:
    gold, found = frame((0, 2, "ARG0"), at=5), frame((0, 2, "ARG0"), at=6)
    rows = correct_roles([([gold], [found], None)])["corrections"]
    changes = {row["correction"]: row["changes"] for row in rows if row["changes"]}
    assert changes == {"drop argument": 1, "add argument": 1}
    assert rows[0]["f"] == 0.0
    assert rows[-1]["f"] == 1.0


def test_no_word_counts_for_v_and_its_second_part() -> None:
    ours = FrameSpans(1, "", [(1, 2, "V"), (3, 4, "C-V"), (0, 1, "ARG0")])
    theirs = FrameSpans(1, "", [(1, 2, "V"), (0, 1, "ARG0")])
    rows = correct_roles([([ours], [theirs], None)])["corrections"]
    assert {(row["f"], row["changes"]) for row in rows} == {(1.0, 0)}


def test_overlapping_arguments_come_to_an_end() -> None:
    """Whatever overlaps, also in gold: no endless exchange, and no right argument gets lost."""
    draw = random.Random(0)
    for _ in range(200):
        sides = []
        for _ in range(2):
            starts = [draw.randrange(8) for _ in range(4)]
            labels = [draw.choice(["ARG0", "ARG1", "ARGM-TMP"]) for _ in starts]
            widths = [draw.randint(1, 4) for _ in starts]
            sides.append([(s, s + w, la) for s, w, la in zip(starts, widths, labels, strict=True)])
        rows = correct_roles([([frame(*sides[0])], [frame(*sides[1])], None)])["corrections"]
        recalls = [row["r"] for row in rows]
        assert recalls == sorted(recalls)


def test_picture() -> None:
    scores = {"LISA": {"predicted": 0.5, "fix labels": 1.0}, "<SA>": {"predicted": 0.25}}
    drawn = corrections_svg(scores, {"LISA": {"PP": 1.0}})
    titles = [e.text or "" for e in ElementTree.fromstring(drawn).iter() if "title" in e.tag]
    assert "<SA>, predicted: 25.00%" in titles
    assert "LISA, PP: 100.00%" in titles
    ElementTree.fromstring(corrections_svg(scores, {"LISA": {}, "<SA>": {}}))


def test_command(tmp_path: Path) -> None:
    """Scores before corrections are those of the roles; the picture lies beside the numbers."""
    toy_teacher(30).to_disk(tmp_path / "toy")
    nlp = spacy.blank("en")
    golds = [example.reference for example in frames_examples(nlp)]
    set_constituents(golds[0], [(0, len(golds[0]), "S")])
    DocBin(docs=golds).to_disk(tmp_path / "gold.spacy")
    files = [str(tmp_path / name) for name in ("toy", "gold.spacy", "scores.json")]
    options = ["lal", "evaluate", *files[:2], "--corrections"]
    ran = CliRunner().invoke(app, [*options, "--json", files[2]])
    assert ran.exit_code == 0, ran.output
    assert "move core argument" in ran.stdout
    (result,) = json.loads(Path(files[2]).read_text())["results"]
    for row in result["roles"]:
        steps = row["corrections"]
        assert steps[0]["f"] == pytest.approx(row["srl_f"])
        assert steps[-1]["f"] >= steps[0]["f"]
    drawn = (tmp_path / "scores.svg").read_text()
    assert "predicates: gold" in drawn
    refused = CliRunner().invoke(app, [*options, "--raw"])
    assert refused.exit_code == 1
