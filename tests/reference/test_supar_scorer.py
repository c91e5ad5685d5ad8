"""supar's scores of spans and labels, from fenceposts on, and the loss over both."""

import pytest
import torch
from torch.nn.functional import one_hot, pad

from spacy_lal.layers.biaffine import label_scores
from spacy_lal.layers.biaffine_spans import BiaffineLabels, BiaffineSpans, BiaffineSpanSettings
from spacy_lal.layers.encoder import LabelAttentionEncoder
from spacy_lal.layers.label_attention import EncoderSettings
from spacy_lal.parsing.network import TwoStageScores
from spacy_lal.structure.chart import pack, packed_spans

from .test_spanformer import biaffine_state


def load(scorer, arrays, kind):
    """Give a scorer the perceptrons and the product that supar calls `kind`."""
    for side, view in (("l", scorer.views.left), ("r", scorer.views.right)):
        name = f"{kind}_mlp_{side}.linear"
        view.load_state_dict({key: arrays[f"{name}.{key}"] for key in ("weight", "bias")})
    weight = arrays[f"{kind}_attn.weight"]
    # without a bias on the right, the 1 after y meets zeros
    weight = pad(weight, (0, weight.shape[1] - weight.shape[2]))
    scorer.product.load_state_dict(biaffine_state(weight))
    return scorer.double().requires_grad_(False)


def test_scores_of_spans_and_labels(load_arrays, load_json):
    cases = load_arrays("supar_crf")
    for options in load_json("supar_crf")["scorer"]:
        arrays = cases[options["key"]]
        width, n_labels = options["hidden"], options["n_labels"]
        settings = BiaffineSpanSettings(options["span_mlp"], options["label_mlp"])
        spans = load(BiaffineSpans(settings, width), arrays, "span")
        labels = load(BiaffineLabels(settings, width, n_labels), arrays, "label")
        rows = arrays["x"].double()
        assert rows.shape[1:] == (options["L"], width)
        for name, shape in options["params"].items():
            assert list(arrays[name].shape) == shape
        # nothing but the halves of rows
        fenceposts = LabelAttentionEncoder(EncoderSettings(heads=0), width).fenceposts(rows)
        batch, n = len(rows), rows.shape[1] - 2
        scores = spans(fenceposts, torch.full((batch,), n))
        torch.testing.assert_close(scores, pack(arrays["s_span"]), rtol=0, atol=1e-9)
        starts, ends = packed_spans(n)
        for b in range(batch):
            found = label_scores(labels(fenceposts), torch.full_like(starts, b), starts, ends)
            expected = arrays["s_label"][b, starts, ends]
            torch.testing.assert_close(found, expected, rtol=0, atol=1e-9)


def scores_from(spans, labels):
    """`TwoStageScores` of given tables [B,n+1,n+1] and [B,n+1,n+1,L].

    Factors are one-hot: (sentence, start) on the left, the end on the right, so the weights are the
    table of label scores.
    """
    batch, posts = labels.shape[:2]
    left = one_hot(torch.arange(batch * posts)).view(batch, posts, -1)
    right = one_hot(torch.arange(posts)).expand(batch, -1, -1)
    weight = pad(labels.flatten(0, 1).permute(2, 0, 1), (0, 1, 0, 1))
    return TwoStageScores(
        tags=labels.new_zeros(batch, posts - 1, 1),
        spans=pack(spans),
        left=left.to(labels),
        right=right.to(labels),
        weight=weight,
    )


def loss_per_word(arrays, lengths):
    """The loss of a batch, as it is summed and divided in training, and its gradients."""
    # every node has a label there: here 0 is that of none
    labels = pad(arrays["s_label"].double(), (1, 0), value=-1e4)
    scores = scores_from(arrays["s_span"].double(), labels)
    lengths = torch.tensor(lengths)
    scores.spans.requires_grad_()
    gold = pack(arrays["chart"].clamp(min=-1) + 1)
    loss = scores.trees(lengths).cross_entropy(gold).sum() / lengths.sum()
    (gradient,) = torch.autograd.grad(loss, scores.spans)
    return loss.item(), gradient * lengths.sum()


@pytest.mark.parametrize("kind", ["single", "batch"])
def test_losses(load_arrays, load_json, kind):
    cases = load_arrays("supar_crf")
    for item in load_json("supar_crf")[kind]:
        arrays = cases[item["key"]]
        loss, gradient = loss_per_word(arrays, item.get("lens") or [item["n"]])
        assert loss == pytest.approx(item["loss"], rel=1e-9, abs=1e-9)
        expected = pack(arrays["marginals"] - (arrays["chart"] >= 0).double())
        torch.testing.assert_close(gradient, expected, rtol=0, atol=1e-9)
