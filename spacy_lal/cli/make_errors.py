"""`corrupt`: artificial learner errors, and models of them."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from spacy.tokens import Doc

from ..annotations.grammar_errors import CORRECT, ERRORS_KEY, get_errors
from ..artificial_errors.clean_text import TextCounts, model_from_text
from ..artificial_errors.corrupt import corrupt_doc
from ..artificial_errors.english import english_model
from ..artificial_errors.error_model import ErrorModel
from ..artificial_errors.grammar_rules import GrammarRules
from ..formats.character_edits import rule_based
from ..formats.docbins import read_spacy, write_spacy
from ..formats.files import read_text
from ..formats.treebank_sentence import language_vocab
from .checks import check_outputs, clear_errors, from_each


def corrupt(
    *,
    texts: Annotated[
        list[Path] | None,
        typer.Argument(help="Correct text: .spacy files, or lines of text.", exists=True),
    ] = None,
    output: Annotated[
        Path, typer.Argument(help="The .spacy file to write; with --learn, the error model (JSON).")
    ],
    model: Annotated[
        Path | None, typer.Option(help="An error model, by --learn.", exists=True)
    ] = None,
    rate: Annotated[float, typer.Option(min=0, max=1, help="Share of tokens to make wrong.")] = 0.1,
    types: Annotated[bool, typer.Option("--types", help="Labels by kind, not ERROR.")] = False,
    seed: Annotated[int, typer.Option(help="Another seed makes other errors.")] = 0,
    learn: Annotated[bool, typer.Option("--learn", help="Write an error model.")] = False,
    lang: Annotated[str, typer.Option(help="With --learn: language code.")] = "en",
) -> None:
    """Put errors into correct text, and label them; or learn how errors are made (--learn).

    Errors are put into each Doc of a .spacy file, or into each sentence of lines of text. Only
    words and sentence boundaries are kept. A Doc that already has labels of errors is written
    unchanged. In English with tags and heads, more kinds of errors are made. With --types, labels
    are R, M and U; in text with tags, kinds follow, such as R:VERB:SVA.

    From correct text, --learn makes a model of errors that are usual in any language, and for
    English of errors that are typical of its learners.
    """
    with clear_errors("corrupt"):
        paths = texts or []
        check_outputs([output], [*paths, *([model] if model else [])])
        if learn:
            learned = _learned(paths, lang)
            learned.save(output)
            phrases = sum(len(kind.replacements) for kind in learned.kinds.values())
            typer.echo(f"{len(learned.kinds)} kinds of errors, {phrases:,} phrases to replace")
            return
        if model is None:
            raise ValueError("give the --model that makes errors, or --learn to make one")
        errors = ErrorModel.load(model)
        vocab = language_vocab(errors.lang)
        rules = GrammarRules(errors.words) if errors.lang == "en" else None
        made = Counter[str]()

        def corrupted() -> Iterator[Doc]:
            for doc in from_each(paths, lambda path: _docs(path, errors.lang)):
                if ERRORS_KEY not in doc.spans:
                    doc = corrupt_doc(doc, vocab, errors, rate, seed=seed, types=types, rules=rules)
                made["Docs"] += 1
                made.update(get_errors(doc))
                yield doc
            if made.total() == made["Docs"]:
                raise ValueError(f"no words in {', '.join(map(str, paths))}")

        write_spacy(corrupted(), output)
    sentences = made.pop("Docs")
    tokens = made.total()
    wrong = tokens - made[CORRECT]
    typer.echo(f"{sentences:,} Docs, {tokens:,} tokens, {wrong / tokens:.1%} of them errors")


def _learned(texts: list[Path], lang: str) -> ErrorModel:
    counts = TextCounts()
    for doc in from_each(texts, lambda path: _docs(path, lang)):
        for sentence in doc.sents if doc.has_annotation("SENT_START") else [doc]:
            counts.add(
                [token.text for token in sentence],
                [bool(token.whitespace_) for token in sentence],
                [token.lemma_ for token in sentence],
            )
    return english_model(counts) if lang == "en" else model_from_text(counts, lang)


def _docs(path: Path, lang: str) -> Iterator[Doc]:
    """Yield the Docs of a .spacy file, or a Doc of each sentence in lines of text. Raises
    ValueError, which names the file, if it can't be read."""
    if path.suffix == ".spacy":
        yield from read_spacy(path, language_vocab(lang))
        return
    lines = (line.strip() for line in read_text(path).split("\n"))
    for doc in rule_based(lang).pipe(line for line in lines if line):
        yield from (sentence.as_doc() for sentence in doc.sents)
