"""A few sentences with heads and frames, and a tiny LISA for them."""

from __future__ import annotations

from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations import FrameSpans, get_frames, set_frames
from tests.pipeline.toy import TINY

# words, tags, heads (0 the root, k word k), relations, frames
SENTENCES: list[tuple[str, str, list[int], str, list[FrameSpans]]] = [
    (
        "The cat sat on the mat .",
        "DT NN VBD IN DT NN .",
        [2, 3, 0, 6, 6, 3, 3],
        "det nsubj ROOT case det obl punct",
        [FrameSpans(2, "sit.01", [(0, 2, "ARG1"), (2, 3, "V"), (3, 6, "ARG2")])],
    ),
    (
        "She ate the fish that swam .",
        "PRP VBD DT NN WDT VBD .",
        [2, 0, 4, 2, 6, 4, 2],
        "nsubj ROOT det obj nsubj acl punct",
        [
            FrameSpans(1, "eat.01", [(0, 1, "ARG0"), (1, 2, "V"), (2, 6, "ARG1")]),
            FrameSpans(5, "swim.01", [(2, 4, "ARG0"), (4, 5, "R-ARG0"), (5, 6, "V")]),
        ],
    ),
    (
        "Give the dog up !",
        "VB DT NN RP .",
        [0, 3, 1, 1, 1],
        "ROOT det obj compound:prt punct",
        [FrameSpans(0, "give.08", [(0, 1, "V"), (1, 3, "ARG1"), (3, 4, "C-V")])],
    ),
    ("Hello .", "UH .", [0, 1], "ROOT punct", []),
    (
        "Dogs eat and cats sat .",
        "NNS VBP CC NNS VBD .",
        [2, 0, 5, 5, 2, 2],
        "nsubj ROOT cc nsubj conj punct",
        [
            FrameSpans(1, "eat.01", [(0, 1, "ARG0"), (1, 2, "V")]),
            FrameSpans(4, "sit.01", [(3, 4, "ARG1"), (4, 5, "V")]),
        ],
    ),
]

SMALL: dict[str, Any] = {
    "@architectures": "spacy-lal.LISA.v1",
    "tok2vec": TINY["tok2vec"],
    "input_encoder": None,
    "layers": 3,
    "heads": 4,
    "head_width": 8,
    "feed_forward_width": 32,
    "feed_forward_depth": 1,
    "tag_layer": 1,
    "syntax_layer": 2,
    "tag_width": 16,
    "arc_width": 16,
    "relation_width": 8,
    "predicate_width": 16,
    "role_width": 16,
    "layer_dropout": None,
}


def frames_doc(nlp: Language, k: int, *, heads: bool = True, frames: bool = True) -> Doc:
    """The k-th sentence, with what is asked for."""
    words, tags, of_heads, relations, of_frames = SENTENCES[k]
    offsets = [word if head == 0 else head - 1 for word, head in enumerate(of_heads)]
    syntax: dict[str, Any] = {"heads": offsets, "deps": relations.split()} if heads else {}
    doc = Doc(nlp.vocab, words=words.split(), tags=tags.split(), **syntax)
    if not heads:
        doc[0].is_sent_start = True
    if frames:
        set_frames(doc, of_frames)
    return doc


def bare(nlp: Language, doc: Doc) -> Doc:
    return Doc(nlp.vocab, words=[t.text for t in doc], sent_starts=[t.i == 0 for t in doc])


def frames_examples(nlp: Language, **what: bool) -> list[Example]:
    docs = [frames_doc(nlp, k, **what) for k in range(len(SENTENCES))]
    return [Example(bare(nlp, doc), doc) for doc in docs]


def srl_pipeline(model: dict[str, Any] | None = None, **config: Any) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("lisa_srl", config={"model": {**SMALL, **(model or {})}, **config})
    return nlp


def trained(nlp: Language, steps: int = 100, **what: bool) -> Language:
    spacy.util.fix_random_seed(0)
    examples = frames_examples(nlp, **what)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(steps):
        nlp.update(examples, sgd=optimizer)
    return nlp


def spans_of(doc: Doc) -> list[tuple[int, list[tuple[int, int, str]]]]:
    """Predicates and spans, to compare."""
    return [
        (frame.predicate.i, [(s.start, s.end, s.label_) for s in frame.spans])
        for frame in get_frames(doc)
    ]
