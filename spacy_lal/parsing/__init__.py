"""Constituents and heads: label attention, and two stages with a CRF."""
