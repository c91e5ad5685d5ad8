"""The released parser in all variants: every layer's output, its parses and its training loss."""

import copy
from collections.abc import Mapping
from typing import NamedTuple

import pytest
import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

from spacy_lal.layers.dependency_scorer import DependencyScorer, DependencySettings
from spacy_lal.layers.encoder import LabelAttentionEncoder
from spacy_lal.layers.input_encoders import PositionInput, PositionInputEncoder
from spacy_lal.layers.label_attention import EncoderSettings
from spacy_lal.layers.span_scorer import SpanScorer
from spacy_lal.parsing.decoders import MaximumAPosteriori
from spacy_lal.parsing.gold_trees import gold_labels, with_sub_heads
from spacy_lal.parsing.network import OneStageScores
from spacy_lal.parsing.objectives import dependency_loss
from spacy_lal.structure.chart import pack, unpack
from spacy_lal.structure.hpsg import SUB_HEAD
from spacy_lal.structure.lexicalised import best_joint_tree, joint_values
from spacy_lal.trees.tree import ConstituentTree

from .component import constituents, expand_unaries, parses_of
from .released_names import dependency_scorer_state, encoder_state, span_scorer_state
from .test_label_attention import released_queries, with_queries


def build(hparams, n_label_heads, parameters, dtype=torch.float64):
    """Encoder and span scorer with released hyperparameters and parameters."""
    settings = EncoderSettings(
        heads=n_label_heads if hparams["use_lal"] else 0,
        key_width=hparams["lal_d_kv"],
        value_width=hparams["lal_d_kv"],
        projection_width=hparams["lal_d_proj"],
        self_attention_layers=hparams["num_layers"],
        self_attention_heads=hparams["num_heads"],
        self_attention_key_width=hparams["d_kv"],
        feed_forward_width=hparams["d_ff"],
        partition_width=hparams["d_model"] // 2 if hparams["partitioned"] else None,
        label_feed_forward=hparams["lal_pwff"],
        arrangement="stack",
        scale="model",
        query="matrix" if hparams["lal_q_as_matrix"] else "vector",
        combine="project" if hparams["lal_combine_as_self"] else "concatenate",
        label_partitioned=hparams["lal_partitioned"],
    )
    encoder = LabelAttentionEncoder(settings, hparams["d_model"])
    encoder.load_state_dict(encoder_state(parameters, hparams["num_layers"]))
    n_outputs, d_hidden = parameters["f_label.3.weight"].shape
    scorer = SpanScorer(encoder.output_dim, d_hidden, n_outputs + 1)
    scorer.load_state_dict(span_scorer_state(parameters))
    return encoder.to(dtype).eval(), scorer.to(dtype).eval()


class Group(Mapping):
    """Arrays whose names begin with one word, by the rest of their names."""

    def __init__(self, arrays, name):
        self.arrays, self.prefix = arrays, f"{name}/"

    def __getitem__(self, name):
        return self.arrays[self.prefix + name]

    def __iter__(self):
        return (k.removeprefix(self.prefix) for k in self.arrays if k.startswith(self.prefix))

    def __len__(self):
        return sum(1 for _ in self)


@pytest.fixture(scope="module")
def variants(load_arrays, load_json):
    """{variant: (hyperparameters, label heads, parameters, sentences)}."""
    found = {}
    options = load_json("lal_parser")["variants"]
    for variant, arrays in load_arrays("lal_parser").items():
        names = [name.removesuffix("/emb") for name in arrays if name.endswith("/emb")]
        found[variant] = (
            options[variant]["hparams"],
            options[variant]["d_l"],
            Group(arrays, "param"),
            [Group(arrays, name) for name in names],
        )
    return found


def assert_near(actual, expected, tolerance):
    if expected.dtype == torch.float32:  # rounded when it was stored
        tolerance = max(tolerance, 1e-6)
    torch.testing.assert_close(
        actual.double(),
        expected.double(),
        rtol=0,
        atol=tolerance * max(1.0, expected.abs().max().item()),
    )


def outputs(encoder, scorer, rows, mask):
    rows = rows.to(scorer.hidden.weight.dtype)
    with torch.no_grad():
        attention = None
        if encoder.label_attention is not None:
            attention = encoder.label_attention.attention(encoder.encode(rows, mask), mask)
        annotations = encoder(rows, mask)
        fenceposts = encoder.fenceposts(annotations)
        return attention, annotations, fenceposts, scorer(fenceposts)


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-9), (torch.float32, 1e-4)], ids=str
)
def test_sentences(variants, dtype, tolerance):
    for hparams, n_label_heads, parameters, sentences in variants.values():
        encoder, scorer = build(hparams, n_label_heads, parameters, dtype)
        for expected in sentences:
            rows = expected["emb"].unsqueeze(0)
            mask = torch.ones(rows.shape[:2], dtype=torch.bool)
            attention, annotations, fenceposts, scores = outputs(encoder, scorer, rows, mask)
            if attention is not None:
                assert_near(attention[0], expected["attn"], tolerance)
            assert_near(annotations[0], expected["annotations"], tolerance)
            assert_near(fenceposts[0], expected["fencepost"], tolerance)
            assert_near(scores[0], pack(expected["chart"].unsqueeze(0))[0], tolerance)


def test_last_self_attention_without_label_attention(variants):
    for hparams, n_label_heads, parameters, sentences in variants.values():
        if hparams["use_lal"]:
            continue
        encoder, _ = build(hparams, n_label_heads, parameters)
        *before, last = encoder.attention_layers
        for expected in sentences:
            rows = expected["emb"].unsqueeze(0)
            mask = torch.ones(rows.shape[:2], dtype=torch.bool)
            with torch.no_grad():
                for attention, feed_forward in zip(
                    before, encoder.feed_forward_layers, strict=False
                ):
                    rows = feed_forward(attention(rows, mask))
                assert_near(last.attention(rows, mask)[0], expected["attn"], 1e-9)


def test_released_parameters_are_as_large_as_listed(variants, load_json):
    options = load_json("lal_parser")["variants"]
    for name, (hparams, _, parameters, _) in variants.items():
        shapes, width = options[name]["params"], hparams["annotation_dim"]
        assert shapes["f_label.0.weight"] == [hparams["d_label_hidden"], width]
        assert shapes["dep_score.arc_h.weight"] == [hparams["d_biaffine"], width]
        assert {key: list(parameters[key].shape) for key in parameters} == dict(shapes.items())


# What words are read as


def build_rows(parameters, fixture):
    """`PositionInputEncoder` over one-hot words and tags, holding the released embeddings.

    Its tags are certain: their scores are so far apart that the softmax is one-hot.
    """
    tags, words = (parameters[f"embedding.embs.{k}.weight"].double() for k in (0, 1))
    positions = parameters["embedding.position_table"]
    settings = PositionInput(tags.shape[1] + positions.shape[1], len(positions) - 2)
    rows = PositionInputEncoder(settings, len(words) + len(tags), len(tags)).double()
    certain = torch.cat([torch.zeros(len(tags), len(words)), 1e4 * torch.eye(len(tags))], 1)
    around = {
        name: tags[fixture["tag_vocab"].index(mark)] + words[fixture["word_vocab"].index(mark)]
        for name, mark in (("start", "<START>"), ("stop", "<STOP>"))
    }
    rows.load_state_dict(
        {
            "content.weight": torch.cat([words.T, torch.zeros(words.shape[1], len(tags))], 1),
            "tag_scores.weight": certain,
            "tag_scores.bias": torch.zeros(len(tags)),
            "tag_embedding": tags,
            "positions": positions,
            "layer_norm.a_2": parameters["embedding.layer_norm.a_2"],
            "layer_norm.b_2": parameters["embedding.layer_norm.b_2"],
            **around,
        }
    )
    return rows


def words_of(fixture, row):
    """One-hot words and tags of one sentence [1, n, words + tags], and its length."""
    tree = ConstituentTree.from_string(fixture["trees"][row])
    words, tags = fixture["word_vocab"], fixture["tag_vocab"]
    numbers = [
        (words.index(word if word in words else "<UNK>"), tags.index(tag))
        for word, (_, tag) in zip(tree.leaves, tree.tagged, strict=True)
    ]
    of_words, of_tags = torch.tensor(numbers).unbind(1)
    x = torch.cat([F.one_hot(of_words, len(words)), F.one_hot(of_tags, len(tags))], 1)
    return x.unsqueeze(0).double(), torch.tensor([len(numbers)])


def test_rows(variants, load_json):
    """The encoder's input, of words and tags as the released parser reads them.

    Where nothing is partitioned the released code adds positions to content, as the paper doesn't.
    """
    fixture = load_json("lal_parser")
    for hparams, _, parameters, sentences in variants.values():
        if not hparams["partitioned"]:
            continue
        assert hparams["use_tags"]
        assert hparams["use_words"]
        rows = build_rows(parameters, fixture)
        for k, expected in enumerate(sentences):
            with torch.no_grad():
                found, _ = rows(*words_of(fixture, k))
            assert_near(found[0], expected["emb"], 1e-12)


def test_batch_equals_single(variants):
    for hparams, n_label_heads, parameters, sentences in variants.values():
        encoder, scorer = build(hparams, n_label_heads, parameters)
        lengths = [expected["emb"].shape[0] for expected in sentences]
        rows = pad_sequence(
            [expected["emb"] for expected in sentences], batch_first=True, padding_value=3.0
        )
        mask = pad_sequence([torch.ones(n, dtype=torch.bool) for n in lengths], batch_first=True)
        together = outputs(encoder, scorer, rows, mask)
        for index, n in enumerate(lengths):
            alone = outputs(
                encoder, scorer, rows[index : index + 1, :n], mask[index : index + 1, :n]
            )
            for batched, single in zip(together[1:3], alone[1:3], strict=True):
                assert_near(batched[index, : single.shape[1]], single[0], 1e-12)
            chart = unpack(together[3][index : index + 1], rows.shape[1] - 2)[:, : n - 1, : n - 1]
            assert_near(pack(chart), alone[3], 1e-12)


# Heads, and both kinds of syntax together


def pad(values):
    """Sentences' tensors, the first two dimensions padded with numbers that nothing may read."""
    first, second = (max(value.shape[k] for value in values) for k in (0, 1))
    padded = values[0].new_full((len(values), first, second, *values[0].shape[2:]), 3.0)
    for row, value in enumerate(values):
        padded[row, : value.shape[0], : value.shape[1]] = value
    return padded


class Parser(NamedTuple):
    """A released parser in our layers, on the rows of its four sentences [B, n+2, d]."""

    encoder: LabelAttentionEncoder
    scorer: SpanScorer
    dependencies: DependencyScorer
    rows: torch.Tensor
    lengths: torch.Tensor

    def sentence(self, row):
        """The parser with one of its sentences alone."""
        n = int(self.lengths[row])
        return self._replace(
            rows=self.rows[row : row + 1, : n + 2], lengths=self.lengths[row : row + 1]
        )

    def scores(self):
        """What the component's network makes of rows, in the released arrangement."""
        mask = torch.arange(self.rows.shape[1]) < self.lengths.unsqueeze(1) + 2
        fenceposts = self.encoder.fenceposts(self.encoder(self.rows, mask))
        arcs, relations = self.dependencies(fenceposts)
        tags = torch.zeros(*arcs.shape[:2], 1)
        return OneStageScores(tags, self.scorer(fenceposts), arcs, *relations)


def build_parser(hparams, n_label_heads, parameters, sentences):
    encoder, scorer = build(hparams, n_label_heads, parameters)
    state = dependency_scorer_state(parameters)
    n_relations, d_relation, _ = state["relation.bilinear"].shape
    settings = DependencySettings(hparams["d_biaffine"], d_relation, relation_of="dependent")
    dependencies = DependencyScorer(settings, encoder.output_dim, n_relations)
    dependencies.load_state_dict(state)
    return Parser(
        encoder,
        scorer,
        dependencies.double().eval(),
        pad_sequence([s["emb"].double() for s in sentences], batch_first=True, padding_value=3.0),
        torch.tensor([len(s["emb"]) - 2 for s in sentences]),
    )


@pytest.fixture(scope="module")
def parsers(variants):
    return {name: build_parser(*variant) for name, variant in variants.items()}


def recorded(sentences):
    """The scores that the released parser gave its sentences one by one."""
    relations = pad([s["type"][1:] for s in sentences])
    return OneStageScores(
        torch.zeros(len(sentences), max(len(s["emb"]) for s in sentences) - 2, 1),
        pack(pad([s["chart"].double() for s in sentences])),
        pad([s["arc"].T[1:] for s in sentences]),
        # scores as factors: themselves, ones, and a factorised product that adds nothing
        relations,
        torch.ones_like(relations),
        torch.eye(relations.shape[-1], relations.shape[-1] + 1, dtype=relations.dtype),
    )


def relations_of(scores):
    """Scores of relations, which don't depend on the head."""
    return scores.relations_of(torch.zeros(scores.tags.shape[:2], dtype=torch.long))


def test_arcs_and_relations(variants, parsers):
    """Of all sentences in one batch; the file has them one by one."""
    for name, (*_, sentences) in variants.items():
        with torch.no_grad():
            scores = parsers[name].scores()
        for row, expected in enumerate(sentences):
            n = len(expected["arc"]) - 1
            assert_near(scores.arcs[row, :n, : n + 1], expected["arc"].T[1:], 1e-9)
            assert_near(relations_of(scores)[row, :n], expected["type"][1:], 1e-9)


def test_a_batch_scores_as_its_sentences_do(parsers):
    for parser in parsers.values():
        with torch.no_grad():
            scores = parser.scores()
            for row, n in enumerate(parser.lengths.tolist()):
                alone = parser.sentence(row).scores()
                assert_near(scores.arcs[row : row + 1, :n, : n + 1], alone.arcs, 1e-12)
                assert_near(relations_of(scores)[row : row + 1, :n], relations_of(alone), 1e-12)


def trees_of(parses, fixture):
    """The parses of the first sentences, as the released parser writes its trees."""
    chains = ["::".join(label) for label in fixture["label_vocab"]]
    for row in range(len(parses)):
        gold = ConstituentTree.from_string(fixture["trees"][row])
        nodes = [(start, end, chains[label]) for start, end, label in constituents(parses[row])]
        tags = [tag for _, tag in gold.tagged]
        tree = ConstituentTree.from_spans(gold.leaves, tags, expand_unaries(nodes), "TOP")
        yield str(tree).removeprefix("(TOP ").removesuffix(")")


def decoded(scores, lengths, decoder):
    """What the component makes of scores, and the value of the best trees."""
    share = decoder.share
    constituent, _, empty = joint_values(scores.labels, lengths, 1)
    arcs = (1 - share) * scores.arcs
    joint = best_joint_tree(share * constituent, share * empty, arcs, lengths)
    parses = parses_of(scores, lengths, decoder, probabilistic=False, group=1)
    return parses, joint.score.tolist()


def test_parses(variants, parsers, load_json):
    """Trees, heads and relations of the joint decoder, from our scores and from the recorded."""
    fixture = load_json("lal_parser")
    for name, (hparams, *_, sentences) in variants.items():
        decoder = MaximumAPosteriori(hparams["const_lada"])
        lengths = parsers[name].lengths
        with torch.no_grad():
            both = parsers[name].scores(), recorded(sentences)
        for scores in both:
            parses, values = decoded(scores, lengths, decoder)
            trees = list(trees_of(parses, fixture))
            for row, expected in enumerate(fixture["variants"][name]["sent"]):
                assert values[row] == pytest.approx(expected["score"], rel=1e-5, abs=1e-4)
                assert parses[row].heads.tolist() == expected["heads"]
                relations = [fixture["type_vocab"][k] for k in parses[row].relations]
                assert relations == expected["types"]
                assert trees[row] == expected["tree"]


def in_a_released_batch(parser, row, size):
    """A parser with one sentence, as the released code treats it in a batch of `size`.

    There the label attention heads of a sentence have queries of other heads. Only where a query
    comes from each row are they their own.
    """
    alone, attention = parser.sentence(row), parser.encoder.label_attention
    if attention is None or attention.query_matrix:
        return alone
    encoder = copy.deepcopy(parser.encoder)
    order = released_queries(attention.n_heads, row, size)
    encoder.label_attention = with_queries(attention, order)
    return alone._replace(encoder=encoder)


def test_a_released_batch(variants, parsers, load_arrays, load_json):
    """Annotations, parses and the training loss of all sentences in one batch."""
    fixture, arrays = load_json("lal_parser"), load_arrays("lal_parser")
    for name, (hparams, *_) in variants.items():
        expected = fixture["variants"][name]
        batch = expected["batch4"]
        size = len(batch["scores"])
        decoder = MaximumAPosteriori(hparams["const_lada"])
        annotations, losses = [], []
        trees, heads, values = [], [], []
        for row in range(size):
            parser = in_a_released_batch(parsers[name], row, size)
            with torch.no_grad():
                mask = torch.ones(parser.rows.shape[:2], dtype=torch.bool)
                annotations.append(parser.encoder(parser.rows, mask)[0])
                losses.append(float(loss_of(parser, gold_of(fixture, row))))
                parses, value = decoded(parser.scores(), parser.lengths, decoder)
            values += value
            heads.append(parses[0].heads.tolist())
            words = {"label_vocab": fixture["label_vocab"], "trees": fixture["trees"][row:]}
            trees += trees_of(parses, words)
        assert_near(torch.cat(annotations), arrays[name]["batch4/annotations"], 1e-9)
        assert sum(losses) == pytest.approx(expected["train_loss_batch4"], rel=1e-9), name
        # of float32 sums
        assert values == pytest.approx(batch["scores"], rel=1e-5, abs=1e-4), name
        assert heads == batch["heads"], name
        assert trees == batch["trees"], name


def gold_of(fixture, row):
    """What the component trains a sentence on: its chart of labels, heads and relations."""
    tree = ConstituentTree.from_string(fixture["trees"][row])
    heads = fixture["heads"][row]
    spans = with_sub_heads(list(tree.spans()), heads)
    index = {"::".join(label): k for k, label in enumerate(fixture["label_vocab"]) if k}
    relations = [fixture["type_vocab"].index(relation) for relation in fixture["types"][row]]
    return gold_labels([spans], len(heads), index), torch.tensor([heads]), torch.tensor([relations])


def loss_of(parser, gold):
    """The released loss of one sentence: the paper's, with half the weight on dependencies."""
    scores, lengths = parser.scores(), parser.lengths
    labels, heads, relations = gold
    of_arcs, of_relations = dependency_loss(
        scores.arcs, scores.relations_of(heads), heads, relations, lengths
    )
    of_trees = scores.trees(lengths).margin(labels).sum()
    return of_trees + 0.5 * of_arcs + 0.5 * of_relations


def test_gold_trees_have_the_released_groups(load_json):
    fixture = load_json("lal_parser")
    assert fixture["label_vocab"][1] == [SUB_HEAD]
    groups = 0
    for tree, heads, parse in zip(
        fixture["trees"], fixture["heads"], fixture["parse"], strict=True
    ):
        expected, stack = set(), [parse]
        while stack:
            node = stack.pop()
            if node.get("label"):
                expected.add((node["left"], node["right"], "::".join(node["label"])))
            stack += node.get("children", ())
        found = with_sub_heads(list(ConstituentTree.from_string(tree).spans()), heads)
        assert set(found) == expected
        groups += sum(label == SUB_HEAD for *_, label in found)
    assert groups


def test_training_loss(variants, parsers, load_json):
    fixture = load_json("lal_parser")
    for name in variants:
        for row, expected in enumerate(fixture["variants"][name]["sent"]):
            with torch.no_grad():
                loss = loss_of(parsers[name].sentence(row), gold_of(fixture, row))
            assert float(loss) == pytest.approx(expected["train_loss_batch1"], rel=1e-9), name


def assert_rows_have_gradients(rows, given, fixture):
    """Words and tags share their embeddings with START and STOP in the released tables."""
    words, tags = fixture["word_vocab"], fixture["tag_vocab"]
    found = {
        "embs.0.weight": rows.tag_embedding.grad.clone(),
        "embs.1.weight": rows.content.weight.grad[:, : len(words)].T.clone(),
        "position_table": rows.positions.grad,
        "layer_norm.a_2": rows.layer_norm.a_2.grad,
        "layer_norm.b_2": rows.layer_norm.b_2.grad,
    }
    for mark, value in (("<START>", rows.start.grad), ("<STOP>", rows.stop.grad)):
        found["embs.0.weight"][tags.index(mark)] += value
        found["embs.1.weight"][words.index(mark)] += value
    assert {f"embedding.{name}" for name in found} == {n for n in given if "embedding." in n}
    for name, value in found.items():
        assert_near(value, given[f"embedding.{name}"], 1e-9)


def test_gradients_of_the_training_loss(variants, parsers, load_arrays, load_json):
    """Of sentence 0, in the variants for which they were recorded."""
    fixture, checked = load_json("lal_parser"), 0
    for name, arrays in load_arrays("lal_parser").items():
        given = Group(arrays, "grad0")
        if not given:
            continue
        parser = parsers[name].sentence(0)
        rows = None
        if variants[name][0]["partitioned"]:
            rows = build_rows(variants[name][2], fixture)
            parser = parser._replace(rows=rows(*words_of(fixture, 0))[0])
        loss_of(parser, gold_of(fixture, 0)).backward()
        if rows is not None:
            assert_rows_have_gradients(rows, given, fixture)
        for module, expected in (
            (parser.encoder, encoder_state(given, variants[name][0]["num_layers"])),
            (parser.scorer, span_scorer_state(given)),
            (parser.dependencies, dependency_scorer_state(given)),
        ):
            assert expected.keys() == dict(module.named_parameters()).keys()
            for parameter, value in expected.items():
                assert_near(module.get_parameter(parameter).grad, value, 1e-9)
            module.zero_grad()
        checked += 1
    assert checked
