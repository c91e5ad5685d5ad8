"""Where the text of a picture is, read from its SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from itertools import combinations
from typing import NamedTuple

from spacy_lal.drawing.svg import width

SVG = "{http://www.w3.org/2000/svg}"


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float
    text: str


def text_boxes(svg: str) -> list[Box]:
    """The rooms of all texts that are not turned: from the tops of capitals to the baseline."""
    boxes = []
    for text in ElementTree.fromstring(svg).iter(f"{SVG}text"):
        if text.get("transform"):
            continue
        size = float(text.get("font-size"))
        wide = width(text.text or "", size, bold=text.get("font-weight") == "bold")
        wide = float(text.get("textLength", wide))
        x, y = float(text.get("x")), float(text.get("y"))
        left = x - wide * {"start": 0, "middle": 0.5, "end": 1}[text.get("text-anchor")]
        boxes.append(Box(left, y - 0.72 * size, left + wide, y + 0.2 * size, text.text or ""))
    return boxes


def overlapping(svg: str) -> list[tuple[str, str]]:
    """Pairs of texts that lie on each other."""
    return [
        (a.text, b.text)
        for a, b in combinations(text_boxes(svg), 2)
        if a.left < b.right - 0.01 and b.left < a.right - 0.01
        and a.top < b.bottom - 0.01 and b.top < a.bottom - 0.01
    ]  # fmt: skip


def clipped(svg: str) -> list[str]:
    """Texts that the picture's border cuts."""
    root = ElementTree.fromstring(svg)
    width_, height = float(root.get("width")), float(root.get("height"))
    return [
        box.text
        for box in text_boxes(svg)
        if box.left < 0 or box.top < 0 or box.right > width_ or box.bottom > height
    ]


def smallest(svg: str) -> float:
    """The size of the smallest text."""
    texts = ElementTree.fromstring(svg).iter(f"{SVG}text")
    return min(float(text.get("font-size")) for text in texts)
