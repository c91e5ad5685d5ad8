"""spaCy scores of semantic frames on Docs."""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import Any

from spacy.scorer import PRFScore
from spacy.training import Example

from ..annotations.constituents import project_constituents
from ..annotations.frames import FRAMES_KEY, PREDICATE, FrameSpans, get_frames
from ..annotations.words import WordIndex
from ..scoring import UNALIGNED, count_alike, named_scores
from ..scoring.srl_eval import SrlReport, score_sentence
from ..trees.tree import LabelledSpan

AUXILIARIES = ("be.03", "do.01", "have.01")
"""PropBank's rolesets of auxiliary verbs."""


def make_srl_scorer(
    spans_key: str = FRAMES_KEY, ignored_rolesets: Collection[str] = ()
) -> Callable[..., dict[str, Any]]:
    """The scorer `spacy-lal.srl_scorer.v1`; see `score_frames`."""
    return partial(score_frames, spans_key=spans_key, ignored_rolesets=tuple(ignored_rolesets))


def score_frames(
    examples: Iterable[Example],
    *,
    spans_key: str = FRAMES_KEY,
    ignored_rolesets: Collection[str] = (),
    **cfg: Any,
) -> dict[str, Any]:
    """Compare predicted with gold frames, both read from `doc.spans[spans_key]`.

    - `srl_{p,r,f}`, `srl_per_type`: arguments without V by the rules of CoNLL-2005 (`srl_eval`),
      but end to end: all arguments of a wrong predicate are wrong. With gold predicates given to
      the component they equal srl-eval.pl's.
    - `spans_srl_{p,r,f}`, `spans_srl_per_type` (named after `spans_key`): the same, under names
      that `spacy evaluate --spans-key srl` prints.
    - `srl_pred_{p,r,f}`: predicates, as tokens, without rolesets.

    ignored_rolesets: gold frames with one of these, such as `AUXILIARIES`, aren't scored, nor are
        predicted ones of the same tokens.

    Only gold Docs with the span group are scored; without any, all are None. Predicted frames are
    mapped to gold tokens; predicates that are no gold token and arguments whose borders are no gold
    token borders are wrong. Whitespace tokens don't count.
    """
    arguments = SrlReport()
    predicates = PRFScore()
    for example in examples:
        if spans_key not in example.reference.spans:
            continue
        left_out = {
            frame.predicate.i
            for frame in get_frames(example.reference, spans_key)
            if frame.roleset in ignored_rolesets
        }
        gold, found = (
            [frame for frame in frames if frame.predicate not in left_out]
            for frames in (_gold(example, spans_key), _in_gold_tokens(example, spans_key))
        )
        arguments += score_sentence(gold, found, end_to_end=True)
        predicates += count_alike(*((f.predicate for f in frames) for frames in (gold, found)))
    per_type = {
        label: counts.to_dict() for label, counts in arguments.types.items() if label != PREDICATE
    }
    overall = arguments.overall
    return {
        **named_scores("srl", overall),
        "srl_per_type": per_type or None,
        **named_scores(f"spans_{spans_key}", overall),
        f"spans_{spans_key}_per_type": per_type or None,
        **named_scores("srl_pred", predicates),
    }


def _gold(example: Example, key: str) -> Iterator[FrameSpans]:
    """Gold frames: predicates by token, arguments in words, that is tokens without whitespace.
    Rolesets stay empty; predicates with different ones would count as different."""
    doc = example.reference
    index = WordIndex(doc)
    for frame in get_frames(doc, key):
        arguments = index.spans((span.start, span.end, span.label_) for span in frame.arguments)
        yield FrameSpans(frame.predicate.i, "", arguments)


def _in_gold_tokens(example: Example, key: str) -> Iterator[FrameSpans]:
    word = WordIndex(example.reference).before
    x2y, y2x = example.alignment.x2y, example.alignment.y2x
    for frame in get_frames(example.predicted, key):
        tokens = x2y[frame.predicate.i]
        same = len(tokens) == 1 and len(y2x[int(tokens[0])]) == 1
        arguments = ((span.start, span.end, span.label_) for span in frame.arguments)
        spans: list[LabelledSpan] = []
        for start, end, label, exact in project_constituents(arguments, x2y, y2x):
            if word[start] < word[end]:
                spans.append((word[start], word[end] if exact else UNALIGNED, label))
        yield FrameSpans(int(tokens[0]) if same else UNALIGNED, "", spans)
