"""How fast `lisa_srl` is, and what one more predicate costs.

    python benchmarks/srl_speed.py en_lal_sm --data projects/ewt/corpus/test.spacy \\
        --threads 2 --check

Words a second of the component alone on sentences as they come, and the time of the same sentences
with 0, 1, 2, 4, 8 of their words given as predicates: a sentence is encoded once for all of them.
The best of `--repeats` runs counts.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from measure import (
    bare,
    best_seconds,
    component,
    component_options,
    full_name,
    load,
    parsed,
    read_examples,
    write,
)
from spacy.tokens import Doc

from spacy_lal.annotations import FrameSpans, set_frames
from spacy_lal.srl.component import LisaSRL

LEAST_WORDS_PER_SECOND = 2_500
PREDICATES = (0, 1, 2, 4, 8)


def main() -> None:
    arguments = parsed(component_options(__doc__, "lisa_srl"))
    nlp = load(arguments.model)
    pipe = component(nlp, LisaSRL)
    docs = [example.predicted for example in read_examples(arguments.data, nlp)]
    words = sum(map(len, docs))
    pipe.predicate_source = "model"
    best = best_seconds(pipe, partial(bare, docs), nlp.batch_size, arguments.repeats)
    print(f"{words} words, {arguments.threads} threads: {words / best:,.0f} words a second")
    # the same sentences, long enough for the most predicates
    long = [doc for doc in docs if max(PREDICATES) <= len(doc) <= 40]
    pipe.predicate_source = "doc"
    micro: dict[int, float] = {}
    for count in PREDICATES:
        make = partial(with_predicates, long, count)
        spent = best_seconds(pipe, make, nlp.batch_size, arguments.repeats)
        micro[count] = round(1e6 * spent / len(long), 1)
        print(f"{count} predicates: {micro[count]:8.1f} microseconds a sentence")
    report: dict[str, Any] = {
        "model": full_name(nlp),
        "words": words,
        "threads": arguments.threads,
        "words_per_second": round(words / best),
        "sentences": len(long),
        "words_per_sentence": round(sum(map(len, long)) / len(long), 1),
        "microseconds_per_sentence": micro,
    }
    write(arguments.json, report)
    if arguments.check and words / best < LEAST_WORDS_PER_SECOND:
        raise SystemExit(f"srl_speed: below {LEAST_WORDS_PER_SECOND:,} words a second")


def with_predicates(docs: list[Doc], count: int) -> list[Doc]:
    """Copies of Docs whose first `count` words are predicates."""
    copies = bare(docs)
    for doc in copies:
        set_frames(doc, [FrameSpans(i, "", [(i, i + 1, "V")]) for i in range(count)])
    return copies


if __name__ == "__main__":
    main()
