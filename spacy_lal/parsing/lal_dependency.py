"""`lal_dependency`: dependency heads by label attention (Mrini et al. 2020)."""

from collections.abc import Callable, Iterable
from typing import Any, Literal

from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Config, Model

from ..batching.batches import ParserScores
from ..batching.parses import SentenceParse
from ..batching.sentences import LongSentencePolicy, SentencePolicy
from ..pipeline.counts import Counts, Names
from ..pipeline.writers import Parses
from ..structure.arborescence import greedy, nonprojective, projective
from .decoders import mask_padding
from .decoding import best_tags
from .dependencies import best_relations, head_probabilities
from .network import OneStageScores
from .parser import DEFAULT_ENCODER, ParserPipe

DEFAULT_MODEL = Config().from_str(
    """
    [model]
    @architectures = "spacy-lal.LabelAttentionDependencyParser.v1"

    [model.dependencies]
    @misc = "spacy-lal.BiaffineDependencies.v1"
    arc_width = 400
    relation_width = 100
    """
    + DEFAULT_ENCODER
)["model"]
"""The model of a component whose config names none."""

HeadDecoderName = Literal["projective", "nonprojective", "greedy"]
DECODERS = {"projective": projective, "nonprojective": nonprojective, "greedy": greedy}
"""What finds the heads of a batch, by the values of `decoder` in the config."""


@Language.factory(
    "lal_dependency",
    assigns=["token.head", "token.dep", "token.tag", "token.is_sent_start", "doc.sents"],
    default_config={
        "model": DEFAULT_MODEL,
        "decoder": "nonprojective",
        "arc_weight": 1.0,
        "relation_weight": 1.0,
        "tag_weight": 1.0,
        "overwrite_heads": True,
        "sentences": "split",
        "max_sentence_length": 512,
        "long_sentences": "split",
        "scorer": {"@scorers": "spacy-lal.attachment_scorer.v1"},
    },
    default_score_weights={
        "dep_las": 1.0,
        "dep_uas": 0.0,
        "dep_las_per_type": None,
        "conll18_las": 0.0,
        "tag_acc": None,
    },
)
def make_lal_dependency(
    nlp: Language,
    name: str,
    model: Model[list[Doc], ParserScores],
    decoder: HeadDecoderName,
    arc_weight: float,
    relation_weight: float,
    tag_weight: float,
    overwrite_heads: bool,
    sentences: SentencePolicy,
    max_sentence_length: int,
    long_sentences: LongSentencePolicy,
    scorer: Callable | None,
) -> "LabelAttentionDependency":
    """Construct the component.

    model: maps Docs to `ParserScores` with arcs. decoder: "nonprojective", the best tree;
        "projective", the best without crossing arcs; "greedy", every word's best head, corrected
        if these make no tree. All trees have one root.
    arc_weight, relation_weight, tag_weight: weights of the losses. overwrite_heads: whether to
        overwrite the heads that another parser has set; the sentences then change with the heads.
    sentences: "split" keeps the Doc's sentences and finds them by rule where it has none,
        "existing" raises an error where it has none, "doc" reads every Doc as one sentence.
    max_sentence_length: in words. `long_sentences` says what to do with a longer sentence: "split"
        parses it in pieces, "flat" attaches all words to its first word, "error" raises.
    """
    return LabelAttentionDependency(
        nlp.vocab,
        model,
        name,
        decoder=decoder,
        arc_weight=arc_weight,
        relation_weight=relation_weight,
        tag_weight=tag_weight,
        overwrite_heads=overwrite_heads,
        sentences=sentences,
        max_sentence_length=max_sentence_length,
        long_sentences=long_sentences,
        scorer=scorer,
    )


class LabelAttentionDependency(ParserPipe):
    """Writes `token.head` and `token.dep`, and tags where there are none."""

    kinds = ("relations", "tags")

    def __init__(
        self,
        vocab: Vocab,
        model: Model[list[Doc], ParserScores],
        name: str,
        *,
        decoder: HeadDecoderName,
        **settings: Any,
    ) -> None:
        if model.attrs["settings"].dependencies is None:
            raise ValueError(
                'the model of "lal_dependency" has no `dependencies`: use '
                '"spacy-lal.LabelAttentionDependencyParser.v1"'
            )
        self.decoder = decoder
        super().__init__(vocab, model, name, **settings)

    _gold = "dependency heads"

    def _has_gold(self, doc: Doc) -> bool:
        return doc.has_annotation("DEP")

    @property
    def labels(self) -> tuple[str, ...]:
        """The dependency relations."""
        return self.relations

    def add_label(self, label: str) -> int:
        """Add a relation before initialisation. Returns 1 if it is new, else 0."""
        return self._add("relations", label)

    def _settle(self, counts: Counts, labels: Names | None) -> Names | None:
        counts.require(self.name, labels, "relations", "dependency heads", "relation")
        counts.tell_lacking(self.name, "heads", "have no heads and train tags only")
        return labels

    def predict(self, docs: Iterable[Doc]) -> Parses:
        """Sentences of all docs, and the parses of those that were parsed, by their index."""
        docs = list(docs)
        self._check_initialised()
        scores = self.model.predict(docs)
        parses = {}
        for batch in scores.batches:
            found = batch.scores
            assert isinstance(found, OneStageScores)
            assert found.arcs is not None
            assert found.relations is not None
            heads = DECODERS[self.decoder](found.arcs, batch.lengths)
            names = best_relations(found.relations, heads, self._root)
            arcs = mask_padding(found.arcs, batch.lengths)
            sure = head_probabilities(arcs, found.relations, heads, names).detach().cpu().numpy()
            relations, numbers = names.cpu().numpy(), heads.cpu().numpy()
            of_tags, tags = best_tags(found.tags.detach())
            for row, (member, n) in enumerate(
                zip(batch.members, batch.lengths.tolist(), strict=True)
            ):
                parses[member] = SentenceParse(
                    tags[row, :n],
                    heads=numbers[row, :n],
                    relations=relations[row, :n],
                    tag_probabilities=of_tags[row, :n],
                    head_probabilities=sure[row, :n],
                )
        return scores.sentences, parses

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """The scorer's scores, and `tag_acc`."""
        examples = list(examples)
        return super().score(examples, **kwargs) | Scorer.score_token_attr(examples, "tag")
