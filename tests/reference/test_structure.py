"""Charts, decoders and losses of supar, benepar and the label attention parser.

supar: the unlabelled tree CRF, its marginals, both decoders and the loss. benepar: gold charts,
decoding with and without a forced root, the margin loss. const_margin: decoding of the label
attention parser in training (augmented by the Hamming distance), and its gold trees.
"""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch.nn.functional import pad

from spacy_lal.parsing.decoders import MaximumAPosteriori, MinimumBayesRisk
from spacy_lal.parsing.gold_trees import gold_labels, with_sub_heads
from spacy_lal.parsing.network import OneStageScores
from spacy_lal.scoring.evalb import Bracketing, EvalbParameters
from spacy_lal.structure.binarise import collapse_unaries, left_binarisation
from spacy_lal.structure.chart import (
    chart_length,
    hamming_augment,
    inside,
    pack,
    packed_spans,
    span_position,
    unpack,
)
from spacy_lal.structure.distributions import BinaryTrees, LabelledTrees
from spacy_lal.structure.hpsg import lexicalise
from spacy_lal.trees.tree import ROOT_LABELS, ConstituentTree

from .component import constituents, expand_unaries, parses_of
from .test_hpsg import assert_governed, converted
from .test_supar_scorer import scores_from


def as_set(rows):
    return {tuple(row) for row in rows}


# supar


def shifted(labels):
    """Label scores [..., L] with one more in front, never the best: here 0 is no constituent."""
    return pad(labels, (1, 0), value=-1e4)


def found_nodes(parse):
    """{(start, end, label)} of a parse, labels numbered as before `shifted`."""
    return {(start, end, label - 1) for start, end, label in constituents(parse)}


def supar_parses(arrays, lengths, decoder):
    """What the component decodes in two stages: no label is that of no constituent."""
    spans, labels = arrays["s_span"].double(), arrays["s_label"].double()
    return parses_of(scores_from(spans, shifted(labels)), lengths, decoder)


def span_loss(arrays, lengths):
    """Negative log-likelihood of the binary trees per word, with a single label that is certain."""
    spans, gold = arrays["s_span"].double(), arrays["chart"] >= 0
    scores = scores_from(spans, shifted(torch.zeros(*spans.shape, 1, dtype=torch.double)))
    return scores.trees(lengths).cross_entropy(pack(gold.long())).sum() / lengths.sum()


# the most probable tree, and that of most probable spans; labels are the best of every span
DECODERS = {"map": MaximumAPosteriori(), "mbr": MinimumBayesRisk(threshold=0.0)}


def test_supar_crf_of_one_sentence(load_arrays, load_json):
    arrays = load_arrays("supar_crf")
    for item in load_json("supar_crf")["single"]:
        n, lengths, case = item["n"], torch.tensor([item["n"]]), arrays[item["key"]]
        spans, gold = pack(case["s_span"].double()), pack(case["chart"])
        trees = BinaryTrees(spans, lengths)
        value, _ = trees.argmax()
        for name, decoder in DECODERS.items():
            found = found_nodes(supar_parses(case, lengths, decoder)[0])
            assert found == as_set(item[f"{name}_tree"])
        assert {node[:2] for node in as_set(item["map_tree"])} == as_set(item["argmax"])
        expected = case["marginals"]
        torch.testing.assert_close(unpack(trees.marginals, n), expected, rtol=0, atol=1e-12)
        # with labels inside the CRF instead
        labels = pack(case["s_label"].double())
        scores = OneStageScores(torch.zeros(1, n, 1), shifted(labels))
        labelled = parses_of(scores, lengths, DECODERS["map"], probabilistic=False)
        assert found_nodes(labelled[0]) == as_set(item["labeled_argmax"])
        best, _ = BinaryTrees(labels.amax(-1), lengths).argmax()
        ours = {
            "logZ": trees.log_partition,
            "max": value,
            "log_prob": trees.log_prob(gold >= 0),
            "labeled_logZ": inside(torch.logsumexp(labels, -1), lengths),
            "labeled_max": best,
        }
        assert {k: float(v) for k, v in ours.items()} == pytest.approx(
            {k: item[k] for k in ours}, rel=1e-9, abs=1e-9
        )


def test_supar_crf_of_a_padded_batch(load_arrays, load_json):
    arrays = load_arrays("supar_crf")
    for item in load_json("supar_crf")["batch"]:
        lengths, case = torch.tensor(item["lens"]), arrays[item["key"]]
        trees = BinaryTrees(pack(case["s_span"].double()), lengths)
        assert trees.log_partition.tolist() == pytest.approx(item["logZ"], rel=1e-9)
        square = unpack(trees.marginals, case["s_span"].shape[1] - 1)
        torch.testing.assert_close(square, case["marginals"], rtol=0, atol=1e-12)
        assert float(span_loss(case, lengths)) == pytest.approx(item["span_loss"], rel=1e-9)
        for name, decoder in DECODERS.items():
            parses = supar_parses(case, lengths, decoder)
            for row, expected in enumerate(item[name]):
                assert found_nodes(parses[row]) == as_set(expected), name


def test_supar_brackets_for_evaluation(load_json):
    """supar's own metric leaves out words by their tags, and labels ADVP as PRT."""
    params = EvalbParameters.load("new")
    params = replace(params, delete_labels=params.delete_labels | {""})
    for item in load_json("supar_trees"):
        brackets = Bracketing.from_string(item["tree"], params).brackets
        # EVALB cuts functions off labels, supar doesn't
        found, expected = (
            sorted((*span, "PRT" if label == "ADVP" else label) for *span, label in counted)
            for counted in (params.counted(brackets), params.counted(item["factorize_eval"]))
        )
        assert found == expected


def test_supar_trees(load_json):
    """supar's left binarisation, whose new nodes have no label."""
    for item in load_json("supar_trees"):
        tree, expected = ConstituentTree.from_string(item["tree"]), item["implicit"]
        (_, n, top), *spans = tree.spans()
        assert sorted(tree.spans()) == sorted(as_tuples(item["factorize_raw"]))
        collapsed = collapse_unaries(spans)
        assert expand_unaries(collapsed) == spans
        assert expected["rebuilt"] == item["tree"]
        # supar marks a lone word
        names = ["" if spans or n > 1 else f"{top}*", *(label for *_, label in collapsed)]
        gold = gold_labels([collapsed], n, {label: k for k, label in enumerate(names) if k})
        starts, ends = packed_spans(n)
        nodes = sorted(
            (
                (int(starts[at]), int(ends[at]), names[gold[0, at]])
                for at in left_binarisation(gold, torch.tensor([n]))[0].nonzero()
            ),
            key=lambda node: (node[0], -node[1]),
        )
        # the root of several trees is no node of its own below TOP
        below_top = nodes if len(tree.children) == 1 else nodes[1:]
        binary = ConstituentTree.from_spans(tree.leaves, tags(tree), below_top, root=top)
        assert str(binary) == expected["binarized"]
        # supar goes on with the first child of TOP alone
        first = [node for node in below_top if node[1] <= below_top[0][1]]
        assert sorted(first) == sorted(as_tuples(expected["factorized_of_child0"]))


def tags(tree):
    return [tag for _, tag in tree.tagged]


def as_tuples(rows):
    return [tuple(row) for row in rows]


# benepar


def benepar_chart(square):
    """Closed spans [n, n, ...] to a packed chart [1, S, ...]."""
    n = len(square)
    fences = square.new_zeros(n + 1, n + 1, *square.shape[2:])
    fences[:-1, 1:] = square
    return pack(fences.unsqueeze(0))


def benepar_spans(text):
    tree = ConstituentTree.from_string(text)
    return collapse_unaries(tree.spans(include_root=tree.label not in ROOT_LABELS))


def forced(scores, lengths):
    """Scores [B, S, L] without label 0 for whole sentences."""
    n = chart_length(scores)
    scores = scores.clone()
    roots = span_position(n, torch.zeros_like(lengths), lengths)
    scores[torch.arange(len(lengths)), roots, 0] -= 1e9
    return scores


def benepar_margin_loss(scores, gold, lengths, force):
    """[B]: the root is forced in the search; label 0 scores 0 everywhere, as `SpanScorer` has it.

    benepar has no loss below 0, which a gold tree that the search may not find would have.
    """
    relative = scores - scores[..., :1]
    searched = forced(relative, lengths) if force else relative
    return LabelledTrees(searched, lengths).margin(gold).relu()


def favour(scores, gold, amount):
    """Scores with `amount` added to every span's gold label."""
    return scores.scatter_add(-1, gold.unsqueeze(-1), torch.full_like(scores[..., :1], amount))


def test_benepar_charts(load_arrays, load_json):
    arrays, fixture = load_arrays("benepar_chart"), load_json("benepar_chart")
    vocab = dict(fixture["vocab"].items())
    names = {index: label for label, index in vocab.items()}
    decoder = MaximumAPosteriori()
    for k, item in enumerate(fixture["items"]):
        n, lengths, case = item["n"], torch.tensor([item["n"]]), arrays[f"t{k}"]
        spans = benepar_spans(item["tree"])
        # a root of several trees is listed as a span without label
        listed = [(start, end + 1, label) for start, end, label in item["spans"] if label]
        assert sorted(spans) == sorted(listed)
        gold = gold_labels([spans], n, {label: index for label, index in vocab.items() if index})
        assert torch.equal(gold, benepar_chart(case["gold_chart"].long()))
        scores = benepar_chart(case["scores"].double())
        relative = scores - scores[..., :1]
        tree = ConstituentTree.from_string(item["tree"])
        for name, searched in (("force", forced(relative, lengths)), ("noforce", relative)):
            of_words = OneStageScores(torch.zeros(1, n, 1), searched)
            parse = parses_of(of_words, lengths, decoder, probabilistic=False)[0]
            nodes = constituents(parse)
            chart = torch.zeros_like(gold)
            starts, ends, labels = (
                torch.from_numpy(x) for x in (parse.starts, parse.ends, parse.labels)
            )
            chart[0, span_position(n, starts, ends)] = labels
            assert torch.equal(chart, benepar_chart(case[f"{name}_chart"].long()))
            # listed are the constituents, and the root and the words even if they are none
            at = {node[:2] for node in nodes}
            others = {*((word, word + 1) for word in range(n)), (0, n)} - at
            found = [*nodes, *((*span, 0) for span in others)]
            listed = as_tuples(zip(*item[f"{name}_compressed"], strict=True))
            assert sorted(found, key=lambda node: (node[0], -node[1])) == listed
            chains = expand_unaries([(start, end, names[label]) for start, end, label in nodes])
            parsed = ConstituentTree.from_spans(tree.leaves, tags(tree), chains, "TOP")
            assert str(parsed) == item[f"{name}_tree_from_scores"]
            assert str(parsed) == item[f"{name}_tree_from_chart"]
            for key in (key for key in item if key.startswith(f"loss_{name}_")):
                favoured = favour(scores, gold, float(key.rpartition("_")[2]))
                loss = benepar_margin_loss(favoured, gold, lengths, force=name == "force")
                assert float(loss) == pytest.approx(item[key], rel=1e-9, abs=1e-9), (k, key)


def test_benepar_infers_whether_the_root_is_a_constituent(load_json):
    fixture = load_json("benepar_chart")
    has_root = [
        any((start, end) == (0, item["n"]) for start, end, _ in benepar_spans(item["tree"]))
        for item in fixture["items"]
    ]
    assert all(has_root) == fixture["infer_force_root_all"]
    assert all(has_root[:10]) == fixture["infer_force_root_first10"]


def test_benepar_margin_loss_of_a_padded_batch(load_arrays, load_json):
    arrays, fixture = load_arrays("benepar_chart"), load_json("benepar_chart")
    indices = fixture["batch"]["idx"]
    lengths = torch.tensor([fixture["items"][k]["n"] for k in indices])
    n, labels = int(lengths.max()), len(fixture["vocab"])
    # padding holds numbers that no search may read; its gold label 0 scores 0
    squares = torch.full((len(indices), n + 1, n + 1, labels), 7.5, dtype=torch.float64)
    squares[..., 1:] += torch.arange(labels - 1)
    gold_squares = torch.zeros(len(indices), n + 1, n + 1, dtype=torch.long)
    for row, (k, length) in enumerate(zip(indices, lengths.tolist(), strict=True)):
        squares[row, :length, 1 : length + 1] = arrays[f"t{k}"]["scores"].double()
        # cells that are no span hold -100
        chart = arrays[f"t{k}"]["gold_chart"].long()
        gold_squares[row, :length, 1 : length + 1] = chart.clamp(min=0)
    scores, gold = pack(squares), pack(gold_squares)
    loss = benepar_margin_loss(scores, gold, lengths, force=fixture["infer_force_root_first10"])
    expected = fixture["batch"]["loss"]
    assert loss.tolist() == pytest.approx(expected["none"], rel=1e-9)
    assert float(loss.mean()) == pytest.approx(expected["mean"], rel=1e-9)
    assert float(loss.sum()) == pytest.approx(expected["sum"], rel=1e-9)
    # every sentence's chart of the batch is the one that it has alone
    force = fixture["infer_force_root_first10"]
    relative = scores - scores[..., :1]
    of_words = OneStageScores(
        torch.zeros(len(lengths), n, 1), forced(relative, lengths) if force else relative
    )
    parses = parses_of(of_words, lengths, MaximumAPosteriori(), probabilistic=False)
    found = []
    for row, k in enumerate(indices):
        chart = torch.zeros(int(lengths[row]), int(lengths[row]), dtype=torch.long)
        for start, end, label in constituents(parses[row]):
            chart[start, end - 1] = label
        alone = arrays[f"t{k}"]["force_chart" if force else "noforce_chart"].long()
        found.append(torch.equal(chart, alone.triu()))
    assert found == fixture["batch"]["charts_equal_single"]


# The label attention parser


def test_label_attention_parser_margin(load_arrays, load_json):
    """The loss, and by its gradient the tree that the augmented search finds and the gold tree."""
    arrays, fixture = load_arrays("const_margin"), load_json("const_margin")
    index = {"::".join(label): k for k, label in enumerate(fixture["labels"])}
    for item in fixture["items"]:
        n, lengths, case = item["n"], torch.tensor([item["n"]]), arrays[item["key"]]
        tree = ConstituentTree.from_string(item["tree"])
        spans = with_sub_heads(list(tree.spans()), item["heads"])
        gold = gold_labels([spans], n, {label: k for label, k in index.items() if k})
        starts, ends, labels = (case[name].long() for name in ("gi", "gj", "gl"))
        gold_nodes = set(zip(starts.tolist(), ends.tolist(), labels.tolist(), strict=True))
        assert {(start, end, index[label]) for start, end, label in collapse_unaries(spans)} == {
            node for node in gold_nodes if node[2]
        }
        scores = pack(case["label_scores"].double().unsqueeze(0))
        # the component's scorer gives nothing for no constituent; here it has a score
        of_empty = scores[0, span_position(n, starts, ends), 0] * (labels == 0)
        searched = forced(scores, lengths).requires_grad_()
        loss = LabelledTrees(searched, lengths).margin(gold)
        (difference,) = torch.autograd.grad(loss.sum(), searched)
        one_hot_gold = F.one_hot(gold, len(index)) * (gold > 0).unsqueeze(-1)
        found = (difference + one_hot_gold)[0].nonzero()
        expected = (case[name].tolist() for name in ("pi", "pj", "pl"))
        first, last = packed_spans(n)
        assert {(int(first[at]), int(last[at]), label) for at, label in found.tolist()} == set(
            zip(*expected, strict=True)
        )
        augmented = hamming_augment(torch.zeros_like(scores), gold)[0]
        wrong = augmented[found[:, 0], found[:, 1]].sum()
        assert float(wrong) == item["pred_augment"]
        of_gold = augmented[span_position(n, starts, ends), labels].sum()
        assert float(of_gold) == item["gold_augment"]
        gold_score = scores[0, span_position(n, starts, ends), labels].sum()
        assert float(gold_score) == pytest.approx(item["gold_score"], rel=1e-5, abs=1e-5)
        hinge = float((loss - of_empty.sum()).detach())
        assert hinge == pytest.approx(item["hinge"], rel=1e-5, abs=1e-4)
        found_score = hinge + float(gold_score)
        assert found_score == pytest.approx(item["pred_aug_score"], rel=1e-5, abs=1e-4)


def test_label_attention_parser_gold_trees(load_json):
    """Heads of nodes, and by them their governors and relations."""
    for item in load_json("const_margin")["items"]:
        spans = ConstituentTree.from_string(item["tree"]).spans()
        found = lexicalise(spans, item["heads"], item["n"])
        nodes, conflicts = converted(item["parse"])
        assert found.nodes == nodes
        assert found.conflicts == conflicts
        assert_governed(item, nodes)
