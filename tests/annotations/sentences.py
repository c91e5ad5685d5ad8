"""Docs written by hand, a line a word: word, tag, head (from 1, 0 for the root), relation."""

from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_lal.annotations import FrameSpans, set_frames

Roles = list[tuple[int, str, list[tuple[int, int, str]]]]
"""Predicate, roleset, and spans of V and the arguments, of each frame."""


def doc_of(lines: str, roles: Roles = (), vocab: Vocab | None = None) -> Doc:
    rows = [line.split() for line in lines.split("\n") if line.strip()]
    words, tags, heads, relations = zip(*rows, strict=True)
    doc = Doc(
        vocab or Vocab(),
        words=list(words),
        tags=list(tags),
        heads=[int(head) - 1 if int(head) else i for i, head in enumerate(heads)],
        deps=list(relations),
    )
    if roles:
        set_frames(doc, [FrameSpans(*frame) for frame in roles])
    return doc
