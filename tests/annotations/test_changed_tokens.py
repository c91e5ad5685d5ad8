"""Views of Docs whose tokens were merged or split after annotation: an error names the cause."""

import pytest
import spacy
from spacy.tokens import Doc, Span, SpanGroup

import spacy_lal
from spacy_lal.annotate.records import doc_record
from spacy_lal.annotations.frames import FrameSpans

WORDS = ["She", "left", "NewYork", "today", "."]


def annotated(frames: bool = True, errors: bool = True, trees: bool = True) -> Doc:
    doc = Doc(
        spacy.blank("en").vocab,
        words=WORDS,
        spaces=[True, True, True, False, False],
        heads=[1, 1, 1, 1, 1],
        deps=["nsubj", "ROOT", "obj", "obl", "punct"],
        tags=["PRP", "VBD", "NNP", "NN", "."],
        sent_starts=[True, False, False, False, False],
    )
    spacy_lal.install_extensions()
    if trees:
        spacy_lal.set_constituents(doc, [(0, 5, "S"), (0, 1, "NP"), (1, 4, "VP"), (3, 4, "NP")])
    if frames:
        roles = [(1, 2, "V"), (0, 1, "ARG0"), (3, 4, "ARGM-TMP")]
        spacy_lal.set_frames(doc, [FrameSpans(1, "leave.01", roles)])
    if errors:
        spacy_lal.set_errors(doc, ["", "ERROR", "", "ERROR", ""], [0.0, 0.8, 0.0, 0.9, 0.0])
    return doc


def merged(doc: Doc) -> None:
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:4])


def split(doc: Doc) -> None:
    with doc.retokenize() as retokenizer:
        retokenizer.split(doc[2], ["New", "York"], heads=[(doc[2], 1), doc[1]])


def both(doc: Doc) -> None:
    """The number of tokens stays."""
    split(doc)
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])


VIEWS = {
    "trees": lambda doc: doc._.trees,
    "tree": lambda doc: doc[:]._.tree,
    "constituents": spacy_lal.get_constituents,
    "frames": lambda doc: doc._.frames,
    "frame": lambda doc: doc[1]._.frame,
    "grammar_errors": lambda doc: doc._.grammar_errors,
    "is_error": lambda doc: doc[0]._.is_error,
    "error_score": lambda doc: doc[0]._.error_score,
    "get_errors": spacy_lal.get_errors,
    "record": lambda doc: doc_record({}, doc),
    "tree picture": lambda doc: spacy_lal.render(doc, jupyter=False),
    "span_doc": lambda doc: spacy_lal.span_doc(doc[:]),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("change", [merged, split, both])
def test_every_view_names_the_cause(view, change):
    doc = annotated()
    if change is not both:  # which a view that was just looked at would not notice
        VIEWS[view](doc)
    change(doc)
    with pytest.raises(ValueError, match=r"tokens of the Doc were merged or split after doc.spans"):
        VIEWS[view](doc)


def test_a_single_layer_is_enough():
    for layer, view in (("trees", "trees"), ("frames", "frames"), ("errors", "error_score")):
        doc = annotated(**{name: name == layer for name in ("trees", "frames", "errors")})
        merged(doc)
        with pytest.raises(ValueError, match="merged or split"):
            VIEWS[view](doc)


def test_scores_without_an_error_span():
    doc = annotated()
    spacy_lal.set_errors(doc, [""] * 5, [0.1] * 5)
    merged(doc)
    with pytest.raises(ValueError, match="merged or split"):
        VIEWS["error_score"](doc)


def test_changes_behind_the_annotation_do_no_harm():
    doc = annotated(errors=False, frames=False)
    spacy_lal.set_constituents(doc, [(0, 1, "NP")])
    merged(doc)
    assert spacy_lal.get_constituents(doc) == [(0, 1, "NP")]


def test_docs_that_went_through_other_hands():
    doc = annotated()
    again = Doc(doc.vocab).from_bytes(doc.to_bytes())
    joined = Doc.from_docs([doc, again, doc])
    assert len(joined._.trees) == 3
    assert len(joined._.frames) == 3
    assert Doc(doc.vocab).from_json(doc.to_json())._.trees[0].parsed
    copied = doc.copy()
    assert str(copied._.trees[0]) == str(doc._.trees[0])
    copied.spans["errors"] = SpanGroup(copied, name="errors", spans=[Span(copied, 2, 2, "ERROR")])
    assert spacy_lal.get_errors(copied) == [""] * 5  # a span without tokens marks none
