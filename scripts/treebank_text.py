"""The sentences of a CoNLL-U file as edited text, on which a detector should mark next to nothing.

The text is that of the comments "# text = ", in the tokens of spaCy's tokenizer, as users have it,
and none of the tokens is wrong. Two .spacy files of one Doc a sentence: one document after the
other goes to OUTPUT-threshold, to choose a threshold by, and to OUTPUT-measure, to measure on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import spacy
import typer
from wasabi import msg

from spacy_lal.grammar_errors import CORRECT, set_errors
from spacy_lal.treebanks.docbins import write_spacy
from spacy_lal.treebanks.files import read_text

TEXT, DOCUMENT = "# text = ", "# newdoc"


def main(
    treebank: Annotated[Path, typer.Argument(help="A CoNLL-U file.", exists=True)],
    output: Annotated[str, typer.Argument(help="How the .spacy files' names begin.")],
    lang: Annotated[str, typer.Option(help="Language code.")],
) -> None:
    """Write the text of a treebank as sentences without errors."""
    texts: tuple[list[str], list[str]] = ([], [])
    documents = 0
    for line in read_text(treebank).split("\n"):
        documents += line.startswith(DOCUMENT)
        if line.startswith(TEXT):
            texts[documents % 2].append(line.removeprefix(TEXT))
    nlp = spacy.blank(lang)
    for name, of_half in zip(("threshold", "measure"), texts, strict=True):
        if not of_half:
            raise ValueError(f"{treebank}: no sentences for {name}")
        docs = list(nlp.pipe(of_half))
        for doc in docs:
            for token in doc:
                token.is_sent_start = token.i == 0
            set_errors(doc, [CORRECT] * len(doc))
        path = Path(f"{output}-{name}.spacy")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_spacy(docs, path)
        msg.good(f"{path.name}: {len(docs):,} sentences, {sum(map(len, docs)):,} tokens")


if __name__ == "__main__":
    typer.run(main)
