"""Settings of LISA's network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ..layers.input_encoders import BiLSTMInput
from ..layers.lisa_encoder import LisaEncoder
from ..layers.settings import Settings
from ..parsing.settings import Abilities


@dataclass(frozen=True)
class LisaSettings(Settings, Abilities):
    """What a config decides about a `LisaNetwork`; see `build_lisa_v1`."""

    name: ClassVar[str] = "lisa"
    input_encoder: BiLSTMInput | None
    layers: int
    heads: int
    head_width: int
    feed_forward_width: int
    feed_forward_depth: int
    tag_layer: int
    syntax_layer: int | None
    syntactic_head: Literal["biaffine", "copied"]
    tag_width: int
    arc_width: int
    relation_width: int
    predicate_width: int
    role_width: int
    role_rank: int | None
    layer_dropout: float | None
    indicator_width: int | None = None
    role_paths: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        layers, syntax_layer = self.layers, self.syntax_layer
        if not 1 <= self.tag_layer <= layers:
            raise ValueError(f"tag_layer must be from 1 to {layers}, got {self.tag_layer}")
        if syntax_layer is not None and not 1 <= syntax_layer <= layers:
            raise ValueError(
                f"syntax_layer must be from 1 to {layers} or be null, got {syntax_layer}"
            )
        if self.syntactic_head == "copied" and syntax_layer == 1:
            raise ValueError("with syntactic_head = 'copied' syntax_layer must be at least 2")
        if self.role_paths and syntax_layer is None:
            raise ValueError("role_paths = true needs a syntax_layer: paths go by its heads")

    @property
    def width(self) -> int:
        """Of self-attention."""
        return self.heads * self.head_width

    def build_encoder(self, d_in: int, n_relations: int) -> LisaEncoder:
        return LisaEncoder(
            d_in,
            n_relations,
            n_layers=self.layers,
            n_heads=self.heads,
            d_head=self.head_width,
            d_ff=self.feed_forward_width,
            ff_depth=self.feed_forward_depth,
            tag_layer=self.tag_layer,
            syntax_layer=self.syntax_layer,
            syntactic_head=self.syntactic_head,
            d_arc=self.arc_width,
            d_relation=self.relation_width,
            dropout=self.layer_dropout,
            positions=self.input_encoder is None,
        )
