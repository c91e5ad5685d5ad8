"""Parameters of benepar 0.2 under the names, and in the shapes, that they have here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from torch import Tensor

from ..layers.released import lstm_name

ENCODER = "content.transformer."
"""What the names of a transformer's parameters begin with here."""
EMBEDDINGS = {
    **dict.fromkeys(
        ("bert", "electra", "roberta", "xlm-roberta"),
        ENCODER + "embeddings.word_embeddings.weight",
    ),
    # of Hugging Face's library, and so one name longer
    "t5": ENCODER + "model.shared.weight",
}
"""Of pieces, by the encoder's model_type."""

UNUSED = re.compile(
    r"pretrained_model\.(pooler\..*|embeddings\.(position_ids|token_type_ids)"
    # the same as `shared`; and what T5 had once and never read
    r"|(en|de)coder\.embed_tokens\.weight|.*EncDecAttention\.relative_attention_bias\.weight)"
)
"""Parameters that are in files and that nothing reads."""
PREFIXES = {
    "pretrained_model.": ENCODER,
    "project_pretrained.": "project.",
    "char_encoder.emb.": "content.embedding.",
    "add_timing.norm.": "layer_norm.",
    "f_label.0.": "scorer.hidden.",
    "f_label.1.": "scorer.layer_norm.",
    "f_label.3.": "scorer.output.",
    "f_tag.": "tags.",
}
"""How names begin there, and how the same names begin here."""
LAYER = {
    "norm_attn.": "attention_layers.{}.layer_norm.",
    "norm_ff.": "feed_forward_layers.{}.layer_norm.",
    **{
        f"linear{k}.linear_{part}.": f"feed_forward_layers.{{}}.w_{k}{part}."
        for k in (1, 2)
        for part in "cp"
    },
}
"""The same for the parts of a layer of self-attention, whose number takes the place of {}."""
PARTS = {"c": 1, "p": 2}
"""Content and position."""


def renamed(theirs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The state dict of a `BeneparNetwork`. Raises KeyError for a parameter that it has not."""
    is_t5 = "pretrained_model.shared.weight" in theirs
    return {
        ours.replace(ENCODER, ENCODER + "model.") if is_t5 else ours: tensor
        for name, value in theirs.items()
        if not UNUSED.fullmatch(name)
        for ours, tensor in _of(name, value)
    }


def _of(name: str, value: Tensor) -> Iterator[tuple[str, Tensor]]:
    if name == "add_timing.timing_table":
        yield "positions", value
    elif match := re.fullmatch(r"encoder\.layers\.(\d+)\.self_attn\.w_(qkv|o)_([cp])", name):
        layer, kind, part = match.groups()
        own = f"attention_layers.{layer}"
        if kind == "qkv":
            # [heads, d, 3, d_key]
            for k, which in enumerate("qkv"):
                yield f"{own}.w_{which}s{PARTS[part]}", value[:, :, k]
        else:
            # [heads, d_value, d] -> [d, heads * d_value]
            yield f"{own}.proj{PARTS[part]}.weight", value.flatten(0, 1).T
    elif match := re.fullmatch(r"encoder\.layers\.(\d+)\.(.+\.)(weight|bias)", name):
        layer, theirs, end = match.groups()
        yield LAYER[theirs].format(layer) + end, value
    elif match := re.fullmatch(r"char_encoder\.lstm\.(.+_l0(_reverse)?)", name):
        yield f"content.lstm.{lstm_name(match[1])}", value
    else:
        start = next((start for start in PREFIXES if name.startswith(start)), None)
        if start is None:
            raise KeyError(name)
        yield PREFIXES[start] + name.removeprefix(start), value
