"""The sentences of a CoNLL-U file as edited text, on which a detector should mark next to nothing.

The text is that of the comments "# text = ", in the tokens of spaCy's tokenizer, as users have it,
and none of the tokens is wrong. A .spacy file of one Doc a sentence.
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

TEXT = "# text = "


def main(
    treebank: Annotated[Path, typer.Argument(help="A CoNLL-U file.", exists=True)],
    output: Annotated[Path, typer.Argument(help="The .spacy file to write.")],
    lang: Annotated[str, typer.Option(help="Language code.")],
) -> None:
    """Write the text of a treebank as sentences without errors."""
    lines = read_text(treebank).split("\n")
    texts = [line.removeprefix(TEXT) for line in lines if line.startswith(TEXT)]
    if not texts:
        raise ValueError(f"{treebank} has no comments {TEXT!r}")
    docs = list(spacy.blank(lang).pipe(texts))
    for doc in docs:
        doc[0].is_sent_start = True
        for token in doc[1:]:
            token.is_sent_start = False
        set_errors(doc, [CORRECT] * len(doc))
    output.parent.mkdir(parents=True, exist_ok=True)
    write_spacy(docs, output)
    msg.good(f"{output.name}: {len(docs):,} sentences, {sum(map(len, docs)):,} tokens")


if __name__ == "__main__":
    typer.run(main)
