"""One pass over the training data, by hand; and heads on their way from tokens to words."""

from __future__ import annotations

from functools import partial

import numpy
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations import FrameSpans, set_constituents, set_frames
from spacy_lal.annotations.grammar_errors import CORRECT, set_errors
from spacy_lal.batching.sentences import Sentence, heads_in_words
from spacy_lal.ged.component import read_errors
from spacy_lal.parsing.gold_trees import read_trees, read_words, token_heads
from spacy_lal.pipeline.examples import count
from spacy_lal.srl.gold_frames import read_frames

VOCAB = spacy.blank("en").vocab


def annotated() -> Doc:
    doc = Doc(
        VOCAB,
        words=["She", "\n", "ate", "fish"],
        tags=["PRP", "_SP", "VBD", "NN"],
        heads=[2, 0, 2, 2],
        deps=["nsubj", "dep", "ROOT", "obj"],
    )
    set_constituents(doc, [(0, 4, "S"), (0, 4, "VP"), (3, 4, "NP")])
    set_frames(doc, [FrameSpans(2, "eat.01", [(0, 2, "A0"), (2, 3, "V"), (3, 4, "A1")])])
    set_errors(doc, [CORRECT, CORRECT, "VERB", CORRECT])
    return doc


def test_one_pass() -> None:
    docs = [annotated(), Doc(VOCAB, words=["Fish"]), Doc(VOCAB)]
    examples = [Example(doc.copy(), doc) for doc in docs]
    readers = (
        read_words,
        read_trees("constituents", with_heads=True),
        partial(read_frames, key="srl"),
    )
    counts = count(examples, *readers)
    assert counts.docs == 3
    assert counts.sample == [example.predicted for example in examples[:2]]
    assert counts.lacking == {"heads": 2, "trees": 2, "frames": 2}
    assert counts.names == {
        "tags": {"PRP": 1, "VBD": 1, "NN": 1},
        "relations": {"nsubj": 1, "ROOT": 1, "obj": 1},
        "labels": {"S::VP": 1, "NP": 1},
        "joint": {"PRP/False": 1, "VBD/True": 1, "NN/False": 1},
        "roles": {"B-A0": 1, "B-V": 1, "B-A1": 1},
    }
    assert counts.follows == {("", "B-A0"): 1, ("B-A0", "B-V"): 1, ("B-V", "B-A1"): 1}
    assert counts.joint == {"sentences": 1, "groups": 0, "conflicts": 0, "non-projective": 0}
    errors = count(examples, partial(read_errors, key="errors"))
    assert errors.names == {"labels": {"VERB": 1}}
    assert errors.lacking == {"errors": 2}


def test_heads_of_tokens_and_of_words() -> None:
    heads = token_heads(annotated())
    assert heads.tolist() == [2, 0, 2, 2]
    words = numpy.array([0, 2, 3])
    assert heads_in_words(heads, Sentence(0, 0, 4, words)).tolist() == [2, 0, 2]
    # of whitespace, of another sentence or of nothing
    for unknown in (1, 4, -1):
        heads[3] = unknown
        assert heads_in_words(heads, Sentence(0, 0, 4, words)).tolist() == [2, 0, -1]
