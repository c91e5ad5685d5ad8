"""Trees of raw text on which two parsers agree: more to train a third one on (self-training).

The first parser splits the text into sentences; one is kept, with that parser's tags and
constituents, if the other's labelled constituents agree well enough. The result is a .spacy file of
one Doc a sentence, of silver trees alone or, with --gold, of as many words of gold ones among them.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import spacy
import torch
import typer
from spacy.language import Language
from spacy.tokens import Doc
from wasabi import msg

from spacy_lal.annotations.constituents import get_constituents, set_constituents
from spacy_lal.formats.docbins import read_spacy, write_spacy
from spacy_lal.formats.files import OPENERS
from spacy_lal.trees.tree import LabelledSpan


def main(
    text: Annotated[Path, typer.Argument(help="Lines of text, plain or compressed.", exists=True)],
    output: Annotated[Path, typer.Argument(help="The .spacy file to write.")],
    first: Annotated[str, typer.Option(help="The parser whose trees are kept.")],
    second: Annotated[str, typer.Option(help="The parser that must agree.")],
    agreement: Annotated[float, typer.Option(help="Least F1 of their constituents.")] = 0.9,
    every: Annotated[int, typer.Option(help="Read every so many lines.")] = 1,
    limit: Annotated[int, typer.Option(help="Read no more lines than this, 0 for all.")] = 0,
    words: Annotated[str, typer.Option(help="Least and most words of a sentence.")] = "4,50",
    gold: Annotated[
        Path | None,
        typer.Option(help="Gold trees to mix with, half and half.", exists=True),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of which silver trees are mixed, and the order.")] = 1,
    threads: Annotated[int, typer.Option(help="Threads of torch, 0 for its own choice.")] = 0,
) -> None:
    """Parse TEXT twice and write the sentences on which the parsers agree."""
    if threads:
        torch.set_num_threads(threads)
    least, most = map(int, words.split(","))
    nlp, other = spacy.load(first), spacy.load(second)
    stop = limit * every or None
    with OPENERS.get(text.suffix, open)(text, "rt", encoding="utf8") as file:
        sentences = [
            sentence
            for sentence in _sentences(nlp, islice(file, 0, stop, every))
            if least <= len(sentence) <= most
        ]
    kept: list[Doc] = []
    bare = (Doc(other.vocab, words=[t.text for t in s], spaces=_spaces(s)) for s in sentences)
    for doc, again in zip(sentences, other.pipe(_one_sentence(doc) for doc in bare), strict=True):
        if f1(get_constituents(doc), get_constituents(again)) >= agreement:
            kept.append(doc)
    msg.good(f"{len(kept):,} of {len(sentences):,} sentences, {sum(map(len, kept)):,} words")
    if gold is not None:
        kept = mixed(list(read_spacy(gold, nlp.vocab)), kept, random.Random(seed))
        msg.good(f"{len(kept):,} sentences with gold trees, {sum(map(len, kept)):,} words")
    write_spacy(kept, output)


def mixed(gold: list[Doc], silver: list[Doc], rng: random.Random) -> list[Doc]:
    """All gold Docs, silver ones of as many words, or all if there are fewer, in random order."""
    left = sum(map(len, gold))
    result = list(gold)
    for doc in rng.sample(silver, len(silver)):
        if left <= 0:
            break
        result.append(doc)
        left -= len(doc)
    rng.shuffle(result)
    return result


def _sentences(nlp: Language, lines: Iterator[str]) -> Iterator[Doc]:
    """Every sentence as a Doc of its own, with tags and constituents, without whitespace tokens."""
    for doc in nlp.pipe(line.strip() for line in lines):
        for sentence in doc.sents:
            if any(token.is_space for token in sentence):
                continue
            copy = Doc(
                nlp.vocab,
                words=[token.text for token in sentence],
                spaces=[bool(token.whitespace_) for token in sentence],
                tags=[token.tag_ for token in sentence],
                sent_starts=[token.i == sentence.start for token in sentence],
            )
            inside = (
                (span.start - sentence.start, span.end - sentence.start, span.label_)
                for span in doc.spans["constituents"]
                if sentence.start <= span.start and span.end <= sentence.end
            )
            set_constituents(copy, inside)
            yield copy


def _spaces(doc: Doc) -> list[bool]:
    return [bool(token.whitespace_) for token in doc]


def _one_sentence(doc: Doc) -> Doc:
    for token in doc:
        token.is_sent_start = token.i == 0
    return doc


def f1(one: list[LabelledSpan], two: list[LabelledSpan]) -> float:
    """Of labelled spans, 1 if there are none on either side."""
    total = len(one) + len(two)
    return 2 * (Counter(one) & Counter(two)).total() / total if total else 1.0


if __name__ == "__main__":
    typer.run(main)
