"""Light and dark colours of all pictures (docs/decisions/023-pictures.md). Colour-blind readers can
distinguish the hues of roles (Okabe and Ito 2008)."""

import re
from collections.abc import Iterable

INK, FAINT, PAPER, RULE = "#1c2430", "#5b6676", "#ffffff", "#8592a3"
"""Light colours of text, faint text, the background and lines."""
BAR, TOP, GRID = "#b9c4d4", "#c2410c", "#d8dde3"
"""Light colours of bars, highlights and grid lines."""
MATCHED, MISSED, SPURIOUS = "#6b7686", "#b3400a", "#0b5fa5"
"""Light colours of matched, missed and spurious parts."""
STEPS = 20
"""Number of steps from the lightest to the strongest shade."""

_SCALE = (255, 255, 255), (8, 48, 107)
_DARK_SCALE = (20, 25, 33), (158, 206, 255)
_DOUBT = (255, 255, 255), (245, 178, 84)
_DARK_DOUBT = (20, 25, 33), (138, 84, 4)

ROLES = ("V", "ARG0", "ARG1", "ARG2", "ARG3", "ARG4", "ARG5", "ARGM")
"""Roles with a colour in text.css."""


def _mixed(ends: tuple[tuple[int, ...], tuple[int, ...]], step: int) -> str:
    first, last = ends
    mixed = (a + (b - a) * step / STEPS for a, b in zip(first, last, strict=True))
    return "#" + "".join(f"{round(value):02x}" for value in mixed)


DARK: dict[str, str] = {
    **{_mixed(_SCALE, k): _mixed(_DARK_SCALE, k) for k in range(STEPS + 1)},
    **{_mixed(_DOUBT, k): _mixed(_DARK_DOUBT, k) for k in range(STEPS + 1)},
    PAPER: "#141921",
    INK: "#e8ecf2",
    FAINT: "#a3afbf",
    RULE: "#66758a",
    MATCHED: "#97a3b3",
    MISSED: "#ff9a5c",
    SPURIOUS: "#74bcff",
    TOP: "#ff8a4c",
    BAR: "#4a5667",
    GRID: "#38424f",
}
"""Dark colour for every light one."""


def shade(part: float) -> str:
    """Return the colour of a share: the background's for 0, the strongest shade for 1."""
    return _mixed(_SCALE, round(min(max(part, 0.0), 1.0) * STEPS))


def doubt(probability: float | None) -> str:
    """Return the background's colour for 1 or None, a stronger colour for a lower probability."""
    return _mixed(_DOUBT, round((1.0 - certain(probability)) * STEPS))


def certain(probability: float | None) -> float:
    """Return the probability, from 0 to 1; None is certain."""
    return 1.0 if probability is None else min(max(probability, 0.0), 1.0)


def role(label: str) -> str:
    """Return the name in `ROLES` of a role's colour; R-ARG0 and C-ARG0 have the colour of ARG0."""
    name = re.sub(r"^[RC]-", "", label)
    return name if name in ROLES else "ARGM" if name.startswith("ARGM") else "ARG5"


def style(colours: Iterable[str] | None = None) -> str:
    """Return the style sheet with the dark colours of these `colours` in SVG, or of all (None)."""
    chosen = DARK if colours is None else {c: DARK[c] for c in sorted({*colours}) if c in DARK}
    rules = "".join(
        f".lal [fill='{light}']{{fill:{dark}}}.lal [stroke='{light}']{{stroke:{dark}}}"
        for light, dark in chosen.items()
    )
    return f"@media (prefers-color-scheme:dark){{{rules}}}"
