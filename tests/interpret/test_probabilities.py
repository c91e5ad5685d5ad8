"""Marginals of all spans, layers of words, and the pictures that are made with a pipeline."""

import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import numpy
import pytest
import spacy
import torch
from spacy.tokens import Doc

from spacy_lal.annotations.constituents import CONSTITUENTS_KEY
from spacy_lal.ged.network import layer_attention
from spacy_lal.interpret import layers_of_words, span_probabilities
from spacy_lal.visualize import render
from tests.all_trees import binary_trees

from ..pipeline import toy_errors


def test_probabilities_of_spans_by_all_trees(nlp):
    """Against the sum over all binary trees with all labels, which the model's scores give."""
    text = "The cat ate the fish"
    (found,) = span_probabilities(nlp, nlp.make_doc(text))
    assert found.words == text.split()
    pipe = nlp.get_pipe("lal_constituency")
    doc = nlp.make_doc(text)
    (batch,) = pipe.model.predict([doc]).batches
    from spacy_lal.structure.chart import packed_spans

    starts, ends = (t.tolist() for t in packed_spans(5))
    chart = dict(zip(zip(starts, ends, strict=True), batch.scores.labels[0].double(), strict=True))
    weight, of_span = 0.0, {span: 0.0 for span in chart}
    for tree in binary_trees(0, 5):
        of_tree = float(
            torch.stack([torch.logsumexp(chart[span], -1) for span in tree]).sum().exp()
        )
        weight += of_tree
        for span in tree:
            of_span[span] += of_tree
    for (start, end), scores in chart.items():
        labelled = 1 - float(torch.softmax(scores, -1)[0])
        wanted = of_span[start, end] / weight * labelled
        assert found.probabilities[start, end] == pytest.approx(wanted, abs=1e-4)
        best = pipe.labels[int(scores[1:].argmax())]
        assert found.labels[start][end] == best
    assert numpy.tril(found.probabilities).sum() == 0


def test_predicted_constituents_are_among_them(nlp):
    doc = nlp("She ate the fish. Go home!")
    by_sentence = span_probabilities(nlp, doc)
    assert [s.words for s in by_sentence] == [[t.text for t in sent] for sent in doc.sents]
    group = doc.spans[CONSTITUENTS_KEY]
    for span, score in zip(group, group.attrs["scores"], strict=True):
        for sentence in by_sentence:
            place = {int(token): k for k, token in enumerate(sentence.tokens)}
            if span.start in place:
                p = sentence.probabilities[place[span.start], place[span.end - 1] + 1]
                assert p >= score - 1e-5


def test_layers_of_words(monkeypatch):
    """One distribution a word and head, not of spaces; numpy may not ask CuPy's arrays for it."""
    nlp = spacy.blank("en")
    detector = nlp.add_pipe("gec_detector", config={"model": toy_errors.MODEL})
    nlp.initialize(lambda: toy_errors.agreement_examples(nlp, 40))
    doc = Doc(nlp.vocab, words=["she", "walk", " ", "."])
    wanted = layer_attention(detector.model, [doc])
    found = layers_of_words(nlp, doc)
    assert found.words == ["she", "walk", "."]
    assert (found.attention == wanted[:, [0, 1, 3]]).all()
    numpy.testing.assert_allclose(found.attention.sum(0), 1, atol=1e-6)

    class OnDevice:
        def __array__(self, *args, **kwargs):
            raise TypeError("implicit conversion")

        def get(self):
            return wanted

    monkeypatch.setattr("thinc.util.has_cupy", True)
    monkeypatch.setattr("thinc.util.cupy", SimpleNamespace(ndarray=OnDevice))
    monkeypatch.setattr("spacy_lal.interpret.probabilities.layer_attention", lambda *_: OnDevice())
    assert (layers_of_words(nlp, doc).attention == found.attention).all()


def test_a_pipeline_without_a_parser():
    with pytest.raises(ValueError, match="expected one parser of constituents"):
        span_probabilities(spacy.blank("en"), spacy.blank("en")("a"))
    other = spacy.blank("en").add_pipe("sentencizer")
    for look, what in ((span_probabilities, "parser"), (layers_of_words, "detector")):
        with pytest.raises(ValueError, match=f"'sentencizer' is no {what} of"):
            look(other, spacy.blank("en")("a"))


@pytest.mark.parametrize("style", ["label_attention", "contributions", "probabilities"])
def test_pictures_of_a_doc(nlp, style):
    doc = nlp("She ate the fish.")
    picture = render(doc, style, jupyter=False, options={"nlp": nlp})
    root = ElementTree.fromstring(picture)
    assert "She ate the fish ." in root.get("aria-label")
