"""Looks into models: attention heads, layers, probabilities of spans."""

from .distributions import (
    LayersOfWords,
    SpanProbabilities,
    layers_of_words,
    span_probabilities,
)
from .explanation import Explanation, explain, explain_docs
from .head_analysis import (
    ErrorAnalysis,
    HeadInError,
    HeadShare,
    SpanError,
    TopHeads,
    error_analysis,
    top_heads,
)

__all__ = [
    "ErrorAnalysis",
    "Explanation",
    "HeadInError",
    "HeadShare",
    "LayersOfWords",
    "SpanError",
    "SpanProbabilities",
    "TopHeads",
    "error_analysis",
    "explain",
    "explain_docs",
    "layers_of_words",
    "span_probabilities",
    "top_heads",
]
