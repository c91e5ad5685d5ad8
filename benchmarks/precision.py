"""Scores and processor time of a pipeline with each kind of products (`prediction`).

    python benchmarks/precision.py en_lal_sm projects/ewt/corpus/test.spacy [--rounds 11]

The Docs of the file are read with their words and sentence starts, 256 at a time, on one thread.
Scores are the components' own. The kinds take turns, so that a change of the machine's speed meets
all of them; printed is the median of their processor seconds without loading.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace
from typing import get_args

import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_lal.layers.precision import Precision

SHOWN = ["const_evalb_f", "dep_las", "tag_acc", "srl_f", "ged_f05"]


def set_prediction(nlp: Language, prediction: str) -> None:
    """Lets all networks of a pipeline predict with these products."""
    for _, pipe in nlp.pipeline:
        model = getattr(pipe, "model", None)
        for node in [] if model is None else model.walk():
            if "prediction" in node.attrs:
                node.attrs["prediction"] = prediction
            settings = node.attrs.get("settings")
            if hasattr(settings, "prediction"):
                node.attrs["settings"] = replace(settings, prediction=prediction)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pipeline")
    parser.add_argument("docs")
    parser.add_argument("--rounds", type=int, default=11)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    nlp = spacy.load(arguments.pipeline)
    gold = list(DocBin().from_disk(arguments.docs).get_docs(nlp.vocab))

    def words_alone(doc: Doc) -> Doc:
        spaces = [bool(token.whitespace_) for token in doc]
        starts: list[bool | int | None] = [token.is_sent_start for token in doc]
        return Doc(nlp.vocab, [token.text for token in doc], spaces, sent_starts=starts)

    seconds: dict[str, list[float]] = {kind: [] for kind in get_args(Precision)}
    for round_ in range(arguments.rounds + 1):
        for kind, of_kind in seconds.items():
            set_prediction(nlp, kind)
            docs = [words_alone(doc) for doc in gold]
            start = time.process_time()
            docs = list(nlp.pipe(docs, batch_size=256))
            of_kind.append(time.process_time() - start)
            if round_ == 0:
                scores = nlp.evaluate(
                    [Example(words_alone(doc), doc) for doc in gold], batch_size=256
                )
                shown = {name: round(100 * scores[name], 2) for name in SHOWN if scores.get(name)}
                print(kind, shown, flush=True)
    words = sum(map(len, gold))
    for kind, of_kind in seconds.items():
        # the first round is a warm-up
        median = statistics.median(of_kind[1:] or of_kind)
        print(f"{kind}: {median:.2f} s, {words / median:.0f} words a second")


if __name__ == "__main__":
    main()
