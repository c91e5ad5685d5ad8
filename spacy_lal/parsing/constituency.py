"""`lal_constituency` and `spanformer`: constituents, or constituents and heads."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, cast

import numpy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger
from torch import Tensor

from ..annotations.constituents import UNKNOWN_TAG, set_constituents
from ..batching.sentences import Sentence, heads_in_words, in_words
from ..pipeline.component import register_factory
from ..pipeline.examples import Counts, Names, Reader
from ..pipeline.writers import WROTE, Parses, SentenceParse, tag_names
from ..scoring.attachment import score_attachment
from ..structure.binarise import JOIN, collapse_unaries
from ..structure.distributions import FoundTrees, KTrees, LabelledTrees, Trees
from ..structure.hpsg import SUB_HEAD
from ..trees.tree import ConstituentTree, LabelledSpan
from .component import DEFAULT_ENCODER, DEFAULT_INPUT, ParserPipe, StructureLoss
from .decoders import Decoder, MinimumBayesRisk, in_preorder, read_parses
from .gold_trees import (
    gold_constituents,
    gold_heads,
    gold_labels,
    read_trees,
    refuse_crossing,
    with_sub_heads,
)
from .kept_scores import keep_scores
from .network import OneStageScores, Scores, abilities
from .objectives import CRFObjective, Objective
from .teacher_marginals import Targets, Taught, soft_tree_loss, targets_of

ASSIGNS = [
    "doc.spans",
    "token.tag",
    "token.is_sent_start",
    "doc.sents",
    "doc._.trees",
    "span._.tree",
]
"""Attributes that constituency parsers set, for spaCy's `analyze_pipes`."""

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
"""Weights of scores for choosing the best model in training; None: not shown."""


@dataclass(eq=False, repr=False, kw_only=True)
class ConstituencyPipe(ParserPipe):
    """`lal_constituency`: constituents by label attention (Mrini et al. 2020).

    Writes `doc.spans["constituents"]`, and tags and sentence starts where there are none. A joint
    model (with `dependencies`) also writes `token.head` and `token.dep` from the same decoding; the
    dependency trees are then the sentences of the Doc.

    model: maps Docs to `ParserScores`. objective: the loss of trees. decoder: chooses the tree. The
        default, minimum Bayes risk, needs the CRF objective; for the margin objective, use
        `spacy-lal.map_decoder.v1`.
    constituency_weight, arc_weight, relation_weight, tag_weight: weights of the losses, each summed
        over the batch and divided by its words: 1, 1, 1 in the paper, 1, 0.5, 0.5 in its code.
    overwrite_heads: overwrite heads that another parser has set. spans_key: the span group that
        holds the trees.
    keep_scores: a joint model keeps the scores of a Doc until a `lisa_srl` behind it, with
        `overwrite_parser`, decodes them again with its own arcs: trees and heads then agree. It
        takes memory as long as the Docs live if there is none.
    sentences, max_sentence_length, long_sentences: see `Reading`; a "flat" sentence gets no
        constituents and no tags. Charts take cubic time and quadratic memory. A joint parser with
        the margin objective searches all trees: 512 words take 1 GB and some 15 seconds, 256 words
        an eighth and 1 second. With the CRF objective it searches only probable spans in sentences
        of over 100 words, at little cost (`structure/pruned.py`).
    """

    objective: Objective
    decoder: Decoder
    constituency_weight: float = 1.0
    spans_key: str = "constituents"
    keep_scores: bool = False

    def __post_init__(self, nlp: Language) -> None:
        can, decoder = abilities(self.model), self.decoder
        if not can.finds_trees:
            raise ValueError(
                f"the model of {self.name!r} scores no spans: use "
                '"spacy-lal.LabelAttentionParser.v1" or "spacy-lal.TwoStageParser.v1"'
            )
        if not self.objective.probabilistic and isinstance(decoder, MinimumBayesRisk):
            raise ValueError(
                "scores trained as margins are no log-probabilities: use "
                'decoder = {"@misc": "spacy-lal.map_decoder.v1"}'
            )
        if not self.objective.probabilistic and can.two_stages:
            raise ValueError(
                "a two-stage parser is trained as a CRF: leave the objective of margins out"
            )
        if self.keep_scores and (can.two_stages or not can.finds_heads):
            raise ValueError(
                "keep_scores needs a model with arcs: LabelAttentionParser with dependencies"
            )
        no_threshold = isinstance(decoder, MinimumBayesRisk) and decoder.threshold is None
        if no_threshold and not can.two_stages:
            raise ValueError(
                "threshold = null is for two-stage parsers: here spacy-lal.mbr_decoder.v1 needs "
                "a threshold, or every node of the binary tree would be a constituent"
            )
        super().__post_init__(nlp)

    @property
    def kinds(self) -> tuple[str, ...]:
        heads = abilities(self.model).finds_heads
        return ("labels", "tags", "relations") if heads else ("labels", "tags")

    @property
    def labels(self) -> tuple[str, ...]:
        """Constituent labels; a unary chain is one label, its parts joined by "::". A joint model's
        "<H>", a non-head word grouped with its dependents (`structure/hpsg.py`), is never written
        to a Doc."""
        return tuple(self.cfg["labels"])

    @property
    def joint(self) -> bool:
        """Whether the component also finds heads."""
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
            counts.names["labels"][SUB_HEAD] += counts.joint["groups"]
            logger.info("%s: of sentences with trees and heads: %s", self.name, dict(counts.joint))
        counts.tell_lacking(self.name, "trees", "have no tree and train the rest only")
        if self.joint:
            message = "have no dependency heads and train the rest only"
            counts.tell_lacking(self.name, "heads", message)
        return labels

    def trees(self, scores: Scores, lengths: Tensor) -> Trees:
        """Return the distribution over the trees of each sentence in a padded batch."""
        return scores.trees(
            lengths,
            group=self._sub_head,
            probabilistic=self.objective.probabilistic,
            rooted=self.objective.labels_root,
        )

    def find(self, scores: Scores, lengths: Tensor) -> FoundTrees:
        return self.decoder(self.trees(scores, lengths))

    @torch.inference_mode()
    def predict(self, docs: Iterable[Doc]) -> Parses:
        """Return all sentences, and their parses by sentence index."""
        if not self.keep_scores:
            return super().predict(docs)
        self._check_initialised()
        docs = list(docs)
        scores = keep_scores(self, docs, self.model.predict(docs))
        return scores.sentences, read_parses(scores, self.find, self.root)

    def require_probabilities(self, what: str) -> None:
        """Raise ValueError if the scores are margins. what: the result that needs probabilities."""
        if not self.objective.probabilistic:
            raise ValueError(
                f"{what} needs probabilities, and {self.name!r} has none: it was trained as margins"
            )

    @torch.no_grad()
    def kbest(self, doc: Doc, k: int) -> list[list[ConstituentTree]]:
        """Return the k most probable trees of each sentence, the best first, with `log_prob`.

        Each sentence has a list, empty if it is unparsed; a sentence parsed in pieces has a list
        for each piece. The Doc is not changed. A shared encoder that is no `lal_tok2vec` must have
        read it. Exact in two stages; otherwise the best k of the 2k trees of highest score. Heads
        are ignored. Raises ValueError for margin scores and for k < 1.
        """
        self._check_initialised()
        self.require_probabilities("kbest")
        if k < 1:
            raise ValueError(f"k must be at least 1, got {k}")
        scores = self.model.predict([self.read_by_encoder(doc)])
        found: list[list[ConstituentTree]] = [[] for _ in scores.sentences]
        for batch in scores.batches:
            trees = self.trees(batch.scores, batch.lengths)
            tags = batch.scores.tags.argmax(-1).cpu().numpy()
            for row, member in enumerate(batch.members):
                words = scores.sentences[member].words
                found[member] = list(self._k_trees(doc, words, tags[row], trees.kmax(row, k)))
        return found

    def _k_trees(
        self, doc: Doc, words: numpy.ndarray, tags: numpy.ndarray, best: KTrees
    ) -> Iterator[ConstituentTree]:
        texts = [doc[i].text for i in words.tolist()]
        name = tag_names(self.tags)
        names = [
            doc[i].tag_ or (name(doc[i].text, tag) if self.tags else UNKNOWN_TAG)
            for i, tag in zip(words.tolist(), tags, strict=False)
        ]
        labels, chains = best.labels.cpu().numpy(), self._chains()
        log_probs = best.log_prob.clamp(max=0).tolist()
        for row, (starts, ends, at) in enumerate(in_preorder(labels, len(words))):
            parse = SentenceParse(tags, starts, ends, labels[row, at])
            spans = [span for span, _ in self._spans(parse, chains)]
            yield ConstituentTree.from_spans(texts, names, spans, log_prob=log_probs[row])

    def set_annotations(self, docs: Iterable[Doc], scores: Parses) -> None:
        """Write trees, heads, and missing tags and sentence starts."""
        docs = list(docs)
        wrote = [self._writes(*both) for both in zip(docs, self.overwritten(docs)[1], strict=True)]
        super().set_annotations(docs, scores)
        self.write_trees(docs, scores)
        for doc, layers in zip(docs, wrote, strict=True):
            if layers:
                doc.spans[self.spans_key].attrs[WROTE] = layers

    def write_trees(self, docs: Sequence[Doc], scores: Parses) -> None:
        """Write trees alone."""
        sentences, parses = scores
        chains = self._chains()
        of_docs: list[list[int]] = [[] for _ in docs]
        for number, sentence in enumerate(sentences):
            of_docs[sentence.doc].append(number)
        for doc, numbers in zip(docs, of_docs, strict=True):
            spans: list[LabelledSpan] = []
            probabilities: list[float | None] = []
            log_probs: list[tuple[int, int, float]] = []
            unparsed: list[tuple[int, int]] = []
            for number in numbers:
                _, start, end, words, *_ = sentences[number]
                parse = parses.get(number)
                if parse is None:
                    unparsed.append((start, end))
                    continue
                tokens = words.tolist()
                for (i, j, category), score in self._spans(parse, chains):
                    spans.append((tokens[i], tokens[j - 1] + 1, category))
                    probabilities.append(score)
                if parse.log_prob is not None:
                    log_probs.append((start, end, parse.log_prob))
            found = spans, probabilities, log_probs
            set_constituents(doc, *found, unparsed=unparsed, key=self.spans_key)

    def _writes(self, doc: Doc, overwritten: bool) -> list[str]:
        tags = bool(self.tags) and not doc.has_annotation("TAG")
        heads = bool(self.relations) and (overwritten or not doc.has_annotation("DEP"))
        return [layer for layer, written in (("tags", tags), ("heads", heads)) if written]

    def _chains(self) -> list[list[str]]:
        """Return the categories of each label."""
        # imported parsers have empty labels ""
        return [label.split(JOIN) if label else [] for label in self.labels]

    def _spans(
        self, parse: SentenceParse, chains: list[list[str]]
    ) -> list[tuple[LabelledSpan, float | None]]:
        """Return constituents with probabilities; parts of a unary chain share the chain's."""
        probabilities = parse.probabilities
        columns = (parse.starts.tolist(), parse.ends.tolist(), parse.labels.tolist())
        scores = [None] * len(parse.labels) if probabilities is None else probabilities.tolist()
        return [
            ((i, j, category), score)
            for i, j, label, score in zip(*columns, scores, strict=True)
            for category in chains[label - 1]
        ]

    def _taught(self, examples: list[Example], sentences: list[Sentence]) -> list[Targets | None]:
        if abilities(self.model).two_stages or not self.joint or not self.objective.probabilistic:
            return super()._taught(examples, sentences)
        return targets_of(examples, sentences)

    def _structure_loss(self, examples: list[Example]) -> StructureLoss:
        index = {label: k for k, label in enumerate(self.labels, 1)}
        trees = [gold_constituents(example, self.spans_key) for example in examples]
        for example, tree in zip(examples, trees, strict=True):
            refuse_crossing(tree or [], example.reference)
        heads = [gold_heads(example).heads for example in examples] if self.joint else []

        def loss(
            members: list[Sentence], scores: Scores, lengths: Tensor, taught: Taught | None
        ) -> Tensor:
            of_teacher = scores.tags.new_zeros(())
            if taught is not None:
                assert isinstance(scores, OneStageScores)
                assert scores.labels is not None
                rows, others = taught.rows, taught.others
                those = LabelledTrees(scores.labels[rows], lengths[rows.cpu()])
                of_teacher = self.constituency_weight * soft_tree_loss(those, taught)
                if not len(others):
                    return of_teacher
                members = [members[k] for k in others.tolist()]
                lengths = lengths[others.cpu()]
                scores = OneStageScores(scores.tags[others], scores.labels[others])
            golden = [in_words(trees[s.doc] or (), s) for s in members]
            names = [[label for *_, label in collapse_unaries(tree)] for tree in golden]
            self._warn_unknown("labels", Counter(chain.from_iterable(names)))
            # a label absent at initialisation is no evidence for "no constituent"
            has_tree = [
                trees[s.doc] is not None and all(label in index for label in labels)
                for s, labels in zip(members, names, strict=True)
            ]
            distribution = self.trees(scores, lengths)
            if self.joint:
                of_words = [heads_in_words(heads[s.doc], s).tolist() for s in members]
                golden = [with_sub_heads(*both) for both in zip(golden, of_words, strict=True)]
                headless = torch.tensor([-1 in of_sentence for of_sentence in of_words])
                distribution = cast(LabelledTrees, distribution).with_gold_groups(headless)
            device = scores.tags.device
            gold = gold_labels(golden, scores.tags.shape[1], index).to(device)
            tree_losses = self.objective(distribution, gold)
            tree_losses = tree_losses * torch.tensor(has_tree, device=device)
            return self.constituency_weight * tree_losses.sum() + of_teacher

        return loss

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Return the scorer's scores; a joint model adds those of heads."""
        examples = list(examples)
        scores = super().score(examples, **kwargs)
        if self.joint:
            scores.update(score_attachment(examples))
        return scores


@dataclass(eq=False, repr=False, kw_only=True)
class SpanFormer(ConstituencyPipe):
    """`spanformer`: constituents by a CRF over spans that attend to each other (Floquet et al.).

    model: `spacy-lal.TwoStageParser.v1` with `spacy-lal.TransformerSpans.v1`. Other settings are as
        in `lal_constituency`. Memory grows with the number of spans: 300 MB for 512 words.
    Raises ValueError for a model whose spans don't attend to each other.
    """

    objective: Objective = field(default=CRFObjective(), init=False)
    constituency_weight: float = field(default=1.0, init=False)
    arc_weight: float = field(default=1.0, init=False)
    relation_weight: float = field(default=1.0, init=False)
    overwrite_heads: bool = field(default=False, init=False)
    keep_scores: bool = field(default=False, init=False)

    def __post_init__(self, nlp: Language) -> None:
        if not abilities(self.model).spans_attend:
            raise ValueError(
                f"{self.name!r} needs a model whose `spans` are spacy-lal.TransformerSpans.v1; "
                "without them it is `lal_constituency`"
            )
        super().__post_init__(nlp)


_BLOCKS: dict[str, Any] = {
    "decoder": {"@misc": "spacy-lal.mbr_decoder.v1"},
    "scorer": {"@scorers": "spacy-lal.constituency_scorer.v1"},
}
make_lal_constituency = register_factory(
    "lal_constituency",
    ConstituencyPipe,
    assigns=[*ASSIGNS, "token.head", "token.dep"],
    score_weights=SCORE_WEIGHTS,
    model={"@architectures": "spacy-lal.LabelAttentionParser.v1"} | DEFAULT_ENCODER,
    objective={"@misc": "spacy-lal.crf_objective.v1"},
    **_BLOCKS,
)
make_spanformer = register_factory(
    "spanformer",
    SpanFormer,
    assigns=ASSIGNS,
    score_weights=SCORE_WEIGHTS,
    model={
        "@architectures": "spacy-lal.TwoStageParser.v1",
        **DEFAULT_INPUT,
        "encoder": {"@misc": "spacy-lal.LabelAttentionEncoder.v1", "heads": 0},
        "spans": {"@misc": "spacy-lal.TransformerSpans.v1"},
    },
    **_BLOCKS,
)
