"""Evaluation: the measures papers report, and the spaCy scores of the components.

`evalb` is EVALB in Python (brackets); `constituency` scores Docs with it.
"""
