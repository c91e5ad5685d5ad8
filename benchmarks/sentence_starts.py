"""Scores of inner sentence boundaries of paragraphs, by kind of noise.

    python benchmarks/sentence_starts.py PIPELINE... [--data projects/ewt/corpus/test.spacy]
        [--json FILE]

Pipelines get the same paragraphs as strings, sentences joined by a space; then with lines broken,
in lower case, without full stops, and with all three; and with wide spaces. The first start of a
paragraph doesn't count. The pipeline "rule" is the parsers' rule for Docs without boundaries.
"""

from __future__ import annotations

from pathlib import Path

import measure
import numpy
import spacy
from spacy.attrs import SENT_START
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lal.batching.sentences import sentence_starts
from spacy_lal.scoring.raw_text import RawTextScores
from spacy_lal.training.corpus import Paragraphs

QUIET = {"line_breaks": 0.0, "lower_case": 0.0, "unstopped": 0.0, "spaces": 0.0}
NOISE = {
    "none": {},
    "lines broken": {"line_breaks": 1.0},
    "small letters": {"lower_case": 1.0},
    "no full stops": {"unstopped": 1.0},
    "wide spaces": {"spaces": 1.0},
    "all": {"line_breaks": 1.0, "lower_case": 1.0, "unstopped": 1.0},
}


def by_rule(doc: Doc) -> Doc:
    """Return the Doc with the boundaries of the rule."""
    values = numpy.full(len(doc), -1, dtype="int64")
    values[sentence_starts(doc, "split")] = 1
    return doc.from_array([SENT_START], values.view("uint64"))


def up_to_boundaries(nlp: Language) -> Language:
    """Return the pipeline up to the component that finds boundaries."""
    if "senter" in nlp.pipe_names:
        nlp.select_pipes(enable=nlp.pipe_names[: nlp.pipe_names.index("senter") + 1])
    return nlp


def main() -> None:
    parser = measure.options(__doc__)
    parser.add_argument("pipelines", nargs="+", help="Names or folders, or rule.")
    parser.add_argument("--data", type=Path, default=Path("projects/ewt/corpus/test.spacy"))
    arguments = measure.parsed(parser)
    blank = spacy.blank("en")
    rows = []
    for name in arguments.pipelines:
        nlp = blank if name == "rule" else up_to_boundaries(measure.load(name))
        for noise, settings in NOISE.items():
            reader = Paragraphs(
                arguments.data, **(QUIET | settings), blank_lines=0, tokenized=0, max_length=10**6
            )
            scores = RawTextScores()
            for example in reader(blank):
                doc = nlp(example.reference.text)
                scores.add(example.reference, by_rule(doc) if name == "rule" else doc)
            found = scores.as_dict()
            percent = {key.upper(): 100 * (found[f"boundaries_{key}"] or 0.0) for key in "prf"}
            rows.append({"pipeline": name, "noise": noise, **percent})
    print(measure.table(rows))
    measure.write(arguments.json, {"rows": rows})


if __name__ == "__main__":
    main()
