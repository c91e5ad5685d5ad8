"""`spacy-lal.LISA.v1`: linguistically-informed self-attention, as a config sets it."""

from __future__ import annotations

from typing import Literal

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..parser.input_encoders import BiLSTMInput
from .model import LisaInput, LisaPrediction, lisa_model
from .settings import LisaSettings


def build_lisa_v1(
    tok2vec: Model[list[Doc], list[Floats2d]],
    rows: BiLSTMInput | None = None,
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
    rows: a BiLSTM over them (`spacy-lal.BiLSTMRows.v1`), whose states self-attention reads beside
        the words' vectors, and which the paper has not; null leaves it out. Without it, sinusoids
        tell positions.
    layers, heads, head_width: of self-attention (10 or 12, 8 and 25 in the paper).
    feed_forward_width, feed_forward_depth: hidden layers between two of them (800, 2).
    tag_layer: after how many layers tags and predicates are found (3). syntax_layer: which layer,
        counted from 1, has the head that is the parser (6); layers above it spread what it found;
        null: none, self-attention without syntax. syntactic_head: the parser is that head
        ("biaffine", the paper), or its scores, from the layer below, are handed over ("copied", its
        released code).
    tag_width, arc_width, relation_width, predicate_width, role_width: of the perceptrons before
        each task (200, 500, 100, 200, 200). role_rank: share this number of rank-one matrices
        among the roles; null gives each a full one, as the paper does.
    layer_dropout: in self-attention and what is between (0.1), where the rate of the training is
        for perceptrons and the BiLSTM; null: the training's there, too.
    indicator_width: encode a sentence once for each predicate, which must be given
        (predicate_source = "doc"), told from other words by an embedding of this width, as for the
        paper's gold predicates; null: once for all.
    role_paths: let roles see the dependency path from the word to the predicate, too (not in the
        paper; see `RolePaths`), which less data teaches more. Needs a syntax_layer.
    max_batch_spans: sentences are padded together as long as their pairs of words number no more
        than twice this.
    """
    settings = LisaSettings(
        input_encoder=rows,
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
