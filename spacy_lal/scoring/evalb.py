"""EVALB in Python: labelled bracket recall, precision and F1 of two files of trees.

Reproduces every number that the C program of Satoshi Sekine and Michael Collins (public domain)
prints, with its repair of mistagged quotes, sentence errors and stop after too many of them.
Sentences beyond the program's limits (200 words, 200 brackets, 5,000 bytes a line) are scored by
the same rules.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import resources
from itertools import zip_longest
from pathlib import Path

from ..formats.files import read_bytes

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
    def load(cls, prm: str | Path) -> EvalbParameters:
        """Load one of `NAMED`, in upper or lower case, or else a .prm file. Raises
        FileNotFoundError, or ValueError for a malformed number or pair."""
        name = str(prm).lower()
        return _named(name) if name in NAMED else cls.from_lines(_prm_lines(Path(prm)), str(prm))

    @classmethod
    def from_lines(cls, lines: Iterable[str], source: str) -> EvalbParameters:
        """Parse `KEYWORD value` lines and `#` comments. Unknown keywords warn; DEBUG is ignored."""
        sets: dict[str, set[str]] = {
            key: set() for key in ("DELETE_LABEL", "DELETE_LABEL_FOR_LENGTH", "QUOTE_LABEL")
        }
        pairs: dict[str, set[tuple[str, str]]] = {"EQ_LABEL": set(), "EQ_WORD": set()}
        numbers = {"LABELED": 1, "CUTOFF_LEN": 40, "MAX_ERROR": 10, "DEBUG": 0}
        for number, line in enumerate(lines, 1):
            if line.startswith("#") or len(line.rstrip()) < 3:
                continue
            key, *rest = line.rstrip().split(None, 1)
            value = rest[0] if rest else ""
            wanted = ""
            if key in sets:
                sets[key].add(value)
            elif key in pairs:
                wanted = "" if len(two := value.split()) == 2 else "two values"
                pairs[key] |= set() if wanted else {(two[0], two[1]), (two[1], two[0])}
            elif key in numbers:
                digits = re.match(r"[+-]?\d+", value)
                wanted = "" if digits else "a number"
                numbers[key] = int(digits[0]) if digits else 0
            else:
                warnings.warn(f"{source}, line {number}: unknown keyword {key}", stacklevel=2)
            if wanted:
                raise ValueError(f"{source}, line {number}: {key} requires {wanted}: {value!r}")
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

    def same_word(self, a: str, b: str) -> bool:
        return a == b or (a, b) in self.equal_words


@lru_cache
def _named(name: str) -> EvalbParameters:
    path = resources.files("spacy_lal.scoring") / "prm" / f"{name}.prm"
    return EvalbParameters.from_lines(path.read_text(encoding="utf8").split("\n"), name)


def _prm_lines(path: Path) -> list[str]:
    if not path.is_file():
        raise FileNotFoundError(
            f"EVALB parameter file not found: {path}; the names are {', '.join(NAMED)}"
        )
    return read_lines(path)


def _cut(label: str) -> str:
    return _CUT.sub("", label) if "-" in label or "=" in label else label


@dataclass
class _Quote:
    """A terminal that may be a mistagged quote, and its place if it is put back."""

    word: str
    tag: str
    index: int
    bracket: int
    open_brackets: list[int]


@dataclass
class Bracketing:
    """A sentence in EVALB's view: kept words, their tags, and brackets in order of opening. The end
    of a bracket is -1 if it is never closed. `length` counts words for the cut-off."""

    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    length: int = 0
    balanced: bool = True
    quotes: list[_Quote] = field(default_factory=list)

    @classmethod
    def from_string(cls, text: str, params: EvalbParameters) -> Bracketing:
        """Read one bracketed tree of any depth. Raises EvalbReadError on stray text."""
        self = cls()
        words, tags, starts = self.words, self.tags, self.starts
        stack: list[int] = []
        for token in _TOKEN.finditer(text):
            label, word, leaf, close, stray = token.groups()
            if leaf:
                if label not in params.delete_labels_for_length:
                    self.length += 1
                if label in params.quote_labels and word in _QUOTES:
                    quote = _Quote(word, label, len(words), len(starts), stack.copy())
                    self.quotes.append(quote)
                if label not in params.delete_labels:
                    words.append(word)
                    tags.append(label)
            elif close:
                if stack:
                    self.ends[stack.pop()] = len(words)
                else:
                    self.balanced = False
            elif stray:
                raise EvalbReadError(f"text outside a terminal: {stray!r}")
            else:
                stack.append(len(starts))
                starts.append(len(words))
                self.ends.append(-1)
                self.labels.append(label)
        self.balanced = self.balanced and not stack
        return self

    @property
    def brackets(self) -> Iterator[tuple[int, int, str]]:
        return zip(self.starts, self.ends, self.labels, strict=True)

    def reinsert(self, quote: _Quote) -> None:
        """Put back a deleted quote and make room for it in the brackets around and after it."""
        self.words.insert(quote.index, quote.word)
        self.tags.insert(quote.index, quote.tag)
        for later in range(quote.bracket, len(self.starts)):
            self.starts[later] += 1
            self.ends[later] += 1
        for opened in quote.open_brackets:
            self.ends[opened] += 1


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0


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
        return _percent(self.matched, self.gold)

    @property
    def precision(self) -> float:
        return _percent(self.matched, self.test)

    @property
    def tag_accuracy(self) -> float:
        return _percent(self.tags, self.words)

    @property
    def complete(self) -> bool:
        return self.matched == self.gold == self.test


@dataclass(frozen=True)
class Summary:
    """Sums over valid sentences. The measures are percentages."""

    results: Sequence[SentenceResult]

    @cached_property
    def valid(self) -> list[SentenceResult]:
        return [result for result in self.results if result.status == OK]

    def sum(self, name: str) -> int:
        """Return the sum of a column of the table."""
        return sum(getattr(result, name) for result in self.valid)

    def _share(self, have_it: Callable[[SentenceResult], bool]) -> float:
        return _percent(sum(map(have_it, self.valid)), len(self.valid))

    @property
    def recall(self) -> float:
        return _percent(self.sum("matched"), self.sum("gold"))

    @property
    def precision(self) -> float:
        return _percent(self.sum("matched"), self.sum("test"))

    @property
    def f1(self) -> float:
        """F1 in percent, nan without matches."""
        p, r = self.precision, self.recall
        return 2 * p * r / (p + r) if p + r else float("nan")

    @property
    def complete_match(self) -> float:
        return self._share(lambda r: r.complete)

    @property
    def tag_accuracy(self) -> float:
        return _percent(self.sum("tags"), self.sum("words"))

    def lines(self) -> Iterator[str]:
        """Yield the twelve lines of EVALB's summary."""
        counts = {
            "Number of sentence": len(self.results),
            "Number of Error sentence": sum(r.status == ERROR for r in self.results),
            "Number of Skip  sentence": sum(r.status == SKIPPED for r in self.results),
            "Number of Valid sentence": len(self.valid),
        }
        measures = {
            "Bracketing Recall": self.recall,
            "Bracketing Precision": self.precision,
            "Bracketing FMeasure": self.f1,
            "Complete match": self.complete_match,
            "Average crossing": self.sum("crossing") / max(1, len(self.valid)),
            "No crossing": self._share(lambda r: r.crossing == 0),
            "2 or less crossing": self._share(lambda r: r.crossing <= 2),
            "Tagging accuracy": self.tag_accuracy,
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
        total = self.summary
        matched, gold, test, crossing = map(total.sum, ("matched", "gold", "test", "crossing"))
        brackets = (
            f"                {total.recall:6.2f} {total.precision:6.2f} {matched:6d}"
            f" {gold:5d} {test:5d}  {crossing:5d}"
        )
        rows += [
            rule,
            (brackets if gold and test else "")
            + f"  {total.sum('words'):5d} {total.sum('tags'):5d}   {total.tag_accuracy:6.2f}",
            "=== Summary ===",
            "",
            "-- All --",
            *total.lines(),
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
    gold, test = (Bracketing.from_string(str(tree), params) for tree in (gold_tree, test_tree))
    errors = [
        "Bracketing is unbalanced (too many open bracket)"
        for side in (gold, test)
        if not side.balanced
    ]
    if not test.words:
        return SentenceResult(gold.length, SKIPPED, errors=tuple(errors))
    if len(gold.words) != len(test.words):
        _repair_quotes(gold, test, params)
    if len(gold.words) != len(test.words):
        errors.append(f"Length unmatch ({len(gold.words)}|{len(test.words)})")
        return SentenceResult(gold.length, ERROR, errors=tuple(errors))
    for ours, theirs in zip(gold.words, test.words, strict=True):
        if not params.same_word(ours, theirs):
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
    """Return the number of test brackets that cross a gold bracket. At every inner fencepost, only
    the gold brackets that end first and that start last are needed, so each gold bracket takes O(n)
    time."""
    spans = {(start, end) for start, end, _ in gold if start < end}
    others = [(start, end) for start, end, _ in test if start < end]
    n = max((end for _, end in (*spans, *others)), default=0)
    first_end, last_start = [n + 1] * (n + 1), [-1] * (n + 1)
    for start, end in sorted(spans, key=lambda span: -span[1]):
        first_end[start + 1 : end] = [end] * (end - start - 1)
    for start, end in sorted(spans):
        last_start[start + 1 : end] = [start] * (end - start - 1)
    return sum(first_end[start] < end or last_start[end] > start for start, end in others)


def _repair_quotes(gold: Bracketing, test: Bracketing, params: EvalbParameters) -> None:
    """Put back quotes that one side's tag deleted and the other's kept, at equal positions."""
    deleted = params.delete_labels
    for i, theirs in enumerate(test.quotes):
        index = theirs.index
        for j, ours in enumerate(gold.quotes):
            if ours.index != index or (ours.tag in deleted) == (theirs.tag in deleted):
                continue
            side, at = (gold, j) if ours.tag in deleted else (test, i)
            side.reinsert(side.quotes[at])
            for later in side.quotes[at:]:
                later.index += 1


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

    def too_many(line: int, errors: Iterable[str]) -> bool:
        for error in errors:
            messages.append(f"{line} : {error}")
            if len(messages) > params.max_errors + 1:
                return True
        return False

    aborted = False
    for line, (gold, test) in enumerate(zip_longest(gold_lines, test_lines), 1):
        if gold is None or test is None:
            longer = "test" if gold is None else "gold"
            unmatched = f"Number of lines unmatch (too many lines in {longer} file)"
            aborted = too_many(line, [unmatched])
            break
        try:
            result = score_sentence(gold, test, params)
        except EvalbReadError as error:
            messages.append(f"{line} : {error}")
            aborted = True
            break
        if aborted := too_many(line, result.errors):
            break
        sentences.append(result)
    return EvalbReport(tuple(sentences), params, tuple(messages), aborted)


def read_lines(path: str | Path) -> list[str]:
    """Return the lines of a file, maybe compressed, byte for byte and split at line feeds only."""
    text = read_bytes(path).decode("utf8", errors="surrogateescape")
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def evaluate_files(
    gold: str | Path, test: str | Path, params: EvalbParameters | None = None
) -> EvalbReport:
    """Compare two files of trees like `evaluate`. Raises FileNotFoundError for a missing file,
    ValueError for a blank one."""
    for path in (gold, test):
        if not Path(path).is_file():
            raise FileNotFoundError(f"file of trees not found: {path}")
    gold_lines, test_lines = read_lines(gold), read_lines(test)
    for path, lines in ((gold, gold_lines), (test, test_lines)):
        if not any(map(str.strip, lines)):
            raise ValueError(f"no trees in {path}")
    return evaluate(gold_lines, test_lines, params)
