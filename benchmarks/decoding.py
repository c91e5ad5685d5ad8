"""How a trained parser does under other decoders, and how many sentences the splitting rule cuts.

    python benchmarks/decoding.py [en_lal_sm] --data corpus/ewt/dev.spacy [--json FILE]

EVALB with nk.prm on gold tokens, one sentence a Doc, gold tags at the terminals: the tree of
highest score (MAP) and minimum Bayes risk at several thresholds, on the same weights. Then the same
Docs without their sentence boundaries: how many `sentences = "split"` would cut in two or more.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.models.decoders import make_map_decoder, make_mbr_decoder
from spacy_lal.models.sentences import sentence_starts
from spacy_lal.scorers.constituency import score_constituency
from spacy_lal.treebanks.corpus import Corpus

THRESHOLDS = (0.3, 0.4, 0.45, 0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", nargs="?", default="en_lal_sm")
    parser.add_argument("--data", type=Path, default=Path("corpus/ewt/dev.spacy"))
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    nlp = spacy.load(arguments.pipeline)
    pipe = nlp.get_pipe("lal_constituency")
    rows: list[dict[str, Any]] = []
    print(f"{'decoder':12}{'P':>8}{'R':>8}{'F1':>8}")
    for name, decoder in [
        ("MAP", make_map_decoder()),
        *((f"MBR {threshold:.2f}", make_mbr_decoder(threshold)) for threshold in THRESHOLDS),
    ]:
        pipe.decoder = decoder
        examples = list(Corpus(arguments.data)(nlp))
        docs = nlp.pipe(example.predicted for example in examples)
        pairs = [Example(doc, eg.reference) for doc, eg in zip(docs, examples, strict=True)]
        scores = score_constituency(pairs, prm="nk")
        p, r, f = (100 * scores[f"const_evalb_{key}"] for key in "prf")
        print(f"{name:12}{p:8.2f}{r:8.2f}{f:8.2f}")
        rows.append({"decoder": name, "p": p, "r": r, "f": f})
    cut = sum(
        len(sentence_starts(without_boundaries(eg.reference), "split")) > 1 for eg in examples
    )
    print(f"cut by the splitting rule: {cut} of {len(examples)}")
    if arguments.json:
        result = {"data": str(arguments.data), "rows": rows, "cut": cut, "docs": len(examples)}
        arguments.json.write_text(json.dumps(result, indent=1), encoding="utf8")


def without_boundaries(doc: Doc) -> Doc:
    words, spaces = [t.text for t in doc], [bool(t.whitespace_) for t in doc]
    return Doc(doc.vocab, words=words, spaces=spaces)


if __name__ == "__main__":
    main()
