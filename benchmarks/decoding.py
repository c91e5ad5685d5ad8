"""How a trained parser does under other decoders, and how many sentences the splitting rule cuts.

    python benchmarks/decoding.py [en_lal_sm] --data corpus/ewt/dev.spacy [--json FILE]

EVALB with nk.prm on gold tokens, one sentence a Doc, gold tags at the terminals: the tree of
highest score (MAP) and minimum Bayes risk at several thresholds, on the same weights. Of a joint
parser also UAS and LAS (CoNLL-18 style: all words, universal relations), and what an arc is worth
against a constituent: nothing, so that constituents are found alone, to everything, so that heads
are. Then the same Docs without their sentence boundaries: how many `sentences = "split"` would cut
in two or more.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.models.batching.sentences import sentence_starts
from spacy_lal.models.parser.decoders import make_map_decoder, make_mbr_decoder
from spacy_lal.scorers.attachment import score_attachment
from spacy_lal.scorers.constituency import score_constituency
from spacy_lal.training.corpus import Corpus

THRESHOLDS = (0.3, 0.4, 0.45, 0.5)
ARC_WEIGHTS = (0.25, 0.5, 2.0)
KEYS = ("const_evalb_p", "const_evalb_r", "const_evalb_f")
HEAD_KEYS = ("conll18_uas", "conll18_las")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", nargs="?", default="en_lal_sm")
    parser.add_argument("--data", type=Path, default=Path("corpus/ewt/dev.spacy"))
    parser.add_argument("--limit", type=int, default=0, help="sentences to read, 0 for all")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    nlp = spacy.load(arguments.pipeline)
    pipe = nlp.get_pipe("lal_constituency")
    rows: list[dict[str, Any]] = []
    decoders = [
        ("MAP", make_map_decoder()),
        *((f"MBR {threshold:.2f}", make_mbr_decoder(threshold)) for threshold in THRESHOLDS),
    ]
    keys = KEYS
    if pipe.joint:
        keys += HEAD_KEYS
        decoders += [
            *((f"arcs x {w}", make_mbr_decoder(arc_weight=w)) for w in ARC_WEIGHTS),
            ("constituents alone", make_mbr_decoder(arc_weight=0.0)),
            # no constituent is ever worth it
            ("heads alone", make_mbr_decoder(threshold=0.999999)),
        ]
    print(f"{'decoder':20}" + "".join(f"{key.split('_')[-1]:>8}" for key in keys))
    for name, decoder in decoders:
        pipe.decoder = decoder
        examples = list(Corpus(arguments.data, limit=arguments.limit)(nlp))
        docs = nlp.pipe(example.predicted for example in examples)
        pairs = [Example(doc, eg.reference) for doc, eg in zip(docs, examples, strict=True)]
        scores = score_constituency(pairs, prm="nk")
        if pipe.joint:
            scores.update(score_attachment(pairs))
        found = {key: 100 * scores[key] for key in keys}
        print(f"{name:20}" + "".join(f"{value:8.2f}" for value in found.values()), flush=True)
        rows.append({"decoder": name, **found})
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
