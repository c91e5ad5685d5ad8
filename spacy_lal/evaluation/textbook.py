"""Scores on textbook sentences, each with the brackets, heads, roles and starts it must have.

A `.checks` file has kinds as headings (`## recipient passives`), below them a text a line, and
below each text its checks, indented. Words are named as they stand in the text; `#2` behind them
names their second occurrence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc, Span

from ..annotations import get_constituents, get_frames

TEXTBOOK = ".checks"
"""Suffix of files of textbook sentences."""
_COMMENT = "# "
_ANY = "*"
_WORDS = {"phrase": 1, "role": 2, "head": 0, "root": 0, "tag": 0, "predicate": 0, "start": 0}
"""Checks, and the position in them from which words of the text reach to the end of the line."""
_LENGTHS = {"head": 3, "root": 1, "tag": 2, "predicate": 1, "start": 1, "sentences": 1}
_NEGATIVE = ("phrase", "role", "predicate", "start")


class Check(NamedTuple):
    """What must be found in a text, or must not: a check's name and its arguments."""

    name: str
    arguments: tuple[str, ...]
    negative: bool
    line: str


class TextbookText(NamedTuple):
    """Text of a kind of construction, with its checks."""

    kind: str
    text: str
    checks: tuple[Check, ...]


def read_textbook(path: Path) -> list[TextbookText]:
    """Return the texts of a `.checks` file. Raises ValueError, with the line, for an unknown check,
    words that are not in the text, and a text without checks or kind."""
    texts: list[tuple[int, str, str, list[Check]]] = []
    kind = ""
    for number, line in enumerate(path.read_text("utf8").splitlines(), 1):
        if not line.strip() or line.startswith(_COMMENT):
            continue
        if line.startswith("## "):
            kind = line[3:].strip()
        elif not line[0].isspace():
            texts.append((number, kind, line.strip(), []))
        elif not texts:
            raise ValueError(f"{path}:{number}: a check without a text")
        else:
            try:
                texts[-1][-1].append(_check(line.strip(), texts[-1][2]))
            except ValueError as error:
                raise ValueError(f"{path}:{number}: {error}") from None
    for number, kind, _, checks in texts:
        if not kind or not checks:
            missing = "checks" if kind else "a kind (a line that begins with ##)"
            raise ValueError(f"{path}:{number}: a text without {missing}")
    if not texts:
        raise ValueError(f"{path}: no texts")
    return [TextbookText(kind, text, tuple(checks)) for _, kind, text, checks in texts]


def _check(line: str, text: str) -> Check:
    negative = line.startswith("no ")
    name, *words = line.removeprefix("no ").split()
    if name not in {*_WORDS, "sentences"} or (negative and name not in _NEGATIVE):
        raise ValueError(f"unknown check {line!r}")
    if name in _LENGTHS and len(words) != _LENGTHS[name]:
        raise ValueError(f"{name} takes {_LENGTHS[name]} words: {line!r}")
    if name == "sentences":
        return Check(name, (str(int(words[0])),), negative, line)
    first = _WORDS[name]
    if name in _LENGTHS:
        arguments, named = tuple(words), words[: 2 if name == "head" else 1]
    else:
        arguments = (*words[:first], " ".join(words[first:]))
        named = [arguments[-1], *(words[:1] if name == "role" else ())]
    for each in named:
        _place(each, text)
    return Check(name, arguments, negative, line)


def _place(words: str, text: str) -> tuple[int, int]:
    """Return where words stand in the text, in characters."""
    words, _, nth = words.partition("#") if re.search(r".#\d+$", words) else (words, "", "1")
    whole = rf"(?<!\w){re.escape(words)}(?!\w)"
    parts = re.escape(words)  # such as n't
    found = [match.span() for match in re.finditer(whole, text)]
    found = found or [match.span() for match in re.finditer(parts, text)]
    if not words or len(found) < int(nth):
        raise ValueError(f"{words!r} is not {nth} times in {text!r}")
    return found[int(nth) - 1]


def holds(check: Check, doc: Doc) -> bool:
    """Return whether the Doc's annotation is what the check demands."""
    return _found(check, doc) != check.negative


def _found(check: Check, doc: Doc) -> bool:
    arguments = check.arguments
    if check.name == "sentences":
        return len(list(doc.sents)) == int(arguments[0])
    span = _span(arguments[-1] if check.name in ("phrase", "role") else arguments[0], doc)
    if span is None:
        return check.negative  # the tokens are others: never right
    if check.name == "phrase":
        return any(
            (i, j) == (span.start, span.end) and arguments[0] in (label, _ANY)
            for i, j, label in get_constituents(doc)
        )
    if check.name == "role":
        predicate = _span(arguments[0], doc)
        return any(
            (a.start, a.end) == (span.start, span.end) and arguments[1] in (a.label_, _ANY)
            for frame in get_frames(doc)
            if predicate is not None and frame.predicate.i == predicate.start
            for a in frame.arguments
        )
    token = span[0]
    if check.name == "head":
        head = _span(arguments[1], doc)
        relation = arguments[2] in (token.dep_, _ANY)
        return head is not None and token.head.i == head.start and relation
    return {
        "root": token.head.i == token.i,
        "tag": token.tag_ == arguments[-1],
        "predicate": any(frame.predicate.i == token.i for frame in get_frames(doc)),
        "start": bool(token.is_sent_start),
    }[check.name]


def _span(words: str, doc: Doc) -> Span | None:
    return doc.char_span(*_place(words, doc.text))


def measure_textbook(nlp: Language, path: Path) -> dict[str, Any]:
    """Return `kinds`, the number of texts of each kind and the share that meet all their checks,
    `all` of them, and `failed`, each failed check with its text."""
    texts = read_textbook(path)
    kinds: dict[str, list[bool]] = {}
    failed = []
    for text, doc in zip(texts, nlp.pipe(text.text for text in texts), strict=True):
        wrong = [check.line for check in text.checks if not holds(check, doc)]
        kinds.setdefault(text.kind, []).append(not wrong)
        failed += [{"kind": text.kind, "text": text.text, "check": line} for line in wrong]
    return {
        "kinds": {kind: _share(right) for kind, right in kinds.items()},
        "all": _share([each for right in kinds.values() for each in right]),
        "failed": failed,
    }


def _share(right: Sequence[bool]) -> dict[str, Any]:
    return {"texts": len(right), "right": sum(right) / len(right)}
