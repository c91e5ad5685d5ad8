"""Attention of label attention heads, and their contributions to span vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, cast, get_args

import torch
from spacy.tokens import Doc
from thinc.api import Model
from torch import Tensor

from ..batching.batches import ParserScores, padded_batches, read_docs
from ..batching.sentences import Sentence
from ..bridge.shim import torch_shim
from ..layers.input_encoders import row_mask
from ..parsing.network import ParserNetwork, abilities

Normalisation = Literal["normalised", "softmax"]


class SentenceHeads(NamedTuple):
    """The H label attention heads over n words: attention [H,1,n+2], or [H,n+2,n+2] with matrix
    queries, and sums of features (`head_sums`) [n+1,H], or None."""

    sentence: int
    attention: Tensor
    sums: Tensor | None


def head_sums(annotations: Tensor, n_heads: int) -> Tensor:
    """Return the sum of each head's features in every fencepost: [B,n+2,H*d_proj] -> [B,n+1,H].

    annotations: label attention's output alone.
    Fencepost k has the first half of a head's features from row k, the second from row k + 1. Spans
    are differences of fenceposts, so that the sum of head h's features in the vector of span (i, j)
    is sums[j, h] - sums[i, h].
    """
    heads = annotations.unflatten(-1, (n_heads, -1))
    middle = heads.shape[-1] // 2
    return heads[..., :middle].sum(-1)[:, :-1] + heads[..., middle:].sum(-1)[:, 1:]


def span_contributions(
    sums: Tensor, starts: Tensor, ends: Tensor, method: Normalisation = "normalised"
) -> Tensor:
    """Return the share of each head in the vectors of S spans: [n+1,H] -> [S,H].

    The heads' sums of a span are scaled to [0, 1]. "normalised" divides them by their total.
    "softmax" takes their softmax, as the code of Mrini et al. 2020 does, where no share of 112
    heads can exceed e / (e + 111) = 2.4 %; the paper leaves the normalisation open. Both methods
    rank the heads alike. Equal sums have equal shares; the released code divides by zero there.
    """
    if method not in get_args(Normalisation):
        raise ValueError(f"method must be one of {get_args(Normalisation)}, not {method!r}")
    span_sums = sums[ends] - sums[starts]
    least = span_sums.amin(-1, keepdim=True)
    spread = span_sums.amax(-1, keepdim=True) - least
    scaled = torch.where(spread > 0, (span_sums - least) / spread, 1.0)
    if method == "softmax":
        return scaled.softmax(-1)
    return scaled / scaled.sum(-1, keepdim=True)


def sentence_heads(
    model: Model[list[Doc], ParserScores], docs: list[Doc], *, sums: bool = True
) -> tuple[list[Sentence], Iterator[SentenceHeads]]:
    """Return all sentences of docs, and the heads over each parsed one. sums: whether to sum the
    heads' features. Raises ValueError if the model has no label attention, or no sums that belong
    to heads."""
    if not abilities(model).label_heads:
        raise ValueError(
            "this parser has no label attention that can be read: "
            "heads = 0 in its encoder's settings, or its weights are published ones"
        )
    network = cast(ParserNetwork, torch_shim(model).module)
    if sums:
        _check_contributions(network)
    sentences, flat, _ = read_docs(model, docs, is_train=False)
    batches = padded_batches(docs, sentences, flat, model.attrs["max_batch_spans"])
    return sentences, (heads for batch in batches for heads in _heads(network, *batch, sums))


@torch.no_grad()
def _heads(
    network: ParserNetwork, members: list[int], lengths: Tensor, x: Tensor, sums: bool
) -> Iterator[SentenceHeads]:
    layer = network.encoder.label_attention
    assert layer is not None
    mask = row_mask(lengths, x.shape[1])
    rows = network.encoder.encode(network.input_encoder(x, lengths)[0], mask)
    attention = layer.attention(rows, mask).cpu()
    found = head_sums(layer(rows, mask).double(), layer.n_heads).cpu() if sums else None
    for row, (member, n) in enumerate(zip(members, lengths.tolist(), strict=True)):
        own = None if found is None else found[row, : n + 1]
        yield SentenceHeads(member, attention[row, :, : n + 2, : n + 2], own)


def _check_contributions(network: ParserNetwork) -> None:
    """Raise ValueError, naming a setting, if features of span vectors belong to no head."""
    encoder = network.encoder
    assert encoder.label_attention is not None
    combine = encoder.label_attention.combine
    reason = ""
    if combine != "concatenate":
        reason = (
            f"with combine = {combine!r}: it mixes the heads' features. Parsers trained with "
            'combine = "concatenate" have them'
        )
    elif network.spans is not None or not encoder.halves_heads:
        reason = (
            "here: they are of spans that are differences of fenceposts made of half of each head, "
            "not of a two-stage parser's or with halves = 'whole'"
        )
    elif encoder.label_feed_forward is not None:
        reason = (
            "with label_feed_forward = true: the feed-forward layer after label attention mixes "
            "the heads' features. Parsers trained with label_feed_forward = false have them"
        )
    if reason:
        raise ValueError(
            f"no contributions of heads {reason} (method=None gives the attention alone)"
        )
