"""Interpretation of models: attention heads, layers, probabilities of spans."""

from .explanation import Explanation as Explanation
from .explanation import explain as explain
from .explanation import explain_docs as explain_docs
from .head_analysis import ErrorAnalysis as ErrorAnalysis
from .head_analysis import TopHeads as TopHeads
from .head_analysis import error_analysis as error_analysis
from .head_analysis import top_heads as top_heads
from .probabilities import LayersOfWords as LayersOfWords
from .probabilities import SpanProbabilities as SpanProbabilities
from .probabilities import layers_of_words as layers_of_words
from .probabilities import span_probabilities as span_probabilities
