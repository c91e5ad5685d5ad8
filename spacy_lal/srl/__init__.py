"""Semantic roles by linguistically-informed self-attention."""
