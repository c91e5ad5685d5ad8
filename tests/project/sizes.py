"""Options of `spacy train` that make models small."""

from __future__ import annotations


def sizes(component: str, **widths: int) -> str:
    """Options of `spacy train` that make a two-stage parser small; two strokes stand for a dot."""
    return settings(component, **{"spans__span_width": 16, "spans__label_width": 8} | widths)


def settings(component: str, **widths: int) -> str:
    """Options of `spacy train` for a component's model."""
    return " ".join(
        f"--components.{component}.model.{name.replace('__', '.')} {width}"
        for name, width in widths.items()
    )


LABEL_ATTENTION = {
    "encoder__heads": 4,
    "encoder__key_width": 8,
    "encoder__value_width": 8,
    "encoder__projection_width": 8,
}
SELF_ATTENTION = {
    "encoder__self_attention_heads": 2,
    "encoder__self_attention_key_width": 8,
    "encoder__feed_forward_width": 16,
}
OF_VECTORS = {
    "tok2vec__width": 8,
    "tok2vec__embed__word_width": 8,
    "tok2vec__embed__char_width": 8,
    "tok2vec__embed__char_hidden_width": 8,
    "input_encoder__hidden_width": 16,
}
LISA = settings(
    "lisa_srl",
    heads=2,
    head_width=8,
    feed_forward_width=16,
    tag_width=16,
    arc_width=16,
    relation_width=8,
    predicate_width=16,
    role_width=16,
    tok2vec__width=8,
    tok2vec__embed__word_width=8,
    tok2vec__embed__affix_width=4,
)
OF_ROWS = settings("lisa_srl", input_encoder__hidden_width=16)
OF_LAYERS = settings("lisa_srl", layers=3, tag_layer=1, syntax_layer=2)
_PARSER = "--components.lal_constituency.model"
SMALL = " ".join(
    (
        f"{_PARSER}.hidden_width 16 {_PARSER}.input_encoder.width 32",
        f"{_PARSER}.encoder.partition_width 16",
        f"{_PARSER}.encoder.heads 4 {_PARSER}.encoder.key_width 8 {_PARSER}.encoder.value_width 8",
        f"{_PARSER}.encoder.projection_width 16 {_PARSER}.encoder.feed_forward_width 32",
        f"{_PARSER}.encoder.self_attention_key_width 8 {_PARSER}.dependencies.arc_width 16",
        f"{_PARSER}.dependencies.relation_width 8",
    )
)
DETECTOR = settings(
    "gec_detector",
    heads=4,
    layers__hidden_width=16,
    layers__depth=2,
    layers__language_words=20,
)
EMBEDDED = settings(
    "gec_detector",
    layers__tok2vec__word_width=8,
    layers__tok2vec__affix_width=4,
    layers__tok2vec__min_count=1,
)
WITH_VECTORS = settings(
    "gec_detector",
    layers__tok2vec__width=8,
    layers__tok2vec__embed__word_width=8,
    layers__tok2vec__embed__affix_width=4,
    layers__tok2vec__embed__min_count=1,
)
ON_ENCODER = (
    settings(
        "gec_detector",
        heads=4,
        layers__hidden_width=16,
        layers__embed__word_width=8,
        layers__embed__affix_width=4,
        layers__embed__min_count=1,
    )
    + " --components.gec_detector.model.layers.layers.encoder.sha256 null"
)
