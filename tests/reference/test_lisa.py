"""LISA against what the released TensorFlow code computed with the same parameters (float32).

There scores of tags are behind one more leaky ReLU, and padding may be a word's head. Both are done
here, to what the network says.
"""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from spacy_lal.layers.label_factors import label_scores
from spacy_lal.layers.released import lisa_state
from spacy_lal.layers.role_scorer import role_scores
from spacy_lal.models.lisa.losses import GoldFrames, joint_loss, parse_loss, role_loss
from spacy_lal.models.lisa.network import LisaNetwork
from spacy_lal.models.lisa.settings import LisaSettings

CLOSE = {"atol": 1e-4, "rtol": 1e-4}
MODES = ["train", "eval", "eval_gold_parse"]


@pytest.fixture(scope="module")
def arrays(load_arrays):
    return load_arrays("lisa")


@pytest.fixture(scope="module")
def cfg(load_json):
    return load_json("lisa")["cfg"]


@pytest.fixture(scope="module")
def network(arrays, cfg):
    settings = LisaSettings(
        input_encoder=None,
        layers=cfg["layers"],
        heads=cfg["heads"],
        head_width=cfg["hd"],
        feed_forward_width=cfg["ff"],
        feed_forward_depth=2,
        tag_layer=cfg["pos_layer"] + 1,
        syntax_layer=cfg["attn_layer"] + 1,
        syntactic_head="copied",
        tag_width=cfg["ppmlp"],
        arc_width=cfg["arc"],
        relation_width=cfg["cls"],
        predicate_width=cfg["pmlp"],
        role_width=cfg["rmlp"],
        role_rank=None,
        layer_dropout=None,
    )
    network = LisaNetwork(
        settings, cfg["emb"], joint=cfg["nj"], roles=cfg["nsrl"], tags=1, relations=cfg["ndep"]
    )
    network.load_state_dict(lisa_state(arrays["var"]))
    return network.double().eval().requires_grad_(False)


@pytest.fixture(scope="module")
def given(arrays):
    return arrays["in"]


@pytest.fixture(scope="module", params=MODES)
def mode(request):
    return request.param


@pytest.fixture(scope="module")
def run(network, arrays, given, mode):
    """What the network says, what was recorded, and lengths."""
    lengths = given["tokens_to_keep"].sum(1).long()
    heads = None if mode == "eval" else given["parse_head"].long()
    scores = network(given["embedded"].double(), lengths, heads)
    return scores, arrays[mode], lengths


def words(lengths, n):
    return torch.arange(n) < lengths.unsqueeze(1)


def test_tags_and_predicates(run, given, cfg):
    scores, recorded, lengths = run
    joint = F.leaky_relu(scores.joint, 0.1)
    torch.testing.assert_close(joint, recorded["joint/scores"].double(), **CLOSE)
    probabilities = torch.softmax(joint, -1)
    torch.testing.assert_close(probabilities, recorded["joint/probabilities"].double(), **CLOSE)
    for kind, name in (("map_pos", "gold_pos"), ("map_pred", "predicate")):
        index = torch.tensor(cfg[kind]).squeeze(1)
        marginal = probabilities @ F.one_hot(index).double()
        torch.testing.assert_close(
            marginal, recorded[f"joint/{name}_probabilities"].double(), **CLOSE
        )
        assert torch.equal(marginal.argmax(-1), recorded[f"joint/{name}_predictions"].long())
    here = words(lengths, joint.shape[1])
    allowed = F.one_hot(given["joint"].long(), cfg["nj"]).bool() & here.unsqueeze(-1)
    loss = joint_loss(joint, allowed) / here.sum()
    torch.testing.assert_close(loss, recorded["joint/loss"].double(), **CLOSE)


def test_arcs_and_relations(run, given, mode):
    scores, recorded, lengths = run
    arcs = recorded["parse_head/scores"].double()
    torch.testing.assert_close(scores.arcs, arcs, **CLOSE)
    torch.testing.assert_close(
        scores.dependent, recorded["parse_head/dep_rel_mlp"].double(), **CLOSE
    )
    torch.testing.assert_close(scores.head, recorded["parse_head/head_rel_mlp"].double(), **CLOSE)
    here = words(lengths, arcs.shape[1])
    heads = given["parse_head"].long() if mode == "train" else scores.arcs.argmax(-1)
    assert torch.equal(scores.arcs.argmax(-1), recorded["parse_head/predictions"].long())
    rows, at = torch.ones_like(heads).nonzero(as_tuple=True)
    relations = label_scores(scores.relations, rows, at, heads[rows, at]).view(*heads.shape, -1)
    torch.testing.assert_close(relations, recorded["parse_label/scores"].double(), **CLOSE)
    gold = given["parse_head"].long().masked_fill(~here, -1)
    if mode == "train":
        # padding may be a head: as if every sentence were as long as the longest
        longest = torch.full_like(lengths, arcs.shape[1])
        of_arcs, of_relations = parse_loss(scores, gold, given["parse_label"].long(), longest)
        total = here.sum()
        torch.testing.assert_close(of_arcs / total, recorded["parse_head/loss"].double(), **CLOSE)
        torch.testing.assert_close(
            of_relations / total, recorded["parse_label/loss"].double(), **CLOSE
        )


def test_roles(run, given, mode, cfg):
    scores, recorded, lengths = run
    n = given["predicate"].shape[1]
    here = words(lengths, n)
    gold = (given["predicate"] == 1) & here
    found = gold if mode == "train" else (recorded["joint/predicate_predictions"] != 0) & here
    rows, at = found.nonzero(as_tuple=True)
    of_roles = role_scores(scores.roles, rows, at)
    torch.testing.assert_close(of_roles, recorded["srl/scores"].double(), **CLOSE)
    if mode == "train":
        targets = recorded["srl/targets"].long().masked_fill(~here[rows], -1)
        frames = GoldFrames(rows, at, targets)
        loss = role_loss(scores, frames, smoothing=0.1) / (targets >= 0).sum()
        torch.testing.assert_close(loss, recorded["srl/loss"].double(), **CLOSE)
