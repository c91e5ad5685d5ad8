"""Bracketed treebanks: the Penn Treebank's `.mrg`, the Chinese one's SGML wrappers, the Vietnamese
one's `<s> … </s>`, SPMRL's `##feature##` labels, and plain one-tree-a-line files."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from spacy.tokens import Doc

from ..annotations import sentence_trees
from ..trees.brackets import Unescape, ptb_unescape, read, unescape_brackets
from ..trees.labels import clean_label
from ..trees.tree import ConstituentTree
from .files import FormatError, read_text
from .treebank_format import Files, Losses, Pattern
from .treebank_sentence import TreebankSentence

TRACE = "-NONE-"
"""The tag of empty elements."""

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
    closing: Annotated[str, 'Words without a space before them: ". , ; : ? ! )".'] = ""
    opening: Annotated[str, 'Words without a space behind them: "( [".'] = ""
    drop: Annotated[str, 'Nodes to leave out with their words, by label: "ID CODE METADATA".'] = ""
    skip_lines: Annotated[str, 'Beginnings of lines to leave out: "*x* %% ; #".'] = ""
    traces: Annotated[str, r"Pattern of words that are traces whatever their tags: '\*.*|0'."] = ""

    def sources(self, inputs: Sequence[Path]) -> Iterable[Path]:
        try:
            re.compile(self.traces)
        except re.error as error:
            raise ValueError(f"--traces {self.traces!r} is no pattern: {error}") from None
        return super().sources(inputs)

    def read(self, path: Path, losses: Losses) -> Iterator[TreebankSentence]:
        return self.parse(read_text(path, self.encoding), str(path), losses)

    def parse(self, text: str, source: str, losses: Losses) -> Iterator[TreebankSentence]:
        unescape = ptb_unescape if self.ptb_escapes else unescape_brackets
        dropped = set(self.drop.split())

        def drop(label: str) -> bool:
            if found := bool(dropped & {label, clean_label(label)}):
                losses.counts[f"nodes left out: {clean_label(label)}"] += 1
            return found

        if starts := "|".join(map(re.escape, self.skip_lines.split())):
            line = re.compile(rf"^[ \t]*(?:{starts}).*$", re.MULTILINE)
            text, losses.counts["lines left out"] = line.subn(blank, text)
        options: dict[str, Any] = {"unescape": unescape, "drop": drop if dropped else None}
        trees = numbered(parse_treebank(text, source=source, **options), source)
        for found in clean_sentences(trees, losses, clean=self.clean, spaces=self.spaces):
            yield closed_up(found, self.closing.split(), self.opening.split())

    def clean(self, tree: ConstituentTree) -> ConstituentTree | None:
        """Return the tree as it is converted, None if it has no words."""
        traces = re.compile(self.traces) if self.traces else None
        return clean_tree(tree, functions=self.functions, null_words=traces)

    def write(self, doc: Doc) -> str:
        return "".join(f"{tree}\n" for tree in sentence_trees(doc) if tree.leaves)


class Bracketing(NamedTuple):
    """One sentence of a treebank: its place, and its tree or the fault in its text."""

    place: str
    tree: ConstituentTree | None
    fault: str = ""


def parse_treebank(
    text: str, *, source: str = "<string>", unescape: Unescape = unescape_brackets, **options: Any
) -> Iterator[ConstituentTree]:
    """Yield the unchanged trees of `text`, without SGML lines. Raises FormatError, also for
    `(They)`, a word in its own brackets. options: those of `trees.brackets.read`."""
    options = {"strict": True} | options
    return read(_SGML.sub(blank, text), ConstituentTree, source, unescape, **options)


def parse_sentences(
    text: str, *, source: str = "<string>", strict: bool = True
) -> Iterator[Bracketing]:
    """Yield the unchanged sentences of `text`, with their places.

    Several trees between the lines `<s>` (or `<s id=…>`) and `</s>` get a common root without a
    label, and malformed text there is that sentence's fault. Without such lines every tree is a
    sentence, and malformed text raises FormatError; `(They)` does with `strict`, else is a fault.
    """
    pieces = _SENTENCE.split(text)
    bodies, marks = pieces[::2], pieces[1::2]
    if not marks:
        for place, tree, _ in numbered(parse_treebank(text, source=source, strict=strict), source):
            yield Bracketing(place, tree, _fault(tree))
        return
    line = 1
    for before, body, after in zip(["/", *marks], bodies, [*marks, ""], strict=True):
        outside = _SGML.sub(blank, body) if before == "/" else ""
        end = line + body.count("\n")
        if outside.strip():
            first = line + outside[: -len(outside.lstrip())].count("\n")
            fault = f"{outside.split()[0]!r} stands outside <s> and </s>"
            yield Bracketing(f"{source}:{first}", None, fault)
        if before != "/" and after != "/":
            yield Bracketing(f"{source}:{line}", None, "<s> without </s>")
        elif before != "/":
            yield _one_sentence(body, source, line)
        elif after == "/":
            yield Bracketing(f"{source}:{end}", None, "</s> without <s>")
        line = end


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

    return tree.fold(cleaned)


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
        cleaned = None if fault or tree is None else clean(tree)
        if tree is None or cleaned is None:
            losses.left_out["dropped"].append((place, fault or "no words"))
            continue
        removed = Counter(node.word is None for node in tree.preorder())
        removed.subtract(node.word is None for node in cleaned.preorder())
        losses.counts["empty elements removed"] += removed[False]
        losses.counts["phrases removed that had no words"] += removed[True]
        yield to_sentence(cleaned, spaces=spaces)


def to_sentence(tree: ConstituentTree, *, spaces: bool = True) -> TreebankSentence:
    """Return the tree's words, tags and phrases. spaces: whether whitespace follows words."""
    words, tags = zip(*tree.tagged, strict=True) if tree.leaves else ((), ())
    return TreebankSentence(
        words=words,
        spaces=[spaces and i + 1 < len(words) for i in range(len(words))],
        tags=tags,
        constituents=tree.rooted().spans(include_root=False),
    )


def closed_up(
    sentence: TreebankSentence, closing: Collection[str], opening: Collection[str]
) -> TreebankSentence:
    """Return the sentence without spaces before words of `closing`, behind those of `opening`."""
    if sentence.spaces is None:
        return sentence
    following = zip(sentence.words, [*sentence.words[1:], ""], sentence.spaces, strict=True)
    spaces = [
        space and word not in opening and after not in closing for word, after, space in following
    ]
    return replace(sentence, spaces=spaces)


def _one_sentence(text: str, source: str, line: int) -> Bracketing:
    """Return the sentence between <s> and </s>; `text` begins on `line`."""
    try:
        trees = list(parse_treebank(text, source=source, strict=False))
    except FormatError as error:
        return Bracketing(f"{source}:{line + error.line - 1}", None, error.message)
    if len(trees) == 1:
        (tree,) = trees
    else:
        # one root for all trees replaces each one's root in `( (S …))`
        parts = (t.children if not t.label and t.word is None else (t,) for t in trees)
        tree = ConstituentTree("", list(chain(*parts)))
    return Bracketing(f"{source}:{line}", tree, _fault(tree))


def _fault(tree: ConstituentTree | None) -> str:
    """Return what cleaning the tree would lose or invent, "" for nothing."""
    for node in tree.preorder() if tree else ():
        if node.word is not None and not node.label:
            return f"word {node.word!r} has no tag"
        if node.word is None and node is not tree and not node.children:
            return f"neither words nor phrases in ({node.label})"
        if node.word is None and node is not tree and not node.label:
            return "a phrase without a label"
    return ""


def blank(match: re.Match[str]) -> str:
    """Return blanks in place of a match, so that places after it stay right."""
    return " " * len(match[0])
