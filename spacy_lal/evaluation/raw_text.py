"""A pipeline on raw text: gold sentences put together into paragraphs, and read as a string."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy
from spacy.attrs import SENT_START
from spacy.language import Language
from spacy.tokens import Doc

from ..annotations.constituents import CONSTITUENTS_KEY, get_constituents, set_constituents
from ..annotations.frames import FRAMES_KEY
from ..annotations.retokenized import join_sentences, paragraphs
from ..annotations.words import bare_doc
from ..formats.docbins import read_spacy
from ..pipeline.loading import load_pipeline
from ..scoring.raw_text import RawTextScores
from ..training.corpus import Corpus
from . import about

Given = Literal["nothing", "sentences", "tokens", "both"]
GIVEN: tuple[Given, ...] = ("nothing", "sentences", "tokens", "both")
"""How much of the gold annotation a pipeline is given, from nothing to both."""


def measure(nlp: Language, gold: Iterable[Doc], given: Given = "nothing") -> RawTextScores:
    """Scores of the pipeline on the texts of Docs with gold annotation.

    given: what of gold it may use. Sentences that begin within one of its tokens get lost.
    """
    gold = list(gold)
    scores = RawTextScores()
    for doc, found in zip(gold, nlp.pipe(_inputs(nlp, gold, given)), strict=True):
        scores.add(doc, found)
    return scores


def _inputs(nlp: Language, gold: Iterable[Doc], given: Given) -> Iterator[Doc]:
    for doc in gold:
        if given in ("tokens", "both"):
            made = bare_doc(doc, nlp.vocab, sentence_starts=False)
        else:
            made = nlp.make_doc(doc.text)
        if given in ("sentences", "both"):
            starts = {token.idx for token in doc if token.is_sent_start}
            values: Any = numpy.asarray([1 if t.idx in starts else -1 for t in made], dtype="int64")
            made.from_array([SENT_START], values.view("uint64"))
        yield made


def read_paragraphs(nlp: Language, corpus: Path, trees: Path | None = None) -> list[Doc]:
    """The paragraphs of a corpus with one sentence a Doc.

    trees: a corpus with the same sentences, or some of them, whose constituents and tags count.
    Raises ValueError if a sentence there has other words, or none is there, by their sent_id.
    """
    annotated = {}
    if trees is not None:
        annotated = {doc.user_data.get("sent_id"): doc for doc in read_spacy(trees, nlp.vocab)}
        annotated.pop(None, None)  # of no known sentence
    docs = []
    known = False
    for doc in Corpus(corpus).docs(nlp):
        doc.spans.pop(FRAMES_KEY, None)
        if trees is not None:
            doc.spans.pop(CONSTITUENTS_KEY, None)
        if partner := annotated.get(doc.user_data.get("sent_id")):
            known = True
            if [token.text for token in partner] != [token.text for token in doc]:
                raise ValueError(
                    f"{trees}: sentence {doc.user_data['sent_id']} has other words than in the "
                    "corpus"
                )
            for token, other in zip(doc, partner, strict=True):
                token.tag_ = other.tag_
            if CONSTITUENTS_KEY in partner.spans:
                set_constituents(doc, get_constituents(partner))
        docs.append(doc)
    if trees is not None and not known:
        raise ValueError(f"{trees}: no sentence has the sent_id of one in {corpus}")
    return [join_sentences(group, nlp.vocab) for group in paragraphs(docs)]


def evaluate(model: str, corpus: Path, trees: Path | None = None) -> dict[str, Any]:
    """Scores of a pipeline on the paragraphs of a corpus, as fractions, by what was given to it.

    Raises OSError or ValueError.
    """
    nlp = load_pipeline(model)
    gold = read_paragraphs(nlp, corpus, trees)
    of_pipeline = about(nlp)
    return {
        "model": of_pipeline.pop("model"),
        "corpus": str(corpus),
        "paragraphs": len(gold),
        "words": sum(map(len, gold)),
        "given": {given: measure(nlp, gold, given).as_dict() for given in GIVEN},
        **of_pipeline,
    }
