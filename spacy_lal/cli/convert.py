"""`convert FORMAT`: treebanks to `.spacy` files, one Doc a sentence, and `.spacy` files to text.

A format's own options are its fields.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, fields, replace
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import srsly
import typer
from wasabi import msg

from ..annotations import CORRECT
from ..formats.character_edits import CharacterEdits
from ..formats.conll import Conll2005, Conll2012
from ..formats.conllu import Conllu
from ..formats.docbins import read_spacy
from ..formats.files import write_whole
from ..formats.ftb import FrenchTreebank
from ..formats.learner_tsv import LearnerTsv
from ..formats.m2 import M2
from ..formats.parallel import ParallelSentences
from ..formats.penn_brackets import Brackets
from ..formats.penn_treebanks import ChineseTreebank, PennTreebank
from ..formats.props import Props
from ..formats.treebank_format import Format, Losses
from ..formats.treebank_sentence import TreebankSentence, language_vocab, write_docs
from ..formats.vtb import VietnameseTreebank
from ..trees.head_rules import HeadRules, heads_by_rules
from ..trees.tree import ConstituentTree
from .checks import Group, check_outputs, clear_errors, from_each

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
                untaught = no_tags.split()
                sentences = [
                    replace(s, tags=["" if tag in untaught else tag for tag in s.tags])
                    if s.tags
                    else s
                    for s in sentences
                ]
            sentences = _of_blocks(sentences, block, without_block or [], inputs)
            converted[outputs[part]] = sentences
        results[part or output.name] = _counts(sentences, losses)
    for path, sentences in converted.items():
        write_docs(sentences, path, format.lang)
    _show(results)
    if report is not None:
        write_whole(report, srsly.json_dumps(results, indent=2))


def command(format: type[Format]) -> Callable[..., None]:
    """Return `convert` as a function with the format's fields as options, for typer."""
    hints = get_type_hints(format, include_extras=True)
    _, inputs, output, *shared = signature(convert, eval_str=True).parameters.values()
    if format.parts:
        place = typer.Argument(metavar="INPUT", help="The treebank: a folder, or a file.")
        inputs = inputs.replace(annotation=Annotated[Path, place])
        place = typer.Argument(metavar="OUTPUT", help="The folder of train.spacy, …")
        output = output.replace(annotation=Annotated[Path, place])
    own = []
    for field in fields(format):
        kind, (help,) = hints[field.name].__origin__, hints[field.name].__metadata__
        default = Parameter.empty if field.default is MISSING else field.default
        option = Parameter(field.name, Parameter.KEYWORD_ONLY, default=default)
        own.append(option.replace(annotation=Annotated[kind, typer.Option(help=help)]))

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


convert_app = Group(
    name="convert",
    help="Convert treebanks to .spacy files, one Doc a sentence, or .spacy files to a format.",
)
for _name, _format in FORMATS.items():
    convert_app.command(_name)(command(_format))


def _write(format: Format, inputs: Sequence[Path], output: Path) -> None:
    texts: list[str] = []
    vocab = language_vocab(format.lang)  # the language's marks whitespace tokens
    for path in inputs:
        docs = from_each([path], lambda path: read_spacy(path, vocab))
        for number, doc in enumerate(docs, start=1):
            try:
                texts.append(format.write(doc))
            except ValueError as error:
                raise ValueError(f"{path}: Doc {number}: {error}") from error
    write_whole(output, "".join(texts))
    typer.echo(f"{len(texts):,} Docs")


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


def _of_blocks(
    sentences: list[TreebankSentence], block: str, without: Sequence[str], inputs: Sequence[Path]
) -> list[TreebankSentence]:
    """Return the sentences of one block, or those outside of some."""
    if block and without:
        raise ValueError("give --block or --without-block, not both")
    left_out: set[int] = set().union(*(_block(k, len(sentences)) for k in without))
    wanted = _block(block or "1/1", len(sentences))
    kept = [sentences[at] for at in wanted if at not in left_out]
    if not kept:
        blocks = "the blocks that --block and --without-block leave"
        raise ValueError(f"no sentences of {', '.join(map(str, inputs))} in {blocks}")
    return kept


def _block(block: str, length: int) -> range:
    """Return block "K/N" of `length` sentences; sizes differ by one at most."""
    match = re.fullmatch(r"(\d+)/(\d+)", block)
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
