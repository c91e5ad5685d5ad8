"""Pictures of label attention heads: bars of contributions, heat maps of attention."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy

from .palette import BAR, FAINT, INK, shade
from .palette import TOP as TOP_BAR
from .svg import line, rect, scale, svg, text
from .widths import shortened, width

if TYPE_CHECKING:
    from ..interpret import Explanation, TopHeads

LONGEST_WORD = 20
"""Characters of a word that are shown; longer ones are cut."""


def contributions_svg(heads: TopHeads, *, n: int | None = 12, k: int = 3, columns: int = 2) -> str:
    """Bars of the average contribution of each head to each category (figure 8 of Mrini et al.
    2020), in panels of their own scale, which begins at 0.

    n: categories, the commonest; None for all. k: how many top heads are marked. A dashed line
    marks what all heads would contribute if they contributed equally.
    """
    categories = heads.categories[:n]
    step = max(3.0, min(12.0, 384 / max(1, heads.n_heads)))
    width, height = heads.n_heads * step, 64.0
    left, top, gap_x, gap_y = 52.0, 62.0, 72.0, 62.0
    rows = -(-len(categories) // columns)
    total_width = max(left + columns * (width + gap_x), 460.0)
    parts = [
        text(16, 22, "Contributions of label attention heads", size=15, weight="bold"),
        text(
            16,
            40,
            f"averages over predicted constituents ({heads.method}); each panel has its own "
            "scale, heads from left to right; dashed: equal shares",
            size=11,
            fill=FAINT,
        ),
    ]
    for c, category in enumerate(categories):
        x = left + (c % columns) * (width + gap_x)
        y = top + 16 + (c // columns) * (height + gap_y)
        parts += _panel(heads, c, category, x, y, width, height, step, k)
    return svg(
        total_width,
        top + rows * (height + gap_y) + 8,
        "Average contribution of each label attention head to each syntactic category",
        parts,
    )


def _panel(
    heads: TopHeads,
    c: int,
    category: str,
    x: float,
    y: float,
    width: float,
    height: float,
    step: float,
    k: int,
) -> Iterable[str]:
    values = heads.contributions[c]
    greatest = float(values.max()) or 1.0
    top = [share.head for share in heads.top(category, k)]
    count = int(heads.counts[c])
    yield text(x, y - 8, category, size=12, weight="bold")
    yield text(
        x + width,
        y - 8,
        f"{count:,} span{'s' if count != 1 else ''}; top: {', '.join(map(str, top))}",
        size=11,
        anchor="end",
    )
    for head, value in enumerate(values.tolist()):
        tall = height * value / greatest
        yield rect(
            x + head * step,
            y + height - tall,
            step * 0.8,
            tall,
            TOP_BAR if head in top else BAR,
            f"{category}, head {head}: {value:.4f}; first in "
            f"{heads.firsts[c, head] / count:.1%} of spans",
        )
    bottom = y + height
    yield line(x, bottom, x + width, bottom, INK)
    equal = bottom - height / len(values) / greatest
    yield line(x, equal, x + width, equal, INK, "3 3")
    yield text(x - 5, y + 8, f"{greatest:.3f}", size=11, anchor="end", fill=FAINT)
    yield text(x - 5, bottom, "0", size=11, anchor="end", fill=FAINT)
    every = next(e for e in (1, 2, 5, 10, 20, 50, 100, 1000) if e * step >= 20)
    for head in range(0, len(values), every):
        middle = x + head * step + step * 0.4
        yield line(middle, bottom, middle, bottom + 3, INK)
        yield text(middle, bottom + 14, str(head), size=11, anchor="middle", fill=FAINT)


def attention_svg(
    explanation: Explanation,
    *,
    heads: Sequence[int] | None = None,
    k: int = 8,
    by_row: bool = False,
    styled: bool = True,
) -> str:
    """A heat map of what heads (rows) attend to in a sentence (columns), darker for more.

    heads: which; by default the k that contribute most to the sentence's constituents, or, if
    contributions were not computed, the k with the greatest attention weights. With matrix
    queries, a head's attention is averaged over the words from which it attends. by_row: whether
    each row's greatest weight has the darkest shade, rather than that of all rows.
    Raises ValueError for a head that is none.
    """
    attention = explanation.span_attention(0, len(explanation.words) - 2)
    chosen = _chosen(explanation, attention, k) if heads is None else list(heads)
    if wrong := [h for h in chosen if not 0 <= h < len(attention)]:
        raise ValueError(f"no heads {wrong}: heads are 0 to {len(attention) - 1}")
    words = [shortened(word, LONGEST_WORD) for word in explanation.words]
    cell_x, cell_y, left = 24.0, 22.0, 70.0
    slanted = max(width(word, 12) for word in words) * 0.71
    top = 34 + slanted + 14
    right, bottom = left + cell_x * len(words), top + cell_y * len(chosen)
    greatest = float(attention[chosen].max()) if chosen else 1.0
    parts = [text(16, 22, "Label attention", size=15, weight="bold")]
    for t, word in enumerate(words):
        x, y = left + cell_x * (t + 0.6), top - 6
        parts.append(text(x, y, word, size=12, turn=-45))
    for row, head in enumerate(chosen):
        y = top + row * cell_y
        parts.append(text(left - 8, y + 15, f"head {head}", size=11, anchor="end"))
        darkest = float(attention[head].max()) if by_row else greatest
        for t, weight in enumerate(attention[head].tolist()):
            title = f"head {head}, {explanation.words[t]}: {weight:.3f}"
            fill = shade(weight / (darkest or 1.0))
            parts.append(rect(left + t * cell_x, y, cell_x - 1, cell_y - 1, fill, title))
    parts += scale(left, bottom + 17, "each row's greatest" if by_row else f"{greatest:.2f}")
    return svg(
        max(right + slanted + 16, 320.0),
        bottom + 40,
        "Label attention: heads by words of “" + " ".join(explanation.words[1:-1]) + "”",
        parts,
        styled=styled,
    )


def _chosen(explanation: Explanation, attention: numpy.ndarray, k: int) -> list[int]:
    contributions = explanation.contributions
    if contributions is None or not len(contributions):
        values = attention.max(1)
    else:
        values = contributions.mean(0)
    order: list[int] = numpy.argsort(-values, kind="stable").tolist()
    return order[:k]


def span_contributions_svg(
    explanation: Explanation,
    *,
    span: tuple[int, int] | None = None,
    k: int = 5,
    styled: bool = True,
) -> str:
    """Bars of the contribution of each head to one constituent.

    span: (start, end) in words of the sentence; by default the first constituent. k: how many top
    heads are marked. A dashed line marks equal shares. Raises ValueError if there are no
    contributions, or no constituent over these words.
    """
    if explanation.contributions is None or not explanation.spans:
        raise ValueError("no contributions of heads here: see spacy_lal.explain")
    places = [(start, end) for start, end, _ in explanation.spans]
    if span is not None and (span[0], span[1]) not in places:
        raise ValueError(f"no constituent at words {span[0]} to {span[1]}: there are {places}")
    row = 0 if span is None else places.index((span[0], span[1]))
    values = explanation.contributions[row]
    start, end, label = explanation.spans[row]
    covered = shortened(" ".join(explanation.words[start + 1 : end + 1]), 60)
    label = label.replace("::", "›")
    order = numpy.argsort(-values, kind="stable").tolist()[:k]
    greatest = float(values.max()) or 1.0
    step = max(5.0, min(14.0, 560 / max(1, len(values))))
    left, top, height = 56.0, 58.0, 110.0
    wide = step * len(values)
    parts = [
        text(16, 22, "Contributions of heads", size=15, weight="bold"),
        text(16, 40, f"{label}: {covered}", size=12, fill=FAINT),
    ]
    bottom = top + height
    for head, value in enumerate(values.tolist()):
        tall = height * max(value, 0.0) / greatest
        fill = TOP_BAR if head in order else BAR
        x = left + head * step
        parts.append(rect(x, bottom - tall, step * 0.8, tall, fill, f"head {head}: {value:.4f}"))
    equal = bottom - height / len(values) / greatest
    every = next(e for e in (1, 2, 5, 10, 20, 50, 100, 1000) if e * step >= 24)
    parts += [
        line(left, bottom, left + wide, bottom, INK),
        line(left, equal, left + wide, equal, INK, "3 3"),
        text(left - 5, top + 8, f"{greatest:.3f}", size=11, anchor="end", fill=FAINT),
        text(left - 5, bottom, "0", size=11, anchor="end", fill=FAINT),
        *(
            text(left + (h + 0.4) * step, bottom + 15, str(h), size=11, anchor="middle", fill=FAINT)
            for h in range(0, len(values), every)
        ),
    ]
    right = max(left + wide, 16 + width(f"{label}: {covered}", 12), 260.0) + 16
    title = f"Contribution of each label attention head to {label}: {covered}"
    said = "; ".join(f"head {head}: {values[head]:.4f}" for head in order)
    return svg(right, bottom + 28, title, parts, description=said, styled=styled)
