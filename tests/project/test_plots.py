"""Learning curves and calibration diagrams: that points are where their numbers say."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from .running import load_benchmark

PLOTS = load_benchmark("plots")
SVG = "{http://www.w3.org/2000/svg}"


def lines_of(svg: str) -> list[list[tuple[float, float]]]:
    lines = ElementTree.fromstring(svg).iter(f"{SVG}polyline")
    return [
        [tuple(map(float, point.split(","))) for point in line.attrib["points"].split()]
        for line in lines
    ]


def test_curves() -> None:
    """A line a seed; the middle of steps and of scores is in the middle of the picture."""
    svg = PLOTS.curves_svg({"a": [[(0, 0), (50, 20), (100, 40)], [(0, 40)]], "b": []}, title="F1")
    line, other = lines_of(svg)
    (left, bottom), (middle, half), (right, top) = line
    assert (middle, half) == pytest.approx(((left + right) / 2, (bottom + top) / 2))
    assert top < bottom
    assert other == [(left, top)]
    assert {"F1", "a", "b"} <= {
        text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")
    }


def test_what_lies_below_the_scale() -> None:
    curve = [(0, 10.0), (1, 60.0), (2, 70.0)]
    (line,) = lines_of(PLOTS.curves_svg({"a": [curve]}, title="F1", lowest=50))
    assert len(line) == 2
    with pytest.raises(ValueError, match="no curve has a score of 80 or more"):
        PLOTS.curves_svg({"a": [curve]}, title="F1", lowest=80)
    assert lines_of(PLOTS.curves_svg({"a": [[(0, 0.0)]]}, title="F1"))


def test_calibration() -> None:
    """Honest probabilities lie on the dashed diagonal."""
    svg = PLOTS.calibration_svg({"honest": [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)]}, title="Trees")
    (points,) = lines_of(svg)
    found = re.search(r"x1='([\d.]+)' y1='([\d.]+)' x2='([\d.]+)' y2='([\d.]+)'[^>]*dash", svg)
    assert found is not None
    x1, y1, x2, y2 = map(float, found.groups())
    assert points[0] == (x1, y1)
    assert points[2] == (x2, y2)
    assert points[1] == pytest.approx(((x1 + x2) / 2, (y1 + y2) / 2))
    assert svg.count("<circle") == 3
