"""`inspect`: what files hold, before a conversion."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ..formats import penn_brackets as penn
from ..formats.files import OPENERS, read_text
from ..formats.treebank_format import Files, Losses
from ..formats.treebank_sentence import TreebankSentence
from ..trees.brackets import place
from ..trees.tree import ROOT_LABELS, ConstituentTree
from .checks import clear_errors
from .convert import FORMATS

SUFFIXES = {".m2": "m2", ".tsv": "tsv", ".json": "character-edits"} | dict.fromkeys(
    (".conllu", ".conllx", ".conll"), "conllu"
)
"""Formats by suffix; other files have bracketed trees."""
BRACKETED = {"brackets", "ctb", "ftb", "ptb", "vtb"}
"""Formats of bracketed trees."""

_NO_TEXT = {"ID", "CODE", "METADATA"}  # in historical treebanks
_EXAMPLE = re.compile(r"'.*'|\(.*\)$")
_FUNCTION = re.compile(r"[-=]([^\W\d]\w*)")
_TRACE = re.compile(r"\*[A-Za-z]+\*?[-\d]*")


class Contents:
    """Counts of words and labels; length, place and beginning of the longest sentence; number and
    first example of what is odd, by kind."""

    def __init__(self) -> None:
        self.sentences = self.words = 0
        self.longest = 0, ""
        self.labels = defaultdict[str, Counter[str]](Counter)
        self.odd: dict[str, tuple[int, str]] = {}

    def note(self, kind: str, example: str, count: int = 1) -> None:
        """Count something odd."""
        before, first = self.odd.get(kind, (0, example))
        self.odd[kind] = before + count, first

    def fault(self, file: Path, text: str, message: str, offset: int) -> None:
        """Count a fault of the brackets in a file's text."""
        kind = _EXAMPLE.sub("…", message)
        line, column = (0, 0) if kind in self.odd else place(text, offset)
        self.note(kind, f"{file}:{line}:{column} {message}")

    def add(self, sentence: TreebankSentence, at: str, **others: list[str]) -> None:
        """Count the annotation of a sentence, and other labels by kind."""
        size, heads, deps = len(sentence.words), sentence.heads or (), list(sentence.deps or ())
        self.sentences += 1
        self.words += size
        if size > self.longest[0]:
            self.longest = size, f"{at}: {' '.join(sentence.words[:8])}"
        for kind, found in {
            "roots": [deps[i] for i, head in enumerate(heads) if deps and head == i],
            "phrases": [label for _, _, label in sentence.constituents or ()],
            "tags": sentence.tags or (),
            "relations": deps,
            "roles": [label for frame in sentence.frames or () for _, _, label in frame.spans],
            "errors": [label for label in sentence.errors or () if label],
            **others,
        }.items():
            self.labels[kind].update(label or "(no label)" for label in found)

    def add_tree(self, tree: ConstituentTree, at: str) -> None:
        """Count the words, labels and oddities of an unchanged tree of a treebank."""
        nodes = list(tree.preorder())
        functions = [name for node in nodes for name in _FUNCTION.findall(node.label[1:])]
        if cleaned := penn.clean_tree(tree):
            self.add(penn.to_sentence(cleaned), at, roots=[tree.label], functions=functions)
        words = [(word, tag) for word, tag in tree.tagged if tag != penn.TRACE]
        parts = len(tree.children) if tree.label in ROOT_LABELS else 0
        for kind, examples in {
            "tree without words": [""] * (not words),
            "root with several children": [""] * (parts > 1),
            "trace": [word for word, tag in tree.tagged if tag == penn.TRACE],
            "trace with another tag: see --traces": [w for w, _ in words if _TRACE.fullmatch(w)],
            "word without a tag": [word for word, tag in words if not tag],
            "phrase without a label": ["" for n in nodes[1:] if n.word is None and not n.label],
            "node that may be no text: see --drop": [n.label for n in nodes if n.label in _NO_TEXT],
        }.items():
            if examples:
                self.note(kind, f"{at} {examples[0]}".rstrip(), len(examples))


def inspect(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Files, plain or compressed, or folders.")
    ],
    *,
    format: Annotated[
        str, typer.Option(help="A format of `convert`; by default, that of a file's suffix.")
    ] = "",
    encoding: Annotated[str, typer.Option(help="Encoding of bracketed trees.")] = "utf-8-sig",
) -> None:
    """Print what treebanks hold: sentences, words, labels, tags, roots, the longest sentence, and
    what is odd, with the first place. Reading of bracketed trees goes on after errors."""
    with clear_errors("inspect"):
        contents = Contents()
        for path in files:
            before = contents.sentences, dict(contents.odd)
            _read(path, format, encoding, contents)
            if before == (contents.sentences, contents.odd):
                raise ValueError(f"no sentences in {path}")
        typer.echo(f"{'sentences':11}{contents.sentences:,}\n{'words':11}{contents.words:,}")
        typer.echo(f"{'longest':11}{contents.longest[0]:,} words: {contents.longest[1]}")
        for kind, found in contents.labels.items():
            if found:
                shown = ", ".join(f"{label} {count:,}" for label, count in found.most_common())
                typer.echo(f"{kind:11}{shown}")
        for kind, (count, first) in contents.odd.items():
            typer.echo(f"{'odd':11}{count:,} × {kind}: {first}")


def _read(path: Path, name: str, encoding: str, contents: Contents) -> None:
    plain = path.with_suffix("") if path.suffix in OPENERS else path
    name = name or SUFFIXES.get(plain.suffix, "brackets")
    known = [other for other in FORMATS if other not in ("parallel", "props")]
    if name not in known:
        raise ValueError(f"--format {name!r}: it must be one of {', '.join(known)}")
    format = penn.Brackets(pattern="*") if name in BRACKETED else FORMATS[name]()
    assert isinstance(format, Files)
    for file in format.files(path):
        if name in BRACKETED:
            text = read_text(file, encoding)
            trees = penn.parse_treebank(text, report=partial(contents.fault, file, text))
            for number, tree in enumerate(trees, start=1):
                contents.add_tree(tree, f"{file}: tree {number}")
            continue
        losses = Losses()
        for number, sentence in enumerate(format.read(file, losses), start=1):
            contents.add(sentence, f"{file}: sentence {number}")
        for item, count in (+losses.counts).items():
            contents.note(item, str(file), count)
        for item, drops in losses.left_out.items():
            for at, reason in drops:
                contents.note(f"{item}: {reason}", at)
