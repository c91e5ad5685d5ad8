"""Facts of messages as JSON, a line each: who does what to whom, when, where and why.

python examples/application.py "Ann never sold the house in 2019."
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import spacy
from spacy.tokens import Doc

TEXTS = ["Ann never sold the house in 2019. The old shop was closed by the city."]
PLACES_AND_TIMES = {"ARGM-TMP": "when", "ARGM-LOC": "where", "ARGM-CAU": "why"}


def facts(doc: Doc) -> Iterator[dict[str, object]]:
    """Yield the triples of a Doc, with what its frames say about time, place and reason."""
    of_verb = {frame.predicate.i: frame for frame in doc._.frames}
    for triple in doc._.triples:
        frame = of_verb.get(triple.verb.i)
        arguments = frame.arguments if frame else ()
        yield {
            "who": triple.subject and triple.subject.text,
            "does": triple.relation,
            "what": triple.object.text,
            "negated": triple.negated,
            **{
                PLACES_AND_TIMES[span.label_]: span.text
                for span in arguments
                if span.label_ in PLACES_AND_TIMES
            },
            "sentence": triple.verb.sent.text,
        }


if __name__ == "__main__":
    nlp = spacy.load("en_lal_sm")
    # pipe reads many texts at once, which is faster than one after the other
    for doc in nlp.pipe(sys.argv[1:] or TEXTS):
        for fact in facts(doc):
            print(json.dumps(fact, ensure_ascii=False))
