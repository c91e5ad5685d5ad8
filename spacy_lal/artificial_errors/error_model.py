"""Errors that people make, as tables of words; kept as JSON.

All words in tables are lower-case (but "I"): what is replaced lends its case to what replaces it.
A phrase is words with single spaces between them, split as spaCy's tokenizer does: "it 's".
Weights are relative frequencies: of an error at a place where it is possible, before any scaling to
an asked rate, so two errors with equal weights are equally probable at their places.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field, PlainSerializer, TypeAdapter, ValidationError

from ..formats.whole_files import whole_file

ANY = "*"
"""In an insertion's tables: every word that isn't there itself."""
START = ""
"""In an insertion's table of words before: the sentence's start."""
VOWELS = frozenset("aeiouyäöüáéíóúýěůàèìòùâêîôûœåøæ")
"""Letters, in lower case, behind which writers double a consonant by mistake."""


class Noise(StrEnum):
    """Errors without tables.

    Misspellings: two letters change places; one is left out, doubled, or replaced by the model's
    `letters`. Only consonants after vowels are doubled. LOWER and CAPITAL: a word's first letter;
    SWAP: a word and the next one.
    """

    TRANSPOSE = "transpose"
    OMIT = "omit"
    DOUBLE = "double"
    SUBSTITUTE = "substitute"
    LOWER = "lower"
    CAPITAL = "capital"
    SWAP = "swap"


LETTER_NOISE = (Noise.TRANSPOSE, Noise.OMIT, Noise.DOUBLE, Noise.SUBSTITUTE)
"""Misspellings."""

# of finite sums, however many weights there are
Weight = Annotated[float, Field(ge=0, le=1e50)]
Weights = Mapping[str, Weight]
Tables = Mapping[Annotated[str, Field(min_length=1)], Weights]
"""Of phrases, what is written for them."""
Words = Annotated[frozenset[str], PlainSerializer(sorted)]
Choice = tuple[tuple[str, ...], tuple[float, ...], float]
"""What replaces a phrase, the weights, their sum."""


@dataclass(frozen=True)
class Insertion:
    """Where an unnecessary word comes up: its weight is `after` of the word before it times
    `before` of the word after it, each 0 for words not in the table unless it has `ANY`."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", strict=True)
    after: Weights
    before: Weights

    def weight(self, previous: str, following: str) -> float:
        after = self.after.get(previous, self.after.get(ANY, 0.0))
        return after and after * self.before.get(following, self.before.get(ANY, 0.0))


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

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", strict=True)
    rate: Weight = 1.0
    replacements: Tables = field(default_factory=dict)
    insertions: Mapping[Annotated[str, Field(pattern=r"\S")], Insertion] = field(
        default_factory=dict
    )
    after: Weights = field(default_factory=dict)
    swaps: Weights = field(default_factory=dict)


@dataclass(frozen=True)
class ErrorModel:
    """Errors of all kinds.

    lang: the language's code. kinds: by name. noise: weights.
    words: those that are well known, as they are written within a sentence; noise is for them
        alone, so that names, numbers, addresses and the like stay as they are.
    closed: function words, lower-case. They are neither misspelled nor swapped.
    letters: what letters are mistaken for what.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", strict=True)
    lang: str
    kinds: Mapping[str, ErrorKind]
    noise: Mapping[Noise, Weight] = field(default_factory=dict)
    words: Words = frozenset()
    closed: Words = frozenset()
    letters: Tables = field(default_factory=dict)
    format: Literal["spacy-lal.error-model.v1"] = "spacy-lal.error-model.v1"

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
                found[word] = found.get(word, 0.0) + kind.rate * weight
        return found

    @cached_property
    def longest(self) -> dict[str, int]:
        """Of the first words of phrases, the most words of such a phrase."""
        longest: dict[str, int] = {}
        for phrase in (*self.phrases, *self.phrases_after):
            first, *more = phrase.split(" ")
            longest[first] = max(longest.get(first, 1), len(more) + 1)
        return longest

    @cached_property
    def insertions_before(self) -> dict[str, list[tuple[str, float, Insertion]]]:
        """Of words, what can be inserted before them, with the kind's rate; `ANY`: before all."""
        found: dict[str, list[tuple[str, float, Insertion]]] = {}
        for kind in self.kinds.values():
            for inserted, insertion in kind.insertions.items():
                for word in [ANY] if ANY in insertion.before else insertion.before:
                    found.setdefault(word, []).append((inserted, kind.rate, insertion))
        return found

    def with_rates(self, rates: Weights) -> ErrorModel:
        """The same with other rates of kinds and weights of noise; those not named stay."""
        kinds = {
            name: replace(kind, rate=rates.get(name, kind.rate))
            for name, kind in self.kinds.items()
        }
        noise = {name: rates.get(name, weight) for name, weight in self.noise.items()}
        return replace(self, kinds=kinds, noise=noise)

    def save(self, path: str | Path) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with whole_file(Path(path)) as unfinished:
            unfinished.write_bytes(TypeAdapter(ErrorModel).dump_json(self, indent=1) + b"\n")

    @classmethod
    def load(cls, path: str | Path) -> ErrorModel:
        """Raises ValueError, which names the file and the key, if it is malformed."""
        try:
            return TypeAdapter(ErrorModel).validate_json(Path(path).read_bytes())
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(map(str, first["loc"])) or "top level"
            raise ValueError(
                f"{path}: {key}: {first['msg']}, not {first['input']!r:.60}"
            ) from error


def key_of(word: str) -> str:
    """A word as tables have it."""
    return "I" if word == "I" else word.lower().replace("’", "'")


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
