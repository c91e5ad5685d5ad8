"""Transformers and BiLSTMs that components share."""
