"""A picture of what a detector's heads take from its encoder's layers."""

from __future__ import annotations

from collections.abc import Sequence

from numpy import asarray, floating
from numpy.typing import ArrayLike, NDArray

from .palette import FAINT, INK, PAPER, shade
from .svg import rect, scale, svg, text
from .widths import shortened, width

CELL_X, CELL_Y = 46.0, 24.0
"""The width and the height of a cell, in pixels."""


def layer_attention_svg(
    alpha: ArrayLike,
    *,
    title: str = "Attention over layers",
    names: Sequence[str] = (),
    styled: bool = True,
) -> str:
    """A heat map of attention [layers, heads], mostly an average over tokens: a row a layer, the
    highest on top, a column a head (figure 2 of Kaneko and Komachi 2019), and the mean of all
    heads.

    names: of the layers, lowest first; by default their numbers, from 1.
    Raises ValueError if there are not as many names as layers.
    """
    weights: NDArray[floating] = asarray(alpha, dtype=float)
    n_layers, n_heads = weights.shape
    labels = list(names) or [f"layer {k}" for k in range(1, n_layers + 1)]
    if len(labels) != n_layers:
        raise ValueError(f"labels must name each of the {n_layers} layers: got {len(labels)} names")
    left, top = 90.0, 58.0
    greatest = float(weights.max()) or 1.0
    columns = [(f"head {j + 1}", str(j + 1), weights[:, j]) for j in range(n_heads)]
    columns.append(("mean", "mean", weights.mean(1)))
    parts = [text(16, 22, title, size=15, weight="bold")]
    parts.append(text(left - 8, top - 8, "head", size=11, anchor="end", fill=FAINT))
    for column, (name, shown, head_weights) in enumerate(columns):
        # the mean stands apart
        x = left + CELL_X * column + (10 if column == n_heads else 0)
        parts.append(text(x + CELL_X / 2, top - 8, shown, size=11, anchor="middle", fill=FAINT))
        for k, weight in enumerate(head_weights.tolist()):
            y = top + CELL_Y * (n_layers - 1 - k)
            fill = shade(weight / greatest)
            cell = f"{labels[k]}, {name}: {weight:.3f}"
            parts.append(rect(x, y, CELL_X - 1, CELL_Y - 1, fill, cell))
            ink = PAPER if weight > 0.55 * greatest else INK
            parts.append(
                text(x + CELL_X / 2, y + 16, f"{weight:.2f}", size=11, anchor="middle", fill=ink)
            )
    for k, label in enumerate(labels):
        y = top + CELL_Y * (n_layers - 1 - k)
        parts.append(text(left - 8, y + 16, label, size=11, anchor="end"))
    bottom = top + CELL_Y * n_layers
    parts += scale(left, bottom + 14, f"{greatest:.2f}")
    right = left + CELL_X * len(columns) + 30
    return svg(max(right, 260.0), bottom + 38, title, parts, styled=styled)


def layers_of_words_svg(words: Sequence[str], alpha: ArrayLike, *, styled: bool = True) -> str:
    """A heat map of attention [layers, words, heads], averaged over heads: a row a layer, the
    highest on top, a column a word."""
    weights: NDArray[floating] = asarray(alpha, dtype=float).mean(2)
    n_layers = len(weights)
    greatest = float(weights.max(initial=0.0)) or 1.0
    cell, left = 26.0, 90.0
    shown = [shortened(word, 20) for word in words]
    slanted = max((width(word, 12) for word in shown), default=0.0) * 0.71
    top = 34 + slanted + 14
    parts = [text(16, 22, "Attention over layers", size=15, weight="bold")]
    for t, word in enumerate(shown):
        parts.append(text(left + cell * (t + 0.6), top - 6, word, size=12, turn=-45))
    for k in range(n_layers):
        y = top + CELL_Y * (n_layers - 1 - k)
        parts.append(text(left - 8, y + 16, f"layer {k + 1}", size=11, anchor="end"))
        for t, weight in enumerate(weights[k].tolist()):
            said = f"layer {k + 1}, {words[t]}: {weight:.3f}"
            fill = shade(weight / greatest)
            parts.append(rect(left + cell * t, y, cell - 1, CELL_Y - 1, fill, said))
    bottom = top + CELL_Y * n_layers
    parts += scale(left, bottom + 14, f"{greatest:.2f}")
    title = "Attention over layers for the words of “" + " ".join(words) + "”"
    right = max(left + cell * len(shown) + slanted + 16, 260.0)
    return svg(right, bottom + 38, title, parts, styled=styled)
