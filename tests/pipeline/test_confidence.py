"""Probabilities of constituents and trees, and the k best trees, against enumeration."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_lal.annotations.constituents import set_constituents
from spacy_lal.batching.batches import ParserScores, SentenceBatch
from spacy_lal.batching.sentences import Reading, Sentence
from spacy_lal.parsing.constituency import ConstituencyPipe
from spacy_lal.parsing.decoders import Decoder, MaximumAPosteriori, MinimumBayesRisk
from spacy_lal.parsing.network import OneStageScores, TwoStageScores
from spacy_lal.pipeline.writers import SentenceParse
from spacy_lal.structure.binarise import collapse_unaries
from spacy_lal.structure.chart import chart_length, chart_size, packed_spans
from spacy_lal.structure.distributions import WIDER, KTrees
from spacy_lal.structure.hpsg import SUB_HEAD
from spacy_lal.trees.tree import ConstituentTree

from .toy import DEPENDENCIES, TINY, TWO_STAGE, bare_doc, offsets, parses_of, train_on

KINDS = ["one stage", "joint", "two stages"]
DECODERS = [MaximumAPosteriori(), MinimumBayesRisk(), MinimumBayesRisk(0.0)]

# By enumeration

Constituents = frozenset[tuple[int, int, int]]
"""(start, end, label) by a sentence's words."""


def log_add(x: float, y: float) -> float:
    return max(x, y) + math.log1p(math.exp(-abs(x - y)))


def add(table: dict, key: object, value: float) -> None:
    table[key] = log_add(table[key], value) if key in table else value


def all_trees(
    values: dict[tuple[int, int], list[float]], n: int, silent: list[int], left: bool
) -> dict[Constituents, float]:
    """The log-sum of the scores of all labelled binary trees with these constituents.

    values: of the labels of every span. silent: labels of spans that are no constituents.
    left: only the trees that are left binarisations.
    """

    @cache
    def below(i: int, j: int, named: bool) -> dict[Constituents, float]:
        children: dict[Constituents, float] = {}
        if j - i == 1:
            children[frozenset()] = 0.0
        for k in range(i + 1, j):
            for first, of_first in below(i, k, False).items():
                for second, of_second in below(k, j, left and j - k > 1).items():
                    add(children, first | second, of_first + of_second)
        found: dict[Constituents, float] = {}
        for label, value in enumerate(values[i, j]):
            if label in silent and named:
                continue
            own = frozenset() if label in silent else frozenset({(i, j, label)})
            for tree, of_tree in children.items():
                add(found, tree | own, of_tree + value)
        return found

    return below(0, n, False)


class Truth:
    """What is true of one sentence: its trees are named by their constituents.

    log_prob: of each tree; marginals: the probability of each constituent.
    """

    def __init__(self, batch: SentenceBatch, row: int, sub_head: int | None) -> None:
        n = int(batch.lengths[row])
        silent = [0] if sub_head is None else [0, sub_head]
        values = values_of(batch, row)
        anyhow = all_trees(values, n, silent, left=False)
        self.scores = all_trees(values, n, silent, left=True)
        self.one_stage = isinstance(batch.scores, OneStageScores)
        highest = max(anyhow.values())
        log_z = highest + math.log(sum(math.exp(score - highest) for score in anyhow.values()))
        counted = anyhow if self.one_stage else self.scores
        self.log_prob = {tree: score - log_z for tree, score in counted.items()}
        self.marginals: dict[tuple[int, int, int], float] = {}
        for tree, score in anyhow.items():
            for constituent in tree:
                so_far = self.marginals.get(constituent, 0.0)
                self.marginals[constituent] = so_far + math.exp(score - log_z)

    def best(self, k: int) -> list[float]:
        """The log-probabilities of the trees that are looked for, the best first."""
        ranked = sorted(self.log_prob, key=self.scores.__getitem__, reverse=True)
        looked_at = ranked[: WIDER * k if self.one_stage else k]
        return sorted((self.log_prob[tree] for tree in looked_at), reverse=True)[:k]


def values_of(batch: SentenceBatch, row: int) -> dict[tuple[int, int], list[float]]:
    """What every label of every span adds to a tree's score."""
    of = batch.scores
    starts, ends = (t.tolist() for t in packed_spans(of.tags.shape[1]))
    values = {}
    for at, (i, j) in enumerate(zip(starts, ends, strict=True)):
        if j > int(batch.lengths[row]):
            continue
        if isinstance(of, OneStageScores):
            values[i, j] = of.labels[row, at].tolist()
        else:
            left = torch.cat([of.left[row, i], of.left.new_ones(1)])
            right = torch.cat([of.right[row, j], of.right.new_ones(1)])
            labels = torch.einsum("lab,a,b->l", of.weight, left, right)
            values[i, j] = (of.spans[row, at] + labels.log_softmax(-1)).tolist()
    return values


def constituents(parse: SentenceParse) -> Constituents:
    columns = (parse.starts.tolist(), parse.ends.tolist(), parse.labels.tolist())
    return frozenset(zip(*columns, strict=True))


def named(best: KTrees) -> list[tuple[Constituents, float]]:
    """The constituents and the log-probability of each of the k trees."""
    starts, ends = packed_spans(chart_length(best.labels))
    found = []
    for labels, log_prob in zip(best.labels, best.log_prob.tolist(), strict=True):
        at = labels > 0
        columns = (starts[at].tolist(), ends[at].tolist(), labels[at].tolist())
        found.append((frozenset(zip(*columns, strict=True)), log_prob))
    return found


def check_parse(parse: SentenceParse, truth: Truth, tolerance: float) -> None:
    assert parse.log_prob == pytest.approx(truth.log_prob[constituents(parse)], abs=tolerance)
    columns = (parse.starts, parse.ends, parse.labels, parse.probabilities)
    for *constituent, probability in zip(*(c.tolist() for c in columns), strict=True):
        expected = truth.marginals[tuple(constituent)]
        assert probability == pytest.approx(expected, abs=tolerance)


def check_best(found: list[tuple[Constituents, float]], truth: Truth, k: int, by: float) -> None:
    """Different trees, each as probable as it is, and no better ones anywhere."""
    assert len({tree for tree, _ in found}) == len(found)
    assert all(p == pytest.approx(truth.log_prob[tree], abs=by) for tree, p in found)
    assert [p for _, p in found] == pytest.approx(truth.best(k), abs=by)
    assert [p for _, p in found] == sorted((p for _, p in found), reverse=True)


# Any scores


def random_scores(kind: str, lengths: list[int], seed: int, dtype: torch.dtype) -> ParserScores:
    """Two labels besides 0, and "<H>", number 3, in a joint model; nothing is no bad choice."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, dtype=dtype)

    batch, n = len(lengths), max(lengths)
    tags = normal(batch, n, 2)
    scores: OneStageScores | TwoStageScores
    if kind == "two stages":
        weight = normal(3, 4, 5)
        weight[0, -1, -1] += 2
        scores = TwoStageScores(
            tags,
            spans=2 * normal(batch, chart_size(n)),
            left=normal(batch, n + 1, 3) / 2,
            right=normal(batch, n + 1, 4) / 2,
            weight=weight,
        )
    else:
        labels = normal(batch, chart_size(n), 4 if kind == "joint" else 3)
        scores = OneStageScores(tags, labels)
        if kind == "joint":
            governor, governed, weight = normal(batch, n + 1, 2), normal(batch, n, 2), normal(2, 3)
            scores = OneStageScores(
                tags, labels, normal(batch, n, n + 1), governor, governed, weight
            )
    words = [Sentence(d, 0, m, torch.arange(m).numpy()) for d, m in enumerate(lengths)]
    members = list(range(batch))
    return ParserScores(words, [SentenceBatch(members, torch.tensor(lengths), scores)])


@pytest.mark.parametrize("kind", KINDS)
def test_any_scores(kind: str) -> None:
    sub_head = 3 if kind == "joint" else None
    scores = random_scores(kind, [4, 1, 3, 4, 2], 0, torch.float64)
    (batch,) = scores.batches
    truths = [Truth(batch, row, sub_head) for row in batch.members]
    for decoder in DECODERS:
        parses = parses_of(scores, decoder, group=sub_head)
        assert len(parses) == len(truths)
        for number, parse in parses.items():
            check_parse(parse, truths[number], 1e-9)
    for k in (1, 7):
        trees = batch.scores.trees(batch.lengths, group=sub_head)
        for number, truth in enumerate(truths):
            check_best(named(trees.kmax(number, k)), truth, k, 1e-9)


def test_nothing_is_more_than_certain() -> None:
    """In two stages log-probabilities are differences of large sums."""
    scores = random_scores("two stages", [5, *[12] * 11], 0, torch.float32)
    (batch,) = scores.batches
    batch.scores.spans.mul_(300)
    batch.scores.weight.mul_(300)
    # the best tree would be another one where a group is no left child
    batch.scores.weight[0, -1, -1] = -1e5
    certain, trees = 0, batch.scores.trees(batch.lengths)
    for number, parse in parses_of(scores, MaximumAPosteriori()).items():
        assert parse.log_prob <= 0
        assert float(trees.kmax(number, 1).log_prob) == pytest.approx(parse.log_prob, abs=0.01)
        certain += parse.log_prob > -0.01
    assert certain > 3


# Pipelines

# Two labels, one of them a chain. With their heads there are groups, too: "home now".
TREEBANK = [
    ("(TOP (S (NP (NP (DT the) (NN cat))) (VB sat) (. .)))", [2, 3, 0, 3], "det nsubj ROOT punct"),
    ("(TOP (S (NP (NP (PR she))) (VB ate) (NP (NP (NN fish)))))", [2, 0, 2], "nsubj ROOT obj"),
    ("(TOP (S (VB go) (RB home) (RB now) (. .)))", [0, 1, 2, 1], "ROOT advmod advmod punct"),
    ("(TOP (NP (NP (UH hello))))", [0], "ROOT"),
]
LABELS = ("NP::NP", "S")

# With whitespace, sentences of 1, 2, 4, 3, 4 words
WORDS = ["hello", "\n", "she", "sat", "the", "cat", " ", "sat", ".", "go", "fish", "."]
WORDS += ["the", "fish", "ate", "zebra", "\n"]
STARTS = {0, 2, 4, 9, 12}


def examples(nlp: Language) -> list[Example]:
    found = []
    for bracketing, heads, relations in TREEBANK:
        tree = ConstituentTree.from_string(bracketing)
        words, tags = zip(*tree.tagged, strict=True)
        settings = {"heads": offsets(heads), "deps": relations.split()}
        doc = Doc(nlp.vocab, words=list(words), tags=list(tags), **settings)
        set_constituents(doc, tree.spans(include_root=False))
        found.append(Example(bare_doc(nlp, doc), doc))
    return found


def pipeline(kind: str, steps: int, **config: object) -> Language:
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("en")
    model = {
        "one stage": TINY,
        "joint": {**TINY, "dependencies": DEPENDENCIES},
        "two stages": TWO_STAGE,
    }
    nlp.add_pipe("lal_constituency", config={"model": model[kind], **config})
    return train_on(nlp, examples(nlp), steps)


@pytest.fixture(scope="module", params=KINDS)
def soft(request: pytest.FixtureRequest) -> Language:
    """Barely trained, so that nothing is certain."""
    return pipeline(request.param, steps=10)


def parser(nlp: Language) -> ConstituencyPipe:
    return nlp.get_pipe("lal_constituency")


def unparsed(nlp: Language) -> Doc:
    return Doc(nlp.vocab, words=WORDS, sent_starts=[k in STARTS for k in range(len(WORDS))])


def truths(nlp: Language, doc: Doc) -> Iterator[tuple[Sentence, Truth]]:
    """The sentences of a Doc, or their pieces, and what is true of them."""
    pipe = parser(nlp)
    sub_head = pipe.labels.index(SUB_HEAD) + 1 if SUB_HEAD in pipe.labels else None
    scores = pipe.model.predict([doc])
    found = {
        member: Truth(batch, row, sub_head)
        for batch in scores.batches
        for row, member in enumerate(batch.members)
    }
    return ((scores.sentences[number], found[number]) for number in sorted(found))


def collapsed(nlp: Language, spans: list[tuple[int, int, str]]) -> list[tuple[int, int, int]]:
    labels = parser(nlp).labels
    return [(i, j, labels.index(label) + 1) for i, j, label in collapse_unaries(spans)]


class Case(NamedTuple):
    """A pipeline and the truth about the sentences of the Doc of `unparsed`."""

    nlp: Language
    truths: list[Truth]


@pytest.fixture(scope="module", params=[(kind, steps) for kind in KINDS for steps in (10, 40)])
def case(request: pytest.FixtureRequest) -> Case:
    """Barely trained, or trained."""
    nlp = pipeline(*request.param)
    return Case(nlp, [truth for _, truth in truths(nlp, unparsed(nlp))])


def tree_constituents(nlp: Language, tree: ConstituentTree) -> Constituents:
    return frozenset(collapsed(nlp, tree.spans(include_root=False)))


@pytest.mark.parametrize("decoder", [MaximumAPosteriori(), MinimumBayesRisk()])
def test_probabilities_on_a_doc(
    case: Case, decoder: Decoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    nlp = case.nlp
    monkeypatch.setattr(parser(nlp), "decoder", decoder)
    doc = nlp(unparsed(nlp))
    assert len(doc._.trees) == len(STARTS)
    expected = []
    for tree, truth in zip(doc._.trees, case.truths, strict=True):
        found = tree_constituents(nlp, tree)
        assert tree.log_prob == pytest.approx(truth.log_prob[found], abs=1e-3)
        for start, end, label in sorted(found, key=lambda span: (span[0], -span[1])):
            parts = parser(nlp).labels[label - 1].count("::") + 1
            expected += [truth.marginals[start, end, label]] * parts
    group = doc.spans["constituents"]
    assert len(group)
    assert group.attrs["scores"] == pytest.approx(expected, abs=1e-3)


def test_labels_of_the_treebank(soft: Language) -> None:
    assert tuple(label for label in parser(soft).labels if label != SUB_HEAD) == LABELS
    assert (SUB_HEAD in parser(soft).labels) == parser(soft).joint


def test_a_sentence_parsed_in_pieces(soft: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(parser(soft).model.attrs, "reading", Reading(max_sentence_length=4))
    words = ["the", "cat", "\n", "sat", "now", "she", "ate", "fish", " ", "home", "."]
    starts = [k == 0 for k in range(len(words))]
    doc = soft(Doc(soft.vocab, words=[*words, "hello"], sent_starts=[*starts, True]))
    assert len(list(doc.sents)) == 2
    pieces = list(truths(soft, doc))
    assert [len(sentence.words) for sentence, _ in pieces] == [4, 4, 1, 1]
    entries = doc.spans["constituents"].attrs["log_probs"]
    for (start, end, value), (sentence, truth) in zip(entries, pieces, strict=True):
        assert (start, end) == (sentence.start, sentence.end)
        assert any(value == pytest.approx(p, abs=1e-4) for p in truth.log_prob.values())
    first, second = doc._.trees
    assert first.log_prob == pytest.approx(sum(value for *_, value in entries[:3]))
    assert second.log_prob == entries[3][2]
    best = parser(soft).kbest(doc, 2)
    assert [tree.leaves for tree, _ in best] == [
        [doc[i].text for i in sentence.words] for sentence, _ in pieces
    ]


def test_sentences_that_are_not_parsed(soft: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    reading = Reading(max_sentence_length=3, long_sentences="flat")
    monkeypatch.setitem(parser(soft).model.attrs, "reading", reading)
    doc = soft(unparsed(soft))
    assert [tree.log_prob is None for tree in doc._.trees] == [False, False, True, False, True]
    assert [bool(trees) for trees in parser(soft).kbest(doc, 2)] == [True, True, False, True, False]


def test_other_sentences_have_no_probability() -> None:
    nlp = pipeline("one stage", steps=1)
    doc = nlp(unparsed(nlp))
    before = [tree.log_prob for tree in doc._.trees]
    assert doc[4:9]._.tree.log_prob == before[2]
    assert doc[4:6]._.tree is None or doc[4:6]._.tree.log_prob is None
    doc[6].is_sent_start = True
    assert [tree.log_prob for tree in doc._.trees] == [*before[:2], None, None, *before[3:]]
    # whitespace on the other side of a boundary is no change
    doc[6].is_sent_start, doc[1].is_sent_start, doc[2].is_sent_start = False, True, False
    assert [tree.log_prob for tree in doc._.trees] == before


def test_merged_tokens_have_no_probability() -> None:
    nlp = pipeline("one stage", steps=1)
    doc = nlp(unparsed(nlp))
    set_constituents(doc, [], [], [(0, len(doc), -1.0)])
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[4:6])
    assert [tree.log_prob for tree in doc._.trees] == [None] * len(STARTS)


def to_bytes(doc: Doc) -> Doc:
    return Doc(doc.vocab).from_bytes(doc.to_bytes())


def through_docbin(doc: Doc) -> Doc:
    data = DocBin(docs=[doc]).to_bytes()
    return next(DocBin().from_bytes(data).get_docs(spacy.blank("en").vocab))


@pytest.mark.parametrize("carry", [Doc.copy, to_bytes, through_docbin])
def test_probabilities_survive(soft: Language, carry: Callable[[Doc], Doc]) -> None:
    doc = soft(unparsed(soft))
    again = carry(doc)
    assert [tree.log_prob for tree in again._.trees] == [tree.log_prob for tree in doc._.trees]
    assert None not in [tree.log_prob for tree in again._.trees]
    assert again.spans["constituents"].attrs == doc.spans["constituents"].attrs


def test_docs_put_together_have_trees_without_probabilities(soft: Language) -> None:
    doc = soft(unparsed(soft))
    both = Doc.from_docs([doc, doc])
    assert both._.trees == [*doc._.trees, *doc._.trees]
    assert [tree.log_prob for tree in both._.trees] == [None] * len(both._.trees)


def test_margins_are_no_probabilities() -> None:
    nlp = pipeline(
        "one stage",
        steps=10,
        objective={"@misc": "spacy-lal.margin_objective.v1"},
        decoder={"@misc": "spacy-lal.map_decoder.v1"},
    )
    doc = nlp(unparsed(nlp))
    group = doc.spans["constituents"]
    assert len(group)
    assert group.attrs == {"scores": [None] * len(group), "wrote": ["tags"]}
    assert [tree.log_prob for tree in doc._.trees] == [None] * len(STARTS)
    with pytest.raises(ValueError, match="kbest needs probabilities"):
        parser(nlp).kbest(doc, 2)


# The k best


@pytest.mark.parametrize("k", [1, 60])
def test_the_k_best_of_a_doc(case: Case, k: int) -> None:
    nlp = case.nlp
    doc = nlp(unparsed(nlp))
    before = doc.to_bytes()
    best = parser(nlp).kbest(doc, k)
    assert doc.to_bytes() == before
    for trees, of_doc, truth in zip(best, doc._.trees, case.truths, strict=True):
        found = [(tree_constituents(nlp, tree), tree.log_prob) for tree in trees]
        assert len(found) == min(k, len(truth.log_prob))
        check_best(found, truth, k, 1e-3)
        assert all(tree.tagged == of_doc.tagged for tree in trees)
        for tree in trees:
            if tree == of_doc:
                assert tree.log_prob == pytest.approx(of_doc.log_prob, abs=1e-3)
        if len(found) == len(truth.log_prob):
            assert of_doc in trees


def test_the_k_best_are_all_trees(soft: Language) -> None:
    """There are 3 trees of one word and 27 of two: each span is an S, an NP in an NP or nothing."""
    doc = Doc(soft.vocab, words=["hello", "she", "sat"], sent_starts=[True, True, False])
    one, two = parser(soft).kbest(doc, 1000)
    assert (len(one), len(two)) == (3, 27)
    assert {str(tree) for tree in one} == {
        f"(TOP {tree.format(f'({one[0].tagged[0][1]} hello)')})"
        for tree in ("{}", "(S {})", "(NP (NP {}))")
    }
    for trees in (one, two):
        assert sum(math.exp(tree.log_prob) for tree in trees) == pytest.approx(1, abs=1e-4)
    assert all(not token.tag_ for token in doc)


def test_the_best_is_what_was_learned() -> None:
    nlp = pipeline("two stages", steps=60)
    for bracketing, *_ in TREEBANK:
        words = ConstituentTree.from_string(bracketing).leaves
        ((best, second),) = parser(nlp).kbest(Doc(nlp.vocab, words=words), 2)
        assert str(best) == bracketing
        assert best.log_prob > math.log(0.9)
        assert second.log_prob < math.log(0.1)


def test_docs_without_boundaries_stay_without(soft: Language) -> None:
    doc = soft.make_doc("She ate fish. The cat sat.")
    assert [trees[0].leaves for trees in parser(soft).kbest(doc, 3)] == [
        ["She", "ate", "fish", "."],
        ["The", "cat", "sat", "."],
    ]
    assert not doc.has_annotation("SENT_START")
    assert not doc.spans


def test_nothing_to_rank(soft: Language) -> None:
    for text in ("", " ", "\n\n"):
        assert parser(soft).kbest(soft.make_doc(text), 3) == []


@pytest.mark.parametrize("text", ["", "hello"])
@pytest.mark.parametrize("k", [0, -1])
def test_too_few(soft: Language, text: str, k: int) -> None:
    with pytest.raises(ValueError, match=f"k must be at least 1, got {k}"):
        parser(soft).kbest(soft.make_doc(text), k)


def test_without_weights() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("lal_constituency", config={"model": TWO_STAGE})
    with pytest.raises(ValueError, match="E109"):
        parser(nlp).kbest(nlp.make_doc("hello"), 1)
