"""Edited text by kind, on which a detector of errors should mark next to nothing.

Each kind has two .spacy files of one Doc a sentence without errors: KIND-threshold to choose a
threshold, KIND-measure to measure. Beside each is its text, a paragraph a line, to be left out of
training. The hash of a document's name decides its file, whatever the other documents.

Kinds: news, articles of Wikinews as WikiExtractor writes them (--json); fiction, books of Standard
Ebooks; technical, Python Enhancement Proposals; learners, sentences without an error from two
labelled files. Only paragraphs of plain prose are kept.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Annotated
from xml.etree import ElementTree

import spacy
import typer
from spacy.tokens import Doc
from wasabi import msg

from spacy_lal.annotations.grammar_errors import CORRECT, get_errors, set_errors
from spacy_lal.formats.docbins import read_spacy, write_spacy
from spacy_lal.formats.treebank_sentence import language_vocab

HALVES = ("threshold", "measure")
MOST_OF_ONE = 12_000
"""Most words of one document, so that no author decides alone."""
XHTML = "{http://www.w3.org/1999/xhtml}"
NO_TEXT = ("titlepage", "halftitlepage", "imprint", "colophon", "uncopyright", "dedication")
NO_TEXT += ("endnotes", "epigraph", "loi", "acknowledgments")
Document = tuple[str, list[str]]
"""Name and paragraphs of a document."""


def main(
    output: Annotated[Path, typer.Argument(help="The folder to write to.")],
    news: Annotated[Path | None, typer.Option(help="Folder of WikiExtractor's JSON.")] = None,
    fiction: Annotated[Path | None, typer.Option(help="Folder of books' repositories.")] = None,
    technical: Annotated[Path | None, typer.Option(help="Folder of pep-*.rst.")] = None,
    learners: Annotated[
        tuple[Path, Path] | None,
        typer.Option(help=".spacy files with errors: one for the threshold, one to measure on."),
    ] = None,
    words: Annotated[int, typer.Option(help="Words of each file, about.")] = 60_000,
) -> None:
    """Write edited text by kind, in halves."""
    output.mkdir(parents=True, exist_ok=True)
    for kind, folder, read in (
        ("news", news, wikinews),
        ("fiction", fiction, ebooks),
        ("technical", technical, proposals),
    ):
        if folder is None:
            continue
        documents = list(read(folder))
        for half, name in enumerate(HALVES):
            chosen = of_half(documents, half, words)
            if not chosen:
                raise ValueError(f"{folder}: no {kind} for {name}")
            lines = [line for _, paragraphs in chosen for line in paragraphs]
            (output / f"{kind}-{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf8")
            write(sentences(lines), output / f"{kind}-{name}.spacy", f"{len(chosen)} documents")
    for name, path in zip(HALVES, learners or (), strict=False):
        docs = read_spacy(path, language_vocab("en"))
        write((doc for doc in docs if is_right(doc)), output / f"learners-{name}.spacy", path.name)


def of_half(documents: Iterable[Document], half: int, words: int) -> list[Document]:
    """Return documents of half 0 or 1, in the order of their hashes, up to so many words."""
    chosen: list[Document] = []
    found = 0
    hashed = sorted((hash_of(name), name, paragraphs) for name, paragraphs in documents)
    for number, name, paragraphs in hashed:
        if number % 2 != half or found >= words:
            continue
        kept: list[str] = []
        count = 0
        for paragraph in paragraphs:
            if count < MOST_OF_ONE:
                kept.append(paragraph)
                count += len(paragraph.split())
        if kept:
            chosen.append((name, kept))
            found += count
    return chosen


def hash_of(name: str) -> int:
    return int.from_bytes(blake2b(name.encode("utf8"), digest_size=8).digest(), "big")


def wikinews(folder: Path) -> Iterator[Document]:
    """Yield articles, except those where the extraction lost a template."""
    for path in sorted(folder.rglob("wiki_*")):
        for line in path.read_text(encoding="utf8").split("\n"):
            if not line.strip():
                continue
            article = json.loads(line)
            if not HOLE.search(article["text"]):
                paragraphs = [tidy(text) for text in article["text"].split("\n")]
                yield str(article["id"]), [text for text in paragraphs if is_prose(text)]


HOLE = re.compile(
    r"[^\s.!?:] {2,}\S"
    r"| [,.;:!?](?:\s|$)|\(\s*[,;)]|\b(?:the|an?|of|in|by|for|with|from|and|to|at)[,.;]",
    re.IGNORECASE,
)


def ebooks(folder: Path) -> Iterator[Document]:
    """Yield a document for each book."""
    for book in sorted({path.parents[3] for path in folder.rglob("src/epub/text/*.xhtml")}):
        paragraphs: list[str] = []
        for path in sorted((book / "src/epub/text").glob("*.xhtml")):
            if path.stem not in NO_TEXT:
                tree = ElementTree.parse(path)
                texts = (tidy("".join(node.itertext())) for node in tree.iter(f"{XHTML}p"))
                paragraphs += [text for text in texts if is_prose(text)]
        yield book.name, paragraphs


def proposals(folder: Path) -> Iterator[Document]:
    for path in sorted(folder.rglob("pep-[0-9]*.rst")):
        yield path.stem, list(prose_of_rst(path.read_text(encoding="utf8")))


def prose_of_rst(text: str) -> Iterator[str]:
    """Yield paragraphs without indentation and code, markup removed."""
    _, _, body = text.partition("\n\n")  # after the table of author and status
    for block in re.split(r"\n\s*\n", body):
        lines = block.strip("\n").split("\n")
        if any(line[:1].isspace() for line in lines) or lines[0].startswith(("..", "- ", "* ")):
            continue
        if any(len(line) > 1 and not re.search(r"[^=\-~^\"'#*+.:`]", line) for line in lines):
            continue
        paragraph = re.sub(r":pep:`(\d+)`", r"PEP \1", " ".join(lines))
        paragraph = re.sub(r"``([A-Za-z]+)``", r"\1", paragraph)
        paragraph = re.sub(r"`([^`<>]+?)(?: <[^`<>]*>)?`__?", r"\1", paragraph)
        paragraph = re.sub(r"\*\*?([^*]+)\*\*?", r"\1", paragraph)
        if is_prose(paragraph := tidy(paragraph)):
            yield paragraph


def tidy(text: str) -> str:
    """Remove invisible characters, and replace whitespace by one space."""
    visible = "".join(letter for letter in text if unicodedata.category(letter) != "Cf")
    return " ".join(visible.split())


def is_prose(text: str) -> bool:
    """Return whether the text is a paragraph of sentences: no heading, list, table, code or
    address."""
    words = text.split()
    if len(words) < 6 or not text.rstrip("\"'”’)").endswith((".", "!", "?")):
        return False
    if re.search(r"[`<>{}\[\]|\\=_@#*^~]|::|://|\w\(\)", text):
        return False
    letters = sum(letter.isalpha() or letter.isspace() for letter in text)
    capitals = sum(letter.isupper() for letter in text)
    return letters >= 0.85 * len(text) and capitals <= 0.25 * len(text)


def sentences(lines: Iterable[str]) -> Iterator[Doc]:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    for doc in nlp.pipe(lines):
        for sentence in doc.sents:
            alone = sentence.as_doc()
            set_errors(alone, [CORRECT] * len(alone))
            yield alone


def is_right(doc: Doc) -> bool:
    return all(label == CORRECT for label in get_errors(doc))


def write(docs: Iterable[Doc], path: Path, what: str) -> None:
    counts = [0, 0]

    def counted() -> Iterator[Doc]:
        for doc in docs:
            counts[0] += 1
            counts[1] += len(doc)
            yield doc

    write_spacy(counted(), path)
    msg.good(f"{path.name}: {counts[0]:,} sentences, {counts[1]:,} tokens of {what}")


if __name__ == "__main__":
    typer.run(main)
