"""The French Sequoia treebank: trees with functions, joined with UD_French-Sequoia's heads.

Labels lose their functions (NP-SUJ is NP). Compounds are words with underscores (`afin_de`), SENT
stays a constituent, as in the French Treebank (ftb.py). The trees' splits are UD's.

M. Candito and D. Seddah (2012), Le corpus Sequoia : annotation syntaxique et exploitation pour
l'adaptation d'analyseur par pont lexical.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from .brackets import parse_sentences
from .cleaning import Losses, clean_sentences
from .conllu import ConlluSentence, read_conllu
from .docs import TreebankSentence
from .files import FormatError, read_text
from .props import Drop
from .splits import PARTS
from .ud_join import in_tokens, surface, text_key, with_heads


@dataclass
class Part:
    """One split. sentences: in the treebank's words; tokens: those of them that have heads, in
    tokens as they are written. unjoined: which sentences have no heads, and why."""

    sentences: list[TreebankSentence] = field(default_factory=list)
    tokens: list[TreebankSentence] = field(default_factory=list)
    unjoined: list[Drop] = field(default_factory=list)


def tree_files(trees: Path) -> list[Path]:
    """The file itself, or a folder's files named after splits. Raises FileNotFoundError."""
    if trees.is_file():
        return [trees]
    files = [path for part in PARTS for path in sorted(trees.glob(f"{part}.*"))]
    if not files:
        raise FileNotFoundError(f"no file train.*, dev.* or test.* in {trees}")
    return files


def join(trees: Path, ud: Path, losses: Losses) -> dict[str, Part]:
    """The treebank by UD's splits.

    trees: a file of all trees, one on a line (what stands before its first bracket is skipped), or
        a folder of {train,dev,test}.*, whose splits then hold for what UD lacks.
    ud: UD_French-Sequoia, a folder of `*-ud-{train,dev,test}.conllu`.
    Raises FileNotFoundError, BracketError, FormatError, ValueError.
    """
    known: dict[str, list[tuple[str, ConlluSentence]]] = defaultdict(list)
    for part in PARTS:
        files = sorted(ud.glob(f"*-ud-{part}.conllu*"))
        if len(files) != 1:
            raise FileNotFoundError(
                f"expected one file *-ud-{part}.conllu in {ud}, found {len(files)}"
            )
        for found in read_conllu(files[0]):
            known[text_key(token.text for token in surface(found))].append((part, found))
    parts = {part: Part() for part in PARTS}
    for path in tree_files(trees):
        own = next((part for part in PARTS if path.name.startswith(f"{part}.")), None)
        for number, sentence in enumerate(_read(path, losses), start=1):
            place = f"{path}: tree {number}"
            same = known.get(text_key(sentence.words))
            if same:
                # each of UD's once, in order, as long as a sentence has several there
                at = next((i for i, (part, _) in enumerate(same) if part == own), 0)
                part, other = same.pop(at) if len(same) > 1 else same[0]
                _add(parts[own or part], sentence, other, place)
            elif own:
                parts[own].sentences.append(sentence)
                parts[own].unjoined.append((place, "UD has no such sentence"))
            else:
                losses.dropped.append((place, "UD has no such sentence, so it is in no split"))
    for part, content in parts.items():
        if not content.sentences:
            raise ValueError(f"{part}: no sentences of {trees} are in it")
    return parts


def _add(part: Part, sentence: TreebankSentence, ud: ConlluSentence, place: str) -> None:
    joined, fault = with_heads(sentence, ud)
    part.sentences.append(joined)
    if fault:
        part.unjoined.append((place, fault))
    elif (written := in_tokens(sentence, ud)) is not None:
        part.tokens.append(written)


def _read(path: Path, losses: Losses) -> Iterable[TreebankSentence]:
    text = read_text(path)
    lines = []
    for number, line in enumerate(text.split("\n"), start=1):
        bracket = line.find("(")
        if line.strip() and bracket < 0:
            raise FormatError("a line without a tree", source=str(path), line=number)
        lines.append(line[max(bracket, 0) :])
    for sentence in clean_sentences(parse_sentences("\n".join(lines), source=str(path)), losses):
        # spaces are UD's to tell
        yield replace(sentence, spaces=None)
