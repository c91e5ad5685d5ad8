"""Edited text from CoNLL-U files: sentences in which a detector should mark next to nothing.

The text is that of the comments "# text = ", tokenised by spaCy, without errors. Documents go by
turns to OUTPUT-threshold.spacy, to choose a threshold, and to OUTPUT-measure.spacy; with `--whole`
all go to OUTPUT.spacy, as training data. A Doc is a sentence.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import spacy
import typer
from wasabi import msg

from spacy_lal.annotations.grammar_errors import CORRECT, set_errors
from spacy_lal.formats.docbins import write_spacy
from spacy_lal.formats.files import read_text

TEXT, DOCUMENT = "# text = ", "# newdoc"


def main(
    treebank: Annotated[Path, typer.Argument(help="A CoNLL-U file, or a folder.", exists=True)],
    output: Annotated[str, typer.Argument(help="How the .spacy files' names begin.")],
    lang: Annotated[str, typer.Option(help="Language code.")],
    whole: Annotated[bool, typer.Option("--whole", help="One file of all.")] = False,
) -> None:
    """Write the text of a treebank as sentences without errors."""
    names = [""] if whole else ["-threshold", "-measure"]
    texts: list[list[str]] = [[] for _ in names]
    documents = 0
    for path in sorted(treebank.glob("*.conllu")) if treebank.is_dir() else [treebank]:
        for line in read_text(path).split("\n"):
            documents += line.startswith(DOCUMENT)
            if line.startswith(TEXT):
                texts[documents % len(names)].append(line.removeprefix(TEXT))
    nlp = spacy.blank(lang)
    for name, part in zip(names, texts, strict=True):
        if not part:
            raise ValueError(f"{treebank}: no sentences for {output}{name}.spacy")
        docs = list(nlp.pipe(part))
        for doc in docs:
            for token in doc:
                token.is_sent_start = token.i == 0
            set_errors(doc, [CORRECT] * len(doc))
        path = Path(f"{output}{name}.spacy")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_spacy(docs, path)
        msg.good(f"{path.name}: {len(docs):,} sentences, {sum(map(len, docs)):,} tokens")


if __name__ == "__main__":
    typer.run(main)
