"""Learning curves and calibration diagrams: that points are where their numbers say."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from spacy_lal.visualize import calibration_svg, curves_svg, reliability, training_curve

SVG = "{http://www.w3.org/2000/svg}"


def lines_of(svg: str) -> list[list[tuple[float, float]]]:
    lines = ElementTree.fromstring(svg).iter(f"{SVG}polyline")
    return [
        [tuple(map(float, point.split(","))) for point in line.attrib["points"].split()]
        for line in lines
    ]


def test_training_curve(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(
        '{"epoch":0,"step":0,"losses":{},"scores":{"f":12.5,"speed":900.0},"score":0.1}\n'
        '{"epoch":1,"step":200,"losses":{},"scores":{"f":50.0,"speed":800.0},"score":0.5}\n'
    )
    assert training_curve(log, "f") == [(0, 12.5), (200, 50.0)]


def test_curves() -> None:
    """A line a seed; the middle of steps and of scores is in the middle of the picture."""
    svg = curves_svg({"a": [[(0, 0), (50, 20), (100, 40)], [(0, 40)]], "b": []}, title="F1")
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
    (line,) = lines_of(curves_svg({"a": [curve]}, title="F1", lowest=50))
    assert len(line) == 2
    with pytest.raises(ValueError, match="no curve has a score of 80 or more"):
        curves_svg({"a": [curve]}, title="F1", lowest=80)
    assert lines_of(curves_svg({"a": [[(0, 0.0)]]}, title="F1"))


def test_reliability() -> None:
    """By hand; 1.0 is in the last bin, and bins without anything are left out."""
    found = reliability([0.05, 0.12, 0.18, 1.0, 0.95], [False, True, False, True, True])
    assert found == [
        pytest.approx((0.05, 0)),
        pytest.approx((0.15, 0.5)),
        pytest.approx((0.975, 1)),
    ]
    assert reliability([], []) == []


def test_calibration() -> None:
    """Honest probabilities lie on the dashed diagonal."""
    svg = calibration_svg({"honest": [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)]}, title="Trees")
    (points,) = lines_of(svg)
    found = re.search(r"x1='([\d.]+)' y1='([\d.]+)' x2='([\d.]+)' y2='([\d.]+)'[^>]*dash", svg)
    assert found is not None
    x1, y1, x2, y2 = map(float, found.groups())
    assert points[0] == (x1, y1)
    assert points[2] == (x2, y2)
    assert points[1] == pytest.approx(((x1 + x2) / 2, (y1 + y2) / 2))
    assert svg.count("<circle") == 3
