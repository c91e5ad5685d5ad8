"""Edits of single words, which are a detector's labels beside the types of errors.

Omelianchuk et al. 2020, "GECToR – Grammatical Error Correction: Tag, Not Rewrite" (BEA), section 3.
A label is a type of errors and, behind a space, what is to be done with the word:

    R:DET =the            put "the" in its place
    R:VERB:SVA -1+ies     take a letter away at its end and add "ies"
    R:ORTH ^ (or _)       begin it with a capital (or a small letter)
    R:WO <>               swap it with its neighbour, which has the same label
    R:ORTH ><             join it with its neighbour, which has the same label
    M:DET +the            put "the" before it
    U:PREP                leave it out

A label without an edit is an error of the type whose correction is unknown, unless it is "U".
"""

from collections.abc import Sequence

from ..annotations.grammar_errors import is_missing, is_unnecessary
from ..formats.edit_kinds import CLOSED
from ..formats.parallel import edits_between, in_common

SWAP, JOIN = "<>", "><"
"""Edits of both of two neighbours that change places, or are one word."""
PAIRS = (SWAP, JOIN)
"""Edits of two words."""
LONGEST = 4
"""Most letters that an edit takes away or adds at the end of a word."""


def edits_of(words: Sequence[str], type: str, correction: str | None) -> list[str | None]:
    """Return the edit of each word of an error, "" where there is none for it, None for all if the
    correction is unknown.

    correction: what should stand there, or, of missing words, before it.
    """
    if correction is None:
        return [None] * len(words)
    if is_missing(type):
        return [f"+{correction.lower()}", *[""] * (len(words) - 1)]
    right = correction.split()
    if is_unnecessary(type) or not right:
        return [""] * len(words)
    if len(words) == 1:
        # the letters of a misspelling follow no rule
        spelling = type.endswith("SPELL") and len(right) == 1
        return ["" if spelling else _edit(words[0], right)]
    if len(words) == 2 and (edit := _pair_edit(words, right)):
        return [edit, edit]
    edits = {edit.start: edit for edit in edits_between(words, right)}
    if any(edit.end != at + 1 or not edit.correction for at, edit in edits.items()):
        return [""] * len(words)
    return [
        _edit(word, (edits[at].correction or "").split()) if at in edits else ""
        for at, word in enumerate(words)
    ]


def _pair_edit(words: Sequence[str], right: Sequence[str]) -> str:
    if "".join(words) == "".join(right) and len(right) == 1:
        return JOIN
    swapped = [word.lower() for word in words] == [word.lower() for word in right[::-1]]
    return SWAP if swapped and len(right) == 2 else ""


def _edit(word: str, right: Sequence[str]) -> str:
    text = " ".join(right)
    old, new = word.lower(), text.lower()
    if old == new:
        return "^" if text[:1].isupper() else "_"
    both = in_common(old, new)
    away, more = len(old) - both, new[both:]
    closed = {old, new} & CLOSED or " " in new
    if closed or both < 2 or max(away, len(more)) > LONGEST or away + len(more) >= both + 2:
        return f"={new}"
    return f"-{away}+{more}"


def edited(word: str, edit: str) -> str | None:
    """Return what an edit makes of a word, or puts before it; None if it can't be made, and for
    an edit of two."""
    sign, rest = edit[:1], edit[1:]
    if sign in ("^", "_"):
        made = (word[:1].upper() if sign == "^" else word[:1].lower()) + word[1:]
    elif sign == "+":
        return "I" if rest == "i" else rest
    elif sign == "=":
        made = in_case(rest, word)
    elif sign == "-":
        away, _, more = rest.partition("+")
        if len(word) <= int(away):
            return None
        made = word[: len(word) - int(away)] + (more.upper() if _shouted(word) else more)
    else:
        return None
    return None if made == word else made


def in_case(word: str, old: str) -> str:
    """Return a word in capitals, or with one at its start, as the other one has them."""
    if word == "i" or word.startswith("i'"):
        return "I" + word[1:]
    if _shouted(old):
        return word.upper()
    return word[:1].upper() + word[1:] if old[:1].isupper() and old != "I" else word


def _shouted(word: str) -> bool:
    return len(word) > 1 and word.isupper()
