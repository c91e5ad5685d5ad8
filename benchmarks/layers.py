"""Time and memory of layers beside plainer forms of the same equations.

    python benchmarks/layers.py [--threads 1] [--repeats 9] [--json FILE]

Label attention, in the sizes of the published English parser (112 heads, keys and values of 128,
rows of 1024, half of them position, heads reduced to 64), beside equations 1 to 4 of Mrini et al.
2020 as they are written. The span scorer, which projects fenceposts, beside its first layer applied
to every span's vector. Backward passes written by hand beside torch's: `SpanScorer` computes hidden
vectors in chunks, and again in the backward pass; `LayerNorm.normalise_sums` never reduces its
large tensor; label scores of chosen pairs. Dropout beside torch's. All forms but dropout are
checked for equal scores and gradients.

Times are medians of CPU milliseconds, all forms of a layer in turn; memory is in MB of tensors held
at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import Any

import torch
import torch.nn.functional as F
from measure import in_turn, machine, options, parsed, table, tensors_mb, write
from torch import Tensor, nn

from spacy_lal.layers.biaffine import LabelFactors, label_scores
from spacy_lal.layers.dropout import drop
from spacy_lal.layers.label_attention import EncoderSettings, LabelAttention
from spacy_lal.layers.layer_norm import TINY, LayerNorm, centred
from spacy_lal.layers.span_scorer import SpanScorer

TOLERANCE = 1e-4
HEADS, KEY, VALUE, MODEL, PROJ = 112, 128, 128, 1024, 64

Form = Callable[[], Tensor]
"""A function that computes a result in one way."""


# Plainer forms


def written_attention(layer: LabelAttention, x: Tensor, mask: Tensor) -> Tensor:
    """Compute equations 1-4 and the unnumbered steps after them: keys, values and projected rows of
    every head."""
    content, position = x.split(layer.d_model // 2, dim=-1)
    p = dict(layer.named_parameters())
    halves = (("1", content), ("2", position))
    keys = [torch.einsum("bnd,hdk->bhnk", rows, p[f"w_ks{part}"]) for part, rows in halves]
    values = [torch.einsum("bnd,hdk->bhnk", rows, p[f"w_vs{part}"]) for part, rows in halves]
    scores = torch.einsum("hk,bhnk->bhn", p["w_qs1"], keys[0])
    scores = scores + torch.einsum("hk,bhnk->bhn", p["w_qs2"], keys[1])
    weights = (scores * layer.scale).masked_fill(~mask[:, None], -math.inf).softmax(-1)
    contexts = [torch.einsum("bhn,bhnk->bhk", weights, value) for value in values]
    projected = torch.cat(
        [contexts[0] @ p["proj1.weight"].T, contexts[1] @ p["proj2.weight"].T], dim=-1
    )
    rows = projected.unsqueeze(1) + x.unsqueeze(2)
    normalised: Tensor = layer.layer_norm(rows @ p["reduce_proj.weight"].T)
    return normalised.flatten(2)


def written_spans(scorer: SpanScorer, posts: Tensor) -> Tensor:
    """Apply the first layer to the vector of every span."""
    n = posts.shape[1]
    spans = torch.cat([posts[:, width:] - posts[:, :-width] for width in range(1, n)], dim=1)
    return F.pad(scorer.output(F.relu(scorer.layer_norm(scorer.hidden(spans)))), (1, 0))


def plain_spans(scorer: SpanScorer, posts: Tensor) -> Tensor:
    """Score all spans at once from projected fenceposts, with torch's backward pass."""
    starts = F.linear(posts, scorer.hidden.weight)
    starts, ends = centred(starts), centred(starts + scorer.hidden.bias)
    n = posts.shape[1]
    hidden = torch.cat([ends[:, w:] - starts[:, : n - w] for w in range(1, n)], 1)
    scores: Tensor = scorer.output(F.relu(plain_norm(scorer.layer_norm, hidden)))
    return F.pad(scores, (1, 0))


def plain_norm(norm: LayerNorm, rows: Tensor) -> Tensor:
    """Normalise centred rows."""
    length = torch.linalg.vector_norm(rows, dim=-1, keepdim=True)
    deviation = (length / math.sqrt(norm.width - 1)).clamp_min(TINY)
    return torch.addcmul(norm.b_2, rows * (1 / (deviation + norm.eps)), norm.a_2)


def plain_norm_of_sums(norm: LayerNorm, left: Tensor, right: Tensor) -> Tensor:
    """Normalise the large tensor, equation by equation."""
    return plain_norm(norm, centred(left.unsqueeze(1) + right.unsqueeze(2)))


def plain_labels(factors: LabelFactors, sentences: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
    """Multiply every left vector by all matrices, then by its right vector."""
    left = F.pad(factors.left[sentences, starts], (0, 1), value=1.0)
    right = F.pad(factors.right[sentences, ends], (0, 1), value=1.0)
    n_labels, a, b = factors.weight.shape
    rows = (left @ factors.weight.transpose(0, 1).reshape(a, -1)).view(-1, n_labels, b)
    return torch.bmm(rows, right.unsqueeze(2)).squeeze(2)


# Measurements


def cases() -> Iterator[tuple[str, dict[str, Form], list[Tensor]]]:
    """Yield the layer, its forms (the package's first), and the tensors of their gradients."""
    settings = EncoderSettings(HEADS, KEY, VALUE, PROJ, partition_width=MODEL // 2)
    layer = LabelAttention(settings, MODEL)
    x, mask = leaf(32, 25, MODEL), torch.ones(32, 25, dtype=torch.bool)
    yield (
        "label attention, 32 x 25 rows",
        {
            "factorised": lambda: layer(x, mask),
            "as written": partial(written_attention, layer, x, mask),
        },
        [x, *layer.parameters()],
    )
    for batch, words, d in ((4, 25, HEADS * PROJ), (1, 100, HEADS * PROJ), (32, 15, 1024)):
        scorer = randomised(SpanScorer(d, 250, 114))
        posts = leaf(batch, words + 1, d)
        yield (
            f"span scorer, {batch} x {words} words, width {d}",
            {
                "by hand": partial(scorer, posts),
                "plain": partial(plain_spans, scorer, posts),
                "as written": partial(written_spans, scorer, posts),
            },
            [posts, *scorer.parameters()],
        )
    for batch, words, heads, d in ((32, 15, 64, 16), (8, 40, 64, 16), (32, 25, 112, 64)):
        norm = randomised(LayerNorm(d))
        left, right = leaf(batch, heads, d), leaf(batch, words + 2, d)
        yield (
            f"layer norm of sums, {batch} x {words} words, {heads} heads x {d}",
            {
                "by hand": partial(norm.normalise_sums, left, right),
                "plain": partial(plain_norm_of_sums, norm, left, right),
            },
            [left, right, *norm.parameters()],
        )
    for pairs, d, labels in ((960, 64, 50), (1856, 100, 120)):
        left, right, weight = leaf(64, 16, d), leaf(64, 16, d), leaf(labels, d + 1, d + 1)
        starts, ends = torch.randint(16, (2, pairs)).unbind()
        chosen = (LabelFactors(left, right, weight), torch.arange(pairs) % 64, starts, ends)
        yield (
            f"labels of {pairs} pairs, {labels} labels, {d} features",
            {"by hand": partial(label_scores, *chosen), "plain": partial(plain_labels, *chosen)},
            [left, right, weight],
        )
    x = leaf(2600, 384)
    forms = {"by hand": partial(drop, x, 0.3), "plain": partial(F.dropout, x, 0.3)}
    yield "dropout, 2,600 x 384", forms, [x]


def leaf(*shape: int) -> Tensor:
    return torch.randn(*shape, requires_grad=True)


def randomised(module: nn.Module) -> Any:
    """Set scales and shifts of layer norms to other values than 1 and 0."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, 1.0 if parameter.dim() == 1 else 0.0, 0.1)
    return module


def measured(
    name: str, forms: dict[str, Form], leaves: list[Tensor], repeats: int
) -> list[dict[str, Any]]:
    gradient = torch.randn_like(next(iter(forms.values()))())
    expected: list[Tensor] = []
    errors: dict[str, float] = {}
    for form, run in forms.items():
        scores = run()
        found = [scores.detach(), *torch.autograd.grad(scores, leaves, gradient)]
        expected = expected or found
        pairs = zip(found, expected, strict=True)
        errors[form] = max(((a - b).norm() / b.norm()).item() for a, b in pairs)
        if errors[form] > TOLERANCE and "dropout" not in name:
            raise AssertionError(f"{name}, {form}: differs by {errors[form]:.1e}")
        del scores, found, pairs

    def forward(run: Form) -> None:
        with torch.no_grad():
            run()

    def both(run: Form) -> None:
        torch.autograd.grad(run(), leaves, gradient)

    rows = []
    for what, step in (("forward", forward), ("and backward", both)):
        steps = {form: partial(step, run) for form, run in forms.items()}
        times = in_turn(steps, repeats, process_time)
        rows += [
            {"layer": name, "pass": what, "form": form, "ms": 1e3 * times[form]}
            | {"peak_mb": tensors_mb(steps[form]), "relative_error": errors[form]}
            for form in forms
        ]
    return rows


def main() -> None:
    arguments = parsed(options(__doc__, repeats=9))
    torch.manual_seed(0)
    report = machine(arguments, "torch")
    rows = [row for case in cases() for row in measured(*case, arguments.repeats)]
    print(table(rows))
    write(arguments.json, report | {"rows": rows})


if __name__ == "__main__":
    main()
