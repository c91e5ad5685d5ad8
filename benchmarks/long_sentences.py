"""Long sentences among probable spans alone, beside the search among all trees.

    python benchmarks/long_sentences.py [en_lal_sm] --usual DEV.conllu [--sentences FILE ...]
        [--joined FILE ...] [--over 100] [--repeats 3] [--json FILE]

--usual: sentences as they are, for the time that a word usually takes. --sentences: files whose
sentences of more than `--over` words are parsed. --joined: CoNLL-U files whose documents become
sequences of words without punctuation and boundaries, 256 words at most, of which those of more
than `--over` are parsed. Files are CoNLL-U, bracketed trees or PropBank's `.gold_conll`, compressed
or not.

Both searches read the same sentences by turns, one thread, each sentence a Doc. Printed are the
labelled brackets' F1 and the share of heads on which they agree, the sentences whose trees differ,
and CPU milliseconds a word of the parser's pipeline, medians. Sentences of more than `--over` words
are searched among probable spans: the package's number is 100, a lower one shows more sentences.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lal.formats.conllu import read_conllu
from spacy_lal.formats.files import read_text
from spacy_lal.formats.penn_brackets import read_treebank
from spacy_lal.parsing import joint, tree_weight

MOST_WORDS = 256
ALL = 10**9


def read_words(path: Path) -> Iterator[list[str]]:
    """The words of every sentence."""
    if ".conllu" in path.name:
        yield from (words for document in read_documents(path) for words in document)
    elif ".gold_conll" in path.name:
        sentence: list[str] = []
        for line in [*read_text(path).splitlines(), ""]:
            columns = line.split()
            if columns:
                sentence.append(columns[3])
            elif sentence:
                yield sentence
                sentence = []
    else:
        yield from (tree.leaves for tree in read_treebank(path))


def read_documents(path: Path, punctuation: bool = True) -> Iterator[list[list[str]]]:
    """The sentences of every document of a CoNLL-U file."""
    for _, sentences in groupby(read_conllu(path), lambda sentence: sentence.document):
        yield [
            [w for w, tag in zip(s.words, s.upos, strict=True) if punctuation or tag != "PUNCT"]
            for s in sentences
        ]


def joined(path: Path) -> Iterator[list[str]]:
    for document in read_documents(path, punctuation=False):
        words = [word for sentence in document for word in sentence]
        for first in range(0, len(words), MOST_WORDS):
            yield words[first : first + MOST_WORDS]


def parse(nlp: Language, sentences: list[list[str]], exact_words: int) -> tuple[list[Doc], float]:
    """Docs, and CPU milliseconds a word. exact_words: see `parsing/joint.py`."""
    joint.EXACT_WORDS = tree_weight.EXACT_WORDS = exact_words
    docs = [
        Doc(nlp.vocab, words=words, sent_starts=[k == 0 for k in range(len(words))])
        for words in sentences
    ]
    start = time.process_time()
    parsed = list(nlp.pipe(docs))
    return parsed, 1e3 * (time.process_time() - start) / sum(map(len, docs))


def agreement(found: list[Doc], exact: list[Doc]) -> dict[str, Any]:
    common = brackets = heads = words = changed = 0
    for one, other in zip(found, exact, strict=True):
        left, right = (
            {(span.start, span.end, span.label_) for span in doc.spans["constituents"]}
            for doc in (one, other)
        )
        common += len(left & right)
        brackets += len(left) + len(right)
        heads += sum(a.head.i == b.head.i for a, b in zip(one, other, strict=True))
        words += len(one)
        changed += left != right
    return {
        "sentences": len(found),
        "words": words,
        "bracket_f1": 200 * common / max(1, brackets),
        "heads": 100 * heads / max(1, words),
        "other_trees": changed,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipeline", nargs="?", default="en_lal_sm")
    parser.add_argument("--usual", type=Path, required=True)
    parser.add_argument("--sentences", type=Path, nargs="*", default=[])
    parser.add_argument("--joined", type=Path, nargs="*", default=[])
    parser.add_argument("--over", type=int, default=joint.EXACT_WORDS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    nlp = spacy.load(args.pipeline, exclude=["lisa_srl"])
    usual = list(read_words(args.usual))
    sets = {path.name: list(read_words(path)) for path in args.sentences}
    sets |= {f"{path.name}, joined": list(joined(path)) for path in args.joined}
    parse(nlp, usual[:100], args.over)
    rows = []
    for name, sentences in sets.items():
        long = [words for words in sentences if len(words) > args.over]
        if not long:
            print(f"{name}: no sentence of more than {args.over} words")
            continue
        times: list[tuple[float, float, float]] = []
        for _ in range(args.repeats):
            of_usual = parse(nlp, usual, ALL)[1]
            found, of_found = parse(nlp, long, args.over)
            exact, of_exact = parse(nlp, long, ALL)
            times.append((of_usual, of_found, of_exact))
        of_usual, of_found, of_exact = map(statistics.median, zip(*times, strict=True))
        ratio = statistics.median(found / usual for usual, found, _ in times)
        row = {"set": name, **agreement(found, exact)}
        row |= {"ms_usual": of_usual, "ms": of_found, "ms_all_trees": of_exact, "ratio": ratio}
        rows.append(row)
        print(
            f"{name}: {row['sentences']} of more than {args.over} words, {row['words']} words; "
            f"F1 {row['bracket_f1']:.2f}, heads {row['heads']:.2f} %, "
            f"{row['other_trees']} other trees; ms a word: usual {of_usual:.2f}, "
            f"probable spans {of_found:.2f} ({ratio:.1f} times), all trees {of_exact:.2f}",
            flush=True,
        )
    if args.json:
        args.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
