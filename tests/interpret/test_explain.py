"""`explain`: attention and contributions of the heads in each sentence of a Doc."""

import copy
from dataclasses import replace

import numpy
import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import fix_random_seed

from spacy_lal.bridge.shim import torch_shim
from spacy_lal.interpret import Explanation, explain, explain_docs
from spacy_lal.layers.input_encoders import row_mask
from spacy_lal.structure.binarise import collapse_unaries

from ..pipeline.toy import (
    TINY,
    dependency_pipeline,
    examples,
    headed_examples,
    joint_pipeline,
    tiny_pipeline,
    train,
)

TEXT = "The cat sat on the mat . She ate the fish ."


def doc_of(nlp, text=TEXT, starts=(0, 7)):
    words = text.split(" ")
    return Doc(nlp.vocab, words=words, sent_starts=[k in starts for k in range(len(words))])


def pipeline_with(**encoder):
    return tiny_pipeline(model={**TINY, "encoder": {**TINY["encoder"], **encoder}})


def untrained(**encoder):
    nlp = pipeline_with(**encoder)
    nlp.initialize(lambda: examples(nlp))
    return nlp


def assert_same(actual: Explanation, expected: Explanation):
    assert actual.words == expected.words
    assert actual.spans == expected.spans
    numpy.testing.assert_allclose(actual.attention, expected.attention, atol=1e-6)
    numpy.testing.assert_allclose(actual.contributions, expected.contributions, atol=1e-5)


def test_sentences(nlp):
    doc = doc_of(nlp)
    before = doc.to_bytes()
    first, second = explain(nlp, doc)
    assert doc.to_bytes() == before
    assert first.words == ["<START>", *TEXT.split(" ")[:7], "<STOP>"]
    assert second.words == ["<START>", "She", "ate", "the", "fish", ".", "<STOP>"]
    assert second.tokens.tolist() == [7, 8, 9, 10, 11]
    for explanation in (first, second):
        n = len(explanation.words)
        assert explanation.attention.shape == (4, n)
        numpy.testing.assert_allclose(explanation.attention.sum(1), 1, atol=1e-6)
        assert explanation.contributions.shape == (len(explanation.spans), 4)
        numpy.testing.assert_allclose(explanation.contributions.sum(1), 1)
    nlp(doc)
    predicted = collapse_unaries((s.start, s.end, s.label_) for s in doc.spans["constituents"])
    spans = [
        (int(e.tokens[i]), int(e.tokens[j - 1]) + 1, label)
        for e in (first, second)
        for i, j, label in e.spans
    ]
    assert spans == predicted
    # the released program fails on its last label
    assert nlp.get_pipe("lal_constituency").labels[-1] in {label for *_, label in spans}


def test_parsed_docs_and_the_component_itself(nlp):
    doc = doc_of(nlp)
    component = nlp.get_pipe("lal_constituency")
    for other in (explain(nlp, nlp(doc.copy())), explain(component, doc)):
        for actual, expected in zip(other, explain(nlp, doc), strict=True):
            assert_same(actual, expected)


@pytest.mark.parametrize("arrangement", ["stack", "concatenate"])
def test_sums_are_those_of_span_vectors(arrangement):
    """Head by head, from the vectors that the span scorer reads."""
    fix_random_seed(0)
    settings = {"self_attention_layers": 1, "self_attention_heads": 2}
    nlp = train(pipeline_with(arrangement=arrangement, **settings), steps=40)
    doc = doc_of(nlp, "The cat sat on the mat .", (0,))
    pipe = nlp.get_pipe("lal_constituency")
    network = torch_shim(pipe.model).module
    (explanation,) = explain(nlp, doc, method="softmax")
    x = torch.from_numpy(pipe.model.get_ref("tok2vec").predict([doc])[0]).unsqueeze(0)
    lengths = torch.tensor([len(doc)])
    encoder = network.encoder
    with torch.no_grad():
        rows, _ = network.input_encoder(x, lengths)
        mask = row_mask(lengths, len(doc))
        vectors = encoder.fenceposts(encoder(rows, mask))[0].double()
        attention = encoder.label_attention.attention(encoder.encode(rows, mask), mask)[0, :, 0]
        encoded = encoder.encode(rows, mask)[0]
    layer, (n_heads, d_proj) = encoder.label_attention, (4, 4)
    for head in range(n_heads):
        with torch.no_grad():
            scores = encoded @ layer.w_ks[head] @ layer.w_qs[head] / layer.d_key**0.5
        numpy.testing.assert_allclose(attention[head], scores.softmax(0), atol=1e-6)
    numpy.testing.assert_allclose(explanation.attention, attention, atol=1e-6)
    d_rows = encoder.output_dim - n_heads * d_proj
    half = d_proj // 2
    second = d_rows + n_heads * half  # where the second halves of heads begin
    assert explanation.spans
    for (i, j, _), actual in zip(explanation.spans, explanation.contributions, strict=True):
        v = vectors[j] - vectors[i]
        at = d_rows // 2
        sums = torch.stack(
            [
                v[at + h * half : at + (h + 1) * half].sum()
                + v[second + h * half : second + (h + 1) * half].sum()
                for h in range(n_heads)
            ]
        )
        scaled = (sums - sums.min()) / (sums.max() - sums.min())
        numpy.testing.assert_allclose(actual, scaled.softmax(0), atol=1e-5)


def test_matrix_queries():
    nlp = untrained(query="matrix")
    for explanation in explain(nlp, doc_of(nlp)):
        n = len(explanation.words)
        assert explanation.attention.shape == (4, n, n)
        numpy.testing.assert_allclose(explanation.attention.sum(2), 1, atol=1e-6)
        assert explanation.span_attention(0, 2).shape == (4, n)
        numpy.testing.assert_allclose(
            explanation.span_attention(1, 2), explanation.attention[:, 2], atol=1e-7
        )


def test_whitespace_and_empty_docs(nlp):
    assert explain(nlp, Doc(nlp.vocab)) == []
    assert explain(nlp, Doc(nlp.vocab, words=[" ", "\n\n"])) == []
    spaced = Doc(
        nlp.vocab,
        words=["\n", "She", " ", "ate", "the", "fish", ".", "\n\n"],
        sent_starts=[True] + [False] * 7,
    )
    (explanation,) = explain(nlp, spaced)
    assert explanation.words == ["<START>", "She", "ate", "the", "fish", ".", "<STOP>"]
    assert explanation.tokens.tolist() == [1, 3, 4, 5, 6]
    assert (0, 5, "S") in explanation.spans


def test_pieces_of_long_sentences(nlp):
    shorter = copy.deepcopy(nlp)
    pipe = shorter.get_pipe("lal_constituency")
    pipe.model.attrs["reading"] = replace(pipe.model.attrs["reading"], max_sentence_length=5)
    doc = doc_of(nlp, starts=(0,))
    pieces = explain(shorter, doc)
    assert [len(piece.tokens) for piece in pieces] == [5, 5, 2]
    assert numpy.concatenate([p.tokens for p in pieces]).tolist() == list(range(len(doc)))
    pipe.model.attrs["reading"] = replace(pipe.model.attrs["reading"], long_sentences="flat")
    assert explain(shorter, doc) == []
    assert len(explain(shorter, doc_of(nlp, "Go home !", (0,)))) == 1


def test_batch_does_not_matter(nlp):
    texts = [TEXT, "Go home !", "Hello", "A dog with a bone", TEXT.lower()]
    docs = [doc_of(nlp, text, (0, 7) if len(text) > 30 else (0,)) for text in texts]
    alone = [explain(nlp, doc) for doc in docs]
    for size in (2, 64):
        for together, expected in zip(explain_docs(nlp, docs, batch_size=size), alone, strict=True):
            for (sentence, actual), one in zip(together, expected, strict=True):
                assert sentence.words.tolist() == one.tokens.tolist()
                assert_same(actual, one)


def test_earlier_pipes_are_run(nlp):
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    pipeline.add_pipe("lal_constituency", source=nlp)
    doc = Doc(pipeline.vocab, words=TEXT.split(" "))
    assert len(explain(pipeline, doc)) == 2
    assert not doc.has_annotation("SENT_START")


def test_the_pipeline_stays_whole_meanwhile(nlp):
    """Other threads may be using it."""
    pipeline = spacy.blank("en")
    seen = []

    @Language.component("test_explain_looks")
    def look(doc):
        seen.append(pipeline.pipe_names)
        return doc

    pipeline.add_pipe("test_explain_looks")
    pipeline.add_pipe("lal_constituency", source=nlp)
    explain(pipeline, doc_of(pipeline))
    assert seen == [["test_explain_looks", "lal_constituency"]]


def test_what_has_no_contributions():
    cases = [
        ({"label_feed_forward": True, "feed_forward_width": 8}, "label_feed_forward"),
        ({"combine": "project"}, "combine"),
    ]
    for settings, name in cases:
        nlp = untrained(**settings)
        with pytest.raises(ValueError, match=name):
            explain(nlp, doc_of(nlp))
        for explanation in explain(nlp, doc_of(nlp), method=None):
            assert explanation.contributions is None
            numpy.testing.assert_allclose(explanation.attention.sum(1), 1, atol=1e-6)
    nlp = untrained(heads=0)
    for method in ("normalised", None):
        with pytest.raises(ValueError, match="heads = 0"):
            explain(nlp, doc_of(nlp), method=method)


def test_unfit_pipelines(nlp):
    with pytest.raises(ValueError, match="found none"):
        explain(spacy.blank("en"), doc_of(nlp))
    with pytest.raises(ValueError, match="parameters"):
        explain(tiny_pipeline(), doc_of(nlp))
    two = tiny_pipeline()
    two.add_pipe("lal_constituency", name="other", source=None, config={"model": TINY})
    with pytest.raises(ValueError, match="other"):
        explain(two, doc_of(nlp))


def test_joint_model():
    nlp = joint_pipeline()
    of_training = headed_examples(nlp)
    optimizer = nlp.initialize(lambda: of_training)
    optimizer.learn_rate = 0.01
    for _ in range(20):
        nlp.update(of_training, sgd=optimizer)
    assert "<H>" in nlp.get_pipe("lal_constituency").labels
    found = 0
    for example in of_training:
        (explanation,) = explain(nlp, example.predicted)
        doc = nlp(example.predicted.copy())
        spans = collapse_unaries((s.start, s.end, s.label_) for s in doc.spans["constituents"])
        assert explanation.spans == spans
        assert "<H>" not in {label for *_, label in spans}
        assert explanation.contributions.shape == (len(spans), 4)
        found += len(spans)
    assert found


def test_dependency_parser_has_attention():
    nlp = dependency_pipeline()
    nlp.initialize(lambda: headed_examples(nlp))
    first, _ = explain(nlp, doc_of(nlp))
    assert first.attention.shape == (4, 9)
    assert first.spans == []
    assert first.contributions.shape == (0, 4)
