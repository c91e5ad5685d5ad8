"""Who decides where sentences start: whoever was there first, then the senter, then the rule."""

import pytest
import spacy
from spacy.training import Example

from spacy_lal.models.batching.sentences import sentence_starts

TEXT = "tea is good\n\nit is hot. Yes"


@pytest.fixture(scope="module")
def nlp():
    """A senter that has learned that sentences start at "it"."""
    nlp = spacy.blank("en")
    senter = nlp.add_pipe("senter")
    gold = nlp.make_doc(TEXT)
    for token in gold:
        token.is_sent_start = token.i == 0 or token.text == "it"
    examples = [Example(nlp.make_doc(TEXT), gold)]
    nlp.initialize(lambda: examples)
    for _ in range(40):
        nlp.update(examples)
    assert senter.cfg["overwrite"] is False
    return nlp


def test_learned_boundaries_come_before_the_rule(nlp):
    doc = nlp(TEXT)
    assert [doc[start].text for start in sentence_starts(doc, "split")] == ["tea", "it"]
    ruled = sentence_starts(nlp.make_doc(TEXT), "split")
    assert [doc[start].text for start in ruled] == ["tea", "it", "Yes"]


@pytest.mark.parametrize(
    ("lang", "sentences"),
    [
        (
            "de",
            ["Sie rief: „Es brennt!“", "Sie lief.", "„Wohin?“, fragte er.", "„Heim.“"],
        ),
        ("cs", ["Řekla: „Prší.“", "Šel dál.", "„Kam?“ zeptala se.", "„Domů.“"]),
        ("it", ["Ha detto: «Piove.»", "Poi è uscito.", "«Dove?» ha chiesto.", "«A casa.»"]),
        ("da", ["Hun sagde: »Det regner.«", "Så gik han."]),
        ("en", ["She said: “It rains.”", "He left.", "“Where?” she asked.", "‘Home.’"]),
    ],
)
def test_quotes_of_other_languages_by_rule(lang, sentences):
    doc = spacy.blank(lang)(" ".join(sentences))
    starts = [doc[start].idx for start in sentence_starts(doc, "split")]
    assert starts == [len(" ".join([*sentences[:k], ""])) for k in range(len(sentences))]


def test_boundaries_that_are_there_stay(nlp):
    doc = nlp.make_doc(TEXT)
    for token in doc:
        token.is_sent_start = token.text in ("tea", "good")
    nlp(doc)
    assert [doc[start].text for start in sentence_starts(doc, "split")] == ["tea", "good"]
