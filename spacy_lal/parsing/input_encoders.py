"""Settings of the input encoders: from word vectors to what label attention reads."""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

from ..layers.input_encoders import BiLSTMInputEncoder, BranchInputEncoder, PositionInputEncoder
from ..layers.settings import Settings


@dataclass(frozen=True)
class BiLSTMInput(Settings):
    """A BiLSTM over each sentence (`spacy-lal.BiLSTMRows.v1`).

    hidden_width: of each direction. tag_depth: after how many of the `depth` layers tags are
    predicted; the layers above read the expected tag embedding, `tag_width` wide. 0: the parser
    predicts and writes no tags, as that of Zhang et al. 2020, and tag_width has no meaning. A
    depth of 0 as well leaves the words' vectors as they are, for those of a pretrained encoder.
    mixed_precision: train with bfloat16 products, where the processor has them.
    """

    name: ClassVar[str] = "spacy-lal.BiLSTMRows.v1"
    hidden_width: int = 300
    depth: int = 3
    tag_depth: int = 1
    tag_width: int = 64
    mixed_precision: bool = False

    @property
    def predicts_tags(self) -> bool:
        return self.tag_depth > 0

    def arguments(self) -> dict[str, Any]:
        names = {"hidden_width": "d_hidden", "tag_width": "d_tag"}
        return {names.get(key, key): value for key, value in asdict(self).items()}

    def build(self, d_in: int, n_tags: int) -> BiLSTMInputEncoder:
        return BiLSTMInputEncoder(d_in, n_tags, **self.arguments())


@dataclass(frozen=True)
class PositionInput(Settings):
    """Content and position halves, as Mrini et al. 2020 (`spacy-lal.PositionRows.v1`)."""

    name: ClassVar[str] = "spacy-lal.PositionRows.v1"
    width: int = 256
    max_length: int = 512
    predicts_tags: ClassVar[bool] = True

    def build(self, d_in: int, n_tags: int) -> PositionInputEncoder:
        return PositionInputEncoder(d_in, n_tags, d_model=self.width, max_length=self.max_length)


@dataclass(frozen=True)
class BranchInput(Settings):
    """Two branches, one of which goes around label attention (`spacy-lal.BranchRows.v1`).

    The input of Vu-Tran et al. (section 2.1, figure 1). The first branch is tok2vec's vectors, of
    a pretrained encoder, or with `bilstm` (`spacy-lal.BiLSTMRows.v1`) a BiLSTM over them. The
    second, `width` wide, is half content, half learned positions, and what label attention reads;
    content: the word's predicted part-of-speech tag ("tag"), or its vector ("word"; the paper's
    table 3).
    """

    name: ClassVar[str] = "spacy-lal.BranchRows.v1"
    width: int = 256
    max_length: int = 512
    content: Literal["tag", "word"] = "tag"
    bilstm: BiLSTMInput | None = None

    @property
    def predicts_tags(self) -> bool:
        return self.bilstm is None or self.bilstm.predicts_tags

    def build(self, d_in: int, n_tags: int) -> BranchInputEncoder:
        return BranchInputEncoder(
            d_in,
            n_tags,
            d_model=self.width,
            max_length=self.max_length,
            content=self.content,
            bilstm=None if self.bilstm is None else self.bilstm.arguments(),
        )


InputEncoder = BiLSTMInput | PositionInput | BranchInput
