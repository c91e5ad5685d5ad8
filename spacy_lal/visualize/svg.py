"""The few elements that all pictures are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape

INK, FAINT, PAPER = "#1c2430", "#5b6676", "#ffffff"
DARKEST = (8, 48, 107)
FONT = "font-family='Helvetica, Arial, sans-serif'"
# what XML has no place for
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def shade(part: float) -> str:
    """White for 0, darkest for 1."""
    return "#" + "".join(f"{round(255 + (dark - 255) * part):02x}" for dark in DARKEST)


def svg(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    size = f"{n(width)} {n(height)}"
    return "\n".join(
        [
            f"<svg xmlns='http://www.w3.org/2000/svg' role='img' aria-label='{xml(title)}' "
            f"width='{n(width)}' height='{n(height)}' viewBox='0 0 {size}' {FONT}>",
            f"<title>{xml(title)}</title>",
            f"<rect width='100%' height='100%' fill='{PAPER}'/>",
            *parts,
            "</svg>\n",
        ]
    )


def rect(x: float, y: float, width: float, height: float, fill: str, title: str = "") -> str:
    """A filled rectangle; its title is shown where the mouse rests on it."""
    size = f"width='{n(width)}' height='{n(height)}'"
    end = f"><title>{xml(title)}</title></rect>" if title else "/>"
    return f"<rect x='{n(x)}' y='{n(y)}' {size} fill='{fill}'{end}"


def text(
    x: float,
    y: float,
    text: str,
    *,
    size: int,
    fill: str = INK,
    weight: str = "normal",
    anchor: str = "start",
    turn: int = 0,
) -> str:
    turned = f" transform='rotate({turn} {n(x)} {n(y)})'" if turn else ""
    return (
        f"<text x='{n(x)}' y='{n(y)}' font-size='{size}' font-weight='{weight}' "
        f"text-anchor='{anchor}' fill='{fill}'{turned}>{xml(text)}</text>"
    )


def scale(x: float, y: float, greatest: str) -> Iterator[str]:
    """What shades mean: from 0, left of x, to `greatest`."""
    yield text(x, y + 9, "0", size=10, anchor="end", fill=FAINT)
    for step in range(11):
        yield rect(x + 6 + step * 9, y, 9, 10, shade(step / 10))
    yield text(x + 110, y + 9, greatest, size=10, fill=FAINT)


def line(x1: float, y1: float, x2: float, y2: float, stroke: str, dashes: str = "") -> str:
    dashed = f" stroke-dasharray='{dashes}'" if dashes else ""
    return (
        f"<line x1='{n(x1)}' y1='{n(y1)}' x2='{n(x2)}' y2='{n(y2)}' "
        f"stroke='{stroke}' stroke-width='1'{dashed}/>"
    )


def xml(text: str) -> str:
    """Text for XML, in single-quoted attributes, too."""
    return escape(_FORBIDDEN.sub("\ufffd", text), {"'": "&#39;"})


def n(number: float) -> str:
    """A coordinate: two decimals at most."""
    return f"{number:.2f}".rstrip("0").rstrip(".")
