"""Artificial learner errors: what errors there are, how to learn them, how to put them into text.

After Rei, Felice, Yuan and Briscoe 2017, "Artificial Error Generation with Machine Translation and
Syntactic Patterns" (BEA): the part that replays error patterns in proportion to their frequency.
"""

from .corrupt import corrupt_words
from .error_model import ErrorKind, ErrorModel, Insertion, Noise

__all__ = ["ErrorKind", "ErrorModel", "Insertion", "Noise", "corrupt_words"]
