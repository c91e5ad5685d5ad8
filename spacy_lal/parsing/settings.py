"""Settings of a parser's network, and abilities derived from them."""

from dataclasses import dataclass
from typing import ClassVar

from thinc.api import Model

from ..layers.biaffine_spans import BiaffineSpanSettings
from ..layers.dependency_scorer import DependencySettings
from ..layers.input_encoders import InputEncoder
from ..layers.label_attention import EncoderSettings
from ..layers.settings import Settings
from ..layers.span_attention import TransformerSpanSettings


class Abilities:
    """Base class of the settings of all parsing models: the abilities of a network."""

    @property
    def predicts_tags(self) -> bool:
        """Whether it predicts part-of-speech tags."""
        return True

    @property
    def finds_trees(self) -> bool:
        """Whether it scores the labels of spans."""
        return False

    @property
    def finds_heads(self) -> bool:
        """Whether it scores arcs and relations."""
        return False

    @property
    def two_stages(self) -> bool:
        """Whether it scores unlabelled trees, then their labels."""
        return False

    @property
    def spans_attend(self) -> bool:
        """Whether spans see each other."""
        return False

    @property
    def label_heads(self) -> int:
        """The number of label attention heads that can be read."""
        return 0

    @property
    def free_relations(self) -> bool:
        """Whether the relation "root" may also hold between words."""
        return False


def abilities(model: Model) -> Abilities:
    """The abilities of the network of a Thinc model."""
    settings: Abilities = model.attrs["settings"]
    return settings


@dataclass(frozen=True)
class ParserSettings(Settings, Abilities):
    """Settings of a parser's network.
    hidden_width: width of the span label scorer; None leaves it out. None also leaves out the
        scorers of heads and relations (`dependencies`) and of two-stage spans (`spans`)."""

    name: ClassVar[str] = "parser"
    input_encoder: InputEncoder
    encoder: EncoderSettings
    hidden_width: int | None = None
    dependencies: DependencySettings | None = None
    spans: BiaffineSpanSettings | TransformerSpanSettings | None = None

    @property
    def predicts_tags(self) -> bool:
        return self.input_encoder.predicts_tags

    @property
    def finds_trees(self) -> bool:
        return self.hidden_width is not None or self.two_stages

    @property
    def finds_heads(self) -> bool:
        return self.dependencies is not None

    @property
    def two_stages(self) -> bool:
        return self.spans is not None

    @property
    def spans_attend(self) -> bool:
        return isinstance(self.spans, TransformerSpanSettings)

    @property
    def label_heads(self) -> int:
        return self.encoder.heads
