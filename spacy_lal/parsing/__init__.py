"""Parsers of constituents and heads: label attention (Mrini et al. 2020) and two-stage CRFs."""
