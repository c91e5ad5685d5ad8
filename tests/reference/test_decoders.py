"""The label attention parser's decoders at test time: the joint one and the constituency one."""

import pytest
import torch

from spacy_lal.parsing.decoders import MaximumAPosteriori
from spacy_lal.parsing.network import OneStageScores
from spacy_lal.structure.chart import best_tree, chart_size, pack, packed_spans
from spacy_lal.structure.lexicalised import best_joint_tree, joint_values

from .component import constituents, parses_of

SUB_HEAD = 1


@pytest.fixture(scope="module")
def cases(load_arrays, load_json):
    arrays = load_arrays("decoders")
    return [(item, arrays[item["key"]]) for item in load_json("decoders")]


def nodes_of(tree, labels, n):
    """{(start, end, label)} of the nodes."""
    spans = zip(*(fences[tree].tolist() for fences in packed_spans(n)), strict=True)
    return {(*span, label) for span, label in zip(spans, labels[tree].tolist(), strict=True)}


def expected_nodes(case):
    return set(zip(*(case[name].tolist() for name in ("i", "j", "label")), strict=True))


def joint_inputs(item, case):
    """Scores of one sentence, weighed, and the best labels."""
    weight, lengths = item["const_lada"], torch.tensor([item["n"]])
    scores = weight * pack(case["label_scores"].double().unsqueeze(0))
    constituent, labels, empty = joint_values(scores, lengths, SUB_HEAD)
    arcs = (1 - weight) * case["arc_scores"][1:].double().unsqueeze(0)
    return constituent, labels, empty, arcs


def test_joint_decoder(cases):
    joint = [(item, case) for item, case in cases if item.get("decoder") != "const"]
    assert joint
    for item, case in joint:
        n = item["n"]
        assert case["label_scores"].shape == (n + 1, n + 1, item["n_labels"])
        constituent, labels, empty, arcs = joint_inputs(item, case)
        tree = best_joint_tree(constituent, empty, arcs, torch.tensor([n]))
        assert float(tree.score) == pytest.approx(item["score"], rel=1e-5, abs=1e-5), item["key"]
        if "brute_force_score" in item:
            brute_force = pytest.approx(item["brute_force_score"], rel=1e-6, abs=1e-6)
            assert float(tree.score) == brute_force, item["key"]
        # the released decoder may return a bare word, whose score is another
        agrees = item["sum_of_returned_tree"] == pytest.approx(item["score"], rel=1e-5, abs=1e-5)
        if not item["ties"] and (agrees or n > 1):
            found = nodes_of(tree.spans[0], torch.where(tree.labelled, labels, 0)[0], n)
            assert found == expected_nodes(case), item["key"]
            assert tree.heads[0].tolist() == case["father"].tolist(), item["key"]
            # and from the component's scores to its parse, which has no groups
            scores = OneStageScores(
                torch.zeros(1, n, 1),
                pack(case["label_scores"].double().unsqueeze(0)),
                case["arc_scores"][1:].double().unsqueeze(0),
                governor=torch.zeros(1, n + 1, 1).double(),
                governed=torch.zeros(1, n, 1).double(),
                relation_weight=torch.zeros(1, 2, 2).double(),
            )
            decoder, length = MaximumAPosteriori(item["const_lada"]), torch.tensor([n])
            options = {"probabilistic": False, "group": SUB_HEAD}
            parse = parses_of(scores, length, decoder, **options)[0]
            real = {node for node in found if node[2] not in (0, SUB_HEAD)}
            assert set(constituents(parse)) == real, item["key"]
            assert parse.heads.tolist() == case["father"].tolist(), item["key"]


def test_joint_decoder_in_one_batch(cases):
    joint = [(item, case) for item, case in cases if item.get("decoder") != "const"]
    lengths = torch.tensor([item["n"] for item, _ in joint])
    longest, size = int(lengths.max()), len(joint)
    charts = torch.full((2, size, longest + 1, longest + 1), 7.5, dtype=torch.float64)
    arcs = torch.full((size, longest, longest + 1), 7.5, dtype=torch.float64)
    for row, (item, case) in enumerate(joint):
        n = item["n"]
        constituent, _, empty, of_arcs = joint_inputs(item, case)
        starts, ends = packed_spans(n)
        charts[0, row, starts, ends], charts[1, row, starts, ends] = constituent[0], empty[0]
        arcs[row, :n, : n + 1] = of_arcs[0]
    tree = best_joint_tree(pack(charts[0]), pack(charts[1]), arcs, lengths)
    assert tree.spans.shape == (size, chart_size(longest))
    expected = [item["score"] for item, _ in joint]
    assert tree.score.tolist() == pytest.approx(expected, rel=1e-5, abs=1e-5)
    for row, (item, case) in enumerate(joint):
        if not item["ties"]:
            assert tree.heads[row, : item["n"]].tolist() == case["father"].tolist(), item["key"]


def test_constituency_decoder(cases):
    constituency = [(item, case) for item, case in cases if item.get("decoder") == "const"]
    assert constituency
    for item, case in constituency:
        n = item["n"]
        assert case["label_scores"].shape == (n + 1, n + 1, item["n_labels"])
        scores = pack(case["label_scores"].double().unsqueeze(0))
        # a whole sentence must be a constituent here
        scores[:, -1, 0] = -torch.inf
        best, labels = scores.max(-1)
        value, tree = best_tree(best, torch.tensor([n]))
        assert float(value) == pytest.approx(item["score"], rel=1e-5, abs=1e-5), item["key"]
        assert item["sum_of_returned_tree"] == pytest.approx(item["score"], rel=1e-5, abs=1e-5)
        if not item["ties"]:
            assert nodes_of(tree[0], labels[0], n) == expected_nodes(case), item["key"]
            of_words, length = OneStageScores(torch.zeros(1, n, 1), scores), torch.tensor([n])
            parse = parses_of(of_words, length, MaximumAPosteriori(), probabilistic=False)[0]
            real = {node for node in expected_nodes(case) if node[2]}
            assert set(constituents(parse)) == real, item["key"]
