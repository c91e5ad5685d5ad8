"""Mark the words of a text that are probably wrong, the surest first.

python examples/check_essay.py "He go to school every day, because he want to learning."
"""

from __future__ import annotations

import sys

import spacy
from spacy.tokens import Doc

TEXT = "He go to school every day, because he want to learning English."


def suspects(doc: Doc, least: float) -> list[tuple[float, str]]:
    """Tokens with at least this probability of being wrong, with a word on each side."""
    found = []
    for token in doc:
        if token._.error_score >= least:
            around = doc[max(token.i - 1, 0) : token.i + 2]
            found.append((token._.error_score, around.text.replace(token.text, f"*{token.text}*")))
    return sorted(found, reverse=True)


if __name__ == "__main__":
    nlp = spacy.load("en_lal_ged_sm")
    # a lower threshold than the pipeline's own finds more, and is wrong more often
    for probability, words in suspects(nlp(sys.argv[1] if len(sys.argv) > 1 else TEXT), 0.15):
        print(f"{probability:.2f}  {words}")
