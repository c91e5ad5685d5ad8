"""`spacy-lal.WithEncoder.v1`."""

import numpy
import pytest
import spacy
from spacy.tokens import Doc
from thinc.api import Model

from spacy_lal.encoders.shared import build_with_encoder_v1


def numbered(width, given):
    """A layer whose vectors count tokens, and that keeps the gradient it is given."""

    def forward(model, docs, is_train):
        rows = [numpy.full((len(doc), width), width, dtype="f") + len(doc) for doc in docs]
        return rows, lambda d_rows: given.append(d_rows) or []

    return Model("numbered", forward, dims={"nO": width})


@pytest.mark.parametrize("gradient", [1.0, 0.25, 0.0])
def test_each_side_gets_its_own_part_of_the_gradient(gradient):
    ours, theirs = [], []
    model = build_with_encoder_v1(numbered(2, ours), numbered(3, theirs), gradient)
    vocab = spacy.blank("en").vocab
    docs = [Doc(vocab, words=["a", "b"]), Doc(vocab, words=[]), Doc(vocab, words=["c"])]
    model.initialize(X=docs)
    assert model.get_dim("nO") == 5
    rows, backprop = model.begin_update(docs)
    assert rows[0].tolist() == [[4, 4, 5, 5, 5]] * 2
    assert rows[1].shape == (0, 5)
    assert rows[2].tolist() == [[3, 3, 4, 4, 4]]
    d_rows = [numpy.arange(row.size, dtype="f").reshape(row.shape) for row in rows]
    backprop(d_rows)
    for k, d_row in enumerate(d_rows):
        numpy.testing.assert_array_equal(ours[0][k], d_row[:, :2])
        numpy.testing.assert_array_equal(theirs[0][k], gradient * d_row[:, 2:])
    assert backprop([]) == []


def test_a_gradient_below_zero_is_refused():
    with pytest.raises(ValueError, match="gradient must be at least 0, got -1"):
        build_with_encoder_v1(numbered(2, []), numbered(3, []), -1)
