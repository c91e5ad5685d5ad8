"""`spacy-lal.LISA.v1`: linguistically-informed self-attention, as a config sets it."""

from typing import Literal

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..layers.input_encoders import BiLSTMInput
from .model import LisaInput, LisaPrediction, lisa_model
from .settings import LisaSettings


def build_lisa_v1(
    tok2vec: Model[list[Doc], list[Floats2d]],
    input_encoder: BiLSTMInput | None = None,
    layers: int = 4,
    heads: int = 8,
    head_width: int = 25,
    feed_forward_width: int = 800,
    feed_forward_depth: int = 2,
    tag_layer: int = 2,
    syntax_layer: int | None = 3,
    syntactic_head: Literal["biaffine", "copied"] = "biaffine",
    tag_width: int = 200,
    arc_width: int = 500,
    relation_width: int = 100,
    predicate_width: int = 200,
    role_width: int = 200,
    role_rank: int | None = None,
    layer_dropout: float | None = 0.1,
    indicator_width: int | None = None,
    role_paths: bool = False,
    max_batch_spans: int = 60_000,
) -> Model[LisaInput, LisaPrediction]:
    """Linguistically-informed self-attention (Strubell et al. 2018).

    tok2vec: word vectors of the Docs' tokens; a listener or any other Tok2Vec model.
    input_encoder: a BiLSTM over the word vectors (`spacy-lal.BiLSTMRows.v1`), which the paper
        doesn't have; self-attention reads its states and the word vectors. null leaves it
        out; then sinusoids encode positions. The numbers in brackets below are the paper's.
    layers, heads, head_width: number of self-attention layers, number of their heads, width of a
        head (10 or 12, 8 and 25).
    feed_forward_width, feed_forward_depth: width and number of the hidden layers between two
        self-attention layers (800, 2).
    tag_layer: the layer after which tags and predicates are found (3). syntax_layer: the layer,
        counted from 1, one of whose heads is the parser (6); the layers above use its output;
        null: self-attention without syntax. syntactic_head: "biaffine", the head itself is the
        parser (the paper); "copied", the head copies the scores of a parser on the layer below
        (the released code).
    tag_width, arc_width, relation_width, predicate_width, role_width: widths of the perceptrons
        before each task (200, 500, 100, 200, 200). role_rank: number of rank-one matrices that the
        roles share; null gives each role a full matrix, as in the paper.
    layer_dropout: dropout rate of self-attention and feed-forward layers (0.1); the perceptrons and
        the BiLSTM have the training's rate. null: all have the training's rate.
    indicator_width: encode a sentence once for each predicate, which must be given
        (predicate_source = "doc") and is marked by an embedding of this width, as for the paper's
        gold predicates; null: encode a sentence once for all predicates.
    role_paths: let roles also depend on the dependency path from the word to the predicate (not in
        the paper; see `RolePaths`), which can be learned from less data. Needs a syntax_layer.
    max_batch_spans: sentences are padded together as long as they have no more than twice this
        number of pairs of words.
    """
    settings = LisaSettings(
        input_encoder=input_encoder,
        layers=layers,
        heads=heads,
        head_width=head_width,
        feed_forward_width=feed_forward_width,
        feed_forward_depth=feed_forward_depth,
        tag_layer=tag_layer,
        syntax_layer=syntax_layer,
        syntactic_head=syntactic_head,
        tag_width=tag_width,
        arc_width=arc_width,
        relation_width=relation_width,
        predicate_width=predicate_width,
        role_width=role_width,
        role_rank=role_rank,
        layer_dropout=layer_dropout,
        indicator_width=indicator_width,
        role_paths=role_paths,
    )
    return lisa_model(tok2vec, max_batch_spans, settings)
