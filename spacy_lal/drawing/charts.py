"""Charts: bars of attention heads' contributions and of roles' scores, heat maps, and spans'
probabilities."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle

import numpy
from numpy.typing import ArrayLike, NDArray

from .palette import BAR, FAINT, GRID, INK, MATCHED, PAPER, SPURIOUS, TOP, shade
from .svg import centred, line, rect, scale, shortened, svg, text, width

Floats = NDArray[numpy.floating]

LONGEST_WORD = 20
"""Greatest length of a drawn word, in characters; longer ones are cut."""
SLANT = 0.71
"""Height of a word turned by 45 degrees, in widths of the word."""
LABELLED = 0.2
"""Least probability of a span with a label in its cell."""
SHOWN = 0.005
"""Least probability of a drawn cell; others are empty places of the grid."""
LEAST_CELL, WIDEST_GRID = 28.0, 1100.0
"""Least width of a span's cell, and the width beyond which no cell is wider, in pixels."""
READING = "rows: first word; columns: last word; framed: more probable than not"
"""Description of the grid of spans."""
COLOURS = (SPURIOUS, TOP, MATCHED, shade(0.4), BAR, INK)
"""Colours of systems, in turn."""

Shares = Mapping[str, Mapping[str, float]]
"""Fraction of every group (a correction, a type of phrase) for every system."""


def contributions_svg(
    categories: Sequence[str],
    counts: Sequence[int],
    contributions: ArrayLike,
    firsts: ArrayLike,
    *,
    method: str,
    k: int = 3,
) -> str:
    """Draw bars of each head's average contribution to each category (Mrini et al. 2020, figure 8).

    counts: spans of each category [C]. contributions: averages [C,H]. firsts: share of spans to
    which each head contributes most [C,H]. k: number of marked top heads. Each panel's scale begins
    at 0; a dashed line marks equal shares.
    """
    averages: Floats = numpy.asarray(contributions, dtype=float)
    shares: Floats = numpy.asarray(firsts, dtype=float)
    n_heads = averages.shape[1]
    step = max(3.0, min(12.0, 384 / max(1, n_heads)))
    wide, height, columns = n_heads * step, 64.0, 2
    left, top, gap_x, gap_y = 52.0, 62.0, 72.0, 62.0
    rows = -(-len(categories) // columns)
    said = (
        f"averages over predicted constituents ({method}); each panel has its own "
        "scale, heads from left to right; dashed: equal shares"
    )
    parts = [
        _heading("Contributions of label attention heads"),
        text(16, 40, said, size=11, fill=FAINT),
    ]
    for c, category in enumerate(categories):
        x = left + (c % columns) * (wide + gap_x)
        y = top + 16 + (c // columns) * (height + gap_y)
        best = ", ".join(map(str, ranked(averages[c])[:k]))
        spans = f"{counts[c]:,} span{'s' if counts[c] != 1 else ''}; top: {best}"
        parts.append(text(x, y - 8, category, size=12, weight="bold"))
        parts.append(text(x + wide, y - 8, spans, size=11, anchor="end"))
        titles = [
            f"{category}, head {h}: {value:.4f}; first in {share:.1%} of spans"
            for h, (value, share) in enumerate(zip(averages[c], shares[c], strict=True))
        ]
        parts += _bars(averages[c], titles, x, y, height, step, k)
    return svg(
        max(left + columns * (wide + gap_x), 460.0),
        top + rows * (height + gap_y) + 8,
        "Average contribution of each label attention head to each syntactic category",
        parts,
    )


def span_contributions_svg(
    values: ArrayLike, label: str, covered: str, *, k: int = 8, styled: bool = True
) -> str:
    """Draw the k greatest contributions [H] of heads to a constituent of words `covered` as bars;
    a line of text sums up the others."""
    shares: Floats = numpy.asarray(values, dtype=float)
    name = f"{label.replace('::', '›')}: {shortened(covered, 60)}"
    best = ranked(shares)
    rest = shares[best[k:]]
    rows = [(f"head {head}", float(shares[head])) for head in best[:k]]
    left, top, step, wide = 80.0, 56.0, 20.0, 300.0
    greatest = max((value for _, value in rows), default=0.0) or 1.0
    parts = [
        _heading("Contributions of heads"),
        text(16, 40, name, size=12, fill=FAINT),
    ]
    for row, (who, value) in enumerate(rows):
        y, long = top + row * step, wide * max(value, 0.0) / greatest
        parts += [
            text(left - 8, y + 13, who, size=12, anchor="end"),
            rect(left, y + 3, long, step - 6, TOP, f"{who}: {value:.4f}"),
            text(left + long + 6, y + 13, f"{value:.1%}", size=11, fill=FAINT),
        ]
    bottom = top + len(rows) * step
    equal = left + wide / max(1, len(shares)) / greatest
    said = f"dashed: an equal share, {1 / max(1, len(shares)):.1%}"
    if len(rest):
        said = f"{len(rest)} others: {rest.sum():.1%} together, at most {rest[0]:.1%} each; {said}"
    parts += [
        line(left, top, left, bottom, INK),
        line(equal, top, equal, bottom, INK, "3 3"),
        text(left, bottom + 16, said, size=11, fill=FAINT),
    ]
    right = max(left + max(wide + 64, width(said, 11) + 16), 32 + width(name, 12))
    title = f"Contribution of each label attention head to {name}"
    said = "; ".join(f"{who}: {value:.4f}" for who, value in rows)
    return svg(right, bottom + 30, title, parts, description=said, styled=styled)


def _bars(
    values: Floats, titles: Sequence[str], x: float, y: float, height: float, step: float, k: int
) -> Iterator[str]:
    greatest = float(values.max()) or 1.0
    best = ranked(values)[:k]
    bottom = y + height
    for head, value in enumerate(values.tolist()):
        tall = height * max(value, 0.0) / greatest
        fill = TOP if head in best else BAR
        yield rect(x + head * step, bottom - tall, step * 0.8, tall, fill, titles[head])
    wide = step * len(values)
    equal = bottom - height / len(values) / greatest
    yield line(x, bottom, x + wide, bottom, INK)
    yield line(x, equal, x + wide, equal, INK, "3 3")
    yield text(x - 5, y + 8, f"{greatest:.3f}", size=11, anchor="end", fill=FAINT)
    yield text(x - 5, bottom, "0", size=11, anchor="end", fill=FAINT)
    every = next(e for e in (1, 2, 5, 10, 20, 50, 100, 1000) if e * step >= 20)
    for head in range(0, len(values), every):
        middle = x + head * step + step * 0.4
        yield line(middle, bottom, middle, bottom + 3, INK)
        yield text(middle, bottom + 14, str(head), size=11, anchor="middle", fill=FAINT)


def ranked(values: Floats) -> list[int]:
    """Return indices from the greatest value to the least, those of equal values in order."""
    return numpy.argsort(-values, kind="stable").tolist()


def _heading(said: str) -> str:
    return text(16, 22, said, size=15, weight="bold")


def _slanted(words: Sequence[str]) -> tuple[list[str], float]:
    """Return words as they are shown, turned by 45 degrees, and their height."""
    shown = [shortened(word, LONGEST_WORD) for word in words]
    return shown, max((width(word, 12) for word in shown), default=0.0) * SLANT


def heat_map_svg(
    heading: str,
    title: str,
    words: Sequence[str],
    rows: Sequence[tuple[str, Floats, float]],
    legend: str,
    *,
    numbers: bool = False,
    styled: bool = True,
) -> str:
    """Draw a row of shades for each of rows: (name, weight of each word [n], weight of the darkest
    shade). legend: description of the darkest shade. numbers: whether cells have their weights."""
    shown, slanted = _slanted(words)
    cell_x, cell_y, left = 40.0 if numbers else 24.0, 22.0, 90.0 if numbers else 70.0
    top = 34 + slanted + 14
    bottom = top + cell_y * len(rows)
    parts = [_heading(heading)]
    for t, word in enumerate(shown):
        parts.append(text(left + cell_x * (t + 0.6), top - 6, word, size=12, turn=-45))
    for k, (name, weights, darkest) in enumerate(rows):
        y = top + k * cell_y
        parts.append(text(left - 8, y + 15, name, size=11, anchor="end"))
        for t, weight in enumerate(weights.tolist()):
            part, x = weight / (darkest or 1.0), left + t * cell_x
            said = f"{name}, {words[t]}: {weight:.3f}"
            parts.append(rect(x, y, cell_x - 1, cell_y - 1, shade(part), said))
            if numbers:
                ink, middle = PAPER if part > 0.55 else INK, x + cell_x / 2
                parts.append(
                    text(middle, y + 15, f"{weight:.2f}", size=11, anchor="middle", fill=ink)
                )
    parts += scale(left, bottom + 17, legend)
    right = max(left + cell_x * len(shown) + slanted + 16, 320.0)
    return svg(right, bottom + 40, title, parts, styled=styled)


def layer_attention_svg(alpha: ArrayLike, *, names: Sequence[str] = (), styled: bool = True) -> str:
    """Draw a heat map of attention [layers, heads], and its mean over heads, top layer first
    (Kaneko and Komachi 2019, figure 2). names: of the layers, lowest first; by default numbers from
    1. Raises ValueError if there are not as many names as layers."""
    weights: Floats = numpy.asarray(alpha, dtype=float)
    n_layers, n_heads = weights.shape
    labels = list(names) or [f"layer {k}" for k in range(1, n_layers + 1)]
    if len(labels) != n_layers:
        raise ValueError(f"labels must name each of the {n_layers} layers: got {len(labels)} names")
    title, greatest = "Attention over layers", float(weights.max()) or 1.0
    columns = [*(f"head {j}" for j in range(1, n_heads + 1)), "mean"]
    table = numpy.column_stack([weights, weights.mean(1)])
    rows = [(name, row, greatest) for name, row in zip(labels, table, strict=True)][::-1]
    legend = f"{greatest:.2f}"
    return heat_map_svg(title, title, columns, rows, legend, numbers=True, styled=styled)


def probabilities_svg(
    words: Sequence[str],
    probabilities: ArrayLike,
    labels: Sequence[Sequence[str]],
    *,
    styled: bool = True,
) -> str:
    """Draw a grid of all spans: a row for each first word, a column for each last word. [i, j] of
    probabilities and labels [n+1, n+1] is span (i, j). A frame marks probabilities above one half;
    those below `SHOWN` have no cell of their own."""
    table: Floats = numpy.asarray(probabilities, dtype=float)
    shown, slanted = _slanted(words)
    n, cell_y = len(words), 22.0
    spans = [
        (start, end, float(table[start, end]), labels[start][end].replace("::", "›"))
        for start in range(n)
        for end in range(start + 1, n + 1)
        if table[start, end] >= SHOWN
    ]
    widest = max((width(label, 11) for *_, p, label in spans if p > LABELLED), default=0.0)
    cell_x = max(LEAST_CELL, min(widest + 4, WIDEST_GRID / max(1, n)))
    left = 24 + max((width(word, 12) for word in shown), default=0.0)
    top = 60.0 + slanted
    bottom, right = top + cell_y * n, left + cell_x * n
    parts = [_heading("Probability of every span"), text(16, 40, READING, size=11, fill=FAINT)]
    for t, word in enumerate(shown):
        x, y = left + cell_x * t, top + cell_y * t
        parts.append(line(left, y, right, y, GRID))
        parts.append(line(x, top, x, y + cell_y, GRID))
        parts.append(text(left - 8, y + 15, word, size=12, anchor="end"))
        parts.append(text(x + cell_x * 0.6, top - 6, word, size=12, turn=-45))
    parts += [line(left, bottom, right, bottom, GRID), line(right, top, right, bottom, GRID)]
    said: list[str] = []
    for start, end, p, label in spans:
        covered = " ".join(words[start:end])
        x, y = left + cell_x * (end - 1), top + cell_y * start
        title = f"{label}, probability {p:.3f}: {covered}"
        stroke, thick = (TOP, 2) if p > 0.5 else ("", 1)
        parts.append(
            rect(x + 1, y + 1, cell_x - 2, cell_y - 2, shade(p), title, stroke=stroke, thick=thick)
        )
        if p > 0.5:
            said.append(f"{label} {p:.2f}: {covered}")
        if p > LABELLED:
            cut = label
            while len(cut) > 1 and width(cut, 11) > cell_x - 2:
                cut = cut[:-2] + "…"
            ink = PAPER if p > 0.55 else INK
            parts.append(centred(x + cell_x / 2, y + 15, cut, size=11, fill=ink))
    return svg(
        max(right + slanted + 8, 320.0),
        bottom + 46,
        "Probability of every span of “" + " ".join(words) + "” to be a constituent",
        [*parts, *scale(left, bottom + 16, "1")],
        description="; ".join(said),
        styled=styled,
    )


def corrections_svg(scores: Shares, phrases: Shares) -> str:
    """Draw F1 after every correction and below it the types of merged and split phrases, a bar for
    each system (Strubell et al. 2018, figures 3 and 4). phrases: may be empty, or lack types."""
    colours = dict(zip(scores, cycle(COLOURS), strict=False))
    left, tall, y, right = 24.0, 120.0, 34.0, 0.0
    parts, said = [], []
    for heading, shares in (
        ("F1 of roles after corrections in sequence", scores),
        ("Merged and split spans by type of phrase", phrases),
    ):
        names = list(dict.fromkeys(name for of in shares.values() for name in of))
        bar, x, bottom = max(26.0, 84 / max(1, len(shares))), left, y + tall + 30
        if names:
            parts.append(text(left, y, heading, size=15, weight="bold"))
            greatest = max(max(of.values(), default=0.0) for of in shares.values()) or 1.0
        for name in names:
            group = max(bar * len(shares), width(name, 11)) + 18
            parts.append(text(x, bottom + 16, name, size=11))
            for s, (system, of) in enumerate(shares.items()):
                value = of.get(name, 0.0)
                top, title = bottom - tall * value / greatest, f"{system}, {name}: {value:.2%}"
                parts.append(rect(x + bar * s, top, bar - 2, bottom - top, colours[system], title))
                number = f"{100 * value:.1f}"
                parts.append(text(x + bar * s, top - 4, number, size=11, fill=FAINT))
                said.append(title)
            x += group
        if names:
            parts.append(line(left, bottom, x, bottom, INK))
            y, right = bottom + 54, max(right, x)
    for system, colour in colours.items():
        parts.append(rect(left, y - 10, 18, 10, colour))
        parts.append(text(left + 26, y, system, size=11))
        y, right = y + 18, max(right, left + 26 + width(system, 11))
    title = "F1 of roles after corrections, and types of merged and split phrases"
    return svg(right + 16, y, title, parts, description="; ".join(said))
