"""What imported parsers find beside what the programs themselves found in the odd sentences.

    python scripts/lal_parser_fixtures.py FOLDER_OF_ITS_CODE FOLDER --odd
    python scripts/compare_odd.py lal-parser FOLDER

and the same with supar_fixtures.py and `supar`. A line for every checkpoint: sentences; how many of
them the program failed at, and how many have a bracket that is read otherwise here on purpose, as
the "-LRB-" of treebanks; how many of the others are parsed otherwise; and of how many of those the
program's parse is found here, too, once all scores are a hundred-thousandth larger or smaller,
which is as near as they are.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lal.annotations.constituents import get_constituents
from spacy_lal.published.lal_parser import read_lal_parser
from spacy_lal.published.supar import read_supar

READ = {"lal-parser": (read_lal_parser, 1), "supar": (read_supar, 0)}
"""The importer, and which of a recorded pair is the word."""


def compare(nlp: Language, recorded: dict, word: int) -> dict[str, int]:
    """How many sentences there are, were left out, and are parsed otherwise here."""
    kinds = [kind for kind in ("trees", "heads", "relations") if kind in recorded]
    theirs = []
    for found in zip(*(recorded[kind] for kind in kinds), strict=True):
        parse = dict(zip(kinds, found, strict=True))
        if parse.get("trees") is not None:
            parse["trees"] = [span for span in parse["trees"] if span[2] != "TOP"]
        theirs.append(parse)
    reading = nlp.pipeline[0][1].model.shims[0].header["reading"]
    escaped = any((reading.get(kind) or {}).get("escape") for kind in ("words", "characters"))
    counts = dict.fromkeys(("sentences", "refused", "brackets", "otherwise", "tied"), 0)
    docs, kept = [], []
    for sentence, parse in zip(recorded["sentences"], theirs, strict=True):
        counts["sentences"] += 1
        words, tags = ([pair[i] for pair in sentence] for i in (word, 1 - word))
        if parse[kinds[0]] is None:
            counts["refused"] += 1
        elif escaped and set("()[]{}") & set(words):
            counts["brackets"] += 1
        else:
            starts = [True] + [False] * (len(words) - 1)
            docs.append(Doc(nlp.vocab, words, tags=tags, sent_starts=starts))
            kept.append(parse)
    for doc, mine, their in zip(docs, parses(nlp, docs, kinds), kept, strict=True):
        if mine != their:
            counts["otherwise"] += 1
            tied = any(is_tied(nlp, doc, their, size) for size in (1e-6, 1e-5))
            counts["tied"] += tied
            print("  ", "tied" if tied else "OTHER", f"{len(doc)} words:", doc.text[:80])
    return counts


def parses(nlp: Language, docs: list[Doc], kinds: Sequence[str]) -> list[dict[str, list]]:
    """Trees, heads and relations of Docs of one sentence each."""
    pipe = nlp.pipeline[0][1]
    found = pipe.predict(docs)
    pipe.set_annotations(docs, found)
    read = {
        "trees": lambda k: list(map(list, get_constituents(docs[k]))),
        "heads": lambda k: found[1][k].heads.tolist(),
        "relations": lambda k: [pipe.relations[r] for r in found[1][k].relations],
    }
    return [{kind: read[kind](k) for kind in kinds} for k in range(len(docs))]


def is_tied(nlp: Language, doc: Doc, theirs: dict[str, list], size: float) -> bool:
    """Whether the parse is the best one of scores that differ by `size` of them."""

    def shake(module: torch.nn.Module, given: object, scores: tuple) -> tuple:
        shaken = (
            s * (1 + size * torch.randn_like(s)) if isinstance(s, torch.Tensor) else s
            for s in scores
        )
        return type(scores)(*shaken)

    torch.manual_seed(1)
    network = nlp.pipeline[0][1].model.shims[0].module
    hook = network.register_forward_hook(shake)
    try:
        return any(parses(nlp, [doc.copy()], list(theirs))[0] == theirs for _ in range(40))
    finally:
        hook.remove()


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
