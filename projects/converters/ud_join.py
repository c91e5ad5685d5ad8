"""Heads from Universal Dependencies for trees of the same sentences in other words.

A treebank may write compounds as one word (`afin_de`) and contractions as one (`au`), where UD has
several words. Both sides are compared by their characters, without spaces, underscores and case.
A word that has several of UD's words takes the head and the relation of the first of them whose
head is outside: of `au`, which is `à` and `le`, those of the preposition.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple

from spacy.parts_of_speech import IDS as UNIVERSAL_TAGS

from spacy_lal.formats.conllu import ConlluSentence, TagColumn
from spacy_lal.formats.treebank_sentence import TreebankSentence, tree_fault

COMPOUND = "_"
"""Stands between the parts of a compound."""

PART = "dep"
"""The relation of a part of a token of UD's (`ex-`) to the last part, which UD has none for."""

NO_HEADS = "no heads in UD"


class SurfaceToken(NamedTuple):
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


def key_of(ud: ConlluSentence) -> str:
    """The `text_key` of a sentence of UD."""
    return text_key(token.text for token in surface(ud))


def written(ud: ConlluSentence, column: TagColumn = TagColumn.xpos) -> tuple[TreebankSentence, str]:
    """The sentence in tokens as they are written, each contraction one word; without lemmas and
    features, of which a contraction has several. Heads that aren't one tree are left out; the
    second value says why, "" if there are heads or UD has none.

    column: which one is the word's tag.
    """
    tags, tokens = ud.tags(column), surface(ud)
    groups = [token.words for token in tokens]
    joined, fault = _of_ud(ud, groups)
    sentence = TreebankSentence(
        words=[token.text for token in tokens],
        spaces=[token.space for token in tokens],
        tags=[tags[_top(ud, group)] for group in groups] if any(tags) else None,
        **joined | ({"heads": None, "deps": None} if fault else {}),
    )
    return sentence, "" if fault == NO_HEADS else fault


def with_heads(sentence: TreebankSentence, ud: ConlluSentence) -> tuple[TreebankSentence, str]:
    """The sentence with UD's heads, relations, universal tags and spaces, and why they are missing
    ("" if they aren't)."""
    tokens = surface(ud)
    groups = _aligned([plain(word) for word in sentence.words], [plain(t.text) for t in tokens])
    if groups is None:
        return sentence, "words of UD go across words of the tree"
    words = [range(tokens[g.start].words.start, tokens[g.stop - 1].words.stop) for g in groups]
    joined, fault = _of_ud(ud, words)
    if fault:
        return sentence, fault
    ends = [group.stop - 1 for group in groups]
    # no space follows what is followed by the rest of its token
    after = zip(ends, [*ends[1:], -1], strict=True)
    spaces = [tokens[end].space and end != following for end, following in after]
    return replace(sentence, spaces=spaces, **joined), ""


def in_tokens(sentence: TreebankSentence, ud: ConlluSentence) -> TreebankSentence | None:
    """The sentence in UD's tokens as they are written.

    A compound is as many tokens as it has parts. They stand under one bracket, which is called
    after its tag, with "+" (`P+`), and have no tags of their own. Parts of one token (`ex-`) are
    one token, with the last one's tag. None if there are no heads, or no alignment.
    """
    tokens = surface(ud)
    groups = _aligned([plain(word) for word in sentence.words], [plain(t.text) for t in tokens])
    joined, fault = _of_ud(ud, [token.words for token in tokens])
    if groups is None or fault:
        return None
    tags = [""] * len(tokens)
    spans = [(groups[i].start, groups[j - 1].stop, s) for i, j, s in sentence.constituents or ()]
    for group, tag in zip(groups, sentence.tags or [""] * len(groups), strict=True):
        if len(group) == 1:
            tags[group.start] = tag
        else:
            spans.append((group.start, group.stop, f"{tag}+"))
    # the sort keeps the order of equal spans: phrases stand above the compound of the same words
    spans.sort(key=lambda span: (span[0], -span[1]))
    words = [token.text for token in tokens]
    spaces = [token.space for token in tokens]
    return replace(sentence, words=words, spaces=spaces, tags=tags, constituents=spans, **joined)


def _of_ud(ud: ConlluSentence, groups: Sequence[range]) -> tuple[dict[str, Any], str]:
    """Heads, relations, universal tags and names of these groups of UD's words, and what is wrong
    with the heads. The root is its own head.

    Of groups that are the same words, the last has their head, and the others hang on it.
    Universal tags are None if the treebank has others in their column.
    """
    tops = [_top(ud, group) for group in groups]
    universal = set(ud.upos) <= UNIVERSAL_TAGS.keys()
    joined: dict[str, Any] = {"id": ud.id, "paragraph": ud.paragraph}
    joined["pos"] = [ud.upos[top] for top in tops] if universal else None
    if ud.heads is None:
        return joined, NO_HEADS
    owner = {word: at for at, group in enumerate(groups) for word in group}
    heads: list[int] = []
    relations: list[str] = []
    for at, top in enumerate(tops):
        if owner[top] != at:
            heads.append(owner[top])
            relations.append(PART)
        else:
            heads.append(owner[ud.heads[top] - 1] if ud.heads[top] else at)
            relations.append(ud.deprels[top])
    return joined | {"heads": heads, "deps": relations}, tree_fault(heads)


def _top(ud: ConlluSentence, group: range) -> int:
    """The root if it is among these words, else the first whose head is not among them."""
    heads = ud.heads or ()
    outside = [word for word in group if heads and heads[word] - 1 not in group]
    return min(outside, key=lambda word: heads[word] != 0, default=group.start)


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
