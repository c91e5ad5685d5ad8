"""Whether an imported model finds what benepar itself finds: trees, tags, label scores.

    python benchmarks/benepar_equal.py RELEASE FILE.spacy... [--every 1]

RELEASE is a folder that both read. Of each file every `--every`th sentence is parsed, scores are
compared of every tenth of those. A sentence at which benepar fails, as it does at more than 512
pieces, counts as refused. The environment is that of `benepar_speed.py`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import benepar  # noqa: F401
import spacy
import torch
from benepar.integrations.spacy_plugin import BeneparComponent, SentenceWrapper
from spacy.tokens import Doc, DocBin

from spacy_lal.annotations.constituents import get_constituents
from spacy_lal.published.benepar import read_benepar
from spacy_lal.structure.chart import unpack


def sentences(files: list[Path], every: int, vocab: spacy.Vocab) -> list[Doc]:
    """One Doc for each, without annotations; whitespace tokens are words for benepar alone."""
    made = []
    for path in files:
        found = [s for doc in DocBin().from_disk(path).get_docs(vocab) for s in doc.sents]
        for sentence in found[::every]:
            if not any(token.is_space for token in sentence):
                words, spaces = zip(*((t.text, bool(t.whitespace_)) for t in sentence), strict=True)
                starts = [True] + [False] * (len(words) - 1)
                made.append(Doc(vocab, words, spaces, sent_starts=starts))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("release", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--every", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    theirs = BeneparComponent(str(arguments.release))._parser
    nlp = read_benepar(arguments.release).nlp
    names = {k: label for label, k in theirs.config["label_vocab"].items()}
    tags = {k: tag for tag, k in theirs.config["tag_vocab"].items()}
    docs, wanted, scores, refused = [], [], [], 0
    for doc in sentences(arguments.files, arguments.every, nlp.vocab):
        wrapped = [SentenceWrapper(doc[:])]
        try:
            (found,) = theirs.parse(wrapped, return_compressed=True)
            with_scores = len(docs) % 10 == 0
            chart = theirs.parse(wrapped, return_scores=True)[0] if with_scores else None
        except Exception:  # each kind of text fails in its own way
            refused += 1
            continue
        spans = zip(found.starts.tolist(), found.ends.tolist(), found.labels.tolist(), strict=True)
        tree = [(s, e, label) for s, e, k in spans if k for label in names[k].split("::")]
        docs.append(doc)
        scores.append(chart)
        wanted.append((tree, [tags[k] for k in found.tags.tolist()]))
    worst = 0.0
    with torch.no_grad():
        for batch in nlp.get_pipe("lal_constituency").model.predict(docs).batches:
            charts = unpack(batch.scores.labels, batch.scores.tags.shape[1])
            for chart, member in zip(charts, batch.members, strict=True):
                if scores[member] is not None:
                    expected = torch.from_numpy(scores[member])
                    n = len(expected)
                    spans = torch.ones(n, n, dtype=torch.bool).triu()
                    off = (chart[:n, 1 : n + 1] - expected).abs()[spans].max().item()
                    worst = max(worst, off)
    parsed = list(nlp.pipe(docs))
    trees = sum(get_constituents(d) != tree for d, (tree, _) in zip(parsed, wanted, strict=True))
    tagged = sum([t.tag_ for t in d] != own for d, (_, own) in zip(parsed, wanted, strict=True))
    compared = sum(chart is not None for chart in scores)
    print(f"{len(docs)} sentences, {refused} refused; other trees {trees}, other tags {tagged}")
    print(f"scores of {compared} sentences differ by at most {worst:.1e}")


if __name__ == "__main__":
    main()
