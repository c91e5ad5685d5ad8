"""LISA's network, and its Thinc model from Docs with given heads to scores."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from typing import Any, ClassVar, NamedTuple, cast

import numpy
import torch
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d
from torch import Tensor, nn
from torch.nn import functional as F

from ..batching.batches import (
    ParserScores,
    SentenceBatch,
    padded,
    score_sentences,
    sentence_model,
)
from ..batching.sentences import Sentence, heads_in_words
from ..bridge.shim import torch_shim
from ..bridge.weights import Header
from ..layers.biaffine import LabelFactors, Matrices, label_scores
from ..layers.bilstm import Steps
from ..layers.dropout import FeatureDropout
from ..layers.input_encoders import BiLSTMInput, BiLSTMInputEncoder, ReadWords
from ..layers.lisa_encoder import LisaEncoder, LisaEncoderSettings
from ..layers.precision import Precision
from ..layers.role_paths import RolePaths, dependency_paths, path_vectors
from ..layers.role_scorer import RoleScorer, RoleScorerSettings, role_scores
from ..layers.settings import with_settings_of
from ..parsing.network import Abilities
from ..structure.arborescence import mask_padding

NAMES = ("joint", "roles", "tags", "relations")
"""Kinds of names with one output each, in the header and the component's `cfg`."""


@dataclass(frozen=True)
class LisaSettings(RoleScorerSettings, LisaEncoderSettings):
    """Settings of `LisaNetwork`, beside `LisaEncoderSettings` and `RoleScorerSettings`.

    input_encoder: a BiLSTM over word vectors (`spacy-lal.BiLSTMRows.v1`), not in the paper;
        self-attention reads its states and the word vectors.
    positions: whether sinusoids encode positions if there is no input_encoder. With false, the word
        vectors should tell the order of words, as those of a shared BiLSTM do.
    tag_width: width of the perceptron before tags and predicates (200).
    indicator_width: width of an embedding that marks a given predicate (predicate_source = "doc");
        a sentence is encoded once per predicate, as with the paper's gold predicates. null: a
        sentence is encoded once for all predicates.
    role_paths: let roles also depend on the dependency path from word to predicate (not in the
        paper; see `RolePaths`), which can be learned from less data. Needs a syntax_layer.
    """

    name: ClassVar[str] = "lisa"
    input_encoder: BiLSTMInput | None = None
    positions: bool = True
    tag_width: int = 200
    indicator_width: int | None = None
    role_paths: bool = False
    abilities: ClassVar[Abilities] = Abilities()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.role_paths and self.syntax_layer is None:
            raise ValueError("role_paths = true needs a syntax_layer: paths go by its heads")
        if self.input_encoder is not None and self.input_encoder.reads_doc_tags:
            raise ValueError('input_encoder.tags = "doc" is a setting of parsers: LISA finds tags')


class HeadRelations(NamedTuple):
    """Heads [B,n] and the scores [B,n,R] of their relations."""

    heads: Tensor
    scores: Tensor


class LisaScores(NamedTuple):
    """Scores of n padded words; those without a scorer in the network are None.

    joint: [B,n,J], of part-of-speech tag and predicate in one label.
    predicate, role, role_weight: factors of `roles`. tags: [B,n,T] of the lower BiLSTM.
    arcs: [B,n,n]; [i,j] scores word j as head of word i; a root is its own head.
    dependent, head, relation_weight: factors of `relations`. paths: [K,d], see `path_vectors`.
        Weights are parameters, and outputs so that their gradients return with the others.
    """

    joint: Tensor
    predicate: Tensor
    role: Tensor
    role_weight: Matrices
    tags: Tensor | None = None
    arcs: Tensor | None = None
    dependent: Tensor | None = None
    head: Tensor | None = None
    relation_weight: Matrices | None = None
    paths: Tensor | None = None

    @property
    def roles(self) -> LabelFactors:
        """Factors for `role_scores`."""
        return LabelFactors(self.predicate, self.role, self.role_weight)

    @property
    def relations(self) -> LabelFactors:
        """Factors for `label_scores` of dependent and head, in a model with syntax."""
        return LabelFactors(*cast(LabelFactors, (self.dependent, self.head, self.relation_weight)))

    def relations_of(self, heads: Tensor, near: HeadRelations | None = None) -> Tensor:
        """Return relation scores [B,n,R] of all words to their heads [B,n]. near: other heads, from
        whose scores those of the same heads are copied."""
        anew = torch.ones_like(heads, dtype=torch.bool) if near is None else heads != near.heads
        rows, at = anew.nonzero(as_tuple=True)
        scores = label_scores(self.relations, rows, at, heads[rows, at])
        if near is None:
            return scores.view(*heads.shape, -1)
        return near.scores.index_put((rows, at), scores)

    @torch.no_grad()
    def likely_heads(self, lengths: Tensor, given: Tensor | None = None) -> Tensor:
        """Return each word's most probable head [B,n], or the given one if it is not -1."""
        heads = mask_padding(cast(Tensor, self.arcs), lengths).argmax(-1)
        return heads if given is None else torch.where(given >= 0, given, heads)

    def roles_of(
        self,
        sentences: Tensor,
        predicates: Tensor,
        heads: Tensor | None = None,
        relation_scores: Tensor | None = None,
    ) -> Tensor:
        """Return role scores [P,n,L] of all words. heads [B,n]: needed only with `role_paths`;
        relation_scores [B,n,R]: those of these heads, if known."""
        added = None
        if self.paths is not None:
            assert heads is not None
            paths = dependency_paths(heads, sentences, predicates)
            with torch.no_grad():
                if relation_scores is None:
                    relation_scores = self.relations_of(heads)
                relations = relation_scores.argmax(-1)
            added = path_vectors(self.paths, paths, relations, sentences, predicates)
        return role_scores(self.roles, sentences, predicates, added)


def to_self_loops(heads: Tensor) -> Tensor:
    """Convert heads [B,n] from 0 the root, k word k to words from 0, roots their own heads."""
    own = torch.arange(heads.shape[1], device=heads.device).expand_as(heads)
    return torch.where(heads == 0, own, heads.clamp(min=0) - 1)


def from_self_loops(arcs: Tensor) -> Tensor:
    """Return arc scores [B,n,n+1] with the root as head 0, from roots on the diagonal [B,n,n]."""
    diagonal = arcs.diagonal(dim1=1, dim2=2).unsqueeze(-1)
    own = torch.eye(arcs.shape[1], dtype=torch.bool, device=arcs.device)
    return torch.cat([diagonal, arcs.masked_fill(own, -torch.inf)], -1)


class LisaNetwork(nn.Module):
    """Word vectors [B,n,d_in], lengths [B] -> `LisaScores` (Strubell et al. 2018, figure 1).

    The encoder reads word vectors and the states of a BiLSTM, if there is one. A linear classifier
    of leaky ReLUs (A.4) scores joint tags (section 2.3). heads [B,n]: see `LisaEncoder`. An
    indicator embedding marks each row's predicate, predicates [B] (-1: none); without it, rows are
    encoded for all predicates.
    """

    def __init__(self, settings: LisaSettings, d_in: int, sizes: dict[str, int]) -> None:
        """sizes: number of names of each kind."""
        super().__init__()
        self.input_encoder: BiLSTMInputEncoder | None = None
        if settings.input_encoder is not None:
            self.input_encoder = settings.input_encoder.build(d_in, sizes["tags"])
            d_in += self.input_encoder.output_dim
        self.indicator: nn.Embedding | None = None
        if settings.indicator_width is not None:
            self.indicator = nn.Embedding(2, settings.indicator_width)
            d_in += settings.indicator_width
        positions = settings.positions and settings.input_encoder is None
        self.encoder = LisaEncoder(settings, d_in, sizes["relations"], positions=positions)
        self.tag_hidden = nn.Linear(settings.width, settings.tag_width)
        self.joint = nn.Linear(settings.tag_width, sizes["joint"])
        self.roles = RoleScorer(settings, settings.width, sizes["roles"])
        self.paths: RolePaths | None = None
        if settings.role_paths:
            width = settings.role_width if settings.role_rank is None else settings.role_rank
            self.paths = RolePaths(sizes["relations"], width)
        self.dropout = FeatureDropout()

    def read(self, words: Tensor, steps: Steps) -> ReadWords | None:
        """Return what the encoder's layers read of words, and scores of tags; see
        `TagReader.read`."""
        if self.indicator is not None or not self.encoder.project.prepared():
            return None
        tags = None
        if self.input_encoder is not None:
            read = self.input_encoder.read(words, steps)
            if read is None:
                return None
            words, tags = torch.cat([words, read.states], -1), read.tags
        return ReadWords(self.encoder.projected(words), tags)

    def forward(
        self,
        x: Tensor,
        lengths: Tensor,
        heads: Tensor | None = None,
        predicates: Tensor | None = None,
        read: ReadWords | None = None,
    ) -> LisaScores:
        """read: what `read` has found of these words, in the place of x."""
        positions = torch.arange(x.shape[1], device=x.device)
        mask = positions < lengths.unsqueeze(1)
        tags = None
        if read is not None:
            words, tags = read
        else:
            words = self.dropout(x)
            if self.input_encoder is not None:
                rows, tags = self.input_encoder(x, lengths)
                # roles depend on word meaning, which a BiLSTM trained for trees may lose
                words = torch.cat([words, rows[:, 1:-1]], -1)
            if self.indicator is not None and predicates is not None:
                here = (positions == predicates.unsqueeze(1)).long()
                words = torch.cat([words, self.indicator(here)], -1)
        encoded = self.encoder(words, mask, heads, is_projected=read is not None)
        hidden = F.leaky_relu(self.tag_hidden(encoded.tagged), 0.1)
        joint = self.joint(self.dropout(hidden))
        roles: LabelFactors = self.roles(encoded.encoded)
        dependent, head, weight = encoded.relations or (None, None, None)
        paths = None if self.paths is None else self.paths()
        return LisaScores(joint, *roles, tags, encoded.arcs, dependent, head, weight, paths)


def build_network(header: Header) -> LisaNetwork:
    """Return the network of a header: d_in, `settings`, and the names of its outputs."""
    sizes = {name: max(1, len(header[name])) for name in NAMES}
    return LisaNetwork(LisaSettings.from_json(header["settings"]), header["d_in"], sizes)


class LisaInput(NamedTuple):
    """Docs, and heads and predicates given with them.
    heads: index of each token's head in the Doc, its own for a root, -1 to predict; None without
        heads. predicates: tokens, read only by a model with an indicator."""

    docs: list[Doc]
    heads: Sequence[numpy.ndarray] | None = None
    predicates: Sequence[Collection[int]] = ()


LisaPrediction = ParserScores[LisaScores]


@dataclass
class LisaBatch(SentenceBatch[LisaScores]):
    """predicates: word that each row is encoded for [B], -1 for none; with an indicator, a sentence
    has one row per predicate. heads: given ones [B,n] (see `to_self_loops`), -1 for none."""

    predicates: Tensor | None = None
    heads: Tensor | None = None


@with_settings_of(LisaSettings)
def build_lisa_v1(
    tok2vec: Model[list[Doc], list[Floats2d]],
    max_batch_spans: int = 60_000,
    prediction: Precision = "float32",
    **settings: Any,
) -> Model[LisaInput, LisaPrediction]:
    """Linguistically-informed self-attention (Strubell et al. 2018): a Thinc model.

    tok2vec: word vectors of the Docs' tokens; a listener or any other Tok2Vec model.
    max_batch_spans: greatest number of pairs of words, halved, in sentences padded together.
    prediction: as in `spacy-lal.LabelAttentionParser.v1`. settings: see `LisaSettings`.
    """
    own = LisaSettings(**settings)
    return sentence_model(
        "lisa", tok2vec, _forward, build_network, NAMES, own, max_batch_spans, prediction
    )


def lisa_settings(model: Model) -> LisaSettings:
    """Return the settings of a model's network."""
    return cast(LisaSettings, model.attrs["settings"])


def _forward(
    model: Model[LisaInput, LisaPrediction], inputs: LisaInput, is_train: bool
) -> tuple[LisaPrediction, Callable[[LisaPrediction], list[Doc]]]:
    run = partial(
        torch_shim(model).run,
        is_train=is_train,
        dropout=model.attrs["dropout_rate"],
        prediction=model.attrs["prediction"],
    )
    indicator = lisa_settings(model).indicator_width is not None

    def score(
        sentences: list[Sentence],
        members: list[int],
        lengths: Tensor,
        x: Tensor,
        read: ReadWords | None = None,
    ) -> LisaBatch:
        heads = predicates = None
        if indicator:
            rows, predicates = _by_predicate([sentences[k] for k in members], inputs.predicates)
            members, predicates = [members[row] for row in rows], predicates.to(x.device)
            lengths, x = lengths[rows], x[rows]
        if inputs.heads is not None:
            given = [(inputs.heads[sentences[k].doc], sentences[k]) for k in members]
            heads = to_self_loops(padded(x, starmap(heads_in_words, given)))
        scores = run(x, lengths, heads, predicates, read)
        return LisaBatch(members, lengths, scores, predicates, heads)

    return score_sentences(model, inputs.docs, is_train, score)


def _by_predicate(
    sentences: list[Sentence], predicates: Sequence[Collection[int]]
) -> tuple[list[int], Tensor]:
    """Return the sentence of each row, and the row's predicate word, -1 for none."""
    found = [
        (row, word)
        for row, sentence in enumerate(sentences)
        for word in places(predicates[sentence.doc] if predicates else (), sentence) or [-1]
    ]
    return [row for row, _ in found], torch.tensor([word for _, word in found])


def places(tokens: Collection[int], sentence: Sentence) -> list[int]:
    """Return the places, in the sentence, of words whose tokens are in `tokens`."""
    return [i for i, token in enumerate(sentence.words.tolist()) if token in tokens]
