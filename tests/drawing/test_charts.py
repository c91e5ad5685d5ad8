"""Pictures of attention are valid, self-contained and the same every time."""

import xml.etree.ElementTree as ElementTree

import numpy
import pytest

from spacy_lal.drawing.charts import layer_attention_svg
from spacy_lal.interpret import Explanation
from spacy_lal.interpret.head_analysis import averaged

SVG = "{http://www.w3.org/2000/svg}"


def titles(svg):
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == root.get("aria-label")
    assert "href" not in svg

    return [rect.find(f"{SVG}title").text for rect in root.iter(f"{SVG}rect") if len(rect)]


def heads(n_heads=3):
    rows = [("NP", 0), ("A<&'\x00", n_heads - 1), ("NP", 0)]
    return averaged([(label, numpy.eye(n_heads)[k]) for label, k in rows], "normalised")


def explanation(words, contributions=None):
    n = len(words) + 2
    attention = numpy.zeros((3, n))
    attention[[0, 1, 2], [0, n - 1, 1]] = 1
    spans = [] if contributions is None else [(0, n - 2, "S")]
    return Explanation(
        ["<START>", *words, "<STOP>"], numpy.arange(n - 2), attention, spans, contributions
    )


def test_bars():
    svg = heads().svg()
    assert svg == heads().svg()
    found = titles(svg)
    assert len(found) == 2 * 3
    assert found[0] == "NP, head 0: 1.0000; first in 100.0% of spans"
    assert found[-1] == "A<&'\ufffd, head 2: 1.0000; first in 100.0% of spans"
    assert len(titles(heads().svg(n=1))) == 3


@pytest.mark.parametrize("n_heads", [1, 112, 1000])
def test_any_number_of_heads(n_heads):
    assert len(titles(heads(n_heads).svg())) == 2 * n_heads


def test_nothing_to_draw():
    assert titles(averaged([], "normalised").svg()) == []


def test_heat_map():
    words = ["<b>", "it's", "\x01", "a" * 50, "語" * 4]
    found = titles(explanation(words).attention_svg(heads=[2, 0]))
    assert len(found) == 2 * 7
    assert found[0] == "head 2, <START>: 0.000"
    assert found[1] == "head 2, <b>: 1.000"
    assert found[3] == "head 2, \ufffd: 0.000"
    assert found[7] == "head 0, <START>: 1.000"


def test_heat_map_of_top_heads():
    svg = explanation(["Go"], numpy.array([[0.2, 0.3, 0.5]])).attention_svg(k=2)
    assert [t.split(",")[0] for t in titles(svg)] == ["head 2"] * 3 + ["head 1"] * 3
    assert len(titles(explanation(["Go"]).attention_svg())) == 9


def test_heat_map_of_matrix_queries():
    attention = numpy.zeros((1, 4, 4))
    attention[0, 1, 2] = attention[0, 2, 1] = 1
    matrix = Explanation(["<START>", "a", "b", "<STOP>"], numpy.arange(2), attention, [], None)
    assert "head 0, a: 0.500" in titles(matrix.attention_svg())


def test_no_such_head():
    for head in (-1, 3):
        with pytest.raises(ValueError, match="0 to 2"):
            explanation(["Go"]).attention_svg(heads=[head])


ALPHA = numpy.array([[0.25, 0.0], [0.75, 1.0]])


def test_a_cell_for_every_layer_and_head_and_the_mean():
    svg = layer_attention_svg(ALPHA)
    assert svg == layer_attention_svg(ALPHA)
    assert titles(svg) == [
        "layer 2, head 1: 0.750",
        "layer 2, head 2: 1.000",
        "layer 2, mean: 0.875",
        "layer 1, head 1: 0.250",
        "layer 1, head 2: 0.000",
        "layer 1, mean: 0.125",
    ]
    root = ElementTree.fromstring(svg)
    cells = {rect.find(f"{SVG}title").text: rect for rect in root.iter(f"{SVG}rect") if len(rect)}
    # the highest layer on top; nothing is white, all is the darkest
    lower, higher = cells["layer 1, head 2: 0.000"], cells["layer 2, head 2: 1.000"]
    assert float(higher.get("y")) < float(lower.get("y"))
    assert (lower.get("fill"), higher.get("fill")) == ("#ffffff", "#08306b")


def test_names_of_layers():
    assert "embeddings, head 1" in layer_attention_svg(ALPHA, names=["embeddings", "first"])
    with pytest.raises(ValueError, match="each of the 2 layers: got 3 names"):
        layer_attention_svg(ALPHA, names=["a", "b", "c"])
