"""Answers about a text, as plain values: all that the page knows of pipelines.

A further view is an entry of `VIEWS` that `views` yields; a further field of answers is filled by
`answer`, described in `static/openapi.json` and shown by `static/page.js`.
"""

import time
from typing import Any

from spacy.language import Language
from spacy.pipeline import DependencyParser
from spacy.tokens import Doc

from ..annotate.other_language import other_language
from ..annotate.records import doc_record, layers_of
from ..annotations.constituents import CONSTITUENTS_KEY, sentence_trees
from ..drawing.charts import ranked
from ..formats.conllu import format_conllu
from ..ged.component import ErrorDetector
from ..interpret import explain_docs
from ..parsing.constituency import ConstituencyPipe
from ..parsing.dependency import LabelAttentionDependency
from ..parsing.network import abilities
from ..pipeline.pipes import through_earlier_pipes
from ..srl.component import LisaSRL
from ..visualize import STYLES, render

HEADS = 5
"""Number of attention heads in an answer for each constituent: those that contribute most."""


VIEWS = {
    "tree": "Tree",
    "boxes": "Boxes",
    "kbest": "Best trees",
    "probabilities": "Probabilities",
    "label_attention": "Label attention",
    "heads": "Dependencies",
    "srl": "Roles",
    "srl_lanes": "Role lanes",
    "errors": "Errors",
    "layers": "Layers",
}
"""Names of all views in the page's order; all but "kbest" are styles of `render`."""


def views(nlp: Language) -> list[str]:
    """Return the views of a pipeline's results."""
    found = set[str]()
    for _, pipe in nlp.pipeline:
        if isinstance(pipe, ConstituencyPipe):
            found |= {"tree", "boxes"}
            if pipe.objective.probabilistic:
                found |= {"kbest", "probabilities"}
            if abilities(pipe.model).label_heads:
                found.add("label_attention")
            if pipe.joint:
                found.add("heads")
        elif isinstance(pipe, (LabelAttentionDependency, DependencyParser)):
            found.add("heads")
        elif isinstance(pipe, LisaSRL):
            found |= {"srl", "srl_lanes"}
        elif isinstance(pipe, ErrorDetector):
            found |= {"errors", "layers"}
    return [view for view in VIEWS if view in found]


def answer(nlp: Language, text: str, view: str = "", trees: int = 0) -> dict[str, Any]:
    """Return the fields that were asked for, without the model's name.

    view: "" and "kbest" have no picture. trees: how many of the best trees to list. The values
    outlive spaCy's memory zone.
    """
    layers = layers_of(nlp)
    begun = time.perf_counter()
    with nlp.memory_zone():
        doc = nlp(text)
        found: dict[str, Any] = {"record": doc_record({"text": doc.text}, doc, layers)}
        if CONSTITUENTS_KEY in doc.spans:
            found["brackets"] = [str(tree) for tree in sentence_trees(doc) if tree.leaves]
        found["conllu"] = format_conllu(doc) if len(doc) else ""
        if trees:
            found["kbest"] = _best(nlp, text, trees)
        if view in STYLES:
            needs = {"nlp": nlp} if "nlp" in STYLES[view].options else {}
            found["picture"] = render(doc, view, jupyter=False, options={"styled": False, **needs})
        for _, pipe in nlp.pipeline:
            if isinstance(pipe, ErrorDetector):
                found["threshold"] = pipe.cfg["threshold"]
        if other := other_language(text, str(nlp.lang)):
            found["warning"] = f"The text {other}"
        if view in ("tree", "boxes"):
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
    return [
        {
            "start": int(explanation.tokens[start]),
            "end": int(explanation.tokens[end - 1]) + 1,
            "heads": [[head, round(float(shares[head]), 4)] for head in ranked(shares)[:HEADS]],
        }
        for _, explanation in explained
        for (start, end, _), shares in zip(explanation.spans, explanation.shares, strict=True)
    ]
