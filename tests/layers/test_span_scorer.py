import pytest
import torch
from torch.autograd import gradcheck
from torch.func import functional_call

from spacy_lal.layers import span_scorer
from spacy_lal.layers.dropout import set_dropout
from spacy_lal.layers.integers import Linear
from spacy_lal.layers.prepared import prepare
from spacy_lal.layers.span_scorer import SpanScorer
from spacy_lal.structure.chart import packed_spans


def make(d_in=6, d_hidden=5, n_labels=4, *, standard=False) -> SpanScorer:
    scorer = SpanScorer(d_in, d_hidden, n_labels).double()
    if standard:
        scorer.layer_norm = torch.nn.LayerNorm(d_hidden).double()
    for parameter in scorer.layer_norm.parameters():
        torch.nn.init.normal_(parameter)
    return scorer


def literal(scorer, posts):
    """The scores span by span, each from its own vector."""
    starts, ends = packed_spans(posts.shape[1] - 1)
    hidden = scorer.hidden(posts[:, ends] - posts[:, starts])
    if isinstance(scorer.layer_norm, torch.nn.LayerNorm):
        normalised = scorer.layer_norm(hidden)
    else:
        centred = hidden - hidden.mean(-1, keepdim=True)
        normalised = centred / (hidden.std(-1, keepdim=True) + 1e-3)
        normalised = normalised * scorer.layer_norm.a_2 + scorer.layer_norm.b_2
    scores = scorer.output(normalised.relu())
    return torch.cat([torch.zeros_like(scores[..., :1]), scores], -1)


@pytest.mark.parametrize("standard", [False, True])
@pytest.mark.parametrize("chunk_size", [1, 100, 1 << 20])
@pytest.mark.parametrize(("batch", "n"), [(1, 1), (3, 2), (2, 9)])
def test_scores_and_gradients_equal_the_equations(chunk_size, batch, n, standard, monkeypatch):
    monkeypatch.setattr(span_scorer, "CHUNK_SIZE", chunk_size)
    scorer = make(standard=standard)
    posts = torch.randn(batch, n + 1, 6, dtype=torch.float64, requires_grad=True)
    expected, actual = literal(scorer, posts), scorer(posts)
    assert actual.shape == (batch, n * (n + 1) // 2, 4)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-12)
    loss = torch.randn_like(expected)
    wanted = [posts, *scorer.parameters()]
    torch.testing.assert_close(
        torch.autograd.grad((actual * loss).sum(), wanted),
        torch.autograd.grad((expected * loss).sum(), wanted),
        rtol=1e-9,
        atol=1e-9,
    )
    with torch.no_grad():
        torch.testing.assert_close(scorer.eval()(posts), expected, rtol=0, atol=1e-12)


def test_gradcheck(monkeypatch):
    monkeypatch.setattr(span_scorer, "CHUNK_SIZE", 20)
    scorer = make()
    names, parameters = zip(*scorer.named_parameters(), strict=True)

    def forward(posts, *parameters):
        return functional_call(scorer, dict(zip(names, parameters, strict=True)), (posts,))

    posts = torch.randn(2, 4, 6, dtype=torch.float64, requires_grad=True)
    assert gradcheck(forward, (posts, *parameters))


def test_no_words_no_spans():
    assert make()(torch.randn(2, 1, 6, dtype=torch.float64)).shape == (2, 0, 4)
    assert make()(torch.randn(0, 3, 6, dtype=torch.float64)).shape == (0, 3, 4)


def test_dropout_drops_hidden_features_of_a_sentence(monkeypatch):
    monkeypatch.setattr(span_scorer, "CHUNK_SIZE", 50)
    scorer = make(d_hidden=12)
    torch.nn.init.ones_(scorer.output.weight)
    posts = torch.randn(3, 5, 6, dtype=torch.float64, requires_grad=True)
    expected = scorer(posts)
    set_dropout(scorer, 0.5)
    assert not torch.allclose(scorer(posts), expected)

    def forward(posts):
        torch.manual_seed(3)
        return scorer(posts)

    assert gradcheck(forward, (posts,))
    torch.testing.assert_close(scorer.eval()(posts), expected)


def test_a_hidden_width_that_cannot_be_normalised_is_refused():
    with pytest.raises(ValueError, match="d_hidden"):
        SpanScorer(6, 1, 4)


@pytest.mark.parametrize("standard", [False, True])
def test_products_of_integers_are_near_and_of_each_sentence_alone(standard, monkeypatch):
    torch.manual_seed(0)
    scorer = SpanScorer(32, 250, 20, Linear).eval()
    if standard:
        scorer.layer_norm = torch.nn.LayerNorm(250)
    for parameter in scorer.layer_norm.parameters():
        torch.nn.init.normal_(parameter)
    posts = torch.randn(3, 12, 32)
    with torch.no_grad():
        expected = literal(scorer, posts)
        prepare(scorer, "int8")
        actual = scorer(posts)
        # of both layers: half a step is a 254th of the largest number, of a weight a 128th
        error = (actual - expected).square().mean().sqrt() / expected.square().mean().sqrt()
        assert 0 < error < 0.03
        assert not actual[..., 0].any()
        monkeypatch.setattr(span_scorer, "CHUNK_SIZE", 1)
        alone = torch.cat([scorer(posts[k : k + 1]) for k in range(3)])
    assert torch.equal(actual, alone)
    # with gradients as before
    torch.testing.assert_close(scorer(posts), expected, rtol=1e-4, atol=1e-4)
