"""Whether pipelines find the same as before a change of the code.

    python scripts/same_results.py record DATA OUT.json.gz [NAME …]
    python scripts/same_results.py compare BEFORE.json.gz AFTER.json.gz

`record` reads the test sets below the folder DATA, skips those that aren't there, and writes what
every pipeline finds in them: spans, heads, tags, sentence starts, scores. NAMEs choose pipelines.
`compare` prints a line for every set that differs, and returns 1 if there is one. Scores may differ
by a millionth.
"""

from __future__ import annotations

import gzip
import json
import lzma
import re
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import spacy
import torch
from odd_sentences import odd_sentences
from spacy.tokens import Doc

Words = list[list[str]]
TEXTS = {
    "en_lal_sm": ["ewt", "ewt-raw", "odd"],
    "en_lal_md": ["ewt", "ewt-raw", "odd"],
    "en_lal_bio_sm": ["craft", "odd"],
    "fr_lal_md": ["sequoia", "odd"],
    "id_lal_md": ["icon", "odd"],
    "is_lal_md": ["greynir", "odd"],
    "en_lal_ged_md": ["fce", "realec", "odd"],
    "de_lal_ged_sm": ["german", "odd"],
    "cs_lal_ged_sm": ["czech", "odd"],
    "it_lal_ged_sm": ["italian", "odd"],
}
FILES = {
    "ewt": "ewt/en_ewt-ud-test.conllu.xz",
    "ewt-raw": "ewt/en_ewt-ud-test.conllu.xz",
    "craft": "craft-bio/craft.no-nc.test.brackets.xz",
    "sequoia": "sequoia-fr/test.brackets.xz",
    "icon": "icon-id/test.txt.xz",
    "greynir": "greynir-is/test.brackets.xz",
    "fce": "fce/fce-public.test.original.tsv",
    "realec": "realec/en_realec_dev.tsv.xz",
    "german": "multiged/german/de_falko-merlin_dev.tsv.xz",
    "czech": "multiged/czech/cs_geccc_dev.tsv.xz",
    "italian": "multiged/italian/it_merlin_dev.tsv.xz",
}


def texts(kind: str, data: Path) -> list[str] | Words:
    """Texts, or words of sentences."""
    if kind == "odd":
        return [sentence.words for sentence in odd_sentences()]
    path = data / FILES[kind]
    packed = path.read_bytes()
    lines = (lzma.decompress(packed) if path.suffix == ".xz" else packed).decode("utf-8")
    if kind == "ewt-raw":
        paragraphs = re.split(r"^# newpar.*$", lines, flags=re.MULTILINE)
        found = (
            " ".join(re.findall(r"^# text = (.*)$", part, re.MULTILINE)) for part in paragraphs
        )
        return [text for text in found if text]
    if path.name.endswith((".conllu", ".conllu.xz")):
        rows = (row.split("\t") for row in lines.splitlines())
        return split([row[1] if row[0].isdigit() else row[0] and "#" for row in rows])
    if kind == "icon" or "brackets" in path.name:
        return [re.findall(r"\([^\s()]+ ([^\s()]+)\)", line) for line in lines.splitlines()]
    return split([line.split("\t")[0] for line in lines.splitlines()])


def split(words: list[str]) -> Words:
    """Sentences of a column of words, blank between sentences; `#` is none."""
    groups = ([w for w in group if w != "#"] for full, group in groupby(words, bool) if full)
    return [group for group in groups if group]


def found(doc: Doc) -> dict[str, Any]:
    """All that a pipeline writes on a Doc."""
    spans = {
        key: [[s.start, s.end, s.label_, s.id_] for s in group] for key, group in doc.spans.items()
    }
    return {
        "words": len(doc),
        "tags": [t.tag_ for t in doc],
        "heads": [t.head.i for t in doc],
        "deps": [t.dep_ for t in doc],
        "starts": [t.is_sent_start for t in doc],
        "spans": spans,
        "scores": {key: group.attrs for key, group in doc.spans.items()},
    }


def near(a: Any, b: Any) -> bool:
    """Whether values are equal, numbers to a millionth."""
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= 1e-6
    if isinstance(a, dict) and isinstance(b, dict):
        keys = (a.keys() | b.keys()) - {"wrote"}  # once checksums, now names of layers
        return all(key in a and key in b and near(a[key], b[key]) for key in keys)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(near, a, b))
    return a == b


def record(data: Path, output: Path, names: list[str]) -> None:
    """Write what the pipelines find."""
    torch.set_num_threads(1)
    results = {}
    for name in names or TEXTS:
        nlp = spacy.load(name)
        for kind in TEXTS[name]:
            if kind != "odd" and not (data / FILES[kind]).exists():
                print(f"{name}: no {FILES[kind]}", file=sys.stderr)
                continue
            docs = [
                nlp.make_doc(text)
                if isinstance(text, str)
                else Doc(nlp.vocab, text, sent_starts=[True] + [False] * (len(text) - 1))
                for text in texts(kind, data)
            ]
            results[f"{name} {kind}"] = [found(doc) for doc in nlp.pipe(docs, batch_size=100)]
            print(name, kind, len(docs), flush=True)
    with gzip.open(output, "wt", encoding="utf-8", compresslevel=3) as file:
        json.dump(results, file)


def compare(before: Path, after: Path) -> int:
    """Print what differs."""
    old, new = (json.loads(gzip.decompress(path.read_bytes())) for path in (before, after))
    status = 0
    for name in old.keys() & new.keys():
        differing = [
            k for k, pair in enumerate(zip(old[name], new[name], strict=True)) if not near(*pair)
        ]
        if differing:
            k = differing[0]
            keys = [key for key in old[name][k] if not near(old[name][k][key], new[name][k][key])]
            print(f"{name}: {len(differing)} of {len(old[name])} differ, first {k}: {keys}")
            status = 1
    print(
        f"compared {len(old.keys() & new.keys())} sets; missing: {sorted(old.keys() ^ new.keys())}"
    )
    return status


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "record":
        record(Path(arguments[0]), Path(arguments[1]), arguments[2:])
    else:
        sys.exit(compare(Path(arguments[0]), Path(arguments[1])))
