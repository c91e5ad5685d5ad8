"""benepar's extensions and factory "benepar", for code written for it. They work with all parsers
of this package; the module can't be imported after benepar itself."""

import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from ..annotations.constituents import CONSTITUENTS_KEY
from ..parsing.constituency import ASSIGNS, ConstituencyPipe
from ..pipeline.writers import Parses, write_tags
from ..published.benepar_checkpoints import MODEL, read_benepar
from ..trees.brackets import BACKSLASH, BRACKETS

if Language.has_factory("benepar") or Doc.has_extension("_constituent_data"):
    raise ImportError(
        "benepar's own extensions or factory are there: import one of the two packages"
    )


class NonConstituentException(ValueError):
    """A span has no constituent over exactly its words."""


class Constituent(NamedTuple):
    """Tokens of a constituent, and labels of its unary chain from the top; most words have ()."""

    start: int
    end: int
    labels: tuple[str, ...]


def constituents_of(span: Span | Token) -> tuple[list[Constituent], list[Constituent]]:
    """Return the constituents of the sentence that begin before that over exactly the words of a
    span or a token, and this one with all inside of it; in preorder.

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
            inside = takewhile(lambda other: other.start <= words[-1], found[number:])
            return found[:number], list(inside)
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
    _, (own, *_) = constituents_of(span)
    return own.labels


def get_parse_string(span: Span | Token) -> str:
    """Return the span's tree in brackets, without TOP and unlabelled constituents' brackets."""
    _, inside = constituents_of(span)
    before, after = defaultdict[int, str](str), defaultdict[int, str](str)
    for start, end, labels in inside:
        before[start] += "".join(f"({label} " for label in labels)
        after[end - 1] += ")" * len(labels)
    texts = []
    for i in _words(span.doc[inside[0].start : inside[0].end]):
        leaf = f"{span.doc[i].tag_} {span.doc[i].text}"
        leaf = "".join(BRACKETS.get(character, character) for character in leaf)
        leaf = leaf[:-1] + BACKSLASH if leaf.endswith("\\") else leaf
        texts.append(f"{before[i]}({leaf}){after[i]}")
    return " ".join(texts)


def get_constituents(span: Span) -> Iterator[Span]:
    """Yield the span and all constituents inside of it, in preorder."""
    return (span.doc[start:end] for start, end, _ in constituents_of(span)[1])


def get_children(span: Span) -> Iterator[Span]:
    """Yield the children of the span's constituent."""
    _, (_, *below) = constituents_of(span)
    last = 0
    for start, end, _ in below:
        if start >= last:
            last = end
            yield span.doc[start:end]


def get_parent(span: Span | Token) -> Span | None:
    """Return the parent of the span's constituent; None for the sentence."""
    before, (own, *_) = constituents_of(span)
    above = (span.doc[c.start : c.end] for c in reversed(before) if c.end >= own.end)
    return next(above, None)


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

    model: folder or file of benepar 0.2; the name of a model that benepar's own `download` put
        into a folder of NLTK's; or a pipeline written by `python -m spacy lal import`.
    subbatch_max_tokens: ignored, since batches have their own size.
    disable_tagger: write no tags.
    """
    folder = downloaded(model)
    if not folder.exists():
        raise ValueError(
            f"{model}: no such folder, and no models/{model} in {', '.join(nltk_folders())}. This "
            f"component needs a folder with {MODEL}, or a pipeline that `python -m spacy lal "
            "import` wrote; it downloads nothing"
        )
    install_extensions()
    own = spacy.load(folder) if (folder / "meta.json").exists() else read_benepar(folder)
    pipe = next((pipe for _, pipe in own.pipeline if isinstance(pipe, ConstituencyPipe)), None)
    if pipe is None:
        raise ValueError(f"{model}: this pipeline has no parser of constituents")
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


def downloaded(model: str) -> Path:
    """Return the path of a model, of a bare name the first `models/NAME` in NLTK's folders, as
    benepar's `locate_model` does; the name as a path if it isn't there."""
    if not os.path.exists(model) and not {"/", "."} & set(model):
        for folder in nltk_folders():
            if (path := Path(folder, "models", model)).exists():
                return path
    return Path(model)


def nltk_folders() -> list[str]:
    """Return `nltk.data.path`; if nobody has imported NLTK, the value that it would have."""
    if (data := sys.modules.get("nltk.data")) is not None:
        return list(map(str, data.path))
    named = filter(None, os.environ.get("NLTK_DATA", "").split(os.pathsep))
    at = [sys.prefix, f"{sys.prefix}/share", f"{sys.prefix}/lib"]
    if os.name == "nt":
        at += [os.environ.get("APPDATA", "C:"), "C:", "D:", "E:"]
    else:
        at += ["/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib"]
    return list(map(os.path.expanduser, (*named, *(f"{up}/nltk_data" for up in ("~", *at)))))
