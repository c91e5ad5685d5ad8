"""Bracketed treebanks: the Penn Treebank's `.mrg`, the Chinese one's SGML wrappers, the Vietnamese
one's `<s> … </s>`, SPMRL's `##feature##` labels, and plain one-tree-a-line files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

from spacy.tokens import Doc

from ..annotations import sentence_trees
from ..trees.brackets import BracketError, Unescape, ptb_unescape, unescape_brackets
from ..trees.tree import ConstituentTree, parse_brackets
from .files import read_text
from .treebank_format import Files, Losses, Pattern
from .treebank_sentence import TreebankSentence

T = TypeVar("T")

TRACE = "-NONE-"
"""The tag of empty elements."""

_FEATURES = re.compile(r"##.*?(?:##|$)")
_FUNCTION = re.compile(r"(?<=.)[-=].*")  # never at the beginning: -LRB- is a tag
# A line without round brackets, as `<S ID=7>`, `</S>` or `<DATE> 1994 </DATE>`.
_SGML = re.compile(r"^[ \t]*<[^()\n]*>[ \t]*$", re.MULTILINE)
_SENTENCE = re.compile(r"^[ \t]*<(/?)s(?:[ \t][^()<>\n]*)?>[ \t]*$", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Brackets(Files):
    """Bracketed trees, as in the Penn Treebank, on one line or several lines each."""

    pattern: Pattern = "*.mrg"
    encoding: Annotated[str, "Encoding of the files, e.g. gb18030."] = "utf-8-sig"
    functions: Annotated[bool, "Keep function tags and indices: NP-SBJ-1."] = False
    ptb_escapes: Annotated[bool, r"Undo \/ and \* and `` '' as well as brackets."] = False
    spaces: Annotated[bool, "Whether spaces separate the words."] = True

    def read(self, path: Path, losses: Losses) -> Iterator[TreebankSentence]:
        unescape = ptb_unescape if self.ptb_escapes else unescape_brackets
        trees = read_treebank(path, encoding=self.encoding, unescape=unescape)
        return clean_sentences(numbered(trees, path), losses, clean=self.clean, spaces=self.spaces)

    def clean(self, tree: ConstituentTree) -> ConstituentTree | None:
        """Return the tree as it is converted, None if it has no words."""
        return clean_tree(tree, functions=self.functions)

    def write(self, doc: Doc) -> str:
        return "".join(f"{tree}\n" for tree in sentence_trees(doc) if tree.leaves)


class Bracketing(NamedTuple):
    """One sentence of a treebank: its place, and its tree or the fault in its text."""

    place: str
    tree: ConstituentTree | None
    fault: str = ""


def parse_treebank(
    text: str, *, source: str = "<string>", unescape: Unescape = unescape_brackets
) -> Iterator[ConstituentTree]:
    """Yield the unchanged trees of `text`, without SGML lines. Raises BracketError."""
    return parse_brackets(_without_sgml(text), source=source, unescape=unescape)


def read_treebank(
    path: str | Path, *, encoding: str = "utf-8-sig", unescape: Unescape = unescape_brackets
) -> Iterator[ConstituentTree]:
    """Yield the unchanged trees of a file, maybe compressed. Raises BracketError, FormatError."""
    return parse_treebank(read_text(path, encoding), source=str(path), unescape=unescape)


def parse_sentences(text: str, *, source: str = "<string>") -> Iterator[Bracketing]:
    """Yield the unchanged sentences of `text`, with their places.

    Several trees between the lines `<s>` (or `<s id=…>`) and `</s>` get a common root without a
    label, and malformed text there is that sentence's fault. Without such lines every tree is a
    sentence, and malformed text raises BracketError.
    """
    marks = list(_SENTENCE.finditer(text))
    if not marks:
        for place, tree, _ in numbered(parse_treebank(text, source=source), source):
            yield _checked(place, tree)
        return
    opened = False
    start, line = 0, 1
    for mark in [*marks, None]:
        body = text[start : mark.start() if mark else len(text)]
        end = line + body.count("\n")
        closes = mark is not None and bool(mark[1])
        outside = "" if opened else _without_sgml(body)
        if outside.strip():
            first = line + outside[: -len(outside.lstrip())].count("\n")
            fault = f"{outside.split()[0]!r} stands outside <s> and </s>"
            yield Bracketing(f"{source}:{first}", None, fault)
        if opened and closes:
            yield _one_sentence(body, source, line)
        elif opened:
            yield Bracketing(f"{source}:{line}", None, "<s> without </s>")
        elif closes:
            yield Bracketing(f"{source}:{end}", None, "</s> without <s>")
        if mark:
            opened, start, line = not closes, mark.end(), end


def clean_label(label: str, *, functions: bool = False) -> str:
    """Return the bare category: NP for `NP-SBJ-1`, `NP=2` and `NP##case=nom##`; -LRB- is itself.
    functions: whether to keep functions: NP-SBJ-1."""
    label = _FEATURES.sub("", label)
    return label if functions or label.startswith("-") else _FUNCTION.sub("", label)


def fold(tree: ConstituentTree, make: Callable[[ConstituentTree, list[T]], T]) -> T:
    """Return make(node, results of its children) for the root; nodes come from right to left."""
    built: list[T] = []
    for node in reversed(list(tree.preorder())):
        first = len(built) - len(node.children)
        children = built[first:][::-1]
        del built[first:]
        built.append(make(node, children))
    return built[0]


def clean_tree(
    tree: ConstituentTree,
    *,
    functions: bool = False,
    null_words: re.Pattern[str] | None = None,
) -> ConstituentTree | None:
    """Return the tree with bare labels and without traces and empty phrases; None without words.
    functions: whether to keep functions. null_words: words that are traces whatever their tags."""

    def cleaned(
        node: ConstituentTree, children: list[ConstituentTree | None]
    ) -> ConstituentTree | None:
        label = clean_label(node.label, functions=functions)
        if node.word is not None:
            trace = node.label == TRACE or (null_words and null_words.fullmatch(node.word))
            return None if trace else ConstituentTree(label, word=node.word)
        kept = [child for child in children if child is not None]
        return ConstituentTree(label, kept) if kept else None

    return fold(tree, cleaned)


def numbered(trees: Iterable[ConstituentTree], source: object) -> Iterator[Bracketing]:
    """Yield trees with their numbers, from 1, in `source` as places."""
    for number, tree in enumerate(trees, start=1):
        yield Bracketing(f"{source}: tree {number}", tree)


def clean_sentences(
    trees: Iterable[Bracketing],
    losses: Losses,
    *,
    clean: Callable[[ConstituentTree], ConstituentTree | None] = clean_tree,
    spaces: bool = True,
    drop_malformed: bool = False,
) -> Iterator[TreebankSentence]:
    """Yield the sentences of the trees that have words. Sentences left out go to `losses`.

    clean: `clean_tree` with its options. spaces: whether whitespace follows words.
    drop_malformed: whether to leave out malformed trees. Otherwise raises ValueError.
    """
    for place, tree, fault in trees:
        if fault and not drop_malformed:
            raise ValueError(f"{place}: {fault}")
        cleaned = tree and clean(tree)
        if tree is None or cleaned is None:
            losses.left_out["dropped"].append((place, fault or "no words"))
            continue
        words, phrases = (
            before - after for before, after in zip(_sizes(tree), _sizes(cleaned), strict=True)
        )
        losses.counts["empty elements removed"] += words
        losses.counts["phrases removed that had no words"] += phrases
        yield to_sentence(cleaned, spaces=spaces)


def _sizes(tree: ConstituentTree) -> tuple[int, int]:
    words = len(tree.leaves)
    return words, sum(1 for _ in tree.preorder()) - words


def to_sentence(tree: ConstituentTree, *, spaces: bool = True) -> TreebankSentence:
    """Return the tree's words, tags and phrases. spaces: whether whitespace follows words."""
    words, tags = zip(*tree.tagged, strict=True) if tree.leaves else ((), ())
    return TreebankSentence(
        words=words,
        spaces=[spaces and i + 1 < len(words) for i in range(len(words))],
        tags=tags,
        constituents=tree.rooted().spans(include_root=False),
    )


def _without_sgml(text: str) -> str:
    """Replace SGML lines by blanks, which keep places in messages right."""
    return _SGML.sub(lambda match: " " * len(match[0]), text)


def _one_sentence(text: str, source: str, line: int) -> Bracketing:
    """Return the sentence between <s> and </s>; `text` begins on `line`."""
    try:
        trees = list(parse_treebank(text, source=source))
    except BracketError as error:
        return Bracketing(f"{source}:{line + error.line - 1}", None, error.message)
    if len(trees) == 1:
        return _checked(f"{source}:{line}", trees[0])
    # one root for all trees replaces each one's root in `( (S …))`
    nodes = [
        node
        for tree in trees
        for node in (tree.children if not tree.label and tree.word is None else (tree,))
    ]
    return _checked(f"{source}:{line}", ConstituentTree("", nodes))


def _checked(place: str, tree: ConstituentTree | None) -> Bracketing:
    """Return the sentence, with a fault if cleaning its tree would lose or invent something."""
    for node in tree.preorder() if tree else ():
        if node.word is not None:
            if not node.label:
                return Bracketing(place, None, f"word {node.word!r} has no tag")
        elif node is not tree:
            if not node.children:
                return Bracketing(place, None, f"neither words nor phrases in ({node.label})")
            if not node.label:
                return Bracketing(place, None, "a phrase without a label")
    return Bracketing(place, tree)
