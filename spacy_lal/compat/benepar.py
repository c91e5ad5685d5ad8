"""benepar's extensions and its factory, for code that was written for it.

`install_extensions()` makes `span._.parse_string`, `constituents`, `parent`, `children` and
`labels`, and those of tokens, whatever parser of this package wrote the trees. To import this
module is to make the factory "benepar"; with benepar's own there, it can't be imported.
"""

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
from ..published.benepar import MODEL, read_benepar
from ..trees.brackets import BRACKETS

OWN = "the extensions and the factory of benepar itself are there: import one of the two packages"
"""What an ImportError says if benepar itself was imported before."""

if Language.has_factory("benepar") or Doc.has_extension("_constituent_data"):
    raise ImportError(OWN)


class NonConstituentException(ValueError):
    """A span has no constituent over exactly its words."""


class Constituent(NamedTuple):
    """A constituent: tokens, the labels of its unary chain from the top; a word has often none."""

    start: int
    end: int
    labels: tuple[str, ...]


def constituents_at(span: Span) -> tuple[list[Constituent], int]:
    """The constituents of the span's sentence in preorder, and which of them is the span's.

    As in benepar, the sentence and every word are constituents, with labels or without.
    Whitespace tokens are in no constituent's way. Raises ValueError if the Doc has no trees,
    NonConstituentException if the span is no constituent.
    """
    doc = span.doc
    if CONSTITUENTS_KEY not in doc.spans:
        raise ValueError("this Doc has no trees: put a parser of constituents into the pipeline")
    if not len(span):
        raise NonConstituentException("no constituent: a span without tokens")
    found = _in_sentence(doc, *_sentence(doc, span.start))
    words = [token.i for token in span if not token.text.isspace()]
    for number, constituent in enumerate(found):
        if words and constituent[:2] == (words[0], words[-1] + 1):
            return found, number
    raise NonConstituentException(f"no constituent: {span}")


def _sentence(doc: Doc, token: int) -> tuple[int, int]:
    if not doc.has_annotation("SENT_START"):
        return 0, len(doc)
    sentence = doc[token].sent
    return sentence.start, sentence.end


def _in_sentence(doc: Doc, start: int, end: int) -> list[Constituent]:
    words = [token.i for token in doc[start:end] if not token.text.isspace()]
    if not words:
        return []
    labels: dict[tuple[int, int], list[str]] = {(words[0], words[-1] + 1): []}
    labels |= {(i, i + 1): [] for i in words if len(words) > 1}
    for span in doc.spans[CONSTITUENTS_KEY]:
        if start <= span.start and span.end <= end:
            labels.setdefault((span.start, span.end), []).append(span.label_)
    places = sorted(labels, key=lambda place: (place[0], -place[1]))
    return [Constituent(*place, tuple(labels[place])) for place in places]


def get_labels(span: Span) -> tuple[str, ...]:
    """The labels of the span's unary chain, the topmost first."""
    found, number = constituents_at(span)
    return found[number].labels


def get_parse_string(span: Span) -> str:
    """The span's tree in brackets, without TOP."""
    found, number = constituents_at(span)
    doc, top = span.doc, found[number]
    parts: list[str] = []
    open_: list[Constituent] = []
    gap = ""

    def close(before: int) -> None:
        while open_ and open_[-1].end <= before:
            parts.append(")" * len(open_.pop().labels))

    for constituent in found[number:]:
        if constituent.start >= top.end:
            break
        close(constituent.start)
        is_word = constituent.end - constituent.start == 1
        # what has no labels stands for nothing in the string
        if is_word or constituent.labels:
            parts.append(gap + "".join(f"({label} " for label in constituent.labels))
            gap = " " if is_word else ""
        open_.append(constituent)
        if is_word:
            token = doc[constituent.start]
            leaf = "".join(BRACKETS.get(c, c) for c in f"{token.tag_} {token.text}")
            parts.append(f"({leaf})")
    close(top.end)
    return "".join(parts)


def get_constituents(span: Span) -> Iterator[Span]:
    """The span and all constituents inside of it, in preorder."""
    found, number = constituents_at(span)
    for start, end, _ in found[number:]:
        if start >= found[number].end:
            break
        yield span.doc[start:end]


def get_children(span: Span) -> Iterator[Span]:
    """The constituents right below that of the span."""
    found, number = constituents_at(span)
    position = found[number].start
    for start, end, _ in found[number + 1 :]:
        if start >= found[number].end:
            break
        if start >= position:
            yield span.doc[start:end]
            position = end


def get_parent(span: Span) -> Span | None:
    """The constituent right above that of the span; None above the sentence."""
    found, number = constituents_at(span)
    end = found[number].end
    for above in reversed(found[:number]):
        if above.end >= end:
            return span.doc[above.start : above.end]
    return None


# Getters of tokens live at module level: lambdas can't be sent to worker processes.


def _token_labels(token: Token) -> tuple[str, ...]:
    return get_labels(token.doc[token.i : token.i + 1])


def _token_parse_string(token: Token) -> str:
    return get_parse_string(token.doc[token.i : token.i + 1])


def _token_parent(token: Token) -> Span | None:
    return get_parent(token.doc[token.i : token.i + 1])


EXTENSIONS: list[tuple[Any, str, Callable]] = [
    (Span, "labels", get_labels),
    (Span, "parse_string", get_parse_string),
    (Span, "constituents", get_constituents),
    (Span, "parent", get_parent),
    (Span, "children", get_children),
    (Token, "labels", _token_labels),
    (Token, "parse_string", _token_parse_string),
    (Token, "parent", _token_parent),
]
"""Benepar's extension attributes: the class that has one, its name and its getter."""


def install_extensions() -> None:
    """Register benepar's extensions of spans and tokens.

    Raises ValueError if one of the names is taken by something else.
    """
    for kind, name, getter in EXTENSIONS:
        if kind.has_extension(name) and kind.get_extension(name)[2] is not getter:
            raise ValueError(f"{kind.__name__}._.{name} is taken by another package")
    for kind, name, getter in EXTENSIONS:
        kind.set_extension(name, getter=getter, force=True)


class BeneparPipe(ConstituencyPipe):
    """`lal_constituency` that writes tags as benepar does: over those that are there, or none."""

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
    """benepar's component, by this package's parser, with benepar's extensions.

    model: a folder or file of benepar 0.2, or a pipeline that `python -m spacy lal import benepar`
    wrote. Names of models that benepar would look for or download are not known.
    subbatch_max_tokens: ignored; batches have a size of their own. disable_tagger: write no tags.
    """
    folder = Path(model)
    if not folder.exists():
        raise ValueError(
            f"{model}: no such folder. This component needs one with {MODEL}, or a pipeline that "
            "`python -m spacy lal import benepar` wrote; it downloads nothing"
        )
    _say()
    install_extensions()
    own = spacy.load(folder) if (folder / "meta.json").exists() else read_benepar(folder).nlp
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
