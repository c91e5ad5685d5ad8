"""CoNLL-U with contractions as one word, as they are written: "du", not "de" and "le"."""

from __future__ import annotations

from dataclasses import dataclass

import typer
from ud_join import written

from spacy_lal.cli.convert import command
from spacy_lal.formats.conllu import Conllu, ConlluSentence, to_sentence
from spacy_lal.formats.treebank_sentence import TreebankSentence


@dataclass(frozen=True, kw_only=True)
class Written(Conllu):
    """Tokens as they are written, tags and dependencies in CoNLL-U."""

    def sentence(self, found: ConlluSentence) -> tuple[TreebankSentence, str]:
        sentence, fault = written(found, self.tags)
        return sentence, to_sentence(found)[1] or fault


if __name__ == "__main__":
    typer.run(command(Written))
