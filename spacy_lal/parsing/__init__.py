"""Constituents and heads: label attention (Mrini et al. 2020), and two stages with a CRF (Zhang et
al. 2020, Vu-Tran et al., SpanFormer).

`component` is what all parsers share, `constituency` and `dependency` are the components; `network`
is their model, trained by `objectives`, read by `decoders`.
"""
