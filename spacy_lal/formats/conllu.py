"""CoNLL-U, and CoNLL-X, which has the same ten columns with fewer habits.

https://universaldependencies.org/format.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from spacy.parts_of_speech import IDS as UNIVERSAL_TAGS

from .docs import TreebankSentence, tree_fault
from .files import FormatError, is_number, read_text


class TagColumn(StrEnum):
    """Where a word's tag comes from: the treebank's own tags, the universal ones, or nowhere."""

    xpos = "xpos"
    upos = "upos"
    none = "none"


_FEATS = re.compile(r"(?:[^=|]+=[^=|]+(?:\|[^=|]+=[^=|]+)*)?")


@dataclass
class ConlluSentence:
    """The syntactic words of a sentence: neither multiword tokens nor empty nodes are words.

    heads: from 1, 0 for a root; None if any word has none. Columns that are "_" are "" here,
        except for words and lemmas that are underscores themselves.
    spaces: whether whitespace follows; there is none within a multiword token.
    multiword: the multiword tokens: first and last word, from 0, and how they are written.
    number: of the sentence in its document, from 0.
    paragraph: what `# newpar id` says, behind the document's name; without an id, or at a new
        document, one of our own making.
        "" where the file tells of neither.
    source, line: where its first word is, for messages.
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
        """The words' tags, "" where a word has none."""
        none = [""] * len(self.words)
        return {TagColumn.xpos: self.xpos, TagColumn.upos: self.upos}.get(column, none)


def parse_conllu(text: str, *, source: str = "<string>") -> Iterator[ConlluSentence]:
    """The sentences of a CoNLL-U or CoNLL-X text. Raises FormatError."""
    document = paragraph = sentence_id = ""
    place = -1
    sentence: ConlluSentence | None = None
    multiword: tuple[int, bool] | None = None  # last word of the range, space after it
    for number, row in enumerate(text.split("\n"), start=1):
        row = row.rstrip("\r")
        if not row.strip():
            if sentence is not None:
                yield _checked(sentence)
            sentence, sentence_id, multiword = None, "", None
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
            raise FormatError(
                f"expected 10 columns between tabs, found {len(columns)}",
                source=source,
                line=number,
            )
        if sentence is None:
            place += 1
            sentence = ConlluSentence(source, number, sentence_id, document, place, paragraph)
        identifier, form, lemma, upos, xpos, feats, head, deprel = columns[:8]
        space = "SpaceAfter=No" not in columns[-1].split("|")
        if "." in identifier:
            continue
        if "-" in identifier:
            first, _, last = identifier.partition("-")
            expected = len(sentence.words) + 1
            if first != str(expected) or not is_number(last) or int(last) < expected:
                raise FormatError(
                    f"bad word range {identifier!r}: expected one such as "
                    f"{expected}-{expected + 1}",
                    source=source,
                    line=number,
                )
            if multiword is not None and expected <= multiword[0]:
                raise FormatError(
                    f"word range {identifier!r} overlaps the one before", source=source, line=number
                )
            multiword = int(last), space
            sentence.multiword.append((len(sentence.words), int(last) - 1, form))
            continue
        if identifier != str(len(sentence.words) + 1):
            raise FormatError(
                f"expected word {len(sentence.words) + 1}, found {identifier!r}",
                source=source,
                line=number,
            )
        if not form:
            raise FormatError("empty word in the second column", source=source, line=number)
        if multiword is not None and len(sentence.words) + 1 <= multiword[0]:
            space = len(sentence.words) + 1 == multiword[0] and multiword[1]
        sentence.words.append(form)
        sentence.lemmas.append(lemma if form == "_" else _value(lemma))
        sentence.upos.append(_value(upos))
        sentence.xpos.append(_value(xpos))
        sentence.feats.append(_value(feats))
        sentence.deprels.append(_value(deprel))
        sentence.spaces.append(space)
        if head == "_":
            sentence.heads = None
        elif not is_number(head):
            raise FormatError(f"head {head!r} isn't a number", source=source, line=number)
        elif sentence.heads is not None:
            sentence.heads.append(int(head))
    if sentence is not None:
        yield _checked(sentence)


def read_conllu(path: str | Path) -> Iterator[ConlluSentence]:
    """The sentences of a CoNLL-U or CoNLL-X file, plain or compressed. Raises FormatError."""
    return parse_conllu(read_text(path), source=str(path))


def to_sentence(
    sentence: ConlluSentence, tags: TagColumn = TagColumn.xpos
) -> tuple[TreebankSentence, str]:
    """The sentence, and why its heads were left out ("" if they weren't).

    tags: which column is the word's tag.
    A Doc holds one tree a sentence: heads with several roots or a cycle are left out, so that
    the sentence still serves whatever doesn't need them. So are tags that aren't universal and
    features that aren't `Key=Value`, as CoNLL-X may have in these columns.
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


def _checked(sentence: ConlluSentence) -> ConlluSentence:
    for first, last, form in sentence.multiword:
        if last >= len(sentence.words):
            raise FormatError(
                f"{form!r} is words {first + 1}-{last + 1} of a sentence of {len(sentence.words)}",
                source=sentence.source,
                line=sentence.line,
            )
    for word, head in enumerate(sentence.heads or (), start=1):
        if head > len(sentence.words) or head == word:
            raise FormatError(
                f"word {word} has head {head}, in a sentence of {len(sentence.words)} words",
                source=sentence.source,
                line=sentence.line,
            )
    return sentence


def _value(column: str) -> str:
    return "" if column == "_" else column


def _if_any(values: list[str]) -> list[str] | None:
    return values if any(values) else None
