"""Code in a text about programs, whose words are right as they are."""

import re

from spacy.tokens import Doc

CODE = re.compile(
    r"(?<!\w)[^\W\d]\w{,40}\((?!e?s\))[^()\s]{,80}\)|(?<!`)`(?=[^`\s])[^`\n]{,80}(?<!\s)`(?!`)"
)
"""A call of a program's function, as "range(i)", no "error(s)"; or what is between backticks."""
NEAR = 12
"""Letters before code within which a letter is a variable."""


def words_of_code(doc: Doc) -> list[int]:
    """Return the tokens of code, and letters near it, as the first "i" of "for i in range(i)": they
    are right."""
    spans = [found.span() for found in CODE.finditer(doc.text)]
    found, k = [], 0
    for token in doc if spans else ():
        while k < len(spans) and spans[k][1] <= token.idx:
            k += 1
        if k < len(spans) and spans[k][0] - (NEAR if len(token) == 1 else 0) <= token.idx:
            found.append(token.i)
    return found
