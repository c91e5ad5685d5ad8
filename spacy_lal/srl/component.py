"""`lisa_srl`: semantic roles by LISA (Strubell et al. 2018), with tags and heads."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, cast, get_args

import numpy
import torch
from spacy.attrs import DEP
from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from thinc.model import set_dropout_rate

from ..annotations.constituents import CONSTITUENTS_KEY
from ..annotations.frames import FRAMES_KEY, PREDICATE, FrameSpans, get_frames, set_frames
from ..batching.batches import SentenceBatch, differentiate
from ..batching.sentences import Sentence, heads_in_words, places_of, within
from ..parsing.component import DEFAULT_INPUT, ParserPipe
from ..parsing.gold_trees import gold_heads, token_heads
from ..parsing.kept_scores import KEPT, KeptScores
from ..parsing.objectives import word_loss
from ..parsing.teacher_marginals import Targets, get_targets, soft_word_loss, targets_of
from ..pipeline.component import register_factory
from ..pipeline.examples import Counts, Names, Reader, same_tokens
from ..pipeline.writers import WROTE, Parses
from ..scoring.attachment import score_attachment
from ..structure.arborescence import nonprojective
from .frame_decoding import (
    Given,
    LisaParse,
    RoleDecoder,
    RoleDecoding,
    ToDecode,
    decode_frames,
    make_role_decoder,
)
from .gold_frames import (
    OUTSIDE,
    LisaGold,
    gold_frames,
    joint_label,
    joint_loss,
    parse_loss,
    read_frames,
    role_loss,
    split_joint_label,
)
from .network import (
    NAMES,
    LisaBatch,
    LisaInput,
    LisaPrediction,
    LisaScores,
    lisa_settings,
    places,
    to_self_loops,
)
from .teacher_frames import (
    batch_targets,
    has_frames,
    likely_heads,
    soft_parse_losses,
    soft_role_loss,
)

Source = Literal["model", "doc"]

CHOICES = {
    "parse_source": get_args(Source),
    "predicate_source": get_args(Source),
    "decoder": get_args(RoleDecoding),
}
"""Possible values of settings, which are checked whenever they are set."""
COUNTING = ("probabilities", "viterbi")
"""Decoders that read the transitions of the training data."""
MOST = {"predicted_path_rate": 1.0, "overwrite_parser": 1e9, "nonconstituent_penalty": 1e9}
"""Highest values of settings that are at least 0; checked as well."""


@dataclass(eq=False, repr=False, kw_only=True)
class LisaSRL(ParserPipe):
    """`lisa_srl`: writes `doc.spans[spans_key]`, and tags and heads where there are none.

    model: maps a `LisaInput` to `LisaScores`. spans_key: the span group of the frames.
    parse_source: the heads for syntactic attention: "model", the model's own; "doc", those already
        in the Doc (parsed or gold), or the model's for a word without a head.
    predicate_source: "model" finds predicates; "doc" takes those of the frames already in
        doc.spans[spans_key], with their rolesets, or the model's without such a group; the readers
        of this package give the gold ones to training and its evaluations. Both sources
        are attributes and may change at any time; a saved pipeline keeps the settings of its
        config.
    decoder: "valid", the best sequence of role labels that is valid BIO; "probabilities", the same
        with the transition probabilities of the training data added to the scores, as in the
        paper's program; "viterbi", with their logarithms added; "greedy", each word's best label.
    unique_core_roles: whether a core role (ARG0 to ARG5, ARGA) may occur only once in a frame;
        continuations and references (C-ARG1, R-ARG1) don't count. Not in the paper; ignored by
        "greedy".
    joint_weight, arc_weight, relation_weight, role_weight: weights of the losses (eq. 7 has two, of
        arcs and relations). tag_weight: weight of the loss of the lower BiLSTM's tags.
    label_smoothing: label smoothing of the role labels.
    predicted_path_rate: in a model with `role_paths`, the share of training sentences whose paths
        follow predicted instead of gold heads.
    overwrite_heads: write the model's own heads also to Docs that have heads.
    overwrite_parser: a number: overwrite tags and heads written by `lal_constituency`, but none
        that the Doc had before. The number is added to LISA's scores of these heads, and of their
        relations where the best tree has such a head.
    nonconstituent_penalty: score lost by an argument of several words that is no constituent of
        doc.spans["constituents"]; 0, as in the paper, for no loss. Read by the decoder "valid"
        where a Doc has constituents.
    sentences, max_sentence_length, long_sentences: see `Reading`; a "flat" sentence has no frames.

    `cfg["transitions"]` has [previous, following, count] of role labels in the training data, with
    -1 before the first word."""

    spans_key: str = FRAMES_KEY
    parse_source: Source = "model"
    predicate_source: Source = "model"
    decoder: RoleDecoding = "valid"
    unique_core_roles: bool = True
    joint_weight: float = 1.0
    relation_weight: float = 0.1
    role_weight: float = 1.0
    label_smoothing: float = 0.1
    predicted_path_rate: float = 0.5
    overwrite_parser: float | None = None
    nonconstituent_penalty: float = 0.0
    kinds = NAMES

    def __post_init__(self, nlp: Language) -> None:
        super().__post_init__(nlp)
        self.cfg["transitions"] = []
        self._check_indicator()

    def __setattr__(self, name: str, value: Any) -> None:
        if name in CHOICES and value not in CHOICES[name]:
            raise ValueError(f"{name} must be one of {CHOICES[name]}, not {value!r}")
        if name in MOST and value is not None and not 0 <= value <= MOST[name]:
            raise ValueError(f"{name} must be from 0 to {MOST[name]:g}, got {value}")
        if name == "label_smoothing" and not 0 <= value < 1:
            raise ValueError(f"{name} must be at least 0 and below 1, got {value}")
        super().__setattr__(name, value)

    def _check_cfg(self) -> None:
        super()._check_cfg()
        n = len(self.cfg["roles"])
        for before, after, count in self.cfg["transitions"]:
            if not (-1 <= before < n and 0 <= after < n and 0 <= count < math.inf):
                raise ValueError(f"a transition from {before} to {after}, and {n} role labels")

    @property
    def finds_predicates(self) -> bool:
        """Whether the model finds predicates itself: it has no `indicator_width`."""
        return lisa_settings(self.model).indicator_width is None

    def _check_indicator(self) -> None:
        if self.predicate_source == "model" and not self.finds_predicates:
            raise ValueError(
                f"the model of {self.name!r} encodes a sentence for each of its predicates, and "
                'does not find them: set predicate_source = "doc" and give it some'
            )

    @property
    def labels(self) -> tuple[str, ...]:
        """The roles, without V."""
        names = dict.fromkeys(label.partition("-")[2] for label in self.cfg["roles"])
        return tuple(name for name in names if name and name != PREDICATE)

    def _readers(self) -> list[Reader]:
        return [partial(read_frames, key=self.spans_key)]

    def _settle(self, counts: Counts, labels: Names | None) -> Names | None:
        counts.require(self.name, labels, "roles", f"frames in {self._gold}", "roles")
        syntax = lisa_settings(self.model).syntax_layer is not None
        if syntax:
            counts.tell_lacking(self.name, "heads", "have no heads")
        counts.tell_lacking(self.name, "frames", "have no frames")
        if labels is None:
            labels = {kind: sorted(counts.names[kind]) for kind in NAMES}
            labels["roles"].sort(key=lambda label: label.partition("-")[::-1])
        roles = [OUTSIDE, *(label for label in labels["roles"] if label != OUTSIDE)]
        # without, no Doc has both tags and frames
        joint = labels.get("joint") or [
            joint_label(tag, which) for tag in labels.get("tags") or [""] for which in (False, True)
        ]
        if not any(split_joint_label(label)[1] for label in joint):
            raise ValueError(f"none of the joint labels given to {self.name!r} is of a predicate")
        labels = {**labels, "roles": roles, "joint": joint}
        index = {label: k for k, label in enumerate(labels["roles"])} | {"": -1}
        self.cfg["transitions"] = [
            [index[before], index[after], times]
            for (before, after), times in sorted(counts.follows.items())
            if before in index and after in index
        ]
        return labels if syntax else {**labels, "relations": []}

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Train on a batch; syntactic attention follows gold heads, or a teacher's likeliest."""
        self._check_initialised()
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, f"{self.name}.update")
        if not any(len(example.predicted) for example in examples):
            return losses
        set_dropout_rate(self.model, drop)
        # without relations, arcs are not trained
        heads = [gold_heads(example).heads for example in examples] if self.relations else None
        if heads is not None:
            for d, example in enumerate(examples):
                targets = get_targets(example.reference) if same_tokens(example) else None
                if targets is not None and has_frames(targets):
                    heads[d] = likely_heads(targets)
        with_frames = [] if self.finds_predicates else examples
        frames = [gold_frames(example, self.spans_key) or [] for example in with_frames]
        predicates = [{frame.predicate for frame in doc_frames} for doc_frames in frames]
        inputs = LisaInput([example.predicted for example in examples], heads, predicates)
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
        """Return the weighted losses (eq. 7) and their gradient with respect to every score. The
        loss of roles is a mean over pairs of predicate and word; the others are sums divided by the
        number of all words. Missing gold (frames, heads, tags) and unknown labels don't count. A
        Doc with the probabilities of a teacher's LISA has these as its gold."""
        examples = list(examples)
        validate_examples(examples, f"{self.name}.get_loss")
        of_docs = self._taught(examples, scores.sentences)
        is_taught = [targets is not None for targets in of_docs]
        gold = LisaGold(self.cfg, self.spans_key, examples, is_taught)
        self._warn_unknown("roles", gold.role_counts)
        batches = list(cast(Iterable[LisaBatch], scores.batches))
        sentences = scores.sentences
        batch_frames = [
            gold.frames([sentences[k] for k in of.members], of.scores.joint, of.predicates)
            for of in batches
        ]
        batch_taught = [
            batch_targets([sentences[k] for k in of.members], of_docs, of.scores.joint, self.cfg)
            for of in batches
        ]
        words = sum(int(batch.lengths.sum()) for batch in batches) or 1
        pairs = sum(float((frames.roles >= 0).sum()) for frames in batch_frames)
        pairs += sum(float(taught.roles.sum()) for taught in batch_taught if taught is not None)
        pairs = pairs or 1.0
        following = zip(batch_frames, batch_taught, strict=True)

        def loss(batch: SentenceBatch[LisaScores], members: list[Sentence]) -> torch.Tensor:
            leaves = batch.scores
            frames, taught = next(following)
            heads = paths_by = None
            if leaves.arcs is not None and self.relations:
                heads = to_self_loops(gold.heads(members, leaves.joint))
            if leaves.paths is not None:
                known = heads
                if heads is not None:
                    own = torch.rand(len(heads), 1) < self.predicted_path_rate
                    known = heads if taught is None else taught.with_heads(heads)
                    known = known.masked_fill(own.to(heads.device), -1)
                paths_by = leaves.likely_heads(batch.lengths, known)
            roles_loss = role_loss(leaves, frames, self.label_smoothing, paths_by)
            tags, allowed = gold.words(members, leaves.joint)
            of_joint = joint_loss(leaves.joint, allowed)
            if taught is not None:
                roles_loss = roles_loss + soft_role_loss(leaves, taught, paths_by)
                of_joint = of_joint + soft_word_loss(leaves.joint[taught.rows], taught.joint)
            value = self.role_weight * roles_loss / pairs + self.joint_weight * of_joint / words
            if leaves.tags is not None:
                of_tags = word_loss(leaves.tags, tags)
                if taught is not None:
                    of_tags = of_tags + soft_word_loss(leaves.tags[taught.rows], taught.tags)
                value = value + self.tag_weight / words * of_tags
            if heads is not None:
                relations = gold.numbers("relations", members, leaves.joint)
                arcs_loss, relations_loss = parse_loss(leaves, heads, relations, batch.lengths)
                if taught is not None:
                    soft = soft_parse_losses(leaves, taught, batch.lengths)
                    arcs_loss, relations_loss = arcs_loss + soft[0], relations_loss + soft[1]
                value = value + self.arc_weight * arcs_loss / words
                value = value + self.relation_weight * relations_loss / words
            return value

        return differentiate(sentences, batches, loss)

    def _taught(self, examples: list[Example], sentences: list[Sentence]) -> list[Targets | None]:
        found = targets_of(examples, sentences) if self.finds_predicates else []
        return [of if of and has_frames(of) else None for of in found] or [None] * len(examples)

    def predict(self, docs: Iterable[Doc]) -> Parses:
        """Return all sentences, and each `LisaParse` by sentence index."""
        docs = list(docs)
        return self.decode(docs, self.scores_of(docs))

    @torch.inference_mode()
    def scores_of(self, docs: list[Doc]) -> LisaPrediction:
        """Return the scores that `decode` reads."""
        self._check_initialised()
        self._check_indicator()
        heads = [token_heads(doc) for doc in docs] if self.parse_source == "doc" else None
        known = [predicates or set() for predicates in self._given_predicates(docs)]
        return self.model.predict(LisaInput(docs, heads, known))

    @torch.inference_mode()
    def decode(self, docs: list[Doc], scores: LisaPrediction) -> Parses:
        """Return all sentences, and each `LisaParse` by sentence index."""
        have_heads = all(doc.has_annotation("DEP") for doc in docs)
        wanted = any(self.overwritten(docs)[1]) or not have_heads
        parses = decode_frames(
            scores,
            self.cfg["joint"],
            self.tags,
            self._role_decoder(),
            self._given(docs, scores.sentences, self._given_predicates(docs)),
            heads=nonprojective if wanted else None,
            heads_weight=self.overwrite_parser or 0.0,
            root=self.root,
        )
        return scores.sentences, dict(parses)

    def _given_predicates(self, docs: list[Doc]) -> list[set[int] | None]:
        """Return the predicates of each Doc's frames, None where the model finds them."""
        by_doc = self.predicate_source == "doc"
        return [
            {frame.predicate.i for frame in get_frames(doc, self.spans_key)}
            if by_doc and self.spans_key in doc.spans
            else None
            for doc in docs
        ]

    def _given(
        self, docs: list[Doc], sentences: list[Sentence], predicates: list[set[int] | None]
    ) -> list[Given]:
        """Return the annotations of each sentence that settings select."""
        strings = self.vocab.strings
        number = {strings.add(relation): k for k, relation in enumerate(self.relations)}
        earlier = [
            (token_heads(doc), _numbers(doc, number))
            if self.overwrite_parser and "heads" in _written(doc)
            else None
            for doc in docs
        ]
        constituents = [
            places_of(doc.spans[CONSTITUENTS_KEY])
            if self.nonconstituent_penalty and CONSTITUENTS_KEY in doc.spans
            else None
            for doc in docs
        ]
        kept_scores = _kept_scores(docs, sentences)
        given = [Given() for _ in sentences]
        for k, sentence in enumerate(sentences):
            d = sentence.doc
            if (doc_predicates := predicates[d]) is not None:
                given[k] = given[k]._replace(predicates=places(doc_predicates, sentence))
            if (of_doc := earlier[d]) is not None:
                heads, names = of_doc
                of_words = heads_in_words(heads, sentence)
                given[k] = given[k]._replace(heads=of_words, relations=names[sentence.words])
            if (spans := constituents[d]) is not None:
                given[k] = given[k]._replace(constituents=within(spans, sentence))
            if (kept := kept_scores[d]) and of_doc is not None:
                scores = kept.by_words.get((sentence.start, len(sentence.words)))
                if scores is not None:
                    of_parser = [number.get(strings[r], -1) for r in kept.parser.relations]
                    again = ToDecode(kept.parser, scores, numpy.array(of_parser))
                    given[k] = given[k]._replace(kept=again)
        return given

    def _role_decoder(self) -> RoleDecoder:
        return make_role_decoder(
            self.decoder,
            tuple(self.cfg["roles"]),
            tuple(map(tuple, self.cfg["transitions"])) if self.decoder in COUNTING else (),
            self.unique_core_roles,
            self.nonconstituent_penalty,
        )

    def set_annotations(self, docs: Iterable[Doc], scores: Parses) -> None:
        """Write frames, and tags, sentence starts and heads as settings allow."""
        docs = list(docs)
        self._write_frames(docs, scores)
        super().set_annotations(docs, scores)
        self._write_trees(docs, scores)
        if self.overwrite_parser is not None:
            for doc in docs:
                for group in doc.spans.values():
                    group.attrs.pop(WROTE, None)

    def _write_trees(self, docs: list[Doc], found: Parses) -> None:
        """Write the trees of kept scores, which were decoded with LISA's arcs."""
        sentences, parses = found
        for number, doc in enumerate(docs):
            if (kept := KEPT.pop(doc, None)) is None:
                continue
            own = {k: of._replace(doc=0) for k, of in enumerate(sentences) if of.doc == number}
            trees = {k: cast(LisaParse, parses[k]).tree for k in own if k in parses}
            if trees and None not in trees.values():
                again = {new: trees[k] for new, k in enumerate(own) if k in trees}
                kept.parser.write_trees([doc], (list(own.values()), again))

    def _write_frames(self, docs: list[Doc], found: Parses) -> None:
        """Write frames, with the rolesets of given predicates."""
        sentences, parses = found
        keep = self.predicate_source == "doc"
        known = [get_frames(doc, self.spans_key) if keep else [] for doc in docs]
        rolesets = [{frame.predicate.i: frame.roleset for frame in there} for there in known]
        frames: list[list[FrameSpans]] = [[] for _ in docs]
        scores: list[list[list[float]]] = [[] for _ in docs]
        for number, sentence in enumerate(sentences):
            parse = parses.get(number)
            words, d = sentence.words.tolist(), sentence.doc
            for frame in parse.frames if isinstance(parse, LisaParse) else ():
                predicate = words[frame.predicate]
                spans = [(words[i], words[j - 1] + 1, label) for i, j, label in frame.spans]
                frames[d].append(FrameSpans(predicate, rolesets[d].get(predicate, ""), spans))
                scores[d].append(frame.scores)
        for doc, doc_frames, doc_scores in zip(docs, frames, scores, strict=True):
            set_frames(doc, doc_frames, doc_scores, key=self.spans_key)

    def overwritten(self, docs: Sequence[Doc]) -> tuple[list[bool], list[bool]]:
        if self.overwrite_parser is None:
            return super().overwritten(docs)
        written = [_written(doc) for doc in docs]
        tags = ["tags" in layers for layers in written]
        return tags, [self.overwrite_heads or "heads" in layers for layers in written]

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Return the scorer's scores, `tag_acc` and, with syntax, `dep_uas` and `dep_las`."""
        examples = list(examples)
        scores = super().score(examples, **kwargs) | Scorer.score_token_attr(examples, "tag")
        if self.relations:
            head_scores = score_attachment(examples)
            scores |= {name: head_scores[name] for name in ("dep_uas", "dep_las")}
        return scores


def _numbers(doc: Doc, number: dict[int, int]) -> numpy.ndarray:
    """Return the number of each token's relation, -1 for one that has none."""
    names = doc.to_array([DEP]).tolist()
    return numpy.array([number.get(name, -1) for name in names], dtype=numpy.int64)


def _kept_scores(docs: list[Doc], sentences: list[Sentence]) -> list[KeptScores | None]:
    """Return the scores that a parser kept of each Doc, if it read the same sentences: trees are
    decoded again for all of a Doc or for none of it."""
    read: list[set[tuple[int, int]]] = [set() for _ in docs]
    for sentence in sentences:
        if sentence.parsed and len(sentence.words):
            read[sentence.doc].add((sentence.start, len(sentence.words)))
    found = map(KEPT.get, docs)
    return [
        kept if kept and kept.by_words.keys() == own else None
        for kept, own in zip(found, read, strict=True)
    ]


def _written(doc: Doc) -> set[str]:
    """Return the layers that a constituency parser wrote."""
    return {layer for group in doc.spans.values() for layer in group.attrs.get(WROTE, ())}


_UNWEIGHTED = ["srl_per_type", "srl_pred_p", "srl_pred_r", "tag_acc", "dep_uas", "dep_las"]
_UNWEIGHTED += ["spans_srl_f", "spans_srl_p", "spans_srl_r", "spans_srl_per_type"]
"""Scores that training doesn't show."""

make_lisa_srl = register_factory(
    "lisa_srl",
    LisaSRL,
    assigns=["doc.spans", "token.tag", "token.head", "token.dep", "doc.sents"],
    score_weights={"srl_f": 1.0, "srl_p": 0.0, "srl_r": 0.0, "srl_pred_f": 0.0}
    | dict.fromkeys(_UNWEIGHTED),
    model={"@architectures": "spacy-lal.LISA.v1"} | DEFAULT_INPUT,
    scorer={"@scorers": "spacy-lal.srl_scorer.v1"},
)


def use_heads_of_docs(nlp: Language) -> Language:
    """Set every `lisa_srl` to `parse_source = "doc"`, also in the config: components that `spacy
    assemble` takes from trained pipelines keep their settings."""
    # also disabled ones, as assembled components are during initialisation
    for name, pipe in nlp.components:
        if isinstance(pipe, LisaSRL):
            # spaCy's own config, not a copy
            nlp.get_pipe_config(name)["parse_source"] = pipe.parse_source = "doc"
    return nlp


def make_heads_of_docs() -> Callable[[Language], Language]:
    """The callback `spacy-lal.heads_of_docs.v1`, for `[initialize.after_init]`."""
    return use_heads_of_docs
