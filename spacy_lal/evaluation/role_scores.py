"""Scores of semantic roles, for parses and predicates of the pipeline or others.

The pipeline reads the gold words, one sentence a Doc. Rules are those of srl-eval.pl, end to end
with predicted predicates: all arguments of a wrong predicate are excess.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from statistics import mean
from typing import Any, cast

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger

from ..annotations import (
    CONSTITUENTS_KEY,
    get_constituents,
    set_constituents,
    set_dependencies,
)
from ..annotations.frames import (
    FRAMES_KEY,
    FrameSpans,
    get_frames,
    give_predicates,
    join_continuations,
)
from ..annotations.words import bare_doc
from ..pipeline.pipes import load_pipeline, only_pipe, run_pipes
from ..scoring.attachment import score_attachment
from ..scoring.srl_eval import SrlReport, score_sentence
from ..srl.component import LisaSRL
from ..srl.frame_decoding import RoleDecoding
from ..srl.scorer import AUXILIARIES, score_frames
from .oracle_corrections import correct_roles
from .parse_scores import label_table

SETTINGS = ("overwrite_heads", "overwrite_parser", "decoder", "parse_source", "predicate_source")
"""Settings of `lisa_srl` that a measurement changes and restores."""
SCORES = ("srl_p", "srl_r", "srl_f", "srl_pred_p", "srl_pred_r", "srl_pred_f")
"""The scores of a row."""

Heads = list[tuple[list[int], list[str]]]
"""Heads and relations of every Doc."""


def measure_roles(
    nlp: Language,
    examples: list[Example],
    parses: Sequence[str] = ("model",),
    predicates: Sequence[str] = ("model", "gold"),
    decoders: Sequence[str] | None = None,
    *,
    corrections: bool = False,
) -> dict[str, Any]:
    """Return scores of the first combination of parses, predicates and decoder; `roles` has those
    of every combination.

    parses: "model", "gold", or pipelines with heads. predicates: "model", "gold". decoders: None
    for the component's. corrections: whether to add the results of `correct_roles`. A model with
    `indicator_width` finds no predicates: "model" is left out with a warning, and raises ValueError
    if it is alone. Raises ValueError for other predicates, for parses without heads, or for a Doc
    of several sentences.
    """
    if unknown := set(predicates) - {"model", "gold"}:
        raise ValueError(f"--predicates must be model, gold, or both, not {min(unknown)}")
    for example in examples:
        doc = example.reference
        if doc.has_annotation("SENT_START") and len(list(doc.sents)) > 1:
            # other parses would have other boundaries
            raise ValueError("the corpus has Docs of several sentences: convert it again")
    pipe: LisaSRL = only_pipe(nlp, LisaSRL, "component lisa_srl")
    if "model" in predicates and not pipe.finds_predicates:
        message = f"the model of {pipe.name!r} finds no predicates (it has an indicator_width)"
        if "gold" not in predicates:
            raise ValueError(f"{message}: --predicates must be gold")
        logger.warning("%s: it is scored with gold ones alone", message)
        predicates = ["gold"]
    before = {name: getattr(pipe, name) for name in SETTINGS}
    try:
        # keeps the heads that roles are based on
        pipe.overwrite_heads, pipe.overwrite_parser = False, None
        runs = list(_runs(nlp, pipe, examples, parses, predicates, decoders or [pipe.decoder]))
    finally:
        for name, value in before.items():
            setattr(pipe, name, value)
    parsed: dict[str, list[Example]] = {}
    for header, pairs in runs:
        if header["parses"] != "gold" and _have_heads(pairs):
            parsed.setdefault(header["parses"], _with_frames(pairs))
    rows = [header | _row(pairs, parsed) for header, pairs in runs]
    for row, (_, pairs) in zip(rows, runs, strict=True):
        if corrections:
            row |= correct_roles(
                (_frames(p.reference), _frames(p.predicted), get_constituents(p.reference) or None)
                for p in _with_frames(pairs)
            )
    _, pairs = runs[0]
    per_type = score_frames(pairs)["srl_per_type"]
    labels = (
        label
        for pair in pairs
        for frame in get_frames(pair.reference)
        for label, _ in join_continuations(argument.label_ for argument in frame.arguments)
    )
    return {
        **{key: rows[0][key] for key in SCORES},
        "srl_per_type": per_type,
        "unique_core_roles": pipe.unique_core_roles,
        "by_label": {"roles": label_table(per_type, labels)},
        "roles": rows,
    }


def _runs(
    nlp: Language,
    pipe: LisaSRL,
    examples: list[Example],
    parses: Sequence[str],
    predicates: Sequence[str],
    decoders: Sequence[str],
) -> Iterator[tuple[dict[str, str], list[Example]]]:
    """Yield predictions beside gold for each combination."""
    all_heads = [_heads_of(source, nlp, examples) for source in parses]
    parsed: list[Doc] = []
    if pipe.nonconstituent_penalty:  # arguments depend on the parser's constituents
        with nlp.select_pipes(disable=[pipe.name]):
            parsed = list(nlp.pipe(_copies(nlp, examples)))
    encoders = _encoders_of(pipe.name, nlp)
    for (source, heads), given, decoder in product(
        zip(parses, all_heads, strict=True), predicates, decoders
    ):
        docs = _copies(nlp, examples)
        for doc, of_doc in zip(docs, heads or (), strict=False):
            set_dependencies(doc, *of_doc)
        for doc, with_tree in zip(docs, parsed, strict=False):
            if CONSTITUENTS_KEY in with_tree.spans:  # maybe without any constituent
                set_constituents(doc, get_constituents(with_tree))
        if given == "gold":
            for doc, example in zip(docs, examples, strict=True):
                give_predicates(doc, example.reference)
        pipe.decoder = cast(RoleDecoding, decoder)
        pipe.parse_source = "model" if heads is None else "doc"
        pipe.predicate_source = "doc" if given == "gold" else "model"
        found = run_pipes([*encoders, pipe], docs, nlp.batch_size)
        pairs = [Example(doc, e.reference) for doc, e in zip(found, examples, strict=True)]
        yield {"parses": source, "predicates": given, "decoder": decoder}, pairs


def _encoders_of(name: str, nlp: Language) -> list[Any]:
    """Return what a component listens to, and what that listens to: no annotating component."""
    listening, encoders = {name}, []
    for other, pipe in reversed(nlp.pipeline):
        if listening.intersection(getattr(pipe, "listening_components", ())):
            listening.add(other)
            encoders.append(pipe)
    return encoders[::-1]


def _heads_of(source: str, nlp: Language, examples: list[Example]) -> Heads | None:
    """Return heads and relations from gold or another pipeline, None for the model's. Raises
    ValueError if there are none."""
    if source == "model":
        return None
    docs = [example.reference for example in examples]
    if source != "gold":
        parser = load_pipeline(source, exclude=["lisa_srl"])
        docs = list(parser.pipe(_copies(parser, examples)))
    if not any(doc.has_annotation("DEP") for doc in docs):
        # LISA would use its own parses instead
        none = "the corpus has no gold heads" if source == "gold" else f"{source} finds no heads"
        raise ValueError(none)
    return [([t.head.i for t in doc], [t.dep_ for t in doc]) for doc in docs]


def _copies(nlp: Language, examples: list[Example]) -> list[Doc]:
    predicted = (example.predicted for example in examples)
    return [bare_doc(doc, nlp.vocab, one_sentence=True) for doc in predicted]


def _row(pairs: list[Example], parsed: dict[str, list[Example]]) -> dict[str, Any]:
    """Return the scores of one run. parsed: for each parser, the sentences with its parses."""
    scores, without = score_frames(pairs), score_frames(pairs, ignored_rolesets=AUXILIARIES)
    row: dict[str, Any] = {key: scores[key] for key in SCORES}
    row |= {f"{key} without auxiliaries": without[key] for key in SCORES}
    if _have_heads(pairs):
        row["uas"] = score_attachment(pairs)["conll18_uas"]
    pairs = _with_frames(pairs)
    if parsed:
        row["by_parse"] = _by_parse(pairs, parsed)
        row["by_labelled_parse"] = _by_parse(pairs, parsed, labelled=True)
    return row


def _scores(pairs: list[Example]) -> dict[str, Any]:
    """Return the scores of sentences. mean_f: the mean of their F1, as in LISA's tables 6 and 8,
    without sentences in which neither side has arguments."""
    reports = [
        score_sentence(_frames(pair.reference), _frames(pair.predicted), end_to_end=True)
        for pair in pairs
    ]
    each = [report.overall.fscore for report in reports if len(report.overall)]
    total = sum(reports, SrlReport())
    return {
        "f": total.overall.fscore,
        "arguments": total.overall.tp + total.overall.fn,
        "sentences": total.sentences,
        "mean_f": mean(each) if each else None,
    }


def _by_parse(
    pairs: list[Example], parsed: dict[str, list[Example]], *, labelled: bool = False
) -> dict[str, dict[str, Any]]:
    """Return scores of groups of sentences by which parsers' parses are right (Strubell et al.
    2018, tables 6 and 8), with each group's share of sentences and each parser's mean LAS there.

    labelled: a parse is right if all heads and relations are, without punctuation, as in the paper;
    else if all heads are.
    """
    marks = ([_parse(source, p, labelled) for p in of] for source, of in parsed.items())
    names = list(map(" ".join, zip(*marks, strict=True)))
    grouped = defaultdict[str, list[Example]](list)
    for pair, name in zip(pairs, names, strict=True):
        grouped[name].append(pair)
    groups = {name: _scores(group) for name, group in grouped.items()}
    for group, found in groups.items():
        found["share"] = names.count(group) / len(names)
        for source, of in parsed.items():
            counts = (_las(p) for p, name in zip(of, names, strict=True) if name == group)
            las = [right / words for right, words in counts if words]
            found.setdefault("las", {})[source] = mean(las) if las else None
    return groups


def _with_frames(pairs: list[Example]) -> list[Example]:
    return [pair for pair in pairs if FRAMES_KEY in pair.reference.spans]


def _frames(doc: Doc) -> list[FrameSpans]:
    return [
        FrameSpans(frame.predicate.i, "", [(s.start, s.end, s.label_) for s in frame.arguments])
        for frame in get_frames(doc)
    ]


def _have_heads(pairs: list[Example]) -> bool:
    """Return whether both sides have heads."""
    sides = [pair.predicted for pair in pairs], [pair.reference for pair in pairs]
    return all(any(doc.has_annotation("DEP") for doc in docs) for docs in sides)


def _parse(source: str, pair: Example, labelled: bool = False) -> str:
    """Return the source with + if the parse of the sentence is right, - if not, ? without gold.
    labelled: see `_by_parse`."""
    if not pair.reference.has_annotation("DEP"):
        return f"{source}?"
    words = zip(pair.predicted, pair.reference, strict=True)
    right = all(found.head.i == gold.head.i for found, gold in words)
    if labelled:
        count, of = _las(pair)
        right = count == of
    return f"{source}{'+' if right else '-'}"


def _las(pair: Example) -> tuple[int, int]:
    """Return the number of words with the right head and relation, and of all with a gold head.
    As in CoNLL's eval.pl, words of Unicode punctuation alone don't count."""
    words = [
        (found.head.i, found.dep_.lower()) == (gold.head.i, gold.dep_.lower())
        for found, gold in zip(pair.predicted, pair.reference, strict=True)
        if gold.dep and not all(unicodedata.category(c)[0] == "P" for c in gold.text)
    ]
    return sum(words), len(words)
