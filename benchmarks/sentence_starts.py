"""Inner sentence boundaries of paragraphs, by kind of noise.

    python benchmarks/sentence_starts.py PIPELINE... [--data projects/ewt/corpus/test.spacy]
        [--json FILE]

Pipelines get paragraphs as strings, sentences joined by a space; then with lines broken, with small
letters, without full stops, and with all three; and with wide spaces; the same for all pipelines.
The first start of a paragraph doesn't count. "rule" in place of a pipeline is what parsers do where
nobody has set boundaries.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy
import spacy
import srsly
from spacy.attrs import SENT_START
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lal.batching.sentences import sentence_starts
from spacy_lal.scoring.raw_text import RawTextScores
from spacy_lal.training.paragraphs import Paragraphs

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
    """The Doc with the boundaries of the rule."""
    values = numpy.full(len(doc), -1, dtype="int64")
    values[sentence_starts(doc, "split")] = 1
    return doc.from_array([SENT_START], values.view("uint64"))


def up_to_boundaries(nlp: Language) -> Language:
    """The pipeline without what is behind the component that finds boundaries."""
    if "senter" in nlp.pipe_names:
        nlp.select_pipes(enable=nlp.pipe_names[: nlp.pipe_names.index("senter") + 1])
    return nlp


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pipelines", nargs="+", help="Names or folders, or rule.")
    parser.add_argument("--data", type=Path, default=Path("projects/ewt/corpus/test.spacy"))
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    blank = spacy.blank("en")
    results: dict[str, dict[str, dict[str, float | None]]] = {}
    for name in arguments.pipelines:
        nlp = blank if name == "rule" else up_to_boundaries(spacy.load(name))
        results[name] = {}
        for noise, settings in NOISE.items():
            reader = Paragraphs(
                arguments.data, **(QUIET | settings), blank_lines=0, tokenized=0, max_length=10**6
            )
            scores = RawTextScores()
            for example in reader(blank):
                doc = nlp(example.reference.text)
                scores.add(example.reference, by_rule(doc) if name == "rule" else doc)
            shown = scores.as_dict()
            kept = {key: shown[f"boundaries_{key}"] for key in ("p", "r", "f")}
            results[name][noise] = kept
            numbers = "  ".join(f"{100 * (value or 0):5.1f}" for value in kept.values())
            print(f"{name:30} {noise:15} P, R, F: {numbers}", flush=True)
    if arguments.json:
        srsly.write_json(arguments.json, results)


if __name__ == "__main__":
    main()
