"""Artificial learner errors: models of errors, their training, and corruption of correct text.

After Rei, Felice, Yuan and Briscoe 2017, "Artificial Error Generation with Machine Translation and
Syntactic Patterns" (BEA): its replay of error patterns in proportion to their frequency.
"""

from .corrupt import corrupt_words
from .error_model import ErrorKind, ErrorModel, Insertion, Noise

__all__ = ["ErrorKind", "ErrorModel", "Insertion", "Noise", "corrupt_words"]
