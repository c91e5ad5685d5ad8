import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck
from torch.func import functional_call
from torch.utils.flop_counter import FlopCounterMode

from spacy_lal.layers import span_attention
from spacy_lal.layers.dropout import set_dropout
from spacy_lal.layers.span_attention import (
    LinearSpanAttention,
    SpanTransformer,
    SpanTransformerLayer,
    TransformerSpanSettings,
)
from spacy_lal.structure.chart import chart_size, packed_spans, span_position, spans_within
from tests.layers.test_biaffine import of_all_pairs

NORMALISATIONS = pytest.mark.parametrize("normalise", ["head", "concatenation"])
RANKS = pytest.mark.parametrize("rank", [None, 3], ids=["full", "factorised"])


def shaken(module):
    """In double precision, with no parameter left at a special value."""
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter)
    return module.double()


SIZES = {
    "span_width": 4,
    "biaffine_width": 7,
    "biaffine_rank": 3,
    "width": 6,
    "heads": 2,
    "layers": 1,
    "feed_forward_width": 5,
}


def make_plain(d_in=5, **options):
    return SpanTransformer(TransformerSpanSettings(**{**SIZES, **options}), d_in)


def make(d_in=5, **options):
    return shaken(make_plain(d_in, **options))


def random_spans(lengths, d=6):
    lengths = torch.tensor(lengths)
    n = int(lengths.max())
    x = torch.randn(len(lengths), chart_size(n), d, dtype=torch.float64)
    return x, spans_within(n, lengths)


def literal_heads(layer, x, mask):
    """(Q K^T) V: for every span, a sum over all spans of its sentence, with their S x S weights."""
    d = x.shape[2] // layer.n_heads
    out = x.new_zeros(*x.shape[:2], layer.n_heads, d)
    for b in range(len(x)):
        there = mask[b].nonzero().squeeze(1).tolist()
        for h in range(layer.n_heads):
            head = slice(h * d, (h + 1) * d)
            queries, keys, values = (
                x[b] @ projection.weight[head].T
                for projection in (layer.query, layer.key, layer.value)
            )
            weights = queries @ keys.T
            for s in range(x.shape[1]):
                for t in there:
                    out[b, s, h] += weights[s, t] * values[t]
    return out


def normalised(norm, x):
    """Layer normalisation as it is written: the biased variance, and 1e-5 added to it."""
    centred = x - x.mean(-1, keepdim=True)
    deviation = (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    return centred / deviation * norm.weight + norm.bias


def literal_attention(layer, x, mask):
    heads = literal_heads(layer, x, mask)
    if layer.per_head:
        return torch.cat([normalised(layer.layer_norm, head) for head in heads.unbind(2)], -1)
    return normalised(layer.layer_norm, heads.flatten(2))


def literal(scorer, posts, lengths):
    """Everything step by step: the pairs of fenceposts, all outputs, their projection, layers."""
    n = posts.shape[1] - 1
    starts, ends = packed_spans(n)
    left, right = (
        torch.nn.functional.leaky_relu(view(posts), 0.1)
        for view in (scorer.views.left, scorer.views.right)
    )
    x = scorer.projection(of_all_pairs(scorer.product, left, right)[:, starts, ends])
    mask = ends <= lengths.unsqueeze(1)
    for layer in scorer.layers:
        x = x + literal_attention(layer.attention, x, mask)
        x = x + layer.outer(layer.inner(x).relu())
    return x @ scorer.score.weight[0] + scorer.score.bias


def test_mask_of_spans():
    mask = spans_within(3, torch.tensor([3, 1, 2]))
    # (0,1) (1,2) (2,3) (0,2) (1,3) (0,3)
    assert mask.int().tolist() == [[1, 1, 1, 1, 1, 1], [1, 0, 0, 0, 0, 0], [1, 1, 0, 1, 0, 0]]


@NORMALISATIONS
@pytest.mark.parametrize("n_heads", [1, 2, 3])
@pytest.mark.parametrize("lengths", [[1], [4], [2, 5, 1]], ids=str)
def test_attention_by_all_pairs_of_spans(n_heads, normalise, lengths):
    layer = shaken(LinearSpanAttention(6, n_heads, normalise=normalise)).requires_grad_(False)
    x, mask = random_spans(lengths)
    mixture = layer.mixture(x, mask)
    assert mixture.shape == (len(x), 6, 6)
    expected = literal_heads(layer, x, mask).flatten(2)
    torch.testing.assert_close(x @ mixture, expected, rtol=1e-11, atol=1e-11)
    expected = literal_attention(layer, x, mask)
    torch.testing.assert_close(layer(x, mixture), expected, rtol=1e-9, atol=1e-9)


@NORMALISATIONS
def test_masked_spans_are_in_no_sum(normalise):
    layer = shaken(SpanTransformerLayer(6, 2, 5, normalise=normalise))
    x, mask = random_spans([4, 2])
    before = layer(x, mask)
    x[~mask] = 1e6 * torch.randn_like(x[~mask])
    torch.testing.assert_close(layer(x, mask)[mask], before[mask], rtol=0, atol=0)


@RANKS
def test_span_vectors_by_way_of_all_outputs(rank):
    scorer = make(biaffine_width=480, biaffine_rank=rank).requires_grad_(False)
    left, right = torch.randn(2, 3, 5, 4, dtype=torch.float64)
    outputs = of_all_pairs(scorer.product, left, right)
    assert outputs.shape == (3, 5, 5, 480)
    vectors = scorer.span_vectors(left, right)
    assert vectors.shape == (3, chart_size(4), 6)
    for k, (i, j) in enumerate(zip(*(t.tolist() for t in packed_spans(4)), strict=True)):
        expected = scorer.projection(outputs[:, i, j])
        torch.testing.assert_close(vectors[:, k], expected, rtol=1e-11, atol=1e-11)


@NORMALISATIONS
@RANKS
@pytest.mark.parametrize("n_layers", [0, 1, 2])
def test_scores_step_by_step(rank, normalise, n_layers):
    scorer = make(biaffine_rank=rank, normalise=normalise, layers=n_layers).requires_grad_(False)
    posts, lengths = torch.randn(3, 5, 5, dtype=torch.float64), torch.tensor([4, 1, 3])
    scores = scorer(posts, lengths)
    assert scores.shape == (3, chart_size(4))
    torch.testing.assert_close(scores, literal(scorer, posts, lengths), rtol=1e-9, atol=1e-9)


@NORMALISATIONS
@RANKS
@pytest.mark.parametrize(("size", "pieces"), [(1, 3 * [(1, 15)]), (200, [(2, 15), (1, 15)])])
def test_prediction_in_pieces(rank, normalise, size, pieces, monkeypatch):
    scorer = make(biaffine_rank=rank, normalise=normalise, layers=2)
    posts, lengths = torch.randn(3, 6, 5, dtype=torch.float64), torch.tensor([5, 1, 4])
    whole = scorer(posts, lengths)
    seen = []
    scorer.layers[1].attention.register_forward_hook(
        lambda _, inputs, output: seen.append(tuple(output.shape[:2]))
    )
    monkeypatch.setattr(span_attention, "CHUNK_SIZE", size)
    with torch.no_grad():
        scores = scorer(posts, lengths)
        torch.testing.assert_close(scores, literal(scorer, posts, lengths), rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(scores, whole.detach(), rtol=1e-9, atol=1e-9)
    assert seen == pieces
    assert torch.equal(scorer(posts, lengths), whole)
    assert seen == [*pieces, (3, 15)]


@RANKS
@given(st.lists(st.integers(1, 8), min_size=1, max_size=4), st.integers(0, 3), st.integers(0, 99))
@settings(deadline=None, max_examples=25)
def test_scores_do_not_depend_on_the_batch(rank, lengths, more_padding, seed):
    torch.manual_seed(seed)
    scorer = make(biaffine_rank=rank, layers=2).requires_grad_(False)
    longest = max(lengths) + more_padding
    posts = 3 * torch.randn(len(lengths), longest + 1, 5, dtype=torch.float64)
    scores = scorer(posts, torch.tensor(lengths))
    for b, n in enumerate(lengths):
        alone = scorer(posts[b : b + 1, : n + 1], torch.tensor([n]))[0]
        inside = scores[b, span_position(longest, *packed_spans(n))]
        torch.testing.assert_close(inside, alone, rtol=1e-7, atol=1e-7)


@NORMALISATIONS
@RANKS
def test_gradients(rank, normalise):
    scorer = make(
        d_in=2,
        span_width=2,
        biaffine_width=3,
        biaffine_rank=rank,
        width=4,
        feed_forward_width=3,
        normalise=normalise,
    )
    names, parameters = zip(*scorer.named_parameters(), strict=True)
    lengths = torch.tensor([3, 2])

    def forward(posts, *values):
        state = dict(zip(names, values, strict=True))
        scores = functional_call(scorer, state, (posts, lengths))
        return scores[spans_within(3, lengths)]

    posts = torch.randn(2, 4, 2, dtype=torch.float64, requires_grad=True)
    assert gradcheck(forward, (posts, *parameters))


def flops(module, *inputs):
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        module(*inputs)
    return counter.get_total_flops()


def test_attention_costs_the_same_for_every_span():
    """A fixed part for each sentence, and the same for each of its spans."""
    layer = SpanTransformerLayer(48, 3, 96)

    def cost(n_spans):
        return flops(layer, torch.randn(2, n_spans, 48), torch.ones(2, n_spans, dtype=torch.bool))

    fixed = cost(2) - 2 * (cost(2) - cost(1))
    assert fixed > 0
    for n in (20, 40):
        assert cost(chart_size(n)) - fixed == chart_size(n) * (cost(2) - cost(1))


@RANKS
def test_scores_cost_no_more_than_their_number(rank):
    """A fixed part, one for each fencepost and one for each span: a square in n, nothing higher."""
    scorer = make_plain(biaffine_rank=rank, layers=2)
    costs = [flops(scorer, torch.randn(1, n + 1, 5), torch.tensor([n])) for n in (10, 20, 30, 40)]
    first, second, third, fourth = costs
    assert fourth - 3 * third + 3 * second - first == 0
    assert fourth - 2 * third + second > 0


def test_dropout_drops_the_same_features_of_all_spans_of_a_sentence():
    layer = shaken(SpanTransformerLayer(40, 2, 5))
    for parameter in layer.outer.parameters():
        torch.nn.init.zeros_(parameter)
    x, mask = random_spans([4, 3, 4], d=40)
    set_dropout(layer, 0.5)
    kept = (layer(x, mask) - x).abs() > 1e-12
    assert torch.equal(kept, kept[:, :1].expand_as(kept))
    assert 0.2 < float(kept.double().mean()) < 0.8
    assert not torch.equal(kept[0], kept[1])


def test_the_rate_of_dropout_reaches_all_layers():
    scorer = make(layers=2)
    posts, lengths = torch.randn(1, 4, 5, dtype=torch.float64), torch.tensor([3])
    expected = scorer(posts, lengths)
    set_dropout(scorer, 0.5)
    rates = [scorer.views.dropout.rate, *(layer.dropout.rate for layer in scorer.layers)]
    assert rates == [0.5] * 3
    assert not torch.allclose(scorer(posts, lengths), expected)
    torch.testing.assert_close(scorer.eval()(posts, lengths), expected, rtol=0, atol=0)


@RANKS
def test_all_trees_are_equally_probable_at_first(rank):
    scorer = make_plain(biaffine_rank=rank)
    scores = scorer(torch.randn(2, 5, 5), torch.tensor([4, 4]))
    assert torch.equal(scores, scores[:1, :1].expand_as(scores))


def test_settings_are_checked():
    with pytest.raises(ValueError, match=r"must be one of \('head', 'concatenation'\), not 'none'"):
        make(normalise="none")
    with pytest.raises(ValueError, match="6 features can't be shared out evenly to 4 heads"):
        LinearSpanAttention(6, 4)
