"""A detector on pairs of a wrong sentence and its correction, by kind of error.

A file of pairs has three columns with tabs between them, and a line that names them: kind, wrong,
right. In the wrong sentence, brackets stand around what is wrong by the rule of
`artificial_errors/corrupt.py`: words that are changed or too much, and the word after a missing
one.

    kind	wrong	right
    agreement	He [go] home.	He goes home.
    articles	I have [car].	I have a car.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from ..annotations.grammar_errors import error_scores
from ..formats.files import FormatError, read_text
from ..pipeline.loading import load_pipeline
from . import about
from .errors import detector_of

COLUMNS = ("kind", "wrong", "right")
"""The columns of a file of pairs, which its first line names."""
Place = tuple[int, int]


@dataclass(frozen=True)
class Pair:
    """wrong: the sentence without brackets. places: start and end, in characters of it, of what was
    between them."""

    kind: str
    wrong: str
    places: tuple[Place, ...]
    right: str


@dataclass(frozen=True)
class Outcome:
    """found: whether any of the tokens that are wrong is marked; elsewhere: how many others of that
    sentence are; in_right: which tokens of the correction are."""

    pair: Pair
    found: bool
    elsewhere: int
    in_right: tuple[str, ...]


def read_pairs(path: str | Path) -> list[Pair]:
    """Raises FormatError for a line without three columns or without brackets that match."""
    header, *rows = enumerate(read_text(path).removesuffix("\n").split("\n"), start=1)
    if tuple(header[1].split("\t")) != COLUMNS:
        message = f"the first line isn't {', '.join(COLUMNS)} with tabs between them"
        raise FormatError(message, source=str(path), line=1)
    pairs = []
    for line, row in rows:
        cells = row.split("\t")
        if len(cells) != len(COLUMNS) or not all(cell.strip() for cell in cells):
            message = f"expected {len(COLUMNS)} columns with tabs between them"
            raise FormatError(message, source=str(path), line=line)
        kind, marked, right = cells
        wrong, places = _unmarked(marked)
        if not places or set("[]") & set(wrong + right):
            raise FormatError(
                "expected [brackets] around the words that are wrong, and no other brackets",
                source=str(path),
                line=line,
            )
        pairs.append(Pair(kind, wrong, places, right))
    if not pairs:
        raise FormatError(
            "expected pairs of sentences below the first line, found none", source=str(path), line=1
        )
    return pairs


def _unmarked(marked: str) -> tuple[str, tuple[Place, ...]]:
    text = ""
    places = []
    for number, part in enumerate(re.split(r"(\[\s*[^\[\]\s][^\[\]]*\])", marked)):
        if number % 2:
            places.append((len(text), len(text) + len(part) - 2))
            part = part[1:-1]
        text += part
    return text, tuple(places)


def evaluate_pairs(model: str, path: Path) -> dict[str, Any]:
    """Shares in percent, by kind and of all pairs, and what was marked of every pair."""
    pairs = read_pairs(path)
    nlp = load_pipeline(model)
    pipe = detector_of(nlp)
    found = list(outcomes(nlp, pairs, pipe.cfg["threshold"], pipe.spans_key))
    kinds = list(dict.fromkeys(pair.kind for pair in pairs))
    by_kind = {kind: _shares([one for one in found if one.pair.kind == kind]) for kind in kinds}
    each = [
        {
            "kind": one.pair.kind,
            "wrong": one.pair.wrong,
            "found": one.found,
            "elsewhere": one.elsewhere,
            "in_right": list(one.in_right),
        }
        for one in found
    ]
    numbers = {"threshold": round(pipe.cfg["threshold"], 4), "all": _shares(found)}
    return about(nlp) | {"pairs": path.name} | numbers | {"kinds": by_kind, "each": each}


def outcomes(
    nlp: Language, pairs: Sequence[Pair], threshold: float, key: str = "errors"
) -> Iterator[Outcome]:
    """What the pipeline marks in each pair, its sentences read as they stand, each by itself."""
    wrong = nlp.pipe(pair.wrong for pair in pairs)
    right = nlp.pipe(pair.right for pair in pairs)
    for pair, one, other in zip(pairs, wrong, right, strict=True):
        gold = {
            token.i
            for token in one
            for start, end in pair.places
            if token.idx < end and start < token.idx + len(token)
        }
        marked = set(_marked(one, threshold, key))
        in_right = tuple(other[at].text for at in _marked(other, threshold, key))
        yield Outcome(pair, bool(gold & marked), len(marked - gold), in_right)


def _marked(doc: Doc, threshold: float, key: str) -> list[int]:
    scores = error_scores(doc, key) or []
    return [at for at, score in enumerate(scores) if score >= threshold]


def _shares(found: Sequence[Outcome]) -> dict[str, float]:
    return {
        "pairs": len(found),
        "found": _percent(sum(one.found for one in found), len(found)),
        "marked_elsewhere": _percent(sum(one.elsewhere > 0 for one in found), len(found)),
        "right_marked": _percent(sum(bool(one.in_right) for one in found), len(found)),
    }


def _percent(count: int, of: int) -> float:
    return round(100 * count / of, 1) if of else 0.0
