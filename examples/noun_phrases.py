"""The longest noun phrases of a text, with the probability that each is one.

python examples/noun_phrases.py "The old bridge over the river had been closed for years."
"""

from __future__ import annotations

import sys

import spacy
from spacy.tokens import Doc

TEXT = "The old bridge over the river had been closed for years. Nobody knew why."


def noun_phrases(doc: Doc) -> list[tuple[str, float]]:
    """Noun phrases that stand in no other noun phrase, in the order of the text."""
    group = doc.spans["constituents"]
    found: list[tuple[str, float]] = []
    end = 0
    # the spans are in preorder: a phrase comes before those inside it
    for span, score in zip(group, group.attrs["scores"], strict=True):
        if span.label_ == "NP" and span.start >= end:
            found.append((span.text, score))
            end = span.end
    return found


if __name__ == "__main__":
    nlp = spacy.load("en_lal_sm", exclude=["lisa_srl"])
    for phrase, probability in noun_phrases(nlp(sys.argv[1] if len(sys.argv) > 1 else TEXT)):
        print(f"{probability:.2f}  {phrase}")
