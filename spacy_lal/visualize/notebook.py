"""What notebooks show of a frame."""

from __future__ import annotations

from ..annotations.frames import Frame
from .render import render


def frame_html(frame: Frame) -> str:
    """The sentence of the predicate, with a chip around each role."""
    doc = frame.predicate.doc
    spans = zip((frame.verb, *frame.arguments), (frame.verb_score, *frame.scores), strict=True)
    record = {
        "words": [token.text for token in doc],
        "starts": [token.idx for token in doc],
        "frames": [
            {
                "predicate": frame.predicate.i,
                "roleset": frame.roleset,
                "spans": [
                    {"start": s.start, "end": s.end, "label": s.label_, "score": score}
                    for s, score in spans
                ],
            }
        ],
    }
    if doc.has_annotation("SENT_START"):
        first = min(frame.spans[0].start, frame.predicate.i)
        last = max(span.end for span in frame.spans)
        start, end = doc[first].sent.start, doc[last - 1].sent.end
        record = _cut(record, start, end)
    return render(record, style="srl", manual=True, jupyter=False)


def _cut(record: dict, start: int, end: int) -> dict:
    """The tokens from start to end."""
    (frame,) = record["frames"]
    spans = [{**s, "start": s["start"] - start, "end": s["end"] - start} for s in frame["spans"]]
    return {
        "words": record["words"][start:end],
        "starts": record["starts"][start:end],
        "frames": [{**frame, "predicate": frame["predicate"] - start, "spans": spans}],
    }
