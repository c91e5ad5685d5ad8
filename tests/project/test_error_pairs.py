"""Pairs of wrong and right sentences that a script makes of templates."""

from __future__ import annotations

import random
import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
import spacy

from spacy_lal.annotations.grammar_errors import get_errors
from spacy_lal.evaluation.detection_scores import read_pairs

from .running import ROOT

SCRIPT = SimpleNamespace(**runpy.run_path(str(ROOT / "projects/realec/pairs.py")))
TEMPLATES = ROOT / "projects/realec/pairs"
MEASURED = ROOT / "assets/textbook/errors.tsv"
UNTRAINED = {
    *("resumptive pronouns", "doubled conjunctions", "tag questions", "so and such"),
    *("state verbs in the progressive", "to after make and let", "doubled subjects"),
    *("one of and a singular", "compound measures", "how and what with like"),
}


def test_the_measured_file_is_what_the_templates_make() -> None:
    made = [(kind, s.wrong, s.right) for kind, s in SCRIPT.made(TEMPLATES / "measured.txt", 20, 1)]
    rows = [line.split("\t") for line in MEASURED.read_text("utf8").splitlines()[1:]]
    assert made == list(map(tuple, rows))
    pairs = read_pairs(MEASURED)
    kinds = {pair.kind for pair in pairs if pair.wrong}
    assert (len(pairs), len(kinds)) == (900, 40)
    assert len({pair.wrong or pair.right for pair in pairs}) == 900


def test_nothing_is_measured_that_is_trained_on() -> None:
    """No noun or verb of a class of one half is anywhere in the other, and no template."""
    read = {half: SCRIPT.read(TEMPLATES / f"{half}.txt") for half in ("measured", "training")}
    texts = {half: (TEMPLATES / f"{half}.txt").read_text("utf8") for half in read}
    for half, (words, kinds) in read.items():
        (other,) = read.keys() - {half}
        body = re.sub(r"(?m)^#.*|\{.*?\}", "", texts[other].split("\n## right:")[0]).lower()
        there = set(re.findall(r"[a-z]+", re.sub(r"(?m)^(noun|verb|pair|word) \w+:", "", body)))
        for forms in (forms for of in words.values() for forms in of):
            if "pl" in forms or "z" in forms:
                own = {form for name, form in forms.items() if name != "+"}
                assert not own & there, (half, forms)
        templates = {t.text for of in kinds.values() for t in of}
        assert not templates & {t.text for of in read[other][1].values() for t in of}
    trained, measured = (set(read[half][1]) for half in ("training", "measured"))
    assert measured >= UNTRAINED
    assert not trained & UNTRAINED


@pytest.mark.parametrize(
    ("template", "wrong", "right", "labels"),
    [
        ("Tom [go|goes] home.", "Tom [go] home.", "Tom goes home.", ["", "R:X", "", ""]),
        ("[|The] sun sets.", "[Sun] sets.", "The sun sets.", ["M:X", "", ""]),
        ("It is [the|] home.", "It is [the] home.", "It is home.", ["", "", "U:X", "", ""]),
        ("A [man|man's] oven.", "A [man] oven.", "A man's oven.", ["", "R:X", "", ""]),
        ("He told [me it|to me it].", "He told [me it].", "He told to me it.", None),
    ],
)
def test_marks(template: str, wrong: str, right: str, labels: list[str] | None) -> None:
    sentence = SCRIPT.filled(SCRIPT.Template(template, "X"), {}, random.Random(1))
    assert (sentence.wrong, sentence.right) == (wrong, right)
    bad, good = SCRIPT.docs_of(sentence, spacy.blank("en"))
    # something is missing before the first token of the brackets
    assert get_errors(bad) == (labels or ["", "", "M:X", "", ""])
    assert set(get_errors(good)) == {""}


def test_words_agree(tmp_path: Path) -> None:
    path = tmp_path / "templates.txt"
    path.write_text(
        "noun who: owl, child/children\nverb act: stop! a bus, see/saw/seen it\n\n"
        "## x = VERB\nThe {who} [{act.z}|{act.d}] {act+} beside a {who2}, {act.g} {act+}.\n"
    )
    (first, *rest) = [s.right for _, s in SCRIPT.made(path, 9, 1)]
    assert {first, *rest} == {
        f"The {one} {past} beside {other}, {gerund}."
        for one, other in (("owl", "a child"), ("child", "an owl"))
        for past, gerund in (("stopped a bus", "stopping a bus"), ("saw it", "seeing it"))
    }
