"""Measures that papers report: EVALB, attachment scores, srl-eval.pl, raw text by characters."""
