"""Measures of published results: EVALB, attachment scores, srl-eval.pl, raw text by characters."""
