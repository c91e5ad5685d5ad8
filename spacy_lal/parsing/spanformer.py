"""`spanformer`: constituents by a CRF over spans that see each other (Floquet et al.)."""

from collections.abc import Callable

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Config, Model

from ..batching.batches import ParserScores
from ..batching.sentences import LongSentencePolicy, SentencePolicy
from .constituency import ASSIGNS, SCORE_WEIGHTS, ConstituencyPipe
from .decoders import Decoder
from .losses import make_crf_objective
from .parser import DEFAULT_INPUT
from .spans import TransformerSpanSettings

DEFAULT_MODEL = Config().from_str(
    """
    [model]
    @architectures = "spacy-lal.TwoStageParser.v1"
    """
    + DEFAULT_INPUT
    + """
    [model.encoder]
    @misc = "spacy-lal.LabelAttentionEncoder.v1"
    heads = 0

    [model.spans]
    @misc = "spacy-lal.TransformerSpans.v1"
    span_width = 500
    biaffine_width = 480
    biaffine_rank = 64
    width = 48
    heads = 3
    layers = 1
    """
)["model"]
"""The model of a component whose config names none."""


@Language.factory(
    "spanformer",
    assigns=ASSIGNS,
    default_config={
        "model": DEFAULT_MODEL,
        "decoder": {"@misc": "spacy-lal.mbr_decoder.v1"},
        "tag_weight": 1.0,
        "spans_key": "constituents",
        "sentences": "split",
        "max_sentence_length": 512,
        "long_sentences": "split",
        "scorer": {"@scorers": "spacy-lal.constituency_scorer.v1"},
    },
    default_score_weights=SCORE_WEIGHTS,
)
def make_spanformer(
    nlp: Language,
    name: str,
    model: Model[list[Doc], ParserScores],
    decoder: Decoder,
    tag_weight: float,
    spans_key: str,
    sentences: SentencePolicy,
    max_sentence_length: int,
    long_sentences: LongSentencePolicy,
    scorer: Callable | None,
) -> ConstituencyPipe:
    """Construct the component.

    model: `spacy-lal.TwoStageParser.v1` with `spacy-lal.TransformerSpans.v1`. decoder, tag_weight,
    spans_key, sentences, max_sentence_length, long_sentences: as in `lal_constituency`; memory
    grows with the number of spans, a sentence of 512 words takes some 300 MB.
    Raises ValueError for a model whose spans don't attend to each other.
    """
    if not isinstance(model.attrs["settings"].spans, TransformerSpanSettings):
        raise ValueError(
            f"{name!r} needs a model whose `spans` are spacy-lal.TransformerSpans.v1; without them "
            "it is `lal_constituency`"
        )
    return ConstituencyPipe(
        nlp.vocab,
        model,
        name,
        objective=make_crf_objective(),
        decoder=decoder,
        tag_weight=tag_weight,
        spans_key=spans_key,
        sentences=sentences,
        max_sentence_length=max_sentence_length,
        long_sentences=long_sentences,
        scorer=scorer,
    )
