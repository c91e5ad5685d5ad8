"""Add a pipeline's trees to sentences that have none.

    python scripts/silver_trees.py MODEL IN.spacy OUT.spacy [--tags]

A treebank of heads so becomes training data for a parser of trees. Heads stay gold. Tags are the
pipeline's where a sentence has none, and with `--tags` everywhere, as a treebank's tag set may
differ.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.tokens import Doc

from spacy_lal.annotations.constituents import CONSTITUENTS_KEY, get_constituents, set_constituents
from spacy_lal.formats.docbins import write_spacy
from spacy_lal.training.corpus import Corpus


def bare(doc: Doc) -> Doc:
    """Return a copy with words, spaces and sentence starts alone."""
    words, spaces = [t.text for t in doc], [bool(t.whitespace_) for t in doc]
    return Doc(doc.vocab, words, spaces, sent_starts=[bool(t.is_sent_start) for t in doc])


def main(
    model: Annotated[str, typer.Argument(help="A pipeline with a parser of constituents.")],
    source: Annotated[Path, typer.Argument(metavar="IN", help="Docs.", exists=True)],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The same with trees.")],
    tags: Annotated[
        bool, typer.Option("--tags", help="Tags, too, in the place of others.")
    ] = False,
) -> None:
    """Parse sentences without trees."""
    nlp = spacy.load(model)
    docs = list(Corpus(source).docs(nlp))
    for doc, found in zip(docs, nlp.pipe(map(bare, docs)), strict=True):
        if CONSTITUENTS_KEY not in found.spans:
            raise SystemExit(f"silver_trees: {model} has no parser of constituents")
        if CONSTITUENTS_KEY in doc.spans or found.spans[CONSTITUENTS_KEY].attrs.get("unparsed"):
            continue
        set_constituents(doc, get_constituents(found))
        if tags or not doc.has_annotation("TAG"):
            for token, tagged in zip(doc, found, strict=True):
                token.tag_ = tagged.tag_
    write_spacy(docs, output)


if __name__ == "__main__":
    typer.run(main)
