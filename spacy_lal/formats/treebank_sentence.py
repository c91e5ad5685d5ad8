"""One treebank sentence of any format, and its Doc."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
from spacy.tokens import Doc
from spacy.util import get_lang_class
from spacy.vocab import Vocab, create_vocab

from ..annotations import Correction, FrameSpans, set_constituents, set_errors, set_frames
from ..annotations.retokenized import PARAGRAPH
from ..trees.tree import LabelledSpan
from .docbins import write_spacy


@dataclass(frozen=True)
class TreebankSentence:
    """A sentence with its treebank's annotation; None is "not annotated".

    spaces: whether whitespace follows each word.
    tags, pos, lemmas, morphs: each word's treebank tag, universal tag, lemma, `Key=Value|…`.
    heads, deps: each word's head (the root is its own) and relation.
    constituents: phrases in preorder, without the root node.
    frames: predicates with their arguments.
    errors: each word's `grammar_errors.CORRECT` or type of error.
    error_begins: words at which another error begins, also after one of the same type.
    corrections: what is right where an error begins (`set_errors`).
    paragraph: the paragraph's name; neighbours with the same name are running text.
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
    error_begins: Collection[int] = ()
    corrections: Mapping[int, str] | None = None
    id: str = ""
    paragraph: str = ""


def to_doc(sentence: TreebankSentence, vocab: Vocab) -> Doc:
    """Return a Doc of the sentence.

    Trees are in `doc.spans["constituents"]`, roles in `doc.spans["srl"]`, grammatical errors in
    `doc.spans["errors"]`, all absent if not annotated; the root's relation is spaCy's "ROOT". Only
    the id, `doc.user_data["sent_id"]`, and the paragraph, `doc.user_data["paragraph"]`, are user
    data.
    Raises ValueError if the heads aren't one tree with one root, or if the numbers of labels of
    errors and words differ.
    """
    columns: dict[str, Any] = {
        name: None if getattr(sentence, name) is None else list(getattr(sentence, name))
        for name in ("words", "spaces", "tags", "pos", "lemmas", "morphs", "heads")
    }
    if heads := columns["heads"]:
        relations = sentence.deps or ["dep"] * len(heads)
        pairs = enumerate(zip(heads, relations, strict=True))
        columns["deps"] = ["ROOT" if head == i else relation for i, (head, relation) in pairs]
    if heads is not None and (reason := tree_fault(heads)):
        raise ValueError(f"sentence {sentence.id or sentence.words}: {reason}")
    doc = Doc(vocab, **columns, sent_starts=[i == 0 for i in range(len(sentence.words))])
    if sentence.constituents is not None:
        set_constituents(doc, sentence.constituents)
    if sentence.frames is not None:
        set_frames(doc, sentence.frames)
    if sentence.errors is not None:
        right = (sentence.corrections or {}).items()
        known = {i: [Correction(text, 1.0)] for i, text in right} or None
        set_errors(doc, sentence.errors, begins=sentence.error_begins, corrections=known)
    if sentence.id:
        doc.user_data["sent_id"] = sentence.id
    if sentence.paragraph:
        doc.user_data[PARAGRAPH] = sentence.paragraph
    return doc


def tree_fault(heads: Sequence[int]) -> str:
    """Return why `heads` (the root is its own head) aren't one tree with one root, or ""."""
    roots = [word for word, head in enumerate(heads) if head == word]
    if len(roots) != 1:
        return f"{len(roots)} roots in the dependency tree"
    above = numpy.asarray(heads)
    for _ in range(len(heads).bit_length()):
        above = above[above]
    cyclic = numpy.flatnonzero(above != roots[0])
    return f"a cycle in the dependency tree at word {cyclic[0] + 1}" if len(cyclic) else ""


def language_vocab(lang: str) -> Vocab:
    """Return the vocabulary of a blank pipeline, without building the pipeline."""
    return create_vocab(lang, get_lang_class(lang).Defaults)


def write_docs(sentences: Iterable[TreebankSentence], path: str | Path, lang: str) -> None:
    """Write one Doc a sentence to `path`, as a DocBin."""
    vocab = language_vocab(lang)
    write_spacy((to_doc(sentence, vocab) for sentence in sentences), path)
