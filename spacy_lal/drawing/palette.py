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

HUES = {
    "blue": ("#c9e2f6", "#12466f"),
    "orange": ("#fbdfae", "#664500"),
    "green": ("#c2ead9", "#0c513d"),
    "pink": ("#f2d2e4", "#5f2d52"),
    "yellow": ("#faf0a8", "#534b00"),
    "peach": ("#f8d2c0", "#662b14"),
    "lilac": ("#e4def5", "#40355f"),
    "grey": ("#e3e7ec", "#38424f"),
}
"""Light and dark colours behind labels, by name."""
ROLES = {
    "V": "grey", "ARG0": "blue", "ARG1": "orange", "ARG2": "green", "ARG3": "pink",
    "ARG4": "yellow", "ARG5": "peach", "ARGM": "lilac",
}  # fmt: skip
"""Hues of roles."""
CATEGORIES = {
    "noun": ("blue", r"(WH)?(NP|NML|NX|NAC|QP|N)\b"),
    "verb": ("orange", r"V(?!ROOT)"),
    "preposition": ("green", r"(WH)?PP"),
    "modifier": ("yellow", r"(WH)?A"),
    "clause": ("lilac", r"S|IP|CP|TOP|ROOT|FRAG|VROOT"),
    "other": ("grey", ""),
}
"""Hues of phrases' categories, and how their labels begin."""
UNSURE, DOUBTFUL = 0.8, 0.5
"""Probabilities below which the frame of a phrase is dashed, and dashed and thick."""
WRONG = "#fde3d6"
"""Light colour behind wrong words."""

_SCALE = (255, 255, 255), (8, 48, 107)
_DARK_SCALE = (20, 25, 33), (158, 206, 255)


def _mixed(ends: tuple[tuple[int, ...], tuple[int, ...]], step: int) -> str:
    first, last = ends
    mixed = (a + (b - a) * step / STEPS for a, b in zip(first, last, strict=True))
    return "#" + "".join(f"{round(value):02x}" for value in mixed)


DARK: dict[str, str] = {
    **{_mixed(_SCALE, k): _mixed(_DARK_SCALE, k) for k in range(STEPS + 1)},
    **dict(HUES.values()),
    PAPER: "#141921",
    INK: "#e8ecf2",
    FAINT: "#a3afbf",
    RULE: "#66758a",
    MATCHED: "#97a3b3",
    MISSED: "#ff9a5c",
    SPURIOUS: "#74bcff",
    TOP: "#ff8a4c",
    BAR: "#4a5667",
    GRID: "#2f3844",
    WRONG: "#56280f",
}
"""Dark colour for every light one."""


def shade(part: float) -> str:
    """Return the colour of a share: the background's for 0, the strongest shade for 1."""
    return _mixed(_SCALE, round(min(max(part, 0.0), 1.0) * STEPS))


def doubt(probability: float | None) -> int:
    """Return how doubtful a phrase is: 0, 1 below `UNSURE`, 2 below `DOUBTFUL`."""
    sure = certain(probability)
    return (sure < UNSURE) + (sure < DOUBTFUL)


def certain(probability: float | None) -> float:
    """Return the probability, from 0 to 1; None is certain."""
    return 1.0 if probability is None else min(max(probability, 0.0), 1.0)


def role(label: str) -> str:
    """Return the name in `ROLES` of a role's colour; R-ARG0 and C-ARG0 have the colour of ARG0."""
    name = re.sub(r"^[RC]-", "", label)
    return name if name in ROLES else "ARGM" if name.startswith("ARGM") else "ARG5"


def category(label: str) -> str:
    """Return the name in `CATEGORIES` of a phrase's label."""
    return next(name for name, (_, begins) in CATEGORIES.items() if re.match(begins, label))


def hue(name: str) -> str:
    """Return the light colour of a role or a category."""
    return HUES[ROLES.get(name) or CATEGORIES[name][0]][0]


def style(colours: Iterable[str] | None = None) -> str:
    """Return the style sheet with the dark colours of these `colours` in SVG, or of all (None)."""
    chosen = DARK if colours is None else {c: DARK[c] for c in sorted({*colours}) if c in DARK}
    rules = "".join(
        f".lal [fill='{light}']{{fill:{dark}}}.lal [stroke='{light}']{{stroke:{dark}}}"
        for light, dark in chosen.items()
    )
    return f"@media (prefers-color-scheme:dark){{{rules}}}"
