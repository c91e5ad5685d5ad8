"""M2, the format of grammatical error correction: sentences, and edits between their words.

A line `S` has a tokenised sentence, and a line `A` one of its edits; a blank line follows:

    S This are short .
    A 1 2|||R:VERB:SVA|||is|||REQUIRED|||-NONE-|||0

Fields of an edit: start and end in words (equal for an insertion), type, correction, two unused
fields, and the annotator's number. An annotator without edits has one from -1 to -1 of type "noop".
https://www.comp.nus.edu.sg/~nlp/conll14st.html
https://github.com/chrisjbryant/errant
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, NamedTuple

from spacy.tokens import Doc

from ..annotations import CORRECT, ERROR, ERRORS_KEY
from .files import FormatError
from .treebank_format import Files, Losses, Pattern
from .treebank_sentence import TreebankSentence


class ErrorTypes(StrEnum):
    """Labels of errors that a converter's user may choose."""

    none = "none"
    """`ERROR`, nothing else."""
    operations = "operations"
    """ERRANT's operations: M (missing), U (unnecessary), R (replace)."""
    full = "full"
    """The type as it stands."""


UNKNOWN = "UNK"
"""ERRANT's type of errors that were found but not corrected."""

_NOTHING = "-NONE-"
_WORD = re.compile(r"[^ \t\r\n\f\v]+")  # a word may contain a no-break space
# Greedy from both ends, as an empty alternative beside "|||" is ambiguous otherwise.
_EDIT = re.compile(
    r"A (?P<start>-?\d{1,9}) (?P<end>-?\d{1,9})\|\|\|(?P<type>.*?)\|\|\|(?P<correction>.*)"
    r"\|\|\|.*?\|\|\|.*?\|\|\|\s*(?P<annotator>\d{1,9})\s*"
)


class Edit(NamedTuple):
    """A correction of the words [start, end), or an insertion before the word `start`.

    type: as in the corpus, "" without a type. correction: words with spaces between them, "" for a
    deletion, None for an error that was not corrected.
    """

    start: int
    end: int
    type: str
    correction: str | None
    annotator: int = 0

    @property
    def operation(self) -> str:
        """M, U or R, whatever the corpus's types; `ERROR` without a correction."""
        if self.correction is None:
            return ERROR
        if self.start == self.end:
            return "M"
        return "R" if self.correction else "U"

    def label(self, types: ErrorTypes) -> str:
        """The label of words that the edit marks."""
        named = self.operation if types == "operations" else self.type or ERROR
        return ERROR if types == "none" else named


@dataclass(frozen=True)
class M2Sentence:
    """A sentence and the edits of all its annotators, in file order.

    spaces: whether whitespace follows each word, None if unknown.
    """

    words: Sequence[str]
    edits: Sequence[Edit]
    line: int = 1
    spaces: Sequence[bool] | None = None


@dataclass(frozen=True, kw_only=True)
class Corrections(Files):
    """A format of sentences with edits. A word is wrong if any annotator marks it, or if the one
    does that `annotator` names."""

    types: Annotated[ErrorTypes, "Labels: only ERROR; M, U and R; or the file's own types."] = (
        ErrorTypes.none
    )
    annotator: Annotated[int | None, "Number of the one annotator to follow. Default: all."] = None

    def edited(self, text: str, source: str) -> Iterator[M2Sentence]:
        """Yield the sentences of the text of a file. Raises FormatError."""
        raise NotImplementedError

    def parse(self, text: str, source: str, losses: Losses) -> Iterator[TreebankSentence]:
        annotators: set[int] = set()
        for found in self.edited(text, source):
            annotators |= {edit.annotator for edit in found.edits}
            if self.annotator is not None:
                own = [edit for edit in found.edits if edit.annotator == self.annotator]
                found = replace(found, edits=own)
            if found.words:
                if any(edit.start == len(found.words) for edit in found.edits):
                    losses.counts["errors at the end of a sentence, marked on no word"] += 1
                yield labelled(found, self.types)
            else:
                losses.left_out["dropped"].append((f"{source}:{found.line}", "no words"))
        if annotators and self.annotator not in {None, *annotators}:
            numbers = ", ".join(map(str, sorted(annotators)))
            message = f"no edits of annotator {self.annotator}, only of {numbers}"
            raise ValueError(f"{source}: {message}")


@dataclass(frozen=True, kw_only=True)
class M2(Corrections):
    """Learners' sentences in M2: a line S with the words, and a line A for each edit."""

    pattern: Pattern = "*.m2"

    def edited(self, text: str, source: str) -> Iterator[M2Sentence]:
        """Yield the sentences of an M2 text. Raises FormatError for a malformed line, or an edit
        outside of its sentence."""
        words: list[str] | None = None
        edits: list[Edit] = []
        first = 0
        # The final "S" ends the last sentence.
        for number, line in enumerate([*text.split("\n"), "S"], start=1):
            if line == "S" or line.startswith("S "):
                if words is not None:
                    yield M2Sentence(words, edits, first)
                words, edits, first = words_of(line[1:]), [], number
            elif line.startswith("A "):
                if words is None:
                    message = "an edit (line A) stands before any sentence (line S)"
                    raise FormatError(message, source, number)
                edit = _edit(line, len(words), source, number)
                if edit.start >= 0:
                    edits.append(edit)
            elif line.strip():
                message = f"expected a line that begins with S or A, found {line[:40]!r}"
                raise FormatError(message, source, number)

    def write(self, doc: Doc) -> str:
        """Return the errors in `doc.spans["errors"]`, an edit each. An error labelled as missing is
        an insertion before its span. The correction is that of `attrs["corrections"]`, or else
        -NONE-. Tokens of whitespace are left out.
        Raises ValueError if the group isn't set, or for a token or label that M2 can't have."""
        if ERRORS_KEY not in doc.spans:
            raise ValueError(f"doc.spans[{ERRORS_KEY!r}] isn't set")
        group = doc.spans[ERRORS_KEY]
        corrections = group.attrs.get("corrections") or [None] * len(group)
        blocks = []
        for sentence in doc.sents if doc.has_annotation("SENT_START") else [doc[:]]:
            words = [token.text for token in sentence if not token.is_space]
            if any(words_of(word) != [word] for word in words):
                raise ValueError(f"a token with a space in {sentence.text[:40]!r}")
            block = [f"S {' '.join(words)}"]
            for span, correction in zip(group, corrections, strict=True):
                if not sentence.start <= span.start < sentence.end:
                    continue
                before = sum(not token.is_space for token in doc[sentence.start : span.start])
                end = before + sum(not token.is_space for token in span)
                label = span.label_ or ERROR
                if "|||" in label or "\n" in label:
                    raise ValueError(f"M2 can't have the label {label!r}")
                end = before if label.startswith("M:") or label == "M" else end
                fields = (label, _NOTHING if correction is None else correction, "REQUIRED")
                block.append(f"A {before} {end}|||{'|||'.join(fields)}|||{_NOTHING}|||0")
            blocks += ["\n".join(block), "\n\n"] if words else []
        return "".join(blocks)


def words_of(line: str) -> list[str]:
    """Return the words of a tokenised sentence."""
    return _WORD.findall(line)


def _edit(line: str, length: int, source: str, number: int) -> Edit:
    """Return the edit in an A line; its start is -1 if it does nothing."""
    match = _EDIT.fullmatch(line)
    if match is None:
        expected = "A start end|||type|||correction|||required|||comment|||annotator"
        raise FormatError(f"expected {expected}, found {line[:60]!r}", source, number)
    start, end, annotator = int(match["start"]), int(match["end"]), int(match["annotator"])
    kind = match["type"]
    if kind == "noop":
        return Edit(-1, -1, kind, "", annotator)
    if not 0 <= start <= end <= length:
        message = f"an edit from {start} to {end} in a sentence of {length} words"
        raise FormatError(message, source, number)
    # "||" separates alternative corrections
    correction: str | None = match["correction"].split("||")[0].strip()
    if kind == UNKNOWN or correction == _NOTHING:
        correction = None if kind == UNKNOWN else ""
    return Edit(start, end, kind, correction, annotator)


def labelled(found: M2Sentence, types: ErrorTypes = ErrorTypes.none) -> TreebankSentence:
    """Return the sentence with the label of every word, the places where errors begin, and their
    corrections.

    A word is an error if an edit covers it, or something is missing before it. A word missing at
    the end of the sentence marks no word, as in MultiGED's files. The first edit in the file
    decides. Corrections are known where labels are M, U, R or begin so: others don't say whether
    words are missing before them.
    """
    edits: list[Edit | None] = [None] * len(found.words)
    for edit in reversed(found.edits) if edits else ():
        end = min(max(edit.end, edit.start + 1), len(edits))
        edits[edit.start : end] = [edit] * (end - edit.start)
    labels = [CORRECT if edit is None else edit.label(types) for edit in edits]
    begins = [i for i, edit in enumerate(edits) if i == 0 or edit is not edits[i - 1]]
    corrections: dict[int, str] = {}
    for i in begins:
        first, operation = edits[i], labels[i].partition(":")[0]
        if first and first.correction is not None and operation == first.operation:
            corrections[i] = first.correction
    return TreebankSentence(
        found.words, found.spaces, errors=labels, error_begins=begins, corrections=corrections
    )
