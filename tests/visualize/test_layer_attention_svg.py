"""The picture of attention over layers."""

import xml.etree.ElementTree as ElementTree

import numpy
import pytest

from spacy_lal.drawing.charts import layer_attention_svg

SVG = "{http://www.w3.org/2000/svg}"
ALPHA = numpy.array([[0.25, 0.0], [0.75, 1.0]])


def test_a_cell_for_every_layer_and_head_and_the_mean():
    svg = layer_attention_svg(ALPHA)
    assert svg == layer_attention_svg(ALPHA)
    root = ElementTree.fromstring(svg)
    cells = {rect.find(f"{SVG}title").text: rect for rect in root.iter(f"{SVG}rect") if len(rect)}
    assert list(cells) == [
        "layer 1, head 1: 0.250",
        "layer 2, head 1: 0.750",
        "layer 1, head 2: 0.000",
        "layer 2, head 2: 1.000",
        "layer 1, mean: 0.125",
        "layer 2, mean: 0.875",
    ]
    # the highest layer on top; nothing is white, all is the darkest
    lower, higher = cells["layer 1, head 2: 0.000"], cells["layer 2, head 2: 1.000"]
    assert float(higher.get("y")) < float(lower.get("y"))
    assert (lower.get("fill"), higher.get("fill")) == ("#ffffff", "#08306b")


def test_names():
    assert "embeddings, head 1" in layer_attention_svg(ALPHA, names=["embeddings", "first"])
    with pytest.raises(ValueError, match="each of the 2 layers: got 3 names"):
        layer_attention_svg(ALPHA, names=["a", "b", "c"])
