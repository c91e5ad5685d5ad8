"""How fast `gec_detector` is.

    python benchmarks/ged_speed.py en_lal_ged_sm --data projects/ewt/corpus/test.spacy \\
        --threads 2 --check

Words a second of the component alone, on sentences as they come, annotations on the Doc included;
the best of `--repeats` runs counts.
"""

from __future__ import annotations

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

from spacy_lal.ged.component import ErrorDetector

LEAST_WORDS_PER_SECOND = 5_000


def main() -> None:
    arguments = parsed(component_options(__doc__, "gec_detector"))
    nlp = load(arguments.model)
    pipe = component(nlp, ErrorDetector)
    docs = [example.predicted for example in read_examples(arguments.data, nlp)]
    words = sum(map(len, docs))
    spent = best_seconds(
        pipe, lambda: bare(docs, boundaries=False), nlp.batch_size, arguments.repeats
    )
    speed = words / spent
    print(f"{words} words, {arguments.threads} threads: {speed:,.0f} words a second")
    report = {"model": full_name(nlp), "words": words, "threads": arguments.threads}
    write(arguments.json, report | {"words_per_second": round(speed)})
    if arguments.check and speed < LEAST_WORDS_PER_SECOND:
        raise SystemExit(f"ged_speed: below {LEAST_WORDS_PER_SECOND:,} words a second")


if __name__ == "__main__":
    main()
