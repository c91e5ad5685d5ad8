"""Corruption of correct sentences, with labels of wrong tokens.

Labels follow the error detection data of Rei and Yannakoudakis 2016, "Compositional Sequence
Labeling Models for Error Detection in Learner Writing" (ACL): a token is an error if it was changed
or inserted, or if a word is missing before it.
"""

from __future__ import annotations

import math
from bisect import bisect, bisect_left
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import accumulate
from operator import attrgetter
from random import Random

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..annotations.grammar_errors import CORRECT, ERROR, set_errors
from .error_model import ErrorModel
from .sites import Change, Site, change_at, find_sites, first_word, uncapitalised

REPLACED, MISSING, UNNECESSARY = "R", "M", "U"
"""Labels of a replaced token, of a token after a missing word, and of an unnecessary token."""

_SHAPE = 1.5
_BLOCK = 512
"""Number of sites that are drawn from together; few sentences have more."""
_LEFT = frozenset(",.;:!?)]}%…")


def corrupt_words(
    words: Sequence[str],
    spaces: Sequence[bool],
    model: ErrorModel,
    rate: float,
    random: Random,
    *,
    types: bool = False,
) -> tuple[list[str], list[bool], list[str]]:
    """Return a sentence with errors: its words, spaces and labels.

    words, spaces: the tokens, and whether whitespace follows each.
    rate: the expected share of tokens that are errors, from 0 to 1.
    types: whether labels are `REPLACED`, `MISSING` and `UNNECESSARY` instead of `ERROR`.
    A token is correct if only its capital changes because another word begins the sentence.

    The number of errors has a negative binomial distribution: a sentence's rate is drawn from a
    gamma distribution with mean `rate` and shape 1.5, its number of errors from a Poisson
    distribution. At a rate of 0.09, some 30 % of the sentences have no error, as in learners'
    essays.
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"the rate of errors must be from 0 to 1, not {rate}")
    if len(words) != len(spaces):
        raise ValueError(
            f"each word needs a value that says whether a space follows: got {len(words)} "
            f"words, but {len(spaces)} spaces"
        )
    own_rate = random.gammavariate(_SHAPE, rate / _SHAPE) if rate else 0.0
    wanted = _poisson(own_rate * len(words), random)
    changes = draw_changes(words, spaces, model, wanted, random) if wanted else []
    return apply_changes(words, spaces, changes, model, types=types)


def apply_changes(
    words: Sequence[str],
    spaces: Sequence[bool],
    changes: Sequence[Change],
    model: ErrorModel,
    *,
    types: bool = False,
) -> tuple[list[str], list[bool], list[str]]:
    """Apply ordered changes that don't overlap; return the results of `corrupt_words`."""
    built = _Builder(words, spaces)
    for change in changes:
        built.change(_trimmed(change, words))
    built.copy_until(len(words))
    built.right_capitals(model)
    if built.words == list(words):
        return list(words), list(spaces), [CORRECT] * len(words)
    labels = built.labels if types else [ERROR if label else CORRECT for label in built.labels]
    return built.words, built.spaces, labels


def draw_changes(
    words: Sequence[str], spaces: Sequence[bool], model: ErrorModel, wanted: int, rng: Random
) -> list[Change]:
    """Return changes, in order, that make about `wanted` tokens wrong, or fewer for lack of places.
    They don't overlap. Neighbours of insertions and deletions don't change. There is no deletion at
    the end, where no token would follow to be labelled."""
    changes: list[Change] = []
    last = max((at for at, word in enumerate(words) if word.strip()), default=-1)
    for site in _drawn(find_sites(words, spaces, model), rng) if wanted > 0 else ():
        change = change_at(site, words, model, rng)
        if change is None:
            continue
        # changes don't overlap, so a conflicting change is a neighbour
        at = bisect_left(changes, change.start, key=attrgetter("start"))
        if any(_conflict(change, other) for other in changes[max(0, at - 1) : at + 1]):
            continue
        trimmed = _trimmed(change, words)
        if not trimmed.new and trimmed.end > last:
            continue
        cost = max(1, len(trimmed.new))
        # takes the share of too large changes that keeps the expected number of errors
        if cost > wanted and rng.random() * cost >= wanted:
            continue
        changes.insert(at, change)
        wanted -= cost
        if wanted <= 0:
            break
    return changes if _leaves_a_word(words, changes) else []


def _drawn(sites: list[Site], rng: Random) -> Iterator[Site]:
    """Yield all sites, each drawn by weight from the remaining ones. Sites are drawn in blocks, so
    that the time for one grows with the root of the text's length."""
    size = max(_BLOCK, math.isqrt(len(sites)))
    blocks = [sites[at : at + size] for at in range(0, len(sites), size)]
    sums = [list(accumulate(site.weight for site in block)) for block in blocks]
    while blocks:
        ends = list(accumulate(block_sums[-1] for block_sums in sums))
        point = rng.random() * ends[-1]
        k = min(bisect(ends, point), len(ends) - 1)
        within = bisect(sums[k], point - ends[k - 1] if k else point)
        yield blocks[k].pop(min(within, len(blocks[k]) - 1))
        sums[k] = list(accumulate(site.weight for site in blocks[k]))
        if not blocks[k]:
            del blocks[k], sums[k]


def sentence_random(seed: int, words: Sequence[str], round: int) -> Random:
    """Return a sentence's random generator, a function of seed, words and `round` alone. round:
    number of earlier corruptions of the same sentence."""
    key = f"{seed}\n{round}\n" + "\n".join(words)
    return Random(blake2b(key.encode("utf8", "surrogatepass"), digest_size=16).digest())


def corrupt_doc(
    doc: Doc,
    vocab: Vocab,
    model: ErrorModel,
    rate: float,
    *,
    seed: int = 0,
    round: int = 0,
    types: bool = False,
) -> Doc:
    """Return a new Doc with errors, labelled in `doc.spans["errors"]`. Each sentence has its own
    `sentence_random`; a Doc without boundaries is one sentence. Of the annotation, only sentence
    boundaries and whitespace are kept."""
    words: list[str] = []
    spaces: list[bool] = []
    labels: list[str] = []
    starts: list[bool | int | None] = []
    has_sentences = doc.has_annotation("SENT_START")
    for sentence in doc.sents if has_sentences else [doc]:
        old = [token.text for token in sentence]
        whitespace = [bool(token.whitespace_) for token in sentence]
        random = sentence_random(seed, old, round)
        new = corrupt_words(old, whitespace, model, rate, random, types=types)
        words += new[0]
        spaces += new[1]
        labels += new[2]
        starts += [at == 0 for at in range(len(new[0]))]
    sent_starts = starts if has_sentences else None
    corrupted = Doc(vocab, words=words, spaces=spaces, sent_starts=sent_starts)
    set_errors(corrupted, labels)
    return corrupted


class _Builder:
    def __init__(self, words: Sequence[str], spaces: Sequence[bool]) -> None:
        self.old_words = words
        self.old_spaces = spaces
        self.words: list[str] = []
        self.spaces: list[bool] = []
        self.labels: list[str] = []
        self._read = 0
        self._missing = False  # whether a word before the next one is missing
        self._first = first_word(words)
        self._first_is_at = -1  # place of the word with the sentence's capital, -1 for none

    def copy_until(self, end: int) -> None:
        for at in range(self._read, end):
            self._put(self.old_words[at], self.old_spaces[at], CORRECT, at == self._first)
        self._read = end

    def change(self, change: Change) -> None:
        self.copy_until(change.start)
        old = self.old_words[change.start : change.end]
        space = self.old_spaces[change.end - 1] if old else True
        self._read = change.end
        if not change.new:
            self._missing = self._missing or bool(old)
            if self.words and old:
                self.spaces[-1] = self._space_without(old, space)
            return
        inside = self.old_spaces[change.start : change.end - 1]
        if len(old) != len(change.new):
            inside = [not _attaches(word) for word in change.new[1:]]
        if self.words and _attaches(change.new[0]) != bool(old and _attaches(old[0])):
            self.spaces[-1] = not _attaches(change.new[0])
        was_first = change.start <= self._first < change.end
        label = REPLACED if old else UNNECESSARY
        for word, after in zip(change.new, [*inside, space], strict=True):
            self._put(word, after, label, was_first and word == self.old_words[self._first])

    def right_capitals(self, model: ErrorModel) -> None:
        """Move the sentence's capital to the word that now begins it."""
        if self._first >= len(self.old_words):
            return
        initial = self.old_words[self._first]
        begins = first_word(self.words)
        if not initial[:1].isupper() or begins >= len(self.words):
            return
        now = self.words[begins]
        self.words[begins] = now[:1].upper() + now[1:]
        if self._first_is_at not in (-1, begins) and uncapitalised(initial) in model.words:
            self.words[self._first_is_at] = uncapitalised(initial)

    def _put(self, word: str, space: bool, label: str, is_first: bool) -> None:
        if self._missing and not word.isspace():
            label = label or MISSING
            self._missing = False
        if is_first:
            self._first_is_at = len(self.words)
        self.words.append(word)
        self.spaces.append(space)
        self.labels.append(label)

    def _space_without(self, gone: Sequence[str], after: bool) -> bool:
        """Return whether whitespace follows the word before deleted words."""
        before = self.spaces[-1]
        if gone[0] in ("-", "–", "—"):
            return True
        if before or not after:
            return before and after
        return _attaches(gone[0]) or self.words[-1][-1:].isalnum()


def _attaches(word: str) -> bool:
    return word in _LEFT or word[:1] in ("'", "’") or word.lower() in ("n't", "n’t", "-")


def _conflict(one: Change, two: Change) -> bool:
    if one.start > two.start:
        one, two = two, one
    if one.end > two.start or one.start == two.start:
        return True
    moves = len(one.new) != one.end - one.start or len(two.new) != two.end - two.start
    return moves and one.end == two.start


def _leaves_a_word(words: Sequence[str], changes: Sequence[Change]) -> bool:
    gone = {at for change in changes if not change.new for at in range(change.start, change.end)}
    return any(any(map(str.isalnum, word)) for at, word in enumerate(words) if at not in gone)


def _trimmed(change: Change, words: Sequence[str]) -> Change:
    """Return the change without unchanged words at its ends, ignoring the sentence's capital."""
    start, end, new = change.start, change.end, change.new
    form = uncapitalised if start == first_word(words) and len(new) != end - start else str
    while start < end and new and words[start] == new[0]:
        start, new = start + 1, new[1:]
    while start < end and new and form(words[end - 1]) == form(new[-1]):
        end, new = end - 1, new[:-1]
    return Change(start, end, new)


def _poisson(mean: float, random: Random) -> int:
    """Return a Poisson variate by Knuth's method."""
    count = 0
    while mean > 500.0:  # a sum of two, before the exponential is 0
        mean -= 500.0
        count += _poisson(500.0, random)
    limit, product = math.exp(-mean), random.random()
    while product > limit:
        product *= random.random()
        count += 1
    return count
