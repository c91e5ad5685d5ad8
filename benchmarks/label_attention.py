"""Speed of label attention and span scoring, factorised and by the letter of the equations.

    python benchmarks/label_attention.py [--threads 1] [--repeats 5] [--json FILE]

Both forms hold the same parameters and give the same numbers (checked). Sizes are those of the
published English parser's Label Attention Layer: 112 heads, keys and values of 128, rows of 1024
(half of them position), heads reduced to 64 (operations are also counted for 128).
"""

import math
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from measure import headline, in_turn, machine, options, parsed, write
from torch import Tensor, nn

from spacy_lal.layers.label_attention import LabelAttention
from spacy_lal.layers.span_scorer import SpanScorer

HEADS, KEY, VALUE, MODEL, PROJ = 112, 128, 128, 1024, 64
ROWS, BATCH = 25, 32
SPAN_MODEL, SPAN_HIDDEN, SPAN_LABELS = HEADS * PROJ, 250, 114


def unfactorised_label_attention(layer: LabelAttention, x: Tensor, mask: Tensor) -> Tensor:
    """Equations 1-4 of Mrini et al. 2020 and the unnumbered steps after them, as they are written:
    keys, values and projected rows of every head."""
    content, position = x.split(layer.d_model // 2, dim=-1)
    p = dict(layer.named_parameters())
    keys = [
        torch.einsum("bnd,hdk->bhnk", rows, p[f"w_ks{part}"])
        for part, rows in (("1", content), ("2", position))
    ]
    values = [
        torch.einsum("bnd,hdk->bhnk", rows, p[f"w_vs{part}"])
        for part, rows in (("1", content), ("2", position))
    ]
    scores = torch.einsum("hk,bhnk->bhn", p["w_qs1"], keys[0])
    scores = scores + torch.einsum("hk,bhnk->bhn", p["w_qs2"], keys[1])
    scores = (scores * layer.scale).masked_fill(~mask[:, None], -math.inf)
    weights = scores.softmax(-1)
    contexts = [torch.einsum("bhn,bhnk->bhk", weights, value) for value in values]
    projected = torch.cat(
        [contexts[0] @ p["proj1.weight"].T, contexts[1] @ p["proj2.weight"].T], dim=-1
    )
    rows = projected.unsqueeze(1) + x.unsqueeze(2)
    reduced = rows @ p["reduce_proj.weight"].T
    normalised: Tensor = layer.layer_norm(reduced)
    return normalised.flatten(2)


def unfactorised_span_scorer(scorer: SpanScorer, fenceposts: Tensor) -> Tensor:
    """The first layer applied to the vector of every span."""
    n = fenceposts.shape[1] - 1
    spans = torch.cat(
        [fenceposts[:, width:] - fenceposts[:, :-width] for width in range(1, n + 1)], dim=1
    )
    scores = scorer.output(F.relu(scorer.layer_norm(scorer.hidden(spans))))
    return F.pad(scores, (1, 0))


def flop_per_row(n: int, d_proj: int) -> dict[str, float]:
    """Multiplications and additions of one row in a sentence of n rows."""
    part = MODEL // 2
    plain = {
        "keys": 2 * 2 * HEADS * part * KEY // 2,
        "values": 2 * 2 * HEADS * part * VALUE // 2,
        "scores and contexts": 2 * HEADS * (KEY + VALUE),
        "projection": 2 * HEADS * part * VALUE / n,
        "residual": HEADS * MODEL,
        "reduction": 2 * HEADS * MODEL * d_proj,
    }
    factorised = {
        "scores": 2 * HEADS * MODEL,
        "pooled rows": 2 * HEADS * MODEL,
        "contexts": 2 * HEADS * MODEL * VALUE / 2 / n,
        "reduced contexts": 2 * HEADS * VALUE * d_proj / n,
        "reduced rows": 2 * MODEL * d_proj,
        "sums": HEADS * d_proj,
    }
    return {"unfactorised": sum(plain.values()), "factorised": sum(factorised.values())}


def compare(
    name: str,
    module: nn.Module,
    plain: Callable[[], Tensor],
    factorised: Callable[[], Tensor],
    repeats: int,
) -> list[dict[str, object]]:
    """Times of both forms, forward and forward with backward."""
    with torch.no_grad():
        expected, actual = plain(), factorised()
    error = ((expected - actual).abs().max() / expected.abs().max()).item()
    if error > 1e-4:
        raise AssertionError(f"{name}: the two forms differ by {error:.1e}")
    gradient = torch.randn_like(expected)
    del expected, actual

    def forward(run: Callable[[], Tensor]) -> None:
        with torch.no_grad():
            run()

    def backward(run: Callable[[], Tensor]) -> None:
        module.zero_grad()
        run().backward(gradient)

    rows = []
    for what, step in (("forward", forward), ("forward+backward", backward)):
        module.train(step is backward)
        runs = {"before": partial(step, plain), "after": partial(step, factorised)}
        times = in_turn(runs, repeats)
        before, after = times["before"], times["after"]
        rows.append(
            {
                "name": name,
                "pass": what,
                "unfactorised_ms": before * 1e3,
                "factorised_ms": after * 1e3,
                "speed_up": before / after,
                "relative_error": error,
            }
        )
    return rows


def main() -> None:
    arguments = parsed(options(__doc__, repeats=5))
    torch.manual_seed(0)

    layer = LabelAttention(MODEL, HEADS, KEY, VALUE, PROJ, d_positional=MODEL // 2)
    x = torch.randn(BATCH, ROWS, MODEL, requires_grad=True)
    mask = torch.ones(BATCH, ROWS, dtype=torch.bool)
    rows = compare(
        f"label attention, {BATCH} x {ROWS} rows",
        layer,
        lambda: unfactorised_label_attention(layer, x, mask),
        lambda: layer(x, mask),
        arguments.repeats,
    )
    scorer = SpanScorer(SPAN_MODEL, SPAN_HIDDEN, SPAN_LABELS)
    for words, sentences in ((25, 4), (100, 1)):
        posts = torch.randn(sentences, words + 1, SPAN_MODEL, requires_grad=True)
        rows += compare(
            f"span scorer, {sentences} x {words} words",
            scorer,
            lambda posts=posts: unfactorised_span_scorer(scorer, posts),
            lambda posts=posts: scorer(posts),
            arguments.repeats,
        )

    operations = {d_proj: flop_per_row(ROWS, d_proj) for d_proj in (PROJ, 2 * PROJ)}
    report = machine(arguments, "torch")
    print(headline(report))
    for d_proj, counts in operations.items():
        print(
            f"label attention, heads of {d_proj}, MFLOP a row: "
            + ", ".join(f"{form} {count / 1e6:.1f}" for form, count in counts.items())
        )
    print(f"{'':30}{'pass':18}{'unfactorised':>14}{'factorised':>12}{'times':>8}{'error':>10}")
    for row in rows:
        print(
            f"{row['name']:30}{row['pass']:18}{row['unfactorised_ms']:11.1f} ms"
            f"{row['factorised_ms']:9.1f} ms{row['speed_up']:8.1f}{row['relative_error']:10.1e}"
        )
    write(arguments.json, report | {"flop_per_row": operations, "rows": rows})


if __name__ == "__main__":
    main()
