"""CoNLL-U, and CoNLL-X, which has the same ten columns.

Trees are written in comments, as Stanza has them: `# constituency = (TOP …)`.
https://universaldependencies.org/format.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from spacy.parts_of_speech import IDS as UNIVERSAL_TAGS
from spacy.tokens import Doc, Span, Token

from ..annotations import CONSTITUENTS_KEY, constituent_tree
from .files import FormatError, is_number, read_text
from .treebank_format import Files, Losses, Pattern
from .treebank_sentence import TreebankSentence, tree_fault

_FEATS = re.compile(r"(?:[^=|]+=[^=|]+(?:\|[^=|]+=[^=|]+)*)?")
_BREAK = re.compile(r"[\t\n\r]")


class TagColumn(StrEnum):
    """The source of a word's tag: the treebank's own tags, the universal ones, or none."""

    xpos = "xpos"
    upos = "upos"
    none = "none"


@dataclass(frozen=True, kw_only=True)
class Conllu(Files):
    """Words, tags and dependencies in CoNLL-U or CoNLL-X."""

    pattern: Pattern = "*.conllu"
    tags: Annotated[TagColumn, "The column of tags, if any."] = TagColumn.xpos

    def read(self, path: Path, losses: Losses) -> Iterator[TreebankSentence]:
        for found in read_conllu(path):
            if self.takes(found):
                sentence, fault = self.sentence(found)
                if fault:
                    place = f"{found.source}:{found.line}"
                    losses.left_out["without heads"].append((place, fault))
                yield sentence

    def takes(self, found: ConlluSentence) -> bool:
        """Return whether the sentence is converted."""
        return True

    def sentence(self, found: ConlluSentence) -> tuple[TreebankSentence, str]:
        """Return the sentence, and the reason why its heads are left out ("" if they aren't)."""
        return to_sentence(found, self.tags)

    def write(self, doc: Doc) -> str:
        return format_conllu(doc)


@dataclass
class ConlluSentence:
    """The syntactic words of a sentence, without multiword tokens and empty nodes.

    heads: from 1, 0 for a root; None if any word has no head. A column's "_" becomes "", except for
    words and lemmas that are underscores themselves.
    spaces: whether whitespace follows; there is none within a multiword token.
    multiword: first and last word of each multiword token, from 0, and its form.
    number: the sentence's index in its document.
    paragraph: the document's name and the id of `# newpar id`, or a line number where a paragraph
    or document begins without one; "" where the file has neither.
    source, line: the place of the first word.
    """

    source: str
    line: int
    id: str = ""
    document: str = ""
    number: int = 0
    paragraph: str = ""
    words: list[str] = field(default_factory=list)
    lemmas: list[str] = field(default_factory=list)
    upos: list[str] = field(default_factory=list)
    xpos: list[str] = field(default_factory=list)
    feats: list[str] = field(default_factory=list)
    heads: list[int] | None = field(default_factory=list)
    deprels: list[str] = field(default_factory=list)
    spaces: list[bool] = field(default_factory=list)
    multiword: list[tuple[int, int, str]] = field(default_factory=list)

    def tags(self, column: TagColumn) -> list[str]:
        """Return the words' tags, "" for a word without a tag."""
        none = [""] * len(self.words)
        return {TagColumn.xpos: self.xpos, TagColumn.upos: self.upos}.get(column, none)


def read_conllu(path: str | Path) -> Iterator[ConlluSentence]:
    """Yield the sentences of a CoNLL-U or CoNLL-X file, plain or compressed. Raises FormatError."""
    return parse_conllu(read_text(path), source=str(path))


def parse_conllu(text: str, *, source: str = "<string>") -> Iterator[ConlluSentence]:
    """Yield the sentences of a CoNLL-U or CoNLL-X text. Raises FormatError."""
    document = paragraph = sentence_id = ""
    place = -1
    sentence: ConlluSentence | None = None
    multiword = (0, False)  # last word of the latest range, space after it
    for number, row in enumerate([*text.split("\n"), ""], start=1):
        row = row.rstrip("\r")
        if not row.strip():
            if sentence is not None:
                yield _checked(sentence)
            sentence, sentence_id, multiword = None, "", (0, False)
            continue
        if row.startswith("#"):
            name, _, value = (part.strip() for part in row[1:].partition("="))
            if name == "sent_id":
                sentence_id = value
            elif name in ("newdoc", "newdoc id"):
                document, place = value, -1
            if name in ("newdoc", "newdoc id", "newpar", "newpar id"):
                of_paragraph = value if name == "newpar id" else str(number)
                paragraph = f"{document or Path(source).name}:{of_paragraph}"
            continue
        columns = row.split("\t")
        if not 8 <= len(columns) <= 10:
            message = f"expected 10 columns between tabs, found {len(columns)}"
            raise FormatError(message, source, number)
        if sentence is None:
            place += 1
            sentence = ConlluSentence(source, number, sentence_id, document, place, paragraph)
        identifier, form = columns[:2]
        space = "SpaceAfter=No" not in columns[-1].split("|")
        word = len(sentence.words) + 1
        if "." in identifier:
            continue
        if "-" in identifier:
            first, _, last = identifier.partition("-")
            if first != str(word) or not is_number(last) or int(last) < word:
                example = f"{word}-{word + 1}"
                message = f"bad word range {identifier!r}: expected one such as {example}"
                raise FormatError(message, source, number)
            if word <= multiword[0]:
                message = f"word range {identifier!r} overlaps the one before"
                raise FormatError(message, source, number)
            multiword = int(last), space
            sentence.multiword.append((word - 1, int(last) - 1, form))
            continue
        if identifier != str(word):
            raise FormatError(f"expected word {word}, found {identifier!r}", source, number)
        if word <= multiword[0]:
            space = word == multiword[0] and multiword[1]
        _add_word(sentence, columns, space, number)


def _add_word(sentence: ConlluSentence, columns: list[str], space: bool, line: int) -> None:
    """Add a row. Raises FormatError for an empty word, or a head that is no number."""
    form, lemma, upos, xpos, feats, head, deprel = columns[1:8]
    if not form:
        raise FormatError("empty word in the second column", sentence.source, line)
    sentence.words.append(form)
    sentence.lemmas.append(lemma if form == "_" else _known(lemma))
    sentence.upos.append(_known(upos))
    sentence.xpos.append(_known(xpos))
    sentence.feats.append(_known(feats))
    sentence.deprels.append(_known(deprel))
    sentence.spaces.append(space)
    if head == "_":
        sentence.heads = None
    elif not is_number(head):
        raise FormatError(f"head {head!r} isn't a number", sentence.source, line)
    elif sentence.heads is not None:
        sentence.heads.append(int(head))


def _checked(sentence: ConlluSentence) -> ConlluSentence:
    length = len(sentence.words)
    for first, last, form in sentence.multiword:
        if last >= length:
            message = f"{form!r} is words {first + 1}-{last + 1} of a sentence of {length}"
            raise FormatError(message, sentence.source, sentence.line)
    for word, head in enumerate(sentence.heads or (), start=1):
        if head > length or head == word:
            message = f"word {word} has head {head}, in a sentence of {length} words"
            raise FormatError(message, sentence.source, sentence.line)
    return sentence


def to_sentence(
    sentence: ConlluSentence, tags: TagColumn = TagColumn.xpos
) -> tuple[TreebankSentence, str]:
    """Return the sentence, and why its heads were left out ("" if they weren't).

    tags: the column of the words' tags.
    A Doc holds one tree a sentence, so heads with several roots or a cycle are left out. So are
    tags that aren't universal and features that aren't `Key=Value`, which CoNLL-X may have in these
    columns.
    """
    fault = ""
    heads = None
    if sentence.heads is not None:
        heads = [i if head == 0 else head - 1 for i, head in enumerate(sentence.heads)]
        if fault := tree_fault(heads):
            heads = None
    elif any(sentence.deprels):
        fault = "a word has a relation, and a word has no head"
    return TreebankSentence(
        words=sentence.words,
        spaces=sentence.spaces,
        tags=_if_any(sentence.tags(tags)),
        pos=_if_any(sentence.upos) if set(sentence.upos) <= UNIVERSAL_TAGS.keys() else None,
        lemmas=_if_any(sentence.lemmas),
        morphs=_if_any(sentence.feats) if all(map(_FEATS.fullmatch, sentence.feats)) else None,
        heads=heads,
        deps=_if_any(sentence.deprels) if heads else None,
        id=sentence.id,
        paragraph=sentence.paragraph,
    ), fault


def _known(column: str) -> str:
    return "" if column == "_" else column


def _if_any(values: list[str]) -> list[str] | None:
    return values if any(values) else None


def format_conllu(doc: Doc, doc_id: str = "", comments: Mapping[str, Any] | None = None) -> str:
    """Return the sentences of a Doc as CoNLL-U; a Doc without boundaries is one sentence.

    doc_id: value of `# newdoc id`, part of the sentences' ids. comments: further comments, at the
    first sentence. Whitespace tokens aren't words; their dependents depend on their heads. The last
    column has the words' offsets in the Doc's text, in characters.
    """
    blocks: list[str] = []
    sentences = list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]
    for sentence in sentences:
        words = [token for token in sentence if not token.is_space]
        if not words:
            continue
        notes: dict[str, Any] = {}
        if not blocks:
            notes = ({"newdoc id": doc_id} if doc_id else {}) | dict(comments or {})
        if doc_id:
            notes["sent_id"] = f"{doc_id}-{len(blocks) + 1}"
        notes["text"] = sentence.text
        if CONSTITUENTS_KEY in doc.spans:
            notes["constituency"] = constituent_tree(sentence)
        lines = [f"# {_line(name)} = {_line(value)}" for name, value in notes.items()]
        lines += ["\t".join(row) for row in _rows(sentence, words)]
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)


def _rows(sentence: Span, words: list[Token]) -> Iterator[tuple[str, ...]]:
    doc = sentence.doc
    heads = _heads(words) if doc.has_annotation("DEP") else None
    for k, word in enumerate(words, start=1):
        head, relation = "_", "_"
        if heads is not None and word.dep:  # other words have no relation
            head = str(heads[k - 1])
            relation = "root" if head == "0" else _cell(word.dep_)
        places = f"start_char={word.idx}|end_char={word.idx + len(word)}"
        follows = word.whitespace_ or (word.i + 1 < len(doc) and doc[word.i + 1].is_space)
        yield (
            str(k),
            _BREAK.sub("_", word.text),
            *map(_cell, (word.lemma_, word.pos_, word.tag_, str(word.morph))),
            *(head, relation, "_"),
            places if follows else f"SpaceAfter=No|{places}",
        )


def _heads(words: list[Token]) -> list[int]:
    number = {word.i: k for k, word in enumerate(words, start=1)}
    heads = [number.get(_word_above(word).i, 0) for word in words]
    # If the root is whitespace, its first dependent becomes the root and the head of the others.
    tops = [
        k
        for k, (head, word) in enumerate(zip(heads, words, strict=True), start=1)
        if head in (0, k) and word.dep
    ]
    if not tops:
        return heads
    root = tops[0]
    return [
        0 if k == root else root if head in (0, k) else head
        for k, head in enumerate(heads, start=1)
    ]


def _word_above(token: Token) -> Token:
    """Return the nearest head that isn't whitespace; the token itself if it is a root."""
    head = token.head
    while head.is_space and head.head.i != head.i:
        head = head.head
    return head


def _cell(text: str) -> str:
    return _BREAK.sub("_", text) or "_"


def _line(value: Any) -> str:
    return " ".join(str(value).split())
