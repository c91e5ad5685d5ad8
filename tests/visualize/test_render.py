"""Pictures: valid, escaped, readable, without overlap; the same call as displaCy's."""

import inspect
import re
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import pairwise

import numpy
import pytest
import spacy
from spacy import displacy
from spacy.tokens import Doc

from spacy_lal.annotations import set_constituents, set_dependencies
from spacy_lal.annotations.frames import FrameSpans, get_frames, set_frames
from spacy_lal.annotations.grammar_errors import set_errors
from spacy_lal.drawing.html import text_style
from spacy_lal.drawing.palette import CATEGORIES, DARK, ROLES, category
from spacy_lal.drawing.svg import xml
from spacy_lal.interpret import LayersOfWords, SpanProbabilities
from spacy_lal.trees.tree import ConstituentTree
from spacy_lal.visualize import STYLES, render

from .geometry import SVG, clipped, overlapping, smallest, text_boxes
from .material import HOSTILE, PICTURES, RECORD, explanation, other, random_tree

XHTML = "{http://www.w3.org/1999/xhtml}"
IDS = [f"{style}-{'-'.join(map(str, options))}" for style, _, options in PICTURES]


def drawn(style, item, options, **more):
    manual = item is RECORD
    return render([item], style, jupyter=False, options=options, manual=manual, **more)


def parsed(picture):
    """Its elements; what a page would show is the same whether it is read as HTML or as XML."""
    return ElementTree.fromstring(f"<body>{picture}</body>")


def test_every_style_is_drawn_here():
    assert {style for style, *_ in PICTURES} == set(STYLES)


@pytest.mark.parametrize(("style", "item", "options"), PICTURES, ids=IDS)
def test_valid_and_hostile_strings_stay_text(style, item, options):
    for more in ({}, {"minify": True}, {"page": True}):
        picture = drawn(style, item, options, **more)
        assert picture == drawn(style, item, options, **more)
        root = ElementTree.fromstring(picture) if more.get("page") else parsed(picture)
        names = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert not names & {"script", "a", "image", "foreignObject", "iframe", "img"}
        for element in root.iter():
            assert not [name for name in element.attrib if name.startswith("on")]
            # so that pages may forbid styles that stand in elements
            assert "style" not in element.attrib
        links = re.sub(r"http://www.w3.org/(2000/svg|1999/xhtml)", "", picture)
        assert "http" not in links
        assert "url(" not in links
        if more.get("minify"):
            assert "\n" not in picture
        said = "".join(root.itertext()) + "".join(v for e in root.iter() for v in e.attrib.values())
        assert xml(HOSTILE).count("\ufffd") == 1
        assert "<script>" in said or (style, options) == ("layers", {})  # as text
        assert "<script" not in picture


@pytest.mark.parametrize(("style", "item", "options"), PICTURES, ids=IDS)
def test_said_to_screen_readers(style, item, options):
    root = parsed(drawn(style, item, options))
    pictures = [e for e in root if e.get("role") in ("img", "group")]
    assert pictures
    assert all(e.get("aria-label") for e in pictures)
    for svg in root.iter(f"{SVG}svg"):
        assert svg.find(f"{SVG}title").text == svg.get("aria-label")


@pytest.mark.parametrize(("style", "item", "options"), PICTURES, ids=IDS)
def test_every_colour_has_a_dark_one(style, item, options):
    picture = drawn(style, item, options)
    body = re.sub("<style>.*?</style>", "", picture, flags=re.S)
    colours = set(re.findall("#[0-9a-f]{6}", body))
    assert colours <= set(DARK)
    for colour in colours:  # and it says so
        assert DARK[colour] in picture


def luminance(colour):
    """Relative luminance of the Web Content Accessibility Guidelines 2.2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, two):
    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_layers_of_a_text_without_words():
    item = LayersOfWords([], numpy.zeros((3, 0, 4)))
    for words in (False, True):
        markup = render(item, style="layers", options={"words": words}, jupyter=False)
        ElementTree.fromstring(markup)


def test_contrast():
    """WCAG's 4.5 for text, 3 for lines; light and dark."""
    from spacy_lal.drawing.palette import FAINT, INK, MISSED, PAPER, RULE, SPURIOUS

    for text in (INK, FAINT, MISSED, SPURIOUS):
        assert contrast(text, PAPER) > 4.5
        assert contrast(DARK[text], DARK[PAPER]) > 4.5
    assert contrast(RULE, PAPER) > 3
    assert contrast(DARK[RULE], DARK[PAPER]) > 3
    light, dark = map(dict, (re.findall(r"--lal-([\w-]+):(#\w{6})", s) for s in style_sheets()))
    behind = [f"role-{role.lower()}" for role in ROLES] + [f"category-{c}" for c in CATEGORIES]
    for name in behind:
        assert contrast(INK, light[name]) > 4.5
        assert contrast(DARK[INK], dark[name]) > 4.5
    for colours in (light, dark):
        assert contrast(colours["wrong"], colours["back-wrong"]) > 4.5
        assert contrast(colours["top"], colours["paper"]) > 3


def style_sheets():
    """The variables of light and of dark pages."""
    return text_style().partition(".lal-frame")[0].split("@media")


BOTH_WAYS = [False, True]


@pytest.mark.parametrize("turned", BOTH_WAYS)
@pytest.mark.parametrize("seed", range(4))
def test_no_overlap_and_no_clipping_in_trees(seed, turned):
    picture = render(random_tree(45, seed), options={"turned": turned}, jupyter=False)
    assert len(text_boxes(picture)) > 90
    assert overlapping(picture) == []
    assert clipped(picture) == []
    assert smallest(picture) >= 11


@pytest.mark.parametrize("turned", BOTH_WAYS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("edges", ["straight", "elbow"])
def test_edges_meet_no_label(seed, edges, turned):
    """No point of a line lies within a chip, other than its own ends'."""
    options = {"edges": edges, "turned": turned}
    root = ElementTree.fromstring(render(random_tree(45, seed), options=options, jupyter=False))
    chips = [
        [float(r.get(k)) for k in ("x", "y", "width", "height")]
        for g in root.iter(f"{SVG}g")
        for r in g.iter(f"{SVG}rect")
    ]
    tags = [float(t.get("x")) for t in root.iter(f"{SVG}text") if t.get("font-size") == "11"]
    assert len(chips) > 20
    assert tags
    for line in root.iter(f"{SVG}path"):
        points = corners(line.get("d"))
        for (x, y), (to_x, to_y) in pairwise(points):
            for k in range(51):
                here = x + (to_x - x) * k / 50, y + (to_y - y) * k / 50
                for left, top, wide, high in chips:
                    inside = left + 0.1 < here[0] < left + wide - 0.1
                    inside &= top + 0.1 < here[1] < top + high - 0.1
                    assert not inside


def corners(d):
    x = y = 0.0
    points = []
    for command, numbers in re.findall(r"([MLHV])([-\d. ]+)", d):
        values = [float(v) for v in numbers.split()]
        if command == "H":
            x = values[0]
        elif command == "V":
            y = values[0]
        else:
            x, y = values
        points.append((x, y))
    return points


def doc_of(words):
    return Doc(spacy.blank("en").vocab, words=words)


def annotated(n=45):
    """A Doc with all layers."""
    doc = doc_of([f"word{'s' * (i % 7)}" for i in range(n)])
    set_constituents(doc, random_tree(n).spans())
    set_dependencies(doc, [max(0, i - i % 4 - 1) for i in range(n)], ["nsubj:pass"] * n)
    frame = [(9, 10, "V"), (0, 8, "ARG0"), (10, 11, "ARGM-PRD"), (11, 40, "ARG1")]
    if n > 40:
        set_frames(doc, [FrameSpans(9, "give.01", frame), FrameSpans(44, "x", [(44, 45, "V")])])
    set_errors(doc, ["R:VERB:SVA" if i in (3, 4, 20) else "" for i in range(n)])
    doc.spans["errors"].attrs["corrections"] = ["a much longer one", None]
    return doc


@pytest.mark.parametrize("of", ["constituents", "heads", "srl"])
def test_no_overlap_in_comparisons_and_arcs(of):
    gold, predicted = annotated(), annotated()
    set_constituents(predicted, random_tree(45, 1).spans())
    set_dependencies(predicted, [max(0, i - 1) for i in range(45)], ["flat"] * 45)
    set_frames(predicted, [FrameSpans(9, "give.01", [(9, 10, "V"), (10, 30, "ARG1")])])
    pictures = [render([(gold, predicted)], "diff", jupyter=False, options={"of": of})]
    for style in ("srl_lanes", "heads", "all"):
        pictures += [render(gold, style, options={"turned": t}, jupyter=False) for t in BOTH_WAYS]
    for picture in pictures:
        assert overlapping(picture) == []
        assert clipped(picture) == []
        assert smallest(picture) >= 11


def test_a_tree_of_60_words_takes_less_than_20_ms():
    tree = random_tree(60)
    render(tree, jupyter=False)
    times = []
    for _ in range(20):
        begun = time.process_time()
        render(tree, jupyter=False)
        times.append(time.process_time() - begun)
    assert min(times) < 0.02


def test_a_tree_of_any_depth():
    tree = ConstituentTree("NN", word="end")
    for _ in range(3000):
        tree = ConstituentTree("X", [ConstituentTree("DT", word="a"), tree])
    for style in ("tree", "boxes"):
        assert render(tree, style, jupyter=False).count("lal-node") == 3000


def test_words_stand_in_the_order_of_their_script():
    hebrew = ConstituentTree.from_string("(S (NP (NN ילד)) (VP (VB קרא) (NP (NN ספר))) (. .))")
    latin = ConstituentTree.from_string("(S (NP (NN boy)) (VP (VB read) (NP (NN book))) (. .))")
    for tree, mirrored in ((hebrew, True), (latin, False)):
        svg = render(tree, jupyter=False)
        places = {box.text: box.left for box in text_boxes(svg)}
        order = sorted(tree.leaves, key=places.__getitem__, reverse=mirrored)
        assert order == tree.leaves
        assert overlapping(svg) == []
        assert f"dir='{'rtl' if mirrored else 'ltr'}'" in render(tree, "boxes", jupyter=False)


def test_all_layers_stand_at_the_same_words():
    """A word's phrase, relation and role lie at its middle; a wide picture is turned."""
    svg = ElementTree.fromstring(drawn("all", RECORD, {}))
    middles = {g.get("data-start"): middle(g) for g in svg.iter(f"{SVG}g") if is_word(g)}
    placed = 0
    for g in svg.iter(f"{SVG}g"):
        long = int(g.get("data-end", 0)) - int(g.get("data-start", 0))
        if g.get("class") in ("lal-node", "lal-arg") and long == 1:
            assert middle(g) == pytest.approx(middles[g.get("data-start")])
            placed += 1
        elif g.get("class") == "lal-arc":
            assert middle(g) == pytest.approx(middles[g.get("data-token")])
            placed += 1
    assert placed > 10
    for n, turned in ((8, False), (60, True)):
        wide = ElementTree.fromstring(render(annotated(n), "heads", jupyter=False))
        assert float(wide.get("width")) < 1280
        assert (len({middle(g) for g in wide.iter(f"{SVG}g") if is_word(g)}) < n) == turned


def test_a_grid_of_50_words_fits_a_page():
    n = 50
    table = numpy.triu(numpy.full((n + 1, n + 1), 0.4), 1)
    labels = [["SBAR::WHADVP"] * (n + 1)] * (n + 1)
    item = SpanProbabilities(["word"] * n, numpy.arange(n), table, labels)
    svg = render(item, "probabilities", jupyter=False)
    assert float(ElementTree.fromstring(svg).get("width")) < 1600
    assert overlapping(svg) == []
    assert smallest(svg) >= 11


def is_word(g):
    return g.get("class") == "lal-word"


def middle(g):
    """The middle of a group's last text."""
    return float(g.findall(f"{SVG}text")[-1].get("x"))


def test_wide_characters_get_their_room():
    tree = ConstituentTree.from_string("(IP (NN 委员会) (VV 公布) (NN 报告))")
    boxes = {box.text: box for box in text_boxes(render(tree, jupyter=False))}
    assert boxes["委员会"].right - boxes["委员会"].left == 3 * 14  # an em each
    assert boxes["公布"].left >= boxes["委员会"].right + 10


def test_chains_are_one_node_if_compact():
    tree = ConstituentTree.from_string("(TOP (S (VP (VB Go))))")
    labels = {
        compact: re.findall(
            "data-label='(.*?)'", render(tree, options={"compact": compact}, jupyter=False)
        )
        for compact in (True, False)
    }
    assert labels == {True: ["S›VP"], False: ["S", "VP"]}


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        ("NP NP-SBJ WHNP NML QP", "noun"),
        ("VP VN VPinf", "verb"),
        ("PP WHPP", "preposition"),
        ("ADJP ADVP WHADVP AP", "modifier"),
        ("S SBAR SINV SENT Ssub IP-MAT CP TOP VROOT", "clause"),
        ("PRT UCP X INTJ PRN", "other"),
    ],
)
def test_categories(labels, name):
    assert {category(label) for label in labels.split()} == {name}


def test_doubtful_phrases_are_dashed():
    """Below 0.8, and thick below 0.5; in boxes, too."""
    root = ElementTree.fromstring(drawn("tree", RECORD, {"compact": False}))
    dashed = {}
    for g in root.iter(f"{SVG}g"):
        if g.get("class") == "lal-node":
            frame = g.find(f"{SVG}rect")
            of_chip = "stroke-dasharray" in frame.attrib, frame.get("stroke-width", "1")
            dashed[float(g.get("data-probability", 1))] = of_chip
    assert dashed == {
        1: (False, "1"), 0.99: (False, "1"), 0.8: (False, "1"), 0.7: (True, "1"),
        0.3: (True, "2"), 0.2: (True, "2"),
    }  # fmt: skip
    boxes = drawn("boxes", RECORD, {"compact": False})
    assert (boxes.count("lal-doubt-1'"), boxes.count("lal-doubt-2'")) == (1, 2)


def test_a_comparison():
    svg = drawn("diff", (RECORD, other()), {})
    root = ElementTree.fromstring(svg)
    said = [g.find(f"{SVG}title").text.split(":")[0] for g in root.iter(f"{SVG}g")]
    wanted = ["S, matched", "X, spurious", "NP, matched", "VP, matched", "NP, matched"]
    assert [s for s in said if s in wanted] == wanted
    assert "NX, missed" in said
    assert "4 matched, 2 missed, 1 spurious" in root.get("aria-label")
    heads = drawn("diff", (RECORD, other()), {"of": "heads"})
    assert "5 matched, 1 missed, 1 spurious" in heads
    roles = drawn("diff", (RECORD, other()), {"of": "srl"})
    assert "2 matched, 2 missed, 1 spurious" in roles


def test_a_comparison_of_two_frames_of_one_predicate():
    def annotated(*rolesets):
        doc = doc_of(["He", "put", "up", "it"])
        roles = {"put.01": [(1, 2, "V"), (3, 4, "ARG1")], "put.02": [(1, 2, "V"), (0, 1, "ARG0")]}
        set_frames(doc, [FrameSpans(1, roleset, roles[roleset]) for roleset in rolesets])
        return doc

    both = annotated("put.01", "put.02")
    for gold, predicted, said in (
        (both, both, "4 matched, 0 missed, 0 spurious"),
        (both, annotated("put.01"), "2 matched, 2 missed, 0 spurious"),
        (annotated("put.02"), both, "2 matched, 0 missed, 2 spurious"),
    ):
        picture = render([(gold, predicted)], "diff", jupyter=False, options={"of": "srl"})
        assert said in picture
        assert overlapping(picture) == []


def test_contributions_of_a_doc_with_a_sentence_without_constituents(monkeypatch):
    drawn_one = explanation()
    without = replace(drawn_one, spans=[], contributions=numpy.zeros((0, 3)))
    options = {"nlp": spacy.blank("en")}

    def picture(*explanations):
        monkeypatch.setattr("spacy_lal.interpret.explain", lambda *_, **__: list(explanations))
        return render(doc_of(["a", "!"]), "contributions", jupyter=False, options=options)

    assert picture(without, drawn_one, without) == picture(drawn_one)
    with pytest.raises(ValueError, match="no constituent at words None"):
        picture(without, without)


def test_roles_that_cross_or_nest_keep_all_words():
    picture = drawn("srl", RECORD, {})
    row = parsed(picture).find("div/p")
    assert "".join(row.itertext()).endswith("yesterday .")
    chips = [(s.get("data-start"), s.get("data-end")) for s in row.iter("span") if s.get("title")]
    # ARGM-TMP crosses the role before it: one piece within, one behind
    assert chips == [("0", "1"), ("1", "2"), ("2", "4"), ("3", "4"), ("4", "5")]


def test_errors_and_corrections():
    root = parsed(drawn("errors", RECORD, {}))
    wrong = [s for s in root.iter("span") if "lal-wrong" in s.get("class")]
    assert [s.get("data-token") for s in wrong] == ["3", "4"]
    assert [ins.text for ins in root.iter("ins")][1] == "∅"
    above = parsed(drawn("errors", RECORD, {"threshold": 0.2}))
    wrong = [s for s in above.iter("span") if "lal-wrong" in s.get("class")]
    assert [s.get("data-token") for s in wrong] == ["2", "3", "4"]
    doc = doc_of(["He", "go"])
    set_errors(doc, ["", "ERROR"], [0.1, 0.9])
    doc.spans["errors"].attrs["corrections"] = ["goes"]
    assert [ins.text for ins in parsed(render(doc, "errors", jupyter=False)).iter("ins")] == [
        "goes"
    ]


def test_docs_spans_and_several():
    doc = doc_of([f"word{'s' * i}" for i in range(8)])
    set_constituents(doc, random_tree(8).spans())
    picture = render(doc, jupyter=False)
    assert picture.count("<svg") == 1
    assert render([doc, doc], jupyter=False) == 2 * picture
    part = render(doc[2:5], jupyter=False)
    words = [box.text for box in sorted(text_boxes(part)) if box.text.startswith("word")]
    assert words == [t.text for t in doc[2:5]]


def test_notebooks():
    tree = random_tree(5)
    assert tree._repr_svg_() == render(tree, jupyter=False)
    doc = doc_of(["Rain", "fell", ".", "Snow", "too", "."])
    for token in doc:
        token.is_sent_start = token.i in (0, 3)
    set_frames(doc, [FrameSpans(1, "fall.01", [(1, 2, "V"), (0, 1, "ARG1")])])
    html = get_frames(doc)[0]._repr_html_()
    assert parsed(html).find("div/p").find("bdi").text == "fall.01"
    assert "Snow" not in html


def test_the_call_is_that_of_displacy():
    ours = list(inspect.signature(render).parameters)
    assert ours == list(inspect.signature(displacy.render).parameters)


@pytest.mark.parametrize(
    ("item", "more", "said"),
    [
        (RECORD, {"style": "trees", "manual": True}, "style must be one of all, tree, boxes"),
        (RECORD, {}, "manual = False, but this is a dict"),
        (ConstituentTree("A"), {"manual": True}, "manual = True, but this is a ConstituentTree"),
        (RECORD, {"manual": True, "options": {"colour": 1}}, "no option 'colour'; it has edges"),
        ({"text": "a"}, {"manual": True}, "a record: words: Field required"),
        ({"words": ["a"]}, {"manual": True}, "no parser of constituents annotated"),
        (RECORD, {"manual": True, "options": {"edges": "round"}}, "edges must be one of"),
        (doc_of(["a"]), {"style": "all"}, "nothing to draw: no tree, heads, roles or errors"),
        (doc_of(["a"]), {"style": "srl"}, "no component for semantic roles annotated 'a '"),
        (doc_of(["a"]), {"style": "layers"}, "needs the pipeline"),
        (doc_of(["a"]), {"style": "label_attention"}, "needs the pipeline"),
        (doc_of(["a"]), {"style": "diff"}, "a comparison is of an Example or of"),
        (explanation(), {"style": "contributions", "options": {"span": (0, 1)}}, "no constituent"),
        (3, {}, "a picture is of a Doc, Span, ConstituentTree or record"),
    ],
)  # fmt: skip
def test_what_is_refused(item, more, said):
    with pytest.raises(ValueError, match=said):
        render(item, jupyter=False, **more)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"words": "ab"}, "words: .*instances are not allowed"),
        ({"words": ["a", 2]}, r"words\[1\]: Input should be a valid string"),
        ({"tags": ["A"]}, "'tags' has 1 values for 2 words"),
        ({"error_scores": ["0", "1"]}, r"error_scores\[0\]: Input should be a valid number"),
        ({"heads": [0, 0]}, "'heads' need 'relations'"),
        ({"heads": [0, 2], "relations": ["a", "b"]}, r"heads\[1\] must be a word's place, from 0"),
        (
            {"sentences": [{"start": 0, "end": 3}]},
            r"sentences\[0\]: span 0-3 is empty or outside 2",
        ),
        ({"constituents": [{"start": 0, "end": 1}]}, r"constituents\[0\]\.label: Field required"),
        ({"constituents": [{"start": 1, "end": 1, "label": "A"}]}, "span 1-1 is empty or outside"),
        ({"errors": "none"}, "errors: .*instances are not allowed"),
        ({"frames": [{"predicate": 1}]}, r"frames\[0\]\.spans: Field required"),
        (
            {"frames": [{"predicate": 2, "spans": []}]},
            r"frames\[0\]\.predicate must be a word's",
        ),
        (
            {"frames": [{"predicate": 1, "spans": [{"start": 1, "end": 2}]}]},
            r"frames\[0\]\.spans\[0\]\.label: Field required",
        ),
    ],
)
def test_records_written_by_hand(fields, said):
    with pytest.raises(ValueError, match=said):
        render({"words": ["a", "b"], **fields}, "tree", manual=True, jupyter=False)


def test_crossing_phrases_are_named():
    record = {
        "words": ["a", "b", "c"],
        "constituents": [dict(start=0, end=2, label="A"), dict(start=1, end=3, label="B")],
    }
    for style in ("tree", "boxes"):
        with pytest.raises(
            ValueError,
            match=r"no tree of 'a b c': spans \(0, 2, 'A', None\) and \(1, 3, 'B', None\) cross",
        ):
            render(record, style, manual=True, jupyter=False)


def test_nothing_to_draw():
    for style in ("tree", "boxes", "srl", "srl_lanes", "errors"):
        record = {"words": [], "constituents": [], "frames": [], "errors": []}
        parsed(render(record, style, manual=True, jupyter=False))


def test_directions_of_trees():
    for direction in ("up", 1):
        with pytest.raises(ValueError, match="direction must be 'ltr', 'rtl' or None"):
            render(RECORD, style="tree", manual=True, options={"direction": direction})
