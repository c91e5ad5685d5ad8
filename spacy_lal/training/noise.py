"""Noise on treebank text, with aligned annotation: paragraphs, line breaks, missing full stops."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise

from spacy.tokens import Doc, Token
from spacy.vocab import Vocab

from ..annotations.constituents import get_constituents
from ..annotations.frames import get_frames
from ..annotations.retokenized import Piece, rewritten

Tokenizer = Callable[[str], Doc]

WIDTHS = (40, 80)
"""Characters of a broken line."""

FULL_STOPS = frozenset({".", "...", "!", "?"})
"""Words that noise may leave out at the end of a sentence."""
NAME = "NNP"
"""Tag of a proper noun."""
PRONOUNS = frozenset({"He", "She", "he", "she", "him"})
"""Words for which noise puts names of people."""
TITLES = (
    *("Mr.", "Mrs.", "Ms.", "Dr.", "Mr", "Mrs", "Ms", "Dr", "Prof.", "Professor", "St."),
    *("Rev.", "Gen.", "Col.", "Capt.", "Lt.", "Sgt.", "Gov.", "Sen.", "Rep."),
    *("President", "Senator", "Judge", "Captain", "Aunt", "Uncle", "Sir", "Lady", "Queen"),
)
"""Words before names of people."""
PREFIXES = ("O'", "Mc", "Mac", "D'", "De", "al-")
"""Beginnings of last names."""
PARTICLES = ("van", "von", "de", "bin")
"""Words before last names."""
INNER_MARKS = frozenset({",", ":", ";", "--", "-", '"', "“", "”"})
"""Punctuation inside a sentence, which noise leaves out with all full stops."""


@dataclass(frozen=True)
class Noise:
    """Shares of texts (0 to 1) with noise that affects sentence boundaries.

    line_breaks: line breaks at some width, between sentences, or now and then.
    lower_case: small letters at the beginning of sentences, or throughout.
    unstopped: missing full stops, or no punctuation.
    spaces: several spaces between sentences, or anywhere now and then.
    names: names of people for he, she and him, whose annotation they get; made words for half of
        the names: for components that find sentences.
    title_case: sentences in which each word begins with a capital; half of them become headings,
        which have lines of their own and no full stop. Other full stops stay.
    """

    line_breaks: float = 0.0
    lower_case: float = 0.0
    unstopped: float = 0.0
    spaces: float = 0.0
    names: float = 0.0
    title_case: float = 0.0


@dataclass
class _Word:
    """A token of the new text. token: its number over all Docs. after: whitespace after it."""

    text: str
    after: str
    token: int
    last: bool


def running_text(
    docs: Sequence[Doc],
    between: Sequence[str],
    noise: Noise,
    rng: random.Random,
    vocab: Vocab,
    tokenizer: Tokenizer | None = None,
    people: Sequence[Sequence[str]] = (),
) -> Doc:
    """Join Docs of one sentence each to one annotated Doc.

    between: whitespace after each Doc but the last. tokenizer: source of the Doc's tokens, unless
        they cut constituents, roles or subtrees of gold tokens; None for the gold tokens.
        Whitespace tokens are those of spaCy's tokenizer. people: first names and last names.
    """
    words = _words(docs, between)
    # without these two, the random numbers of other noise stay the same
    if noise.names and rng.random() < noise.names and all(people):
        words = _with_names(words, docs, people, rng)
    capitals = noise.title_case > 0 and rng.random() < noise.title_case
    if capitals:
        words = _capitalise(words, docs, rng)
    # where every word has a capital, nothing else shows where a sentence begins
    if rng.random() < noise.unstopped and not capitals:
        words = _without_marks(words, docs, rng)
    if rng.random() < noise.lower_case:
        _lower(words, rng)
    if rng.random() < noise.line_breaks:
        _break_lines(words, rng)
    # without spaces, the random numbers of other noise stay the same
    if noise.spaces and rng.random() < noise.spaces:
        _widen_spaces(words, rng)
    pieces = _pieces(words)
    if tokenizer is not None:
        pieces = _retokenised(pieces, docs, tokenizer)
    return rewritten(docs, pieces, vocab)


def _words(docs: Sequence[Doc], between: Sequence[str]) -> list[_Word]:
    """Return words, without whitespace tokens except at the beginning of a Doc."""
    words: list[_Word] = []
    for (doc, first), gap in zip(_offsets(docs), [*between, ""], strict=True):
        for t in doc:
            if t.is_space and t.i > 0:
                words[-1].after += t.text_with_ws
            else:
                words.append(_Word(t.text, t.whitespace_, first + t.i, False))
        words[-1].after, words[-1].last = gap, True
    return words


def people_in(docs: Iterable[Doc]) -> list[list[str]]:
    """Return the first words and the last words of names in Docs: words in a row tagged NNP."""
    names = [
        [token.text for token in row]
        for doc in docs
        for named, row in groupby(doc, _is_name)
        if named
    ]
    return [sorted({name[at] for name in names}) for at in (0, -1)]


def _is_name(token: Token) -> bool:
    return token.tag_ == NAME and token.text.isalpha() and token.text.istitle()


def _with_names(
    words: Sequence[_Word],
    docs: Sequence[Doc],
    people: Sequence[Sequence[str]],
    rng: random.Random,
) -> list[_Word]:
    """Put made names for pronouns, and made words for half of the names."""
    tags = [token.tag_ for doc in docs for token in doc]
    named: list[_Word] = []
    put = False
    for at, word in enumerate(words):
        name = tags[word.token] == NAME and word.text.isalpha() and word.text.istitle()
        goes_on = name and not word.last and tags[words[at + 1].token] == NAME
        # one choice for all words of a name
        follows = at > 0 and not words[at - 1].last and tags[words[at - 1].token] == NAME
        put = put if name and follows else rng.random() < 0.5
        parts = [word.text]
        if word.text in PRONOUNS or (name and put and not (follows or goes_on)):
            parts = _person(people, rng)
        elif name and put:
            parts = [_name(people[not goes_on], rng)]
        named += [_Word(part, " ", word.token, False) for part in parts[:-1]]
        named.append(_Word(parts[-1], word.after, word.token, word.last))
    return named


def _person(people: Sequence[Sequence[str]], rng: random.Random) -> list[str]:
    """Return the words of a made name: two or more, some with titles or initials."""
    firsts, lasts = people
    name = [_name(firsts, rng), _name(lasts, rng)]
    chance = rng.random()
    if chance < 0.1:
        name[:1] = [f"{rng.choice(firsts)[0]}." for _ in range(rng.choice((1, 2)))]
    elif chance < 0.25:
        name.insert(1, f"{rng.choice(firsts)[0]}.")
    elif chance < 0.3:
        name.insert(1, rng.choice(PARTICLES))
    elif chance < 0.35:
        name[1:1] = ["and", _name(firsts, rng)]
    if rng.random() < 0.2:
        name[: rng.choice((0, 1))] = [rng.choice(TITLES)]
    return name


def _name(names: Sequence[str], rng: random.Random) -> str:
    """Return one of the names, or a word that no treebank has: parts of two, some with a prefix."""
    one, two = rng.choice(names), rng.choice(names)
    chance = rng.random()
    if chance < 0.5:
        return one
    made = one[: (len(one) + 1) // 2] + two[len(two) // 2 :]
    return made if chance < 0.9 else rng.choice(PREFIXES) + made


def _capitalise(words: Sequence[_Word], docs: Sequence[Doc], rng: random.Random) -> list[_Word]:
    """Put capital letters in all sentences or in some. Half of these become headings: lines of
    their own, without a full stop."""
    every, short = rng.random() < 0.5, rng.random() < 0.5
    heads = _heads(docs)
    changed: list[_Word] = []
    chosen, first = True, 0
    for at, word in enumerate(words, 1):
        if not word.last:
            continue
        sentence, first = list(words[first:at]), at
        if chosen:
            apart = True
            for one in sentence:
                if apart and (short or len(one.text) > 3):
                    one.text = one.text[:1].upper() + one.text[1:]
                # "don't" is two words
                apart = bool(one.after) or not one.text.isalnum()
            if rng.random() < 0.5:
                if len(sentence) > 1 and word.text in FULL_STOPS and word.token not in heads:
                    sentence.pop()
                    sentence[-1].after, sentence[-1].last = word.after, True
                for end in [*changed[-1:], sentence[-1]]:
                    end.after = end.after and rng.choice(("\n", "\n\n"))
        changed += sentence
        chosen = every or rng.random() < 0.5
    return changed


def _without_marks(words: list[_Word], docs: Sequence[Doc], rng: random.Random) -> list[_Word]:
    """Remove full stops of sentences or all punctuation; words stay apart."""
    every = rng.random() < 0.3
    heads = _heads(docs)
    kept: list[_Word] = []
    for word in words:
        final = word.last and word.text in FULL_STOPS and (every or rng.random() < 0.8)
        leaf = word.token not in heads
        if kept and leaf and not kept[-1].last and (final or (every and word.text in INNER_MARKS)):
            kept[-1].after = kept[-1].after or word.after
            if word.last:
                kept[-1].after, kept[-1].last = word.after, True
        else:
            kept.append(word)
    return kept


def _heads(docs: Sequence[Doc]) -> set[int]:
    """Return the numbers of tokens that are heads, roots among them, which are their own."""
    headed = docs[0].has_annotation("DEP")
    return {t.head.i + first for doc, first in _offsets(docs) for t in doc if headed}


def _lower(words: list[_Word], rng: random.Random) -> None:
    every = rng.random() < 0.5
    first = True
    for word in words:
        if every or (first and word.text != "I"):
            lowered = word.text.lower()
            word.text = lowered if len(lowered) == len(word.text) else word.text
        first = word.last


def _break_lines(words: list[_Word], rng: random.Random) -> None:
    style = rng.choice(("width", "width", "between", "anywhere"))
    width, column = rng.randint(*WIDTHS), 0
    gap = rng.choice(("\n", "\n", "\n\n", "  "))
    for word, following in pairwise(words):
        column += len(word.text) + len(word.after)
        if word.after != " ":
            column = 0 if "\n" in word.after else column
        elif style == "width" and column + len(following.text) > width:
            word.after, column = "\n", 0
        elif style == "between" and word.last:
            word.after = gap
        elif style == "anywhere" and rng.random() < 0.03:
            word.after = "\n"


def _widen_spaces(words: list[_Word], rng: random.Random) -> None:
    style = rng.choice(("between", "anywhere", "anywhere", "both"))
    width = rng.choice((2, 2, 2, 3, 4))
    for word in words:
        if word.after == " ":
            between = word.last and style != "anywhere"
            if between or (style != "between" and rng.random() < 0.1):
                word.after = " " * width


def _pieces(words: Sequence[_Word]) -> list[Piece]:
    """Return pieces with spaCy's whitespace tokens: all but one space after a word."""
    pieces = []
    for word in words:
        space = word.after.startswith(" ")
        pieces.append(Piece(word.text, space, range(word.token, word.token + 1)))
        if rest := word.after[space:]:
            pieces.append(Piece(rest, False, range(0)))
    return pieces


def _retokenised(pieces: Sequence[Piece], docs: Sequence[Doc], tokenizer: Tokenizer) -> list[Piece]:
    """Return the tokenizer's pieces, or the old ones between the nearest common borders."""
    made = tokenizer("".join(piece.text + " " * piece.space for piece in pieces))
    lengths = (len(piece.text) + piece.space for piece in pieces)
    places = list(accumulate(lengths, initial=0))
    ends = [place + len(piece.text) for place, piece in zip(places, pieces, strict=False)]
    made_ends = [token.idx + len(token) for token in made]
    may_merge = _merging(docs)
    found: list[Piece] = []
    i = j = 0
    for border in sorted({*ends}.intersection(made_ends)):
        stop, made_stop = ends.index(border, i) + 1, made_ends.index(border, j) + 1
        group, tokens = pieces[i:stop], made[j:made_stop]
        i, j = stop, made_stop
        sources = range(
            min((p.sources.start for p in group if p.sources), default=0),
            max((p.sources.stop for p in group if p.sources), default=0),
        )
        if len(tokens) == 1 < len(group) == len(sources) and may_merge(sources):
            found.append(Piece(tokens[0].text, group[-1].space, sources))
        elif len(group) == 1 < len(tokens) and sources:
            found += (Piece(t.text, bool(t.whitespace_), sources) for t in tokens)
        else:
            found += group
    return found


def _merging(docs: Sequence[Doc]) -> Callable[[range], bool]:
    """Return a test for tokens that may be merged: those with one outside head, and no border
    between them of a sentence, constituent or role that doesn't contain all of them."""
    placed = _offsets(docs)
    heads = [t.head.i + first for doc, first in placed for t in doc]
    sentences = {first for _, first in placed}
    spans = {
        (start + first, end + first)
        for doc, first in placed
        for start, end in (
            *((i, j) for i, j, _ in get_constituents(doc)),
            *((s.start, s.end) for frame in get_frames(doc) for s in frame.spans),
        )
    }

    def may_merge(sources: range) -> bool:
        inner = range(sources.start + 1, sources.stop)
        outside = [s for s in sources if heads[s] not in sources or heads[s] == s]
        return (
            len(outside) == 1
            and sentences.isdisjoint(inner)
            and not any(
                (start in inner or end in inner)
                and not (start >= sources.start and end <= sources.stop)
                for start, end in spans
            )
        )

    return may_merge


def _offsets(docs: Sequence[Doc]) -> list[tuple[Doc, int]]:
    return list(zip(docs, accumulate(map(len, docs), initial=0), strict=False))
