"""The sentences of a .spacy file that are not written in capitals.

In MERLIN, such writing is labelled as an error, word by word, which is easy to find.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from spacy.tokens import Doc
from wasabi import msg

from spacy_lal.formats.docbins import read_spacy, write_spacy
from spacy_lal.formats.treebank_sentence import language_vocab


def main(
    corpus: Annotated[Path, typer.Argument(help="A .spacy file.", exists=True)],
    output: Annotated[Path, typer.Argument(help="The .spacy file to write.")],
    lang: Annotated[str, typer.Option(help="Language code.")],
) -> None:
    """Write CORPUS without sentences that are written in capitals."""
    docs = list(read_spacy(corpus, language_vocab(lang)))
    kept = [doc for doc in docs if not in_capitals(doc)]
    write_spacy(kept, output)
    msg.good(f"{output.name}: {len(kept):,} of {len(docs):,} sentences")


def in_capitals(doc: Doc) -> bool:
    """Whether that is how at least half of several words of more than one letter are written."""
    words = [token.text for token in doc if token.is_alpha and len(token) > 1]
    return len(words) > 1 and 2 * sum(word.isupper() for word in words) >= len(words)


if __name__ == "__main__":
    typer.run(main)
