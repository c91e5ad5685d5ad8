"""Words of a Doc, its tokens other than whitespace; bare Docs, and heads of tokens."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

import numpy
from spacy.attrs import DEP, HEAD, SENT_START
from spacy.tokens import Doc, Span, Token
from spacy.vocab import Vocab

from ..trees.tree import LabelledSpan
from .noun_chunks import install_noun_chunks


class WordIndex:
    """Token indices of a Doc's n words [n], and numbers of words `before` tokens [tokens + 1]."""

    def __init__(self, doc: Doc) -> None:
        # a Vocab without a language doesn't set `is_space`
        blank = [token.text.isspace() for token in doc]
        self.tokens = [i for i, is_blank in enumerate(blank) if not is_blank]
        self.before = list(accumulate((not is_blank for is_blank in blank), initial=0))

    def range(self, start: int, end: int) -> tuple[int, int]:
        """Convert the tokens `start` to `end` to a range of words."""
        return self.before[start], self.before[end]

    def spans(self, spans: Iterable[LabelledSpan]) -> list[LabelledSpan]:
        """Convert spans of tokens to spans of words; spans of whitespace alone are left out."""
        in_words = [(*self.range(start, end), label) for start, end, label in spans]
        return [span for span in in_words if span[0] < span[1]]


def bare_doc(
    tokens: Doc | Span,
    vocab: Vocab | None = None,
    *,
    sentence_starts: bool = True,
    one_sentence: bool = False,
    words: list[str] | None = None,
    tags: bool = False,
) -> Doc:
    """Return a Doc of the same words and whitespace, without annotation. sentence_starts: whether
    annotated sentence starts are kept. one_sentence: whether the Doc is one sentence. words: others
    in place of the same. tags: whether tags are kept."""
    starts: list[bool | int | None] | None = None
    if one_sentence:
        starts = [i == 0 for i in range(len(tokens))]
    elif sentence_starts and tokens[:].doc.has_annotation("SENT_START"):
        starts = [bool(token.is_sent_start) for token in tokens]
    return Doc(
        vocab or tokens.vocab,
        words=[token.text for token in tokens] if words is None else words,
        spaces=[bool(token.whitespace_) for token in tokens],
        sent_starts=starts,
        tags=[token.tag_ for token in tokens] if tags else None,
    )


def word_heads(words: Sequence[Token]) -> list[int]:
    """Return the number, from 0, of the nearest head of each word of a sentence that isn't
    whitespace; a root and words without a relation are their own. If the root is whitespace, its
    first dependent becomes the root and the head of the others."""
    number = {word.i: k for k, word in enumerate(words)}
    heads: list[int] = []
    root = None
    for k, word in enumerate(words):
        head = next((number[token.i] for token in word.ancestors if token.i in number), None)
        if head is None and word.dep:
            root = head = k if root is None else root
        heads.append(k if head is None else head)
    return heads


def set_dependencies(doc: Doc, heads: Sequence[int], relations: Sequence[str]) -> None:
    """Write the head and the relation of every token; each tree becomes a sentence, and
    `doc.noun_chunks` of English is found by these relations.

    heads: token indices, a root is its own head. relations: "" for "not annotated".
    The first word of some long, extremely non-projective trees is attached to the root, since spaCy
    loses their beginning. Raises ValueError unless every token has both, and for a head outside the
    Doc.
    """
    outside = len(doc) and not (min(heads, default=0) >= 0 and max(heads, default=0) < len(doc))
    if not len(heads) == len(relations) == len(doc) or outside:
        raise ValueError(
            f"a Doc of {len(doc)} tokens needs a head, from 0 to {len(doc) - 1}, and a relation of "
            f"each: got heads {list(heads)} and {len(relations)} relations"
        )
    if not len(doc):
        return
    install_noun_chunks(doc.vocab, doc)
    above = numpy.asarray(heads)
    values: Any = numpy.empty((len(doc), 2), dtype="int64")
    values[:, 0] = above - numpy.arange(len(doc))
    number = {relation: doc.vocab.strings.add(relation) for relation in set(relations)}
    of_words = [number[relation] for relation in relations]
    values[:, 1] = numpy.asarray(of_words, dtype="uint64").view("int64")
    doc.from_array([HEAD, DEP], values.view("uint64"))
    root = above
    for _ in range(len(doc).bit_length()):
        root = root[root]
    root, first = numpy.unique(root, return_index=True)
    first, root = first[above[root] == root], root[above[root] == root]  # the others are cycles
    missed = (values[root, 1] != 0) & (doc.to_array([SENT_START])[first] != 1)
    if missed.any():
        values[first[missed], 0] = (root - first)[missed]
        doc.from_array([HEAD, DEP], values.view("uint64"))
