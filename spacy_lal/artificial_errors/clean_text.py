"""Confusions of words, learned from clean text without a lexicon."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, permutations
from math import sqrt

from .error_model import (
    ANY,
    START,
    VOWELS,
    ErrorKind,
    ErrorModel,
    Insertion,
    Noise,
    Weights,
    key_of,
)
from .sites import find_sites, first_word

Families = dict[str, dict[str, float]]
"""Replacements of words, with weights."""
Alternation = tuple[str, str]
Sample = Sequence[tuple[Sequence[str], Sequence[bool]]]
"""Sentences as words, and whether whitespace follows each."""

FORM, SPACING, FUNCTION, PUNCTUATION = "form", "spacing", "function words", "punctuation"
"""The kinds of errors that are learned from correct text."""
SHARES: Weights = {
    **{FORM: 26.0, FUNCTION: 36.0, PUNCTUATION: 10.0, SPACING: 3.0},
    **{Noise.TRANSPOSE: 1.4, Noise.OMIT: 4.2, Noise.DOUBLE: 2.8, Noise.SUBSTITUTE: 5.6},
    **{Noise.LOWER: 2.0, Noise.CAPITAL: 1.0, Noise.SWAP: 2.0},
}
"""Default shares of each kind of error, in percent of all errors."""
ALL_NOISE = dict.fromkeys(Noise, 1.0)
"""Weights of noise, before `calibrated` gives it its share."""

_MOST_WORDS = 20_000
_MOST_NEIGHBOURS = 300
_SAMPLE = 30_000
_LONGEST_SUFFIX = 4
_SHORTEST_STEM = 3
_MOST_WEIGHT = 1.5


class TextCounts:
    """Counts of the words of a clean text. Words are tokens of letters only.

    forms: words within sentences, in their case. counts: all words, in lower case.
    lemmas: forms of each lemma; empty without lemmas. sample: the first 30,000 sentences.
    """

    def __init__(self) -> None:
        self.forms: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.lemmas: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.sample: list[tuple[list[str], list[bool]]] = []

    def add(
        self,
        words: Sequence[str],
        spaces: Sequence[bool] | None = None,
        lemmas: Sequence[str] | None = None,
    ) -> None:
        """Count a sentence. spaces: whether whitespace follows each word; always if None."""
        first = first_word(words)
        for at, word in enumerate(words):
            if word.isalpha():
                self.counts[word.lower()] += 1
                if at != first:
                    self.forms[word] += 1
                if lemmas and lemmas[at]:
                    self.lemmas[lemmas[at].lower()][word.lower()] += 1
        if len(self.sample) < _SAMPLE:
            self.sample.append((list(words), list(spaces or [True] * len(words))))

    def well_known(self, least: int = 3) -> frozenset[str]:
        """Return the 20,000 most frequent words with `least` occurrences, in their usual case.
        Abbreviations in capitals are left out. Raises ValueError if there are no words."""
        if not self.counts:
            raise ValueError("no words in the text to learn errors from")
        usual: dict[str, str] = {}
        for form, _ in self.forms.most_common():
            usual.setdefault(form.lower(), form)
        frequent = (word for word, count in self.counts.most_common() if count >= least)
        known = (usual[word] for word in frequent if word in usual)
        chosen = [word for word in known if len(word) == 1 or not word.isupper()]
        return frozenset(chosen[:_MOST_WORDS])

    def closed(self, most: int = 60, longest: int = 5) -> frozenset[str]:
        """Return probable function words: the most frequent words of at most `longest` letters."""
        short = [word for word, _ in self.counts.most_common() if len(word) <= longest]
        return frozenset(short[:most])

    @property
    def vowel_letters(self) -> Families:
        """Confusions of vowels, and of double consonants with single ones."""
        letters = Counter[str]()
        for word, count in self.counts.items():
            letters.update(word * min(count, 9))
        least = 0.002 * letters.total()
        frequent = [vowel for vowel in letters if vowel in VOWELS and letters[vowel] >= least]
        weight = 1.0 / max(1, len(frequent) - 1)
        table = {one: {two: weight for two in frequent if two != one} for one in frequent}
        return table | {c * 2: {c: 2.0} for c in letters if c not in VOWELS}


def suffix_alternations(
    words: Iterable[str], *, least: int = 3, stem: int = 5
) -> dict[Alternation, int]:
    """Return pairs of suffixes that alternate, with their numbers of stems.

    words: in lower case. Two suffixes of at most four letters, in alphabetical order, alternate if
    at least `least` stems, and 1 % of the stems of the most frequent alternation, have both
    suffixes. A stem is the common beginning of two words; stems below `stem` letters are ignored,
    as they share suffixes by chance ("plan", "plane").
    """
    found = Counter(pair for _, pair in _alternating(words, stem))
    enough = max(least, 0.01 * max(found.values(), default=0))
    return {pair: count for pair, count in found.items() if count >= enough}


def word_families(words: Collection[str], alternations: Mapping[Alternation, int]) -> Families:
    """Return for each word those that share its stem and alternate with its suffix. Weights are the
    square roots of the alternations' relative frequencies: the vocabulary has more nouns, and so
    more plurals, than the errors have."""
    families: Families = {}
    most = max(alternations.values(), default=1)
    for stem, pair in _alternating(words, _SHORTEST_STEM):
        if count := alternations.get(pair):
            one, two = (stem + suffix for suffix in pair)
            weight = sqrt(count / most)
            families.setdefault(one, {})[two] = weight
            families.setdefault(two, {})[one] = weight
    return families


def _alternating(words: Iterable[str], shortest: int) -> Iterator[tuple[str, Alternation]]:
    """Yield stems and pairs of their suffixes, whose first letters differ."""
    suffixes: defaultdict[str, set[str]] = defaultdict(set)
    for word in sorted(words):  # sorted, as the order of tables decides the result of a seed
        for length in range(min(_LONGEST_SUFFIX, len(word) - shortest) + 1):
            suffixes[word[: len(word) - length]].add(word[len(word) - length :])
    for stem, found in suffixes.items():
        for pair in combinations(sorted(found), 2):
            if pair[0][:1] != pair[1][:1]:
                yield stem, pair


def families_of(counts: TextCounts, closed: Collection[str], least: int = 3) -> Families:
    """Return other forms of the words not in `closed`, by suffix and, if known, by lemma, irregular
    ones included."""
    frequent = {word for word, count in counts.counts.items() if count >= least} - set(closed)
    families = word_families(frequent, suffix_alternations(frequent))
    for forms in counts.lemmas.values():
        for one, two in permutations(sorted(frequent & forms.keys()), 2):
            # of forms by the rules, the weight is known better
            families.setdefault(one, {}).setdefault(two, 0.5)
    return {
        word: {other: round(weight, 3) for other, weight in others.items()}
        for word, others in families.items()
    }


def neighbour_insertions(sample: Sample, inserted: Collection[str]) -> dict[str, Insertion]:
    """Return where words are plausible: between words that they often follow and often precede.

    A weight is the square root of the share of a neighbour's occurrences beside the word: an error
    is seldom where the word nearly always stands. Only the 300 most frequent neighbours that occur
    with the word three times count.
    """
    words: Counter[str] = Counter()
    after: defaultdict[str, Counter[str]] = defaultdict(Counter)
    before: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sentence, _ in sample:
        keys = [START, *map(key_of, sentence)]
        words.update(keys)
        for previous, following in pairwise(keys):
            if following in inserted:
                after[following][previous] += 1
            if previous in inserted:
                before[previous][following] += 1

    def shares(neighbours: Counter[str]) -> dict[str, float]:
        return {
            word: round(sqrt(count / words[word]), 3)
            for word, count in neighbours.most_common(_MOST_NEIGHBOURS)
            if count >= 3 and not any(letter.isdigit() for letter in word)
        }

    found = {word: Insertion(shares(after[word]), shares(before[word])) for word in after}
    return {word: table for word, table in found.items() if table.after and table.before}


def similar_words(sample: Sample, words: Collection[str], most: int = 5) -> Families:
    """Return for each of `words` the `most` others whose next words are most alike. The
    weight is Bhattacharyya's coefficient of the following words, from 0 to 1."""
    following: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sentence, _ in sample:
        for word, after in pairwise(map(key_of, sentence)):
            if word in words and after not in words:
                following[word][after] += 1
    roots = {
        word: {after: sqrt(count / counts.total()) for after, count in counts.items()}
        for word, counts in following.items()
    }
    families: Families = {}
    for one, own in roots.items():
        weights = {
            two: sum(root * theirs.get(after, 0.0) for after, root in own.items())
            for two, theirs in roots.items()
            if two != one
        }
        similar = sorted(weights, key=lambda two: -weights[two])[:most]
        families[one] = {two: round(weights[two], 4) for two in similar}
    return families


def spacing_errors(counts: TextCounts, least: int = 20) -> Families:
    """Return words to be split in two, and pairs to be joined, where all three are words. A part
    has at least two letters, three in a split word, and `least` occurrences."""
    known = {word for word, count in counts.counts.items() if count >= least and len(word) >= 2}
    found: Families = {}
    for word in sorted(known):
        for at in range(3, len(word) - 2):
            if word[:at] in known and word[at:] in known:
                found.setdefault(word, {})[f"{word[:at]} {word[at:]}"] = 1.0
    for sentence, _ in counts.sample:
        for one, two in pairwise(map(key_of, sentence)):
            if known.issuperset((one, two, one + two)):
                found[f"{one} {two}"] = {one + two: 1.0}
    return found


def model_from_text(counts: TextCounts, lang: str) -> ErrorModel:
    """Return a model of errors that learners of any language make, from clean text alone.

    Function words, guessed by frequency, are deleted, inserted, or replaced by function words with
    the same following words. Other words change their form, by suffix or by lemma. Misspellings,
    commas, spacing, capitals and word order follow `SHARES`. Raises ValueError if the text has no
    words.
    """
    closed = counts.closed()
    similar = similar_words(counts.sample, closed)
    function = {
        word: {"": 1.0, **{other: 2 * weight for other, weight in similar.get(word, {}).items()}}
        for word in sorted(closed)
    }
    comma = Insertion({ANY: 1.0}, dict.fromkeys(sorted(closed), 0.05))
    kinds = {
        FORM: ErrorKind(1.0, families_of(counts, closed)),
        FUNCTION: ErrorKind(1.0, function, neighbour_insertions(counts.sample, closed)),
        PUNCTUATION: ErrorKind(1.0, {",": {"": 1.0}}, {",": comma}),
        SPACING: ErrorKind(1.0, spacing_errors(counts)),
    }
    known = counts.well_known()
    model = ErrorModel(lang, kinds, ALL_NOISE, known, closed, counts.vowel_letters)
    return calibrated(model, counts.sample, SHARES)


def calibrated(model: ErrorModel, sample: Sample, shares: Weights, most: int = 2_000) -> ErrorModel:
    """Return the model with rates that give its kinds and noise these shares in `sample`.

    Kinds without a share or a place there get 0. Where places are few, the share isn't met: an
    error at a kind's places is on average at most 1.5 times as probable as at a token of the text.
    Otherwise most occurrences of rare correct phrases would be wrong.
    sample: the text; `most` evenly spaced sentences of it are used.
    """
    every = max(1, -(-len(sample) // most))
    chosen = sample[::every]
    rates: dict[str, float] = {name: 0.0 for name in (*model.kinds, *model.noise)}
    tokens = sum(len(words) for words, _ in chosen)
    for name in rates:
        if not shares.get(name):
            continue
        alone = replace(
            model,
            kinds={name: replace(model.kinds[name], rate=1.0)} if name in model.kinds else {},
            noise={Noise(name): 1.0} if name in model.noise else {},
        )
        weights = [
            site.weight for words, spaces in chosen for site in find_sites(words, spaces, alone)
        ]
        if total := sum(weights):
            rate = min(shares[name] * tokens / 100, _MOST_WEIGHT * len(weights)) / total
            rates[name] = float(f"{rate:.4g}")
    kinds = {name: replace(kind, rate=rates[name]) for name, kind in model.kinds.items()}
    return replace(model, kinds=kinds, noise={name: rates[name] for name in model.noise})
