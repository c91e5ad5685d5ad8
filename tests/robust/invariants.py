"""What is true of a Doc whatever was in it, once a pipeline has been over it."""

from __future__ import annotations

from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lal.annotations import get_constituents, get_frames
from spacy_lal.annotations.grammar_errors import error_scores

CLOSE = 1e-4
"""How near scores are that are the same."""


def check(doc: Doc, nlp: Language, *, own_heads: bool = False) -> None:
    """own_heads: the Doc came with heads, which are its maker's affair."""
    pipes = nlp.pipe_names
    sentences: list[tuple[int, int]] = []
    if len(doc) and "gec_detector" not in pipes:  # which writes no boundaries
        sentences = [(sentence.start, sentence.end) for sentence in doc.sents]
        assert [i for start, end in sentences for i in range(start, end)] == [*range(len(doc))]
    if "lal_constituency" in pipes:
        _check_trees(doc, sentences)
        parser = nlp.config["components"]["lal_constituency"]
        if parser["model"]["dependencies"] and not own_heads:
            _check_heads(doc, sentences)
        assert all(token.tag_ for token in doc if not token.is_space)
    if "lisa_srl" in pipes:
        _check_frames(doc, sentences)
    if "gec_detector" in pipes:
        _check_errors(doc)


def _check_trees(doc: Doc, sentences: list[tuple[int, int]]) -> None:
    """Well-formed trees over exactly the words of every sentence."""
    trees = doc._.trees
    assert len(trees) == len(sentences)
    for tree, (start, end) in zip(trees, sentences, strict=True):
        words = [token.text for token in doc[start:end] if not token.is_space]
        assert tree.leaves == words
        assert tree.label == "TOP"
        assert str(doc[start:end]._.tree) == str(tree)
    for start, end, label in get_constituents(doc):
        assert label
        assert start < end
        assert not doc[start].is_space
        assert not doc[end - 1].is_space
        assert any(s <= start and end <= e for s, e in sentences)
    spans = [(start, end) for start, end, _ in get_constituents(doc)]
    opened: list[int] = []
    for start, end in spans:  # in preorder
        while opened and opened[-1] <= start:
            opened.pop()
        assert not opened or end <= opened[-1], "phrases cross"
        opened.append(end)
    _check_scores(doc.spans["constituents"].attrs["scores"], len(spans))


def _check_heads(doc: Doc, sentences: list[tuple[int, int]]) -> None:
    """One root a sentence, and every token leads to it."""
    for start, end in sentences:
        assert sum(token.head.i == token.i for token in doc[start:end]) == 1
    for token in doc:
        assert token.dep_
        steps = 0
        while token.head.i != token.i:
            token, steps = token.head, steps + 1
            assert steps <= len(doc), "a cycle"


def _check_frames(doc: Doc, sentences: list[tuple[int, int]]) -> None:
    """Frames that could be written as B, I and O: of one sentence, no span over another."""
    frames = get_frames(doc)
    assert sum(len(frame.arguments) + 1 for frame in frames) == len(doc.spans["srl"])
    assert len({frame.predicate.i for frame in frames}) == len(frames)
    for frame in frames:
        assert frame.verb.start <= frame.predicate.i < frame.verb.end
        assert not frame.predicate.is_space
        assert [span.label_ for span in frame.spans].count("V") == 1
        end = 0
        for span in frame.spans:
            assert end <= span.start < span.end
            end = span.end
        first = frame.spans[0].start
        assert any(s <= first and end <= e for s, e in sentences)
        assert str(frame)
    _check_scores(doc.spans["srl"].attrs["scores"], len(doc.spans["srl"]))


def _check_errors(doc: Doc) -> None:
    scores = error_scores(doc)
    assert scores is not None
    _check_scores(scores, len(doc))
    wrong = [False] * len(doc)
    for span in doc.spans["errors"]:
        for token in span:
            assert not wrong[token.i]
            wrong[token.i] = True
    assert [token._.is_error for token in doc] == wrong
    assert not any(is_wrong and token.is_space for is_wrong, token in zip(wrong, doc, strict=True))


def _check_scores(scores: list[float | None], count: int) -> None:
    assert len(scores) == count
    assert all(score is None or -CLOSE <= score <= 1 + CLOSE for score in scores)


def layers(doc: Doc) -> dict[str, Any]:
    """All that was found, in two parts: names and places, and numbers."""
    found: dict[str, Any] = {
        "tokens": [(t.text, t.tag_, t.dep_, t.head.i, t.is_sent_start) for t in doc],
        "trees": [str(tree) for tree in doc._.trees],
        "frames": [str(frame) for frame in doc._.frames],
    }
    for key, group in doc.spans.items():
        found[key] = [(span.start, span.end, span.label_, span.id_) for span in group]
    return found


def scores(doc: Doc) -> list[float]:
    return [
        score
        for group in doc.spans.values()
        for name in ("scores", "token_scores")
        for score in group.attrs.get(name, ())
        if score is not None
    ]


def same(found: Doc, expected: Doc) -> None:
    assert layers(found) == layers(expected)
    assert scores(found) == pytest.approx(scores(expected), abs=CLOSE)
