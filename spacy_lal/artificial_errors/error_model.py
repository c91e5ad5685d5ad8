"""A description of the errors that people make, as tables of words; kept as JSON.

All words in tables are lower-case (but "I"): what is replaced lends its case to what replaces it.
A phrase is words with single spaces between them, split as spaCy's tokenizer does: "it 's".
Weights are relative frequencies: of an error at a place where it is possible, before any scaling to
an asked rate, so two errors with equal weights are equally probable at their places.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ..formats.whole_files import whole_file

ANY = "*"
"""In an insertion's tables: every word that isn't there itself."""
START = ""
"""In an insertion's table of words before: the sentence's start."""
TRANSPOSE, OMIT, DOUBLE, SUBSTITUTE = "transpose", "omit", "double", "substitute"
"""Misspellings; see `LETTER_NOISE`."""
LOWER, CAPITAL, SWAP = "lower", "capital", "swap"
"""Errors of capitals and of order; see `NOISE`."""
LETTER_NOISE = (TRANSPOSE, OMIT, DOUBLE, SUBSTITUTE)
"""Misspellings: two letters change places; one is left out, doubled, or replaced by `letters`.
Only consonants after vowels are doubled."""
NOISE = (*LETTER_NOISE, LOWER, CAPITAL, SWAP)
"""Errors without tables; LOWER and CAPITAL: a word's first letter; SWAP: it and the next word."""

Weights = Mapping[str, float]
Choice = tuple[tuple[str, ...], tuple[float, ...], float]
"""What replaces a phrase, the weights, their sum."""
LARGEST = 1e50
"""The largest number in a file: what is made of several still has a sum."""
FORMAT = "spacy-lal.error-model.v1"
"""What the field `format` of an error model's file says."""


@dataclass(frozen=True)
class Insertion:
    """Where an unnecessary word comes up: its weight is `after` of the word before it times
    `before` of the word after it, each 0 for words not in the table unless it has `ANY`."""

    after: Weights
    before: Weights

    def weight(self, previous: str, following: str) -> float:
        after = self.after.get(previous)
        if after is None:
            after = self.after.get(ANY, 0.0)
        before = self.before.get(following) if after else 0.0
        if before is None:
            before = self.before.get(ANY, 0.0)
        return after * before


@dataclass(frozen=True)
class ErrorKind:
    """Errors of one kind.

    rate: multiplies all weights, so that kinds can be made more or less frequent as a whole.
    replacements: of a correct phrase, what people write for it; "" is a phrase gone missing.
    insertions: unnecessary words.
    after: if there are any, replacements are made behind these words alone, and their weights are
        multiplied by the word's.
    swaps: words that change places with a neighbour.
    """

    rate: float = 1.0
    replacements: Mapping[str, Weights] = field(default_factory=dict)
    insertions: Mapping[str, Insertion] = field(default_factory=dict)
    after: Weights = field(default_factory=dict)
    swaps: Weights = field(default_factory=dict)


@dataclass(frozen=True)
class ErrorModel:
    """What errors there are, of all kinds.

    lang: the language's code. kinds: by name. noise: weights of those in `NOISE`.
    words: those that are well known, as they are written within a sentence; noise is for them
        alone, so that names, numbers, addresses and the like stay as they are.
    closed: function words, lower-case. They are neither misspelled nor swapped.
    letters: what letters are mistaken for what.
    """

    lang: str
    kinds: Mapping[str, ErrorKind]
    noise: Weights = field(default_factory=dict)
    words: frozenset[str] = frozenset()
    closed: frozenset[str] = frozenset()
    letters: Mapping[str, Weights] = field(default_factory=dict)

    @cached_property
    def phrases(self) -> dict[str, Choice]:
        """Of every phrase that can be replaced wherever it is: by what."""
        return _choices(kind for kind in self.kinds.values() if not kind.after)

    @cached_property
    def phrases_after(self) -> dict[str, list[tuple[Weights, Choice]]]:
        """Of every phrase that can be replaced behind some words: those, and by what."""
        found: dict[str, list[tuple[Weights, Choice]]] = {}
        for kind in self.kinds.values():
            for phrase, choice in _choices([kind]).items() if kind.after else ():
                found.setdefault(phrase, []).append((kind.after, choice))
        return found

    @cached_property
    def swaps(self) -> dict[str, float]:
        """The weights of words that change places with a neighbour."""
        found: dict[str, float] = {}
        for kind in self.kinds.values():
            for word, weight in kind.swaps.items():
                if kind.rate * weight > 0:
                    found[word] = found.get(word, 0.0) + kind.rate * weight
        return found

    @cached_property
    def longer(self) -> dict[str, int]:
        """Of the first words of phrases of two words or more, the most words of such a phrase."""
        longest: dict[str, int] = {}
        for phrase in (*self.phrases, *self.phrases_after):
            first, *more = phrase.split(" ")
            if more:
                longest[first] = max(longest.get(first, 0), len(more) + 1)
        return longest

    @cached_property
    def insertions_before(self) -> dict[str, list[tuple[str, float, Insertion]]]:
        """Of words, what can be inserted before them, with the kind's rate; `ANY`: before all."""
        found: dict[str, list[tuple[str, float, Insertion]]] = {}
        for kind in self.kinds.values():
            for inserted, insertion in kind.insertions.items():
                before = [ANY] if ANY in insertion.before else insertion.before
                for word in before:
                    found.setdefault(word, []).append((inserted, kind.rate, insertion))
        return found

    def with_rates(self, rates: Weights) -> ErrorModel:
        """The same with other rates of kinds and weights of noise; those not named stay."""
        return replace(
            self,
            kinds={
                name: replace(kind, rate=rates.get(name, kind.rate))
                for name, kind in self.kinds.items()
            },
            noise={name: rates.get(name, weight) for name, weight in self.noise.items()},
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "lang": self.lang,
            "kinds": {
                name: {
                    "rate": kind.rate,
                    "replacements": {key: dict(value) for key, value in kind.replacements.items()},
                    "insertions": {
                        key: {"after": dict(value.after), "before": dict(value.before)}
                        for key, value in kind.insertions.items()
                    },
                    **({"after": dict(kind.after)} if kind.after else {}),
                    **({"swaps": dict(kind.swaps)} if kind.swaps else {}),
                }
                for name, kind in self.kinds.items()
            },
            "noise": dict(self.noise),
            "letters": {key: dict(value) for key, value in self.letters.items()},
            "closed": sorted(self.closed),
            "words": sorted(self.words),
        }

    @classmethod
    def from_dict(cls, data: Any, source: str = "error model") -> ErrorModel:
        """Raises ValueError, which names `source` and the key."""
        read = _Reader(source)
        read.keys(data, "", {"format", "lang", "kinds"}, {"noise", "letters", "closed", "words"})
        if data["format"] != FORMAT:
            read.fail("format", f"expected {FORMAT!r}, found {data['format']!r}")
        noise = read.weights(data.get("noise", {}), "noise")
        for name in noise:
            if name not in NOISE:
                read.fail(f"noise.{name}", f"no such noise: there are {', '.join(NOISE)}")
        return cls(
            lang=read.string(data["lang"], "lang"),
            kinds={
                name: read.kind(kind, f"kinds.{name}")
                for name, kind in read.mapping(data["kinds"], "kinds").items()
            },
            noise=noise,
            words=read.strings(data.get("words", []), "words"),
            closed=read.strings(data.get("closed", []), "closed"),
            letters=read.tables(data.get("letters", {}), "letters"),
        )

    def save(self, path: str | Path) -> None:
        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=1)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with whole_file(Path(path)) as unfinished:
            unfinished.write_text(text + "\n", encoding="utf8")

    @classmethod
    def load(cls, path: str | Path) -> ErrorModel:
        """Raises ValueError, which names the file and the key, if it is malformed."""
        try:
            data = json.loads(Path(path).read_text("utf8"))
            json.dumps(data, ensure_ascii=False).encode()  # half a character pair can't be written
        except (ValueError, RecursionError) as error:  # of decoding, too
            raise ValueError(f"{path}: not JSON in UTF-8: {error}") from error
        return cls.from_dict(data, str(path))


def _choices(kinds: Iterable[ErrorKind]) -> dict[str, Choice]:
    merged: dict[str, dict[str, float]] = {}
    for kind in kinds:
        for phrase, weights in kind.replacements.items():
            phrase_weights = merged.setdefault(phrase, {})
            for other, weight in weights.items():
                if kind.rate * weight > 0:
                    phrase_weights[other] = phrase_weights.get(other, 0.0) + kind.rate * weight
    return {
        phrase: (tuple(weights), tuple(weights.values()), sum(weights.values()))
        for phrase, weights in merged.items()
        if weights
    }


class _Reader:
    """Checks the types of what JSON holds; every error names `source` and the key."""

    def __init__(self, source: str) -> None:
        self.source = source

    def fail(self, key: str, message: str) -> None:
        raise ValueError(f"{self.source}: {key or 'top level'}: {message}")

    def mapping(self, value: Any, key: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.fail(key, f"expected an object, found {value!r:.60}")
        return value

    def keys(self, value: Any, key: str, needed: set[str], optional: set[str]) -> None:
        found = set(self.mapping(value, key))
        if missing := sorted(needed - found):
            self.fail(key, f"no {missing[0]!r}")
        if unknown := sorted(found - needed - optional):
            self.fail(key, f"unknown key {unknown[0]!r}")

    def string(self, value: Any, key: str) -> str:
        if not isinstance(value, str):
            self.fail(key, f"expected a string, found {value!r:.60}")
        return value

    def strings(self, value: Any, key: str) -> frozenset[str]:
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            self.fail(key, f"expected a list of strings, found {value!r:.60}")
        return frozenset(value)

    def number(self, value: Any, key: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(key, f"expected a number, found {value!r:.60}")
        if not 0 <= value <= LARGEST:
            self.fail(key, f"expected a number from 0 to {LARGEST:g}, found {value!r:.60}")
        return float(value)

    def weights(self, value: Any, key: str) -> dict[str, float]:
        return {
            name: self.number(weight, f"{key}.{name}")
            for name, weight in self.mapping(value, key).items()
        }

    def tables(self, value: Any, key: str) -> dict[str, dict[str, float]]:
        tables = {}
        for name, weights in self.mapping(value, key).items():
            if not name:
                self.fail(key, "an empty phrase can't be replaced")
            tables[name] = self.weights(weights, f"{key}.{name}")
        return tables

    def kind(self, value: Any, key: str) -> ErrorKind:
        self.keys(value, key, {"rate"}, {"replacements", "insertions", "after", "swaps"})
        insertions = {}
        for name, tables in self.mapping(value.get("insertions", {}), f"{key}.insertions").items():
            at = f"{key}.insertions.{name}"
            if not name.strip():
                self.fail(at, "nothing to insert")
            self.keys(tables, at, {"after", "before"}, set())
            insertions[name] = Insertion(
                self.weights(tables["after"], f"{at}.after"),
                self.weights(tables["before"], f"{at}.before"),
            )
        return ErrorKind(
            self.number(value["rate"], f"{key}.rate"),
            self.tables(value.get("replacements", {}), f"{key}.replacements"),
            insertions,
            self.weights(value.get("after", {}), f"{key}.after"),
            self.weights(value.get("swaps", {}), f"{key}.swaps"),
        )
