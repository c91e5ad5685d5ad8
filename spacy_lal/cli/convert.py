"""`convert FORMAT`: treebanks to `.spacy` files, one Doc a sentence, and `.spacy` files to text.

A format's own options are its fields.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, Field, fields, replace
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import srsly
import typer
from spacy.tokens import Doc
from wasabi import msg

from ..annotations import CORRECT
from ..formats.character_edits import CharacterEdits
from ..formats.conll import Conll2005, Conll2012
from ..formats.conllu import Conllu
from ..formats.docbins import read_spacy
from ..formats.files import whole_file
from ..formats.ftb import FrenchTreebank
from ..formats.head_rules import HeadRules, heads_by_rules
from ..formats.learner_tsv import LearnerTsv
from ..formats.m2 import M2
from ..formats.parallel import ParallelSentences
from ..formats.penn_brackets import Brackets
from ..formats.penn_treebanks import ChineseTreebank, PennTreebank
from ..formats.props import Props
from ..formats.treebank_format import Format, Losses
from ..formats.treebank_sentence import TreebankSentence, language_vocab, write_docs
from ..formats.vtb import VietnameseTreebank
from ..trees.tree import ConstituentTree
from .checks import check_outputs, clear_errors

FORMATS: dict[str, type[Format]] = {
    "brackets": Brackets,
    "character-edits": CharacterEdits,
    "conll05": Conll2005,
    "conll12": Conll2012,
    "conllu": Conllu,
    "ctb": ChineseTreebank,
    "ftb": FrenchTreebank,
    "m2": M2,
    "parallel": ParallelSentences,
    "props": Props,
    "ptb": PennTreebank,
    "tsv": LearnerTsv,
    "vtb": VietnameseTreebank,
}
"""The formats by their names in `convert`."""

Counts = dict[str, Any]
"""Report on one file: numbers by name, and lists of omissions with place and reason."""

_BLOCK = re.compile(r"(\d+)/(\d+)")


def convert(
    format: Format,
    inputs: Annotated[
        list[Path], typer.Argument(metavar="INPUT…", help="Files, plain or compressed, or folders.")
    ],
    output: Annotated[
        Path,
        typer.Argument(metavar="OUTPUT", help="The .spacy file, or the text from .spacy files."),
    ],
    *,
    heads: Annotated[
        HeadRules, typer.Option(help="Head rules for trees that come without heads.")
    ] = HeadRules.none,
    no_tags: Annotated[
        str, typer.Option(help="Tags not to train on, separated by spaces: \": ''\".")
    ] = "",
    block: Annotated[str, typer.Option(help="K/N: take only the K-th of N equal blocks.")] = "",
    without_block: Annotated[
        list[str] | None, typer.Option(help="K/N: leave out the K-th of N blocks; repeatable.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write counts and all left-out items to this JSON.")
    ] = None,
) -> None:
    """Convert inputs of a format to `.spacy`, or `.spacy` inputs to the format.

    Raises ValueError or OSError, which name the place.
    """
    if all(path.suffix == ".spacy" for path in inputs):
        check_outputs([output], inputs)
        _write(format, inputs, output)
        return
    if missing := [path for path in inputs if not path.exists()]:
        raise FileNotFoundError(f"{missing[0]} isn't there")
    outputs = {part: output / f"{part}.spacy" for part in format.parts} or {"": output}
    check_outputs([*outputs.values(), report], format.sources(inputs))
    results: dict[str, Counts] = {}
    converted: dict[Path, list[TreebankSentence]] = {}
    for part, (sentences, losses) in format.read_parts(inputs).items():
        for note in losses.notes:
            msg.warn(note)
        if part in outputs:
            if heads is not HeadRules.none and not format.gives_heads():
                sentences = _with_heads(sentences, heads, losses)
            if no_tags:
                sentences = _without_tags(sentences, frozenset(no_tags.split()))
            sentences = _of_blocks(sentences, block, without_block or [], inputs)
            converted[outputs[part]] = sentences
        results[part or output.name] = _counts(sentences, losses)
    for path, sentences in converted.items():
        write_docs(sentences, path, format.lang)
    _show(results)
    if report is not None:
        report.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(report) as unfinished:
            srsly.write_json(unfinished, results)


def command(format: type[Format]) -> Callable[..., None]:
    """Return `convert` as a function with the format's fields as options, for typer."""
    hints = get_type_hints(format, include_extras=True)
    own = [_option(field, hints[field.name]) for field in fields(format)]
    _, inputs, output, *shared = signature(convert, eval_str=True).parameters.values()
    if format.parts:
        place = typer.Argument(metavar="INPUT", help="The treebank: a folder, or a file.")
        inputs = inputs.replace(annotation=Annotated[Path, place])
        place = typer.Argument(metavar="OUTPUT", help="The folder of train.spacy, …")
        output = output.replace(annotation=Annotated[Path, place])

    def run(inputs: list[Path] | Path, output: Path, **options: Any) -> None:
        paths = [inputs] if isinstance(inputs, Path) else inputs
        with clear_errors("convert"):
            given = {name: options.pop(name) for name in hints if name in options}
            convert(format(**given), paths, output, **options)

    parameters = [inputs, output, *own, *shared]
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__doc__ = format.__doc__
    return run


def _option(field: Field[Any], hint: Any) -> Parameter:
    default = Parameter.empty if field.default is MISSING else field.default
    (help,) = hint.__metadata__
    parameter = Parameter(field.name, Parameter.KEYWORD_ONLY, default=default)
    return parameter.replace(annotation=Annotated[hint.__origin__, typer.Option(help=help)])


convert_app = typer.Typer(
    name="convert",
    help="Convert treebanks to .spacy files, one Doc a sentence, or .spacy files to a format.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for _name, _format in FORMATS.items():
    convert_app.command(_name)(command(_format))


def _write(format: Format, inputs: Sequence[Path], output: Path) -> None:
    texts: list[str] = []
    for path in inputs:
        number = 0
        # the language's vocabulary marks whitespace tokens
        for number, doc in enumerate(read_spacy(path, language_vocab(format.lang)), start=1):
            texts.append(_written(format, doc, f"{path}: Doc {number}"))
        if not number:
            raise ValueError(f"no Docs in {path}")
    output.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(output) as unfinished:
        unfinished.write_text("".join(texts), encoding="utf8")
    typer.echo(f"{len(texts):,} Docs")


def _written(format: Format, doc: Doc, place: str) -> str:
    try:
        return format.write(doc)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error


def _with_heads(
    sentences: Iterable[TreebankSentence], rules: HeadRules, losses: Losses
) -> list[TreebankSentence]:
    found: list[TreebankSentence] = []
    for number, sentence in enumerate(sentences, start=1):
        if sentence.heads is None and sentence.tags and sentence.constituents is not None:
            tree = ConstituentTree.from_spans(sentence.words, sentence.tags, sentence.constituents)
            sentence = replace(sentence, heads=heads_by_rules(tree, rules))
            losses.counts[f"heads by rules: {rules}"] += 1
        elif sentence.heads is None:
            place = sentence.id or f"sentence {number}"
            losses.left_out["without heads"].append((place, "no tree"))
        found.append(sentence)
    return found


def _without_tags(
    sentences: Iterable[TreebankSentence], tags: frozenset[str]
) -> list[TreebankSentence]:
    return [
        replace(s, tags=["" if tag in tags else tag for tag in s.tags]) if s.tags else s
        for s in sentences
    ]


def _of_blocks(
    sentences: list[TreebankSentence], block: str, without: Sequence[str], inputs: Sequence[Path]
) -> list[TreebankSentence]:
    """Return the sentences of one block, or those outside of some."""
    if block and without:
        raise ValueError("give --block or --without-block, not both")
    kept = set(_block(block, len(sentences)) if block else range(len(sentences)))
    kept = kept.difference(*(_block(left_out, len(sentences)) for left_out in without))
    if not kept:
        blocks = "the blocks that --block and --without-block leave"
        raise ValueError(f"no sentences of {', '.join(map(str, inputs))} in {blocks}")
    return [sentence for at, sentence in enumerate(sentences) if at in kept]


def _block(block: str, length: int) -> range:
    """Return block "K/N" of `length` sentences; sizes differ by one at most."""
    match = _BLOCK.fullmatch(block)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError(f"{block!r} is not a block: write K/N, with K from 1 to N")
    number, of = int(match[1]), int(match[2])
    return range((number - 1) * length // of, number * length // of)


def _counts(sentences: Sequence[TreebankSentence], losses: Losses) -> Counts:
    """Return numbers of the sentences; of errors only if any sentence is annotated."""
    numbers = {
        "sentences": len(sentences),
        "words": sum(len(sentence.words) for sentence in sentences),
        "constituents": sum(len(sentence.constituents or ()) for sentence in sentences),
        "predicates": sum(len(sentence.frames or ()) for sentence in sentences),
    }
    labels = [sentence.errors for sentence in sentences if sentence.errors is not None]
    if labels:
        numbers["errors"] = sum(label != CORRECT for found in labels for label in found)
    left_out: Counts = {"dropped": [], "without heads": []}
    return numbers | losses.counts | left_out | losses.left_out


def _show(results: dict[str, Counts]) -> None:
    """Print a table with a column a file, and the places of dropped sentences."""
    rows: dict[str, Counter[str]] = {}
    for name, counts in results.items():
        for item, count in counts.items():
            if not isinstance(count, list):
                rows.setdefault(item, Counter())[name] = count
        for item, drops in counts.items():
            for _, reason in drops if isinstance(drops, list) else ():
                rows.setdefault(f"{item}: {reason}", Counter())[name] += 1
        for place, reason in counts["dropped"]:
            msg.warn(f"left out: {place}: {reason}")
    table = [[item, *(f"{found[name]:,}" for name in results)] for item, found in rows.items()]
    aligns = ["l", *("r" for _ in results)]
    msg.table(table, header=["", *results], divider=True, max_col=80, aligns=aligns)
