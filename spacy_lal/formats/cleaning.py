"""Sentences of bracketed trees, and what is lost on the way from one to the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from ..trees.tree import ConstituentTree
from .brackets import Bracketing, clean_tree, to_sentence
from .docs import TreebankSentence
from .head_rules import HeadRules, heads_by_rules
from .props import Drop


@dataclass
class Losses:
    """What a conversion leaves out. counts: within sentences; dropped: sentences, by place.

    notes: what else the user should know.
    """

    counts: Counter[str] = field(default_factory=Counter)
    dropped: list[Drop] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def numbered(trees: Iterable[ConstituentTree], source: object) -> Iterator[Bracketing]:
    """Trees with their places: their numbers, from 1, in `source`."""
    for number, tree in enumerate(trees, start=1):
        yield Bracketing(f"{source}: tree {number}", tree)


def clean_sentences(
    trees: Iterable[Bracketing],
    losses: Losses,
    *,
    clean: Callable[[ConstituentTree], ConstituentTree | None] = clean_tree,
    spaces: bool = True,
    rules: HeadRules = HeadRules.none,
    drop_malformed: bool = False,
) -> Iterator[TreebankSentence]:
    """The sentences of those trees that have words. What is left out goes to `losses`.

    clean: `clean_tree` with its options. spaces: whether words are written apart. rules: find
    heads, without relations. drop_malformed: leave out what is no tree. Else raises ValueError.
    """
    for place, tree, fault in trees:
        if fault and not drop_malformed:
            raise ValueError(f"{place}: {fault}")
        cleaned = tree and clean(tree)
        if tree is None or cleaned is None:
            losses.dropped.append((place, fault or "no words"))
            continue
        before, after = _sizes(tree), _sizes(cleaned)
        losses.counts["empty elements removed"] += before[0] - after[0]
        losses.counts["phrases removed that had no words"] += before[1] - after[1]
        sentence = to_sentence(cleaned, spaces=spaces)
        if rules is not HeadRules.none:
            sentence = replace(sentence, heads=heads_by_rules(cleaned, rules))
        yield sentence


def _sizes(tree: ConstituentTree) -> tuple[int, int]:
    """Numbers of words and of phrases."""
    words = len(tree.leaves)
    return words, sum(1 for _ in tree.preorder()) - words
