"""What label attention heads attend to and contribute (Mrini et al. 2020, on interpretability)."""

from .categories import HeadShare, TopHeads, top_heads
from .errors import ErrorAnalysis, HeadInError, SpanError, error_analysis
from .explanation import Explanation, explain, explain_docs
from .layers import LayersOfWords, layers_of_words
from .span_probabilities import SpanProbabilities, span_probabilities

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
