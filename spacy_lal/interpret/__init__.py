"""What label attention heads attend to and contribute (Mrini et al. 2020, on interpretability)."""

from .categories import HeadShare, TopHeads, top_heads
from .errors import ErrorAnalysis, HeadInError, SpanError, error_analysis
from .explanation import Explanation, explain, explain_docs

__all__ = [
    "ErrorAnalysis",
    "Explanation",
    "HeadInError",
    "HeadShare",
    "SpanError",
    "TopHeads",
    "error_analysis",
    "explain",
    "explain_docs",
    "top_heads",
]
