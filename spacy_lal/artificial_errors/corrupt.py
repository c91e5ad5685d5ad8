"""Corruption of correct sentences, with labels of wrong tokens.

Labels follow the error detection data of Rei and Yannakoudakis 2016, "Compositional Sequence
Labeling Models for Error Detection in Learner Writing" (ACL): a token is an error if it was changed
or inserted, or if a word is missing before it.
"""

from bisect import bisect_left
from collections.abc import Sequence
from hashlib import blake2b
from operator import attrgetter
from random import Random
from typing import NamedTuple

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..annotations.grammar_errors import CORRECT, ERROR, Correction, set_errors
from ..formats.edit_kinds import kind_of
from ..formats.parallel import in_common
from .error_model import ErrorModel
from .grammar_rules import GrammarRules
from .sites import Change, Site, change_at, find_sites, first_word, uncapitalised

REPLACED, MISSING, UNNECESSARY = "R", "M", "U"
"""Labels of a replaced token, of a token after a missing word, and of an unnecessary token."""

_SHAPE = 1.5
_LEFT = frozenset(",.;:!?)]}%…")


class Corrupted(NamedTuple):
    """A sentence with errors: its words, whether whitespace follows each, labels, and, where an
    error begins, what would be right there (`annotations.grammar_errors.set_errors`)."""

    words: list[str]
    spaces: list[bool]
    labels: list[str]
    corrections: dict[int, str]


def corrupt_words(
    words: Sequence[str],
    spaces: Sequence[bool],
    model: ErrorModel,
    rate: float,
    random: Random,
    *,
    types: bool = False,
    tags: Sequence[str] = (),
    sites: Sequence[Site] = (),
) -> Corrupted:
    """Return a sentence with errors.

    words, spaces: the tokens, and whether whitespace follows each.
    rate: the expected share of tokens that are errors, from 0 to 1.
    types: whether labels are `REPLACED`, `MISSING` and `UNNECESSARY` instead of `ERROR`; with Penn
    tags the kind follows, such as "R:VERB:SVA".
    sites: more places of errors than the model's.
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
    wanted, time = 0, random.expovariate(1.0)
    while time < own_rate * len(words):
        wanted, time = wanted + 1, time + random.expovariate(1.0)
    if not wanted:
        return Corrupted(list(words), list(spaces), [CORRECT] * len(words), {})
    changes = draw_changes(words, spaces, model, wanted, random, sites)
    return apply_changes(words, spaces, changes, model, types=types, tags=tags)


def apply_changes(
    words: Sequence[str],
    spaces: Sequence[bool],
    changes: Sequence[Change],
    model: ErrorModel,
    *,
    types: bool = False,
    tags: Sequence[str] = (),
) -> Corrupted:
    """Apply ordered changes that don't overlap."""
    steps: list[tuple[Change, str]] = []
    read = 0
    for change in [*(_trimmed(c, words) for c in changes), Change(len(words), len(words), ())]:
        steps += [(Change(at, at + 1, (words[at],)), CORRECT) for at in range(read, change.start)]
        label = REPLACED if change.end > change.start else UNNECESSARY
        kind = _kind(change, words, tags)
        steps.append((change, f"{label}:{kind}" if kind else label))
        read = change.end
    found: list[str] = []
    between: list[bool] = []
    labels: list[str] = []
    corrections: dict[int, str] = {}
    first = first_word(words)
    capital = -1  # place of the word with the sentence's capital
    missing = CORRECT  # the label of the next word, if one is missing before it
    gone = ""  # the missing words
    for (start, end, new, _), label in steps:
        old = words[start:end]
        space = spaces[end - 1] if old else True
        if not new:
            missing = missing or (MISSING + label[1:] if old else CORRECT)
            gone = " ".join([*([gone] if gone else []), *old])
            if found and old:
                between[-1] = _space_without(old, found[-1], between[-1], space)
            continue
        inside = spaces[start : end - 1]
        if len(old) != len(new):
            inside = [not _attaches(word) for word in new[1:]]
        if label and found and _attaches(new[0]) != bool(old and _attaches(old[0])):
            between[-1] = not _attaches(new[0])
        if label:
            corrections[len(found)] = " ".join(old)
        for word, after in zip(new, [*inside, space], strict=True):
            if start <= first < end and word == words[first]:
                capital = len(found)
            if missing and not label and not word.isspace():
                corrections[len(found)] = gone
            labels.append(label or (CORRECT if word.isspace() else missing))
            missing, gone = (missing, gone) if word.isspace() else (CORRECT, "")
            found.append(word)
            between.append(after)
    begins = first_word(found)
    if first < len(words) and words[first][:1].isupper() and begins < len(found):
        # another word begins the sentence
        found[begins] = found[begins][:1].upper() + found[begins][1:]
        if capital not in (-1, begins) and uncapitalised(words[first]) in model.words:
            found[capital] = uncapitalised(words[first])
    if found == list(words):
        return Corrupted(list(words), list(spaces), [CORRECT] * len(words), {})
    if not types:
        labels = [ERROR if label else CORRECT for label in labels]
    return Corrupted(found, between, labels, corrections)


def draw_changes(
    words: Sequence[str],
    spaces: Sequence[bool],
    model: ErrorModel,
    wanted: int,
    rng: Random,
    more: Sequence[Site] = (),
) -> list[Change]:
    """Return changes, in order, that make about `wanted` tokens wrong, or fewer for lack of places.
    They don't overlap. Neighbours of insertions and deletions don't change. There is no deletion at
    the end, where no token would follow to be labelled. more: sites besides the model's."""
    changes: list[Change] = []
    last = max((at for at, word in enumerate(words) if word.strip()), default=-1)
    # in this order, each is drawn by weight from the remaining ones (Efraimidis and Spirakis 2006)
    sites = [*find_sites(words, spaces, model), *more]
    for site in sorted(sites, key=lambda site: rng.expovariate(site.weight)):
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
    gone = {at for change in changes if not change.new for at in range(change.start, change.end)}
    left = "".join(word for at, word in enumerate(words) if at not in gone)
    return changes if any(map(str.isalnum, left)) else []


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
    rules: GrammarRules | None = None,
) -> Doc:
    """Return a new Doc with errors, labelled in `doc.spans["errors"]`. Each sentence has its own
    `sentence_random`; a Doc without boundaries is one sentence. Of the annotation, only sentence
    boundaries and whitespace are kept. types: labels by kind, with corrections. rules: place errors
    by tags and heads, too; kinds are known in text with tags."""
    words: list[str] = []
    spaces: list[bool] = []
    labels: list[str] = []
    starts: list[bool | int | None] = []
    corrections: dict[int, list[Correction]] = {}
    has_sentences = doc.has_annotation("SENT_START")
    for sentence in doc.sents if has_sentences else [doc[:]]:
        old = [token.text for token in sentence]
        whitespace = [bool(token.whitespace_) for token in sentence]
        tags = [token.tag_ for token in sentence] if rules and doc.has_annotation("TAG") else ()
        random = sentence_random(seed, old, round)
        sites = () if rules is None else rules.sites(sentence)
        new = corrupt_words(
            old, whitespace, model, rate, random, types=types, tags=tags, sites=sites
        )
        for at, right in new.corrections.items() if types else ():
            corrections[len(words) + at] = [Correction(right, 1.0)]
        words += new.words
        spaces += new.spaces
        labels += new.labels
        starts += [at == 0 for at in range(len(new.words))]
    sent_starts = starts if has_sentences else None
    corrupted = Doc(vocab, words=words, spaces=spaces, sent_starts=sent_starts)
    set_errors(corrupted, labels, begins=corrections, corrections=corrections if types else None)
    return corrupted


def _space_without(gone: Sequence[str], before: str, space: bool, after: bool) -> bool:
    """Return whether whitespace follows the word before deleted words. space, after: whether it
    follows that word and the last deleted one."""
    if gone[0] in ("-", "–", "—"):
        return True
    if space or not after:
        return space and after
    return _attaches(gone[0]) or before[-1:].isalnum()


def _attaches(word: str) -> bool:
    return word in _LEFT or word[:1] in ("'", "’") or word.lower() in ("n't", "n’t", "-")


def _conflict(one: Change, two: Change) -> bool:
    if one.start > two.start:
        one, two = two, one
    if one.end > two.start or one.start == two.start:
        return True
    moves = len(one.new) != one.end - one.start or len(two.new) != two.end - two.start
    return moves and one.end == two.start


def _trimmed(change: Change, words: Sequence[str]) -> Change:
    """Return the change without unchanged words at its ends, ignoring the sentence's capital."""
    start, end, new, kind = change
    form = uncapitalised if start == first_word(words) and len(new) != end - start else str
    same = in_common(words[start:end], new)
    start, new = start + same, new[same:]
    behind = in_common([*map(form, words[start:end])][::-1], [*map(form, new)][::-1])
    return Change(start, end - behind, new[: len(new) - behind], kind)


def _kind(change: Change, words: Sequence[str], tags: Sequence[str]) -> str:
    """Return the kind of an error in a tagged sentence, "" without tags."""
    if change.kind or not tags or not (change.new or change.end > change.start):
        return change.kind if tags else ""
    place = slice(change.start, change.end)
    return kind_of(change.new, words[place], [""] * len(change.new), tags[place])
