"""Learner corpora in two columns: a row is a token, a tab and its label.

A blank line ends a sentence. The label is "c" for correct, "i" for incorrect, or the type of an
error. Unlabelled files, as test sets of shared tasks, have tokens alone. Tokens may contain spaces.
The First Certificate corpus of Rei and Yannakoudakis (2016), and MultiGED-2023:
https://ilexir.co.uk/datasets/index.html
https://github.com/spraakbanken/multiged-2023
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from spacy.tokens import Doc

from ..annotations import CORRECT, ERROR, ERRORS_KEY, get_errors
from .files import FormatError, blocks
from .m2 import ErrorTypes
from .treebank_format import Files, Losses, Pattern
from .treebank_sentence import TreebankSentence

_LABELS = {"c": CORRECT, "i": ERROR}
_NAMES = {label: name for name, label in _LABELS.items()}
_BLANK = " \r\f\v"  # a no-break space alone is a token
_ESCAPED = re.compile(r'\\+"')
_NO_TAB = re.compile(r".*\S +[ci]")
_QUOTE = re.compile(r'(\\*)"')


@dataclass(frozen=True, kw_only=True)
class LearnerTsv(Files):
    """Learners' sentences in two columns: a token and its label c, i or an error's type a row."""

    pattern: Pattern = "*.tsv"
    types: Annotated[ErrorTypes, "Errors are i and ERROR (none), or have types (full)."] = (
        ErrorTypes.none
    )
    multiged_escapes: Annotated[bool, r"A double quote is \" in the file."] = False

    def sources(self, inputs: Sequence[Path]) -> Iterable[Path]:
        if self.types is ErrorTypes.operations:
            raise ValueError("tsv files don't say which operation corrects an error: --types full")
        return super().sources(inputs)

    def parse(self, text: str, source: str, losses: Losses) -> Iterator[TreebankSentence]:
        unescape = multiged_unescape if self.multiged_escapes else str
        sentences = list(parse_tsv(text, source=source))
        found = {label for sentence in sentences for label in sentence.errors or ()}
        if found - {ERROR} and CORRECT not in found:
            message = 'no token in this file has the label "c", which correct ones have'
            raise FormatError(message, source, 1)
        for sentence in sentences:
            errors = sentence.errors and list(map(self._label, sentence.errors))
            yield replace(sentence, words=list(map(unescape, sentence.words)), errors=errors)

    def write(self, doc: Doc) -> str:
        r"""Return the errors in `doc.spans["errors"]`.

        Sentences are those of the Doc; the last one ends with the Doc. Tokens of whitespace have no
        rows. Double quotes are escaped twice in the task's files for Italian.
        Raises ValueError if the group isn't set, for a token with a tab or a line end, and for a
        type that isn't one column or means something else.
        """
        if ERRORS_KEY not in doc.spans:
            raise ValueError(f"doc.spans[{ERRORS_KEY!r}] isn't set")
        labels = list(map(self._label, get_errors(doc)))
        escape = multiged_escape if self.multiged_escapes else str
        blocks = []
        for sentence in doc.sents if doc.has_annotation("SENT_START") else [doc[:]]:
            words = [token for token in sentence if token.text.strip(_BLANK + "\t\n")]
            blocks += [_row(escape(token.text), labels[token.i]) for token in words]
            blocks += ["\n"] if words else []
        return "".join(blocks)

    def _label(self, label: str) -> str:
        return label if label == CORRECT or self.types is ErrorTypes.full else ERROR


def parse_tsv(text: str, *, source: str = "<string>") -> Iterator[TreebankSentence]:
    """Yield the sentences of a file, with errors, or without any if the file has no labels. Raises
    FormatError for a number of columns other than the first row's (1 or 2), or an empty column."""
    columns = 0
    for block in blocks(text):
        rows = [line.split("\t") for _, line in block]
        for (number, line), cells in zip(block, rows, strict=True):
            columns = columns or (2 if len(cells) > 1 or _NO_TAB.fullmatch(line) else 1)
            fault = ""
            if len(cells) != columns:
                names = "2 columns" if columns == 2 else "1 column"
                fault = f"expected {names}, found {len(cells)}: only tabs separate columns"
            elif not all(cell.strip(_BLANK) for cell in cells):
                expected = "a token and its label" if columns == 2 else "a token alone"
                fault = f"expected {expected}, found {line[:60]!r}"
            if fault:
                raise FormatError(fault, source, number)
        labels = [cells[-1].strip(_BLANK) for cells in rows]
        errors = [_LABELS.get(label, label) for label in labels] if columns == 2 else None
        yield TreebankSentence(words=[cells[0] for cells in rows], errors=errors)


def multiged_escape(word: str) -> str:
    r"""Return the word as MultiGED writes it: `\"` for a double quote."""
    return _QUOTE.sub(r"\1\1\"", word)


def multiged_unescape(word: str) -> str:
    r"""Undo `multiged_escape`, also where it was done twice. Backslashes before a double quote look
    like escapes; MultiGED has no others."""
    return _ESCAPED.sub('"', word)


def _row(word: str, label: str) -> str:
    name = _NAMES.get(label, label)
    if not name.strip(_BLANK) or label in _LABELS or re.search(r"[\t\n]", word + name):
        raise ValueError(
            f"the token {word!r} and the type {label!r} can't stand in columns: one is empty, has "
            "a tab or an end of line, or the type means something else there"
        )
    return f"{word}\t{name}\n"
