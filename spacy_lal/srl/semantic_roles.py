"""Semantic roles by LISA (Strubell et al. 2018), and the tags and heads found on the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Literal, get_args

import numpy
import torch
from numpy.typing import NDArray
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.model import set_dropout_rate

from ..annotations.constituents import CONSTITUENTS_KEY
from ..annotations.frames import PREDICATE, get_frames
from ..batching.batches import SentenceBatch, differentiate
from ..batching.sentences import Sentence, heads_in_words
from ..parsing.component import ParserPipe
from ..parsing.gold_trees import gold_heads, token_heads
from ..pipeline.examples import Counts, Names, Reader
from ..pipeline.writers import WROTE, Parses, fingerprint
from ..scoring.attachment import score_attachment
from ..structure.arborescence import nonprojective
from .decoding import EarlierHeads, RoleDecoder, RoleDecoding, decode_frames, make_role_decoder
from .frames_of_docs import gold_frames, read_frames, write_frames
from .heads import to_self_loops
from .lisa_gold import LisaGold, lisa_names
from .losses import joint_loss, parse_loss, role_loss
from .model import NAMES, LisaBatch, LisaInput, LisaPrediction, has_indicator, has_syntax
from .network import LisaScores
from .roles import likely_heads

Source = Literal["model", "doc"]

CHOICES = {
    "parse_source": get_args(Source),
    "predicate_source": get_args(Source),
    "decoder": get_args(RoleDecoding),
}
"""Attributes that take one of a few values, whenever they are set."""


class LisaSRL(ParserPipe):
    """Writes `doc.spans[spans_key]`, and tags and heads where there are none.

    `cfg["transitions"]` has [previous, following, count] of role labels in the training data, with
    -1 before the first word.
    """

    kinds = NAMES

    def __init__(
        self,
        vocab: Vocab,
        model: Model[LisaInput, LisaPrediction],
        name: str,
        *,
        spans_key: str,
        parse_source: Source,
        predicate_source: Source,
        decoder: RoleDecoding,
        unique_core_roles: bool,
        joint_weight: float,
        role_weight: float,
        label_smoothing: float,
        predicted_path_rate: float,
        overwrite_parser: float | None = None,
        nonconstituent_penalty: float = 0.0,
        **settings: Any,
    ) -> None:
        if not 0 <= predicted_path_rate <= 1:
            raise ValueError(f"predicted_path_rate must be from 0 to 1, got {predicted_path_rate}")
        if overwrite_parser is not None and not 0 <= overwrite_parser < math.inf:
            raise ValueError(f"overwrite_parser must be null or at least 0, got {overwrite_parser}")
        if not 0 <= nonconstituent_penalty < math.inf:
            raise ValueError(
                "nonconstituent_penalty must be at least 0 and finite, got "
                f"{nonconstituent_penalty}"
            )
        if not 0 <= label_smoothing < 1:
            raise ValueError(
                f"label_smoothing must be at least 0 and below 1, got {label_smoothing}"
            )
        self.spans_key = spans_key
        self.parse_source = parse_source
        self.predicate_source = predicate_source
        self.decoder = decoder
        self.unique_core_roles = unique_core_roles
        self.joint_weight = joint_weight
        self.role_weight = role_weight
        self.label_smoothing = label_smoothing
        self.predicted_path_rate = predicted_path_rate
        self.overwrite_parser = overwrite_parser
        self.nonconstituent_penalty = nonconstituent_penalty
        super().__init__(vocab, model, name, **settings)
        self.cfg["transitions"] = []
        self._check_indicator()

    def __setattr__(self, name: str, value: Any) -> None:
        if name in CHOICES and value not in CHOICES[name]:
            raise ValueError(f"{name} must be one of {CHOICES[name]}, not {value!r}")
        super().__setattr__(name, value)

    def _configure_model(self) -> None:
        super()._configure_model()
        self._role_decoders: dict[tuple[str, bool, float], RoleDecoder] = {}

    def _check_cfg(self) -> None:
        super()._check_cfg()
        n = len(self.cfg["roles"])
        for entry in self.cfg["transitions"]:
            before, after, count = entry
            if not (-1 <= before < n and 0 <= after < n and 0 <= count < math.inf):
                raise ValueError(
                    f"the transition {entry} is not between two of the {n} role labels"
                )

    @property
    def labels(self) -> tuple[str, ...]:
        """The roles, without V."""
        names = dict.fromkeys(label.partition("-")[2] for label in self.cfg["roles"])
        return tuple(name for name in names if name and name != PREDICATE)

    # Training

    def _readers(self) -> list[Reader]:
        return [read_frames(self.spans_key)]

    def _settle(self, counts: Counts, labels: Names | None) -> Names | None:
        frames = f"frames in doc.spans[{self.spans_key!r}]"
        counts.require(self.name, labels, "roles", frames, "roles")
        syntax = has_syntax(self.model)
        if syntax:
            counts.tell_lacking(self.name, "heads", "have no heads")
        counts.tell_lacking(self.name, "frames", "have no frames")
        labels = lisa_names(self.name, counts, labels, syntax=syntax)
        index = {label: k for k, label in enumerate(labels["roles"])} | {"": -1}
        self.cfg["transitions"] = [
            [index[before], index[after], times]
            for (before, after), times in sorted(counts.follows.items())
            if before in index and after in index
        ]
        self._role_decoders = {}
        return labels

    def _sample(self, docs: list[Doc]) -> LisaInput:
        return LisaInput(docs, [None] * len(docs))

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Train on a batch; the syntactic head attends to gold heads where there are any."""
        self._check_initialised()
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, f"{self.name}.update")
        if not any(len(example.predicted) for example in examples):
            return losses
        set_dropout_rate(self.model, drop)
        inputs = LisaInput([example.predicted for example in examples], [None] * len(examples))
        if self.relations:  # without, arcs are not trained
            inputs = inputs._replace(heads=[gold_heads(example).heads for example in examples])
        if has_indicator(self.model):
            frames = [gold_frames(example, self.spans_key) or [] for example in examples]
            predicates = [{frame.predicate for frame in doc_frames} for doc_frames in frames]
            inputs = inputs._replace(predicates=predicates)
        scores, backprop = self.model.begin_update(inputs)
        loss, d_scores = self.get_loss(examples, scores)
        backprop(d_scores)
        if sgd is not None:
            self.finish_update(sgd)
        losses[self.name] += loss
        return losses

    def get_loss(  # type: ignore[override]
        self, examples: Iterable[Example], scores: LisaPrediction
    ) -> tuple[float, LisaPrediction]:
        """The weighted losses (eq. 7) and their gradient with respect to every score.

        That of roles is a mean of pairs of predicate and word, the others are sums divided by the
        number of all words. What has no gold does not count: a sentence without frames or heads, a
        word without a tag, a label that was not there at initialisation.
        """
        examples = list(examples)
        validate_examples(examples, f"{self.name}.get_loss")
        gold = LisaGold(self.cfg, self.spans_key, examples)
        self._warn_unknown("roles", gold.role_counts())
        batches = list(scores.batches)
        batch_frames = [
            gold.frames(
                [scores.sentences[k] for k in batch.members],
                batch.scores.joint,
                batch.predicates if isinstance(batch, LisaBatch) else None,
            )
            for batch in batches
        ]
        words = sum(int(batch.lengths.sum()) for batch in batches) or 1
        pairs = sum(int((frames.roles >= 0).sum()) for frames in batch_frames) or 1
        following = iter(batch_frames)

        def loss(batch: SentenceBatch[LisaScores], members: list[Sentence]) -> torch.Tensor:
            leaves = batch.scores
            heads = paths_by = None
            if leaves.arcs is not None and self.relations:
                heads = to_self_loops(gold.heads(members, leaves.joint))
            if leaves.paths is not None:
                paths_by = self._heads_of_paths(leaves, batch.lengths, heads)
            roles_loss = role_loss(leaves, next(following), self.label_smoothing, paths_by)
            value = self.role_weight * roles_loss / pairs
            tags, allowed = gold.words(members, leaves.joint)
            value = value + self.joint_weight * joint_loss(leaves.joint, allowed) / words
            if leaves.tags is not None:
                value = value + self.tag_weight / words * torch.nn.functional.cross_entropy(
                    leaves.tags.flatten(0, 1), tags.flatten(), ignore_index=-1, reduction="sum"
                )
            if heads is not None:
                relations = gold.numbers("relations", members, leaves.joint)
                arcs_loss, relations_loss = parse_loss(leaves, heads, relations, batch.lengths)
                value = value + self.arc_weight * arcs_loss / words
                value = value + self.relation_weight * relations_loss / words
            return value

        return differentiate(scores.sentences, batches, loss)

    def _heads_of_paths(
        self, scores: LisaScores, lengths: torch.Tensor, gold: torch.Tensor | None
    ) -> torch.Tensor:
        """Of each sentence gold heads or, at the rate of `predicted_path_rate`, the model's own."""
        if gold is not None:
            own = torch.rand(len(gold), 1) < self.predicted_path_rate
            gold = gold.masked_fill(own.to(gold.device), -1)
        return likely_heads(scores, lengths, gold)

    # Annotations

    def predict(self, docs: Iterable[Doc]) -> Parses:
        """Sentences of all docs, and the `LisaParse` of those that were parsed, by their index."""
        docs = list(docs)
        self._check_initialised()
        self._check_indicator()
        reads_heads = [self.parse_source == "doc" and doc.has_annotation("DEP") for doc in docs]
        heads = [
            token_heads(doc) if here else None for doc, here in zip(docs, reads_heads, strict=True)
        ]
        given = [self._given_predicates(doc) for doc in docs]
        known = [predicates or set() for predicates in given]
        scores = self.model.predict(LisaInput(docs, heads, known))
        sentences = scores.sentences

        def sentence_predicates(k: int) -> list[int] | None:
            doc_predicates = given[sentences[k].doc]
            if doc_predicates is None:
                return None
            return [
                i for i, token in enumerate(sentences[k].words.tolist()) if token in doc_predicates
            ]

        there = [doc.has_annotation("DEP") for doc in docs]
        wanted = any(self.overwritten(docs)[1]) or not all(there)
        parses = decode_frames(
            scores,
            self.cfg["joint"],
            self.tags,
            self._role_decoder(),
            predicates=sentence_predicates,
            heads=nonprojective if wanted else None,
            earlier=self._earlier_heads(docs, sentences),
            root=self._root,
            constituents=self._constituents(docs, sentences),
        )
        return sentences, dict(parses)

    def _earlier_heads(self, docs: list[Doc], sentences: list[Sentence]) -> EarlierHeads | None:
        """The heads that count when they are overwritten."""
        if not self.overwrite_parser:
            return None
        number = {relation: k for k, relation in enumerate(self.relations)}

        @cache
        def of_doc(d: int) -> NDArray[numpy.int64] | None:
            return token_heads(docs[d]) if _was_written(docs[d], "heads") else None

        def of(k: int) -> tuple[list[int], list[int]] | None:
            sentence = sentences[k]
            heads = of_doc(sentence.doc)
            if heads is None:
                return None
            doc = docs[sentence.doc]
            relations = [number.get(doc[i].dep_, -1) for i in sentence.words.tolist()]
            return heads_in_words(heads, sentence).tolist(), relations

        return EarlierHeads(of, self.overwrite_parser)

    def _constituents(
        self, docs: list[Doc], sentences: list[Sentence]
    ) -> Callable[[int], list[tuple[int, int]] | None] | None:
        """The constituents of a sentence that a Doc has, by its words."""
        if not self.nonconstituent_penalty:
            return None

        @cache
        def of_doc(d: int) -> list[tuple[int, int]] | None:
            if CONSTITUENTS_KEY not in docs[d].spans:
                return None
            return [(span.start, span.end - 1) for span in docs[d].spans[CONSTITUENTS_KEY]]

        def of(k: int) -> list[tuple[int, int]] | None:
            sentence = sentences[k]
            spans = of_doc(sentence.doc)
            if spans is None:
                return None
            place = {token: i for i, token in enumerate(sentence.words.tolist())}
            return [
                (place[first], place[last] + 1)
                for first, last in spans
                if first in place and last in place
            ]

        return of

    def _given_predicates(self, doc: Doc) -> set[int] | None:
        if self.predicate_source == "model" or self.spans_key not in doc.spans:
            return None
        return {frame.predicate.i for frame in get_frames(doc, self.spans_key)}

    def _check_indicator(self) -> None:
        if has_indicator(self.model) and self.predicate_source == "model":
            raise ValueError(
                f"the model of {self.name!r} encodes a sentence for each of its predicates, and "
                'does not find them: set predicate_source = "doc" and give it some'
            )

    def _role_decoder(self) -> RoleDecoder:
        key = self.decoder, self.unique_core_roles, self.nonconstituent_penalty
        if key not in self._role_decoders:
            roles, transitions = self.cfg["roles"], self.cfg["transitions"]
            self._role_decoders[key] = make_role_decoder(
                key[0], roles, transitions, unique=key[1], nonconstituent_penalty=key[2]
            )
        return self._role_decoders[key]

    def set_annotations(self, docs: Iterable[Doc], scores: Parses) -> None:
        """Write frames; tags, sentence starts and heads to Docs that have none, or, with
        `overwrite_parser`, that have those of a parser before it."""
        docs = list(docs)
        keep = self.predicate_source == "doc"
        write_frames(docs, scores, self.spans_key, keep_rolesets=keep)
        super().set_annotations(docs, scores)
        if self.overwrite_parser is not None:
            for doc in docs:
                for group in doc.spans.values():
                    group.attrs.pop(WROTE, None)

    def overwritten(self, docs: Sequence[Doc]) -> tuple[list[bool], list[bool]]:
        if self.overwrite_parser is None:
            return super().overwritten(docs)
        heads = [self.overwrite_heads or _was_written(doc, "heads") for doc in docs]
        return [_was_written(doc, "tags") for doc in docs], heads

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """The scorer's scores, `tag_acc`, and `dep_uas` and `dep_las` with syntax."""
        examples = list(examples)
        scores = super().score(examples, **kwargs) | Scorer.score_token_attr(examples, "tag")
        if self.relations:
            head_scores = score_attachment(examples)
            scores |= {name: head_scores[name] for name in ("dep_uas", "dep_las")}
        return scores


def _was_written(doc: Doc, layer: str) -> bool:
    """Whether a parser of this package wrote this layer, and nobody has changed it since."""
    marks = [group.attrs[WROTE] for group in doc.spans.values() if WROTE in group.attrs]
    return any(
        isinstance(mark, dict) and mark.get(layer) == fingerprint(doc, layer) for mark in marks
    )
