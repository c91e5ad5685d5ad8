"""Sentences for pictures, written by hand."""

from __future__ import annotations

import random

import numpy

from spacy_lal.interpret import Explanation, LayersOfWords, SpanProbabilities
from spacy_lal.trees.tree import ConstituentTree

HOSTILE = "</title><script>alert(1)</script>\"'&\x00\n]]>"

RECORD = {
    "words": ["She", "gave", "him", HOSTILE, "yesterday", "."],
    "tags": ["PRP", "VBD", "PRP", HOSTILE, "NN", "."],
    "sentences": [{"start": 0, "end": 6}],
    "heads": [1, 1, 1, 1, 1, 1],
    "relations": ["nsubj", "ROOT", "iobj", HOSTILE, "obl", "punct"],
    "constituents": [
        {"start": 0, "end": 6, "label": "S", "score": 0.99},
        {"start": 0, "end": 1, "label": "NP", "score": None},
        {"start": 1, "end": 5, "label": "VP", "score": 0.8},
        {"start": 2, "end": 3, "label": "NP", "score": 0.7},
        {"start": 3, "end": 4, "label": HOSTILE, "score": 0.3},
        {"start": 3, "end": 4, "label": "NX", "score": 0.2},
    ],
    "frames": [
        {
            "predicate": 1,
            "roleset": f"give.01{HOSTILE}",
            "spans": [
                {"start": 1, "end": 2, "label": "V", "score": 0.9},
                {"start": 0, "end": 1, "label": "ARG0", "score": 0.9},
                {"start": 2, "end": 4, "label": HOSTILE, "score": 0.5},
                {"start": 3, "end": 5, "label": "ARGM-TMP", "score": None},
            ],
        }
    ],
    "errors": [
        {"start": 3, "end": 4, "label": HOSTILE, "score": 0.8, "correction": HOSTILE},
        {"start": 4, "end": 5, "label": "ERROR", "score": 0.4, "correction": ""},
    ],
    "error_scores": [0.0, 0.1, 0.2, 0.8, 0.4, 0.0],
}


def explanation() -> Explanation:
    words = ["<START>", "a", HOSTILE, "<STOP>"]
    contributions = numpy.array([[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]])
    spans = [(0, 2, "S::NP"), (1, 2, HOSTILE)]
    return Explanation(words, numpy.arange(2), numpy.eye(3, 4), spans, contributions)


def layers() -> LayersOfWords:
    return LayersOfWords(["a", HOSTILE], numpy.full((3, 2, 4), 1 / 3))


def marginals() -> SpanProbabilities:
    probabilities = numpy.array([[0, 0.3, 1.0], [0, 0, 0.6], [0, 0, 0]])
    labels = [["", "NP", HOSTILE], ["", "", "NP::QP"], ["", "", ""]]
    return SpanProbabilities(["a", HOSTILE], numpy.arange(2), probabilities, labels)


def other(record: dict = RECORD) -> dict:
    """The same words, annotated differently."""
    changed = {k: v for k, v in record.items() if k != "sentences"}
    changed["constituents"] = [*record["constituents"][:4], dict(start=0, end=4, label="X")]
    changed["heads"] = [1, 1, 3, 1, 1, 1]
    changed["frames"] = [
        {**frame, "spans": [*frame["spans"][:2], dict(start=4, end=5, label="ARG2")]}
        for frame in record["frames"]
    ]
    return changed


PICTURES = [
    ("all", RECORD, {}),
    ("all", RECORD, {"turned": True}),
    ("tree", RECORD, {}),
    ("tree", RECORD, {"edges": "elbow", "compact": False, "direction": "rtl"}),
    ("boxes", RECORD, {}),
    ("srl", RECORD, {}),
    ("srl_lanes", RECORD, {}),
    ("heads", RECORD, {}),
    ("errors", RECORD, {}),
    ("errors", RECORD, {"threshold": 0.2}),
    ("label_attention", explanation(), {}),
    ("contributions", explanation(), {}),
    ("contributions", explanation(), {"span": (1, 2), "k": 1}),
    ("layers", layers(), {}),
    ("layers", layers(), {"words": True}),
    ("probabilities", marginals(), {}),
    ("diff", (RECORD, other()), {}),
    ("diff", (RECORD, other()), {"of": "heads"}),
    ("diff", (RECORD, other()), {"of": "srl"}),
]


def random_tree(n: int, seed: int = 0) -> ConstituentTree:
    """A tree of n words of 1 to 12 letters."""
    draw = random.Random(seed)
    nodes = [
        ConstituentTree(draw.choice(["NN", "VBD", "PRP$", "."]), word="w" * draw.randint(1, 12))
        for _ in range(n)
    ]
    while len(nodes) > 1:
        at, count = draw.randrange(len(nodes)), draw.randint(1, 3)
        label = draw.choice(["NP", "VP", "WHADVP", "S"])
        nodes[at : at + count] = [ConstituentTree(label, nodes[at : at + count])]
    return nodes[0]
