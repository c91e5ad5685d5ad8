"""`ParserPipe`, the base class of all parsers."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import Any

import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from thinc.api import Model
from torch import Tensor

from ..batching.batches import ParserScores, SentenceBatch, differentiate
from ..batching.sentences import LongSentencePolicy, Reading, Sentence, SentencePolicy
from ..pipeline.component import WeightsPipe
from ..pipeline.examples import Counts, Names, Reader, count
from ..pipeline.writers import ROOT, Parses, write_heads, write_sentence_starts, write_tags
from ..structure.arborescence import mask_padding
from ..structure.distributions import FoundTrees
from .decoders import read_parses
from .gold_trees import WordGold, read_words
from .network import OneStageScores, Scores, abilities
from .objectives import dependency_loss, word_loss
from .teacher_marginals import Targets, Taught, batch_targets, soft_word_loss

StructureLoss = Callable[[list[Sentence], Scores, Tensor, Taught | None], Tensor]
"""The loss of a batch's charts: of sentences, scores, lengths and the targets of a teacher."""

DEFAULT_INPUT: dict[str, Any] = {
    "tok2vec": {"@architectures": "spacy-lal.WordAffixEmbed.v1"},
    "input_encoder": {"@misc": "spacy-lal.BiLSTMRows.v1"},
}
"""The embedding and the input encoder of the default models of all parsers."""
DEFAULT_ENCODER = DEFAULT_INPUT | {"encoder": {"@misc": "spacy-lal.LabelAttentionEncoder.v1"}}
"""`DEFAULT_INPUT` with label attention."""


@dataclass(eq=False, repr=False)
class ParserPipe(WeightsPipe):
    """Base class of parsers, with the settings that all of them have; `cfg[kind]`, for each of
    `kinds`, has the names of outputs."""

    nlp: InitVar[Language]
    # field(): spaCy's attributes of these names are no default values
    name: str = field()
    model: Model = field()
    _: KW_ONLY
    arc_weight: float = 1.0
    relation_weight: float = 1.0
    tag_weight: float = 1.0
    overwrite_heads: bool = False
    sentences: SentencePolicy = "split"
    max_sentence_length: int = 512
    long_sentences: LongSentencePolicy = "split"
    scorer: Callable | None = field()

    def __post_init__(self, nlp: Language) -> None:
        self.reading = Reading(self.sentences, self.max_sentence_length, self.long_sentences)
        self.max_batch_spans = self.model.attrs.get("max_batch_spans")
        names: dict[str, list[str]] = {kind: [] for kind in self.kinds}
        super().__init__(nlp.vocab, self.model, self.name, self.scorer, **names)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of names of outputs."""
        raise NotImplementedError

    def _configure_model(self) -> None:
        super()._configure_model()
        self.model.attrs.update(reading=self.reading, max_batch_spans=self.max_batch_spans)

    @property
    def tags(self) -> tuple[str, ...]:
        """The part-of-speech tags that the parser predicts."""
        return tuple(self.cfg["tags"]) if abilities(self.model).predicts_tags else ()

    @property
    def relations(self) -> tuple[str, ...]:
        """The dependency relations; none if the model has no `dependencies`."""
        return tuple(self.cfg.get("relations", ()))

    @property
    def root(self) -> int | None:
        """The number of the root relation, which never holds between words; None without one."""
        if abilities(self.model).free_relations:
            return None
        names = [relation.upper() for relation in self.relations]
        return names.index(ROOT) if ROOT in names else None

    @property
    def label_data(self) -> dict[str, list[str]]:
        return {kind: list(self.cfg.get(kind, ())) for kind in self.kinds}

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: dict[str, list[str]] | None = None,
        warm_start: str | None = None,
    ) -> None:
        """Read names and vocabulary from the training data and set up the model.

        labels: names by kind, as from `label_data` (`spacy init labels`), instead of reading them.
        warm_start: a trained pipeline (a folder or an installed package) whose parser's weights are
            copied where they fit; new words are appended to its vocabulary.
        Raises ValueError if no example has trees, heads (a joint model needs both) or frames, as
        the component needs, or if constituents cross.
        """
        validate_get_examples(get_examples, f"{self.name}.initialize")
        counts = count(get_examples(), read_words, *self._readers())
        labels = self._settle(counts, labels)
        for kind in self.kinds:
            able = abilities(self.model)
            if kind == "tags" and not (able.predicts_tags or able.reads_tags):
                continue
            if labels is not None:
                self.cfg[kind] = list(labels.get(kind, ()))
            else:
                known = self.cfg[kind]
                self.cfg[kind] = [*known, *sorted(set(counts.names[kind]) - set(known))]
        self._initialize_weights(get_examples, counts.sample, warm_start, nlp)

    def _readers(self) -> list[Reader]:
        """The readers of the training data, except the reader of words."""
        return []

    def _settle(self, counts: Counts, labels: Names | None) -> Names | None:
        """Log what is lacking and return the names to use, None for those that were counted."""
        raise NotImplementedError

    def get_loss(
        self, examples: Iterable[Example], scores: ParserScores
    ) -> tuple[float, ParserScores]:
        """Return the loss per word and its gradient with respect to every score. Sentences without
        a tree, words without a head or tag, and unknown labels don't count."""
        examples = list(examples)
        validate_examples(examples, f"{self.name}.get_loss")
        batches = list(scores.batches)
        total = sum(int(batch.lengths.sum()) for batch in batches) or 1
        taught_docs = self._taught(examples, scores.sentences)
        gold = WordGold(self.cfg, examples, [targets is not None for targets in taught_docs])
        for kind, names in gold.names.items():
            if not self.cfg.get(kind):
                continue  # not predicted at all
            self._warn_unknown(kind, Counter(name for doc_names in names for name in doc_names))
        structure_loss = self._structure_loss(examples)

        def loss(batch: SentenceBatch[Scores], members: list[Sentence]) -> Tensor:
            leaves = batch.scores
            taught = None
            if isinstance(leaves, OneStageScores):
                taught = batch_targets(members, taught_docs, leaves, self.cfg)
            value = structure_loss(members, leaves, batch.lengths, taught)
            if self.tags or not self.cfg["tags"]:  # not given
                tags = gold.numbers("tags", members, leaves.tags)
                value = value + self.tag_weight * word_loss(leaves.tags, tags)
                if taught is not None:
                    of_tags = soft_word_loss(leaves.tags[taught.rows], taught.tags)
                    value = value + self.tag_weight * of_tags
            if isinstance(leaves, OneStageScores) and leaves.arcs is not None:
                heads = gold.heads(members, leaves.tags)
                governors = heads.clamp(min=0)
                if taught is not None:
                    governors[taught.rows] = taught.heads.argmax(-1)
                relations = leaves.relations_of(governors)
                arc_loss, relation_loss = dependency_loss(
                    leaves.arcs,
                    relations,
                    heads,
                    gold.numbers("relations", members, leaves.tags),
                    batch.lengths,
                )
                if taught is not None:
                    arcs = mask_padding(leaves.arcs, batch.lengths)[taught.rows]
                    arc_loss = arc_loss + soft_word_loss(arcs, taught.heads)
                    of_relations = soft_word_loss(relations[taught.rows], taught.relations)
                    relation_loss = relation_loss + of_relations
                value = value + self.arc_weight * arc_loss + self.relation_weight * relation_loss
            return value / total

        return differentiate(scores.sentences, batches, loss)

    def _structure_loss(self, examples: list[Example]) -> StructureLoss:
        """The loss of a batch's charts, summed over its sentences; 0 here, without charts."""
        return lambda members, scores, lengths, taught: scores.tags.new_zeros(())

    def _taught(self, examples: list[Example], sentences: list[Sentence]) -> list[Targets | None]:
        """Return the targets of each Doc that a teacher has annotated; none for this parser."""
        return [None] * len(examples)

    @torch.inference_mode()
    def predict(self, docs: Iterable[Doc]) -> Parses:
        """Return all sentences, and their parses by sentence index."""
        self._check_initialised()
        scores = self.model.predict(list(docs))
        return scores.sentences, read_parses(scores, self.find, self.root)

    def find(self, scores: Scores, lengths: Tensor) -> FoundTrees:
        """Choose the trees, heads or both of a padded batch."""
        raise NotImplementedError

    def set_annotations(self, docs: Iterable[Doc], scores: Parses) -> None:
        """Write tags, sentence starts and heads where they are missing; see `overwrite_heads`."""
        docs = list(docs)
        whole_docs = self.reading.sentences == "doc"
        tags, heads = self.overwritten(docs)
        if self.tags:
            self._write_tags(docs, scores, tags)
        write_sentence_starts(docs, scores, whole_docs=whole_docs)
        if self.relations:
            write_heads(docs, scores, self.relations, whole_docs=whole_docs, overwrite=heads)

    def overwritten(self, docs: Sequence[Doc]) -> tuple[list[bool], list[bool]]:
        """Return whether to overwrite each Doc's tags, and whether to overwrite its heads."""
        return [False] * len(docs), [self.overwrite_heads] * len(docs)

    def _write_tags(self, docs: list[Doc], scores: Parses, overwrite: list[bool]) -> None:
        write_tags(docs, scores, self.tags, overwrite=overwrite)
