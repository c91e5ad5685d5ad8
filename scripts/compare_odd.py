"""What imported parsers find beside what the programs themselves found in the odd sentences.

    python scripts/lal_parser_fixtures.py FOLDER_OF_ITS_CODE FOLDER --odd
    python scripts/compare_odd.py lal-parser FOLDER

and the same with supar_fixtures.py and `supar`. A line for every checkpoint: sentences, how many of
them the program failed at, and how many have another tree, head or relation here.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lal.annotations import get_constituents
from spacy_lal.published.lal_parser import read_lal_parser
from spacy_lal.published.supar import read_supar

READ = {"lal-parser": (read_lal_parser, 1), "supar": (read_supar, 0)}
"""The importer, and which of a recorded pair is the word."""


def compare(nlp: Language, recorded: dict, word: int) -> dict[str, int]:
    """How many sentences there are, were refused, and are parsed otherwise here."""
    known = [kind for kind in ("trees", "heads", "relations") if kind in recorded]
    kept = [k for k, found in enumerate(recorded[known[0]]) if found is not None]
    docs = [
        Doc(nlp.vocab, [p[word] for p in sentence], tags=[p[1 - word] for p in sentence])
        for sentence in (recorded["sentences"][k] for k in kept)
    ]
    pipe = nlp.pipeline[0][1]
    counts = {"sentences": len(recorded["sentences"])}
    counts["refused"] = counts["sentences"] - len(kept)
    found: dict[str, list] = {}
    if "heads" in known:
        _, parses = pipe.predict(docs)
        parses = [parses[k] for k in range(len(docs))]
        found["heads"] = [parse.heads.tolist() for parse in parses]
        found["relations"] = [[pipe.relations[r] for r in parse.relations] for parse in parses]
    if "trees" in known:
        found["trees"] = [list(map(list, get_constituents(doc))) for doc in nlp.pipe(docs)]
    for kind in known:
        theirs = [recorded[kind][k] for k in kept]
        if kind == "trees":
            theirs = [[span for span in tree if span[2] != "TOP"] for tree in theirs]
        pairs = enumerate(zip(found[kind], theirs, strict=True))
        other = [kept[k] for k, (mine, their) in pairs if mine != their]
        counts[kind] = len(other)
        for k in other[:3]:
            print("  other", kind, k, " ".join(p[word] for p in recorded["sentences"][k])[:100])
    return counts


def main(kind: str, folder: Path) -> None:
    torch.set_num_threads(1)
    read, word = READ[kind]
    for checkpoint in sorted(folder.glob("*.pt")):
        recorded = json.loads(checkpoint.with_suffix(".json").read_text("utf-8"))
        encoders = [e for e in folder.iterdir() if e.is_dir() and e.name in checkpoint.stem]
        counts = compare(read(checkpoint, next(iter(encoders), None)).nlp, recorded, word)
        print(f"{checkpoint.stem:18}", "  ".join(f"{name} {n}" for name, n in counts.items()))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
