"""Who decides where sentences start: whoever was there first, then the senter, then the rule."""

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations.retokenized import Piece, rewritten
from spacy_lal.batching.sentences import sentence_starts

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


@pytest.mark.parametrize("space", [" ", "  ", "\n", "\t"])
@pytest.mark.parametrize("quoted", ['"Go," she said.', "“Go,” she said.", "'Go,' she said."])
def test_an_opening_quote_behind_any_whitespace(space, quoted):
    doc = spacy.blank("en")(f"He left.{space}{quoted}")
    first, second = sentence_starts(doc, "split")
    assert first == 0
    assert doc[second:].text == quoted


def test_boundaries_that_are_there_stay(nlp):
    doc = nlp.make_doc(TEXT)
    for token in doc:
        token.is_sent_start = token.text in ("tea", "good")
    nlp(doc)
    assert [doc[start].text for start in sentence_starts(doc, "split")] == ["tea", "good"]


@pytest.mark.parametrize(
    ("lang", "sentences"),
    [
        ("fr", ["« Il pleut. »", "M. Petit ferme la porte.", "« Reste ici », dit-il."]),
        ("de", ["»Es regnet.«", "Anna schließt die Tür.", "»Bleib hier!«", "Er bleibt."]),
        ("de", ["„Es regnet.“", "„Bleib hier!“"]),
        ("is", ["„Það rignir.“", "Anna lokar 3. hurðinni."]),
        ("vi", ["Trời mưa.", "Anh ấy đóng cửa."]),
        ("es", ["Llueve.", "¿Vienes?", "¡Ven!"]),
    ],
)
def test_the_rule_knows_quotes_of_many_languages(lang, sentences):
    nlp = spacy.blank(lang) if lang != "vi" else spacy.blank("xx")
    doc = nlp(" ".join(sentences))
    starts = [doc[start].idx for start in sentence_starts(doc, "split")]
    places = [sum(len(s) + 1 for s in sentences[:number]) for number in range(len(sentences))]
    assert starts == places


def test_new_marks_have_no_english_tags_in_other_languages():
    """A mark that was part of a word gets the Penn Treebank's tag in English alone."""
    tags = {}
    for lang, tag in (("en", "NN"), ("fr", "NC")):
        vocab = spacy.blank(lang).vocab
        old = Doc(vocab, words=["well-known"], tags=[tag])
        pieces = [Piece(text, False, range(1)) for text in ("well", "-", "known")]
        tags[lang] = [token.tag_ for token in rewritten([old], pieces, vocab)]
    assert tags == {"en": ["NN", "HYPH", "NN"], "fr": ["NC", "", "NC"]}
