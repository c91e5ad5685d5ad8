"""The margin objective against the released label attention parser and benepar."""

import pytest
import torch

from spacy_lal.parsing.objectives import MarginObjective, make_margin_objective_v2
from spacy_lal.structure.chart import chart_size, pack, packed_spans, span_position
from spacy_lal.structure.distributions import LabelledTrees


def loss_of(objective, scores, gold, lengths):
    trees = LabelledTrees(scores, lengths, probabilistic=False, rooted=objective.labels_root)
    return objective(trees, gold)


def one_sentence(item, case):
    """Scores [1, S, L], gold labels [1, S] and the length of a sentence of const_margin."""
    n = item["n"]
    gold = torch.zeros(1, chart_size(n), dtype=torch.long)
    gold[0, span_position(n, case["gi"].long(), case["gj"].long())] = case["gl"].long()
    return pack(case["label_scores"].double().unsqueeze(0)), gold, torch.tensor([n])


def test_hinge_and_search_of_the_label_attention_parser(load_arrays, load_json):
    arrays = load_arrays("const_margin")
    for item in load_json("const_margin")["items"]:
        case = arrays[item["key"]]
        scores, gold, lengths = one_sentence(item, case)
        scores.requires_grad_()
        loss = loss_of(make_margin_objective_v2(), scores, gold, lengths)
        # The scorer's label 0 always scores 0, as the loss assumes. Some of these charts don't.
        in_gold = span_position(item["n"], case["gi"].long(), case["gj"].long())
        of_empty = scores[0, in_gold, 0].masked_fill(case["gl"] > 0, 0.0).sum()
        assert float((loss - of_empty).detach()) == pytest.approx(item["hinge"], rel=1e-5, abs=1e-4)
        # +1 for what the search found, -1 for gold constituents
        (found,) = torch.autograd.grad(loss.sum(), scores)
        found = found[0].scatter_add(1, gold[0].unsqueeze(1), (gold[0] > 0).double().unsqueeze(1))
        starts, ends = packed_spans(item["n"])
        at, labels = found.nonzero(as_tuple=True)
        assert bool((found[at, labels] == 1).all())
        nodes = zip(starts[at].tolist(), ends[at].tolist(), labels.tolist(), strict=True)
        expected = (case[name].tolist() for name in ("pi", "pj", "pl"))
        assert set(nodes) == set(zip(*expected, strict=True))


def test_margin_of_benepar_with_and_without_a_forced_root(load_arrays, load_json):
    arrays, fixture = load_arrays("benepar_chart"), load_json("benepar_chart")
    differ = 0
    for k, item in enumerate(fixture["items"]):
        n, lengths = item["n"], torch.tensor([item["n"]])

        def packed(square, n=n):
            fences = square.new_zeros(n + 1, n + 1, *square.shape[2:])
            fences[:-1, 1:] = square
            return pack(fences.unsqueeze(0))

        scores = packed(arrays[f"t{k}"]["scores"].double())
        gold = packed(arrays[f"t{k}"]["gold_chart"].long())
        amounts = [key.rpartition("_")[2] for key in item if key.startswith("loss_force_")]
        assert amounts
        for amount in amounts:
            favoured = scores.scatter_add(
                -1, gold.unsqueeze(-1), torch.full_like(scores[..., :1], float(amount))
            )
            relative = favoured - favoured[..., :1]
            for name, objective in (
                ("force", make_margin_objective_v2()),
                ("noforce", MarginObjective()),
            ):
                loss = float(loss_of(objective, relative, gold, lengths))
                expected = item[f"loss_{name}_{amount}"]
                assert loss == pytest.approx(expected, rel=1e-9, abs=1e-9), (k, name, amount)
            differ += item[f"loss_force_{amount}"] != item[f"loss_noforce_{amount}"]
    assert differ
