"""Annotations of Docs as rows, plain dicts with the same keys in each.

All rows begin with `doc` (number of the Doc, from 0), `id` (of the text or of the treebank's
sentence, or None) and `sentence` (number in the Doc, from 0). Tokens are given by their indices in
the Doc; `end` is exclusive. Where nothing is annotated, numbers are None and texts "".
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from spacy.tokens import Doc, Span

from ..annotations.constituents import CONSTITUENTS_KEY
from ..annotations.frames import get_frames
from ..annotations.grammar_errors import grammar_errors
from ..annotations.span_groups import current_spans, span_scores

Row = dict[str, Any]

_PLACE = ("doc", "id", "sentence")
_SPAN = ("start", "end", "text")
TOKEN_COLUMNS = (
    *(*_PLACE, "token", "start", "text", "lemma", "pos", "tag", "morph", "head", "relation"),
    "entity",
)
"""Columns of `token_rows`."""
CONSTITUENT_COLUMNS = (*_PLACE, "label", *_SPAN, "parent", "depth", "head", "score")
"""Columns of `constituent_rows`."""
FRAME_COLUMNS = (
    *(*_PLACE, "frame", "predicate", "verb", "lemma", "roleset", "role", *_SPAN, "head", "score"),
)
"""Columns of `frame_rows`."""
ERROR_COLUMNS = (*_PLACE, "label", *_SPAN, "score", "suggestion")
"""Columns of `error_rows`."""


def token_rows(docs: Doc | Iterable[Doc]) -> Iterator[Row]:
    """Yield a row for each token that isn't whitespace. start: its first character in the text.
    head: its head's index, its own for a root. entity: type of the named entity that it is in."""
    for places, doc in _placed(docs):
        for token, place in zip(doc, places, strict=True):
            if not token.is_space:
                head = token.head.i if token.dep else None
                values = (
                    *(token.i, token.idx, token.text, token.lemma_, token.pos_, token.tag_),
                    *(str(token.morph), head, token.dep_, token.ent_type_),
                )
                yield dict(zip(TOKEN_COLUMNS, (*place, *values), strict=True))


def constituent_rows(docs: Doc | Iterable[Doc]) -> Iterator[Row]:
    """Yield a row for each phrase, in preorder. parent: label of the phrase around it, "" for a
    topmost one. depth: number of phrases around it. head: index of its highest word among heads.
    Raises ValueError if tokens were merged or split since."""
    for places, doc in _placed(docs):
        if CONSTITUENTS_KEY not in doc.spans:
            continue
        group = doc.spans[CONSTITUENTS_KEY]
        scored = zip(current_spans(group), span_scores(group), strict=True)
        above: list[Span] = []
        for span, score in sorted(scored, key=lambda pair: (pair[0].start, -pair[0].end)):
            while above and above[-1].end <= span.start:
                above.pop()
            parent = above[-1].label_ if above else ""
            values = (
                *(span.label_, span.start, span.end, span.text),
                *(parent, len(above), _head(span), score),
            )
            above.append(span)
            yield dict(zip(CONSTITUENT_COLUMNS, (*places[span.start], *values), strict=True))


def frame_rows(docs: Doc | Iterable[Doc]) -> Iterator[Row]:
    """Yield a row for each span of a frame, V first, so that frames without arguments have a row,
    too. frame: number of the frame in the Doc. predicate: index of its token. verb: text of V.
    Raises ValueError if tokens were merged or split since."""
    for places, doc in _placed(docs):
        for number, frame in enumerate(get_frames(doc)):
            own = (number, frame.predicate.i, frame.verb.text, frame.lemma, frame.roleset)
            for span, score in frame.scored:
                values = (span.label_, span.start, span.end, span.text, _head(span), score)
                row = (*places[frame.predicate.i], *own, *values)
                yield dict(zip(FRAME_COLUMNS, row, strict=True))


def error_rows(docs: Doc | Iterable[Doc]) -> Iterator[Row]:
    """Yield a row for each grammatical error. Raises ValueError if tokens were merged or split
    since."""
    for places, doc in _placed(docs):
        for span, label, score, suggestions in grammar_errors(doc):
            best = suggestions[0].text if suggestions else None
            values = (label, span.start, span.end, span.text, score, best)
            yield dict(zip(ERROR_COLUMNS, (*places[span.start], *values), strict=True))


def _placed(docs: Doc | Iterable[Doc]) -> Iterator[tuple[list[tuple[int, Any, int]], Doc]]:
    """Yield each Doc with the place of each of its tokens: Doc, id and sentence."""
    for number, doc in enumerate([docs] if isinstance(docs, Doc) else docs):
        name = doc.user_data.get("id", doc.user_data.get("sent_id"))
        bounds = len(doc) > 0 and doc.has_annotation("SENT_START")
        starts = [sentence.start for sentence in doc.sents] if bounds else [0]
        sizes = [end - start for start, end in pairwise([*starts, len(doc)])]
        yield [(number, name, k) for k, size in enumerate(sizes) for _ in range(size)], doc


def _head(span: Span) -> int | None:
    root = span.root
    return root.i if root.dep else None
