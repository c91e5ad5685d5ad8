"""Sentences whose verbs don't agree with their subjects, some of them, and a tiny detector."""

from __future__ import annotations

import random

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations.grammar_errors import CORRECT, ERROR, set_errors

SINGULAR, PLURAL = ("he", "she"), ("they", "we")
VERBS, ADVERBS = ("walk", "eat", "read"), ("today", "often", "now")

MODEL = {
    "@architectures": "spacy-lal.MHMLA.v1",
    "heads": 4,
    "attention_dropout": 0.1,
    "layers": {
        "@architectures": "spacy-lal.BiLSTMLayers.v1",
        "hidden_width": 16,
        "depth": 2,
        "language_weight": 0.1,
        "language_words": 10,
        "tok2vec": {
            "@architectures": "spacy-lal.WordAffixEmbed.v1",
            "word_width": 16,
            "affix_width": 8,
            "min_count": 1,
        },
    },
}


def agreement_examples(nlp: Language, count: int, *, seed: int = 0) -> list[Example]:
    """Four words each: "he walk today .", with "walk" marked."""
    choose = random.Random(seed)
    examples = []
    for _ in range(count):
        subject = choose.choice([*SINGULAR, *PLURAL])
        wrong = choose.random() < 0.4
        ending = "s" if (subject in SINGULAR) != wrong else ""
        words = [subject, choose.choice(VERBS) + ending, choose.choice(ADVERBS), "."]
        reference = Doc(nlp.vocab, words=words)
        set_errors(reference, [CORRECT, ERROR if wrong else CORRECT, CORRECT, CORRECT])
        examples.append(Example(Doc(nlp.vocab, words=words), reference))
    return examples
