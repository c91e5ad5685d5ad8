"""CoNLL-U, and CoNLL-X, which has the same ten columns between tabs.

Trees are in comments, as Stanza has them: `# constituency = (TOP …)`.
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
from ..annotations.words import word_heads
from ..trees.tree import LabelledSpan, parse_brackets
from .files import FormatError, blocks, is_number, read_text
from .treebank_format import Files, Losses, Pattern
from .treebank_sentence import TreebankSentence, tree_fault

_FEATS = re.compile(r"(?:[^=|]+=[^=|]+(?:\|[^=|]+=[^=|]+)*)?")
_BREAK = re.compile(r"[\t\n\r]")
_WITHOUT_SPACES = (0, 3, 4, 5, 6, 7, 8)  # all but words, lemmas and the last column


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

    def parse(self, text: str, source: str, losses: Losses) -> Iterator[TreebankSentence]:
        for found in parse_conllu(text, source=source):
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
        name = doc.user_data.get("id")
        return format_conllu(doc, "" if name is None else str(name))


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
    constituency: the bracketed tree of `# constituency`, or "".
    source, line: the place of the first word.
    """

    source: str
    line: int
    id: str = ""
    document: str = ""
    number: int = 0
    paragraph: str = ""
    constituency: str = ""
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
    document = paragraph = ""
    place = -1
    for block in blocks(text):
        sentence_id = constituency = ""
        rows: list[tuple[int, list[str]]] = []
        for number, row in block:
            if not row.startswith("#"):
                rows.append((number, row.rstrip("\r").split("\t")))
                continue
            name, _, value = (part.strip() for part in row[1:].partition("="))
            if name == "sent_id":
                sentence_id = value
            elif name == "constituency":
                constituency = value
            elif name in ("newdoc", "newdoc id"):
                document, place = value, -1
            if name in ("newdoc", "newdoc id", "newpar", "newpar id"):
                of_paragraph = value if name == "newpar id" else str(number)
                paragraph = f"{document or Path(source).name}:{of_paragraph}"
        if rows:
            place += 1
            sentence = ConlluSentence(source, rows[0][0], sentence_id, document, place, paragraph)
            sentence.constituency = constituency
            _add_words(sentence, rows)
            yield sentence


def _add_words(sentence: ConlluSentence, rows: list[tuple[int, list[str]]]) -> None:
    """Add the words of numbered rows. Raises FormatError."""
    words: list[list[str]] = []
    last, after = 0, False  # last word of the latest range, space after it
    for number, columns in rows:
        fault = ""
        word, identifier = len(words) + 1, columns[0]
        first, hyphen, end = identifier.partition("-")
        space = "SpaceAfter=No" not in columns[-1].split("|")
        spaced = [at for at in _WITHOUT_SPACES if " " in "".join(columns[at : at + 1])]
        if len(columns) != 10:
            fault = f"expected 10 columns, found {len(columns)}: only tabs separate columns"
        elif spaced:
            cell = columns[spaced[0]]
            fault = f"a space in column {spaced[0] + 1}, {cell!r}: only tabs separate columns"
        elif "." in identifier:
            before, _, ghost = identifier.partition(".")
            if before == str(word - 1) and is_number(ghost):
                continue
            fault = f"bad empty node {identifier!r}: expected one such as {word - 1}.1"
        elif hyphen and (first != str(word) or not is_number(end) or int(end) < word):
            fault = f"bad word range {identifier!r}: expected one such as {word}-{word + 1}"
        elif hyphen and word <= last:
            fault = f"word range {identifier!r} overlaps the one before"
        elif hyphen:
            last, after = int(end), space
            sentence.multiword.append((word - 1, last - 1, columns[1]))
        elif identifier != str(word):
            fault = f"expected word {word}, found {identifier!r}"
        elif not columns[1]:
            fault = "empty word in the second column"
        elif columns[6] != "_" and not is_number(columns[6]):
            fault = f"head {columns[6]!r} isn't a number"
        else:
            words.append(columns)
            sentence.spaces.append((word == last and after) if word <= last else space)
        if fault:
            raise FormatError(fault, sentence.source, number)
    if last > len(words):
        fault = f"a range ends at word {last} of a sentence of {len(words)}"
        raise FormatError(fault, sentence.source, sentence.line)
    forms, lemmas, *others, heads, relations = ([row[i] for row in words] for i in range(1, 8))
    sentence.words = forms
    pairs = zip(forms, lemmas, strict=True)
    sentence.lemmas = ["" if lemma == "_" != form else lemma for form, lemma in pairs]
    sentence.upos, sentence.xpos, sentence.feats, sentence.deprels = (
        ["" if cell == "_" else cell for cell in column] for column in (*others, relations)
    )
    sentence.heads = None if "_" in heads else list(map(int, heads))
    for word, head in enumerate(sentence.heads or (), start=1):
        if head > len(words) or head == word:
            message = f"word {word} has head {head}, in a sentence of {len(words)} words"
            raise FormatError(message, sentence.source, sentence.line)


def to_sentence(
    sentence: ConlluSentence, tags: TagColumn = TagColumn.xpos
) -> tuple[TreebankSentence, str]:
    """Return the sentence, and why its heads were left out ("" if they weren't).

    tags: the column of the words' tags.
    A Doc holds one tree a sentence, so heads with several roots or a cycle are left out. So are
    tags that aren't universal and features that aren't `Key=Value`, which CoNLL-X may have in these
    columns. Raises FormatError for a malformed tree and for a tree of more or fewer words.
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
        constituents=_constituents(sentence),
        id=sentence.id,
        paragraph=sentence.paragraph,
    ), fault


def _constituents(sentence: ConlluSentence) -> list[LabelledSpan] | None:
    if not sentence.constituency:
        return None
    fault = ""
    try:
        trees = list(parse_brackets(sentence.constituency))
        found = sum(len(tree.leaves) for tree in trees)
        if len(trees) != 1 or found != len(sentence.words):
            words = len(sentence.words)
            fault = f"expected one tree of {words} words, found {len(trees)} of {found}"
    except FormatError as error:
        fault = error.message
    if fault:
        raise FormatError(f"# constituency: {fault}", sentence.source, sentence.line)
    return trees[0].rooted().spans(include_root=False)


def _if_any(values: list[str]) -> list[str] | None:
    return values if any(values) else None


def format_conllu(doc: Doc, doc_id: str = "", comments: Mapping[str, Any] | None = None) -> str:
    """Return the sentences of a Doc as CoNLL-U; a Doc without boundaries is one sentence.

    doc_id: value of `# newdoc id`, part of the sentences' ids; without it, the first sentence has
    the id of the treebank that the Doc comes from, if any. comments: further comments, at the
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
            notes["sent_id"] = sent_id(doc_id, len(blocks) + 1)
        elif not blocks and (own := doc.user_data.get("sent_id")):
            notes["sent_id"] = own
        notes["text"] = sentence.text
        if CONSTITUENTS_KEY in doc.spans:
            notes["constituency"] = constituent_tree(sentence)
        lines = [f"# {_line(name)} = {_line(value)}" for name, value in notes.items()]
        lines += ["\t".join(row) for row in _rows(sentence, words)]
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)


def _rows(sentence: Span, words: list[Token]) -> Iterator[tuple[str, ...]]:
    doc = sentence.doc
    heads = word_heads(words) if doc.has_annotation("DEP") else None
    for k, word in enumerate(words):
        head, relation = "_", "_"
        if heads is not None and word.dep:  # other words have no relation
            is_root = heads[k] == k
            head, relation = ("0", "root") if is_root else (str(heads[k] + 1), _symbol(word.dep_))
        places = f"start_char={word.idx}|end_char={word.idx + len(word)}"
        follows = word.whitespace_ or (word.i + 1 < len(doc) and doc[word.i + 1].is_space)
        yield (
            str(k + 1),
            _BREAK.sub("_", word.text),
            _cell(word.lemma_),
            *map(_symbol, (word.pos_, word.tag_, str(word.morph))),
            *(head, relation, "_"),
            places if follows else f"SpaceAfter=No|{places}",
        )


def sent_id(doc_id: str, number: int) -> str:
    """Return the id of a Doc's sentence, counted from 1 without sentences that have no words."""
    return _line(f"{doc_id}-{number}")


def _cell(text: str) -> str:
    return _BREAK.sub("_", text) or "_"


def _symbol(text: str) -> str:
    return _cell(text).replace(" ", "_")


def _line(value: Any) -> str:
    return " ".join(str(value).split())
