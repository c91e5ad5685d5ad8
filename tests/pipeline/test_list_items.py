"""Sentence starts at the items of lists. In the texts | is where one is set."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lal.pipeline.list_items import set_list_items
from spacy_lal.training.english_tokens import use_treebank_tokens

LISTS = [
    "|- buy milk\n|- call Ann\n|- fix the door",
    "|-buy milk\n|-call Ann",
    "To do:\n|* buy milk. Or tea?\n  which is cheaper\n|* call Ann",
    "|Milk\n|Eggs\n|Two loaves of bread\n|Coffee beans",
    "|milk\n|eggs\n|brown sugar",
    "You need these things for a cake that feeds nine hungry people:\n|Flour\n|Butter",
    "|1) Open the box\n|2) Remove the lid\n\n|3) Take out the cable",
    "|1.Open the box\n|2.Remove the lid",
    "|a. Wash the rice\n|b. Boil the water",
    "|(i) the owner\n|(ii) the tenant\n|(iii) the agent",
    "Bring •\n|• wine\n|• two cups",
    "|1. Bees\n\n|We counted bees in June.\n\n|2. Wasps\n\n|We saw none.",
    "|2.1 Bees\nThey fly.\n|2.2 Wasps\nThey fly too.",
    "|# Bees\n|They fly.\n|## Wasps\n|They fly too.",
    "Ann wrote:\n|> Are you coming?\n|>> bring cake\n|Yes, I am.",
    "Weekly Report\n\n|All is well.",
    "Ingredients\n\n|200 g flour\n|2 eggs\n|A pinch of salt",
    "|Kind regards\n|Maria Lopez\n|Head of Sales",
    "|  \n- milk\r\n|- tea",
]
PROSE = [
    "",
    " \n \n",
    "A line without breaks - but with hyphens - and 1. a number",
    "We walked on until in\nMay Bo found a bridge that\nAnn built long ago near\nBonn.",
    "He was there with\nAnn and\nBo",
    "We walked home until May\nBo Smith and Carla Jones\nFound a bridge near Bonn",
    "She came in the year\n12. He left.",
    "My brother\n- the tall one, that is -",
    "A man whom nobody in the whole village had ever seen\n- a tall man - came in\n- he was\nwet",
    "The firm grew by\n2.5 million and\n3.5 million",
    "sales were\n>50% higher, and the\n# of users grew",
    "Two roads went through the yellow wood,\nAnd I was sorry that I could not go\nBoth ways",
    "we saw my friend\n\nAnn there\n\nand left",
    "I met Dr. Lee. He\nasked how I was. I\nsaid fine",
]


@pytest.fixture(scope="module")
def nlp() -> Language:
    nlp = use_treebank_tokens(spacy.blank("en"))
    nlp.add_pipe("lal_list_items")
    return nlp


def marked(doc: Doc) -> str:
    """Return the text with | before each start that is set."""
    return "".join("|" * (t.is_sent_start is True) + t.text_with_ws for t in doc)


@pytest.mark.parametrize("text", LISTS)
def test_items_begin_sentences(nlp: Language, text: str) -> None:
    assert marked(nlp(text.replace("|", ""))) == text


@pytest.mark.parametrize("text", PROSE)
def test_prose_stays_as_it_is(nlp: Language, text: str) -> None:
    doc = nlp(text)
    assert [token.sent_start for token in doc] == [0] * len(doc)


@pytest.mark.parametrize(
    "text",
    [
        "It opens at 8 a.m. |We left the U.S. |The shop, etc. |I know.",
        "Smith & Co.  |They left then, and so did I.\nHe has a Ph.D.\n|She has none.",
        "|- tea etc. |It is hot.\n|- milk",
        'He lives in Boston, Mass. |"I know." They sued Inc. |In the U.S. |The Times said so.',
        "How the U.S. In Iraq Won; Apple Inc. A Short History; for Inc. as a firm, etc. and so on.",
        "The U.S. Senate met at 5 p.m. Monday, 10 a.m. The Times said. Mr. Brown Jr. and I saw it.",
        "I saw Dr. They? See p. The end. Vol. I is here, No. I too, and the U.S. Itself.",
    ],
)
def test_sentences_that_end_with_abbreviations(nlp: Language, text: str) -> None:
    given = text.replace("|", "")
    # of a Doc's first token spaCy says True, whether set or not
    assert marked(nlp(given)).removeprefix("|") == text.removeprefix("|")
    german = spacy.blank("de")
    german.add_pipe("lal_list_items")
    assert "|" not in marked(german(given.replace("- ", "")))[1:].replace("\n|", "")


def test_what_is_inside_an_item(nlp: Language) -> None:
    """Markers stay with their words and line breaks with the line before; more isn't said."""
    doc = nlp("Buy:\n1. tea leaves\n2. milk")
    assert [(token.text, token.sent_start) for token in doc] == [
        ("Buy", 0),
        (":", 0),
        ("\n", -1),
        ("1", 1),
        (".", -1),
        ("tea", -1),
        ("leaves", 0),
        ("\n", -1),
        ("2", 1),
        (".", -1),
        ("milk", -1),
    ]


def test_boundaries_that_are_there_stay(nlp: Language) -> None:
    doc = nlp.make_doc("- tea\n- milk")
    for token in doc:
        token.is_sent_start = token.text == "milk"
    before = [token.sent_start for token in doc]
    assert [token.sent_start for token in set_list_items(doc)] == before


def test_a_senter_behind_it_keeps_them() -> None:
    nlp = use_treebank_tokens(spacy.blank("en"))
    nlp.add_pipe("lal_list_items")
    nlp.add_pipe("senter")
    nlp.initialize()
    texts = ["- tea\n- milk", "Tea and\nmilk", ""]
    starts = [[sentence.start for sentence in doc.sents] for doc in nlp.pipe(texts)]
    assert {0, 3} <= set(starts[0])
    assert 1 not in starts[0]
    assert 4 not in starts[0]
    assert all(doc.has_annotation("SENT_START", require_complete=True) for doc in nlp.pipe(texts))


def test_saved_and_pickled(nlp: Language, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path)
    text = "- tea\n- milk"
    expected = [token.sent_start for token in nlp(text)]
    for other in (spacy.load(tmp_path), pickle.loads(pickle.dumps(nlp))):
        assert other.pipe_names == ["lal_list_items"]
        assert [[t.sent_start for t in doc] for doc in other.pipe([text] * 2)] == [expected] * 2
