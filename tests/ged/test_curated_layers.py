"""All layers of a listener as one array, and of the library's own listener."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest
import spacy
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Config, Model, Ragged

from spacy_lal.ged.curated_layers import build_curated_layers_v1
from spacy_lal.ged.first_piece import make_first_piece

from ..pipeline.toy_errors import agreement_examples

CONFIG = """
[nlp]
lang = "en"
pipeline = ["transformer","gec_detector"]

[components]

[components.transformer]
factory = "curated_transformer"
all_layer_outputs = true

[components.transformer.model]
@architectures = "spacy-curated-transformers.BertTransformer.v1"
vocab_size = 64
num_hidden_layers = 2
num_attention_heads = 2
hidden_width = 24
intermediate_width = 48
piece_encoder = {"@architectures":"spacy-curated-transformers.BertWordpieceEncoder.v1"}
with_spans = {"@architectures":"spacy-curated-transformers.WithStridedSpans.v1"}

[components.gec_detector]
factory = "gec_detector"

[components.gec_detector.model]
@architectures = "spacy-lal.MHMLA.v1"
heads = 4

[components.gec_detector.model.layers]
@architectures = "spacy-lal.CuratedLayers.v1"

[components.gec_detector.model.layers.listener]
@architectures = "spacy-curated-transformers.TransformerLayersListener.v1"
layers = 2
width = 24
pooling = {"@layers":"spacy-lal.first_piece.v1"}

[initialize]

[initialize.components]

[initialize.components.transformer]

[initialize.components.transformer.piecer_loader]
@model_loaders = "spacy-curated-transformers.WordpieceLoader.v1"
path = PATH
"""


def listener(arrays, received):
    """A listener that gives these arrays, and keeps what it is sent back."""

    def forward(model, docs, is_train):
        return arrays, lambda d_arrays: received.append(d_arrays) or []

    return Model("listener", forward)


@pytest.mark.parametrize("embeddings", [False, True])
def test_layers_of_all_docs(embeddings):
    rng = numpy.random.default_rng(0)
    lengths = (3, 1, 0, 2)
    arrays = [[rng.normal(size=(n, 4)) for _ in range(3)] for n in lengths]
    received: list = []
    model = build_curated_layers_v1(listener(arrays, received), embeddings)
    docs = [Doc(Vocab(), words=["x"] * n) for n in lengths]
    stack, backprop = model(docs, is_train=True)
    kept = range(3) if embeddings else range(1, 3)
    assert stack.shape == (len(kept), 6, 4)
    for row, k in enumerate(kept):
        numpy.testing.assert_array_equal(stack[row], numpy.concatenate([a[k] for a in arrays]))
    # what goes back is what came, and nothing for a layer that isn't used
    backprop(stack)
    for mine, theirs in zip(received[0], arrays, strict=True):
        for k in range(3):
            expected = theirs[k] if k in kept else numpy.zeros_like(theirs[k])
            numpy.testing.assert_array_equal(mine[k], expected)


def test_first_pieces_are_hand_worked():
    model = make_first_piece()
    pieces = numpy.arange(10.0, dtype="f").reshape(5, 2)
    vectors, backprop = model(Ragged(pieces, numpy.array([0, 2, 0, 1, 2, 0])), is_train=True)
    assert vectors.tolist() == [[0, 0], [0, 1], [0, 0], [4, 5], [6, 7], [0, 0]]
    back = backprop(numpy.arange(1.0, 13.0, dtype="f").reshape(6, 2))
    assert back.lengths.tolist() == [0, 2, 0, 1, 2, 0]
    assert back.dataXd.tolist() == [[3, 4], [0, 0], [7, 8], [9, 10], [0, 0]]


def test_no_pieces_at_all():
    found = make_first_piece().predict(Ragged(numpy.zeros((0, 2), "f"), numpy.array([0, 0])))
    assert found.tolist() == [[0, 0], [0, 0]]


def test_detector_on_a_shared_transformer(tmp_path: Path) -> None:
    pytest.importorskip("spacy_curated_transformers")
    letters = list("abcdefghijklmnopqrstuvwxyz.")
    pieces = ["[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{letter}" for letter in letters)]
    path = tmp_path / "pieces.txt"
    path.write_text("\n".join(pieces) + "\n", encoding="utf8")
    spacy.util.fix_random_seed(0)
    config = Config().from_str(CONFIG.replace("PATH", f'"{path}"'))
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    examples = agreement_examples(nlp, 60)
    optimizer = nlp.initialize(lambda: examples)
    text = "he walk today ."
    nlp.to_disk(tmp_path / "model")
    mine, theirs = (p(text).spans["errors"].attrs for p in (nlp, spacy.load(tmp_path / "model")))
    assert mine["token_scores"] == pytest.approx(theirs["token_scores"], abs=1e-5)
    for texts in (["he  walk"], ["\n", "he"], ["\n", ""], [" "]):  # tokens without pieces
        for doc in nlp.pipe(texts):
            scores = doc.spans["errors"].attrs["token_scores"]
            assert [score > 0 for score in scores] == [not token.is_space for token in doc]
    optimizer.learn_rate = 0.003
    losses = []
    for _ in range(40):
        try:
            losses.append(nlp.update(examples, sgd=optimizer)["gec_detector"])
        except TypeError as error:  # float() of an array of one number
            pytest.skip(f"spacy-curated-transformers can't be updated beside this numpy: {error}")
    assert losses[-1] < 0.6 * losses[0]
