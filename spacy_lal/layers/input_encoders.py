"""Input encoders: from word vectors to the rows START, words, STOP that label attention reads. They
predict each word's tag and pass on the expected tag embedding, or read given tags (`TagSource`); a
BiLSTM may do without, and those of a shared encoder pass nothing on."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

import torch
from torch import Tensor, nn

from .bilstm import BiLSTM, Steps
from .dropout import FeatureDropout
from .integers import Linear, wide_if_rounded
from .layer_norm import LayerNorm
from .settings import Settings

TagSource = Literal["model", "doc"]
"""Tags that are read: the model's own, or the Doc's, gold or of a tagger, as in Mrini et al. 2020
(section 3.1) and Vu-Tran et al. (section 2.2)."""
CERTAIN = 100.0
"""Score of a given tag; that of all others is 0."""
LEAST_SHARE = 1e-30
"""Least share of a tag whose logarithm is its score."""


@dataclass(frozen=True)
class InputSettings(Settings):
    """Base class of settings of input encoders. tags: see `TagSource`."""

    tags: TagSource = field(default="model", kw_only=True)

    @property
    def reads_doc_tags(self) -> bool:
        return self.tags == "doc"

    @property
    def predicts_tags(self) -> bool:
        return not self.reads_doc_tags


class ReadWords(NamedTuple):
    """What an encoder has read of words: states [..., d], and scores of tags [..., T], if any."""

    states: Tensor
    tags: Tensor | None

    def at(self, rows: Tensor) -> "ReadWords":
        """Returns what was read of some words, by their places in the first dimension."""

        def of(x: Tensor) -> Tensor:
            # as x[rows] does it, in a quarter of the time
            return x.index_select(0, rows.flatten()).unflatten(0, rows.shape)

        return ReadWords(of(self.states), None if self.tags is None else of(self.tags))


class TagReader(nn.Module):
    """Base class of encoders that read tags: predicted by `tag_scores`, given without."""

    def __init__(self) -> None:
        super().__init__()
        self.tag_scores: nn.Linear | None = None

    def read(self, words: Tensor, steps: Steps) -> ReadWords | None:
        """Predicts for words [W, d_in] of many sentences at once, without padding. None if this
        encoder reads padded batches alone."""
        return None

    def read_tags(self, words: Tensor, given: Tensor | None, n_tags: int) -> tuple[Tensor, Tensor]:
        """Returns scores and shares of each word's tags [B, n, T]. given: numbers of tags [B, n],
        -1 for one that is unknown or missing, whose shares are 0."""
        if self.tag_scores is not None:
            tags: Tensor = self.tag_scores(words)
            return tags, torch.softmax(tags, -1)
        if given is None:
            raise ValueError('tags = "doc" needs the tags of the Docs')
        shares = (given.unsqueeze(-1) == torch.arange(n_tags, device=given.device)).to(words.dtype)
        return CERTAIN * shares, shares


def row_mask(lengths: Tensor, n: int) -> Tensor:
    """Returns [B, n+2], True at START, the sentence's words and STOP."""
    return torch.arange(n + 2, device=lengths.device) < (lengths + 2).unsqueeze(1)


def with_start_and_stop(words: Tensor, lengths: Tensor, start: Tensor, stop: Tensor) -> Tensor:
    """Words [B, n, d] -> rows [B, n+2, d], STOP right after each sentence's last word."""
    batch, n, d = words.shape
    rows = torch.cat([start.expand(batch, 1, d), words, words.new_zeros(batch, 1, d)], 1)
    rows.masked_fill_(~row_mask(lengths, n).unsqueeze(-1), 0.0)
    rows[torch.arange(batch, device=words.device), lengths + 1] = stop
    return rows


@dataclass(frozen=True)
class BiLSTMInput(InputSettings):
    """A BiLSTM over each sentence (`spacy-lal.BiLSTMRows.v1`).

    hidden_width: width of each direction. tag_depth: number of the `depth` layers below the tags;
    the layers above read the expected tag embedding, `tag_width` wide. 0: the parser predicts and
    writes no tags, as that of Zhang et al. 2020, and tag_width has no meaning. A depth of 0 as well
    leaves the words' vectors as they are, for a pretrained encoder. mixed_precision: train with
    bfloat16 products, where the processor has them.
    """

    name: ClassVar[str] = "spacy-lal.BiLSTMRows.v1"
    hidden_width: int = 300
    depth: int = 3
    tag_depth: int = 1
    tag_width: int = 64
    mixed_precision: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reads_doc_tags and not self.tag_depth:
            raise ValueError('tags = "doc" needs a layer above the tags: tag_depth > 0')

    @property
    def predicts_tags(self) -> bool:
        return self.tag_depth > 0 and super().predicts_tags

    def build(self, d_in: int, n_tags: int) -> "BiLSTMInputEncoder":
        return BiLSTMInputEncoder(self, d_in, n_tags)


class TaggingBiLSTM(TagReader):
    """Word vectors [B, n, d_in] -> `ReadWords`, padded or not: states [B, n, output_dim] and tag
    scores [B, n, T]. Without tags there are none; without an LSTM, states are words' vectors."""

    def __init__(self, settings: BiLSTMInput, d_in: int, n_tags: int) -> None:
        super().__init__()
        depth, tag_depth, d_hidden = settings.depth, settings.tag_depth, settings.hidden_width
        if not 0 <= tag_depth < max(1, depth):
            raise ValueError(
                f"tag_depth must be from 0 to depth - 1, got tag_depth = {tag_depth} and depth "
                f"= {depth}"
            )
        mixed = settings.mixed_precision
        self.output_dim = 2 * d_hidden if depth else d_in
        self.lower = BiLSTM(d_in, d_hidden, tag_depth or depth, mixed_precision=mixed)
        self.upper: BiLSTM | None = None
        if tag_depth:
            if settings.predicts_tags:
                self.tag_scores = Linear(2 * d_hidden, n_tags)
            self.tag_embedding = nn.Parameter(torch.randn(n_tags, settings.tag_width) * 0.3)
            self.upper = BiLSTM(
                2 * d_hidden + settings.tag_width,
                d_hidden,
                depth - tag_depth,
                mixed_precision=mixed,
            )
        self.dropout = FeatureDropout()

    def read_padded(self, x: Tensor, lengths: Tensor, given: Tensor | None = None) -> ReadWords:
        """Reads the words [B, n, d_in] of padded sentences. given: as in `read_tags`."""
        return self._read(lambda lstm, words: lstm(words, lengths), x, given)

    def read(self, words: Tensor, steps: Steps) -> ReadWords | None:
        reads_tags = self.upper is not None and self.tag_scores is None
        if reads_tags or not self.lower.prepared():
            return None
        return self._read(lambda lstm, words: lstm.read(words, steps), words, None)

    def _read(
        self, run: Callable[[BiLSTM, Tensor], Tensor], x: Tensor, given: Tensor | None
    ) -> ReadWords:
        states, tags = run(self.lower, x), None
        if self.upper is not None:
            embedding = self.tag_embedding
            tags, shares = self.read_tags(self.dropout(states), given, len(embedding))
            shares = wide_if_rounded(shares, self.upper)
            expected = shares @ embedding.to(shares)
            states = run(self.upper, torch.cat([states, expected.to(states)], -1))
        return ReadWords(states, tags)


class BiLSTMInputEncoder(TaggingBiLSTM):
    """Word vectors [B, n, d_in] -> rows [B, n+2, 2 * hidden_width], tag scores [B, n, T]. Without
    tags there are no tag scores; without an LSTM the rows are d_in wide."""

    d_around = 0

    def __init__(self, settings: BiLSTMInput, d_in: int, n_tags: int) -> None:
        super().__init__(settings, d_in, n_tags)
        self.start = nn.Parameter(torch.randn(self.output_dim) * 0.1)
        self.stop = nn.Parameter(torch.randn(self.output_dim) * 0.1)

    def forward(
        self,
        x: Tensor,
        lengths: Tensor,
        given: Tensor | None = None,
        read: ReadWords | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """read: what `read` has found of these words."""
        if read is None:
            read = self.read_padded(x, lengths, given)
        states = self.dropout(read.states)
        return with_start_and_stop(states, lengths, self.start, self.stop), read.tags


@dataclass(frozen=True)
class SharedInput(InputSettings):
    """The vectors of a shared encoder as they are (`spacy-lal.SharedRows.v1`). No layer reads tags.

    width: number of features that are states; behind them are the shares of tags that the encoder
    has found (`tags` of `spacy-lal.SentenceBiLSTM.v1`), which are the parser's, and so many as are
    `passed` on to other components. width null: all are states, from which the parser scores tags.
    """

    name: ClassVar[str] = "spacy-lal.SharedRows.v1"
    width: int | None = None
    passed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reads_doc_tags:
            raise ValueError('tags = "doc" is not for spacy-lal.SharedRows.v1: it reads no tags')

    def build(self, d_in: int, n_tags: int) -> "SharedInputEncoder":
        return SharedInputEncoder(self, d_in, n_tags)


class SharedInputEncoder(TagReader):
    """Word vectors [B, n, d_in] -> rows [B, n+2, width], tag scores [B, n, T]."""

    d_around = 0

    def __init__(self, settings: SharedInput, d_in: int, n_tags: int) -> None:
        super().__init__()
        self.n_tags = n_tags
        self.output_dim = d_in - settings.passed if settings.width is None else settings.width
        if settings.width is None:
            self.tag_scores = Linear(self.output_dim, n_tags)
        elif (n_shares := d_in - settings.width - settings.passed) != n_tags:
            raise ValueError(
                f"the shared encoder's vectors are {d_in} wide: {settings.width} features, "
                f"{n_shares} tags and {settings.passed} passed on, but the parser has {n_tags} tags"
            )
        self.start = nn.Parameter(torch.randn(self.output_dim) * 0.1)
        self.stop = nn.Parameter(torch.randn(self.output_dim) * 0.1)
        self.dropout = FeatureDropout()

    def forward(
        self, x: Tensor, lengths: Tensor, given: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        words = self.dropout(x[..., : self.output_dim])
        if self.tag_scores is None:
            shares = x[..., self.output_dim : self.output_dim + self.n_tags]
            tags = shares.clamp(min=LEAST_SHARE).log()
        else:
            tags = self.tag_scores(words)
        return with_start_and_stop(words, lengths, self.start, self.stop), tags


def with_positions(content: Tensor, table: Tensor) -> Tensor:
    """Concatenates rows [B, n, d] and position embeddings [N, p]: [B, n, d + p]."""
    n = content.shape[1]
    if n > len(table):
        raise ValueError(
            f"a sentence of {n - 2} words, but the model has {len(table) - 2} positions: lower "
            "max_sentence_length or train with more positions"
        )
    return torch.cat([content, table[:n].expand(len(content), -1, -1)], -1)


@dataclass(frozen=True)
class PositionInput(InputSettings):
    """Content and position halves, as Mrini et al. 2020 (`spacy-lal.PositionRows.v1`)."""

    name: ClassVar[str] = "spacy-lal.PositionRows.v1"
    width: int = 256
    max_length: int = 512

    def build(self, d_in: int, n_tags: int) -> "PositionInputEncoder":
        return PositionInputEncoder(self, d_in, n_tags)


class PositionInputEncoder(TagReader):
    """Word vectors [B, n, d_in] -> rows [B, n+2, width], tag scores [B, n, T].

    The input of Mrini et al. 2020 (section 3.1): projected word vector plus tag embedding, beside a
    position embedding. Learned positions, equal halves and the layer norm are of the released code.
    """

    d_around = 0

    def __init__(self, settings: PositionInput, d_in: int, n_tags: int) -> None:
        super().__init__()
        self.output_dim = d_model = settings.width
        d_content = d_model - d_model // 2
        self.content = Linear(d_in, d_content, bias=False)
        if settings.predicts_tags:
            self.tag_scores = Linear(d_in, n_tags)
        self.tag_embedding = nn.Parameter(torch.randn(n_tags, d_content) * 0.3)
        self.start = nn.Parameter(torch.randn(d_content))
        self.stop = nn.Parameter(torch.randn(d_content))
        self.positions = nn.Parameter(torch.randn(settings.max_length + 2, d_model // 2))
        self.layer_norm = LayerNorm(d_model)
        self.dropout = FeatureDropout()

    def forward(
        self, x: Tensor, lengths: Tensor, given: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        tags, shares = self.read_tags(self.dropout(x), given, len(self.tag_embedding))
        content = self.content(x) + shares @ self.tag_embedding
        content = with_start_and_stop(content, lengths, self.start, self.stop)
        content = self.dropout(content)
        return self.layer_norm(with_positions(content, self.positions)), tags


@dataclass(frozen=True)
class BranchInput(InputSettings):
    """Two branches, one of which bypasses label attention (`spacy-lal.BranchRows.v1`).

    The input of Vu-Tran et al. (section 2.1, figure 1). The first branch has the vectors of
    tok2vec (a pretrained encoder) or of a BiLSTM over it (`bilstm`, `spacy-lal.BiLSTMRows.v1`).
    The second, `width` wide, is the input of label attention: half content, half learned positions.
    content: the expected embedding of the word's part-of-speech tag ("tag"), or its projected
    vector ("word"; the paper's table 3). If there is a `bilstm`, set `tags` in it.
    """

    name: ClassVar[str] = "spacy-lal.BranchRows.v1"
    width: int = 256
    max_length: int = 512
    content: Literal["tag", "word"] = "tag"
    bilstm: BiLSTMInput | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tags == "doc" and (self.content != "tag" or self.bilstm is not None):
            raise ValueError(
                'tags = "doc" needs content = "tag" and no bilstm, which has a setting of its own'
            )

    @property
    def predicts_tags(self) -> bool:
        return self.bilstm.predicts_tags if self.bilstm else super().predicts_tags

    @property
    def reads_doc_tags(self) -> bool:
        return self.bilstm.reads_doc_tags if self.bilstm else super().reads_doc_tags

    def build(self, d_in: int, n_tags: int) -> "BranchInputEncoder":
        return BranchInputEncoder(self, d_in, n_tags)


InputEncoder = BiLSTMInput | PositionInput | BranchInput | SharedInput
"""Settings of all input encoders."""


class BranchInputEncoder(TagReader):
    """Two branches side by side (Vu-Tran et al., section 2.1): rows [B, n+2, d_around + width]."""

    def __init__(self, settings: BranchInput, d_in: int, n_tags: int) -> None:
        super().__init__()
        self.reads_tags, self.n_tags = settings.content == "tag", n_tags
        self.bilstm: BiLSTMInputEncoder | None = None
        if settings.bilstm is not None:
            self.bilstm = settings.bilstm.build(d_in, n_tags)
        if self.reads_tags and not (settings.predicts_tags or settings.reads_doc_tags):
            raise ValueError("content = 'tag' needs a BiLSTM that predicts tags, tag_depth > 0")
        d_model = settings.width
        self.d_around = d_in if self.bilstm is None else self.bilstm.output_dim
        self.output_dim = self.d_around + d_model
        if self.bilstm is None:
            if settings.predicts_tags:
                self.tag_scores = Linear(d_in, n_tags)
            self.around_start = nn.Parameter(torch.randn(d_in) * 0.1)
            self.around_stop = nn.Parameter(torch.randn(d_in) * 0.1)
        d_content = d_model - d_model // 2
        self.content = Linear(n_tags if self.reads_tags else self.d_around, d_content, bias=False)
        if self.reads_tags:
            nn.init.normal_(self.content.weight)
        self.start = nn.Parameter(torch.randn(d_content))
        self.stop = nn.Parameter(torch.randn(d_content))
        self.positions = nn.Parameter(torch.randn(settings.max_length + 2, d_model // 2))
        self.layer_norm = LayerNorm(d_model)
        self.dropout = FeatureDropout()

    def forward(
        self, x: Tensor, lengths: Tensor, given: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        tags: Tensor | None
        shares: Tensor | None = None
        if self.bilstm is not None:
            around, tags = self.bilstm(x, lengths, given)
        else:
            words = self.dropout(x)
            tags, shares = self.read_tags(words, given, self.n_tags)
            around = with_start_and_stop(words, lengths, self.around_start, self.around_stop)
        word_content = around[:, 1:-1]
        if self.reads_tags:
            assert tags is not None
            word_content = torch.softmax(tags, -1) if shares is None else shares
        content = with_start_and_stop(self.content(word_content), lengths, self.start, self.stop)
        content = self.dropout(content)
        return torch.cat(
            [around, self.layer_norm(with_positions(content, self.positions))], -1
        ), tags
