"""A pipeline of Indonesian without components whose tokenizer cuts words as a treebank does.

    python scripts/clitics.py TREES.spacy OUTPUT [--dev DEV.spacy]

ICON writes the clitic `nya` as a word of its own (`diri nya`), but not where it makes a new word
(`misalnya`), and cuts at every hyphen (`orang - orang`). Which words end in `nya` is learned from
the trees' words: those that are whole there more often than cut, and adjectives and adverbs, whose
forms in `nya` are nouns. spaCy's own tokenizer of Indonesian never cuts `nya` off and keeps some
15,000 words with a hyphen whole. Its `-nya` of names (`PKI-nya`) stays one word here.
`--dev` measures both on a treebank's words, put together as they are written.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.tokens import Doc
from spacy.util import compile_infix_regex, compile_suffix_regex
from wasabi import msg

from spacy_lal.formats.docbins import read_spacy

CLITIC = "nya"
WHOLE_TAGS = ("ADJ", "ADV")
"""Of words whose forms with the clitic are words of their own."""


def main(
    trees: Annotated[Path, typer.Argument(help="Docs with tags.", exists=True)],
    output: Annotated[Path, typer.Argument(help="Folder of the pipeline.")],
    dev: Annotated[Path | None, typer.Option(help="Docs to measure on.", exists=True)] = None,
) -> None:
    """Write the pipeline."""
    nlp = spacy.blank("id")
    whole = whole_words(read_spacy(trees, nlp.vocab))
    rules = {word: rule for word, rule in nlp.tokenizer.rules.items() if "-" not in word}
    for word in whole:
        rules |= {form: [{"ORTH": form}] for form in (word, word.capitalize(), word.upper())}
    nlp.tokenizer.rules = rules
    letters = r"(?<=[^\W\d_]{2})"
    suffixes = [*nlp.Defaults.suffixes, rf"{letters}(?:{CLITIC}|{CLITIC.upper()})"]
    nlp.tokenizer.suffix_search = compile_suffix_regex(suffixes).search
    infixes = [*nlp.Defaults.infixes, r"(?<=\w)-(?=\w)"]
    nlp.tokenizer.infix_finditer = compile_infix_regex(infixes).finditer
    output.parent.mkdir(parents=True, exist_ok=True)
    nlp.to_disk(output)
    msg.good(f"{output}: cuts off {CLITIC}, but not of {len(whole):,} words")
    if dev is not None:
        texts = [written([token.text for token in doc]) for doc in read_spacy(dev, nlp.vocab)]
        for name, tokenizer in (
            ("this one", nlp.tokenizer),
            ("spaCy's", spacy.blank("id").tokenizer),
        ):
            found = [{(t.idx, t.idx + len(t)) for t in tokenizer(text)} for text, _ in texts]
            right = sum(len(spans & gold) for spans, (_, gold) in zip(found, texts, strict=True))
            precision = right / sum(map(len, found))
            recall = right / sum(len(gold) for _, gold in texts)
            msg.info(f"{name}: precision {100 * precision:.2f}, recall {100 * recall:.2f}")


def written(words: Sequence[str]) -> tuple[str, set[tuple[int, int]]]:
    """The text that a treebank's words are of, as far as one can tell, and where in it they are:
    without spaces before the clitic and what ends a phrase, and around a hyphen in a word."""
    text, spans = "", set()
    for index, word in enumerate(words):
        before = words[index - 1] if index else ""
        ends = word in ",.?:;)" or word.lower() == CLITIC
        hyphen = (word == "-" and before.isalpha()) or (before == "-" and word.isalpha())
        if index and not (ends or hyphen or before == "("):
            text += " "
        spans.add((len(text), len(text) + len(word)))
        text += word
    return text, spans


def whole_words(docs: Iterable[Doc]) -> list[str]:
    """Words in small letters of which the clitic isn't cut off, sorted."""
    cut: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    tags: dict[str, Counter[str]] = defaultdict(Counter)
    for doc in docs:
        for token in doc:
            tags[token.lower_][token.tag_] += 1
            if token.lower_ == CLITIC and token.i:
                cut[doc[token.i - 1].lower_ + CLITIC] += 1
            elif token.lower_.endswith(CLITIC):
                whole[token.lower_] += 1
    for word, counts in tags.items():
        if word.isalpha() and counts.most_common(1)[0][0] in WHOLE_TAGS:
            whole[word + CLITIC] += 0  # known, though it may never have been seen
    return sorted(word for word in whole if whole[word] >= cut[word] and word != CLITIC)


if __name__ == "__main__":
    typer.run(main)
