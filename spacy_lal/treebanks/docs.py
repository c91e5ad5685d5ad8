"""Treebank sentences, whatever format they came from, as Docs: one each, or one a paragraph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

from spacy.tokens import Doc
from spacy.util import get_lang_class
from spacy.vocab import Vocab, create_vocab

from ..annotations import FrameSpans, set_constituents, set_frames
from ..grammar_errors import set_errors
from ..trees import LabelledSpan
from .docbins import write_spacy

PARAGRAPH_WORDS = 200
"""Of a Doc of several sentences at most: e-mails come as one paragraph."""


@dataclass(frozen=True)
class TreebankSentence:
    """A sentence with what its treebank says of it; None is "not annotated".

    words, spaces: the words, and whether whitespace follows each.
    tags, pos, lemmas, morphs: of each word: treebank tag, universal tag, lemma, `Key=Value|…`.
    heads, deps: of each word: its head (the root is its own) and relation.
    constituents: phrases in preorder, without the root node.
    frames: predicates with their arguments.
    errors: of each word: `grammar_errors.CORRECT`, or the type of the error that it is.
    paragraph: whatever tells apart the paragraphs of a file; "" where it knows none.
    """

    words: Sequence[str]
    spaces: Sequence[bool] | None = None
    tags: Sequence[str] | None = None
    pos: Sequence[str] | None = None
    lemmas: Sequence[str] | None = None
    morphs: Sequence[str] | None = None
    heads: Sequence[int] | None = None
    deps: Sequence[str] | None = None
    constituents: Sequence[LabelledSpan] | None = None
    frames: Sequence[FrameSpans] | None = None
    errors: Sequence[str] | None = None
    id: str = ""
    paragraph: str = ""


def to_doc(sentence: TreebankSentence, vocab: Vocab) -> Doc:
    """A Doc of this one sentence.

    Trees are in `doc.spans["constituents"]`, roles in `doc.spans["srl"]`, grammatical errors in
    `doc.spans["errors"]`, all absent if not annotated; the root's relation is spaCy's "ROOT". The
    id goes to `doc.user_data["sent_id"]`, and is all that is lost without user data.
    Raises ValueError if the heads aren't one tree with one root, or if there are not as many labels
    of errors as words.
    """
    doc = joined_doc([sentence], vocab)
    if sentence.id:
        doc.user_data["sent_id"] = sentence.id
    return doc


def joined_doc(sentences: Sequence[TreebankSentence], vocab: Vocab) -> Doc:
    """A Doc of these sentences, whose boundaries it knows, with what is annotated in all of them.

    Raises ValueError as `to_doc` does.
    """
    starts = list(accumulate((len(sentence.words) for sentence in sentences), initial=0))
    firsts = set(starts)

    def values(name: str) -> list[Any] | None:
        columns = [getattr(sentence, name) for sentence in sentences]
        return None if any(column is None for column in columns) else list(chain(*columns))

    heads = deps = None
    if values("heads") is not None:
        heads, deps = [], []
        for sentence, start in zip(sentences, starts, strict=False):
            assert sentence.heads is not None
            if reason := tree_fault(sentence.heads):
                raise ValueError(f"sentence {sentence.id or sentence.words}: {reason}")
            relations = sentence.deps or ["dep"] * len(sentence.heads)
            deps += [
                "ROOT" if head == word else relation
                for word, (head, relation) in enumerate(zip(sentence.heads, relations, strict=True))
            ]
            heads += [start + head for head in sentence.heads]
    words = list(chain(*(sentence.words for sentence in sentences)))
    doc = Doc(
        vocab,
        words=words,
        spaces=values("spaces"),
        tags=values("tags"),
        pos=values("pos"),
        lemmas=values("lemmas"),
        morphs=values("morphs"),
        heads=heads,
        deps=deps,
        sent_starts=[word in firsts for word in range(len(words))],
    )
    if values("constituents") is not None:
        set_constituents(
            doc,
            [
                (start + first, start + last, label)
                for sentence, start in zip(sentences, starts, strict=False)
                for first, last, label in sentence.constituents or ()
            ],
        )
    if values("frames") is not None:
        set_frames(
            doc,
            [
                FrameSpans(
                    start + frame.predicate,
                    frame.roleset,
                    [(start + first, start + last, role) for first, last, role in frame.spans],
                )
                for sentence, start in zip(sentences, starts, strict=False)
                for frame in sentence.frames or ()
            ],
        )
    errors = values("errors")
    if errors is not None:
        set_errors(doc, errors)
    return doc


def tree_fault(heads: Sequence[int]) -> str:
    """What keeps `heads` (the root is its own) from being one tree with one root; "" if nothing."""
    roots = [word for word, head in enumerate(heads) if head == word]
    if len(roots) != 1:
        return f"{len(roots)} roots in the dependency tree"
    state = [0] * len(heads)  # 0 not seen, 1 on the way from this word, 2 leads to the root
    state[roots[0]] = 2
    for word in range(len(heads)):
        path = []
        while state[word] == 0:
            state[word] = 1
            path.append(word)
            word = heads[word]
        if state[word] == 1:
            return f"a cycle in the dependency tree at word {word + 1}"
        for seen in path:
            state[seen] = 2
    return ""


def language_vocab(lang: str) -> Vocab:
    """The vocabulary of a blank pipeline, without building one."""
    return create_vocab(lang, get_lang_class(lang).Defaults)


def write_docs(
    sentences: Iterable[TreebankSentence],
    path: str | Path,
    lang: str,
    *,
    paragraphs: bool = False,
) -> None:
    """Write one Doc a sentence to `path`, as a DocBin; or one Doc a paragraph.

    In a paragraph's Doc all sentences have the same layers of annotation; one with fewer or more
    begins another Doc, and a sentence that is in no paragraph has its own. So does what a Doc of
    PARAGRAPH_WORDS words has no room for.
    """
    vocab = language_vocab(lang)
    if not paragraphs:
        write_spacy((to_doc(sentence, vocab) for sentence in sentences), path)
        return
    write_spacy((joined_doc(group, vocab) for group in _paragraphs(sentences)), path)


def _paragraphs(sentences: Iterable[TreebankSentence]) -> Iterator[list[TreebankSentence]]:
    group: list[TreebankSentence] = []
    room = 0
    for sentence in sentences:
        together = bool(group and sentence.paragraph) and (
            (sentence.paragraph, _layers(sentence)) == (group[-1].paragraph, _layers(group[-1]))
        )
        if not together or len(sentence.words) > room:
            if group:
                yield group
            group, room = [], PARAGRAPH_WORDS
        group.append(sentence)
        room -= len(sentence.words)
    if group:
        yield group


def _layers(sentence: TreebankSentence) -> list[bool]:
    layers = sentence.heads, sentence.constituents, sentence.frames, sentence.errors
    return [layer is not None for layer in layers]
