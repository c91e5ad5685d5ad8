"""Elements of SVG pictures, and widths of text in Helvetica and Arial, which agree.

Other fonts come close. Where all characters are known, pictures state the width (`textLength`),
which fits other fonts.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache, partial
from pathlib import Path
from xml.sax.saxutils import escape

from .palette import FAINT, INK, PAPER, shade, style

FONT = "font-family='Helvetica, Arial, sans-serif'"
"""Fonts of all pictures."""
# characters that XML forbids
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPACE = re.compile("[\t\n\r]")
_COLOUR = re.compile(r"(?:fill|stroke)='(#\w{6})'")
BOLD = 1.09
"""Width of bold text, in widths of normal text."""


def svg(
    width: float,
    height: float,
    title: str,
    parts: Iterable[str],
    *,
    description: str = "",
    styled: bool = True,
) -> str:
    """Return a picture, with title and description for screen readers. styled: whether to add dark
    colours."""
    size = f"{n(width)} {n(height)}"
    body = "\n".join(parts)
    sheet = f"<style>{style([PAPER, *_COLOUR.findall(body)])}</style>\n" if styled else ""
    described = f"<desc>{xml(description)}</desc>\n" if description else ""
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' class='lal' role='img' aria-label='{xml(title)}' "
        f"width='{n(width)}' height='{n(height)}' viewBox='0 0 {size}' {FONT}>\n"
        f"<title>{xml(title)}</title>\n{described}{sheet}"
        f"<rect width='100%' height='100%' fill='{PAPER}'/>\n{body}\n</svg>\n"
    )


def rect(
    x: float,
    y: float,
    width: float,
    height: float,
    fill: str,
    title: str = "",
    *,
    stroke: str = "",
    radius: float = 0,
    dashes: str = "",
    thick: float = 1,
) -> str:
    """Return a filled rectangle; its title is shown on hover."""
    size = f"width='{n(width)}' height='{n(height)}'"
    line = f" stroke='{stroke}'" if stroke else ""
    line += f" stroke-width='{n(thick)}'" if thick != 1 else ""
    line += f" stroke-dasharray='{dashes}'" if dashes else ""
    line += f" rx='{n(radius)}'" if radius else ""
    end = f"><title>{xml(title)}</title></rect>" if title else "/>"
    return f"<rect x='{n(x)}' y='{n(y)}' {size} fill='{fill}'{line}{end}"


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
    fitted: bool = False,
    mirrored: bool = False,
) -> str:
    """Return a line of text; unless mirrored (right to left), `fitted` fits other fonts to it."""
    more = f" transform='rotate({turn} {n(x)} {n(y)})'" if turn else ""
    if fitted and not mirrored and text.strip() and _widths().keys() >= {*text}:
        long = width(text, size, bold=weight == "bold")
        more += f" textLength='{n(long)}' lengthAdjust='spacingAndGlyphs'"
    start = "<text direction='rtl'" if mirrored else "<text"
    return (
        f"{start} x='{n(x)}' y='{n(y)}' font-size='{size}' font-weight='{weight}' "
        f"text-anchor='{anchor}' fill='{fill}'{more}>{xml(text)}</text>"
    )


centred = partial(text, anchor="middle", fitted=True)
"""Function that returns a line of text around x, fitted to other fonts."""


def scale(x: float, y: float, greatest: str) -> Iterator[str]:
    """Draw the legend of shades: from 0, left of x, to `greatest`."""
    yield text(x, y + 9, "0", size=11, anchor="end", fill=FAINT)
    for step in range(11):
        yield rect(x + 6 + step * 9, y, 9, 10, shade(step / 10))
    yield text(x + 110, y + 9, greatest, size=11, fill=FAINT)


def line(x1: float, y1: float, x2: float, y2: float, stroke: str, dashes: str = "") -> str:
    """Return a straight line."""
    dashed = f" stroke-dasharray='{dashes}'" if dashes else ""
    return (
        f"<line x1='{n(x1)}' y1='{n(y1)}' x2='{n(x2)}' y2='{n(y2)}' "
        f"stroke='{stroke}' stroke-width='1'{dashed}/>"
    )


def path(points: str, stroke: str, *, dashes: str = "", thick: float = 1) -> str:
    """Return an open line. points: in the syntax of SVG's `d`."""
    dashed = f" stroke-dasharray='{dashes}'" if dashes else ""
    return f"<path d='{points}' fill='none' stroke='{stroke}' stroke-width='{n(thick)}'{dashed}/>"


def xml(text: str) -> str:
    """Escape text for XML and single-quoted attributes; replace line breaks and bad characters."""
    plain = _SPACE.sub(" ", _FORBIDDEN.sub("\ufffd", text))
    return escape(plain, {"'": "&#39;", '"': "&quot;"})


def n(number: float) -> str:
    """Format a coordinate, with two decimals at most."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


@cache
def _widths() -> dict[str, int]:
    """Return characters' widths, in thousandths of the font's size."""
    rows = tomllib.loads(Path(__file__).with_name("widths.toml").read_text(encoding="utf8"))
    return {character: int(width) for width, row in rows.items() for character in row}


@lru_cache(maxsize=4096)
def _thousandths(character: str) -> int:
    if character in _widths():
        return _widths()[character]
    category = unicodedata.category(character)
    if category == "Cc" or not character_columns(character):
        return 0
    base = unicodedata.normalize("NFD", character)[0]
    if base in _widths():
        return _widths()[base]
    if unicodedata.east_asian_width(character) in "WF":
        return 1250 if category == "So" else 1000  # pictographs are wider than letters
    return 720 if category == "Lu" else 640


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of text, in the unit of the font's `size`."""
    total = sum(map(_thousandths, text)) * size / 1000
    return total * BOLD if bold else total


def direction(text: str) -> str:
    """Return "rtl" if most letters are of right-to-left scripts, else "ltr"."""
    kinds = [unicodedata.bidirectional(character) for character in text]
    return "rtl" if sum(kind in ("R", "AL") for kind in kinds) > kinds.count("L") else "ltr"


def shortened(word: str, length: int = 40) -> str:
    """Return the word, cut to this number of characters."""
    return word if len(word) <= length else word[: length - 1] + "…"


def columns(text: str) -> int:
    """Return the columns of a terminal for text: East Asian wide characters two, accents none."""
    return len(text) if text.isascii() else sum(map(character_columns, text))


def character_columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Me", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
