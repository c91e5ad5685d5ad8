"""Bars of roles' scores after corrections (Strubell et al. 2018, figures 3 and 4)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle

from .palette import BAR, FAINT, INK, MATCHED, SPURIOUS, TOP, shade
from .svg import line, rect, svg, text, width

COLOURS = (SPURIOUS, TOP, MATCHED, shade(0.4), BAR, INK)
"""Colours of systems, in turn."""

Shares = Mapping[str, Mapping[str, float]]
"""Fraction of every group (a correction, a type of phrase) for every system."""


def corrections_svg(scores: Shares, phrases: Shares) -> str:
    """Draw F1 after every correction and below it the types of merged and split phrases, a bar for
    each system. phrases: may be empty, or lack types."""
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
