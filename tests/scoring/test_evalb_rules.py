"""EVALB's rules one at a time, and what the program can't do."""

import gzip
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from spacy_lal.cli.score import score_app
from spacy_lal.scoring.evalb import (
    ERROR,
    OK,
    SKIPPED,
    EvalbParameters,
    EvalbReadError,
    count_crossing,
    evaluate,
    score_sentence,
)

NK = EvalbParameters.load("nk")
GOLD = "(TOP (S (NP (DT the) (NN cat)) (VP (VBD sat)) (. .)))"


def counts(gold, test, params=NK):
    result = score_sentence(gold, test, params)
    assert result.status == OK
    return result.matched, result.gold, result.test


def test_identical_trees_match_completely():
    result = score_sentence(GOLD, GOLD)
    assert (result.matched, result.gold, result.test) == (3, 3, 3)
    assert result.complete
    assert (result.length, result.words, result.tags, result.crossing) == (4, 3, 3, 0)
    assert result.recall == result.precision == result.tag_accuracy == 100


def test_a_tree_object_is_read_by_its_str():
    class Tree:
        def __str__(self):
            return GOLD

    assert score_sentence(Tree(), Tree()) == score_sentence(GOLD, GOLD)


def test_a_lost_unary_counts():
    chain = "(TOP (NP (NP (NN a) (NN b))))"
    assert counts(chain, "(TOP (NP (NN a) (NN b)))") == (1, 2, 1)


def test_labels_are_cut_and_deleted_brackets_ignored():
    assert counts("(TOP (NP-SBJ-1 (NN a)))", "(TOP (NP=2 (NN a)))") == (1, 1, 1)
    assert counts("(S1 (TOP (-X- (X (NN a)))))", "(X (NN a))") == (1, 2, 1)
    assert counts("(X (NP (-NONE- *)) (VP (VB a)))", "(X (VP (VB a)))") == (2, 2, 2)


def test_deleted_words_depend_on_the_parameter_file():
    gold, test = "(X (NN a) (. ?))", "(X (NN a) (? ?))"
    assert score_sentence(gold, test, NK).status == OK
    assert score_sentence(gold, test, EvalbParameters.load("collins")).status == ERROR


def test_equal_labels_and_words():
    assert counts("(X (ADVP (RB up)))", "(X (PRT (RB up)))") == (2, 2, 2)
    sample = EvalbParameters.load("sample")
    assert counts("(X (DT This))", "(X (DT this))", sample) == (1, 1, 1)


def test_unlabeled_brackets_compare_spans_only():
    unlabeled = replace(NK, labeled=False)
    assert counts("(A (B (NN a)) (NN b))", "(C (D (NN a)) (NN b))", unlabeled) == (2, 2, 2)


def test_quote_repair_puts_the_word_back():
    gold = "(S (NP (NN a)) (VP (POS ') (NP (NN b))) (NP (NN c)))"
    test = "(S (NP (NN a)) (VP ('' ') (NP (NN b))) (NP (NN c)))"
    result = score_sentence(gold, test)
    assert (result.status, result.matched, result.words, result.tags) == (OK, 5, 4, 3)
    assert score_sentence(test, gold).matched == 5
    assert score_sentence(gold, test, EvalbParameters.load("collins")).status == ERROR


@pytest.mark.parametrize(
    ("test", "status", "message"),
    [
        ("(X (NN a))", ERROR, "Length unmatch (2|1)"),
        ("(X (NN a) (NN c))", ERROR, "Words unmatch (b|c)"),
        ("(X (NN a) (NN b)", ERROR, "Bracketing is unbalanced (too many open bracket)"),
        ("(X (NN a) (NN b)))", ERROR, "Bracketing is unbalanced (too many open bracket)"),
        ("", SKIPPED, None),
        ("(X (. .))", SKIPPED, None),
    ],
)
def test_sentences_that_cannot_be_compared(test, status, message):
    result = score_sentence("(X (NN a) (NN b))", test)
    assert result.status == status
    assert result.errors == (() if message is None else (message,))
    summary = evaluate(["(X (NN a) (NN b))"], [test]).summary
    assert (summary.valid, summary.total.gold, summary.total.test) == ([], 0, 0)


@pytest.mark.parametrize("text", ["(X a b)", "(X a (NN b))", "word", "(X (NN a) stray)"])
def test_stray_text_is_named_and_stops_an_evaluation(text):
    with pytest.raises(EvalbReadError, match="text outside a terminal"):
        score_sentence(text, text)
    report = evaluate([GOLD, text, GOLD], [GOLD, text, GOLD])
    assert report.aborted
    assert len(report.sentences) == 1
    assert report.errors[-1].startswith("2 : text outside a terminal")


def test_only_ascii_whitespace_separates():
    word = "10\u00a0000"
    assert counts(f"(X (CD {word}) (NN b))", f"(X\t(CD  {word})\r(NN b) )\n") == (1, 1, 1)


def test_empty_labels_and_words():
    assert counts("( (S (NN a)))", "(TOP (S ( a)))") == (1, 2, 1)
    assert score_sentence("(S (NN ) (NN a))", "(S (NN ) (NN a))").words == 2


def test_stops_at_error_max_errors_plus_two():
    gold, test = "(X (NN a))", "(X (NN b))"
    limited = replace(NK, max_errors=3)
    assert not evaluate([gold] * 4, [test] * 4, limited).aborted
    report = evaluate([gold] * 9, [test] * 9, limited)
    assert report.aborted
    assert (len(report.sentences), len(report.errors)) == (4, 5)
    assert "Summary" not in report.format()


def test_files_of_different_length():
    report = evaluate([GOLD, GOLD], [GOLD])
    assert report.errors == ("2 : Number of lines unmatch (too many lines in gold file)",)
    report = evaluate([GOLD], [GOLD, GOLD])
    assert report.errors == ("2 : Number of lines unmatch (too many lines in test file)",)
    assert (report.aborted, len(report.summary.results)) == (False, 1)


def test_nothing_matched_has_no_f1():
    report = evaluate(["(X (NN a))"], ["(Y (NN a))"])
    assert math.isnan(report.summary.total.f1)
    assert "Bracketing FMeasure       =    nan" in report.format()


def test_cutoff_counts_punctuation():
    report = evaluate([GOLD], [GOLD], replace(NK, cutoff_length=3))
    assert (len(report.summary.valid), len(report.cutoff_summary.valid)) == (1, 0)


def test_neither_depth_nor_length_is_limited():
    n = 5000
    unary = "(S " * n + "(NN a)" + ")" * n
    right = "(S (NN a) " * n + "(NN a)" + ")" * n
    left = "(S " * n + "(NN a) " + "(NN a)) " * n
    assert counts(unary, unary) == (n, n, n)
    assert counts(right, right) == (n, n, n)
    result = score_sentence(right, left)
    assert (result.matched, result.crossing, result.words) == (1, n - 1, n + 1)


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(1, 8), st.just("X")), max_size=12),
    st.lists(st.tuples(st.integers(0, 8), st.integers(1, 8), st.just("X")), max_size=12),
)
def test_crossing_by_pairs(gold, test):
    gold, test = ([(s, s + w, label) for s, w, label in side] for side in (gold, test))
    by_pairs = sum(any(a < s < b < e or s < a < e < b for a, b, _ in gold) for s, e, _ in test)
    assert count_crossing(gold, test) == by_pairs


def test_parameter_files(tmp_path):
    assert replace(EvalbParameters.load("NEW"), max_errors=10000) == NK
    assert NK.delete_labels == {"TOP", "S1", "-NONE-", ",", ":", "``", "''", ".", "?", "!"}
    collins = EvalbParameters.load("collins")
    assert collins.delete_labels == {"TOP", "-NONE-", ",", ":", "``", "''", "."}
    assert (collins.max_errors, collins.cutoff_length, collins.labeled) == (10, 40, True)
    assert not collins.quote_labels
    path = tmp_path / "own.prm"
    path.write_text("# comment\nLABELED 0\nCUTOFF_LEN 10 \nEQ_LABEL A B\nDELETE_LABEL A\n")
    own = EvalbParameters.load(path)
    assert (own.labeled, own.cutoff_length) == (False, 10)
    # brackets are deleted through EQ_LABEL too, words are not
    assert own.ignored_brackets == {"A", "B"}
    assert own.delete_labels == {"A"}


@pytest.mark.parametrize(
    ("line", "message"), [("EQ_LABEL A", "two values"), ("MAX_ERROR x", "num")]
)
def test_bad_parameter_lines_are_named(tmp_path, line, message):
    path = tmp_path / "bad.prm"
    path.write_text(f"DEBUG 0\n{line}\n")
    with pytest.raises(ValueError, match=rf"bad\.prm, line 2: {line.split()[0]} .*{message}"):
        EvalbParameters.load(path)
    path.write_text("COLOUR red\n")
    with pytest.warns(UserWarning, match="unknown keyword COLOUR"):
        EvalbParameters.load(path)
    with pytest.raises(FileNotFoundError, match="parameter file not found: x; the names are"):
        EvalbParameters.load("x")


def run(*arguments):
    return CliRunner().invoke(score_app, ["trees", *map(str, arguments)])


def test_command_prints_the_report(tmp_path):
    gold, test = tmp_path / "gold.txt", tmp_path / "test.txt"
    gold.write_text(f"{GOLD}\n(X (NN a))\n")
    test.write_text(f"{GOLD}\n(X (NN b))\n")
    result = run(gold, test)
    assert result.exit_code == 0
    assert result.stdout == evaluate([GOLD, "(X (NN a))"], [GOLD, "(X (NN b))"]).format()
    assert result.stderr == "2 : Words unmatch (a|b)\n"
    strict = tmp_path / "strict.prm"
    strict.write_text("MAX_ERROR -1\n")
    assert run(gold, test, "--prm", strict).exit_code == 1
    packed = tmp_path / "gold.txt.gz"
    packed.write_bytes(gzip.compress(gold.read_bytes()))
    assert run(packed, test).stdout == result.stdout
    packed.write_bytes(gold.read_bytes())
    assert "damaged" in run(packed, test).stderr


def test_command_names_missing_files(tmp_path):
    there = tmp_path / "there.txt"
    there.write_text(GOLD)
    for arguments in (
        (tmp_path / "missing.x", there),
        (there, tmp_path / "missing.x"),
        (there, there, "--prm", tmp_path / "missing.x"),
    ):
        result = run(*arguments)
        assert result.exit_code == 1
        assert "missing.x" in result.stderr


def test_trees_over_several_lines_are_refused(tmp_path):
    """NLTK prints such; EVALB would say of each line that it is unbalanced."""
    tree = "(S (NP (NN tea))\n  (VP (VBZ is)))\n"
    one, several, broken = (tmp_path / name for name in ("one", "several", "broken"))
    one.write_text(tree.replace("\n  ", " ") * 2)
    several.write_text("\n" + tree * 2)
    broken.write_text("(S (NP (NN tea)) (VP (VBZ is))\n(S (NP (NN tea)) (VP (VBZ is)))\n")
    for files in ((one, several), (several, one), (several, several)):
        result = run(*files)
        assert result.exit_code == 1
        said = "this tree ends on a later line: write one tree a line"
        assert result.output == f"score: {several}:2: {said}\n"
    result = run(one, broken)
    assert result.exit_code == 0
    assert "1 : Bracketing is unbalanced (too many open bracket)" in result.stderr
    result = run(one, one)
    assert "Bracketing FMeasure       = 100.00" in result.stdout
