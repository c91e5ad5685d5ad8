import pytest
import torch
from torch.autograd import gradcheck
from torch.func import functional_call

from spacy_lal.layers import biaffine
from spacy_lal.layers.biaffine import LabelFactors, label_scores
from spacy_lal.layers.biaffine_spans import BiaffineLabels, BiaffineSpans, BiaffineSpanSettings
from spacy_lal.layers.dropout import set_dropout
from spacy_lal.structure.chart import chart_size, packed_spans, span_position

RANKS = pytest.mark.parametrize("rank", [None, 1, 3], ids=lambda rank: f"rank {rank}")


def shaken(module):
    """In double precision, with no parameter left at a special value."""
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter)
    return module.double()


def make_spans(d_in=6, d_span=5):
    return shaken(BiaffineSpans(BiaffineSpanSettings(d_span), d_in))


def make_labels(rank, d_in=6, n_labels=4, d_label=5):
    settings = BiaffineSpanSettings(label_width=d_label, label_rank=rank)
    return shaken(BiaffineLabels(settings, d_in, n_labels))


def fenceposts(batch, n, d_in=6, **options):
    return torch.randn(batch, n + 1, d_in, dtype=torch.float64, **options)


def viewed(layer, post):
    """LeakyReLU(W x + b) of one fencepost."""
    hidden = layer.weight @ post + layer.bias
    return torch.where(hidden > 0, hidden, 0.1 * hidden)


def literal(product, x, y):
    """All outputs for two vectors, each term by itself."""
    if hasattr(product, "mixture"):
        u = product.left.weight @ x + product.left.bias
        v = product.right.weight @ y + product.right.bias
        return product.mixture.weight @ (u * v) + product.mixture.bias
    return (
        torch.einsum("oij,i,j->o", product.bilinear, x, y)
        + product.left @ x
        + product.right @ y
        + product.bias
    )


def spans_of(n):
    return [(i, i + width) for width in range(1, n + 1) for i in range(n + 1 - width)]


@pytest.mark.parametrize(("batch", "n"), [(1, 1), (3, 2), (2, 6)])
def test_spans_one_by_one_in_packed_order(batch, n):
    scorer = make_spans().requires_grad_(False)
    posts = fenceposts(batch, n)
    scores = scorer(posts, torch.full((batch,), n))
    assert scores.shape == (batch, chart_size(n))
    for b in range(batch):
        for k, (i, j) in enumerate(spans_of(n)):
            left = viewed(scorer.views.left, posts[b, i])
            right = viewed(scorer.views.right, posts[b, j])
            expected = float(literal(scorer.product, left, right))
            assert float(scores[b, k]) == pytest.approx(expected, abs=1e-12)


@RANKS
def test_labels_of_chosen_spans_one_by_one(rank):
    scorer = make_labels(rank).requires_grad_(False)
    posts = fenceposts(3, 4)
    # in no order, of no sentence 1, one of them twice, and one that ends where it begins
    chosen = [(2, 1, 3), (0, 0, 4), (0, 3, 4), (2, 1, 3), (2, 0, 1), (0, 2, 2)]
    scores = label_scores(scorer(posts), *torch.tensor(chosen).T)
    assert scores.shape == (len(chosen), 4)
    for row, (b, i, j) in zip(scores, chosen, strict=True):
        left = viewed(scorer.views.left, posts[b, i])
        right = viewed(scorer.views.right, posts[b, j])
        torch.testing.assert_close(row, literal(scorer.product, left, right), rtol=0, atol=1e-12)


@RANKS
@pytest.mark.parametrize("rows", [1, 7, 256])
def test_labels_of_many_spans_one_by_one(rank, rows, monkeypatch):
    """So many that, in prediction, scores of all pairs are computed, some sentences at a time."""
    monkeypatch.setattr(biaffine, "ROWS", rows)
    scorer = make_labels(rank).requires_grad_(False)
    posts = fenceposts(3, 4)
    chosen = [(b, i, j) for i in range(5) for b in (2, 0) for j in range(5)] * 3
    with torch.no_grad():
        scores = label_scores(scorer(posts), *torch.tensor(chosen).T)
    for row, (b, i, j) in zip(scores, chosen, strict=True):
        left = viewed(scorer.views.left, posts[b, i])
        right = viewed(scorer.views.right, posts[b, j])
        torch.testing.assert_close(row, literal(scorer.product, left, right), rtol=0, atol=1e-12)


@RANKS
def test_no_spans_have_no_labels(rank):
    none = torch.zeros(0, dtype=torch.long)
    factors = make_labels(rank)(fenceposts(2, 3))
    scores = label_scores(factors, none, none, none)
    assert scores.shape == (0, 4)
    scores.sum().backward()


@pytest.mark.parametrize(
    ("make", "read"),
    [
        (make_spans, lambda scorer, posts: scorer(posts, torch.tensor([2, 3]))),
        *(
            (
                lambda rank=rank: make_labels(rank),
                lambda scorer, posts: label_scores(
                    scorer(posts), *torch.tensor([(0, 0, 2), (1, 2, 3), (0, 1, 2)]).T
                ),
            )
            for rank in (None, 3)
        ),
    ],
    ids=["spans", "labels", "factorised labels"],
)
def test_gradients(make, read):
    scorer = make()
    names, parameters = zip(*scorer.named_parameters(), strict=True)

    class Reader(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = scorer

        def forward(self, posts):
            return read(self.inner, posts)

    reader = Reader()

    def forward(posts, *values):
        state = {f"inner.{name}": value for name, value in zip(names, values, strict=True)}
        return functional_call(reader, state, (posts,))

    assert gradcheck(forward, (fenceposts(2, 3, requires_grad=True), *parameters))


@RANKS
def test_the_gradient_of_the_weight_output_reaches_the_parameters(rank):
    scorer = make_labels(rank)
    weight = scorer(fenceposts(1, 2)).weight
    of_weight = torch.randn_like(weight)
    weight.backward(of_weight)
    if rank is None:
        assert torch.equal(scorer.product.bilinear.grad, of_weight[:, :-1, :-1])
        assert torch.equal(scorer.product.left.grad, of_weight[:, :-1, -1])
        assert torch.equal(scorer.product.right.grad, of_weight[:, -1, :-1])
        assert torch.equal(scorer.product.bias.grad, of_weight[:, -1, -1])
    else:
        assert torch.equal(scorer.product.mixture.weight.grad, of_weight[:, :-1])
        assert torch.equal(scorer.product.mixture.bias.grad, of_weight[:, -1])


@RANKS
def test_labels_learn_through_detached_factors(rank):
    """The loss sees copies of the factors, whose gradients are handed back to the module."""
    scorer, posts = make_labels(rank), fenceposts(2, 4)
    spans = torch.tensor([(0, 0, 4), (1, 1, 2), (1, 0, 3)]).T
    label_scores(scorer(posts), *spans).logsumexp(1).sum().backward()
    expected = {name: p.grad.clone() for name, p in scorer.named_parameters()}
    scorer.zero_grad()
    factors = scorer(posts)
    copies = LabelFactors(*(factor.detach().requires_grad_() for factor in factors))
    label_scores(copies, *spans).logsumexp(1).sum().backward()
    torch.autograd.backward(factors, [copy.grad for copy in copies])
    for name, parameter in scorer.named_parameters():
        assert bool(parameter.grad.any()), name
        torch.testing.assert_close(parameter.grad, expected[name], rtol=0, atol=1e-11)


@pytest.mark.parametrize("make", [make_spans, lambda **sizes: make_labels(None, d_label=40)])
def test_dropout_drops_the_same_features_of_all_fenceposts_of_a_sentence(make):
    scorer = make(d_span=40)
    posts = fenceposts(3, 6)
    whole = scorer.views(posts)
    set_dropout(scorer, 0.5)
    for dropped, complete in zip(scorer.views(posts), whole, strict=True):
        kept = dropped != 0
        assert torch.equal(kept, kept[:, :1].expand_as(kept))
        assert 0.2 < float(kept.double().mean()) < 0.8
        torch.testing.assert_close(dropped, 2 * complete * kept)
    left, right = (view[:, 0] != 0 for view in scorer.views(posts))
    assert not torch.equal(left, right)
    assert not torch.equal(left[0], left[1])
    for actual, complete in zip(scorer.eval().views(posts), whole, strict=True):
        assert torch.equal(actual, complete)


def test_scores_do_not_depend_on_the_batch():
    spans, labels = make_spans(), make_labels(3)
    lengths, longest = [2, 6, 1, 4], 6
    posts = fenceposts(len(lengths), longest)
    scores, factors = spans(posts, torch.tensor(lengths)), labels(posts)
    for b, n in enumerate(lengths):
        own = posts[b : b + 1, : n + 1]
        starts, ends = packed_spans(n)
        torch.testing.assert_close(
            scores[b, span_position(longest, starts, ends)],
            spans(own, torch.tensor([n]))[0],
            rtol=0,
            atol=1e-12,
        )
        torch.testing.assert_close(
            label_scores(factors, torch.full_like(starts, b), starts, ends),
            label_scores(labels(own), torch.zeros_like(starts), starts, ends),
            rtol=0,
            atol=1e-12,
        )


def test_all_trees_are_equally_probable_at_first():
    scorer = BiaffineSpans(BiaffineSpanSettings(5), 6)
    posts = torch.randn(2, 5, 6)
    assert not bool(scorer(posts, torch.tensor([4, 4])).any())
    # and yet the product learns
    scorer(posts, torch.tensor([4, 4])).sum().backward()
    assert bool(scorer.product.bilinear.grad.any())
