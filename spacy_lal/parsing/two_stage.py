"""The architecture of two stages: a CRF over binary trees, then labels."""

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..batching.batches import ParserScores
from .input_encoders import InputEncoder
from .model import parser_model
from .settings import EncoderSettings, ParserSettings
from .spans import SpanSettings


def build_two_stage_parser_v1(
    tok2vec: Model[list[Doc], list[Floats2d]],
    input_encoder: InputEncoder,
    encoder: EncoderSettings,
    spans: SpanSettings,
    max_batch_spans: int = 60_000,
) -> Model[list[Doc], ParserScores]:
    """The two-stage parser of Zhang et al. 2020: a CRF over unlabelled binary trees, then labels.

    With `spacy-lal.BranchRows.v1` and a label attention encoder it is the parser of Vu-Tran et al.
    With `spacy-lal.TransformerSpans.v1` it is SpanFormer (Floquet et al.).

    tok2vec: word vectors of the Docs' tokens; a listener or any other Tok2Vec model.
    input_encoder: `spacy-lal.BiLSTMRows.v1`, `spacy-lal.PositionRows.v1` or
        `spacy-lal.BranchRows.v1`.
    encoder: `spacy-lal.LabelAttentionEncoder.v1`; heads = 0 and no self-attention leave it out.
    spans: `spacy-lal.BiaffineSpans.v1` or `spacy-lal.TransformerSpans.v1`. max_batch_spans:
    sentences are padded together as long as their charts hold no more than this number of spans.

    See `parser_model`.
    """
    return parser_model(
        tok2vec, max_batch_spans, ParserSettings(input_encoder, encoder, spans=spans)
    )
