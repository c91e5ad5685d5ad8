"""Artificial learner errors: models of errors, made from correct text, and its corruption."""

from .corrupt import corrupt_words
from .error_model import ErrorKind, ErrorModel, Insertion, Noise

__all__ = ["ErrorKind", "ErrorModel", "Insertion", "Noise", "corrupt_words"]
