"""Answers about a text, as plain values."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from ..annotate.records import doc_record
from ..annotations.constituents import CONSTITUENTS_KEY, sentence_trees
from ..formats.conllu import format_conllu
from ..ged.component import ErrorDetector
from ..interpret import explain_docs
from ..parsing.constituency import ConstituencyPipe
from ..parsing.dependency import LabelAttentionDependency
from ..parsing.network import abilities
from ..pipeline.pipes import through_earlier_pipes
from ..srl.component import LisaSRL
from ..visualize import render

HEADS = 5
"""Number of attention heads in an answer for each constituent: those that contribute most."""
NEEDS_PIPELINE = {"label_attention", "layers", "probabilities"}
"""Views whose pictures need the pipeline besides the Doc."""


@dataclass(frozen=True)
class Question:
    """A text, its view ("" and "kbest" have no picture), and the number of best trees to list."""

    text: str
    view: str = ""
    trees: int = 0


def views(nlp: Language) -> list[str]:
    """Return the page's views of a pipeline's results, in the order of its buttons."""
    found: list[str] = []
    pipes = [pipe for _, pipe in nlp.pipeline]
    for pipe in pipes:
        if isinstance(pipe, ConstituencyPipe):
            found += ["tree", "boxes"]
            if pipe.objective.probabilistic:
                found += ["kbest", "probabilities"]
            if abilities(pipe.model).label_heads:
                found.append("label_attention")
    if any(map(_finds_heads, pipes)) or "parser" in nlp.pipe_names:
        found.append("heads")
    if any(isinstance(pipe, LisaSRL) for pipe in pipes):
        found += ["srl", "srl_arcs"]
    if any(isinstance(pipe, ErrorDetector) for pipe in pipes):
        found += ["errors", "layers"]
    return found


def _finds_heads(pipe: Any) -> bool:
    if isinstance(pipe, ConstituencyPipe):
        return pipe.joint
    return isinstance(pipe, LabelAttentionDependency)


def answer(nlp: Language, question: Question) -> dict[str, Any]:
    """Return the text's record (see `doc_record`), its bracketed trees and CoNLL-U. The question
    decides about the picture, the k best trees and the heads' contributions. The error detector's
    threshold is added. The values outlive spaCy's memory zone."""
    begun = time.perf_counter()
    with nlp.memory_zone():
        doc = nlp(question.text)
        found: dict[str, Any] = {"record": doc_record({"text": doc.text}, doc)}
        if CONSTITUENTS_KEY in doc.spans:
            found["brackets"] = [str(tree) for tree in sentence_trees(doc) if tree.leaves]
        found["conllu"] = format_conllu(doc) if len(doc) else ""
        if question.trees:
            found["kbest"] = _best(nlp, question.text, question.trees)
        if question.view not in ("", "kbest"):
            options = {"styled": False}
            if question.view in NEEDS_PIPELINE:
                options["nlp"] = nlp  # type: ignore[assignment]
            found["picture"] = render(doc, question.view, jupyter=False, options=options)
        for _, pipe in nlp.pipeline:
            if isinstance(pipe, ErrorDetector):
                found["threshold"] = pipe.cfg["threshold"]
        if question.view in ("tree", "boxes"):
            found["contributions"] = _contributions(nlp, doc)
    found["seconds"] = round(time.perf_counter() - begun, 4)
    return found


def _best(nlp: Language, text: str, k: int) -> list[list[dict[str, Any]]]:
    pipe = next(pipe for _, pipe in nlp.pipeline if isinstance(pipe, ConstituencyPipe))
    (doc,) = through_earlier_pipes(nlp, pipe, [nlp.make_doc(text)])
    return [
        [
            {
                "brackets": str(tree),
                "log_prob": tree.log_prob,
                "picture": render(tree, jupyter=False, options={"styled": False}),
            }
            for tree in trees
        ]
        for trees in pipe.kbest(doc, k)
        if trees
    ]


def _contributions(nlp: Language, doc: Doc) -> list[dict[str, Any]]:
    """Return the heads that contribute most to each constituent, or [] without contributions."""
    try:
        (explained,) = explain_docs(nlp, [doc])
    except ValueError:
        return []
    found = []
    for _, explanation in explained:
        assert explanation.contributions is not None
        tokens = explanation.tokens
        for (start, end, _), shares in zip(
            explanation.spans, explanation.contributions, strict=True
        ):
            top = (-shares).argsort(kind="stable")[:HEADS].tolist()
            found.append(
                {
                    "start": int(tokens[start]),
                    "end": int(tokens[end - 1]) + 1,
                    "heads": [[head, round(float(shares[head]), 4)] for head in top],
                }
            )
    return found
