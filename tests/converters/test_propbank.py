"""Skeletons with words from CoNLL-U or plain text."""

import json

import pytest
from propbank import Propbank

from spacy_lal.annotations import get_frames, sentence_trees
from spacy_lal.annotations.frames import FRAMES_KEY
from spacy_lal.formats.files import FormatError

from .running import read, run

FIRST = """x 0 0 [WORD] NN  (TOP(S(NP*)  -    -       (ARG1*)
x 0 1 [WORD] VBZ (VP*)             cool cool.01 (V*)
x 0 2 [WORD] .   *))               -    -       *
"""
SECOND = "y 0 0 [WORD] UH (TOP(INTJ*)) - -\n"
PLAIN = "Tea cools .\n\nYes\n"
CONLLU = """# sent_id = a
1\tTea\ttea\tNOUN\tNN\t_\t2\tnsubj\t_\t_
2\tcools\tcool\tVERB\tVBP\t_\t0\troot\t_\tSpaceAfter=No
3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_

"""


@pytest.fixture
def skeletons(tmp_path):
    folder = tmp_path / "skel" / "00"
    folder.mkdir(parents=True)
    (folder / "a.gold_skel").write_text(FIRST)
    (folder / "b.gold_skel").write_text(SECOND)
    return folder.parent


@pytest.fixture
def convert(skeletons, tmp_path):
    def convert(name, text, skeletons=skeletons):
        (tmp_path / name).write_text(text)
        out, words = tmp_path / "out.spacy", tmp_path / name
        options = ["--words", words, "--report", tmp_path / "report.json"]
        result = run(Propbank, skeletons, out, *options)
        return result, read(out) if out.exists() else []

    return convert


@pytest.mark.parametrize(("name", "text"), [("tea.txt", PLAIN), ("tea.conllu", CONLLU)])
def test_words_of_both_kinds(convert, name, text, tmp_path):
    result, (first, second) = convert(name, text)
    assert result.exit_code == 0, result.output
    assert str(*sentence_trees(first)) == "(TOP (S (NP (NN Tea)) (VP (VBZ cools)) (. .)))"
    (frame,) = get_frames(first)
    assert (frame.predicate.text, frame.roleset) == ("cools", "cool.01")
    assert get_frames(second) == []
    assert first.has_annotation("DEP") == (name == "tea.conllu")
    counts = json.loads((tmp_path / "report.json").read_text())["out.spacy"]
    assert (counts["sentences"], counts["words"], counts["predicates"]) == (2, 4, 1)


def test_unusable_heads_are_reported(convert, tmp_path):
    result, docs = convert("tea.conllu", CONLLU.replace("2\tnsubj", "0\tnsubj"))
    assert result.exit_code == 0
    assert [doc.has_annotation("DEP") for doc in docs] == [False, True]
    counts = json.loads((tmp_path / "report.json").read_text())["out.spacy"]
    place = f"{tmp_path / 'tea.conllu'}:2"
    assert counts["without heads"] == [[place, "2 roots in the dependency tree"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Tea cools.\nYes\n", "{words}:1: 2 words, but 3 tokens in the same sentence at {a}:1"),
        ("Tea cools .\n\n", "{b}:1: {words} has only 1 sentences, and this is another"),
        (PLAIN + "No\n", "{words}:4: the skeletons have only 2 sentences, and this is another"),
    ],
)
def test_sentences_that_do_not_match_are_located(skeletons, tmp_path, text, message):
    words = tmp_path / "tea.txt"
    words.write_text(text)
    a, b = sorted(skeletons.rglob("*.gold_skel"))
    with pytest.raises(FormatError) as caught:
        Propbank(words=words).read_parts([a, b])
    assert str(caught.value) == message.format(words=words, a=a, b=b)


def test_a_role_within_a_role_costs_the_frames_of_its_sentence(convert, skeletons, tmp_path):
    path = skeletons / "00" / "a.gold_skel"
    path.write_text(FIRST.replace("(ARG1*)", "(ARG1*").replace("(V*)", "(V*))"))
    result, (first, second) = convert("tea.txt", PLAIN)
    assert result.exit_code == 0, result.output
    assert len(list(sentence_trees(first))) == 1
    assert FRAMES_KEY not in first.spans
    assert FRAMES_KEY in second.spans
    report = json.loads((tmp_path / "report.json").read_text())["out.spacy"]
    assert report["frames left out"] == [[f"{path}:2", "a role within a role"]]


def test_bad_input_is_one_line_that_names_the_place(convert, skeletons):
    path = skeletons / "00" / "a.gold_skel"
    path.write_text(FIRST.replace("(V*)", "V"))
    result, _ = convert("tea.txt", PLAIN)
    assert result.exit_code == 1
    assert f"convert: {path}:2: bad role 'V'" in result.output
    result, _ = convert("tea.txt", PLAIN, skeletons.parent / "tea.txt")
    assert result.exit_code == 1
    assert (
        "tea.txt:1: expected 8 columns and one for each of 0 predicates, found 3" in result.output
    )


def test_no_input_is_overwritten(skeletons, tmp_path):
    words = tmp_path / "tea.txt"
    words.write_text(PLAIN)
    for place in (words, skeletons / "00" / "a.gold_skel"):
        before = place.read_bytes()
        for options in ((place,), (tmp_path / "out.spacy", "--report", place)):
            result = run(Propbank, skeletons, *options, "--words", words)
            assert f"{place} would overwrite the input" in result.output
        assert place.read_bytes() == before
