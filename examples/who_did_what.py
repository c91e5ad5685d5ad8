"""Who did what to whom: a table of the frames of a text, one line for each verb.

python examples/who_did_what.py "Mary gave her brother a book, which he never read."
"""

from __future__ import annotations

import sys

import spacy
from spacy.tokens import Doc

TEXT = "Mary gave her brother a book, which he never read."
COLUMNS = {"who": "ARG0", "what": "ARG1", "to whom": "ARG2", "when": "ARGM-TMP"}


def rows(doc: Doc) -> list[dict[str, str]]:
    """For each verb with arguments, the words of the roles in COLUMNS."""
    found = []
    for frame in doc._.frames:
        if frame.predicate.tag_.startswith("VB") and frame.arguments:
            words = {span.label_: span.text for span in frame.arguments}
            row = {"verb": frame.verb.text}
            found.append(row | {name: words.get(role, "") for name, role in COLUMNS.items()})
    return found


if __name__ == "__main__":
    nlp = spacy.load("en_lal_sm")
    for row in rows(nlp(sys.argv[1] if len(sys.argv) > 1 else TEXT)):
        print("  ".join(f"{name}: {words}" for name, words in row.items() if words))
