"""Pretrained transformers that components share."""
