"""Both decoders of two-stage parsers against supar's: the tree, then its spans' best labels."""

import pytest
import torch

from spacy_lal.parsing.decoders import MaximumAPosteriori, MinimumBayesRisk
from spacy_lal.parsing.network import TwoStageScores
from spacy_lal.structure.chart import pack

from .component import constituents, parses_of

DECODERS = {"map": MaximumAPosteriori(), "mbr": MinimumBayesRisk(threshold=None)}


def two_stages(spans, labels, lengths):
    """Scores of a batch, from those of spans [B, n+1, n+1] and of their labels [B, n+1, n+1, L].

    Fenceposts are unit vectors, so that the matrix of a label holds its charts. supar's labels are
    all labels: before them stands one for "no constituent" that no span has.
    """
    size, side = spans.shape[:2]
    eye = torch.eye(size * side, dtype=torch.float64)
    weight = torch.zeros(labels.shape[-1] + 1, size * side + 1, side + 1, dtype=torch.float64)
    weight[0] = -1e6
    weight[1:, :-1, :-1] = labels.flatten(0, 1).movedim(-1, 0)
    scores = TwoStageScores(
        tags=torch.zeros(size, side - 1, 1),
        spans=pack(spans),
        left=eye.unflatten(0, (size, side)),
        right=torch.eye(side, dtype=torch.float64).expand(size, -1, -1),
        weight=weight,
    )
    return scores, torch.tensor(lengths)


def trees(scores, decoder):
    """{(start, end, label)} of every sentence, labels as supar numbers them."""
    return [
        {(start, end, label - 1) for start, end, label in constituents(parse)}
        for parse in parses_of(*scores, decoder).values()
    ]


def as_set(rows):
    return {tuple(row) for row in rows}


@pytest.mark.parametrize("name", DECODERS)
def test_one_sentence(load_arrays, load_json, name):
    arrays = load_arrays("supar_crf")
    items = load_json("supar_crf")["single"]
    assert any(item["map_tree"] != item["mbr_tree"] for item in items)
    for item in items:
        case = arrays[item["key"]]
        spans, labels = case["s_span"].double(), case["s_label"].double()
        (found,) = trees(two_stages(spans, labels, [item["n"]]), DECODERS[name])
        assert found == as_set(item[f"{name}_tree"]), item["key"]


@pytest.mark.parametrize("name", DECODERS)
def test_a_padded_batch(load_arrays, load_json, name):
    arrays = load_arrays("supar_crf")
    for item in load_json("supar_crf")["batch"]:
        case = arrays[item["key"]]
        spans, labels = case["s_span"].double(), case["s_label"].double()
        found = trees(two_stages(spans, labels, item["lens"]), DECODERS[name])
        assert found == [as_set(tree) for tree in item[name]], item["key"]
