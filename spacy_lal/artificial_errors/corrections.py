"""Errors learned from corrected text.

Frequencies follow Rei et al. 2017, section 3: the share of each correct phrase's occurrences in the
corrected text that were written in another way.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from ..formats.m2 import Edit, words_of
from ..formats.parallel import in_common
from .clean_text import FORM, TextCounts, calibrated, families_of
from .error_model import ANY, START, ErrorKind, ErrorModel, Insertion, Noise, key_of
from .sites import SHORTEST

CORRECTIONS = "corrections"
"""The kind of errors that are learned from corrections."""

_LONGEST = 3
"""Greatest length of a learned phrase, in words."""
_SMOOTHING = 5.0
"""Occurrences added to those of every phrase, so that rare ones are not always wrong."""
_MOST_INSERTED = 50


class CorrectionCounts:
    """Counts of the errors in corrected sentences. text: the corrected sentences, as clean text.
    errors: number of errors."""

    def __init__(self) -> None:
        self.text = TextCounts()
        self.errors = 0
        self._tokens = 0
        self._phrases: Counter[str] = Counter()
        self._replaced: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._inserted: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
        self._noise: Counter[Noise] = Counter()

    def add(self, original: Sequence[str], edits: Iterable[Edit]) -> None:
        """Count a sentence as it was written, with the edits of one annotator. Edits without a
        correction are ignored, as are edits that overlap an earlier one."""
        corrected: list[str] = []
        places: list[Place] = []
        read = 0
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
            if edit.start < read or edit.correction is None:
                continue
            corrected += original[read : edit.start]
            words = words_of(edit.correction)
            written = tuple(original[edit.start : edit.end])
            places.append((len(corrected), len(corrected) + len(words), written))
            corrected += words
            read = edit.end
        corrected += original[read:]
        self._tokens += len(corrected)
        self.text.add(corrected)
        keys = [key_of(word) for word in corrected]
        for length in range(1, _LONGEST + 1):
            for at in range(len(keys) - length + 1):
                self._phrases[" ".join(keys[at : at + length])] += 1
        around = [START, *keys]
        self._phrases[START] += 1
        for place in places:
            for error in _minimal(*place, corrected):
                self._count(*error, corrected, around)

    def _count(
        self, at: int, until: int, written: tuple[str, ...], words: list[str], keys: list[str]
    ) -> None:
        """Count an error at the correct `words` [at, until); `keys` begin with `START`."""
        right = tuple(words[at:until])
        if max(len(right), len(written)) > _LONGEST or not all(map(_is_plain, right + written)):
            return
        self.errors += 1
        wrong = " ".join(map(key_of, written))
        key = " ".join(map(key_of, right))
        if not right:
            if at + 1 < len(keys):
                self._inserted[wrong][keys[at], keys[at + 1]] += 1
        elif key != wrong:
            if len(right) == 2 and written == right[::-1]:
                self._noise[Noise.SWAP] += 1
            else:
                self._replaced[key][wrong] += 1
        elif at and right[0][:1] != written[0][:1]:  # not a change of quotes alone
            self._noise[Noise.LOWER if right[0][:1].isupper() else Noise.CAPITAL] += 1

    def model(self, lang: str, text: TextCounts | None = None) -> ErrorModel:
        """Return a model of the corrected errors and of similar ones.

        text: clean text with more words. Misspellings and changes of form of its words are as
        frequent as in the corrections. Raises ValueError if there are no corrections.
        """
        if not self.errors:
            raise ValueError("no corrections to learn errors from")
        text = text or self.text
        closed = text.closed()
        families = families_of(self.text, closed)
        if text is not self.text:
            families |= families_of(text, closed)
        counts = Counter[str](self._noise)
        letters: dict[str, dict[str, float]] = {}
        table: dict[str, dict[str, float]] = {}
        known = self.text.counts
        for right, others in self._replaced.items():
            for wrong, count in others.items():
                often = count > 1
                if wrong in families.get(right, {}):
                    counts[FORM] += count
                    continue
                if wrong and wrong not in known and _is_misspelling(right, wrong):
                    how, old, new = _letters_changed(right, wrong)
                    counts[how] += count
                    if how == Noise.SUBSTITUTE and old:
                        of_old = letters.setdefault(old, {})
                        of_old[new] = of_old.get(new, 0.0) + count
                elif often := often or _is_usual(right, wrong):
                    counts[CORRECTIONS] += count
                if often:
                    weight = count / (self._phrases[right] + _SMOOTHING)
                    table.setdefault(right, {})[wrong] = float(f"{weight:.4g}")
        insertions = self._insertions()
        counts[CORRECTIONS] += sum(self._inserted[word].total() for word in insertions)
        model = ErrorModel(
            lang,
            {CORRECTIONS: ErrorKind(1.0, table, insertions), FORM: ErrorKind(1.0, families)},
            noise=dict.fromkeys(Noise, 1.0),
            words=self.text.well_known() | text.well_known(),
            closed=closed,
            letters=letters or text.vowel_letters,
        )
        shares = {name: 100 * count / self._tokens for name, count in counts.items()}
        return calibrated(model, self.text.sample, shares)

    def _insertions(self) -> dict[str, Insertion]:
        """Return the 50 most frequent unnecessary words of those met twice or more.

        A word's weight between two others is its frequency times the lift of each neighbour: its
        relative frequency beside the neighbour, smoothed for unseen pairs. Words inserted less than
        20 times never follow unseen neighbours.
        """
        frequent = Counter({word: where.total() for word, where in self._inserted.items()})
        found = {}
        for word, total in frequent.most_common(_MOST_INSERTED):
            if total < 2:
                break
            base = total / self._tokens
            after, before = Counter[str](), Counter[str]()
            for (previous, following), count in self._inserted[word].items():
                after[previous] += count
                before[following] += count
            found[word] = Insertion(
                {ANY: 0.5 * base, **_lifted(after, self._phrases, base, base)},
                _lifted(before, self._phrases, base, 1.0) | ({ANY: 0.5} if total >= 20 else {}),
            )
        return found


def _lifted(
    found: Counter[str], occurrences: Counter[str], base: float, scale: float
) -> dict[str, float]:
    smoothing = 0.5 / base  # as many occurrences as have half an insertion
    return {
        word: float(f"{scale * (count + 0.5) / ((occurrences[word] + smoothing) * base):.4g}")
        for word, count in found.items()
    }


Place = tuple[int, int, tuple[str, ...]]
"""Correct words [start, end), and their written form."""


def _minimal(
    at: int, until: int, written: tuple[str, ...], corrected: Sequence[str]
) -> Iterator[Place]:
    """Yield an error without its correct words, and word by word if both sides are equally long."""
    same = in_common(corrected[at:until], written)
    at, written = at + same, written[same:]
    behind = in_common(corrected[at:until][::-1], written[::-1])
    until, written = until - behind, written[: len(written) - behind]
    swapped = len(written) == 2 and tuple(corrected[at:until]) == written[::-1]
    pairs = list(zip(corrected[at:until], written, strict=False))
    by_word = until - at == len(written) and all(
        one == two or _is_like(one, two, 0.5) for one, two in pairs
    )
    if by_word and not swapped:
        for place, (right, wrong) in enumerate(pairs, start=at):
            if right != wrong:
                yield place, place + 1, (wrong,)
    elif at < until or written:
        yield at, until, written


def _is_plain(word: str) -> bool:
    return bool(word.strip()) and not any(letter.isdigit() or letter in "/@_\\" for letter in word)


def _is_usual(right: str, wrong: str) -> bool:
    """Return whether an error met once is kept: at most one word, no punctuation for a word."""
    return " " not in right + wrong and (not wrong or right.isalpha() == wrong.isalpha())


def _is_like(right: str, wrong: str, least: float) -> bool:
    return SequenceMatcher(None, right, wrong, autojunk=False).ratio() >= least


def _is_misspelling(right: str, wrong: str) -> bool:
    plain = right.isalpha() and wrong.isalpha() and len(right) >= SHORTEST
    return plain and _is_like(right, wrong, 0.7)


def _letters_changed(right: str, wrong: str) -> tuple[Noise, str, str]:
    """Return the noise of letters, and for SUBSTITUTE the right and the wrong letters. More than
    one change has no letters."""
    start = in_common(right, wrong)
    end = in_common(right[start:][::-1], wrong[start:][::-1])
    old, new = right[start : len(right) - end], wrong[start : len(wrong) - end]
    before, after = right[start - 1 : start], right[start : start + 1]
    if len(old) == 2 and new == old[::-1]:
        return Noise.TRANSPOSE, "", ""
    if len(old) == 1 and not new:
        return Noise.OMIT, "", ""
    if not old and new in (before, after):
        return Noise.DOUBLE, "", ""
    if not old and len(new) == 1:
        old, new = before, before + new
    return Noise.SUBSTITUTE, *((old, new) if max(len(old), len(new)) <= 3 else ("", ""))
