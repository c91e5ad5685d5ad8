"""A pipeline's semantic roles, with its own parses or others', given predicates or its own.

The pipeline reads the gold words, one sentence a Doc. Rules are those of srl-eval.pl
(`scoring/srl_eval.py`), with predicates of the model's own end to end: all arguments of
one that is none are wrong.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from wasabi import msg

from ..annotations import (
    FRAMES_KEY,
    FrameSpans,
    get_constituents,
    get_frames,
    set_constituents,
    set_dependencies,
    set_frames,
)
from ..annotations.frames import join_continuations
from ..annotations.words import bare_doc
from ..pipeline.loading import load_pipeline
from ..scoring.attachment import score_attachment
from ..scoring.srl_eval import SrlReport, score_sentence
from ..srl.component import LisaSRL
from ..srl.frame_decoding import RoleDecoding
from ..srl.scorer import AUXILIARIES, score_frames
from ..training.corpus import Corpus
from ..trees.tree import LabelledSpan
from . import about

LENGTHS = (10, 20, 30, 40)
"""The greatest length in words of each group of sentences but the last."""
DISTANCES = (0, 2, 5, 10)
"""The greatest distance, in words between, of each group of arguments but the last."""

Bins = dict[str, SrlReport]
Kept = Callable[[int, Sequence[LabelledSpan]], bool]
"""Whether an argument counts, from its predicate and its pieces."""


def evaluate(
    model: str,
    corpus: Path,
    parses: list[str],
    predicates: list[str],
    decoders: list[str] | None = None,
    unique: bool | None = None,
) -> dict[str, Any]:
    """Scores for every combination. None: what the component says. Raises ValueError."""
    if unknown := set(predicates) - {"model", "gold"}:
        raise ValueError(
            f"--predicates must be model, gold, or model,gold, not {', '.join(sorted(unknown))}"
        )
    nlp = load_pipeline(model)
    pipe = next((p for _, p in nlp.pipeline if isinstance(p, LisaSRL)), None)
    if pipe is None:
        raise ValueError(f"{model} has no component lisa_srl")
    examples = list(Corpus(corpus)(nlp))
    if not any(FRAMES_KEY in example.reference.spans for example in examples):
        raise ValueError(f"no frames in {corpus}: none of its Docs has doc.spans[{FRAMES_KEY!r}]")
    decoders = [pipe.decoder] if decoders is None else decoders
    if unique is not None:
        pipe.unique_core_roles = unique
    pipe.overwrite_heads, pipe.overwrite_parser = (
        False,
        None,
    )  # heads are those that roles are found by
    docs = [example.reference for example in examples]
    if any(doc.has_annotation("SENT_START") and len(list(doc.sents)) > 1 for doc in docs):
        # parses of others would come with other boundaries
        raise ValueError(
            f"{corpus} has Docs of several sentences: convert it again, with one sentence "
            "in each Doc"
        )
    runs: list[tuple[dict[str, Any], list[Example], float]] = []
    parsed: dict[str, list[str]] = {}
    all_heads = [_heads_of(source, nlp, examples) for source in parses]
    trees = _trees_of(nlp, pipe, examples)
    for source, heads in zip(parses, all_heads, strict=True):
        for source_of_predicates in predicates:
            for decoder in decoders:
                pipe.decoder = cast(RoleDecoding, decoder)
                given = source_of_predicates == "gold"
                pairs, speed = _run(nlp, pipe, examples, heads, trees, given)
                if source != "gold" and source not in parsed and _have_heads(pairs):
                    parsed[source] = [_parse(source, pair) for pair in pairs]
                header = {"parses": source, "predicates": source_of_predicates, "decoder": decoder}
                runs.append((header, pairs, speed))
    results: list[dict[str, Any]] = []
    for header, pairs, speed in runs:
        result = header | _scores(pairs, speed, parsed)
        results.append(result)
        msg.info(
            f"{result['parses']} parses, {result['predicates']} predicates, {result['decoder']}: "
            f"F1 {_told(result['srl_f'])}, predicates {_told(result['srl_pred_f'])}"
        )
    return about(nlp) | {
        "corpus": corpus.name,
        "sentences": len(examples),
        "unique_core_roles": pipe.unique_core_roles,
        "results": results,
    }


Heads = list[tuple[list[int], list[str]]] | None


def _heads_of(source: str, nlp: Language, examples: list[Example]) -> Heads:
    """The heads and relations of every Doc, from gold or another pipeline; None: the model's.

    Raises ValueError if there are none.
    """
    if source == "model":
        return None
    docs = [example.reference for example in examples]
    if source != "gold":
        parser = load_pipeline(source, exclude=["lisa_srl"])
        docs = list(parser.pipe(_copies(parser, examples)))
    if not any(doc.has_annotation("DEP") for doc in docs):
        # LISA would read its own parses, and they would count as these
        raise ValueError(
            "the corpus has no gold heads" if source == "gold" else f"{source} finds no heads"
        )
    return [([t.head.i for t in doc], [t.dep_ for t in doc]) for doc in docs]


Trees = list[list[LabelledSpan]] | None


def _trees_of(nlp: Language, pipe: LisaSRL, examples: list[Example]) -> Trees:
    """The constituents that the pipeline's parser finds; None if arguments don't depend on them."""
    if not pipe.nonconstituent_penalty:
        return None
    with nlp.select_pipes(disable=[pipe.name]):
        docs = nlp.pipe(_copies(nlp, examples))
        return [get_constituents(doc) for doc in docs]


def _copies(nlp: Language, examples: list[Example]) -> list[Doc]:
    predicted = (example.predicted for example in examples)
    return [bare_doc(doc, nlp.vocab, one_sentence=True) for doc in predicted]


def _run(
    nlp: Language,
    pipe: LisaSRL,
    examples: list[Example],
    heads: Heads,
    trees: Trees,
    gold_predicates: bool,
) -> tuple[list[Example], float]:
    """Predictions beside gold, and words a second of processor time of the component alone."""
    docs = _copies(nlp, examples)
    for doc, of_doc in zip(docs, heads or (), strict=False):
        set_dependencies(doc, *of_doc)
    for doc, constituents in zip(docs, trees or (), strict=False):
        if constituents:
            set_constituents(doc, constituents)
    if gold_predicates:
        for doc, example in zip(docs, examples, strict=True):
            set_frames(doc, (_bare(frame) for frame in get_frames(example.reference)))
    pipe.parse_source = "model" if heads is None else "doc"
    pipe.predicate_source = "doc" if gold_predicates else "model"
    pipes: list[tuple[str, Any]] = nlp.pipeline
    for _, other in pipes:
        # an encoder that it listens to, and nothing that annotates
        if pipe.name in getattr(other, "listening_components", ()):
            docs = list(other.pipe(docs, batch_size=nlp.batch_size))
    cpu = time.process_time()
    docs = list(pipe.pipe(docs, batch_size=nlp.batch_size))
    cpu = time.process_time() - cpu
    pairs = [Example(doc, example.reference) for doc, example in zip(docs, examples, strict=True)]
    return pairs, sum(map(len, docs)) / cpu


def _bare(frame: Any) -> FrameSpans:
    """A gold predicate: one token, without its arguments."""
    i = frame.predicate.i
    return FrameSpans(i, frame.roleset, [(i, i + 1, "V")])


def _scores(pairs: list[Example], speed: float, parsed: dict[str, list[str]]) -> dict[str, Any]:
    scores = score_frames(pairs)
    without = score_frames(pairs, ignored_rolesets=AUXILIARIES)
    keys = ("srl_p", "srl_r", "srl_f", "srl_pred_p", "srl_pred_r", "srl_pred_f")
    result: dict[str, Any] = {key: _percent(scores[key]) for key in keys}
    result |= {f"{key} without auxiliaries": _percent(without[key]) for key in keys}
    if _have_heads(pairs):
        result["uas"] = round(100 * score_attachment(pairs)["conll18_uas"], 2)
    result["words_per_cpu_second"] = round(speed)
    result["per_type"] = {
        label: round(100 * of_label["f"], 2)
        for label, of_label in (scores["srl_per_type"] or {}).items()
    }
    every = _binned(pairs, lambda _: "all", lambda *_: True)
    result["by_label"] = {"roles": _by_label(every["all"])}
    result["by_length"] = _f1(
        _binned(pairs, lambda pair: _bin(len(pair.reference), LENGTHS), lambda *_: True)
    )
    result["by_distance"] = {}
    for name in (_label(k, DISTANCES) for k in range(len(DISTANCES) + 1)):
        kept = partial(_at_distance, name)
        result["by_distance"] |= _f1(_binned(pairs, partial(_always, name), kept))
    if parsed:
        # sentences by whose parses of them are right and whose are not
        of_pair = {
            id(pair): " ".join(parses)
            for pair, *parses in zip(pairs, *parsed.values(), strict=True)
        }
        result["by_parse"] = _f1(_binned(pairs, lambda pair: of_pair[id(pair)], lambda *_: True))
    return result


def _told(percent: float | None) -> str:
    return "–" if percent is None else f"{percent:.2f}"


def _percent(value: float | None) -> float | None:
    return None if value is None else round(100 * value, 2)


def _binned(
    pairs: list[Example],
    bin_of: Callable[[Example], str],
    kept: Kept,
) -> Bins:
    """Reports by bin, over the arguments that are kept."""
    bins: Bins = {}
    for pair in pairs:
        report = score_sentence(
            list(_frames(pair.reference, kept)),
            list(_frames(pair.predicted, kept)),
            end_to_end=True,
        )
        name = bin_of(pair)
        bins[name] = bins.get(name, SrlReport()) + report
    return bins


def _frames(doc: Doc, kept: Kept) -> Iterator[FrameSpans]:
    for frame in get_frames(doc):
        spans = sorted((span.start, span.end, span.label_) for span in frame.arguments)
        arguments = [
            [spans[i] for i in pieces] for _, pieces in join_continuations(s[2] for s in spans)
        ]
        predicate = frame.predicate.i
        those = [span for pieces in arguments if kept(predicate, pieces) for span in pieces]
        yield FrameSpans(predicate, "", those)


def _by_label(report: SrlReport) -> dict[str, dict[str, float]]:
    """Of every label the scores, and how many arguments gold has."""
    return {
        label: {
            "p": round(counts.precision, 2),
            "r": round(counts.recall, 2),
            "f": round(counts.f1, 2),
            "gold": counts.correct + counts.missed,
        }
        for label, counts in report.types.items()
    }


def _f1(bins: Bins) -> dict[str, dict[str, float]]:
    return {
        name: {
            "f": round(report.overall.f1, 2),
            "arguments": report.overall.correct + report.overall.missed,
            "sentences": report.sentences,
        }
        for name, report in sorted(bins.items(), key=lambda item: _first_number(item[0]))
    }


def _first_number(name: str) -> int:
    number = name.partition("-")[0]
    return int(number) if number.isdecimal() else 0


def _bin(value: int, edges: tuple[int, ...]) -> str:
    return _label(sum(value > edge for edge in edges), edges)


def _label(k: int, edges: tuple[int, ...]) -> str:
    if k == len(edges):
        return f"{edges[-1] + 1}-"
    first = 0 if k == 0 else edges[k - 1] + 1
    return f"{first}-{edges[k]}"


def _always(name: str, _: Example) -> str:
    return name


def _at_distance(name: str, predicate: int, pieces: Sequence[LabelledSpan]) -> bool:
    """Whether so many words lie between the predicate and the nearest piece of the argument."""
    between = min(max(start - predicate - 1, predicate - end, 0) for start, end, _ in pieces)
    return _bin(between, DISTANCES) == name


def _have_heads(pairs: list[Example]) -> bool:
    """Whether predicted heads can be compared with gold ones: not of a model or corpus without."""
    predicted, gold = ([pair.predicted for pair in pairs], [pair.reference for pair in pairs])
    return all(any(doc.has_annotation("DEP") for doc in docs) for docs in (predicted, gold))


def _parse(source: str, pair: Example) -> str:
    """The source with + if the sentence's heads are right, - if not, ? if it has no gold ones."""
    if not pair.reference.has_annotation("DEP"):
        return f"{source}?"
    ours, gold = (
        numpy.asarray([t.head.i for t in doc]) for doc in (pair.predicted, pair.reference)
    )
    return f"{source}{'+' if (ours == gold).all() else '-'}"
