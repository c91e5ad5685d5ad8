"""`lisa_srl`: semantic roles by linguistically-informed self-attention (Strubell et al. 2018)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy
import torch
from spacy.attrs import DEP, HEAD
from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.util import logger
from spacy.vocab import Vocab
from thinc.api import Config, Model
from thinc.model import set_dropout_rate

from ..annotations import FRAMES_KEY, PREDICATE, FrameSpans, get_frames, set_frames
from ..models.batching.batches import ParserScores, SentenceBatch
from ..models.batching.sentences import LongSentencePolicy, SentencePolicy
from ..models.lisa.decoding import LisaParse, RoleDecoder, decode_frames
from ..models.lisa.losses import joint_label, joint_loss, parse_loss, role_loss, split_joint_label
from ..models.lisa.model import (
    NAMES,
    LisaBatch,
    LisaInput,
    LisaPrediction,
    has_indicator,
    has_syntax,
)
from ..models.lisa.network import LisaScores
from ..models.lisa.roles import likely_heads
from ..scorers.attachment import score_attachment
from ..structure.arborescence import nonprojective
from ..structure.sequence import transition_log_probs, transition_probs
from .gold import gold_frames, gold_heads
from .lisa_gold import LisaGold
from .parser import DEFAULT_INPUT, ParserPipe, Parses, detached, gradients

DEFAULT_MODEL = Config().from_str(
    """
    [model]
    @architectures = "spacy-lal.LISA.v1"
    """
    + DEFAULT_INPUT
)["model"]

Source = Literal["model", "doc"]
RoleDecoding = Literal["probabilities", "viterbi", "valid", "greedy"]
OUTSIDE = "O"


@Language.factory(
    "lisa_srl",
    assigns=["doc.spans", "token.tag", "token.head", "token.dep", "doc.sents"],
    default_config={
        "model": DEFAULT_MODEL,
        "spans_key": FRAMES_KEY,
        "parse_source": "model",
        "predicate_source": "model",
        "decoder": "valid",
        "unique_core_roles": True,
        "joint_weight": 1.0,
        "arc_weight": 1.0,
        "relation_weight": 0.1,
        "role_weight": 1.0,
        "tag_weight": 1.0,
        "label_smoothing": 0.1,
        "own_paths": 0.5,
        "overwrite_heads": False,
        "sentences": "split",
        "max_sentence_length": 512,
        "long_sentences": "split",
        "scorer": {"@scorers": "spacy-lal.srl_scorer.v1"},
    },
    default_score_weights={
        "srl_f": 1.0,
        "srl_p": 0.0,
        "srl_r": 0.0,
        "srl_per_type": None,
        "srl_pred_f": 0.0,
        "srl_pred_p": None,
        "srl_pred_r": None,
        "spans_srl_f": None,
        "spans_srl_p": None,
        "spans_srl_r": None,
        "spans_srl_per_type": None,
        "tag_acc": None,
        "dep_uas": None,
        "dep_las": None,
    },
)
def make_lisa_srl(
    nlp: Language,
    name: str,
    model: Model[LisaInput, LisaPrediction],
    spans_key: str,
    parse_source: Source,
    predicate_source: Source,
    decoder: RoleDecoding,
    unique_core_roles: bool,
    joint_weight: float,
    arc_weight: float,
    relation_weight: float,
    role_weight: float,
    tag_weight: float,
    label_smoothing: float,
    own_paths: float,
    overwrite_heads: bool,
    sentences: SentencePolicy,
    max_sentence_length: int,
    long_sentences: LongSentencePolicy,
    scorer: Callable | None,
) -> LisaSRL:
    """Construct the component.

    model: maps a `LisaInput` to `LisaScores`. spans_key: of the span group with the frames.
    parse_source: what the syntactic head attends to, the model's own parse ("model"), or the heads
        that the Doc has when the component comes to it ("doc"): of any parser before it, or gold
        ones. Words without a head there, and Docs without any, have the model's.
    predicate_source: "model" finds predicates; "doc" takes those of the frames that are in
        doc.spans[spans_key] already, and their rolesets with them; a Doc without that group has the
        model's. Both can be changed on a trained component: they are attributes.
    decoder: of role labels: "valid", the best sequence that is valid BIO; "probabilities", with the
        transition probabilities of the training data added to scores as they are, which is what the
        paper's program does; "viterbi", with their logarithms; "greedy", each word's best label.
    unique_core_roles: no core role (ARG0 to ARG5, ARGA) twice in a frame; its continuations and
        references (C-ARG1, R-ARG1) don't count. The paper has no such rule, nor has "greedy".
    joint_weight, arc_weight, relation_weight, role_weight: of the losses (eq. 7 has two, on arcs
        and relations);
        tag_weight: of that of a BiLSTM below, which predicts tags on its way. label_smoothing: of
        role labels.
    own_paths: in which share of training sentences the paths of a model with `role_paths` go by the
        heads that it finds, as they will in prediction, not by gold ones.
    overwrite_heads: write the model's own heads also to Docs that have some.
    sentences, max_sentence_length, long_sentences: as for `lal_dependency`; a sentence that is too
        long to be read ("flat") has no frames.
    """
    return LisaSRL(
        nlp.vocab,
        model,
        name,
        spans_key=spans_key,
        parse_source=parse_source,
        predicate_source=predicate_source,
        decoder=decoder,
        unique_core_roles=unique_core_roles,
        joint_weight=joint_weight,
        role_weight=role_weight,
        label_smoothing=label_smoothing,
        own_paths=own_paths,
        arc_weight=arc_weight,
        relation_weight=relation_weight,
        tag_weight=tag_weight,
        overwrite_heads=overwrite_heads,
        sentences=sentences,
        max_sentence_length=max_sentence_length,
        long_sentences=long_sentences,
        scorer=scorer,
    )


class _Choice:
    """An attribute that takes one of a few values, whenever it is set."""

    def __init__(self, *values: str) -> None:
        self.values = values

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> str:
        value: str = instance.__dict__[self.name]
        return value

    def __set__(self, instance: Any, value: str) -> None:
        if value not in self.values:
            raise ValueError(f"{self.name} must be one of {self.values}, not {value!r}")
        instance.__dict__[self.name] = value


class LisaSRL(ParserPipe):
    """Writes `doc.spans[spans_key]`, and tags and heads where there are none.

    `cfg["transitions"]` has [previous, following, count] of role labels in the training data, with
    -1 before the first word.
    """

    kinds = NAMES
    parse_source = _Choice("model", "doc")
    predicate_source = _Choice("model", "doc")
    decoder = _Choice("probabilities", "viterbi", "valid", "greedy")

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
        own_paths: float,
        **settings: Any,
    ) -> None:
        if not 0 <= own_paths <= 1:
            raise ValueError(f"own_paths must lie in 0..1, got {own_paths}")
        if not 0 <= label_smoothing < 1:
            raise ValueError(f"label_smoothing must lie in 0..1, below 1, got {label_smoothing}")
        self.spans_key = spans_key
        self.parse_source = parse_source
        self.predicate_source = predicate_source
        self.decoder = decoder
        self.unique_core_roles = unique_core_roles
        self.joint_weight = joint_weight
        self.role_weight = role_weight
        self.label_smoothing = label_smoothing
        self.own_paths = own_paths
        super().__init__(vocab, model, name, **settings)
        self.cfg["transitions"] = []
        self._check_indicator()

    def _configure_model(self) -> None:
        super()._configure_model()
        # the scorer is given cfg
        self.cfg["spans_key"] = self.spans_key
        self._role_decoders: dict[tuple[str, bool], RoleDecoder] = {}

    def _check_cfg(self) -> None:
        super()._check_cfg()
        n = len(self.cfg["roles"])
        for entry in self.cfg["transitions"]:
            before, after, count = entry
            if not (-1 <= before < n and 0 <= after < n and 0 <= count < math.inf):
                raise ValueError(f"transition {entry} is not between two of {n} roles")

    @property
    def labels(self) -> tuple[str, ...]:
        """The roles, without V."""
        names = dict.fromkeys(label.partition("-")[2] for label in self.cfg["roles"])
        return tuple(name for name in names if name and name != PREDICATE)

    # Training

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: dict[str, list[str]] | None = None,
        warm_start: str | None = None,
    ) -> None:
        """Read roles, tags, relations and transitions off the training data, set up the model.

        labels: names by kind ("roles", "joint", "tags", "relations") to take instead. warm_start: a
        trained pipeline whose parser's weights begin what fits, as its BiLSTM.
        Raises ValueError if no example has frames.
        """
        validate_get_examples(get_examples, f"{self.name}.initialize")
        found: dict[str, Counter[str]] = {kind: Counter() for kind in self.kinds}
        follows: Counter[tuple[str, str]] = Counter()
        sample: list[Doc] = []
        missing = Counter[str]()
        docs = 0
        for example in get_examples():
            docs += 1
            if len(sample) < 10:
                sample.append(example.predicted)
            reference = example.reference
            words = [token for token in reference if not token.is_space]
            found["tags"].update(token.tag_ for token in words if token.tag_)
            found["relations"].update(token.dep_ for token in words if token.dep_)
            missing["heads"] += not any(token.dep_ for token in words)
            if self.spans_key not in reference.spans:
                missing["frames"] += 1
                continue
            frames = get_frames(reference, self.spans_key)
            predicates = {frame.predicate.i for frame in frames}
            found["joint"].update(joint_label(t.tag_, t.i in predicates) for t in words if t.tag_)
            for frame in frames:
                row = _bio(
                    [(span.start, span.end, span.label_) for span in frame.spans],
                    [token.i for token in frame.predicate.sent if not token.is_space]
                    if reference.has_annotation("SENT_START")
                    else [token.i for token in words],
                )
                found["roles"].update(row)
                follows.update(zip(["", *row], row, strict=False))
        if labels is None and not found["roles"]:
            raise ValueError(
                f"none of the {docs} training Docs has frames in doc.spans[{self.spans_key!r}]"
            )
        for what, count in missing.items():
            if count and (what == "frames" or has_syntax(self.model)):
                logger.info("%s: %d of %d training Docs have no %s", self.name, count, docs, what)
        if labels is None:
            labels = {kind: sorted(names) for kind, names in found.items()}
            # "O" first: what a word is that has no role
            labels["roles"] = [OUTSIDE, *sorted(set(found["roles"]) - {OUTSIDE}, key=_by_role)]
        elif not labels.get("roles"):
            raise ValueError(f"the labels given to {self.name!r} have no roles")
        elif labels["roles"][0] != OUTSIDE:
            raise ValueError(f"the first of the roles given to {self.name!r} is not {OUTSIDE!r}")
        elif labels.get("joint") and not any(split_joint_label(j)[1] for j in labels["joint"]):
            raise ValueError(f"none of the joint labels given to {self.name!r} is of a predicate")
        if not labels.get("joint"):
            # no Doc has both tags and frames
            tags = labels.get("tags") or [""]
            joint = [joint_label(tag, which) for tag in tags for which in (False, True)]
            labels = {**labels, "joint": joint}
        if not has_syntax(self.model):
            labels = {**labels, "relations": []}
        index = {label: k for k, label in enumerate(labels["roles"])} | {"": -1}
        self.cfg["transitions"] = [
            [index[before], index[after], count]
            for (before, after), count in sorted(follows.items())
            if before in index and after in index
        ]
        self._role_decoders = {}
        docs_only = LisaInput(sample, [None] * len(sample))
        self._initialize_model(get_examples, found, docs_only, labels, warm_start)

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
        heads: list[numpy.ndarray | None] = [None] * len(examples)
        if self.relations:  # without, arcs are not trained
            heads = [numpy.asarray(gold_heads(example).heads) for example in examples]
        predicates: list[set[int]] = []
        if has_indicator(self.model):
            of_docs = [gold_frames(example, self.spans_key) or [] for example in examples]
            predicates = [{frame.predicate for frame in frames} for frames in of_docs]
        docs = [example.predicted for example in examples]
        scores, backprop = self.model.begin_update(LisaInput(docs, heads, predicates))
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
        of_batches = [
            gold.frames(
                [scores.sentences[k] for k in batch.members],
                batch.scores.joint,
                batch.predicates if isinstance(batch, LisaBatch) else None,
            )
            for batch in batches
        ]
        words = sum(int(batch.lengths.sum()) for batch in batches) or 1
        pairs = sum(int((frames.roles >= 0).sum()) for frames in of_batches) or 1
        loss = 0.0
        d_batches = []
        for batch, frames in zip(batches, of_batches, strict=True):
            members = [scores.sentences[k] for k in batch.members]
            leaves = detached(batch.scores)
            heads = relations = paths_by = None
            if leaves.arcs is not None and self.relations:
                heads, relations = gold.heads(members, leaves.joint)
            if leaves.paths is not None:
                paths_by = self._heads_of_paths(leaves, batch.lengths, heads)
            of_roles = role_loss(leaves, frames, self.label_smoothing, paths_by)
            value = self.role_weight * of_roles / pairs
            tags, allowed = gold.words(members, leaves.joint)
            value = value + self.joint_weight * joint_loss(leaves.joint, allowed) / words
            if leaves.tags is not None:
                value = value + self.tag_weight / words * torch.nn.functional.cross_entropy(
                    leaves.tags.flatten(0, 1), tags.flatten(), ignore_index=-1, reduction="sum"
                )
            if heads is not None and relations is not None:
                of_arcs, of_relations = parse_loss(leaves, heads, relations, batch.lengths)
                value = value + self.arc_weight * of_arcs / words
                value = value + self.relation_weight * of_relations / words
            value.backward()
            loss += float(value.detach())
            d_batches.append(SentenceBatch(batch.members, batch.lengths, gradients(leaves)))
        return loss, ParserScores(scores.sentences, d_batches)

    def _heads_of_paths(
        self, scores: LisaScores, lengths: torch.Tensor, gold: torch.Tensor | None
    ) -> torch.Tensor:
        """Of each sentence gold heads or, at the rate of `own_paths`, the model's own."""
        if gold is not None:
            own = torch.rand(len(gold), 1) < self.own_paths
            gold = gold.masked_fill(own.to(gold.device), -1)
        return likely_heads(scores, lengths, gold)

    # Annotations

    def predict(self, docs: Iterable[Doc]) -> Parses:
        """Sentences of all docs, and the `LisaParse` of those that were parsed, by their index."""
        docs = list(docs)
        self._check_initialised()
        self._check_indicator()
        heads = [_heads(doc) if self.parse_source == "doc" else None for doc in docs]
        given = [self._given_predicates(doc) for doc in docs]
        known = [predicates or set() for predicates in given]
        scores = self.model.predict(LisaInput(docs, heads, known))
        sentences = scores.sentences

        def of_sentence(k: int) -> list[int] | None:
            of_doc = given[sentences[k].doc]
            if of_doc is None:
                return None
            return [i for i, token in enumerate(sentences[k].words.tolist()) if token in of_doc]

        wanted = self.overwrite_heads or not all(doc.has_annotation("DEP") for doc in docs)
        parses = decode_frames(
            scores,
            self.cfg["joint"],
            self.tags,
            self._role_decoder(),
            predicates=of_sentence,
            heads=nonprojective if wanted else None,
            root=self._root,
        )
        return sentences, dict(parses)

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
        key = self.decoder, self.unique_core_roles
        if key not in self._role_decoders:
            self._role_decoders[key] = self._make_role_decoder()
        return self._role_decoders[key]

    def _make_role_decoder(self) -> RoleDecoder:
        labels = self.cfg["roles"]
        counts = torch.zeros(len(labels) + 1, len(labels))
        for before, after, count in self.cfg["transitions"]:
            counts[before, after] = count
        transitions = start = None
        if self.decoder == "probabilities":
            transitions = transition_probs(counts[:-1])
        elif self.decoder == "viterbi":
            transitions = transition_log_probs(counts[:-1], SMOOTHING)
            start = transition_log_probs(counts[-1], SMOOTHING)
        greedy = self.decoder == "greedy"
        return RoleDecoder(labels, transitions, start, unique=self.unique_core_roles, greedy=greedy)

    def set_annotations(self, docs: Iterable[Doc], scores: Parses) -> None:
        """Write frames; tags, sentence starts and heads to Docs that have none."""
        docs = list(docs)
        sentences, parses = scores
        found: list[list[FrameSpans]] = [[] for _ in docs]
        values: list[list[list[float]]] = [[] for _ in docs]
        rolesets = [
            {frame.predicate.i: frame.roleset for frame in get_frames(doc, self.spans_key)}
            if self.predicate_source == "doc"
            else {}
            for doc in docs
        ]
        for k, sentence in enumerate(sentences):
            parse = parses.get(k)
            if not isinstance(parse, LisaParse):
                continue
            words = sentence.words.tolist()
            for frame in parse.frames:
                predicate = words[frame.predicate]
                spans = [(words[i], words[j - 1] + 1, label) for i, j, label in frame.spans]
                roleset = rolesets[sentence.doc].get(predicate, "")
                found[sentence.doc].append(FrameSpans(predicate, roleset, spans))
                values[sentence.doc].append(frame.scores)
        for doc, frames, of_frames in zip(docs, found, values, strict=True):
            set_frames(doc, frames, of_frames, key=self.spans_key)
        super().set_annotations(docs, scores)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """The scorer's scores, `tag_acc`, and `dep_uas` and `dep_las` with syntax."""
        examples = list(examples)
        scores = super().score(examples, **kwargs) | Scorer.score_token_attr(examples, "tag")
        if self.relations:
            of_heads = score_attachment(examples)
            scores |= {name: of_heads[name] for name in ("dep_uas", "dep_las")}
        return scores


SMOOTHING = 0.1
"""Added to the counts of transitions: one that was not seen is unlikely, not impossible."""


def _heads(doc: Doc) -> numpy.ndarray | None:
    """Of every token the index of its head, -1 where it has no relation; None without any."""
    if not doc.has_annotation("DEP"):
        return None
    offsets, relations = doc.to_array([HEAD, DEP]).T
    own = numpy.arange(len(doc))
    return numpy.where(relations != 0, own + offsets.view("int64"), -1)


def _bio(spans: list[tuple[int, int, str]], words: list[int]) -> list[str]:
    """The BIO label of each word, a token index; spans count tokens."""
    labels = {i: OUTSIDE for i in words}
    for start, end, name in spans:
        prefix = "B"
        for i in range(start, end):
            if i in labels:
                labels[i] = f"{prefix}-{name}"
                prefix = "I"
    return list(labels.values())


def _by_role(label: str) -> tuple[str, str]:
    tag, _, name = label.partition("-")
    return name, tag
