"""Attention heads, one of which is the parser, and the encoder around them."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.func import functional_call

from spacy_lal.layers.biaffine import label_scores
from spacy_lal.layers.dropout import set_dropout
from spacy_lal.layers.lisa_encoder import (
    Encoded,
    LisaEncoder,
    LisaEncoderSettings,
    LisaLayer,
    SyntacticAttention,
    SyntacticScorer,
    attend_to_heads,
    sinusoids,
)
from spacy_lal.layers.prepared import prepare

EXACT = {"atol": 1e-12, "rtol": 0.0}
HEADS = ["biaffine", "copied"]
LENGTHS = torch.tensor([3, 5, 1])


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def words(lengths: Tensor, n: int) -> Tensor:
    return torch.arange(n) < lengths.unsqueeze(1)


def small(**settings: Any) -> LisaEncoderSettings:
    widths: dict[str, Any] = {"heads": 2, "head_width": 3, "feed_forward_width": 5}
    return LisaEncoderSettings(**{**widths, "layer_dropout": None, **settings})


def encoder(**settings: Any) -> LisaEncoder:
    layers = {"layers": 3, "tag_layer": 1, "syntax_layer": 2, "arc_width": 4, "relation_width": 3}
    made = LisaEncoder(small(**{**layers, **settings}), 5, 4).double().eval()
    if made.parser is not None:
        torch.nn.init.normal_(made.parser.arc)  # it begins as zero
    return made


# Positions


def test_sinusoids_by_hand() -> None:
    found = sinusoids(4, 6, random(1))
    for position in range(4):
        angles = [position / timescale for timescale in (1, 100, 10_000)]
        expected = [*map(math.sin, angles), *map(math.cos, angles)]
        assert found[position].tolist() == pytest.approx(expected, abs=1e-12)


def test_sinusoids_of_odd_and_tiny_widths() -> None:
    assert torch.equal(sinusoids(5, 7, random(1))[:, :6], sinusoids(5, 6, random(1)))
    assert not sinusoids(5, 7, random(1))[:, 6].any()
    assert sinusoids(2, 2, random(1))[1].tolist() == pytest.approx([math.sin(1), math.cos(1)])


def test_sinusoids_in_half_precision() -> None:
    # counted in bfloat16, 257 would be 256
    exact = sinusoids(300, 6, random(1))
    half = sinusoids(300, 6, random(1).bfloat16())
    assert half.dtype == torch.bfloat16
    assert (half - exact).abs().max() < 2**-8


# Attention


def attention_by_loop(
    attention: SyntacticAttention, x: Tensor, mask: Tensor, syntax: Tensor | None
) -> list[Tensor]:
    """What every sentence's words receive, without padding, one head after another."""
    d, own, heads = attention.d_head, attention.n_own, attention.n_heads
    weight = attention.queries_keys_values.weight
    queries, keys, values = weight.split([own * d, own * d, heads * d])
    of_sentences = []
    for row, sentence in enumerate(x):
        read = sentence[mask[row]]
        n = len(read)
        mixed = []
        for h in range(heads):
            at = slice(h * d, (h + 1) * d)
            if h < own:
                q, k = read @ queries[at].T, read @ keys[at].T
                logits = [[float(q[i] @ k[j]) / math.sqrt(d) for j in range(n)] for i in range(n)]
                received = torch.softmax(torch.tensor(logits, dtype=x.dtype), -1)
            else:
                assert syntax is not None
                received = syntax[row, :n, :n]
            mixed.append(received @ (read @ values[at].T))
        of_sentences.append(torch.cat(mixed, -1) @ attention.output.weight.T)
    return of_sentences


@pytest.mark.parametrize("syntactic", [False, True])
@torch.no_grad()
def test_attention_is_a_loop_over_heads(syntactic: bool) -> None:
    attention = SyntacticAttention(small(heads=3, head_width=4), syntactic=syntactic).double()
    assert attention.n_own == 3 - syntactic
    x, mask = random(3, 6, 12), words(LENGTHS, 6)
    syntax = attend_to_heads(random(3, 6, 6), mask) if syntactic else None
    found = attention(x, mask, syntax)
    expected = attention_by_loop(attention, x, mask, syntax)
    for row, n in enumerate(LENGTHS.tolist()):
        torch.testing.assert_close(found[row, :n], expected[row], **EXACT)


@pytest.mark.parametrize("syntactic", [False, True])
@torch.no_grad()
def test_rounded_attention_is_near_a_loop_over_heads(syntactic: bool) -> None:
    """Rounded layers read each length by itself."""
    attention = SyntacticAttention(small(heads=3, head_width=4), syntactic=syntactic)
    prepare(attention, "int8")
    lengths = torch.tensor([6, 4, 4, 1, 4])
    x, mask = random(5, 6, 12).float(), words(lengths, 6)
    syntax = attend_to_heads(random(5, 6, 6), mask) if syntactic else None
    found = attention(x, mask, syntax)
    expected = attention_by_loop(attention, x, mask, None if syntax is None else syntax.float())
    for row, n in enumerate(lengths.tolist()):
        assert (found[row, :n] - expected[row]).abs().max() < 0.03 * expected[row].abs().max()


@torch.no_grad()
def test_all_heads_may_be_syntactic() -> None:
    attention = SyntacticAttention(small(heads=1, head_width=4), syntactic=True).double()
    x, mask = random(1, 5, 4), words(torch.tensor([5]), 5)
    heads = torch.tensor([[1, 1, 3, 1, 0]])
    found = attention(x, mask, attend_to_heads(random(1, 5, 5), mask, heads))
    values = x @ attention.queries_keys_values.weight.T
    torch.testing.assert_close(found[0], (values @ attention.output.weight.T)[0, heads[0]], **EXACT)


@torch.no_grad()
def test_layers_add_to_what_they_normalised() -> None:
    layer = LisaLayer(small()).double().eval()
    for norm in (layer.norm, layer.feed_forward_norm):
        torch.nn.init.normal_(norm.weight)
        torch.nn.init.normal_(norm.bias)
    x, mask = random(2, 4, 6), words(torch.tensor([4, 2]), 4)

    def normalised(values: Tensor, norm: torch.nn.LayerNorm) -> Tensor:
        deviations = values - values.mean(-1, keepdim=True)
        variance = (deviations**2).mean(-1, keepdim=True)
        return deviations / (variance + 1e-6).sqrt() * norm.weight + norm.bias

    u = normalised(x, layer.norm)
    torch.testing.assert_close(layer.norm(x), u, **EXACT)
    u = normalised(u + layer.attention(u, mask), layer.feed_forward_norm)
    hidden = u
    for k in range(2):
        hidden = hidden @ layer.hidden[k].weight.T
        hidden = torch.where(hidden > 0, hidden, 0.1 * hidden)
    expected = u + hidden @ layer.output.weight.T
    torch.testing.assert_close(layer(layer.norm(x), mask), expected, **EXACT)


@torch.no_grad()
def test_dropout_is_of_training_alone() -> None:
    layer = LisaLayer(small()).double().eval()
    x, mask = random(1, 4, 6), words(torch.tensor([4]), 4)
    plain = layer(x, mask)
    set_dropout(layer, 0.5)
    assert torch.equal(layer(x, mask), plain)
    layer.train()
    assert not torch.equal(layer(x, mask), plain)


# The syntactic head


def test_scores_of_arcs_and_relations_one_by_one() -> None:
    scorer = SyntacticScorer(small(arc_width=5, relation_width=4), 3).double().requires_grad_(False)
    x = random(2, 4, 6)
    assert not scorer(x)[0].any()
    torch.nn.init.normal_(scorer.arc)
    torch.nn.init.normal_(scorer.relation.bias)
    arcs, relations = scorer(x)
    assert arcs.shape == (2, 4, 4)
    for row in range(2):
        views = F.leaky_relu(x[row] @ scorer.views.weight.T + scorer.views.bias, 0.1)
        for i in range(4):
            dependent, governed = views[i, :5], views[i, 5:9]
            for j in range(4):
                head, governor = views[j, 9:14], views[j, 14:]
                expected = F.pad(dependent, (0, 1), value=1.0) @ scorer.arc @ head
                assert float(arcs[row, i, j]) == pytest.approx(float(expected), abs=1e-12)
                pair = torch.tensor([row]), torch.tensor([i]), torch.tensor([j])
                of_pair = torch.einsum(
                    "i,oij,j->o",
                    F.pad(governed, (0, 1), value=1.0),
                    relations.weight,
                    F.pad(governor, (0, 1), value=1.0),
                )
                torch.testing.assert_close(label_scores(relations, *pair)[0], of_pair, **EXACT)


def test_attention_to_heads_that_are_known_or_not() -> None:
    arcs, mask = random(2, 4, 4), words(torch.tensor([4, 2]), 4)
    heads = torch.tensor([[1, 1, -1, 0], [-1, 1, -1, -1]])
    found = attend_to_heads(arcs, mask, heads)
    predicted = attend_to_heads(arcs, mask)
    for row, n in enumerate((4, 2)):
        for i in range(n):
            exponentials = [math.exp(float(score)) for score in arcs[row, i, :n]]
            soft = [value / sum(exponentials) for value in exponentials] + [0.0] * (4 - n)
            assert predicted[row, i].tolist() == pytest.approx(soft, abs=1e-12)
            head = int(heads[row, i])
            expected = soft if head < 0 else [float(j == head) for j in range(4)]
            assert found[row, i].tolist() == pytest.approx(expected, abs=1e-12)


# The encoder


@pytest.mark.parametrize("syntactic_head", HEADS)
@torch.no_grad()
def test_encoder_layer_by_layer(syntactic_head: str) -> None:
    made = encoder(syntactic_head=syntactic_head)
    for norm in made.task_norms.values():
        torch.nn.init.normal_(norm.weight)
    x, mask = random(2, 4, 5), words(torch.tensor([4, 2]), 4)
    found = made(x, mask)
    first, second, third = made.layers
    h = F.leaky_relu(made.project(x), 0.1) + sinusoids(4, 6, x)
    h = made.task_norms["1"](first(first.norm(h), mask))
    torch.testing.assert_close(found.tagged, h, **EXACT)
    arcs, relations = made.parser(h if syntactic_head == "copied" else second.norm(h))
    torch.testing.assert_close(found.arcs, arcs, **EXACT)
    torch.testing.assert_close(found.relations, relations, **EXACT)
    h = second(second.norm(h), mask, attend_to_heads(arcs, mask))
    h = made.task_norms["3"](third(third.norm(h), mask))
    torch.testing.assert_close(found.encoded, h, **EXACT)


def test_layers_that_a_task_reads_are_normalised() -> None:
    assert set(encoder().task_norms) == {"1", "3"}
    assert set(encoder(syntax_layer=3, syntactic_head="copied").task_norms) == {"1", "2", "3"}
    assert set(encoder(syntax_layer=None, syntactic_head="copied").task_norms) == {"1", "3"}


@pytest.mark.parametrize("syntactic_head", HEADS)
@pytest.mark.parametrize("heads", [None, [[1, 1, 0], [4, 1, -1, 1, -1], [0]]])
@torch.no_grad()
def test_padding_and_the_batch_never_matter(
    syntactic_head: str, heads: list[list[int]] | None
) -> None:
    made = encoder(syntactic_head=syntactic_head)
    x, mask = random(3, 8, 5), words(LENGTHS, 8)
    given = None
    if heads is not None:
        given = torch.full((3, 8), -1)
        for row, of_words in enumerate(heads):
            given[row, : len(of_words)] = torch.tensor(of_words)
    together = made(x, mask, given)
    for row, n in enumerate(LENGTHS.tolist()):
        here = None if given is None else given[row : row + 1, :n]
        alone = made(x[row : row + 1, :n], mask[row : row + 1, :n], here)
        assert alone.arcs is not None
        torch.testing.assert_close(together.tagged[row, :n], alone.tagged[0], **EXACT)
        torch.testing.assert_close(together.encoded[row, :n], alone.encoded[0], **EXACT)
        torch.testing.assert_close(together.arcs[row, :n, :n], alone.arcs[0], **EXACT)
        for mine, theirs in zip(together.relations[:2], alone.relations[:2], strict=True):
            torch.testing.assert_close(mine[row, :n], theirs[0], **EXACT)


@pytest.mark.parametrize("syntactic_head", HEADS)
@torch.no_grad()
def test_given_heads_take_the_place_of_predicted_ones(syntactic_head: str) -> None:
    made = encoder(syntactic_head=syntactic_head)
    x, mask = random(1, 4, 5), words(torch.tensor([4]), 4)
    known, partial = torch.tensor([[1, 1, 3, 1]]), torch.tensor([[1, -1, 3, 1]])
    choices = (known, partial, None)
    before = [made(x, mask, heads) for heads in choices]
    torch.nn.init.normal_(made.parser.arc)
    after = [made(x, mask, heads) for heads in choices]
    same = [torch.equal(a.encoded, b.encoded) for a, b in zip(before, after, strict=True)]
    assert same == [True, False, False]
    assert not torch.equal(before[0].encoded, made(x, mask, torch.tensor([[1, 1, 3, 2]])).encoded)
    # what is below does not see them
    assert torch.equal(before[0].tagged, after[2].tagged)


@torch.no_grad()
def test_without_syntax_heads_change_nothing() -> None:
    made = encoder(syntax_layer=None)
    x, mask = random(1, 4, 5), words(torch.tensor([4]), 4)
    plain = made(x, mask)
    assert plain.arcs is None
    assert plain.relations is None
    assert torch.equal(plain.encoded, made(x, mask, torch.tensor([[1, 1, 3, 1]])).encoded)


def test_dropout_of_layers_may_be_their_own() -> None:
    for own, expected in ((None, 0.3), (0.1, 0.1), (0.0, 0.0)):
        made = encoder(layer_dropout=own)
        set_dropout(made, 0.3)
        assert made.parser.dropout.rate == 0.3
        rates = [layer.dropout.rate for layer in made.layers]
        rates += [layer.attention.dropout.rate for layer in made.layers]
        assert {made.dropout.rate, *rates} == {expected}


@pytest.mark.parametrize("syntactic_head", HEADS)
@pytest.mark.parametrize("heads", [None, [[1, 1, 0], [-1, 1, -1]]])
def test_gradients_by_finite_differences(
    syntactic_head: str, heads: list[list[int]] | None
) -> None:
    made = encoder(syntactic_head=syntactic_head, feed_forward_depth=1)
    names, parameters = zip(*made.named_parameters(), strict=True)
    mask = words(torch.tensor([3, 2]), 3)
    given = None if heads is None else torch.tensor(heads)

    def outputs(x: Tensor, *values: Tensor) -> tuple[Tensor, ...]:
        of = dict(zip(names, values, strict=True))
        found: Encoded = functional_call(made, of, (x, mask, given))
        return found.tagged, found.encoded, found.arcs, *found.relations

    x = random(2, 3, 5).requires_grad_()
    assert torch.autograd.gradcheck(outputs, (x, *parameters), fast_mode=True)


@pytest.mark.parametrize("head", HEADS)
@torch.no_grad()
def test_rounded_layers_give_a_sentence_the_same_bits_in_every_batch(head: Any) -> None:
    """Sums over padding may end otherwise in float32, and would be rounded to other integers."""
    torch.manual_seed(4)
    made = LisaEncoder(
        small(layers=3, heads=4, head_width=16, feed_forward_width=96, syntactic_head=head), 40, 4
    ).eval()
    assert made.parser is not None
    torch.nn.init.normal_(made.parser.arc, std=0.1)
    prepare(made, "int8")
    lengths = torch.tensor([61, 47, 47, 47, 33, 18, 18, 9, 4, 4, 4, 1, 9])
    x = torch.randn(len(lengths), 61, 40)
    together = made(x, words(lengths, 61))
    for row, n in enumerate(lengths.tolist()):
        alone = made(x[row : row + 1, :n], torch.ones(1, n, dtype=torch.bool))
        assert torch.equal(together.tagged[row, :n], alone.tagged[0])
        assert torch.equal(together.encoded[row, :n], alone.encoded[0])
