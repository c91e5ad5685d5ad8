"""`lal_constituency`: constituents, or these and heads, by label attention (Mrini et al. 2020)."""

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
from thinc.api import Config, Model
from torch import Tensor

from ..annotations import get_constituents, set_constituents
from ..models.charts import decode, gold_labels
from ..models.decoders import Decoder, MinimumBayesRisk
from ..models.label_attention_parser import ParserScores
from ..models.objectives import Objective, margin_loss
from ..models.parser_network import Scores
from ..models.sentences import LongSentencePolicy, Sentence, SentencePolicy, split_sentences
from ..scorers.attachment import score_attachment
from ..structure.binarise import JOIN, collapse_unaries, crossing
from ..structure.hpsg import SUB_HEAD, HpsgReport, lexicalise
from ..trees import LabelledSpan
from .gold import gold_constituents, gold_heads, heads_in_words, in_words
from .label_attention import DEFAULT_ENCODER, LabelAttentionPipe, Parses

DEFAULT_MODEL = Config().from_str(
    """
    [model]
    @architectures = "spacy-lal.LabelAttentionParser.v1"
    hidden_width = 250
    """
    + DEFAULT_ENCODER
)["model"]


@Language.factory(
    "lal_constituency",
    assigns=[
        "doc.spans",
        "token.tag",
        "token.head",
        "token.dep",
        "token.is_sent_start",
        "doc.sents",
        "doc._.trees",
        "span._.tree",
    ],
    default_config={
        "model": DEFAULT_MODEL,
        "objective": {"@misc": "spacy-lal.crf_objective.v1"},
        "decoder": {"@misc": "spacy-lal.mbr_decoder.v1"},
        "joint_dependencies": False,
        "constituency_weight": 1.0,
        "arc_weight": 1.0,
        "relation_weight": 1.0,
        "tag_weight": 1.0,
        "overwrite_heads": False,
        "spans_key": "constituents",
        "sentences": "split",
        "max_sentence_length": 512,
        "long_sentences": "split",
        "scorer": {"@scorers": "spacy-lal.constituency_scorer.v1"},
    },
    default_score_weights={
        "const_evalb_f": 1.0,
        "const_evalb_p": 0.0,
        "const_evalb_r": 0.0,
        "const_complete": 0.0,
        "tag_acc": 0.0,
        "spans_constituents_f": 0.0,
        "spans_constituents_p": None,
        "spans_constituents_r": None,
        "spans_constituents_per_type": None,
    },
)
def make_lal_constituency(
    nlp: Language,
    name: str,
    model: Model[list[Doc], ParserScores],
    objective: Objective,
    decoder: Decoder,
    joint_dependencies: bool,
    constituency_weight: float,
    arc_weight: float,
    relation_weight: float,
    tag_weight: float,
    overwrite_heads: bool,
    spans_key: str,
    sentences: SentencePolicy,
    max_sentence_length: int,
    long_sentences: LongSentencePolicy,
    scorer: Callable | None,
) -> LabelAttentionConstituency:
    """Construct the component.

    model: maps Docs to `ParserScores`. objective: the loss of the charts of label scores.
    decoder: chooses the tree; minimum Bayes risk by default, which needs the CRF objective: with
        the margin objective, take `spacy-lal.map_decoder.v1`.
    joint_dependencies: train and decode heads and relations along with constituents, in a model
        that has `dependencies`.
    constituency_weight, arc_weight, relation_weight, tag_weight: of the losses, each summed over
        the batch and divided by its words. The paper weighs 1, 1, 1, its released code 1, 0.5,
        0.5. overwrite_heads: also of Docs that have heads, from another parser; otherwise such a
        Doc gets the trees alone. spans_key: the span group that holds the trees.
    sentences: "split" keeps the Doc's sentences and finds them by rule where it has none,
        "existing" insists on them, "doc" reads every Doc as one sentence.
    max_sentence_length: in words; joint decoding of 512 takes a gigabyte and some 15 seconds, of
        256 an eighth and one. Over it, `long_sentences` says whether to parse a sentence in
        pieces ("split"), to leave it without constituents and tags ("flat") or to raise ("error").
    """
    return LabelAttentionConstituency(
        nlp.vocab,
        model,
        name,
        objective=objective,
        decoder=decoder,
        joint_dependencies=joint_dependencies,
        constituency_weight=constituency_weight,
        arc_weight=arc_weight,
        relation_weight=relation_weight,
        tag_weight=tag_weight,
        overwrite_heads=overwrite_heads,
        spans_key=spans_key,
        sentences=sentences,
        max_sentence_length=max_sentence_length,
        long_sentences=long_sentences,
        scorer=scorer,
    )


class LabelAttentionConstituency(LabelAttentionPipe):
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
        joint_dependencies: bool,
        constituency_weight: float,
        spans_key: str,
        **settings: Any,
    ) -> None:
        if objective is margin_loss and isinstance(decoder, MinimumBayesRisk):
            raise ValueError(
                "scores trained with spacy-lal.margin_objective.v1 are no log-probabilities: use "
                'decoder = {"@misc": "spacy-lal.map_decoder.v1"}'
            )
        has_dependencies = model.attrs.get("dependencies") is not None
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
        return scores.sentences, decode(
            scores, self.decoder, sub_head=self._sub_head, root=self._root
        )

    def set_annotations(self, docs: Iterable[Doc], scores: Parses) -> None:
        """Write the trees and heads; tags and sentence starts to tokens that have none."""
        docs = list(docs)
        super().set_annotations(docs, scores)
        sentences, parses = scores
        chains = [label.split(JOIN) for label in self.labels]
        spans: list[list[LabelledSpan]] = [[] for _ in docs]
        spans_scores: list[list[float | None]] = [[] for _ in docs]
        for k, sentence in enumerate(sentences):
            parse = parses.get(k)
            if parse is None:
                continue
            words = sentence.words.tolist()
            columns = [parse.starts.tolist(), parse.ends.tolist(), parse.labels.tolist()]
            probabilities: list[float | None] = [None] * len(parse.labels)
            if parse.probabilities is not None:
                probabilities = parse.probabilities.tolist()
            for i, j, label, probability in zip(*columns, probabilities, strict=True):
                for category in chains[label - 1]:
                    spans[sentence.doc].append((words[i], words[j - 1] + 1, category))
                    spans_scores[sentence.doc].append(probability)
        for doc, of_doc, scores_of_doc in zip(docs, spans, spans_scores, strict=True):
            set_constituents(doc, of_doc, scores_of_doc, key=self.spans_key)

    def _structure_loss(
        self, examples: list[Example]
    ) -> Callable[[list[Sentence], Scores, Tensor], Tensor]:
        index = {label: k for k, label in enumerate(self.labels, 1)}
        trees = [gold_constituents(example, self.spans_key) for example in examples]
        heads = [gold_heads(example) for example in examples] if self.joint else []

        def loss(members: list[Sentence], scores: Scores, lengths: Tensor) -> Tensor:
            assert scores.labels is not None
            of_batch = [in_words(trees[s.doc] or (), s) for s in members]
            # a label that was not there at initialisation is no evidence for "no constituent"
            known = [all(label in index for *_, label in collapse_unaries(t)) for t in of_batch]
            if self.joint:
                of_batch = [
                    with_sub_heads(tree, heads_in_words(heads[s.doc], s))
                    for tree, s in zip(of_batch, members, strict=True)
                ]
            gold = gold_labels(of_batch, scores.tags.shape[1], index).to(scores.labels.device)
            has_tree = torch.tensor(
                [trees[s.doc] is not None and k for s, k in zip(members, known, strict=True)],
                device=gold.device,
            )
            of_charts = self.objective(scores.labels, gold, lengths) * has_tree
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
