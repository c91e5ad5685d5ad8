"""The architectures of the label attention parser: constituents, heads, or both."""

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..batching.batches import ParserScores
from .input_encoders import InputEncoder
from .model import parser_model
from .settings import DependencySettings, EncoderSettings, ParserSettings


def build_label_attention_parser_v1(
    tok2vec: Model[list[Doc], list[Floats2d]],
    input_encoder: InputEncoder,
    encoder: EncoderSettings,
    hidden_width: int = 250,
    max_batch_spans: int = 60_000,
    dependencies: DependencySettings | None = None,
) -> Model[list[Doc], ParserScores]:
    """The label attention parser of Mrini et al. 2020: constituents, or constituents and heads.

    tok2vec: word vectors of the Docs' tokens; a listener or any other Tok2Vec model.
    input_encoder: a BiLSTM (`spacy-lal.BiLSTMRows.v1`) or content and positions
        (`spacy-lal.PositionRows.v1`). encoder: `spacy-lal.LabelAttentionEncoder.v1`.
    hidden_width: width of the span scorer. max_batch_spans: sentences are padded together as long
        as their charts hold no more than this number of spans. dependencies: for the joint model,
        `spacy-lal.BiaffineDependencies.v1`.

    See `parser_model`.
    """
    settings = ParserSettings(input_encoder, encoder, hidden_width, dependencies)
    return parser_model(tok2vec, max_batch_spans, settings)


def build_label_attention_dependency_parser_v1(
    tok2vec: Model[list[Doc], list[Floats2d]],
    input_encoder: InputEncoder,
    encoder: EncoderSettings,
    dependencies: DependencySettings,
    max_batch_spans: int = 60_000,
) -> Model[list[Doc], ParserScores]:
    """The dependency half of the label attention parser: the same without a span scorer.

    See `build_label_attention_parser_v1`.
    """
    settings = ParserSettings(input_encoder, encoder, dependencies=dependencies)
    return parser_model(tok2vec, max_batch_spans, settings)
