"""Heads from Universal Dependencies for trees of the same sentences in other words.

A treebank may write compounds as one word (`afin_de`) and contractions as one (`au`), where UD has
several words. Both sides are compared by their characters, without spaces, underscores and case.
A word that has several of UD's words takes the head and the relation of the first of them whose
head is outside: of `au`, which is `à` and `le`, those of the preposition.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from spacy.parts_of_speech import IDS as UNIVERSAL_TAGS

from .conllu import ConlluSentence, TagColumn
from .docs import TreebankSentence, tree_fault

COMPOUND = "_"
"""Stands between the parts of a compound."""

PART = "dep"
"""The relation of a part of a token of UD's (`ex-`) to the last part, which UD has none for."""


@dataclass(frozen=True)
class SurfaceToken:
    """A token as it is written: its text, UD's words in it, and whether a space follows."""

    text: str
    words: range
    space: bool


def plain(text: str) -> str:
    """The characters that both sides share."""
    return "".join(text.replace(COMPOUND, "").split()).lower()


def text_key(words: Iterable[str]) -> str:
    """What the same sentence has in common, however it is cut into words."""
    return plain("".join(words))


def surface(sentence: ConlluSentence) -> list[SurfaceToken]:
    """The sentence's tokens as they are written, contractions in one."""
    ranges = {first: (last, form) for first, last, form in sentence.multiword}
    tokens: list[SurfaceToken] = []
    word = 0
    while word < len(sentence.words):
        last, text = ranges.get(word, (word, sentence.words[word]))
        tokens.append(SurfaceToken(text, range(word, last + 1), sentence.spaces[last]))
        word = last + 1
    return tokens


def written(ud: ConlluSentence, column: TagColumn = TagColumn.xpos) -> tuple[TreebankSentence, str]:
    """The sentence in tokens as they are written, each contraction one word; without lemmas and
    features, of which a contraction has several. Heads that aren't one tree are left out; the
    second value says why, "" if there are heads or UD has none.

    column: which one is the word's tag.
    """
    column_of_tags = ud.tags(column)
    tokens = surface(ud)
    groups = [token.words for token in tokens]
    tops = [_top(ud, group) for group in groups]
    heads, relations = _heads(ud, groups)
    fault = tree_fault(heads) if heads else ""
    sentence = TreebankSentence(
        words=[token.text for token in tokens],
        spaces=[token.space for token in tokens],
        tags=[column_of_tags[top] for top in tops] if any(column_of_tags) else None,
        pos=_pos(ud, tops),
        heads=None if fault else heads,
        deps=None if fault else relations,
        id=ud.id,
        paragraph=ud.paragraph,
    )
    return sentence, fault


def _pos(ud: ConlluSentence, tops: Sequence[int]) -> list[str] | None:
    """The universal tags of these words; None if the treebank has others in their column."""
    return [ud.upos[top] for top in tops] if set(ud.upos) <= UNIVERSAL_TAGS.keys() else None


def with_heads(sentence: TreebankSentence, ud: ConlluSentence) -> tuple[TreebankSentence, str]:
    """The sentence with UD's heads, relations, universal tags and spaces, and why they are missing
    ("" if they aren't)."""
    tokens = surface(ud)
    groups = _aligned([plain(word) for word in sentence.words], [plain(t.text) for t in tokens])
    if groups is None:
        return sentence, "words of UD go across words of the tree"
    words = [
        range(tokens[group.start].words.start, tokens[group.stop - 1].words.stop)
        for group in groups
    ]
    heads, relations = _heads(ud, words)
    if fault := tree_fault(heads) if heads else "no heads in UD":
        return sentence, fault
    ends = [group.stop - 1 for group in groups]
    return replace(
        sentence,
        # no space follows what is followed by the rest of its token
        spaces=[
            tokens[e].space and e != after for e, after in zip(ends, [*ends[1:], -1], strict=True)
        ],
        pos=_pos(ud, [_top(ud, group) for group in words]),
        heads=heads,
        deps=relations,
        id=ud.id,
        paragraph=ud.paragraph,
    ), ""


def in_tokens(sentence: TreebankSentence, ud: ConlluSentence) -> TreebankSentence | None:
    """The sentence in UD's tokens as they are written.

    A compound is as many tokens as it has parts. They stand under one bracket, which is called
    after its tag, with "+" (`P+`), and have no tags of their own. Parts of one token (`ex-`) are
    one token, with the last one's tag. None if there are no heads, or no alignment.
    """
    tokens = surface(ud)
    groups = _aligned([plain(word) for word in sentence.words], [plain(t.text) for t in tokens])
    heads, relations = _heads(ud, [token.words for token in tokens])
    if groups is None or heads is None or tree_fault(heads):
        return None
    tags = [""] * len(tokens)
    spans = [
        (groups[i].start, groups[j - 1].stop, name) for i, j, name in sentence.constituents or ()
    ]
    for group, tag in zip(groups, sentence.tags or [""] * len(groups), strict=True):
        if len(group) == 1:
            tags[group.start] = tag
        else:
            spans.append((group.start, group.stop, f"{tag}+"))
    # the sort keeps the order of equal spans: phrases stand above the compound of the same words
    spans.sort(key=lambda span: (span[0], -span[1]))
    return replace(
        sentence,
        words=[token.text for token in tokens],
        spaces=[token.space for token in tokens],
        tags=tags,
        pos=_pos(ud, [_top(ud, token.words) for token in tokens]),
        heads=heads,
        deps=relations,
        constituents=spans,
        id=ud.id,
        paragraph=ud.paragraph,
    )


def _top(ud: ConlluSentence, group: range) -> int:
    """The root if it is among these words, else the first whose head is not among them."""
    heads = ud.heads or ()
    outside = [word for word in group if heads and heads[word] - 1 not in group]
    return min(outside, key=lambda word: heads[word] != 0, default=group.start)


def _heads(
    ud: ConlluSentence, groups: Sequence[range]
) -> tuple[list[int] | None, list[str] | None]:
    """Head and relation of each group of UD's words; the root is its own head.

    Of groups that are the same words, the last has their head, and the others hang on it.
    """
    if ud.heads is None:
        return None, None
    owner = {word: at for at, group in enumerate(groups) for word in group}
    heads: list[int] = []
    relations: list[str] = []
    for at, group in enumerate(groups):
        top = _top(ud, group)
        if owner[top] != at:
            heads.append(owner[top])
            relations.append(PART)
        else:
            heads.append(owner[ud.heads[top] - 1] if ud.heads[top] else at)
            relations.append(ud.deprels[top])
    return heads, relations


def _aligned(words: Sequence[str], tokens: Sequence[str]) -> list[range] | None:
    """The tokens of each word. Words that are parts of one token have all that same token.

    None if the texts differ, or if a word has more than a part of a token and something else.
    """
    if "".join(words) != "".join(tokens) or not all(words) or not all(tokens):
        return None
    ends = list(accumulate(map(len, tokens)))
    groups: list[range] = []
    start = 0
    for word in words:
        end = start + len(word)
        first = bisect_right(ends, start)
        last = bisect_left(ends, end)
        whole = ends[last] == end and start == (ends[first - 1] if first else 0)
        if not whole and first != last:
            return None
        groups.append(range(first, last + 1))
        start = end
    return groups
