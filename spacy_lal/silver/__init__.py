"""Annotated text without gold: what a trained pipeline is sure of, for another to learn from."""
