"""Parse sentences and print tags, heads, the tree drawn in the terminal and its bracketing.

`python scripts/demo.py` takes its own examples, `python scripts/demo.py -- TEXT` a text of yours.
"""

from __future__ import annotations

import sys
import textwrap
from shutil import get_terminal_size
from typing import Annotated

import spacy
import typer
from spacy.tokens import Span

EXAMPLES = (
    "The quick brown fox jumps over the lazy dog.",
    "She said that the book you gave me (the red one) was worth reading twice.",
    "Who do you think will win? I have no idea.",
)


def main(
    text: Annotated[str | None, typer.Argument(help="Any text.", show_default=False)] = None,
    model: Annotated[str, typer.Option(help="A pipeline's name or folder.")] = "en_lal_sm",
) -> None:
    """Parse TEXT, or a few examples."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf8", errors="replace")  # type: ignore[union-attr]
    try:
        nlp = spacy.load(model)
    except OSError as error:
        typer.echo(f"demo: {error}", err=True)
        raise typer.Exit(1) from None
    texts = EXAMPLES if text is None else (clean(text),)
    for doc in nlp.pipe(texts):
        if not any(not token.is_space for token in doc):
            print("Nothing to parse: the text is empty.")
        for sentence, tree in zip(doc.sents, doc._.trees, strict=True):
            if tree.leaves:
                show(tree, sentence)


def clean(text: str) -> str:
    """Replace bytes that are not UTF-8, which the shell may pass."""
    return text.encode("utf8", "surrogateescape").decode("utf8", "replace")


def show(tree, sentence: Span) -> None:  # type: ignore[no-untyped-def]
    """Print tags, heads if any, drawing, bracketing and frames of one sentence."""
    width = get_terminal_size((100, 24)).columns
    tags = " ".join(f"{word}/{tag}" for word, tag in tree.tagged)
    print(textwrap.fill(tags, width, break_long_words=False, break_on_hyphens=False))
    if sentence.doc.has_annotation("DEP"):
        arcs = " ".join(
            f"{t.text}←{t.dep_}" if t.head == t else f"{t.text}←{t.dep_}–{t.head.text}"
            for t in sentence
            if not t.is_space
        )
        print(textwrap.fill(arcs, width, break_long_words=False, break_on_hyphens=False))
    print(f"\n{tree.pretty(width)}\n\n{tree}\n")
    for frame in sentence.doc._.frames:
        if sentence.start <= frame.predicate.i < sentence.end:
            print(textwrap.fill(str(frame), width, break_long_words=False, break_on_hyphens=False))
    print()


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(main)
    app()
