"""Tables of a Doc annotated by hand."""

from __future__ import annotations

import sys

import pytest
import spacy
from spacy.tokens import Doc, Span

from spacy_lal import tables
from spacy_lal.annotations import (
    Correction,
    FrameSpans,
    set_constituents,
    set_errors,
    set_frames,
)
from spacy_lal.tables import rows


@pytest.fixture
def doc() -> Doc:
    """Two sentences with a line break between them; "Anna sees the dog" and "It sleep"."""
    doc = Doc(
        spacy.blank("en").vocab,
        words=["Anna", "sees", "\n", "the", "dog", ".", "It", "sleep"],
        spaces=[True, False, False, True, False, True, True, False],
        tags=["NNP", "VBZ", "_SP", "DT", "NN", ".", "PRP", "VB"],
        lemmas=["Anna", "see", "\n", "the", "dog", ".", "it", "sleep"],
        heads=[1, 1, 1, 4, 1, 1, 7, 7],
        deps=["nsubj", "ROOT", "dep", "det", "obj", "punct", "nsubj", "ROOT"],
        ents=["B-PERSON", *["O"] * 7],
    )
    spans = [(0, 6, "S"), (0, 1, "NP"), (1, 5, "VP"), (3, 5, "NP"), (6, 8, "S"), (6, 8, "VP")]
    set_constituents(doc, spans, [0.5, 1.0, 0.75, 1.0, 1.0, 1.0])
    arguments = [(1, 2, "V"), (0, 1, "ARG0"), (3, 5, "ARG1")]
    set_frames(doc, [FrameSpans(1, "see.01", arguments), FrameSpans(7, "", [(7, 8, "V")])])
    right = {7: [Correction("sleeps", 0.5)]}
    set_errors(doc, [*[""] * 7, "R:VERB"], [0.0] * 7 + [0.875], corrections=right)
    doc.user_data["id"] = "a"
    return doc


def test_tokens(doc: Doc) -> None:
    """Whitespace has no row, but counts among tokens and characters."""
    found = [tuple(row.values())[2:] for row in tables.token_rows(doc)]
    assert found == [
        (0, 0, 0, "Anna", "Anna", "", "NNP", "", 1, "nsubj", "PERSON"),
        (0, 1, 5, "sees", "see", "", "VBZ", "", 1, "ROOT", ""),
        (0, 3, 10, "the", "the", "", "DT", "", 4, "det", ""),
        (0, 4, 14, "dog", "dog", "", "NN", "", 1, "obj", ""),
        (0, 5, 17, ".", ".", "", ".", "", 1, "punct", ""),
        (1, 6, 19, "It", "it", "", "PRP", "", 7, "nsubj", ""),
        (1, 7, 22, "sleep", "sleep", "", "VB", "", 7, "ROOT", ""),
    ]


def test_constituents(doc: Doc) -> None:
    found = [tuple(row.values())[2:] for row in tables.constituent_rows(doc)]
    assert found == [
        (0, "S", 0, 6, "Anna sees\nthe dog.", "", 0, 1, 0.5),
        (0, "NP", 0, 1, "Anna", "S", 1, 0, 1.0),
        (0, "VP", 1, 5, "sees\nthe dog", "S", 1, 1, 0.75),
        (0, "NP", 3, 5, "the dog", "VP", 2, 4, 1.0),
        (1, "S", 6, 8, "It sleep", "", 0, 7, 1.0),
        (1, "VP", 6, 8, "It sleep", "S", 1, 7, 1.0),
    ]


def test_frames_and_errors(doc: Doc) -> None:
    """A frame without arguments has a row, that of V."""
    found = [tuple(row.values())[2:] for row in tables.frame_rows(doc)]
    assert found == [
        (0, 0, 1, "sees", "see", "see.01", "V", 1, 2, "sees", 1, None),
        (0, 0, 1, "sees", "see", "see.01", "ARG0", 0, 1, "Anna", 0, None),
        (0, 0, 1, "sees", "see", "see.01", "ARG1", 3, 5, "the dog", 4, None),
        (1, 1, 7, "sleep", "sleep", "", "V", 7, 8, "sleep", 7, None),
    ]
    assert list(tables.error_rows(doc)) == [
        {
            **{"doc": 0, "id": "a", "sentence": 1, "label": "R:VERB"},
            **{"start": 7, "end": 8, "text": "sleep", "score": 0.875, "suggestion": "sleeps"},
        }
    ]


def test_several_docs(doc: Doc) -> None:
    """They are numbered; those that lack an annotation have no rows, or no values in them."""
    blank = spacy.blank("en")
    found = list(tables.token_rows([blank(""), blank("Go"), doc]))
    assert [(row["doc"], row["id"]) for row in found] == [(1, None)] + [(2, "a")] * 7
    assert (found[0]["head"], found[0]["relation"], found[0]["lemma"]) == (None, "", "")
    blank_doc = blank("Go home")
    blank_doc.spans["constituents"] = [Span(blank_doc, 0, 2, "S")]
    (row,) = tables.constituent_rows([blank_doc])
    assert (row["head"], row["score"]) == (None, None)
    assert {row["doc"] for row in tables.constituent_rows([blank("Go"), doc])} == {1}
    assert list(tables.frame_rows(blank("Go"))) == list(tables.error_rows(blank("Go"))) == []


def test_pandas_is_missing(doc: Doc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'spacy-lal\[pandas\]'"):
        tables.tokens(doc)


@pytest.mark.parametrize("name", ["token", "constituent", "frame", "error"])
def test_data_frames(name: str, doc: Doc) -> None:
    """The values of the rows; numbers are numbers also where some are missing, or all rows."""
    pytest.importorskip("pandas")
    make, read = getattr(tables, f"{name}s"), getattr(tables, f"{name}_rows")
    columns = list(getattr(rows, f"{name.upper()}_COLUMNS"))
    docs = [spacy.blank("en")("Go"), doc]
    found = make(docs)
    assert list(found) == columns
    plain = found.astype(object).where(found.notna(), None)
    assert plain.to_dict("records") == list(read(docs))
    empty = make([])
    assert list(empty) == columns
    for frame in (found, empty):
        assert frame["start"].dtype == "int64"
        if "head" in columns:
            assert frame["head"].dtype == "Int64"
