"""Heads from Universal Dependencies for trees of the same sentences, tokenised otherwise.

A treebank may write compounds (`afin_de`) and contractions (`au`) as one word, where UD has
several. Texts are compared without spaces, underscores and case. A word of several UD words takes
head and relation of the first with its head outside: `au`, `à` and `le`, those of the preposition.
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
"""The character between the parts of a compound."""

PART = "dep"
"""The relation of the first parts of a UD token (`ex-`) to the last part."""

NO_HEADS = "no heads in UD"


class SurfaceToken(NamedTuple):
    """A token as written: its text, its UD words, and whether a space follows."""

    text: str
    words: range
    space: bool


def plain(text: str) -> str:
    """Return the characters that both sides share."""
    return "".join(text.replace(COMPOUND, "").split()).lower()


def text_key(words: Iterable[str]) -> str:
    """Return a key of the sentence that doesn't depend on tokenisation."""
    return plain("".join(words))


def surface(sentence: ConlluSentence) -> list[SurfaceToken]:
    """Return the sentence's written tokens; a contraction is one."""
    ranges = {first: (last, form) for first, last, form in sentence.multiword}
    tokens: list[SurfaceToken] = []
    word = 0
    while word < len(sentence.words):
        last, text = ranges.get(word, (word, sentence.words[word]))
        tokens.append(SurfaceToken(text, range(word, last + 1), sentence.spaces[last]))
        word = last + 1
    return tokens


def key_of(ud: ConlluSentence) -> str:
    """Return the `text_key` of a UD sentence."""
    return text_key(token.text for token in surface(ud))


def written(ud: ConlluSentence, column: TagColumn = TagColumn.xpos) -> tuple[TreebankSentence, str]:
    """Return the sentence in written tokens, and why it has no heads ("" if it or UD has any).

    Contractions are one word, without lemma and features. Heads that aren't one tree are left out.
    column: the column of the words' tags.
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
    """Return the sentence with UD's heads, relations, universal tags and spaces. The second value
    is why heads are missing, "" if they aren't."""
    tokens = surface(ud)
    groups = _aligned([plain(word) for word in sentence.words], [plain(t.text) for t in tokens])
    if groups is None:
        return sentence, "words of UD go across words of the tree"
    words = [range(tokens[g.start].words.start, tokens[g.stop - 1].words.stop) for g in groups]
    joined, fault = _of_ud(ud, words)
    if fault:
        return sentence, fault
    ends = [group.stop - 1 for group in groups]
    # no space follows within a token
    after = zip(ends, [*ends[1:], -1], strict=True)
    spaces = [tokens[end].space and end != following for end, following in after]
    return replace(sentence, spaces=spaces, **joined), ""


def in_tokens(sentence: TreebankSentence, ud: ConlluSentence) -> TreebankSentence | None:
    """Return the sentence in UD's written tokens; None without heads or alignment. A compound has a
    token for each part, without tags, under a bracket of its tag with "+" (`P+`). Parts of one
    token (`ex-`) are one token, with the last one's tag."""
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
    # stable, so phrases stand above the compound of the same words
    spans.sort(key=lambda span: (span[0], -span[1]))
    words = [token.text for token in tokens]
    spaces = [token.space for token in tokens]
    return replace(sentence, words=words, spaces=spaces, tags=tags, constituents=spans, **joined)


def _of_ud(ud: ConlluSentence, groups: Sequence[range]) -> tuple[dict[str, Any], str]:
    """Return heads, relations, universal tags and forms of groups of UD words, and heads' fault.
    The root is its own head. The last of equal groups has their head, and the others depend on it.
    Universal tags are None if the treebank has others in their column."""
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
    """Return the root if it is in the group, else the first word whose head isn't."""
    heads = ud.heads or ()
    outside = [word for word in group if heads and heads[word] - 1 not in group]
    return min(outside, key=lambda word: heads[word] != 0, default=group.start)


def _aligned(words: Sequence[str], tokens: Sequence[str]) -> list[range] | None:
    """Return the tokens of each word; parts of one token share it. None if the texts differ, or if
    a word has a part of a token and something else."""
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
