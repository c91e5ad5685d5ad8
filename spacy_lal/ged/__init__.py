"""Grammatical errors by attention over layers, and encoders that give all layers."""
