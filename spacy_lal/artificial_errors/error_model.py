"""Models of errors: tables of words, stored as JSON.

All words in tables are in lower case (but "I"); a replacement takes the case of the replaced
phrase. Phrases are words with single spaces, split as by spaCy's tokenizer: "it 's". Weights are
relative frequencies of errors at their possible places, before scaling to a rate.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, PlainSerializer, TypeAdapter, ValidationError

from ..formats.files import write_whole

ANY = "*"
"""The entry for every other word in an insertion's tables."""
START = ""
"""The sentence's start in an insertion's table of preceding words."""
VOWELS = frozenset("aeiouyäöüáéíóúýěůàèìòùâêîôûœåøæ")
"""Letters, in lower case, behind which writers double a consonant by mistake."""


class Noise(StrEnum):
    """Errors without tables. Misspellings transpose two letters, omit one, double a consonant after
    a vowel, or substitute by the model's `letters`. LOWER and CAPITAL change a word's first letter;
    SWAP exchanges two words."""

    TRANSPOSE = "transpose"
    OMIT = "omit"
    DOUBLE = "double"
    SUBSTITUTE = "substitute"
    LOWER = "lower"
    CAPITAL = "capital"
    SWAP = "swap"


LETTER_NOISE = (Noise.TRANSPOSE, Noise.OMIT, Noise.DOUBLE, Noise.SUBSTITUTE)
"""Misspellings."""

# the bound keeps sums finite
Weight = Annotated[float, Field(ge=0, le=1e50)]
Weights = Mapping[str, Weight]
Tables = Mapping[Annotated[str, Field(min_length=1)], Weights]
"""Replacements of phrases, with weights."""
Words = Annotated[frozenset[str], PlainSerializer(sorted)]
Choice = tuple[tuple[str, ...], tuple[float, ...], float]
"""Replacements of a phrase, their weights, and the sum of the weights."""


@dataclass(frozen=True)
class Insertion:
    """An unnecessary word, with the weights of its neighbours. Its weight is `after` of the
    preceding word times `before` of the following. Words outside of a table have the table's weight
    of `ANY`, or 0."""

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid", strict=True)
    after: Weights
    before: Weights

    def weight(self, previous: str, following: str) -> float:
        after = self.after.get(previous, self.after.get(ANY, 0.0))
        return after and after * self.before.get(following, self.before.get(ANY, 0.0))


@dataclass(frozen=True)
class ErrorKind:
    """Errors of one kind.

    rate: factor of all weights.
    replacements: what is written instead of a correct phrase; "" deletes it.
    insertions: unnecessary words.
    after: words, one of which must precede a replacement, with factors of the replacement's weight;
        empty for any word.
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
    words: well-known words in their case within a sentence. Noise changes only these, so that
    names, numbers, addresses and the like stay unchanged.
    closed: function words, in lower case, which are neither misspelled nor swapped.
    letters: confusions of letters.
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
    def phrases(self) -> dict[str, list[tuple[Weights, Choice]]]:
        """Replacements of phrases, and the words that must precede them; empty for any word."""
        found: dict[str, list[tuple[Weights, Choice]]] = {}
        for kind in self.kinds.values():
            for phrase, table in kind.replacements.items():
                weights = {other: kind.rate * weight for other, weight in table.items()}
                if total := sum(weights.values()):
                    choice = tuple(weights), tuple(weights.values()), total
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
        """The greatest number of words in a phrase, by the phrase's first word."""
        longest: dict[str, int] = {}
        for phrase in self.phrases:
            first, *more = phrase.split(" ")
            longest[first] = max(longest.get(first, 1), len(more) + 1)
        return longest

    @cached_property
    def insertions_before(self) -> dict[str, list[tuple[str, float, Insertion]]]:
        """Insertions before a word, with the rate of their kind; `ANY`: before any word."""
        found: dict[str, list[tuple[str, float, Insertion]]] = {}
        for kind in self.kinds.values():
            for inserted, insertion in kind.insertions.items():
                for word in [ANY] if ANY in insertion.before else insertion.before:
                    found.setdefault(word, []).append((inserted, kind.rate, insertion))
        return found

    def save(self, path: str | Path) -> None:
        content = TypeAdapter(ErrorModel).dump_json(self, indent=1)
        write_whole(Path(path), content.decode() + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Load a model. Raises ValueError, naming file and key, if it is malformed."""
        try:
            return TypeAdapter(cls).validate_json(Path(path).read_bytes())
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(map(str, first["loc"])) or "top level"
            raise ValueError(
                f"{path}: {key}: {first['msg']}, not {first['input']!r:.60}"
            ) from error


def key_of(word: str) -> str:
    """Return a word as the tables spell it."""
    return "I" if word == "I" else word.lower().replace("’", "'")
