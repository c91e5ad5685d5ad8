"""Answers about a text, as plain values: all that the page knows of pipelines.

A further view is an entry of `VIEWS` that `views` yields; a further field of answers is filled by
`answer`, described in `static/openapi.json` and shown by the page's scripts.
"""

import time
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from spacy.language import Language
from spacy.pipeline import DependencyParser
from spacy.tokens import Doc, Span, Token

from ..annotate.other_language import other_language
from ..annotate.records import doc_record, layers_of
from ..annotations.constituents import CONSTITUENTS_KEY, sentence_trees
from ..drawing.charts import ranked
from ..formats.conllu import format_conllu
from ..ged.component import ErrorDetector
from ..interpret import Explanation, explain_docs
from ..interpret.explanation import ExplainedDoc
from ..parsing.constituency import ConstituencyPipe
from ..parsing.decoders import MinimumBayesRisk
from ..parsing.dependency import LabelAttentionDependency
from ..parsing.network import abilities
from ..pipeline.pipes import through_earlier_pipes
from ..search import Match, QueryError, compile_query
from ..srl.component import LisaSRL
from ..trees.tree import ConstituentTree
from ..visualize import STYLES, render

HEADS = 5
"""Number of attention heads in an answer for each constituent: those that contribute most."""
MATCHES, SECONDS = 200, 5.0
"""Greatest number of a pattern's matches, and seconds for a pattern in a sentence."""
SCORES = {
    "const_evalb_f": "trees, F1",
    "dep_uas": "heads, UAS",
    "dep_las": "heads and relations, LAS",
    "tag_acc": "tags, accuracy",
    "srl_f": "roles, F1",
    "ged_p": "errors, precision",
    "ged_r": "errors, recall",
    "ged_f05": "errors, F0.5",
}
"""Names of a pipeline's scores on the page."""


VIEWS = {
    "all": "Everything",
    "tree": "Tree",
    "boxes": "Boxes",
    "heads": "Heads",
    "srl": "Roles",
    "srl_lanes": "Role lanes",
    "errors": "Errors",
    "kbest": "Best trees",
    "probabilities": "Probabilities",
    "label_attention": "Label attention",
    "layers": "Layers",
}
"""Names of all views in the page's order; all but "kbest" are styles of `render`."""


def views(nlp: Language) -> list[str]:
    """Return the views of a pipeline's results."""
    found = set[str]()
    for _, pipe in nlp.pipeline:
        if isinstance(pipe, ConstituencyPipe):
            found |= {"all", "tree", "boxes"}
            if pipe.objective.probabilistic:
                found |= {"kbest", "probabilities"}
            if abilities(pipe.model).label_heads:
                found.add("label_attention")
            if pipe.joint:
                found.add("heads")
        elif isinstance(pipe, (LabelAttentionDependency, DependencyParser)):
            found |= {"all", "heads"}
        elif isinstance(pipe, LisaSRL):
            found |= {"all", "srl", "srl_lanes"}
        elif isinstance(pipe, ErrorDetector):
            found |= {"all", "errors", "layers"}
    return [view for view in VIEWS if view in found]


def card(nlp: Language) -> dict[str, Any]:
    """Return what a pipeline says of itself: description, version, licence, language, components,
    and scores in percent."""
    meta = nlp.meta
    known = meta.get("performance") or {}
    scores = {name: round(100 * known[key], 2) for key, name in SCORES.items() if known.get(key)}
    said = {key: str(meta.get(key) or "") for key in ("description", "version", "license", "lang")}
    return {**said, "components": nlp.pipe_names, "scores": scores}


def answer(
    nlp: Language, text: str, views: Collection[str] = (), trees: int = 0, query: str = ""
) -> dict[str, Any]:
    """Return the fields that were asked for, without the model's name.

    views: those to draw; "kbest" has no picture. trees: how many of the best trees to list. query:
    a pattern whose matches to find. The values outlive spaCy's memory zone.
    """
    layers = layers_of(nlp)
    begun = time.perf_counter()
    with nlp.memory_zone():
        doc = nlp(text)
        found: dict[str, Any] = {"record": doc_record({"text": doc.text}, doc, layers)}
        chosen: list[ConstituentTree] = []
        if CONSTITUENTS_KEY in doc.spans:
            chosen = [tree for tree in sentence_trees(doc) if tree.leaves]
            found["brackets"] = [str(tree) for tree in chosen]
        found["conllu"] = format_conllu(doc) if len(doc) else ""
        if trees:
            found["kbest"] = _best(nlp, text, trees, chosen)
        explained: ExplainedDoc = []
        if {"all", "tree", "boxes", "label_attention"} & {*views}:
            explained = _explained(nlp, doc)
            found["contributions"] = [c for _, each in explained for c in _contributions(each)]
        found["pictures"], found["turned"] = {}, {}
        for view in views:
            if view in STYLES:
                drawn: Any = doc
                options: dict[str, Any] = {"nlp": nlp} if "nlp" in STYLES[view].options else {}
                if view == "label_attention":
                    # as `explain` does for this style
                    drawn = [replace(each, contributions=None) for _, each in explained]
                if "turned" in STYLES[view].options:
                    options = {"turned": False}
                    found["turned"][view] = _picture(doc, view, turned=True)
                found["pictures"][view] = _picture(drawn, view, **options)
        for _, pipe in nlp.pipeline:
            if isinstance(pipe, ErrorDetector):
                found["threshold"] = pipe.cfg["threshold"]
        if other := other_language(text, str(nlp.lang)):
            found["warning"] = f"The text {other}"
        if query:
            found |= _searched(doc, query)
    found["seconds"] = round(time.perf_counter() - begun, 4)
    return found


def _picture(drawn: Any, view: str, **options: Any) -> str:
    return render(drawn, view, jupyter=False, options={"styled": False, **options})


def _best(
    nlp: Language, text: str, k: int, chosen: list[ConstituentTree]
) -> list[list[dict[str, Any]]]:
    """Return the k best trees of each sentence, and how they differ from the chosen ones."""
    pipe = next(pipe for _, pipe in nlp.pipeline if isinstance(pipe, ConstituencyPipe))
    (doc,) = through_earlier_pipes(nlp, pipe, [nlp.make_doc(text)])
    listed = [trees for trees in pipe.kbest(doc, k) if trees]
    return [
        [
            {
                "brackets": str(tree),
                "log_prob": tree.log_prob,
                "picture": _picture(tree, "tree"),
                "differs": [] if mine is None else _differences(mine, tree),
            }
            for tree in trees
        ]
        for trees, mine in zip(
            listed, chosen if len(chosen) == len(listed) else [None] * len(listed), strict=True
        )
    ]


def _differences(chosen: ConstituentTree, tree: ConstituentTree) -> list[str]:
    """Return phrases that only one of the trees has: "+" before those of `tree`, "−" others."""
    words, one, other = tree.leaves, Counter(chosen.spans()), Counter(tree.spans())
    signs = (("−", one - other), ("+", other - one))
    return [
        f"{sign} {label}: {' '.join(words[start:end])}"
        for sign, spans in signs
        for start, end, label in sorted(spans.elements())
    ]


def by_parts(nlp: Language) -> bool:
    """Return whether trees are chosen phrase by phrase (minimum Bayes risk), so that another whole
    tree may be more probable."""
    pipes = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, ConstituencyPipe)]
    return any(isinstance(pipe.decoder, MinimumBayesRisk) for pipe in pipes)


def _explained(nlp: Language, doc: Doc) -> ExplainedDoc:
    """Return the label attention heads, with contributions if they are defined; [] without."""
    for method in ("normalised", None):
        try:
            (explained,) = explain_docs(nlp, [doc], method=method)
        except ValueError:
            continue
        return explained
    return []


def _contributions(explanation: Explanation) -> Iterator[dict[str, Any]]:
    """Yield the heads that contribute most to each constituent."""
    if explanation.contributions is None:
        return
    for (start, end, _), shares in zip(explanation.spans, explanation.shares, strict=True):
        yield {
            "start": int(explanation.tokens[start]),
            "end": int(explanation.tokens[end - 1]) + 1,
            "heads": [[head, round(float(shares[head]), 4)] for head in ranked(shares)[:HEADS]],
        }


def _searched(doc: Doc, query: str) -> dict[str, Any]:
    """Return a pattern's matches, or what is wrong with it."""
    try:
        found = compile_query(query).in_doc(doc, SECONDS)
        return {"matches": [_match(match) for match in islice(found, MATCHES)]}
    except (QueryError, ValueError, TimeoutError) as error:
        return {"query_error": str(error)}


def _match(match: Match) -> dict[str, Any]:
    names = [{"name": name, **_place(node)} for name, node in match.nodes.items()]
    return {**_place(match.node), "names": names}


def _place(found: Any) -> dict[str, int]:
    if isinstance(found, Token):
        return {"start": found.i, "end": found.i + 1}
    assert isinstance(found, Span)
    return {"start": found.start, "end": found.end}
