"""EVALB in Python: labelled bracket recall, precision and F1 of two files of trees.

Reproduces every number that the C program of Satoshi Sekine and Michael Collins (public domain)
prints, with its repair of mistagged quotes, sentence errors and stop after too many of them.
Sentences beyond the program's limits (200 words, 200 brackets, 5,000 bytes a line) are scored by
the same rules.
"""

import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Self

import numpy as np

from ..formats.files import read_bytes
from . import percent

OK, ERROR, SKIPPED = 0, 1, 2
"""The status of a sentence, as EVALB prints it."""
NAMED = ("collins", "new", "nk", "sample", "sequoia", "icon", "greynir", "niivtb")
"""Parameter files of this package: those of EVALB and benepar, and those of treebanks, which name
tags of punctuation and the root."""

# C's isspace; a no-break space stays part of its word
_SPACE = " \t\n\v\f\r"
_TOKEN = re.compile(
    rf"\((?P<label>[^{_SPACE}()]*)(?:[{_SPACE}]+(?P<word>[^{_SPACE}()]*)(?P<leaf>\)))?"
    rf"|(?P<close>\))|(?P<stray>[^{_SPACE}()]+)"
)
_QUOTES = frozenset(("'", '"', "/"))
_CUT = re.compile(r"[-=].*", re.DOTALL)


class EvalbReadError(ValueError):
    """Raised for text between brackets that no rule covers; EVALB stops at such a line."""


@dataclass(frozen=True)
class EvalbParameters:
    """Contents of a parameter file (.prm); the defaults are those of EVALB without such a file.

    delete_labels: labels of ignored brackets and tags of removed words. delete_labels_for_length:
    tags of words that do not count for `cutoff_length`. quote_labels: tags of quotes; a quote that
    only one side's tag deletes is put back. equal_labels, equal_words: pairs that count as the
    same. max_errors: evaluation stops at error number max_errors + 2, as in EVALB.
    """

    delete_labels: frozenset[str] = frozenset()
    delete_labels_for_length: frozenset[str] = frozenset()
    quote_labels: frozenset[str] = frozenset()
    equal_labels: frozenset[tuple[str, str]] = frozenset()
    equal_words: frozenset[tuple[str, str]] = frozenset()
    labeled: bool = True
    cutoff_length: int = 40
    max_errors: int = 10

    @classmethod
    def load(cls, prm: str | Path) -> Self:
        """Load one of `NAMED`, in any case, or else a .prm file, of `KEYWORD value` lines and `#`
        comments. Unknown keywords warn; DEBUG is ignored. Raises FileNotFoundError, or ValueError
        for a malformed number or pair."""
        name = str(prm).lower()
        path = Path(__file__).with_name("prm") / f"{name}.prm" if name in NAMED else Path(prm)
        if not path.is_file():
            raise FileNotFoundError(
                f"EVALB parameter file not found: {path}; the names are {', '.join(NAMED)}"
            )
        sets = defaultdict[str, set[str]](set)
        pairs = defaultdict[str, set[tuple[str, str]]](set)
        numbers = {"LABELED": 1, "CUTOFF_LEN": 40, "MAX_ERROR": 10, "DEBUG": 0}
        for number, line in enumerate(read_lines(path), 1):
            if line.startswith("#") or len(line.rstrip()) < 3:
                continue
            key, *values = line.split()
            if key in ("DELETE_LABEL", "DELETE_LABEL_FOR_LENGTH", "QUOTE_LABEL"):
                sets[key].add(" ".join(values))
            elif key in ("EQ_LABEL", "EQ_WORD"):
                if len(values) != 2:
                    raise ValueError(f"{path}, line {number}: {key} requires two values: {line}")
                pairs[key] |= {(values[0], values[1]), (values[1], values[0])}
            elif key in numbers:
                digits = re.match(r"[+-]?\d+", " ".join(values))
                if digits is None:
                    raise ValueError(f"{path}, line {number}: {key} requires a number: {line}")
                numbers[key] = int(digits[0])
            else:
                warnings.warn(f"{path}, line {number}: unknown keyword {key}", stacklevel=2)
        return cls(
            frozenset(sets["DELETE_LABEL"]),
            frozenset(sets["DELETE_LABEL_FOR_LENGTH"]),
            frozenset(sets["QUOTE_LABEL"]),
            frozenset(pairs["EQ_LABEL"]),
            frozenset(pairs["EQ_WORD"]),
            bool(numbers["LABELED"]),
            numbers["CUTOFF_LEN"],
            numbers["MAX_ERROR"],
        )

    @cached_property
    def ignored_brackets(self) -> frozenset[str]:
        """Labels of ignored brackets; EVALB compares these, but not tags, through EQ_LABEL."""
        equal = {a for a, b in self.equal_labels if b in self.delete_labels}
        return self.delete_labels | equal

    def counted(self, brackets: Iterable[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
        """Return the brackets over words whose label, cut at `-` or `=`, isn't ignored."""
        ignored = self.ignored_brackets
        cut = ((start, end, _cut(label)) for start, end, label in brackets if start != end)
        return [bracket for bracket in cut if bracket[2] not in ignored]

    def same_label(self, a: str, b: str) -> bool:
        return a == b or (a, b) in self.equal_labels


def _cut(label: str) -> str:
    return _CUT.sub("", label) if "-" in label or "=" in label else label


@dataclass
class Bracketing:
    """A sentence in EVALB's view: kept words, their tags, and brackets in order of opening. The end
    of a bracket is -1 if it is never closed. `length` counts words for the cut-off. `quotes` has
    the place and tag of each terminal that may be a mistagged quote."""

    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    brackets: list[tuple[int, int, str]] = field(default_factory=list)
    length: int = 0
    balanced: bool = True
    quotes: list[tuple[int, str]] = field(default_factory=list)

    @classmethod
    def from_string(
        cls, text: str, params: EvalbParameters, put_back: Mapping[int, int] | None = None
    ) -> Self:
        """Read one bracketed tree of any depth. Raises EvalbReadError on stray text. put_back: how
        often to take a deleted quote, by its number."""
        self = cls()
        stack: list[int] = []
        for token in _TOKEN.finditer(text):
            label, word, leaf, close, stray = token.groups()
            if leaf:
                if label not in params.delete_labels_for_length:
                    self.length += 1
                times = int(label not in params.delete_labels)
                if label in params.quote_labels and word in _QUOTES:
                    times += (put_back or {}).get(len(self.quotes), 0)
                    self.quotes.append((len(self.words), label))
                self.words += [word] * times
                self.tags += [label] * times
            elif close:
                if stack:
                    start, _, label = self.brackets[stack[-1]]
                    self.brackets[stack.pop()] = start, len(self.words), label
                else:
                    self.balanced = False
            elif stray:
                raise EvalbReadError(f"text outside a terminal: {stray!r}")
            else:
                stack.append(len(self.brackets))
                self.brackets.append((len(self.words), -1, label))
        self.balanced = self.balanced and not stack
        return self


@dataclass(frozen=True)
class SentenceResult:
    """A row of EVALB's table. status: OK, ERROR or SKIPPED; only OK sentences are summed."""

    length: int
    status: int = OK
    matched: int = 0
    gold: int = 0
    test: int = 0
    crossing: int = 0
    words: int = 0
    tags: int = 0
    errors: tuple[str, ...] = ()

    @property
    def recall(self) -> float:
        return percent(self.matched, self.gold)

    @property
    def precision(self) -> float:
        return percent(self.matched, self.test)

    @property
    def f1(self) -> float:
        """F1 in percent, nan without matches."""
        return 200 * self.matched / (self.gold + self.test) if self.matched else float("nan")

    @property
    def tag_accuracy(self) -> float:
        return percent(self.tags, self.words)

    @property
    def complete(self) -> bool:
        return self.matched == self.gold == self.test


@dataclass(frozen=True)
class Summary:
    """Sums over valid sentences."""

    results: Sequence[SentenceResult]

    @cached_property
    def valid(self) -> list[SentenceResult]:
        return [result for result in self.results if result.status == OK]

    @cached_property
    def total(self) -> SentenceResult:
        """The sums of the columns."""
        names = ("length", "status", "matched", "gold", "test", "crossing", "words", "tags")
        return SentenceResult(*(sum(getattr(r, name) for r in self.valid) for name in names))

    @property
    def complete_match(self) -> float:
        return self._share(lambda r: r.complete)

    def _share(self, have_it: Callable[[SentenceResult], bool]) -> float:
        return percent(sum(map(have_it, self.valid)), len(self.valid))

    def lines(self) -> Iterator[str]:
        """Yield the twelve lines of EVALB's summary."""
        counts = {
            "Number of sentence": len(self.results),
            "Number of Error sentence": sum(r.status == ERROR for r in self.results),
            "Number of Skip  sentence": sum(r.status == SKIPPED for r in self.results),
            "Number of Valid sentence": len(self.valid),
        }
        measures = {
            "Bracketing Recall": self.total.recall,
            "Bracketing Precision": self.total.precision,
            "Bracketing FMeasure": self.total.f1,
            "Complete match": self.complete_match,
            "Average crossing": self.total.crossing / max(1, len(self.valid)),
            "No crossing": self._share(lambda r: r.crossing == 0),
            "2 or less crossing": self._share(lambda r: r.crossing <= 2),
            "Tagging accuracy": self.total.tag_accuracy,
        }
        yield from (f"{name:<25} = {count:6d}" for name, count in counts.items())
        yield from (f"{name:<25} = {value:6.2f}" for name, value in measures.items())


@dataclass(frozen=True)
class EvalbReport:
    """The results of a file: a row per sentence, and sums over all and over short sentences.

    errors: EVALB's messages, `line : text`. aborted: stopped after too many errors or at an
    unreadable line; EVALB then prints no summary and exits with 1.
    """

    sentences: tuple[SentenceResult, ...]
    params: EvalbParameters
    errors: tuple[str, ...] = ()
    aborted: bool = False

    @cached_property
    def summary(self) -> Summary:
        return Summary(self.sentences)

    @cached_property
    def cutoff_summary(self) -> Summary:
        """Sums over sentences of at most `params.cutoff_length` words."""
        return Summary([r for r in self.sentences if r.length <= self.params.cutoff_length])

    def format(self) -> str:
        """Return the report as EVALB prints it."""
        rule = "=" * 76
        rows = [
            "  Sent.                        Matched  Bracket   Cross        Correct Tag",
            " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy",
            rule,
        ]
        rows += [
            f"{number:4d}  {r.length:3d}    {r.status}  {r.recall:6.2f} {r.precision:6.2f}"
            f"   {r.matched:3d}    {r.gold:3d}  {r.test:3d}    {r.crossing:3d}"
            f"   {r.words:4d}  {r.tags:4d}   {r.tag_accuracy:6.2f}"
            for number, r in enumerate(self.sentences, 1)
        ]
        if self.aborted:
            return "\n".join(rows) + "\n"
        total = self.summary.total
        brackets = (
            f"                {total.recall:6.2f} {total.precision:6.2f} {total.matched:6d}"
            f" {total.gold:5d} {total.test:5d}  {total.crossing:5d}"
        )
        rows += [
            rule,
            (brackets if total.gold and total.test else "")
            + f"  {total.words:5d} {total.tags:5d}   {total.tag_accuracy:6.2f}",
            "=== Summary ===",
            "",
            "-- All --",
            *self.summary.lines(),
            "",
            f"-- len<={self.params.cutoff_length} --",
            *self.cutoff_summary.lines(),
        ]
        return "\n".join(rows) + "\n"


def score_sentence(
    gold_tree: object, test_tree: object, params: EvalbParameters | None = None
) -> SentenceResult:
    """Compare two trees: bracketed strings, or anything whose `str()` is the bracketing. params:
    `nk` by default. Raises EvalbReadError for malformed text."""
    params = params or EvalbParameters.load("nk")
    texts = str(gold_tree), str(test_tree)
    gold, test = (Bracketing.from_string(text, params) for text in texts)
    errors = [
        "Bracketing is unbalanced (too many open bracket)"
        for side in (gold, test)
        if not side.balanced
    ]
    if not test.words:
        return SentenceResult(gold.length, SKIPPED, errors=tuple(errors))
    if len(gold.words) != len(test.words):
        back = _quotes_to_put_back(gold, test, params.delete_labels)
        gold, test = map(Bracketing.from_string, texts, (params, params), back)
    if len(gold.words) != len(test.words):
        errors.append(f"Length unmatch ({len(gold.words)}|{len(test.words)})")
        return SentenceResult(gold.length, ERROR, errors=tuple(errors))
    for ours, theirs in zip(gold.words, test.words, strict=True):
        if ours != theirs and (ours, theirs) not in params.equal_words:
            errors.append(f"Words unmatch ({ours}|{theirs})")
            return SentenceResult(gold.length, ERROR, errors=tuple(errors))
    in_gold, in_test = params.counted(gold.brackets), params.counted(test.brackets)
    return SentenceResult(
        gold.length,
        ERROR if errors else OK,
        count_matches(in_gold, in_test, params),
        len(in_gold),
        len(in_test),
        count_crossing(in_gold, in_test),
        len(gold.words),
        sum(params.same_label(a, b) for a, b in zip(gold.tags, test.tags, strict=True)),
        tuple(errors),
    )


def count_matches(
    gold: Iterable[tuple[int, int, str]],
    test: Iterable[tuple[int, int, str]],
    params: EvalbParameters,
) -> int:
    """Return the number of gold brackets that match an unused test bracket. Brackets match if span
    and (when labelled) label do. The order of gold brackets matters only where EQ_LABEL is not
    transitive."""
    unused: dict[tuple[int, int], list[str]] = {}
    for start, end, label in test:
        unused.setdefault((start, end), []).append(label)
    matched = 0
    for start, end, label in gold:
        candidates = unused.get((start, end), [])
        for position, other in enumerate(candidates):
            if not params.labeled or params.same_label(label, other):
                del candidates[position]
                matched += 1
                break
    return matched


def count_crossing(
    gold: Iterable[tuple[int, int, str]], test: Iterable[tuple[int, int, str]]
) -> int:
    """Return the number of test brackets that cross a gold bracket."""
    ours, theirs = (
        np.array([bracket[:2] for bracket in side], int).reshape(-1, 2) for side in (gold, test)
    )
    start, end = ours.T
    first, last = theirs[:, :1], theirs[:, 1:]
    crossing = (start < first) & (first < end) & (end < last)
    crossing |= (first < start) & (start < last) & (last < end)
    return int(crossing.any(axis=1).sum())


def _quotes_to_put_back(
    gold: Bracketing, test: Bracketing, deleted: Container[str]
) -> tuple[Counter[int], Counter[int]]:
    """Return the numbers of quotes that one side's tag deleted and the other's kept, at equal
    places, on each side. A quote that is put back moves those after it."""
    back = Counter[int](), Counter[int]()
    ours, theirs = ([place for place, _ in side.quotes] for side in (gold, test))
    for i, (_, tag) in enumerate(test.quotes):
        place = theirs[i]
        for j, (_, other) in enumerate(gold.quotes):
            if ours[j] != place or (other in deleted) == (tag in deleted):
                continue
            side, places, at = (0, ours, j) if other in deleted else (1, theirs, i)
            back[side][at] += 1
            places[at:] = [later + 1 for later in places[at:]]
    return back


def evaluate(
    gold_lines: Iterable[object],
    test_lines: Iterable[object],
    params: EvalbParameters | None = None,
) -> EvalbReport:
    """Compare two files of trees, one per line (or trees whose `str()` is the bracketing).

    params: `nk` by default. Different numbers of lines are an error of the report, as in EVALB;
    sentences that both files have are scored.
    """
    params = params or EvalbParameters.load("nk")
    sentences: list[SentenceResult] = []
    messages: list[str] = []
    aborted = False
    for line, (gold, test) in enumerate(zip_longest(gold_lines, test_lines), 1):
        result: SentenceResult | None = None
        errors: tuple[str, ...]
        if gold is None or test is None:
            longer = "test" if gold is None else "gold"
            errors = (f"Number of lines unmatch (too many lines in {longer} file)",)
        else:
            try:
                result = score_sentence(gold, test, params)
                errors = result.errors
            except EvalbReadError as error:
                errors, aborted = (str(error),), True
        left = params.max_errors + 2 - len(messages)
        messages += [f"{line} : {error}" for error in errors[:left]]
        aborted |= len(errors) >= left
        if aborted or result is None:
            break
        sentences.append(result)
    return EvalbReport(tuple(sentences), params, tuple(messages), aborted)


def read_lines(path: str | Path) -> list[str]:
    """Return the lines of a file, maybe compressed, byte for byte and split at line feeds only."""
    text = read_bytes(path).decode("utf8", errors="surrogateescape")
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines
