"""The Vietnamese Treebank with heads of a UD treebank, which has some of its sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated

import typer
from ud_join import COMPOUND, key_of, text_key, with_heads, written

from spacy_lal.cli.convert import command
from spacy_lal.formats.conllu import ConlluSentence, read_conllu
from spacy_lal.formats.treebank_format import Losses, Part
from spacy_lal.formats.treebank_sentence import TreebankSentence
from spacy_lal.formats.vtb import VietnameseTreebank


@dataclass(frozen=True, kw_only=True)
class VietnameseWithHeads(VietnameseTreebank):
    """The Vietnamese Treebank as `convert vtb` reads it. Sentences have heads if their text is in
    the UD treebank; OUTPUT/ud.spacy has its others."""

    parts = (*VietnameseTreebank.parts, "ud")

    ud: Annotated[Path, "A folder of *.conllu, or a file, with heads of the same sentences."]

    @cached_property
    def files(self) -> list[Path]:
        files = [self.ud] if self.ud.is_file() else sorted(self.ud.glob("*.conllu*"))
        if not files:
            raise FileNotFoundError(f"no *.conllu in {self.ud}")
        return files

    @cached_property
    def known(self) -> dict[str, list[ConlluSentence]]:
        known = defaultdict(list)
        for found in (found for file in self.files for found in read_conllu(file)):
            known[key_of(found)].append(found)
        return known

    @cached_property
    def uses(self) -> dict[str, int]:
        return defaultdict(int)

    def sources(self, inputs: Sequence[Path]) -> Iterable[Path]:
        return [*super().sources(inputs), *self.files]

    def parse(self, text: str, source: str, losses: Losses) -> Iterator[TreebankSentence]:
        """Yield sentences; UD sentences of the same text are used in order, the last one again."""
        for sentence in super().parse(text, source, losses):
            key = text_key(sentence.words)
            fault = "UD has no such sentence"
            if same := self.known.get(key):
                found = same[min(self.uses[key], len(same) - 1)]
                self.uses[key] += 1
                sentence, fault = with_heads(sentence, found)
            losses.counts["without heads of UD" if fault else "with heads of UD"] += 1
            yield sentence

    def read_parts(self, inputs: Sequence[Path]) -> dict[str, Part]:
        """Read the parts; UD's other sentences have joined syllables, and no tags."""
        parts = super().read_parts(inputs)
        if not self.uses:
            raise ValueError(f"{self.ud} has none of the sentences that have trees")
        others = Part([], Losses())
        for key, same in self.known.items():
            for found in () if key in self.uses else same:
                sentence, fault = written(found)
                words = [COMPOUND.join(word.split()) for word in sentence.words]
                others.sentences.append(replace(sentence, words=words, tags=None))
                if fault:
                    place = f"{found.source}:{found.line}"
                    others.losses.left_out["without heads"].append((place, fault))
        return parts | {"ud": others}


if __name__ == "__main__":
    typer.run(command(VietnameseWithHeads))
