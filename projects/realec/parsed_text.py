"""Lines of text as sentences with tags and heads, by which errors are placed.

python parsed_text.py TEXT OUTPUT --model en_lal_sm
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import spacy
import torch
import typer
from spacy.tokens import Doc
from wasabi import msg

from spacy_lal.formats.docbins import write_spacy
from spacy_lal.formats.files import read_text


def main(
    text: Annotated[Path, typer.Argument(help="Lines of text, plain or compressed.", exists=True)],
    output: Annotated[Path, typer.Argument(help="The .spacy file, a Doc a sentence.")],
    model: Annotated[str, typer.Option(help="A pipeline that finds tags and heads.")] = "en_lal_sm",
    threads: Annotated[int, typer.Option(help="Threads of torch.", min=1)] = 1,
) -> None:
    """Write the sentences of TEXT with tags and heads, without trees and roles."""
    torch.set_num_threads(threads)
    nlp = spacy.load(model, exclude=["lisa_srl"])
    lines = filter(str.strip, read_text(text).split("\n"))
    words = 0

    def sentences() -> Iterator[Doc]:
        nonlocal words
        for doc in nlp.pipe(lines):
            words += len(doc)
            yield from (sentence.as_doc() for sentence in doc.sents)

    output.parent.mkdir(parents=True, exist_ok=True)
    write_spacy(sentences(), output)
    msg.good(f"{output}: {words:,} tokens")


if __name__ == "__main__":
    typer.run(main)
