"""`inspect`: what treebanks and annotated corpora hold."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import srsly
import typer
from spacy.tokens import Doc

from ..annotate.manifest import settings_of
from ..annotate.reading import CONLLU, DOC_SUFFIXES, Piece, corpus_files, read_docs
from ..annotations import CONSTITUENTS_KEY, get_errors, get_frames, sentence_trees
from ..annotations.words import word_heads
from ..formats import penn_brackets as penn
from ..formats.files import read_text, write_whole
from ..formats.treebank_format import Files, Losses
from ..formats.treebank_sentence import TreebankSentence
from ..trees.brackets import place
from ..trees.nest import arcs_cross
from ..trees.tree import ROOT_LABELS, ConstituentTree, LabelledSpan
from .checks import check_outputs, clear_errors
from .convert import FORMATS

SUFFIXES = {
    **{".m2": "m2", ".tsv": "tsv", ".json": "character-edits"},
    **dict.fromkeys(CONLLU, "conllu"),
}
"""Formats by suffix; other files have bracketed trees."""
BRACKETED = {"brackets", "ctb", "ftb", "ptb", "vtb"}
"""Formats of bracketed trees."""

LONGEST = 3
"""How many of the longest sentences are shown."""

_NO_TEXT = {"ID", "CODE", "METADATA"}  # in historical treebanks
_EXAMPLE = re.compile(r"'.*'|\(.*\)$")
_FUNCTION = re.compile(r"[-=]([^\W\d]\w*)")
_TRACE = re.compile(r"\*[A-Za-z]+\*?[-\d]*")


class Contents:
    """Counts of words and labels; length, place and beginning of the longest sentences; number of
    sentences in which heads cross, and the first place; number and first example of what is odd, by
    kind."""

    def __init__(self) -> None:
        self.sentences = self.words = 0
        self.longest: list[tuple[int, str]] = []
        self.crossing = 0, ""
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
        if len(self.longest) < LONGEST or size > self.longest[-1][0]:
            said = f"{at}: {' '.join(sentence.words[:8])}"
            longest = sorted([*self.longest, (size, said)], key=lambda pair: -pair[0])
            self.longest = longest[:LONGEST]
        if arcs_cross(dict(enumerate(heads))):
            self.crossing = self.crossing[0] + 1, self.crossing[1] or at
        for kind, found in {
            "roots": [deps[i] for i, head in enumerate(heads) if deps and head == i],
            "phrases": [label for _, _, label in sentence.constituents or ()],
            "chains": unary_chains(sentence.constituents or ()),
            "tags": sentence.tags or (),
            "pos": sentence.pos or (),
            "relations": deps,
            "roles": [label for frame in sentence.frames or () for _, _, label in frame.spans],
            "errors": [label for label in sentence.errors or () if label],
            **others,
        }.items():
            self.labels[kind].update(label or "(no label)" for label in found)

    def add_doc(self, doc: Doc, at: str) -> None:
        """Count the annotation of a Doc."""
        has_trees = CONSTITUENTS_KEY in doc.spans
        has = doc.has_annotation
        sentences = doc.sents if doc.has_annotation("SENT_START") else [doc[:]]
        for number, (sentence, tree) in enumerate(
            zip(sentences, sentence_trees(doc), strict=False), start=1
        ):
            words = [token for token in sentence if not token.text.isspace()]
            if not words:
                continue
            found = TreebankSentence(
                [word.text for word in words],
                tags=[word.tag_ for word in words] if has("TAG") else None,
                pos=[word.pos_ for word in words] if has("POS") else None,
                heads=word_heads(words) if has("DEP") else None,
                deps=[word.dep_ for word in words] if has("DEP") else None,
                constituents=tree.spans(include_root=False) if has_trees else None,
            )
            self.add(found, f"{at}, sentence {number}")
        spans = [span for frame in get_frames(doc) for span in frame.spans]
        self.labels["roles"].update(span.label_ for span in spans)
        self.labels["entities"].update(span.label_ for span in doc.ents)
        self.labels["errors"].update(label for label in get_errors(doc) if label)
        if has_trees and (unparsed := doc.spans[CONSTITUENTS_KEY].attrs.get("unparsed")):
            self.note("sentence that wasn't parsed", at, len(unparsed))

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

    def report(self) -> dict[str, Any]:
        """Return all counts, for JSON."""
        sentences, first = self.crossing
        labels = {kind: dict(found.most_common()) for kind, found in self.labels.items() if found}
        return {
            "sentences": self.sentences,
            "words": self.words,
            "longest": [{"words": size, "first": said} for size, said in self.longest],
            "crossing heads": {"sentences": sentences, "first": first},
            "labels": labels,
            "odd": {kind: {"count": n, "first": said} for kind, (n, said) in self.odd.items()},
        }


def unary_chains(spans: Sequence[LabelledSpan]) -> list[str]:
    """Return the labels of phrases over the same words, from the top, as "S+VP". spans: in
    preorder."""
    chains: list[list[str]] = []
    for before, span in pairwise(spans):
        if before[:2] != span[:2]:
            chains.append([])
        elif chains and chains[-1]:
            chains[-1].append(span[2])
        else:
            chains.append([before[2], span[2]])
    return ["+".join(chain) for chain in chains if chain]


def inspect(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Files, plain or compressed, or folders.")
    ],
    *,
    format: Annotated[
        str, typer.Option(help="A format of `convert`; by default, that of a file's suffix.")
    ] = "",
    encoding: Annotated[str, typer.Option(help="Encoding of bracketed trees.")] = "utf-8-sig",
    json: Annotated[Path | None, typer.Option(help="Write the counts here, as JSON.")] = None,
) -> None:
    """Print what treebanks, .spacy files or the output of `annotate` hold: sentences, words, the
    longest sentences, labels with their counts, heads that cross, and what is odd, with the first
    place. Reading of bracketed trees goes on after errors."""
    with clear_errors("inspect"):
        check_outputs([json], files)
        contents = Contents()
        for path in files:
            before = contents.sentences, dict(contents.odd)
            _read(path, format, encoding, contents)
            if before == (contents.sentences, contents.odd):
                raise ValueError(f"no sentences in {path}")
        typer.echo(f"{'sentences':11}{contents.sentences:,}\n{'words':11}{contents.words:,}")
        for size, said in contents.longest:
            typer.echo(f"{'longest':11}{size:,} words: {said}")
        for kind, found in contents.labels.items():
            if found:
                shown = ", ".join(f"{label} {count:,}" for label, count in found.most_common())
                typer.echo(f"{kind:11}{shown}")
        if contents.crossing[0]:
            sentences, first = contents.crossing
            typer.echo(f"{'crossing':11}heads in {sentences:,} sentences, first in {first}")
        for kind, (count, first) in contents.odd.items():
            typer.echo(f"{'odd':11}{count:,} × {kind}: {first}")
        if json is not None:
            write_whole(json, srsly.json_dumps(contents.report(), indent=2))


def _read(path: Path, name: str, encoding: str, contents: Contents) -> None:
    suffix = Piece(path).suffix
    if not name and path.is_dir() and settings_of(path):
        for file in corpus_files(path):
            _read(file, "", encoding, contents)
        return
    if not name and suffix in DOC_SUFFIXES:
        for number, doc in enumerate(read_docs(path), start=1):
            contents.add_doc(doc, f"{path}: Doc {number}")
        return
    name = name or SUFFIXES.get(suffix, "brackets")
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
