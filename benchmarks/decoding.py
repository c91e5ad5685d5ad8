"""Scores of a trained parser with other decoders, and how many sentences the splitting rule cuts.

    python benchmarks/decoding.py [en_lal_sm] --data projects/ewt/corpus/dev.spacy [--json FILE]

Trees are scored by EVALB with nk.prm on gold tokens, one sentence a Doc, with gold tags: the tree
of highest score (MAP) and minimum Bayes risk at several thresholds, on the same weights. A joint
parser also has UAS and LAS (CoNLL-18 style: all words, universal relations), if the data have
heads, at several weights of an arc against a constituent, from constituents alone to heads alone.
The last number is that of sentences that `sentences = "split"` would cut, from the same Docs
without boundaries.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from measure import bare, component, load, options, parsed, read_examples, table, write
from spacy.training import Example

from spacy_lal.batching.sentences import sentence_starts
from spacy_lal.parsing.constituency import ConstituencyPipe
from spacy_lal.parsing.decoders import MaximumAPosteriori, MinimumBayesRisk
from spacy_lal.parsing.scorer import score_constituency
from spacy_lal.scoring.attachment import score_attachment

THRESHOLDS = (0.2, 0.3, 0.4, 0.45, 0.5)
ARC_WEIGHTS = (0.25, 0.5, 2.0)
KEYS = ("const_evalb_p", "const_evalb_r", "const_evalb_f")
HEAD_KEYS = ("conll18_uas", "conll18_las")


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("pipeline", nargs="?", default="en_lal_sm")
    parser.add_argument("--data", type=Path, default=Path("projects/ewt/corpus/dev.spacy"))
    parser.add_argument("--limit", type=int, default=0, help="sentences to read, 0 for all")
    arguments = parsed(parser)
    nlp = load(arguments.pipeline)
    pipe = component(nlp, ConstituencyPipe)
    rows: list[dict[str, Any]] = []
    decoders = [
        ("MAP", MaximumAPosteriori()),
        *((f"MBR {threshold:.2f}", MinimumBayesRisk(threshold)) for threshold in THRESHOLDS),
    ]
    keys = KEYS
    if pipe.joint:
        keys += HEAD_KEYS
        decoders += [
            *((f"arcs x {w}", MinimumBayesRisk(arc_weight=w)) for w in ARC_WEIGHTS),
            ("constituents alone", MinimumBayesRisk(arc_weight=0.0)),
            ("heads alone", MinimumBayesRisk(threshold=0.999999)),
        ]
    for name, decoder in decoders:
        pipe.decoder = decoder
        examples = read_examples(arguments.data, nlp, arguments.limit)
        # not the whole pipeline, which may write other heads over those of the parser
        docs = pipe.pipe((example.predicted for example in examples), batch_size=1000)
        pairs = [Example(doc, eg.reference) for doc, eg in zip(docs, examples, strict=True)]
        scores = score_constituency(pairs, prm="nk")
        if pipe.joint:
            scores.update(score_attachment(pairs))
        found = {key: 100 * value for key in keys if (value := scores[key]) is not None}
        rows.append({"decoder": name, **found})
    print(table(rows))
    bare_docs = bare([example.reference for example in examples], boundaries=False)
    cut = sum(len(sentence_starts(doc, "split")) > 1 for doc in bare_docs)
    print(f"cut by the splitting rule: {cut} of {len(bare_docs)}")
    report = {"data": str(arguments.data), "rows": rows, "cut": cut, "docs": len(bare_docs)}
    write(arguments.json, report)


if __name__ == "__main__":
    main()
