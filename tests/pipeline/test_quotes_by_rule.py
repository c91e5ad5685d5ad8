"""Quotes and sentence starts by rule: marks that close, and whitespace, never begin a sentence."""

from itertools import pairwise

import pytest
import spacy
from spacy.tokens import Doc

from spacy_lal.batching.sentences import sentence_starts

# Sentences are separated by |; whitespace before | belongs to the sentence before it.
FRENCH = [
    "Elle crie : « Non ! »",
    "Elle crie : « Non ! » |Il part.",
    "Elle crie : «\u00a0Non\u00a0!\u00a0»",
    "Elle crie : «\u202fNon\u202f!\u202f» |Il part.",
    "« Où vas-tu ? » |« À Lyon. »",
    "« Où vas-tu ? » |« À Lyon. » |Il rit.",
    "Il part. |« Non ! » dit-elle. |« Oui. »",
    'Il dit : " Je pars. "',
    "Il dit : “ Je pars. ” |Elle reste.",
    "Il a dit : « Elle a crié : “ Non ! ” »",
    "Il part. »\n\n|« Elle reste. »",
]
ENGLISH = [
    'He shouted: " No ! "',
    'He shouted: "No!" |Then he left.',
    'He left. |" No ! " she said . |" Go . " |" Yes . "',
    "' No . ' |' Yes . '",
    "'No.' |'Yes.' |She left.",
    "“No!” she said. |“Go.” |“Yes.”",
    "She said: \"He cried: 'No!'\" |Then he left.",
    "She said: “He cried: ‘No!’” |Then he left.",
    'He left.|"Go!" she said.',
    "The boys' bikes broke. |The girls' didn't.",
    'A 5" pipe. |A 6" one. |"It broke," he said.',
    "(He left.) |She stayed. |(They sang.)",
    "He left.\n\n \n\n|She stayed.\n",
    "He left. \n\n",
    "\n\nHe left.",
    'He left.\n\n"\n',
]


@pytest.mark.parametrize(
    ("lang", "text"),
    [("fr", text) for text in FRENCH]
    + [("en", text) for text in ENGLISH]
    + [("de", "Er sagte: ‚Nein.‘ |»Doch.« |»Nein.« |„Doch.“ |„ Nein . “ |Er ging.")],
)
def test_starts(lang, text):
    doc = spacy.blank(lang)(text.replace("|", ""))
    starts = [*sentence_starts(doc, "split"), len(doc)]
    found = [doc[i:j].text_with_ws for i, j in pairwise(starts)]
    assert found == text.split("|")


def test_several_tokens_of_whitespace():
    words = ["He", "left", ".", "\n\n", " ", "\n\n", "She", "stayed", ".", "\n", "\n\n"]
    doc = Doc(spacy.blank("en").vocab, words=words, spaces=[False] * len(words))
    assert sentence_starts(doc, "split") == [0, 6]
