"""From scores of arcs and relations to heads, and their loss against gold heads."""

from __future__ import annotations

from collections.abc import Callable

import numpy
import torch
import torch.nn.functional as F
from torch import Tensor

from ..batching.sentences import Sentence
from .decoders import mask_padding

HeadDecoder = Callable[[Tensor, Tensor], Tensor]
"""Arc scores [B, n, n+1], lengths [B] -> heads [B, n] (`structure/arborescence.py`)."""


def heads_in_words(heads: numpy.ndarray, sentence: Sentence) -> numpy.ndarray:
    """The head of each of the sentence's words: 0 the root, k its word k, -1 where there is none.

    heads: of every token of the Doc the index of its head, itself for a root, -1 for none. A head
    outside of the sentence, or one that is no word, is none.
    """
    words = sentence.words
    heads = heads[words]
    position = numpy.searchsorted(words[:-1], heads)
    found = numpy.where(words[position] == heads, position + 1, -1)
    return numpy.where(words == heads, 0, found)


def best_relations(relations: Tensor, heads: Tensor, root: int | None = None) -> Tensor:
    """The best relation [B, n] of each word to its head, from [B, n, n+1 or 1, R].

    root: the relation to the root, which no word has to another word unless it is the only one.
    """
    scores = _at_heads(relations, heads)
    if root is not None and scores.shape[-1] > 1:
        scores = scores.clone()
        scores[..., root].masked_fill_(heads > 0, -torch.inf)
    return scores.argmax(-1)


def head_probabilities(arcs: Tensor, relations: Tensor, heads: Tensor, names: Tensor) -> Tensor:
    """P(head | word) P(relation | word, head) [B, n] of heads and relations that were chosen.

    arcs [B, n, n+1] with padding masked; relations as in `best_relations`; heads, names [B, n].
    """
    of_head = torch.softmax(arcs, -1).gather(-1, heads.unsqueeze(-1))
    of_relation = torch.softmax(_at_heads(relations, heads), -1).gather(-1, names.unsqueeze(-1))
    return (of_head * of_relation).squeeze(-1)


def dependency_loss(
    arcs: Tensor, relations: Tensor, heads: Tensor, labels: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor]:
    """Cross-entropy of heads and of their relations, each summed over words.

    Mrini et al. 2020, section 3.3, eq. 11: L_d = -log P(h | d) - log P(l | d, h). arcs [B, n, n+1],
    relations [B, n, n+1 or 1, R]; heads [B, n], 0 the root, and labels [B, n], the relations;
    -1 where there is no gold, which does not count.
    """
    arc_loss = F.cross_entropy(
        mask_padding(arcs, lengths).flatten(0, 1), heads.flatten(), ignore_index=-1, reduction="sum"
    )
    relation_loss = F.cross_entropy(
        _at_heads(relations, heads.clamp(min=0)).flatten(0, 1),
        labels.masked_fill(heads < 0, -1).flatten(),
        ignore_index=-1,
        reduction="sum",
    )
    return arc_loss, relation_loss


def _at_heads(relations: Tensor, heads: Tensor) -> Tensor:
    if relations.shape[2] == 1:
        return relations.squeeze(2)
    index = heads[..., None, None].expand(*heads.shape, 1, relations.shape[-1])
    return relations.gather(2, index).squeeze(2)
