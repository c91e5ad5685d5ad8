"""What backward passes written by hand gain over those that torch derives.

    python benchmarks/autograd.py [--threads 1] [--repeats 9] [--json FILE]

`SpanScorer` computes the hidden vectors of spans chunk by chunk, and anew on the way back;
`LayerNorm.normalise_sums` never reduces its large tensor; label scores of chosen pairs have a
backward pass of their own. Each is measured beside the same equation in plain torch, in the fastest
forms that we know: "checkpointed" recomputes chunks by `torch.utils.checkpoint`. Sizes are those of
the parsers trained on the English Web Treebank, and the paper's. All forms give the same scores and
gradients (checked).

CPU seconds, medians, all forms of a layer in turn; memory is the most of tensors held at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import Any

import torch
import torch.nn.functional as F
from measure import headline, in_turn, machine, options, parsed, tensors_mb, write
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from spacy_lal.layers.label_factors import LabelFactors, label_scores
from spacy_lal.layers.layer_norm import TINY, LayerNorm, centred
from spacy_lal.layers.span_scorer import CHUNK_SIZE, SpanScorer

TOLERANCE = 1e-4
PAIRS = 128

Form = Callable[[], Tensor]
"""One way to compute a result."""


# The same in plain torch


def plain_norm(norm: LayerNorm, x: Tensor) -> Tensor:
    return plain_norm_of_centred(norm, centred(x))


def plain_norm_of_centred(norm: LayerNorm, rows: Tensor) -> Tensor:
    length = torch.linalg.vector_norm(rows, dim=-1, keepdim=True)
    deviation = (length / math.sqrt(norm.width - 1)).clamp_min(TINY)
    return torch.addcmul(norm.b_2, rows * (1 / (deviation + norm.eps)), norm.a_2)


def plain_norm_of_sums(norm: LayerNorm, left: Tensor, right: Tensor) -> Tensor:
    """Equation by equation, on the large tensor."""
    return plain_norm(norm, left.unsqueeze(1) + right.unsqueeze(2))


def factored_norm_of_sums(norm: LayerNorm, left: Tensor, right: Tensor) -> Tensor:
    """The variance from inner products, as `LayerNorm.normalise_sums` has it."""
    left, right = centred(left), centred(right)
    squares = torch.baddbmm(
        right.square().sum(-1).unsqueeze(2) + left.square().sum(-1).unsqueeze(1),
        right,
        left.transpose(1, 2),
        alpha=2,
    )
    inverse = 1 / ((squares / (norm.width - 1)).clamp_min(TINY**2).sqrt() + norm.eps)
    sums = (left * norm.a_2).unsqueeze(1) + (right * norm.a_2).unsqueeze(2)
    return torch.addcmul(norm.b_2, sums, inverse.unsqueeze(-1))


def spans_of(scorer: SpanScorer, starts: Tensor, ends: Tensor, widths: range) -> Tensor:
    """Scores of the spans of these widths, without the one that is 0."""
    n_rows = starts.shape[1]
    hidden = torch.cat([ends[:, w:] - starts[:, : n_rows - w] for w in widths], 1)
    scores: Tensor = scorer.output(F.relu(plain_norm_of_centred(scorer.layer_norm, hidden)))
    return scores


def plain_spans(scorer: SpanScorer, posts: Tensor) -> Tensor:
    starts, ends = projected(scorer, posts)
    return F.pad(spans_of(scorer, starts, ends, range(1, posts.shape[1])), (1, 0))


def checkpointed_spans(scorer: SpanScorer, posts: Tensor) -> Tensor:
    starts, ends = projected(scorer, posts)
    scores = [
        checkpoint(spans_of, scorer, starts, ends, widths, use_reentrant=False)
        for widths in chunks(starts.shape)
    ]
    return F.pad(torch.cat(scores, 1), (1, 0))


def projected(scorer: SpanScorer, posts: Tensor) -> tuple[Tensor, Tensor]:
    starts = F.linear(posts, scorer.hidden.weight)
    return centred(starts), centred(starts + scorer.hidden.bias)


def chunks(shape: torch.Size) -> Iterator[range]:
    """Widths whose spans have about as many hidden values as a chunk of `SpanScorer`."""
    batch, n_rows, d_hidden = shape
    first, values = 1, 0
    for width in range(1, n_rows):
        values += batch * (n_rows - width) * d_hidden
        if values >= CHUNK_SIZE or width == n_rows - 1:
            yield range(first, width + 1)
            first, values = width + 1, 0


def bilinear(left: Tensor, right: Tensor, weight: Tensor) -> Tensor:
    return F.bilinear(left, right, weight)


def projected_left(left: Tensor, right: Tensor, weight: Tensor) -> Tensor:
    """Every left vector through all matrices, then times its right one."""
    n_labels, a, b = weight.shape
    rows = (left @ weight.transpose(0, 1).reshape(a, -1)).view(-1, n_labels, b)
    return torch.bmm(rows, right.unsqueeze(2)).squeeze(2)


def checkpointed_pairs(left: Tensor, right: Tensor, weight: Tensor) -> Tensor:
    """`projected_left`, some pairs at a time, which the backward pass computes anew."""
    parts = zip(left.split(PAIRS), right.split(PAIRS), strict=True)
    return torch.cat(
        [checkpoint(projected_left, x, y, weight, use_reentrant=False) for x, y in parts]
    )


def outer_products(left: Tensor, right: Tensor, weight: Tensor) -> Tensor:
    """All products of features of a pair, in one matrix product with all labels."""
    return (left.unsqueeze(2) * right.unsqueeze(1)).flatten(1) @ weight.flatten(1).T


def plain_labels(
    form: Callable[[Tensor, Tensor, Tensor], Tensor],
    factors: LabelFactors,
    sentences: Tensor,
    starts: Tensor,
    ends: Tensor,
) -> Tensor:
    left, right = factors.left[sentences, starts], factors.right[sentences, ends]
    return form(F.pad(left, (0, 1), value=1.0), F.pad(right, (0, 1), value=1.0), factors.weight)


# What is measured


def cases() -> Iterator[tuple[str, dict[str, Form], list[Tensor]]]:
    """What it is, its forms (the package's first), and what they are differentiated by."""
    for batch, words, d, hidden, labels in (
        (32, 15, 1024, 250, 100),
        (8, 40, 1024, 250, 100),
        (1, 100, 1024, 250, 100),
    ):
        scorer = randomised(SpanScorer(d, hidden, labels))
        posts = leaf(batch, words + 1, d)
        yield (
            f"span scorer, {batch} x {words} words, {hidden} hidden",
            {
                "by hand": partial(scorer, posts),
                "plain": partial(plain_spans, scorer, posts),
                "checkpointed": partial(checkpointed_spans, scorer, posts),
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
                "plain, factored": partial(factored_norm_of_sums, norm, left, right),
            },
            [left, right, *norm.parameters()],
        )
    for batch, words, pairs, d, labels in ((64, 15, 960, 64, 50), (64, 15, 1856, 100, 120)):
        left, right = leaf(batch, words + 1, d), leaf(batch, words + 1, d)
        weight = leaf(labels, d + 1, d + 1)
        factors = LabelFactors(left, right, weight)
        sentences = torch.arange(pairs) % batch
        starts, ends = torch.randint(words + 1, (2, pairs)).unbind()
        chosen = (factors, sentences, starts, ends)
        yield (
            f"labels of {pairs} pairs, {labels} labels, {d} features",
            {
                "by hand": partial(label_scores, *chosen),
                "F.bilinear": partial(plain_labels, bilinear, *chosen),
                "projected": partial(plain_labels, projected_left, *chosen),
                "checkpointed": partial(plain_labels, checkpointed_pairs, *chosen),
                "outer products": partial(plain_labels, outer_products, *chosen),
            },
            [left, right, weight],
        )


def leaf(*shape: int) -> Tensor:
    return torch.randn(*shape, requires_grad=True)


def randomised(module: nn.Module) -> Any:
    """Scales and shifts of its layer norm are not the 1 and 0 they begin as."""
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
        if errors[form] > TOLERANCE:
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
            {
                "layer": name,
                "pass": what,
                "form": form,
                "ms": 1e3 * times[form],
                "peak_mb": tensors_mb(steps[form]),
                "relative_error": errors[form],
            }
            for form in forms
        ]
    return rows


def main() -> None:
    arguments = parsed(options(__doc__, repeats=9))
    torch.manual_seed(0)
    report = machine(arguments, "torch")
    print(headline(report))
    print(f"\n{'':50}{'':15}{'':16}{'CPU ms':>9}{'peak MB':>9}{'error':>9}")
    rows = []
    for name, forms, leaves in cases():
        for row in measured(name, forms, leaves, arguments.repeats):
            print(
                f"{row['layer']:50}{row['pass']:15}{row['form']:16}{row['ms']:9.2f}"
                f"{row['peak_mb']:9.1f}{row['relative_error']:9.1e}",
                flush=True,
            )
            rows.append(row)
    write(arguments.json, report | {"rows": rows})


if __name__ == "__main__":
    main()
