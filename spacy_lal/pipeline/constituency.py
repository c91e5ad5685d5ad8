"""What parsers of constituents have in common, whatever their layers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_get_examples
from spacy.util import logger
from spacy.vocab import Vocab
from thinc.api import Model
from torch import Tensor

from ..annotations import UNKNOWN_TAG, get_constituents, set_constituents
from ..models.batching.batches import ParserScores
from ..models.batching.parses import SentenceParse
from ..models.batching.sentences import Sentence, split_sentences
from ..models.parser.decoders import Decoder, MinimumBayesRisk
from ..models.parser.decoding import decode_trees
from ..models.parser.gold_charts import GoldNodes, gold_labels, gold_nodes
from ..models.parser.k_best_parses import k_best_parses
from ..models.parser.losses import Objective, two_stage_loss
from ..models.parser.network import Scores, TwoStageScores
from ..scorers.attachment import score_attachment
from ..structure.binarise import JOIN, collapse_unaries, crossing
from ..structure.hpsg import SUB_HEAD, HpsgReport, lexicalise
from ..trees import ConstituentTree, LabelledSpan
from .gold import gold_constituents, gold_heads, heads_in_words, in_words
from .parser import ParserPipe, Parses

ASSIGNS = [
    "doc.spans",
    "token.tag",
    "token.is_sent_start",
    "doc.sents",
    "doc._.trees",
    "span._.tree",
]

SCORE_WEIGHTS = {
    "const_evalb_f": 1.0,
    "const_evalb_p": 0.0,
    "const_evalb_r": 0.0,
    "const_complete": 0.0,
    "tag_acc": 0.0,
    "spans_constituents_f": 0.0,
    "spans_constituents_p": None,
    "spans_constituents_r": None,
    "spans_constituents_per_type": None,
}


class ConstituencyPipe(ParserPipe):
    """Writes `doc.spans["constituents"]`, and tags and sentence starts where there are none.

    The joint model writes `token.head` and `token.dep`, too, from the same decode; then the
    sentences of the Doc are those of the dependency trees.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model[list[Doc], ParserScores],
        name: str,
        *,
        objective: Objective,
        decoder: Decoder,
        joint_dependencies: bool = False,
        constituency_weight: float = 1.0,
        spans_key: str,
        **settings: Any,
    ) -> None:
        two_stages = model.attrs["settings"].spans is not None
        if not objective.probabilistic and isinstance(decoder, MinimumBayesRisk):
            raise ValueError(
                "scores trained with spacy-lal.margin_objective are no log-probabilities: use "
                'decoder = {"@misc": "spacy-lal.map_decoder.v1"}'
            )
        if not objective.probabilistic and two_stages:
            raise ValueError(
                "a two-stage parser is trained as a CRF: leave spacy-lal.margin_objective out"
            )
        if isinstance(decoder, MinimumBayesRisk) and decoder.threshold is None and not two_stages:
            raise ValueError(
                "threshold = null is for two-stage parsers: here spacy-lal.mbr_decoder.v1 needs "
                "a threshold, or every node of the binary tree would be a constituent"
            )
        has_dependencies = model.attrs["settings"].dependencies is not None
        if joint_dependencies and two_stages:
            raise ValueError(
                "a two-stage parser finds no heads: joint_dependencies = true needs the model "
                "spacy-lal.LabelAttentionParser.v1"
            )
        if joint_dependencies != has_dependencies:
            raise ValueError(
                f"joint_dependencies = {str(joint_dependencies).lower()}, but the model has "
                + ("" if has_dependencies else "no ")
                + '`dependencies`: they go together (model.dependencies = {"@misc": '
                '"spacy-lal.BiaffineDependencies.v1"})'
            )
        self.objective = objective
        self.decoder = decoder
        self.constituency_weight = constituency_weight
        self.spans_key = spans_key
        self.kinds = ("labels", "tags", "relations") if joint_dependencies else ("labels", "tags")
        super().__init__(vocab, model, name, **settings)

    def _configure_model(self) -> None:
        super()._configure_model()
        # the scorer is given cfg
        self.cfg["spans_key"] = self.spans_key

    @property
    def labels(self) -> tuple[str, ...]:
        """Constituent labels; a unary chain is one label, its parts joined by "::".

        A joint model has "<H>" among them: words that depend on a word which is not the head of
        their constituent, grouped with it (`structure/hpsg.py`). It is never written to a Doc.
        """
        return tuple(self.cfg["labels"])

    def add_label(self, label: str) -> int:
        """Add a constituent label before initialisation. Returns 1 if it is new, else 0."""
        return self._add("labels", label)

    @property
    def joint(self) -> bool:
        """Whether the component finds heads, too."""
        return "relations" in self.kinds

    @property
    def _sub_head(self) -> int | None:
        return self.labels.index(SUB_HEAD) + 1 if SUB_HEAD in self.labels else None

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: dict[str, list[str]] | None = None,
        warm_start: str | None = None,
    ) -> None:
        """Read labels, tags, relations and vocabulary off the training data; set up the model.

        labels: what `label_data` gave (`spacy init labels`), instead of reading them.
        warm_start: a trained pipeline (a folder or an installed package) whose parser's weights
        to begin with, as far as they fit; its vocabulary is taken over.
        Raises ValueError if no example has a tree, or one has constituents that cross, and for a
        joint model if none has heads.
        """
        validate_get_examples(get_examples, f"{self.name}.initialize")
        found: dict[str, Counter[str]] = {kind: Counter() for kind in self.kinds}
        sample: list[Doc] = []
        report = HpsgReport()
        with_trees = with_heads = docs = 0
        for example in get_examples():
            docs += 1
            if len(sample) < 10:
                sample.append(example.predicted)
            reference = example.reference
            found["tags"].update(t.tag_ for t in reference if t.tag_ and not t.is_space)
            if self.joint and reference.has_annotation("DEP"):
                with_heads += 1
                found["relations"].update(t.dep_ for t in reference if t.dep_ and not t.is_space)
            if self.spans_key in reference.spans:
                with_trees += 1
                spans = get_constituents(reference, self.spans_key)
                if pair := crossing(spans):
                    raise ValueError(
                        f"constituents {pair[0]} and {pair[1]} cross in the training Doc "
                        f"{reference.text[:60]!r}: they are no tree"
                    )
                words = numpy.flatnonzero([not token.is_space for token in reference])
                if any(not label for *_, label in spans):
                    raise ValueError(
                        f"a constituent has no label in the training Doc {reference.text[:60]!r}"
                    )
                # as in training: spans that differ in whitespace only are a unary chain
                in_doc = in_words(spans, Sentence(0, 0, len(reference), words))
                found["labels"].update(label for _, _, label in collapse_unaries(in_doc))
                if self.joint and reference.has_annotation("DEP"):
                    gold = gold_heads(Example(reference, reference))
                    for sentence in split_sentences([reference], "split", len(reference), "split"):
                        in_sentence = heads_in_words(gold, sentence)
                        if -1 not in in_sentence:
                            heads = _own_head_at_root(in_sentence)
                            tree = lexicalise(in_words(spans, sentence), heads, len(heads))
                            report.add(tree, heads)
        if labels is None and not found["labels"]:
            raise ValueError(
                f"none of the {docs} training Docs has a tree in doc.spans[{self.spans_key!r}]. "
                "Note that spacy.Corpus.v1 with max_length or gold_preproc drops span groups: "
                "use spacy-lal.Corpus.v1"
            )
        if labels is not None and not labels.get("labels"):
            raise ValueError(f"the labels given to {self.name!r} have no constituent label")
        if self.joint and labels is None and not found["relations"]:
            raise ValueError(f"none of the {docs} training Docs has dependency heads")
        if self.joint and labels is not None and not labels.get("relations"):
            raise ValueError(f"the labels given to {self.name!r} have no relation")
        if self.joint:
            found["labels"][SUB_HEAD] += report.groups
            logger.info("%s: %s", self.name, report)
        for what, having in (("tree", with_trees), ("dependency heads", with_heads)):
            if having < docs and (self.joint or what == "tree"):
                logger.info(
                    "%s: %d of %d training Docs have no %s and train the rest only",
                    self.name,
                    docs - having,
                    docs,
                    what,
                )
        self._initialize_model(get_examples, found, sample, labels, warm_start)

    def predict(self, docs: Iterable[Doc]) -> Parses:
        """Sentences of all docs, and the parses of those that were parsed, by their index."""
        docs = list(docs)
        self._check_initialised()
        scores = self.model.predict(docs)
        return scores.sentences, decode_trees(
            scores,
            self.decoder,
            probabilistic=self.objective.probabilistic,
            labels_root=self.objective.labels_root,
            sub_head=self._sub_head,
            root=self._root,
        )

    def kbest(self, doc: Doc, k: int) -> list[list[ConstituentTree]]:
        """The k most probable trees of each sentence of `doc`, the best first, with `log_prob`.

        One list a sentence: fewer than k trees where there are fewer, an empty list for a sentence
        that isn't parsed; one that is parsed in pieces has a list for each piece. The Doc is not
        changed. A parser that listens to another component needs a Doc which that one has seen.
        See `models/parser/k_best_parses.py` for what is searched. Raises ValueError for margins,
        which are no probabilities, and k < 1.
        """
        self._check_initialised()
        if not self.objective.probabilistic:
            raise ValueError("kbest needs probabilities, not spacy-lal.margin_objective")
        scores = self.model.predict([doc])
        best = k_best_parses(scores, k, sub_head=self._sub_head)
        return [
            [
                ConstituentTree.from_spans(
                    [doc[i].text for i in sentence.words],
                    [
                        doc[i].tag_ or (self.tags[tag] if self.tags else UNKNOWN_TAG)
                        for i, tag in zip(sentence.words, parse.tags, strict=True)
                    ],
                    self._spans(parse),
                    log_prob=parse.log_prob,
                )
                for parse in best.get(number, ())
            ]
            for number, sentence in enumerate(scores.sentences)
        ]

    def set_annotations(self, docs: Iterable[Doc], scores: Parses) -> None:
        """Write the trees and heads; tags and sentence starts to tokens that have none."""
        docs = list(docs)
        super().set_annotations(docs, scores)
        sentences, parses = scores
        spans: list[list[LabelledSpan]] = [[] for _ in docs]
        spans_scores: list[list[float | None]] = [[] for _ in docs]
        log_probs: list[list[tuple[int, int, float]]] = [[] for _ in docs]
        unparsed: list[list[tuple[int, int]]] = [[] for _ in docs]
        for number, sentence in enumerate(sentences):
            parse = parses.get(number)
            if parse is None:
                unparsed[sentence.doc].append((sentence.start, sentence.end))
                continue
            words = sentence.words.tolist()
            for i, j, category in self._spans(parse):
                spans[sentence.doc].append((words[i], words[j - 1] + 1, category))
            spans_scores[sentence.doc] += self._scores(parse)
            if parse.log_prob is not None:
                entry = (sentence.start, sentence.end, parse.log_prob)
                log_probs[sentence.doc].append(entry)
        for k, doc in enumerate(docs):
            set_constituents(
                doc,
                spans[k],
                spans_scores[k],
                log_probs[k],
                unparsed=unparsed[k],
                key=self.spans_key,
            )

    def _spans(self, parse: SentenceParse) -> list[LabelledSpan]:
        """The constituents of a parse by its words, those of unary chains one by one."""
        chains = [label.split(JOIN) for label in self.labels]
        columns = (parse.starts.tolist(), parse.ends.tolist(), parse.labels.tolist())
        return [
            (i, j, category)
            for i, j, label in zip(*columns, strict=True)
            for category in chains[label - 1]
        ]

    def _scores(self, parse: SentenceParse) -> list[float | None]:
        """The probability of each of `_spans`; of all in a chain, that of the chain."""
        if parse.probabilities is None:
            return [None] * len(self._spans(parse))
        lengths = [label.count(JOIN) + 1 for label in self.labels]
        return [
            probability
            for label, probability in zip(
                parse.labels.tolist(), parse.probabilities.tolist(), strict=True
            )
            for _ in range(lengths[label - 1])
        ]

    def _structure_loss(
        self, examples: list[Example]
    ) -> Callable[[list[Sentence], Scores, Tensor], Tensor]:
        index = {label: k for k, label in enumerate(self.labels, 1)}
        trees = [gold_constituents(example, self.spans_key) for example in examples]
        for example, tree in zip(examples, trees, strict=True):
            if pair := crossing(tree or ()):
                raise ValueError(
                    f"constituents {pair[0]} and {pair[1]} cross in the training Doc "
                    f"{example.reference.text[:60]!r}: they are no tree"
                )
        heads = [gold_heads(example) for example in examples] if self.joint else []

        def loss(members: list[Sentence], scores: Scores, lengths: Tensor) -> Tensor:
            of_batch = [in_words(trees[s.doc] or (), s) for s in members]
            # a label that was not there at initialisation is no evidence for "no constituent"
            known = [all(label in index for *_, label in collapse_unaries(t)) for t in of_batch]
            names = (label for t in of_batch for *_, label in collapse_unaries(t))
            self._warn_unknown("labels", Counter(names))
            has_tree = [trees[s.doc] is not None and k for s, k in zip(members, known, strict=True)]
            if isinstance(scores, TwoStageScores):
                device = scores.tags.device
                nodes = gold_nodes(
                    [tree if has else None for tree, has in zip(of_batch, has_tree, strict=True)],
                    lengths.tolist(),
                    index,
                )
                nodes = GoldNodes(*(t.to(device) for t in nodes))
                of_charts = two_stage_loss(scores, nodes, lengths)
            else:
                assert scores.labels is not None
                if self.joint:
                    of_batch = [
                        with_sub_heads(tree, heads_in_words(heads[s.doc], s))
                        for tree, s in zip(of_batch, members, strict=True)
                    ]
                gold = gold_labels(of_batch, scores.tags.shape[1], index).to(scores.labels.device)
                of_charts = self.objective(scores.labels, gold, lengths)
            of_charts = of_charts * torch.tensor(has_tree, device=of_charts.device)
            return self.constituency_weight * of_charts.sum()

        return loss

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """The scorer's scores; those of heads, too, from a joint model."""
        examples = list(examples)
        scores = super().score(examples, **kwargs)
        if self.joint:
            scores.update(score_attachment(examples))
        return scores


def with_sub_heads(tree: list[LabelledSpan], heads: list[int]) -> list[LabelledSpan]:
    """The constituents with their "<H>" groups; without groups if a word has no gold head.

    heads: 0 the root, k word k, -1 no gold.
    """
    if -1 in heads:
        return tree
    return lexicalise(tree, _own_head_at_root(heads), len(heads)).spans


def _own_head_at_root(heads: list[int]) -> list[int]:
    """Words counted from 0, a root its own head, from words counted from 1 and 0 for the root."""
    return [word if head == 0 else head - 1 for word, head in enumerate(heads)]
