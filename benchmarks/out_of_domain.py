"""Pipelines side by side on texts of several kinds: trees, heads, tags and roles.

    python benchmarks/out_of_domain.py PIPELINE… --data [NAME=]FILE… [--threads 1] [--json FILE]

FILE is a .spacy file, one sentence a Doc. Every pipeline reads its words and sentences and predicts
everything else. The tables show what a file has gold of: F1 by EVALB with nk.prm; UAS and LAS by
CoNLL-18's rules, of all words; accuracy of tags; F1 of roles, end to end, and of predicates.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import measure

COLUMNS = {
    "F1": "const_evalb_f",
    "UAS": "conll18_uas",
    "LAS": "conll18_las",
    "tags": "tag_acc",
    "roles": "srl_f",
    "predicates": "srl_pred_f",
}


def main() -> None:
    parser = measure.options(__doc__)
    parser.add_argument("models", nargs="+", metavar="PIPELINE", help="names or folders")
    parser.add_argument(
        "--data", dest="files", nargs="+", type=named, required=True, metavar="[NAME=]FILE"
    )
    arguments = measure.parsed(parser)
    report = measure.machine(arguments, "spacy-lal", "spacy", "torch")
    report["results"] = [
        result for model in arguments.models for result in results(model, dict(arguments.files))
    ]
    for name in dict.fromkeys(result["data"] for result in report["results"]):
        rows = [result for result in report["results"] if result["data"] == name]
        print(f"\n{measure.table(rows)}")
    measure.write(arguments.json, report)


def named(entry: str) -> tuple[str, Path]:
    """The name and the file of NAME=FILE; a file alone has its own name."""
    name, equals, file = entry.rpartition("=")
    path = Path(file)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"no file {path}")
    return name if equals else path.stem, path


def results(model: str, files: dict[str, Path]) -> list[dict[str, Any]]:
    """The scores of a pipeline on each file, in percent, of what the file has gold of."""
    from spacy_lal.evaluation.parse_scores import measure_parses
    from spacy_lal.srl.scorer import score_frames

    nlp = measure.load(model)
    found = []
    for name, path in files.items():
        examples = measure.read_examples(path, nlp)
        # it scores trees and heads; the Docs that it parsed are these
        scores = measure_parses(nlp, examples)
        scores |= score_frames(examples)
        percent = {
            column: round(100 * scores[key], 2)
            for column, key in COLUMNS.items()
            if scores.get(key) is not None
        }
        about = {"pipeline": measure.full_name(nlp), "data": name, "words": scores["words"]}
        found.append(about | percent)
    return found


if __name__ == "__main__":
    main()
