"""LISA against what the released TensorFlow code computed with the same parameters (float32).

There scores of tags are behind one more leaky ReLU, and padding may be a word's head. Both are done
here, to what the network says.
"""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from spacy.language import Language

from spacy_lal.layers.biaffine import label_scores
from spacy_lal.layers.role_scorer import role_scores
from spacy_lal.srl import component  # noqa: F401 (its factory's settings)
from spacy_lal.srl.gold_frames import GoldFrames, joint_loss, parse_loss, role_loss
from spacy_lal.srl.network import LisaNetwork, LisaSettings
from spacy_lal.structure.sequence import viterbi

from .lisa_variables import lisa_state

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
    sizes = {"joint": cfg["nj"], "roles": cfg["nsrl"], "tags": 1, "relations": cfg["ndep"]}
    network = LisaNetwork(settings, cfg["emb"], sizes)
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


def predicted(recorded, here):
    """The predicates of an evaluation: sentences [P] and words [P]; padding is none."""
    found = (recorded["joint/predicate_predictions"] != 0) & here
    return found.nonzero(as_tuple=True)


def test_settings(network, arrays, given, cfg, load_json):
    encoder = network.encoder
    read = {cfg["pos_layer"] + 1, cfg["parse_layer"] + 1, cfg["srl_layer"] + 1}
    assert set(encoder.task_norms) == set(map(str, read))
    assert encoder.copied
    assert encoder.syntax_layer == cfg["attn_layer"] + 1 == cfg["parse_layer"] + 2
    assert given["tokens_to_keep"].sum(1).tolist() == cfg["lens"]
    transitions = arrays["var"]["transitions"]
    torch.testing.assert_close(transitions.double(), torch.tensor(cfg["trans"]).double())
    shapes = load_json("lisa")["variables"]
    for name in shapes:
        ours = transitions if name.endswith("/crf/transitions") else arrays["var"][name]
        assert list(ours.shape) == shapes[name]


def test_layers(network, given, arrays, mode, run):
    """What comes out of the projection, the positions, and every layer, before and after the
    normalisation for tasks."""
    *_, lengths = run
    found, handles = {}, []

    def keep(module, name, of_input=False):
        def hook(_, given, output):
            found[name] = given[0] if of_input else output

        handles.append(module.register_forward_hook(hook))

    encoder = network.encoder
    keep(encoder.project, "projected")
    keep(encoder.layers[0].norm, "with_timing", of_input=True)
    for k, layer in enumerate(encoder.layers):
        keep(layer, f"layer{k}")
    for k, norm in encoder.task_norms.items():
        keep(norm, f"layer{int(k) - 1}_normed")
    heads = None if mode == "eval" else given["parse_head"].long()
    network(given["embedded"].double(), lengths, heads)
    for handle in handles:
        handle.remove()
    # the leaky ReLU is no module of its own
    found["projected"] = F.leaky_relu(found["projected"], 0.1)
    assert set(found) == {name for name in arrays[mode] if "/" not in name} - {"total_loss"}
    for name, value in found.items():
        torch.testing.assert_close(value, arrays[mode][name].double(), msg=name, **CLOSE)


def test_tags_and_predicates(run, given, cfg):
    scores, recorded, lengths = run
    joint = F.leaky_relu(scores.joint, 0.1)
    torch.testing.assert_close(joint, recorded["joint/scores"].double(), **CLOSE)
    probabilities = torch.softmax(joint, -1)
    torch.testing.assert_close(probabilities, recorded["joint/probabilities"].double(), **CLOSE)
    assert torch.equal(joint.argmax(-1), recorded["joint/predictions"].long())
    assert recorded["joint/gold_pos_probabilities"].shape[-1] == cfg["npos"]
    for kind, name in (("map_pos", "gold_pos"), ("map_pred", "predicate")):
        expected = recorded[f"joint/{name}_probabilities"].double()
        index = torch.tensor(cfg[kind]).squeeze(1)
        marginal = probabilities @ F.one_hot(index, expected.shape[-1]).double()
        torch.testing.assert_close(marginal, expected, **CLOSE)
        assert torch.equal(marginal.argmax(-1), recorded[f"joint/{name}_predictions"].long())
    here = words(lengths, joint.shape[1])
    allowed = F.one_hot(given["joint"].long(), cfg["nj"]).bool() & here.unsqueeze(-1)
    loss = joint_loss(joint, allowed) / here.sum()
    torch.testing.assert_close(loss, recorded["joint/loss"].double(), **CLOSE)


def test_arcs_and_relations(run, given, mode):
    scores, recorded, _ = run
    arcs = recorded["parse_head/scores"].double()
    torch.testing.assert_close(scores.arcs, arcs, **CLOSE)
    torch.testing.assert_close(
        scores.dependent, recorded["parse_head/dep_rel_mlp"].double(), **CLOSE
    )
    torch.testing.assert_close(scores.head, recorded["parse_head/head_rel_mlp"].double(), **CLOSE)
    heads = given["parse_head"].long() if mode == "train" else scores.arcs.argmax(-1)
    assert torch.equal(scores.arcs.argmax(-1), recorded["parse_head/predictions"].long())
    rows, at = torch.ones_like(heads).nonzero(as_tuple=True)
    relations = label_scores(scores.relations, rows, at, heads[rows, at]).view(*heads.shape, -1)
    torch.testing.assert_close(relations, recorded["parse_label/scores"].double(), **CLOSE)
    for kind, values in (("parse_head", scores.arcs), ("parse_label", relations)):
        probabilities = recorded[f"{kind}/probabilities"].double()
        torch.testing.assert_close(values.softmax(-1), probabilities, **CLOSE)
    assert torch.equal(relations.argmax(-1), recorded["parse_label/predictions"].long())
    of_arcs, of_relations = parse_losses(run, given, mode)
    torch.testing.assert_close(of_arcs, recorded["parse_head/loss"].double(), **CLOSE)
    torch.testing.assert_close(of_relations, recorded["parse_label/loss"].double(), **CLOSE)


def parse_losses(run, given, mode):
    """Per word; in evaluation relations are scored at the heads that were predicted."""
    scores, recorded, lengths = run
    here = words(lengths, scores.arcs.shape[1])
    heads, labels = given["parse_head"].long(), given["parse_label"].long()
    # padding may be a head: as if every sentence were as long as the longest
    longest = torch.full_like(lengths, scores.arcs.shape[1])
    at = heads if mode == "train" else recorded["parse_head/predictions"].long()
    of_arcs, _ = parse_loss(scores, heads.masked_fill(~here, -1), labels, longest)
    _, of_relations = parse_loss(scores, at.masked_fill(~here, -1), labels, longest)
    return of_arcs / here.sum(), of_relations / here.sum()


def test_roles(run, given, mode, arrays):
    scores, recorded, lengths = run
    here = words(lengths, given["predicate"].shape[1])
    rows, at = gold_predicates(given, here) if mode == "train" else predicted(recorded, here)
    of_roles = role_scores(scores.roles, rows, at)
    torch.testing.assert_close(of_roles, recorded["srl/scores"].double(), **CLOSE)
    probabilities = recorded["srl/probabilities"].double()
    torch.testing.assert_close(of_roles.softmax(-1), probabilities, **CLOSE)
    labels = of_roles.argmax(-1)
    if mode != "train":
        labels, _ = viterbi(of_roles, lengths[rows], arrays["var"]["transitions"].double())
    assert torch.equal(labels[here[rows]], recorded["srl/predictions"][here[rows]].long())
    loss = roles_loss(run, given, mode)
    torch.testing.assert_close(loss, recorded["srl/loss"].double(), **CLOSE)


def gold_predicates(given, here):
    return ((given["predicate"] == 1) & here).nonzero(as_tuple=True)


def frames_of(given, rows):
    """The first frames [P,n] of each sentence, as many as it has among rows [P]."""
    number = (rows.unsqueeze(1) == rows).tril(-1).sum(1)
    return given["srl"].long()[rows, :, number]


def roles_loss(run, given, mode):
    """Per predicate and word. In evaluation the k-th predicate that was found in a sentence meets
    the sentence's k-th gold frame, whatever its predicate."""
    scores, recorded, lengths = run
    here = words(lengths, given["predicate"].shape[1])
    rows, at = gold_predicates(given, here)
    assert torch.equal(frames_of(given, rows), recorded["srl/targets"].long())
    if mode != "train":
        rows, at = predicted(recorded, here)
    targets = frames_of(given, rows).masked_fill(~here[rows], -1)
    loss = role_loss(scores, GoldFrames(rows, at, targets), smoothing=0.1)
    return loss / (targets >= 0).sum().clamp(min=1)


def test_total_loss(run, given, mode, cfg, load_json):
    """The tasks' losses with the weights that the component begins with."""
    scores, recorded, lengths = run
    here = words(lengths, scores.joint.shape[1])
    allowed = F.one_hot(given["joint"].long(), cfg["nj"]).bool() & here.unsqueeze(-1)
    of_joint = joint_loss(F.leaky_relu(scores.joint, 0.1), allowed) / here.sum()
    of_arcs, of_relations = parse_losses(run, given, mode)
    losses = {
        "joint": ("joint_weight", of_joint),
        "parse_head": ("arc_weight", of_arcs),
        "parse_label": ("relation_weight", of_relations),
        "srl": ("role_weight", roles_loss(run, given, mode)),
    }
    weights = Language.get_factory_meta("lisa_srl").default_config
    total = sum(weights[name] * loss for name, loss in losses.values())
    torch.testing.assert_close(total, recorded["total_loss"].double(), **CLOSE)
    # the same in the other file
    printed = load_json("lisa")[mode]
    assert float(total) == pytest.approx(printed["total_loss"], rel=1e-4)
    for task, (_, loss) in losses.items():
        assert float(loss) == pytest.approx(printed[f"{task}/loss"], rel=1e-4)
