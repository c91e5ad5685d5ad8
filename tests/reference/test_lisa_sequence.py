"""Label sequences as the released code of Strubell et al. 2018 finds and writes them."""

import pytest
import torch

from spacy_lal.srl.frame_decoding import RoleDecoder
from spacy_lal.structure.sequence import bio_to_spans, viterbi


def test_viterbi(load_arrays, load_json):
    """Probabilities of transitions are added as they are, with none for the first word."""
    arrays = load_arrays("lisa")
    cases = load_json("lisa")["viterbi"]
    assert cases
    for k, expected in enumerate(cases):
        scores, transitions = arrays[f"vit{k}"]["scores"], arrays[f"vit{k}"]["trans"]
        length = torch.tensor([len(scores)])
        labels, score = viterbi(scores.unsqueeze(0), length, transitions)
        assert labels.tolist() == [expected["tags"]]
        assert score.item() == pytest.approx(expected["score"], rel=1e-5)
        # labels of which any may follow any, and none is V
        labels = ["O", *(f"B-{j}" for j in range(1, len(transitions)))]
        decoder = RoleDecoder(labels, transitions)
        found = decoder(scores.unsqueeze(0), torch.tensor([0]), length)
        assert found.tolist() == [expected["tags"]]
        free, _ = viterbi(scores.unsqueeze(0), length, torch.zeros_like(transitions))
        assert free.tolist() == [expected["greedy"]]


def columns(spans, n):
    """The cells of a column of roles: `(X*` where a span begins, `)` where it ends."""
    opened, closed = [""] * n, [""] * n
    for start, end, label in spans:
        opened[start] = f"({label}"
        closed[end - 1] = ")"
    return [f"{before}*{after}" for before, after in zip(opened, closed, strict=True)]


def test_bio_to_columns(load_json):
    cases = load_json("lisa")["bio_to_props"]
    assert cases
    for labels, expected in cases:
        assert columns(bio_to_spans(labels), len(labels)) == expected
