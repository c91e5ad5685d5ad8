"""`lal_dependency`: dependency heads by label attention (Mrini et al. 2020)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example
from torch import Tensor

from ..pipeline.component import register_factory
from ..pipeline.examples import Counts, Names
from ..structure.distributions import FoundTrees
from .component import DEFAULT_ENCODER, ParserPipe
from .decoders import HEAD_DECODERS, HeadDecoderName
from .network import OneStageScores, Scores, abilities


@dataclass(eq=False, repr=False, kw_only=True)
class LabelAttentionDependency(ParserPipe):
    """`lal_dependency`: writes `token.head` and `token.dep`, and tags where there are none.

    model: maps Docs to `ParserScores` with arcs. decoder: "nonprojective", the best tree;
        "projective", the best without crossing arcs; "greedy", every word's best head, or the
        best projective tree if these make no tree. All trees have one root.
    arc_weight, relation_weight, tag_weight: weights of the losses. overwrite_heads: overwrite heads
        that another parser has set; sentence boundaries then follow the new heads.
    sentences, max_sentence_length, long_sentences: see `Reading`; all words of a "flat" sentence
        are attached to its first word.
    """

    decoder: HeadDecoderName = "nonprojective"
    overwrite_heads: bool = True
    kinds = ("relations", "tags")
    label_kind = "relations"

    def __post_init__(self, nlp: Language) -> None:
        if not abilities(self.model).finds_heads:
            raise ValueError(
                'the model of "lal_dependency" has no `dependencies`: use '
                '"spacy-lal.LabelAttentionDependencyParser.v1"'
            )
        super().__post_init__(nlp)

    _gold = "dependency heads"

    def _has_gold(self, doc: Doc) -> bool:
        return doc.has_annotation("DEP")

    @property
    def labels(self) -> tuple[str, ...]:
        """The dependency relations."""
        return self.relations

    def _settle(self, counts: Counts, labels: Names | None) -> Names | None:
        counts.require(self.name, labels, "relations", "dependency heads", "relation")
        counts.tell_lacking(self.name, "heads", "have no heads and train tags only")
        return labels

    def find(self, scores: Scores, lengths: Tensor) -> FoundTrees:
        assert isinstance(scores, OneStageScores)
        assert scores.arcs is not None
        return FoundTrees(None, heads=HEAD_DECODERS[self.decoder](scores.arcs, lengths))

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Return the scorer's scores, and `tag_acc`."""
        examples = list(examples)
        return super().score(examples, **kwargs) | Scorer.score_token_attr(examples, "tag")


make_lal_dependency = register_factory(
    "lal_dependency",
    LabelAttentionDependency,
    assigns=["token.head", "token.dep", "token.tag", "token.is_sent_start", "doc.sents"],
    score_weights={
        "dep_las": 1.0,
        "dep_uas": 0.0,
        "dep_las_per_type": None,
        "conll18_las": 0.0,
        "tag_acc": None,
    },
    model={
        "@architectures": "spacy-lal.LabelAttentionDependencyParser.v1",
        "dependencies": {"@misc": "spacy-lal.BiaffineDependencies.v1"},
        **DEFAULT_ENCODER,
    },
    scorer={"@scorers": "spacy-lal.attachment_scorer.v1"},
)
