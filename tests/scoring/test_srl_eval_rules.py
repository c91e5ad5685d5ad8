"""CoNLL-2005's rules one at a time, and what the original program can't do."""

import random

import pytest
from spacy.scorer import PRFScore
from typer.testing import CliRunner

from spacy_lal.annotations.frames import FrameSpans
from spacy_lal.cli.score import score_app
from spacy_lal.scoring.srl_eval import SrlReport, score_sentence


def frame(text, predicate=0, verb="go"):
    """A proposition from "A0:0-2 V:2-3"."""
    spans = []
    for item in text.split():
        label, _, place = item.partition(":")
        start, end = place.split("-")
        spans.append((int(start), int(end), label))
    return FrameSpans(predicate, verb, spans)


def counts(report, label=None):
    return numbers(report.types.get(label, PRFScore()) if label else report.overall)


def numbers(row):
    return row.tp, row.fp, row.fn


def score(gold, predicted, **options):
    """One proposition against another."""
    return score_sentence([frame(gold)], [frame(predicted)], **options)


def test_equal_propositions_are_perfect_in_any_order():
    report = score("A0:0-2 V:2-3 A1:3-4", "A1:3-4 A0:0-2 V:2-3")
    assert counts(report) == (2, 0, 0)
    assert report.perfect == report.propositions == report.sentences == 1
    assert report.overall.precision == report.overall.recall == report.overall.fscore == 1


def test_label_and_both_borders_must_be_right():
    report = score("A0:0-2 A1:3-5 A2:6-7 A3:8-9", "A0:0-1 A1:2-5 AM:6-7 A3:8-9")
    assert counts(report) == (1, 3, 3)
    assert [counts(report, label) for label in ("A0", "A1", "A2", "AM")] == [
        (0, 1, 1), (0, 1, 1), (0, 0, 1), (0, 1, 0),
    ]  # fmt: skip
    assert report.perfect == 0
    assert report.overall.fscore == pytest.approx(0.25)


def test_verb_is_apart():
    report = score("V:0-1 A0:1-2", "V:0-2 A1:2-3")
    assert counts(report) == (0, 1, 1)
    assert counts(report, "V") == (0, 1, 1)
    # a wrong verb leaves a proposition perfect
    report = score("V:0-1 A0:2-3", "V:0-2 A0:2-3")
    assert (counts(report), report.perfect) == ((1, 0, 0), 1)
    # not so if the verb's tokens are called an argument
    report = score("V:0-1 A0:2-3", "A1:0-1 A0:2-3")
    assert (counts(report), counts(report, "V"), report.perfect) == ((1, 1, 0), (0, 0, 1), 0)


def test_each_gold_argument_is_matched_once():
    assert counts(score("A1:0-1", "A1:0-1 A1:0-1")) == (1, 1, 0)
    assert counts(score("A1:0-1 A1:0-1", "A1:0-1")) == (1, 0, 1)
    assert counts(score("A1:0-1 A1:2-3", "A1:0-1 A1:2-3")) == (2, 0, 0)


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        # one argument in two pieces is one argument
        ("A1:0-1 C-A1:3-4", "A1:0-1 C-A1:3-4", (1, 0, 0)),
        # all of it is wrong without its second piece, or with another
        ("A1:0-1 C-A1:3-4", "A1:0-1", (0, 1, 1)),
        ("A1:0-1 C-A1:3-4", "A1:0-1 C-A1:2-4", (0, 1, 1)),
        # two pieces side by side aren't one, nor are three two
        ("A1:0-1 C-A1:1-2", "A1:0-2", (0, 1, 1)),
        ("A1:0-1 C-A1:2-3 C-A1:3-4", "A1:0-1 C-A1:2-4", (0, 1, 1)),
        # the second piece belongs to the last A1 before it, others notwithstanding
        ("A1:0-1 A1:2-3 A0:3-4 C-A1:4-5", "A1:0-1 A1:2-3 A0:3-4 C-A1:4-5", (3, 0, 0)),
        ("A1:0-1 A1:2-3 C-A1:4-5", "A1:0-1 C-A1:4-5 A1:2-3", (2, 0, 0)),
        ("A1:0-1 A1:2-3 C-A1:4-5", "A1:0-1 A1:2-3", (1, 1, 1)),
        # without any before it, it is an A1 itself, and others continue it
        ("C-A1:0-1 A1:2-3", "A1:0-1 A1:2-3", (2, 0, 0)),
        ("C-A1:0-1 C-A1:2-3", "A1:0-1 C-A1:2-3", (1, 0, 0)),
        ("A0:0-1 C-A1:2-3", "A0:0-1 A1:2-3", (2, 0, 0)),
        # references are labels of their own
        ("A1:0-1 R-A1:2-3", "A1:0-1 A1:2-3", (1, 1, 1)),
        ("R-A1:0-1 C-R-A1:2-3", "R-A1:0-1", (0, 1, 1)),
    ],
)
def test_continuations(gold, predicted, expected):
    report = score(gold, predicted)
    assert counts(report) == expected
    assert report.perfect == (expected[1:] == (0, 0))


def test_a_verb_in_two_pieces():
    report = score("V:0-1 C-V:2-3 A1:1-2", "V:0-1 A1:1-2")
    assert (counts(report), counts(report, "V"), report.perfect) == ((1, 0, 0), (0, 1, 1), 1)
    assert set(report.types) == {"A1", "V"}


PREDICATES = {
    "missing": ([], (0, 0, 2), (0, 0, 2)),
    "another verb": ([frame("A0:1-2 A1:2-3 V:0-1", verb="come")], (0, 0, 2), (0, 2, 2)),
    "another token": ([frame("A0:1-2 V:2-3", predicate=2)], (0, 0, 2), (0, 1, 2)),
    "one too many": (
        [frame("A0:1-2 A1:2-3 V:0-1"), frame("A0:0-1 C-A0:2-3 V:1-2", predicate=1)],
        (2, 0, 0),
        (2, 1, 0),
    ),
}


@pytest.mark.parametrize("case", PREDICATES)
def test_wrong_predicates(case):
    """What is predicted for them is skipped, or wrong, end to end."""
    predicted, expected, expected_end_to_end = PREDICATES[case]
    gold = [frame("A0:1-2 A1:2-3 V:0-1")]
    for end_to_end, numbers in ((False, expected), (True, expected_end_to_end)):
        report = score_sentence(gold, predicted, end_to_end=end_to_end)
        assert counts(report) == numbers
        assert report.propositions == 1
        assert report.perfect == (case == "one too many")


def test_a_missing_predicate_without_arguments_is_perfect():
    report = score_sentence([frame("V:0-1")], [])
    assert (report.perfect, counts(report, "V")) == (1, (0, 0, 1))


def test_two_propositions_of_a_token_go_in_order():
    gold, predicted = [frame("A0:0-1"), frame("A1:1-2")], [frame("A0:0-1"), frame("A1:1-2")]
    assert counts(score_sentence(gold, predicted)) == (2, 0, 0)
    assert counts(score_sentence(gold[:1], predicted)) == (1, 0, 0)
    assert counts(score_sentence(gold[:1], predicted, end_to_end=True)) == (1, 1, 0)


def random_sentence(rng):
    frames = []
    for predicate in rng.sample(range(8), rng.randint(0, 4)):
        borders = sorted(rng.sample(range(9), rng.choice((2, 4, 6))))
        labels = ("A0", "A1", "C-A0", "C-A1", "V", "R-A0")
        frames.append(
            FrameSpans(
                predicate,
                rng.choice(("go", "go", "come")),
                [
                    (start, end, rng.choice(labels))
                    for start, end in zip(borders[::2], borders[1::2], strict=True)
                ],
            )
        )
    return frames


def test_end_to_end_treats_both_sides_alike():
    """Its excess is what is missed when gold and predicted change places."""
    rng = random.Random(1)
    total = SrlReport()
    for _ in range(300):
        gold, predicted = random_sentence(rng), random_sentence(rng)
        report = score_sentence(gold, predicted, end_to_end=True)
        official, back = score_sentence(gold, predicted), score_sentence(predicted, gold)
        for label, row in report.types.items():
            assert row.tp == counts(official, label)[0] == counts(back, label)[0]
            assert row.fn == counts(official, label)[2]
            assert row.fp == counts(back, label)[2]
        assert report.overall.tp + report.overall.fn == sum(
            row.tp + row.fn for label, row in report.types.items() if label != "V"
        )
        total += report
    assert total.sentences == 300
    assert 0 < total.perfect < total.propositions
    assert total.overall.tp > 0


def test_reports_add_up():
    one, two = score("A0:0-1 A1:1-2", "A0:0-1"), score("A0:0-1", "A0:0-1 A1:2-3")
    assert counts(one + two) == (2, 1, 1)
    assert (one + two).perfect_propositions == 0
    assert counts(one) == (1, 0, 1)
    assert sum([one, two], SrlReport()) == one + two


def test_confused_labels():
    report = score("A0:0-1 A1:1-2 AM-TMP:2-3", "A1:0-1 A1:1-2 AM-LOC:3-4")
    assert dict(report.pairs) == {
        ("A0", "A1"): 1,
        ("A1", "A1"): 1,
        ("AM-TMP", None): 1,
        (None, "AM-LOC"): 1,
    }


def test_nothing_to_count_is_zero():
    report = SrlReport()
    assert counts(report) == (0, 0, 0)
    assert report.overall.fscore == report.overall.precision == report.perfect_propositions == 0
    assert report.types == {}
    assert "V" not in report.format()


# Command line

GOLD = """\
-     (A0*)
go    (V*)
-     (A1*
-     *)

-     (A0*)  *
want  (V*)   *
come  (A1*)  (V*)
"""
# a wrong label, one predicate too many, another missing
PREDICTED = """\
-     (A0*)
go    (V*)
-     (A2*
-     *)

see   (V*)   (A0*)
want  *      (V*)
-     (A1*)  (A1*)
"""
TABLE = """\
Number of Sentences    :           2
Number of Propositions :           3
Percentage of perfect props :  66.67

              corr.  excess  missed    prec.    rec.      F1
------------------------------------------------------------
   Overall        3       1       1    75.00   75.00   75.00
----------
        A0        2       0       0   100.00  100.00  100.00
        A1        1       0       1   100.00   50.00   66.67
        A2        0       1       0     0.00    0.00    0.00
------------------------------------------------------------
         V        2       0       1   100.00   66.67   80.00
------------------------------------------------------------
"""


@pytest.fixture
def run(tmp_path):
    def run(gold, predicted, *options):
        paths = tmp_path / "gold.props", tmp_path / "pred.props"
        for path, text in zip(paths, (gold, predicted), strict=True):
            if text is not None:
                path.write_text(text, encoding="utf8")
        return CliRunner().invoke(score_app, ["roles", *map(str, paths), *options])

    return run


def test_command(run):
    result = run(GOLD, PREDICTED)
    assert (result.exit_code, result.output) == (0, TABLE)
    output = run(GOLD, PREDICTED, "--end-to-end").output
    assert "   Overall        3       2       1    60.00   75.00   66.67\n" in output
    assert "        A1        1       1       1    50.00   50.00   50.00\n" in output
    assert "         V        2       1       1    66.67   66.67   66.67\n" in output


def test_other_lemmas_are_other_predicates(run):
    other = "".join(
        line if line[:1] in "-\n" else f"x{line}" for line in PREDICTED.splitlines(True)
    )
    assert "   Overall        0 " in run(GOLD, other).stdout


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        (
            GOLD,
            PREDICTED + "-  *  *\n",
            "pred.props:6: sentence 2 has 4 tokens, but 3 in {}gold.props:6",
        ),
        (GOLD, PREDICTED + "\n-\n", "gold.props ends before sentence 3, which {}pred.props has"),
        (GOLD + "\n-\n", PREDICTED, "pred.props ends before sentence 3, which {}gold.props has"),
        (GOLD, PREDICTED.replace("(A2*", "A2*"), "pred.props:3: bad role 'A2*'"),
        (GOLD, None, "No such file or directory: '{}pred.props'"),
    ],
)
def test_what_cannot_be_compared_is_named(run, tmp_path, gold, predicted, message):
    result = run(gold, predicted)
    assert result.exit_code == 1
    assert message.format(f"{tmp_path}/") in result.output
    assert result.output.startswith("score: ")
