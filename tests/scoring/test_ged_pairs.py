"""`evaluate` on pairs: what counts as found, and the textbook's sentences."""

from collections import Counter
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc

from spacy_lal.annotations.grammar_errors import set_errors
from spacy_lal.evaluation.detection_scores import Pair, outcomes, read_pairs
from spacy_lal.formats.files import FormatError

TEXTBOOK = Path(__file__).parents[1] / "textbook"


def test_brackets_are_read(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("kind\twrong\tright\nagreement\t[Do] she [likes] it?\tDoes she like it?\n")
    (pair,) = read_pairs(path)
    assert pair == Pair("agreement", "Do she likes it?", ((0, 2), (7, 12)), "Does she like it?")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wrong\tright\n", "the first line isn't kind, wrong, right"),
        ("kind\twrong\tright\n", "no pair is below it"),
        ("kind\twrong\tright\nx\tHe [go].\n", ":2: expected 3 columns, found 2: only tabs"),
        ("kind\twrong\tright\nx\tHe [go].\tHe goes.\t\n", ":2: expected 3 columns, found 4"),
        ("kind\twrong\tright\nx\tHe [go].\t \n", ":2: an empty column"),
        ("kind\twrong\tright\nx\tHe go.\tHe goes.\n", "expected .brackets. around"),
        ("kind\twrong\tright\nx\tHe [go.\tHe goes.\n", "but no others"),
        ("kind\twrong\tright\nx\tHe [ ] go.\tHe goes.\n", "around the words"),
        ("kind\twrong\tright\nx\t[ ]\tHe goes.\n", "around the words"),
    ],
)
def test_what_is_no_file_of_pairs(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        read_pairs(path)


def marking(suspicious: dict[str, float]):
    """A pipeline that finds words wrong by a list."""
    nlp = spacy.blank("en")

    @spacy.Language.component("suspicious")
    def component(doc: Doc) -> Doc:
        scores = [suspicious.get(token.text, 0.0) for token in doc]
        set_errors(doc, ["ERROR" if score >= 0.5 else "" for score in scores], scores)
        return doc

    nlp.add_pipe("suspicious")
    return nlp


def test_outcomes() -> None:
    """By hand: n't belongs to the brackets' word; "coffee" is marked in both sentences."""
    pairs = [
        Pair("agreement", "She don't like coffee.", ((4, 9),), "She doesn't like coffee."),
        Pair("articles", "I have an car.", ((7, 9),), "I have a car."),
    ]
    nlp = marking({"n't": 0.7, "coffee": 0.9, "car": 0.6, "an": 0.4})
    first, second = outcomes(nlp, pairs, 0.5)
    assert (first.found, first.elsewhere, first.in_right) == (True, 1, ["n't", "coffee"])
    assert (second.found, second.elsewhere, second.in_right) == (False, 1, ["car"])
    first, second = outcomes(nlp, pairs, 0.35)
    assert second.found


def test_the_textbook() -> None:
    """Sixty pairs of all kinds, whose corrections differ and which aren't those of the reports."""
    pairs = read_pairs(TEXTBOOK / "pairs.tsv")
    assert len(pairs) == 60
    counts = Counter(pair.kind for pair in pairs)
    assert len(counts) == 8
    assert min(counts.values()) >= 6
    texts = [text for pair in pairs for text in (pair.wrong, pair.right)]
    assert len(set(texts)) == 120
    reported = read_pairs(TEXTBOOK / "reported.tsv")
    assert not {pair.wrong for pair in reported} & set(texts)
    for pair in pairs + reported:
        inside = " ".join(pair.wrong[start:end] for start, end in pair.places)
        assert inside
        assert 3 <= len(pair.wrong.split()) <= 12


@pytest.mark.parametrize("lang", ["de", "it", "cs"])
def test_textbooks_of_other_languages(lang: str) -> None:
    """What isn't between brackets is the same in both sentences, or has only moved."""
    pairs = read_pairs(TEXTBOOK / f"{lang}.tsv")
    texts = [text for pair in pairs for text in (pair.wrong, pair.right)]
    assert len(set(texts)) == 2 * len(pairs)
    nlp = spacy.blank(lang)
    for pair in pairs:
        wrong = nlp(pair.wrong)
        changed = {
            token.i for token in wrong for start, end in pair.places if start <= token.idx < end
        }
        kept = Counter(token.text for token in wrong if token.i not in changed)
        assert changed
        assert not kept - Counter(token.text for token in nlp(pair.right))
