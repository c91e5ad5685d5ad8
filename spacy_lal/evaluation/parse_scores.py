"""Scores of trees, heads and tags, from gold words or from raw text, and the pipeline's speed.

From gold words, one sentence a Doc, the pipeline predicts everything else. The scored trees have
gold tags, so that EVALB skips no sentence over a mistagged comma; tag accuracy is separate. Raw
text is the gold sentences of a paragraph.
"""

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..annotations.constituents import CONSTITUENTS_KEY, get_constituents, set_constituents
from ..annotations.frames import FRAMES_KEY
from ..annotations.retokenized import join_sentences, paragraphs
from ..annotations.words import bare_doc
from ..formats.docbins import read_spacy
from ..parsing.scorer import score_constituency
from ..scoring.attachment import score_attachment
from ..scoring.raw_text import RawTextScores
from ..training.corpus import Corpus

ATTACHMENT = ("dep_uas", "dep_las", "ptb_uas", "ptb_las", "conll18_uas", "conll18_las")
"""The scores of heads in a report."""
GIVEN = ("nothing", "sentences", "tokens", "both")
"""Parts of the gold annotation of raw text that a pipeline may be given."""


def is_parsed(doc: Doc) -> bool:
    """Return whether a Doc has constituents, heads or tags."""
    return CONSTITUENTS_KEY in doc.spans or any(map(doc.has_annotation, ("DEP", "TAG")))


def measure_parses(nlp: Language, examples: list[Example], prm: str = "nk") -> dict[str, Any]:
    """Return scores, amount of text and speed; `by_label` has constituents and relations."""
    nlp("One sentence to warm up .")
    cpu, wall = time.process_time(), time.perf_counter()
    docs = nlp.pipe(example.predicted for example in examples)
    pairs = [Example(doc, example.reference) for doc, example in zip(docs, examples, strict=True)]
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    words = sum(len(pair.reference) for pair in pairs)
    scores: dict[str, Any] = {"sentences": len(pairs), "words": words, "evalb_parameters": prm}
    scores |= score_constituency(pairs, prm=prm)
    labels = (label for pair in pairs for *_, label in get_constituents(pair.reference))
    by_label = {"constituents": label_table(scores["spans_constituents_per_type"], labels)}
    if any(pair.predicted.has_annotation("DEP") for pair in pairs):
        attachment = score_attachment(pairs)
        scores |= {key: attachment[key] for key in (*ATTACHMENT, "dep_las_per_type")}
        relations = (token.dep_.lower() for pair in pairs for token in pair.reference)
        by_label["relations"] = label_table(attachment["dep_las_per_type"], relations)
        scores["nonprojective_gold"] = attachment["dep_nonproj"]
        scores["nonprojective_predicted"] = attachment["dep_nonproj_pred"]
    return scores | {
        "by_label": by_label,
        "words_per_cpu_second": round(words / cpu, 1),
        "words_per_second": round(words / wall, 1),
    }


def label_table(
    per_type: Mapping[str, Mapping[str, float]] | None, gold: Iterable[str]
) -> dict[str, dict[str, float]]:
    """Return precision, recall, F1 and gold frequency of every label."""
    counts = Counter(gold)
    return {
        label: {key: of[key] for key in "prf"} | {"gold": counts[label]}
        for label, of in sorted((per_type or {}).items())
    }


def evaluate_raw(nlp: Language, corpus: Path, trees: Path | None = None) -> dict[str, Any]:
    """Return scores on the paragraphs of a corpus, as texts, for each of `GIVEN`. Raises OSError or
    ValueError."""
    gold = read_paragraphs(nlp, corpus, trees)
    given = {}
    for what in GIVEN:
        scores = RawTextScores()
        for doc, found in zip(gold, nlp.pipe(_input(nlp, doc, what) for doc in gold), strict=True):
            scores.add(doc, found)
        given[what] = scores.as_dict()
    words = sum(map(len, gold))
    return {"corpus": corpus.name, "paragraphs": len(gold), "words": words, "given": given}


def _input(nlp: Language, doc: Doc, given: str) -> Doc:
    """Return a Doc without annotation but what is given. Starts within its tokens get lost."""
    if given in ("tokens", "both"):
        made = bare_doc(doc, nlp.vocab, sentence_starts=False)
    else:
        made = nlp.make_doc(doc.text)
    if given in ("sentences", "both"):
        starts = {token.idx for token in doc if token.is_sent_start}
        for token in made:
            token.is_sent_start = token.idx in starts
    return made


def read_paragraphs(nlp: Language, corpus: Path, trees: Path | None = None) -> list[Doc]:
    """Return the paragraphs of a corpus with one sentence per Doc.

    trees: a corpus with some of the same sentences, by sent_id, whose constituents and tags count.
    Raises ValueError if such a sentence has other words, or if there is none.
    """
    annotated = {}
    if trees is not None:
        annotated = {doc.user_data.get("sent_id"): doc for doc in read_spacy(trees, nlp.vocab)}
        annotated.pop(None, None)  # sentences without an id
    docs = []
    known = False
    for doc in Corpus(corpus).docs(nlp):
        doc.spans.pop(FRAMES_KEY, None)
        if trees is not None:
            doc.spans.pop(CONSTITUENTS_KEY, None)
        if partner := annotated.get(doc.user_data.get("sent_id")):
            known = True
            if [token.text for token in partner] != [token.text for token in doc]:
                raise ValueError(f"{trees}: {doc.user_data['sent_id']} has other words there")
            for token, other in zip(doc, partner, strict=True):
                token.tag_ = other.tag_
            if CONSTITUENTS_KEY in partner.spans:
                set_constituents(doc, get_constituents(partner))
        docs.append(doc)
    if trees is not None and not known:
        raise ValueError(f"{trees}: no sentence has the sent_id of one in {corpus}")
    return [join_sentences(group, nlp.vocab) for group in paragraphs(docs)]
