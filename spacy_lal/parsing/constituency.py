"""What parsers of constituents have in common, whatever their layers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import torch
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger
from spacy.vocab import Vocab
from thinc.api import Model
from torch import Tensor

from ..annotations.constituents import UNKNOWN_TAG, set_constituents
from ..batching.batches import ParserScores
from ..batching.parses import SentenceParse
from ..batching.sentences import Sentence
from ..pipeline.counts import Counts, Names, Reader, read_trees, refuse_crossing
from ..pipeline.gold import gold_constituents, gold_heads, in_words
from ..pipeline.writers import WROTE, Parses, fingerprint
from ..scoring.attachment import score_attachment
from ..structure.binarise import JOIN, collapse_unaries
from ..structure.hpsg import SUB_HEAD, lexicalise
from ..trees.tree import ConstituentTree, LabelledSpan
from .decoders import Decoder, MinimumBayesRisk
from .decoding import decode_trees
from .dependencies import heads_in_words
from .gold_charts import GoldNodes, gold_labels, gold_nodes
from .k_best_parses import k_best_parses
from .losses import Objective, label_unknown, two_stage_loss
from .network import Scores, TwoStageScores
from .parser import ParserPipe

ASSIGNS = [
    "doc.spans",
    "token.tag",
    "token.is_sent_start",
    "doc.sents",
    "doc._.trees",
    "span._.tree",
]
"""What parsers of constituents set, as spaCy's `analyze_pipes` tells it."""

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
"""How much each score counts when training picks its best model; None: not shown."""


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

    def _readers(self) -> list[Reader]:
        return [read_trees(self.spans_key, with_heads=self.joint)]

    def _settle(self, counts: Counts, labels: Names | None) -> Names | None:
        trees = (
            f"a tree in doc.spans[{self.spans_key!r}]. Note that spacy.Corpus.v1 with max_length "
            "or gold_preproc drops span groups: use spacy-lal.Corpus.v1"
        )
        counts.require(self.name, labels, "labels", trees, "constituent label")
        if self.joint:
            counts.require(self.name, labels, "relations", "dependency heads", "relation")
            counts.names["labels"][SUB_HEAD] += counts.groups.groups
            logger.info("%s: %s", self.name, counts.groups)
        counts.tell_lacking(self.name, "trees", "have no tree and train the rest only")
        if self.joint:
            message = "have no dependency heads and train the rest only"
            counts.tell_lacking(self.name, "heads", message)
        return labels

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
        See `parsing/k_best_parses.py` for what is searched. Raises ValueError for margins,
        which are no probabilities, and k < 1.
        """
        self._check_initialised()
        if not self.objective.probabilistic:
            raise ValueError(
                "kbest needs probabilities, and a parser trained with "
                "spacy-lal.margin_objective has none"
            )
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
                    [span for span, _ in self._spans(parse)],
                    log_prob=parse.log_prob,
                )
                for parse in best.get(number, ())
            ]
            for number, sentence in enumerate(scores.sentences)
        ]

    def set_annotations(self, docs: Iterable[Doc], scores: Parses) -> None:
        """Write the trees and heads; tags and sentence starts to tokens that have none."""
        docs = list(docs)
        _, overwritten = self.overwritten(docs)
        wrote = [self._writes(doc, heads) for doc, heads in zip(docs, overwritten, strict=True)]
        super().set_annotations(docs, scores)
        sentences, parses = scores
        spans: list[list[LabelledSpan]] = [[] for _ in docs]
        spans_scores: list[list[float | None]] = [[] for _ in docs]
        log_probs: list[list[tuple[int, int, float]]] = [[] for _ in docs]
        unparsed: list[list[tuple[int, int]]] = [[] for _ in docs]
        for number, (d, start, end, words, *_) in enumerate(sentences):
            parse = parses.get(number)
            if parse is None:
                unparsed[d].append((start, end))
                continue
            for (i, j, category), score in self._spans(parse):
                spans[d].append((int(words[i]), int(words[j - 1]) + 1, category))
                spans_scores[d].append(score)
            if parse.log_prob is not None:
                log_probs[d].append((start, end, parse.log_prob))
        for d, doc in enumerate(docs):
            found = spans[d], spans_scores[d], log_probs[d]
            set_constituents(doc, *found, unparsed=unparsed[d], key=self.spans_key)
            if wrote[d]:
                # what another component may overwrite, where it must leave alone what was there
                marks = {layer: fingerprint(doc, layer) for layer in wrote[d]}
                doc.spans[self.spans_key].attrs[WROTE] = marks

    def _writes(self, doc: Doc, overwritten: bool) -> list[str]:
        tags = bool(self.tags) and not doc.has_annotation("TAG")
        heads = bool(self.relations) and (overwritten or not doc.has_annotation("DEP"))
        return [layer for layer, written in (("tags", tags), ("heads", heads)) if written]

    def _spans(self, parse: SentenceParse) -> list[tuple[LabelledSpan, float | None]]:
        """The constituents of a parse by its words, those of unary chains one by one, each with its
        probability; that of a chain is that of each in it."""
        # an imported parser has labels of nothing, ""
        chains = [label.split(JOIN) if label else [] for label in self.labels]
        probabilities = parse.probabilities
        columns = (parse.starts.tolist(), parse.ends.tolist(), parse.labels.tolist())
        scores = [None] * len(parse.labels) if probabilities is None else probabilities.tolist()
        return [
            ((i, j, category), score)
            for i, j, label, score in zip(*columns, scores, strict=True)
            for category in chains[label - 1]
        ]

    def _structure_loss(
        self, examples: list[Example]
    ) -> Callable[[list[Sentence], Scores, Tensor], Tensor]:
        index = {label: k for k, label in enumerate(self.labels, 1)}
        trees = [gold_constituents(example, self.spans_key) for example in examples]
        for example, tree in zip(examples, trees, strict=True):
            refuse_crossing(tree or [], example.reference)
        heads = [gold_heads(example).heads for example in examples] if self.joint else []

        def loss(members: list[Sentence], scores: Scores, lengths: Tensor) -> Tensor:
            batch_trees = [in_words(trees[s.doc] or (), s) for s in members]
            names = [[label for *_, label in collapse_unaries(tree)] for tree in batch_trees]
            self._warn_unknown("labels", Counter(chain.from_iterable(names)))
            # a label that was not there at initialisation is no evidence for "no constituent"
            has_tree = [
                trees[s.doc] is not None and all(label in index for label in labels)
                for s, labels in zip(members, names, strict=True)
            ]
            if isinstance(scores, TwoStageScores):
                gold_trees = [
                    t if has else None for t, has in zip(batch_trees, has_tree, strict=True)
                ]
                nodes = gold_nodes(gold_trees, lengths.tolist(), index)
                nodes = GoldNodes(*(t.to(scores.tags.device) for t in nodes))
                tree_losses = two_stage_loss(scores, nodes, lengths)
            else:
                assert scores.labels is not None
                label_scores = scores.labels
                if self.joint:
                    batch_heads = [heads_in_words(heads[s.doc], s).tolist() for s in members]
                    batch_trees = [
                        with_sub_heads(tree, of_words)
                        for tree, of_words in zip(batch_trees, batch_heads, strict=True)
                    ]
                    headless = [-1 in of_words for of_words in batch_heads]
                    if self._sub_head is not None and any(headless):
                        label_scores = label_unknown(
                            label_scores,
                            torch.tensor(headless, device=label_scores.device),
                            self._sub_head,
                            probabilistic=self.objective.probabilistic,
                        )
                gold = gold_labels(batch_trees, scores.tags.shape[1], index)
                tree_losses = self.objective(label_scores, gold.to(label_scores.device), lengths)
            tree_losses = tree_losses * torch.tensor(has_tree, device=tree_losses.device)
            return self.constituency_weight * tree_losses.sum()

        return loss

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """The scorer's scores; those of heads, too, from a joint model."""
        examples = list(examples)
        scores = super().score(examples, **kwargs)
        if self.joint:
            scores.update(score_attachment(examples))
        return scores


def with_sub_heads(tree: list[LabelledSpan], heads: list[int]) -> list[LabelledSpan]:
    """The constituents with their "<H>" groups; without groups if a word has no gold head, for
    then nobody knows them.

    heads: 0 the root, k word k, -1 no gold.
    """
    if -1 in heads:
        return tree
    return lexicalise(tree, heads, len(heads)).spans
