"""Charts, decoders and losses of supar, benepar and the label attention parser.

supar: the unlabelled tree CRF, its marginals, both decoders and the loss. benepar: gold charts,
decoding with and without a forced root, the margin loss. const_margin: decoding of the label
attention parser in training (augmented by the Hamming distance), and its gold trees.
"""

import pytest
import torch
from torch.nn.functional import cross_entropy

from spacy_lal.structure.binarise import (
    binarise,
    collapse_unaries,
    debinarise,
    expand_unaries,
)
from spacy_lal.structure.chart import (
    best_tree,
    chart_size,
    hamming_augment,
    inside,
    pack,
    packed_spans,
    span_position,
    unpack,
)
from spacy_lal.structure.tree_distribution import TreeDistribution
from spacy_lal.trees import ROOT_LABELS, ConstituentTree


def nodes_of(tree, labels, row=0):
    """{(start, end, label)} of one sentence's tree mask."""
    starts, ends = packed_spans(int((2 * tree.shape[1]) ** 0.5))
    at = tree[row].nonzero().squeeze(1)
    return set(zip(starts[at].tolist(), ends[at].tolist(), labels[row, at].tolist(), strict=True))


def as_set(rows):
    return {tuple(row) for row in rows}


# supar


def supar_loss(spans, labels, gold, lengths):
    """Negative log-likelihood per word, and the mean cross-entropy of gold spans' labels."""
    there = gold >= 0
    likelihood = TreeDistribution(spans, lengths).log_prob(there)
    return -likelihood.sum() / lengths.sum(), cross_entropy(labels[there], gold[there])


def supar_charts(arrays):
    spans, labels = arrays["s_span"].double(), arrays["s_label"].double()
    return pack(spans), pack(labels), pack(arrays["chart"])


def test_supar_crf_of_one_sentence(load_arrays, load_json):
    arrays = load_arrays("supar_crf")
    for item in load_json("supar_crf")["single"]:
        n, lengths = item["n"], torch.tensor([item["n"]])
        spans, labels, gold = supar_charts(arrays[item["key"]])
        trees = TreeDistribution(spans, lengths)
        value, tree = trees.argmax()
        _, mbr = trees.mbr()
        independent = labels.argmax(-1)
        assert {node[:2] for node in nodes_of(tree, independent)} == as_set(item["argmax"])
        assert nodes_of(tree, independent) == as_set(item["map_tree"])
        assert nodes_of(mbr, independent) == as_set(item["mbr_tree"])
        expected = arrays[item["key"]]["marginals"]
        torch.testing.assert_close(unpack(trees.marginals, n), expected, rtol=0, atol=1e-12)
        of_spans, of_labels = supar_loss(spans, labels, gold, lengths)
        labelled, best_label = labels.max(-1)
        labelled_value, labelled_tree = TreeDistribution(labelled, lengths).argmax()
        assert nodes_of(labelled_tree, best_label) == as_set(item["labeled_argmax"])
        ours = {
            "logZ": trees.log_partition,
            "max": value,
            "log_prob": trees.log_prob(gold >= 0),
            "entropy": trees.entropy,
            "loss": of_spans + of_labels,
            "labeled_logZ": inside(torch.logsumexp(labels, -1), lengths),
            "labeled_max": labelled_value,
        }
        assert {k: float(v) for k, v in ours.items()} == pytest.approx(
            {k: item[k] for k in ours}, rel=1e-9, abs=1e-9
        )


def test_supar_crf_of_a_padded_batch(load_arrays, load_json):
    arrays = load_arrays("supar_crf")
    for item in load_json("supar_crf")["batch"]:
        lengths = torch.tensor(item["lens"])
        spans, labels, gold = supar_charts(arrays[item["key"]])
        trees = TreeDistribution(spans, lengths)
        assert trees.log_partition.tolist() == pytest.approx(item["logZ"], rel=1e-9)
        square = unpack(trees.marginals, arrays[item["key"]]["s_span"].shape[1] - 1)
        torch.testing.assert_close(square, arrays[item["key"]]["marginals"], rtol=0, atol=1e-12)
        of_spans, of_labels = supar_loss(spans, labels, gold, lengths)
        assert float(of_spans) == pytest.approx(item["span_loss"], rel=1e-9)
        assert float(of_spans + of_labels) == pytest.approx(item["loss"], rel=1e-9)
        for name, (_, tree) in (("map", trees.argmax()), ("mbr", trees.mbr())):
            for row, expected in enumerate(item[name]):
                assert nodes_of(tree, labels.argmax(-1), row) == as_set(expected), name


@pytest.mark.parametrize(
    ("variant", "direction", "new_mark"),
    [("left", "left", "*"), ("right", "right", "*"), ("implicit", "left", "")],
)
def test_supar_trees(load_json, variant, direction, new_mark):
    for item in load_json("supar_trees"):
        tree, expected = ConstituentTree.from_string(item["tree"]), item[variant]
        (_, n, top), *spans = tree.spans()
        assert sorted(tree.spans()) == sorted(as_tuples(item["factorize_raw"]))
        collapsed = collapse_unaries(spans)
        # supar marks a lone word even where new labels are to be empty
        mark = "*" if not spans and n == 1 else new_mark
        nodes = binarise(collapsed, n, direction, mark, top=top)
        assert debinarise(nodes, mark) == collapsed
        assert expand_unaries(collapsed) == spans
        assert expected["rebuilt"] == item["tree"]
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
    n = int((2 * scores.shape[1]) ** 0.5)
    scores = scores.clone()
    roots = span_position(n, torch.zeros_like(lengths), lengths)
    scores[torch.arange(len(lengths)), roots, 0] -= 1e9
    return scores


def benepar_margin_loss(scores, gold, lengths, force):
    """[B]: the root is forced in the search only; label 0 scores 0 everywhere."""
    relative = scores - scores[..., :1]
    searched = forced(relative, lengths) if force else relative
    found, _ = best_tree(hamming_augment(searched, gold).max(-1).values, lengths)
    return (found - relative.gather(-1, gold.unsqueeze(-1)).sum((1, 2))).relu()


def favour(scores, gold, amount):
    """Scores with `amount` added to every span's gold label."""
    return scores.scatter_add(-1, gold.unsqueeze(-1), torch.full_like(scores[..., :1], amount))


def test_benepar_charts(load_arrays, load_json):
    arrays, fixture = load_arrays("benepar_chart"), load_json("benepar_chart")
    names = {index: label for label, index in fixture["vocab"].items()}
    for k, item in enumerate(fixture["items"]):
        n, lengths, case = item["n"], torch.tensor([item["n"]]), arrays[f"t{k}"]
        spans = benepar_spans(item["tree"])
        # a root of several trees is listed as a span without label
        listed = [(start, end + 1, label) for start, end, label in item["spans"] if label]
        assert sorted(spans) == sorted(listed)
        gold = benepar_chart(case["gold_chart"].long())
        starts, ends = (fences.tolist() for fences in packed_spans(n))
        known = {(start, end, fixture["vocab"].get(label, 0)) for start, end, label in spans}
        marked = set(zip(starts, ends, gold[0].tolist(), strict=True))
        assert {s for s in marked if s[2]} == {s for s in known if s[2]}
        scores = benepar_chart(case["scores"].double())
        relative = scores - scores[..., :1]
        tree = ConstituentTree.from_string(item["tree"])
        for name, searched in (("force", forced(relative, lengths)), ("noforce", relative)):
            best, labels = searched.max(-1)
            _, mask = best_tree(best, lengths)
            expected_chart = benepar_chart(case[f"{name}_chart"].long())
            assert torch.equal(torch.where(mask, labels, 0), expected_chart)
            # listed are the constituents, and the root and the words even if they are none
            found = {
                node for node in nodes_of(mask, labels) if node[2] or node[1] - node[0] in (1, n)
            }
            listed = as_tuples(zip(*item[f"{name}_compressed"], strict=True))
            assert sorted(found, key=lambda node: (node[0], -node[1])) == listed
            chains = [(start, end, names[label]) for start, end, label in listed if label]
            words, root = tree.leaves, "TOP"
            parsed = ConstituentTree.from_spans(words, tags(tree), expand_unaries(chains), root)
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


# The label attention parser


def test_label_attention_parser_margin(load_arrays, load_json):
    arrays, fixture = load_arrays("const_margin"), load_json("const_margin")
    index = {"::".join(label): k for k, label in enumerate(fixture["labels"])}
    for item in fixture["items"]:
        n, lengths, case = item["n"], torch.tensor([item["n"]]), arrays[item["key"]]
        scores = pack(case["label_scores"].double().unsqueeze(0))
        starts, ends, labels = (case[name].long() for name in ("gi", "gj", "gl"))
        gold_nodes = set(zip(starts.tolist(), ends.tolist(), labels.tolist(), strict=True))
        # an n-ary node is split after its first child
        nodes = binarise(parse_spans(item["parse"]), n, "right")
        assert {(start, end, index[label]) for start, end, label in nodes} == gold_nodes
        gold = torch.zeros(1, chart_size(n), dtype=torch.long)
        gold[0, span_position(n, starts, ends)] = labels
        best, found = forced(hamming_augment(scores, gold), lengths).max(-1)
        value, tree = best_tree(best, lengths)
        expected = (case[name].tolist() for name in ("pi", "pj", "pl"))
        assert nodes_of(tree, found) == set(zip(*expected, strict=True))
        reference = float(scores[0, span_position(n, starts, ends), labels].sum())
        assert int((tree & (found != gold)).sum()) == item["pred_augment"]
        assert float(value) == pytest.approx(item["pred_aug_score"], rel=1e-5, abs=1e-5)
        assert reference == pytest.approx(item["gold_score"], rel=1e-5, abs=1e-5)
        assert float(value) - reference == pytest.approx(item["hinge"], rel=1e-5, abs=1e-4)


def parse_spans(parse):
    """Preorder (start, end, chain) of a converted tree."""
    spans, stack = [], [parse]
    while stack:
        node = stack.pop()
        if node.get("label"):
            spans.append((node["left"], node["right"], "::".join(node["label"])))
        stack += reversed(node.get("children") or [])
    return spans
