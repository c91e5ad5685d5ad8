"""benepar's extensions and factory "benepar", for code written for it. They work with all parsers
of this package; the module can't be imported after benepar itself."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span, Token
from spacy.util import logger

from ..annotations.constituents import CONSTITUENTS_KEY
from ..parsing.constituency import ASSIGNS, ConstituencyPipe
from ..pipeline.writers import Parses, write_tags
from ..published.benepar_checkpoints import MODEL, read_benepar
from ..trees.brackets import BRACKETS
from ..trees.nest import nest

OWN = "the extensions and the factory of benepar itself are there: import one of the two packages"
"""Message of the ImportError if benepar itself was imported before."""

if Language.has_factory("benepar") or Doc.has_extension("_constituent_data"):
    raise ImportError(OWN)


class NonConstituentException(ValueError):
    """A span has no constituent over exactly its words."""


class Constituent(NamedTuple):
    """Tokens of a constituent, and labels of its unary chain from the top; most words have ()."""

    start: int
    end: int
    labels: tuple[str, ...]


class Place(NamedTuple):
    """A constituent's `number` in preorder, and the numbers below each constituent."""

    doc: Doc
    found: list[Constituent]
    below: list[list[int]]
    number: int

    def span(self, number: int) -> Span:
        start, end, _ = self.found[number]
        return self.doc[start:end]

    def within(self) -> range:
        """Return the numbers of this constituent and of all constituents within it."""
        end = self.found[self.number].end
        last = next((k for k, c in enumerate(self.found) if c.start >= end), len(self.found))
        return range(self.number, last)


def place_of(span: Span | Token) -> Place:
    """Return the constituent over exactly the words of a span, or over a token.

    As in benepar, the sentence and every word are constituents, with or without labels. Whitespace
    tokens are ignored. Raises ValueError if the Doc has no trees, NonConstituentException if the
    span is no constituent.
    """
    doc = span.doc
    if isinstance(span, Token):
        span = doc[span.i : span.i + 1]
    if CONSTITUENTS_KEY not in doc.spans:
        raise ValueError("this Doc has no trees: put a parser of constituents into the pipeline")
    if not len(span):
        raise NonConstituentException("no constituent: a span without tokens")
    found = _in_sentence(span.sent if doc.has_annotation("SENT_START") else doc[:])
    words = _words(span)
    for number, constituent in enumerate(found):
        if words and constituent[:2] == (words[0], words[-1] + 1):
            below = [[k for k in numbers if k >= 0] for numbers in nest(found, len(doc))]
            return Place(doc, found, below, number)
    raise NonConstituentException(f"no constituent: {span}")


def _words(span: Span) -> list[int]:
    return [token.i for token in span if not token.text.isspace()]


def _in_sentence(sentence: Span) -> list[Constituent]:
    words = _words(sentence)
    if not words:
        return []
    labels: dict[tuple[int, int], list[str]] = {(words[0], words[-1] + 1): []}
    labels |= {(i, i + 1): [] for i in words if len(words) > 1}
    for span in sentence.doc.spans[CONSTITUENTS_KEY]:
        if sentence.start <= span.start and span.end <= sentence.end:
            labels.setdefault((span.start, span.end), []).append(span.label_)
    places = sorted(labels, key=lambda place: (place[0], -place[1]))
    return [Constituent(*place, tuple(labels[place])) for place in places]


def get_labels(span: Span | Token) -> tuple[str, ...]:
    """Return the labels of the span's unary chain, the topmost first."""
    place = place_of(span)
    return place.found[place.number].labels


def get_parse_string(span: Span | Token) -> str:
    """Return the span's tree in brackets, without TOP and unlabelled constituents' brackets."""
    place = place_of(span)
    texts: dict[int, str] = {}
    for k in reversed(place.within()):
        start, end, labels = place.found[k]
        text = " ".join(texts[child] for child in place.below[k])
        if end - start == 1:
            token = place.doc[start]
            leaf = "".join(BRACKETS.get(c, c) for c in f"{token.tag_} {token.text}")
            text = f"({leaf})"
        texts[k] = "".join(f"({label} " for label in labels) + text + ")" * len(labels)
    return texts[place.number]


def get_constituents(span: Span) -> Iterator[Span]:
    """Yield the span and all constituents within the span, in preorder."""
    place = place_of(span)
    return map(place.span, place.within())


def get_children(span: Span) -> Iterator[Span]:
    """Yield the children of the span's constituent."""
    place = place_of(span)
    return map(place.span, place.below[place.number])


def get_parent(span: Span | Token) -> Span | None:
    """Return the parent of the span's constituent; None for the sentence."""
    place = place_of(span)
    above = (k for k, numbers in enumerate(place.below[:-1]) if place.number in numbers)
    return next(map(place.span, above), None)


EXTENSIONS: list[tuple[Any, str, Callable]] = [
    (Span, "labels", get_labels),
    (Span, "parse_string", get_parse_string),
    (Span, "constituents", get_constituents),
    (Span, "parent", get_parent),
    (Span, "children", get_children),
    (Token, "labels", get_labels),
    (Token, "parse_string", get_parse_string),
    (Token, "parent", get_parent),
]
"""Benepar's extension attributes: class, name and getter."""


def install_extensions() -> None:
    """Register benepar's extensions. Raises ValueError if a name is taken by something else."""
    for kind, name, getter in EXTENSIONS:
        if kind.has_extension(name) and kind.get_extension(name)[2] is not getter:
            raise ValueError(f"{kind.__name__}._.{name} is taken by another package")
    for kind, name, getter in EXTENSIONS:
        kind.set_extension(name, getter=getter, force=True)


class BeneparPipe(ConstituencyPipe):
    """`lal_constituency` that, as benepar, overwrites existing tags or writes no tags."""

    disable_tagger = False

    def _write_tags(self, docs: list[Doc], scores: Parses, overwrite: list[bool]) -> None:
        if not self.disable_tagger:
            write_tags(docs, scores, self.tags, overwrite=[True] * len(docs))


@Language.factory(
    "benepar",
    assigns=ASSIGNS,
    default_config={"subbatch_max_tokens": 500, "disable_tagger": False},
)
def make_benepar(
    nlp: Language, name: str, model: str, subbatch_max_tokens: int, disable_tagger: bool
) -> BeneparPipe:
    """Create benepar's component from this package's parser, and register the extensions.

    model: folder or file of benepar 0.2, or a pipeline written by `python -m spacy lal import`;
        names of models to download are not known.
    subbatch_max_tokens: ignored, since batches have their own size.
    disable_tagger: write no tags.
    """
    folder = Path(model)
    if not folder.exists():
        raise ValueError(
            f"{model}: no such folder. This component needs one with {MODEL}, or a pipeline that "
            "`python -m spacy lal import` wrote; it downloads nothing"
        )
    _say()
    install_extensions()
    own = spacy.load(folder) if (folder / "meta.json").exists() else read_benepar(folder)
    pipes = [pipe for _, pipe in own.pipeline if isinstance(pipe, ConstituencyPipe)]
    if not pipes:
        raise ValueError(f"{model}: this pipeline has no parser of constituents")
    pipe = pipes[0]
    made = BeneparPipe(
        nlp,
        name,
        pipe.model,
        objective=pipe.objective,
        decoder=pipe.decoder,
        spans_key=pipe.spans_key,
        tag_weight=pipe.tag_weight,
        scorer=pipe.scorer,
        **asdict(pipe.reading),
    )
    made.cfg |= pipe.cfg
    made.disable_tagger = disable_tagger
    return made


@cache
def _say() -> None:
    logger.warning(
        "'benepar' is lal_constituency of spacy-lal with the weights of benepar, whose trees it "
        "finds; see docs/migrating-from-benepar.md"
    )
