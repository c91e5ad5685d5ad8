"""What all parsers have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy
import torch
from spacy.attrs import SENT_START
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from spacy.vocab import Vocab
from thinc.api import Model
from torch import Tensor

from ..annotations import install_extensions, set_dependencies
from ..models.batching.batches import ParserScores, SentenceBatch
from ..models.batching.parses import SentenceParse
from ..models.batching.sentences import LongSentencePolicy, Sentence, SentencePolicy
from ..models.parser.dependencies import dependency_loss
from ..models.parser.network import OneStageScores, Scores
from .gold import gold_heads, gold_tags, heads_in_words
from .weights import WeightsPipe

DEFAULT_INPUT = """
    [model.tok2vec]
    @architectures = "spacy-lal.WordAffixEmbed.v1"
    word_width = 128
    affix_width = 32

    [model.rows]
    @misc = "spacy-lal.BiLSTMRows.v1"
    hidden_width = 300
    depth = 3
    tag_depth = 1
    tag_width = 64
"""
"""What reads words in the default models of all parsers."""

DEFAULT_ENCODER = (
    DEFAULT_INPUT
    + """
    [model.encoder]
    @misc = "spacy-lal.LabelAttentionEncoder.v1"
    heads = 64
    key_width = 64
    value_width = 64
    projection_width = 16
    arrangement = "concatenate"
"""
)
"""The same, with label attention."""

ROOT = "ROOT"
UNKNOWN_RELATION = "dep"

Parses = tuple[list[Sentence], dict[int, SentenceParse]]
S = TypeVar("S", bound=tuple)


class ParserPipe(WeightsPipe):
    """Sentences, tags, heads, training and storage; what is decoded is the subclass's affair.

    `cfg[kind]` for each of `kinds` is a list of names that the model has one output for.
    """

    kinds: tuple[str, ...]

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str,
        *,
        tag_weight: float,
        arc_weight: float = 1.0,
        relation_weight: float = 1.0,
        overwrite_heads: bool = False,
        sentences: SentencePolicy,
        max_sentence_length: int,
        long_sentences: LongSentencePolicy,
        scorer: Callable | None,
    ) -> None:
        if max_sentence_length < 1:
            raise ValueError(f"max_sentence_length must be at least 1, got {max_sentence_length}")
        super().__init__()
        self.vocab = vocab
        self.model = model
        self.name = name
        self.tag_weight = tag_weight
        self.arc_weight = arc_weight
        self.relation_weight = relation_weight
        self.overwrite_heads = overwrite_heads
        self.settings = {
            "sentences": sentences,
            "max_sentence_length": max_sentence_length,
            "long_sentences": long_sentences,
            "max_batch_spans": model.attrs.get("max_batch_spans"),
        }
        self.scorer = scorer
        self.cfg: dict[str, Any] = {kind: [] for kind in self.kinds}
        self._configure_model()
        install_extensions()

    def _configure_model(self) -> None:
        """The pipeline's config decides over settings, whatever was stored with the weights."""
        self.model.attrs.update(self.settings)

    @property
    def tags(self) -> tuple[str, ...]:
        """The part-of-speech tags that the parser predicts for itself."""
        return tuple(self.cfg["tags"])

    @property
    def relations(self) -> tuple[str, ...]:
        """The dependency relations; none without dependencies."""
        return tuple(self.cfg.get("relations", ()))

    @property
    def _root(self) -> int | None:
        names = [relation.upper() for relation in self.relations]
        return names.index(ROOT) if ROOT in names else None

    @property
    def label_data(self) -> dict[str, list[str]]:
        return {kind: list(self.cfg.get(kind, ())) for kind in self.kinds}

    def _outputs(self) -> dict[str, list[str]]:
        return self.label_data

    # Training

    def _initialize_model(
        self,
        get_examples: Callable[[], Iterable[Example]],
        found: dict[str, Counter[str]],
        sample: Any,
        labels: dict[str, list[str]] | None,
        warm_start: str | None,
    ) -> None:
        """Settle the names of all outputs and set up the model.

        found: what the training data have, by kind; labels: what to take instead; sample: an
        input of the model.
        """
        for kind in self.kinds:
            if kind == "tags" and not self.model.attrs["settings"].predicts_tags:
                continue
            if labels is not None:
                self.cfg[kind] = list(labels.get(kind, ()))
            else:
                known = self.cfg[kind]
                self.cfg[kind] = [*known, *sorted(set(found[kind]) - set(known))]
        self._initialize_weights(get_examples, sample, warm_start)

    def get_loss(
        self, examples: Iterable[Example], scores: ParserScores
    ) -> tuple[float, ParserScores]:
        """The loss per word and its gradient with respect to every score.

        What has no gold does not count: a sentence without a tree, a word without a head or a
        tag, a label or relation that was not there at initialisation.
        """
        examples = list(examples)
        validate_examples(examples, f"{self.name}.get_loss")
        batches = list(scores.batches)
        total = sum(int(batch.lengths.sum()) for batch in batches) or 1
        tags = [gold_tags(example) for example in examples]
        heads = [gold_heads(example) for example in examples] if self.relations else []
        indices = {
            kind: {name: k for k, name in enumerate(self.cfg[kind])}
            for kind in ("tags", "relations")
            if kind in self.cfg
        }
        self._warn_unknown("tags", Counter(tag for of_doc in tags for tag in of_doc))
        if heads:
            self._warn_unknown("relations", Counter(r for gold in heads for r in gold.relations))
        loss = 0.0
        d_batches = []
        structure_loss = self._structure_loss(examples)
        for batch in batches:
            members = [scores.sentences[k] for k in batch.members]
            leaves: Scores = detached(batch.scores)
            words = [sentence.words.tolist() for sentence in members]
            gold = padded(
                leaves.tags,
                (
                    [indices["tags"].get(tags[s.doc][i], -1) for i in tokens]
                    for s, tokens in zip(members, words, strict=True)
                ),
            )
            value = structure_loss(members, leaves, batch.lengths)
            value = value + self.tag_weight * torch.nn.functional.cross_entropy(
                leaves.tags.flatten(0, 1), gold.flatten(), ignore_index=-1, reduction="sum"
            )
            if isinstance(leaves, OneStageScores) and leaves.arcs is not None:
                assert leaves.relations is not None
                of_arcs, of_relations = dependency_loss(
                    leaves.arcs,
                    leaves.relations,
                    padded(leaves.tags, (heads_in_words(heads[s.doc], s) for s in members)),
                    padded(
                        leaves.tags,
                        (
                            [indices["relations"].get(heads[s.doc].relations[i], -1) for i in ids]
                            for s, ids in zip(members, words, strict=True)
                        ),
                    ),
                    batch.lengths,
                )
                value = value + self.arc_weight * of_arcs + self.relation_weight * of_relations
            value = value / total
            value.backward()
            loss += float(value.detach())
            d_batches.append(
                SentenceBatch(
                    batch.members,
                    batch.lengths,
                    gradients(leaves),
                )
            )
        return loss, ParserScores(scores.sentences, d_batches)

    def _structure_loss(
        self, examples: list[Example]
    ) -> Callable[[list[Sentence], Scores, Tensor], Tensor]:
        """The loss of a batch's charts, summed over its sentences; here there are no charts."""
        return lambda members, scores, lengths: scores.tags.new_zeros(())

    # Annotations

    def set_annotations(self, docs: Iterable[Doc], scores: Parses) -> None:
        """Write tags and sentence starts to tokens that have none, and heads if there are any.

        A Doc that has heads keeps them, unless `overwrite_heads` is set.
        """
        docs = list(docs)
        sentences, parses = scores
        starts: list[set[int]] = [{0} for _ in docs]
        with_heads = bool(self.relations)
        heads = [[-1] * len(doc) for doc in docs] if with_heads else []
        deps = [[""] * len(doc) for doc in docs] if with_heads else []
        root = None  # of the sentence whose later pieces may follow
        for k, sentence in enumerate(sentences):
            if sentence.first:
                starts[sentence.doc].add(sentence.start)
                root = None
            parse = parses.get(k)
            words = sentence.words.tolist()
            if self.tags and parse is not None:
                doc = docs[sentence.doc]
                for i, tag in zip(words, parse.tags.tolist(), strict=True):
                    token = doc[i]
                    if not token.tag:
                        token.tag_ = self.tags[tag]
            if with_heads:
                root = self._attach(sentence, parse, root, heads[sentence.doc], deps[sentence.doc])
        for doc, starts_of_doc in zip(docs, starts, strict=True):
            known = doc.has_annotation("SENT_START")
            if self.settings["sentences"] == "doc":
                # boundaries inside would cut the tree; those of a parser can't be undone
                known = doc.has_annotation("DEP")
            if len(doc) and not known:
                # not token.is_sent_start, whose setter looks at the whole Doc every time
                values: Any = numpy.full(len(doc), -1, dtype="int64")
                values[list(starts_of_doc)] = 1
                doc.from_array([SENT_START], values.view("uint64"))
        for doc, of_doc, relations in zip(docs, heads, deps, strict=False):
            if doc.has_annotation("DEP") and not self.overwrite_heads:
                continue
            # whitespace alone in its sentence, or between the pieces of one
            for i in (i for i, head in enumerate(of_doc) if head < 0):
                if i == 0 or (self.settings["sentences"] != "doc" and doc[i].is_sent_start):
                    of_doc[i], relations[i] = i, ROOT
                else:
                    of_doc[i], relations[i] = i - 1, UNKNOWN_RELATION
            set_dependencies(doc, of_doc, relations)

    def _attach(
        self,
        sentence: Sentence,
        parse: SentenceParse | None,
        root: int | None,
        heads: list[int],
        deps: list[str],
    ) -> int:
        """Write the heads of one sentence, or piece of one, to the lists of its Doc.

        root: of the sentence's first piece, if this is a later one: pieces must hang together to
        be one sentence. A sentence that was not parsed hangs on its first word. Whitespace
        belongs to the token before it; without a relation spaCy would deny that it has a head.
        Returns the root.
        """
        words = sentence.words.tolist()
        if parse is None or parse.heads is None or parse.relations is None:
            of_words = [0, *[1] * (len(words) - 1)]
            relations = [UNKNOWN_RELATION] * len(words)
        else:
            of_words = parse.heads.tolist()
            relations = [self.relations[k] for k in parse.relations.tolist()]
        new_root = words[of_words.index(0)]
        for i, head, relation in zip(words, of_words, relations, strict=True):
            heads[i], deps[i] = words[head - 1], relation
            if head == 0:
                heads[i], deps[i] = (i, ROOT) if root is None else (root, UNKNOWN_RELATION)
        is_word = set(words)
        for i in range(sentence.start, sentence.end):
            if i not in is_word:
                heads[i], deps[i] = words[0] if i < words[0] else i - 1, UNKNOWN_RELATION
        return new_root if root is None else root


def padded(like: Tensor, rows: Iterable[list[int]]) -> Tensor:
    """Rows of numbers as [B, n], n and the device those of `like` [B, n, …]; -1 behind a row."""
    padded = numpy.full(like.shape[:2], -1, dtype=numpy.int64)
    for row, values in enumerate(rows):
        padded[row, : len(values)] = values
    return torch.from_numpy(padded).to(like.device)


def detached(scores: S) -> S:
    """Leaves of their own with the values of scores, in the same tuple."""
    return type(scores)._make(  # type: ignore[attr-defined]
        None if s is None else s.detach().requires_grad_() for s in scores
    )


def gradients(leaves: S) -> S:
    """The gradients of scores, in the same tuple."""
    return type(leaves)._make(  # type: ignore[attr-defined]
        None if leaf is None else leaf.grad if leaf.grad is not None else torch.zeros_like(leaf)
        for leaf in leaves
    )
