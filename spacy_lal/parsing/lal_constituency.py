"""`lal_constituency`: constituents, or these and heads, by label attention (Mrini et al. 2020)."""

from collections.abc import Callable

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Config, Model

from ..batching.batches import ParserScores
from ..batching.sentences import LongSentencePolicy, SentencePolicy
from .constituency import ASSIGNS, SCORE_WEIGHTS, ConstituencyPipe
from .decoders import Decoder
from .losses import Objective
from .parser import DEFAULT_ENCODER

DEFAULT_MODEL = Config().from_str(
    """
    [model]
    @architectures = "spacy-lal.LabelAttentionParser.v1"
    hidden_width = 250
    """
    + DEFAULT_ENCODER
)["model"]
"""The model of a component whose config names none."""


@Language.factory(
    "lal_constituency",
    assigns=[*ASSIGNS, "token.head", "token.dep"],
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
    default_score_weights=SCORE_WEIGHTS,
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
) -> ConstituencyPipe:
    """Construct the component.

    model: maps Docs to `ParserScores`. objective: the loss of the charts of label scores.
    decoder: chooses the tree; minimum Bayes risk by default, which needs the CRF objective: with
        the margin objective, take `spacy-lal.map_decoder.v1`.
    joint_dependencies: train and decode heads and relations along with constituents, in a model
        that has `dependencies`.
    constituency_weight, arc_weight, relation_weight, tag_weight: weights of the losses. Each loss
        is summed over the batch and divided by its words. The paper's weights are 1, 1, 1, those
        of its released code 1, 0.5, 0.5.
    overwrite_heads: whether to overwrite the heads that another parser has set; otherwise a Doc
        that has heads gets only the trees. spans_key: the span group that holds the trees.
    sentences: "split" keeps the Doc's sentences and finds them by rule where it has none,
        "existing" raises an error where it has none, "doc" reads every Doc as one sentence.
    max_sentence_length: in words. `long_sentences` says what to do with a longer sentence: "split"
        parses it in pieces (which end after punctuation where there is any, else at the maximum
        length), "flat" gives it no constituents and no tags, "error" raises. Charts take cubic time
        and quadratic memory. A joint parser with the margin objective searches
        among all trees: 512 words take a gigabyte and some 15 seconds, 256 an eighth and one. With
        the CRF objective it searches, over 100 words, only among probable spans, which takes little
        of either (`parsing/joint.py`).
    """
    return ConstituencyPipe(
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
