"""Docs as CoNLL-U, with trees in comments, as Stanza has them: `# constituency = (TOP …)`.

https://universaldependencies.org/format.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from spacy.tokens import Doc, Span, Token

from ..annotations.constituents import CONSTITUENTS_KEY, constituent_tree

_BREAK = re.compile(r"[\t\n\r]")


def format_conllu(doc: Doc, doc_id: str = "", comments: Mapping[str, Any] | None = None) -> str:
    """The sentences of a Doc (without boundaries: the Doc); `read_conllu` reads them.

    doc_id: of `# newdoc id`; sentences are numbered behind it. comments: further ones, at the first
    sentence. Whitespace tokens aren't words: what hangs on one hangs on its head. The last column
    has where words begin and end in the Doc's text, in characters.
    """
    blocks: list[str] = []
    sentences = list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]
    for sentence in sentences:
        words = [token for token in sentence if not token.is_space]
        if not words:
            continue
        lines = []
        if not blocks and doc_id:
            lines.append(f"# newdoc id = {_line(doc_id)}")
        if not blocks:
            lines += [
                f"# {_line(name)} = {_line(value)}" for name, value in (comments or {}).items()
            ]
        if doc_id:
            lines.append(f"# sent_id = {_line(doc_id)}-{len(blocks) + 1}")
        lines.append(f"# text = {_line(sentence.text)}")
        if CONSTITUENTS_KEY in doc.spans:
            lines.append(f"# constituency = {constituent_tree(sentence)}")
        lines += ["\t".join(row) for row in _rows(sentence, words)]
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)


def _rows(sentence: Span, words: list[Token]) -> Iterator[tuple[str, ...]]:
    doc = sentence.doc
    number = {word.i: k for k, word in enumerate(words, start=1)}
    heads: list[int] | None = None
    if doc.has_annotation("DEP"):
        heads = [number.get(_word_above(word).i, 0) for word in words]
        # whatever hangs on whitespace that is the root hangs on the first word that does
        tops = (
            k
            for k, (head, word) in enumerate(zip(heads, words, strict=True), start=1)
            if head in (0, k) and word.dep
        )
        root = next(tops, None)
        heads = [
            0 if k == root else root if root is not None and head in (0, k) else head
            for k, head in enumerate(heads, start=1)
        ]
    for k, word in enumerate(words, start=1):
        head, relation = "_", "_"
        if heads is not None and word.dep:  # others have no relation
            head = str(heads[k - 1])
            relation = "root" if head == "0" else _value(word.dep_)
        places = f"start_char={word.idx}|end_char={word.idx + len(word)}"
        follows = word.whitespace_ or (word.i + 1 < len(doc) and doc[word.i + 1].is_space)
        yield (
            str(k),
            _BREAK.sub("_", word.text),
            _value(word.lemma_),
            _value(word.pos_),
            _value(word.tag_),
            _value(str(word.morph)),
            head,
            relation,
            "_",
            places if follows else f"SpaceAfter=No|{places}",
        )


def _word_above(token: Token) -> Token:
    """The head, past whitespace; the token itself if it is a root."""
    head = token.head
    while head.is_space and head.head.i != head.i:
        head = head.head
    return head


def _value(text: str) -> str:
    return _BREAK.sub("_", text) or "_"


def _line(value: Any) -> str:
    return " ".join(str(value).split())
