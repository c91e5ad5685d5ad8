"""The French Sequoia treebank, trees with UD's heads; and CoNLL-U in written tokens ("du").

Labels lose their functions (NP-SUJ is NP). Compounds are words with underscores (`afin_de`), SENT
stays a constituent, as in the French Treebank. The trees' splits are UD's.

M. Candito and D. Seddah (2012), Le corpus Sequoia : annotation syntaxique et exploitation pour
l'adaptation d'analyseur par pont lexical.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from ud_join import in_tokens, key_of, text_key, with_heads, written

from spacy_lal.cli.convert import command
from spacy_lal.formats.conllu import Conllu, ConlluSentence, read_conllu, to_sentence
from spacy_lal.formats.files import FormatError
from spacy_lal.formats.penn_brackets import clean_sentences, parse_sentences
from spacy_lal.formats.treebank_format import PARTS, Format, Lang, Losses, Part
from spacy_lal.formats.treebank_sentence import TreebankSentence

TOKENS = "train-tokens"
"""The part with written tokens of the training sentences, for parsers of raw text. Compounds are
several tokens under one bracket."""


@dataclass(frozen=True, kw_only=True)
class Sequoia(Format):
    """Sequoia's trees with UD's heads, joined by their text; split as UD is.

    INPUT is a file of all trees, one a line (text before the first bracket is skipped), or a folder
    of train.*, dev.* and test.*, whose splits hold for sentences that UD lacks.
    """

    parts = (*PARTS, TOKENS)

    lang: Lang = "fr"
    ud: Annotated[Path, "UD_French-Sequoia: a release or a checkout."]

    def sources(self, inputs: Sequence[Path]) -> Iterable[Path]:
        return [*tree_files(inputs[0]), *self.ud.glob("*.conllu*")]

    def read_parts(self, inputs: Sequence[Path]) -> dict[str, Part]:
        trees, known = inputs[0], self._known()
        parts = {part: Part([], Losses()) for part in (*self.parts, "all")}
        lost = parts["all"].losses
        for path in tree_files(trees):
            own = next((part for part in PARTS if path.name.startswith(f"{part}.")), "")
            for number, sentence in enumerate(self.read(path, lost), start=1):
                place, fault = f"{path}: tree {number}", "UD has no such sentence"
                part = own
                if same := known.get(text_key(sentence.words)):
                    # each UD sentence once, in order, of those with the same text
                    at = next((i for i, (other, _) in enumerate(same) if other == own), 0)
                    other, ud = same.pop(at) if len(same) > 1 else same[0]
                    part = own or other
                    tokens = in_tokens(sentence, ud) if part == "train" else None
                    sentence, fault = with_heads(sentence, ud)
                    if tokens is not None and not fault:
                        parts[TOKENS].sentences.append(tokens)
                if not part:
                    lost.left_out["dropped"].append((place, f"{fault}, so it is in no split"))
                    continue
                parts[part].sentences.append(sentence)
                if fault:
                    parts[part].losses.left_out["without heads"].append((place, fault))
        for part in PARTS:
            if not parts[part].sentences:
                raise ValueError(f"{part}: no sentences of {trees} are in it")
        return parts

    def parse(self, text: str, source: str, losses: Losses) -> Iterator[TreebankSentence]:
        lines = []
        for number, line in enumerate(text.split("\n"), start=1):
            bracket = line.find("(")
            if line.strip() and bracket < 0:
                raise FormatError("a line without a tree", source, number)
            lines.append(line[max(bracket, 0) :])
        trees = parse_sentences("\n".join(lines), source=source)
        for sentence in clean_sentences(trees, losses):
            yield replace(sentence, spaces=None)

    def _known(self) -> dict[str, list[tuple[str, ConlluSentence]]]:
        """Return UD's sentences with their part, by text. Raises FileNotFoundError."""
        known = defaultdict(list)
        for part in PARTS:
            files = sorted(self.ud.glob(f"*-ud-{part}.conllu*"))
            if len(files) != 1:
                expected = f"expected one file *-ud-{part}.conllu in {self.ud}"
                raise FileNotFoundError(f"{expected}, found {len(files)}")
            for found in read_conllu(files[0]):
                known[key_of(found)].append((part, found))
        return known


@dataclass(frozen=True, kw_only=True)
class Written(Conllu):
    """Tokens as they are written, tags and dependencies in CoNLL-U."""

    def sentence(self, found: ConlluSentence) -> tuple[TreebankSentence, str]:
        sentence, fault = written(found, self.tags)
        return sentence, to_sentence(found)[1] or fault


def tree_files(trees: Path) -> list[Path]:
    """Return the file itself, or a folder's files named after splits. Raises FileNotFoundError."""
    if trees.is_file():
        return [trees]
    files = [path for part in PARTS for path in sorted(trees.glob(f"{part}.*"))]
    if not files:
        raise FileNotFoundError(f"no file train.*, dev.* or test.* in {trees}")
    return files


if __name__ == "__main__":
    app = typer.Typer()
    app.command("sequoia")(command(Sequoia))
    app.command("written")(command(Written))
    app()
