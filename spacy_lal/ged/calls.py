"""Calls of functions in a text about programs, whose words are right as they are."""

import re

from spacy.tokens import Doc

CALL = re.compile(r"(?<!\w)[^\W\d]\w{,40}\((?!e?s\))[^()\s]{,80}\)")
"""A call of a program's function, as "range(i)"; no "error(s)"."""
NEAR = 12
"""Letters before a call within which a letter is a variable."""


def words_of_code(doc: Doc) -> list[int]:
    """Return the tokens of calls of functions, and letters near them, as the first "i" of "for i in
    range(i)": they are right."""
    calls = [call.span() for call in CALL.finditer(doc.text)]
    found, k = [], 0
    for token in doc if calls else ():
        while k < len(calls) and calls[k][1] <= token.idx:
            k += 1
        if k < len(calls) and calls[k][0] - (NEAR if len(token) == 1 else 0) <= token.idx:
            found.append(token.i)
    return found
