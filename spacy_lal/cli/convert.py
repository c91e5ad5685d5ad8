"""`convert`: treebanks to spaCy's binary training format, one Doc a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ..formats import brackets, conll2005, conll2012, conllu
from ..formats.brackets import Bracketing
from ..formats.cleaning import Losses, clean_sentences, numbered
from ..formats.docs import TreebankSentence, write_docs
from ..formats.documents import DocumentList, read_documents
from ..formats.ewt import SPLITS, find_skeletons, join, read_ud_split
from ..formats.head_rules import HeadRules, heads_by_rules
from ..formats.propbank import read_propbank
from ..formats.props import Drop
from ..formats.ud_join import written
from ..trees.brackets import ptb_unescape, unescape_brackets
from ..trees.tree import ConstituentTree
from .checks import check_outputs, clear_errors, from_each, input_files
from .convert_ctb import convert_ctb
from .convert_ftb import convert_ftb
from .convert_ged import convert_ged
from .convert_gold_conll import convert_gold_conll
from .convert_greynir import convert_greynir
from .convert_ptb import convert_ptb
from .convert_sequoia import convert_sequoia
from .convert_vtb import convert_vtb
from .converting import (
    Counts,
    InputsArgument,
    LangOption,
    LikeEwtOption,
    NoTagsOption,
    OutputArgument,
    ReportOption,
    adapted,
    counts_of,
    finish,
)

convert_app = typer.Typer(
    name="convert",
    help="Convert treebanks to .spacy files, one Doc per sentence.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
HeadsOption = Annotated[HeadRules, typer.Option("--heads", help="Dependency heads by head rules.")]

convert_app.command("ged")(convert_ged)
convert_app.command("ptb")(convert_ptb)
convert_app.command("ctb")(convert_ctb)
convert_app.command("ftb")(convert_ftb)
convert_app.command("vtb")(convert_vtb)
convert_app.command("greynir")(convert_greynir)
convert_app.command("sequoia")(convert_sequoia)
convert_app.command("gold-conll")(convert_gold_conll)


@convert_app.command("ewt")
def convert_ewt(
    output: Annotated[Path, typer.Argument(help="Folder for {train,dev,test}.spacy.")],
    ud: Annotated[
        Path,
        typer.Option("--ud", help="UD_English-EWT: a release or a checkout.", exists=True),
    ],
    propbank: Annotated[
        Path,
        typer.Option("--propbank", help="Folder or tar archive of .gold_skel files.", exists=True),
    ],
    splits: Annotated[
        str, typer.Option("--splits", help="Which splits to convert, comma-separated.")
    ] = ",".join(SPLITS),
    report: ReportOption = None,
) -> None:
    """Join the English Web Treebank's words and heads (UD) with its trees and roles (PropBank)."""
    results: dict[str, Counts] = {}
    with clear_errors("convert"):
        wanted = [split.strip() for split in splits.split(",")]
        if unknown := sorted(set(wanted) - set(SPLITS)):
            raise ValueError(f"--splits has {unknown[0]!r}, which is none of {', '.join(SPLITS)}")
        outputs = [output / f"{split}.spacy" for split in wanted]
        check_outputs(
            [*outputs, report], [propbank, *ud.rglob("*.conllu*"), *propbank.rglob("*.gold_skel")]
        )
        skeletons = find_skeletons(propbank)
        for split in wanted:
            joined = join(read_ud_split(ud, split), skeletons)
            if not joined.sentences:
                raise ValueError(f"no sentences for {split} in {ud}")
            out = output / f"{split}.spacy"
            write_docs(joined.sentences, out, "en")
            results[split] = counts_of(joined.sentences, joined.dropped, joined.headless) | {
                "frames left out": joined.left_out,
                "skeleton sentences without words": joined.unused,
                "tags that agree": joined.tags_agree,
            }
        finish(results, report)


@convert_app.command("brackets")
def convert_brackets(
    inputs: InputsArgument,
    output: OutputArgument,
    lang: LangOption = "xx",
    pattern: Annotated[
        str, typer.Option("--pattern", help="Which files to take from a folder.")
    ] = "*.mrg",
    encoding: Annotated[
        str, typer.Option("--encoding", help="Encoding of the files, e.g. gb18030.")
    ] = "utf-8-sig",
    traces: Annotated[bool, typer.Option("--traces", help="Keep traces as words.")] = False,
    functions: Annotated[
        bool, typer.Option("--functions", help="Keep function tags and indices: NP-SBJ-1.")
    ] = False,
    features: Annotated[
        bool, typer.Option("--features", help="Keep ##features## on labels.")
    ] = False,
    ptb_escapes: Annotated[
        bool, typer.Option("--ptb-escapes", help=r"Undo \/ and \* and `` '' as well as brackets.")
    ] = False,
    spaces: Annotated[
        bool, typer.Option("--spaces/--no-spaces", help="Whether spaces separate the words.")
    ] = True,
    splice: Annotated[
        str,
        typer.Option(
            "--splice", help="Labels, comma-separated: remove these phrases, keep their parts."
        ),
    ] = "",
    skip: Annotated[
        str, typer.Option("--skip", help="Leave out the trees FIRST-LAST, counted from 1.")
    ] = "",
    every: Annotated[int, typer.Option("--every", help="Take every N-th tree.", min=1)] = 1,
    ewt: LikeEwtOption = False,
    no_tags: NoTagsOption = "",
    heads: HeadsOption = HeadRules.none,
    report: ReportOption = None,
) -> None:
    """Convert bracketed trees, as in the Penn Treebank, on one line or several lines each."""
    losses, number = Losses(), 0
    unescape = ptb_unescape if ptb_escapes else unescape_brackets
    without = frozenset(filter(None, splice.split(",")))

    def clean(tree: ConstituentTree) -> ConstituentTree | None:
        cleaned = brackets.clean_tree(tree, traces=traces, functions=functions, features=features)
        return brackets.spliced(cleaned, without) if cleaned and without else cleaned

    def counted(file: Path) -> Iterator[Bracketing]:
        nonlocal number
        trees = brackets.read_treebank(file, encoding=encoding, unescape=unescape)
        for tree in numbered(trees, file):
            number += 1
            yield tree

    def read(path: Path) -> Iterator[tuple[int, TreebankSentence]]:
        for file in input_files([path], pattern):
            # trees without words make no sentence, but they count
            for sentence in clean_sentences(
                counted(file), losses, clean=clean, spaces=spaces, rules=heads
            ):
                yield number, sentence

    with clear_errors("convert"):
        check_outputs([output, report], input_files(inputs, pattern))
        skipped = _numbers(skip)
        sentences = [
            sentence
            for place, sentence in from_each(inputs, read)
            if place % every == 0 and place not in skipped
        ]
        if not sentences:
            raise ValueError(f"no trees are left of {number}")
        sentences = adapted(sentences, ewt=ewt, no_tags=no_tags)
        write_docs(sentences, output, lang)
        counts = counts_of(sentences, losses.dropped) | dict(losses.counts)
        finish({output.name: counts}, report)


@convert_app.command("conllu")
def convert_conllu(
    inputs: InputsArgument,
    output: OutputArgument,
    lang: LangOption = "xx",
    pattern: Annotated[
        str, typer.Option("--pattern", help="Which files to take from a folder.")
    ] = "*.conllu",
    documents: Annotated[
        Path | None,
        typer.Option("--documents", help="Take only the `newdoc id`s that this file lists."),
    ] = None,
    as_written: Annotated[
        bool, typer.Option("--written", help='Contractions as one word: "du", not "de" and "le".')
    ] = False,
    tags: Annotated[
        conllu.TagColumn, typer.Option("--tags", help="The column of tags, if any.")
    ] = conllu.TagColumn.xpos,
    no_tags: NoTagsOption = "",
    report: ReportOption = None,
) -> None:
    """Convert words, tags and dependencies from CoNLL-U or CoNLL-X."""
    headless: list[tuple[str, str]] = []
    taken: DocumentList | None = None

    def read(path: Path) -> Iterator[TreebankSentence]:
        for file in input_files([path], pattern):
            for found in conllu.read_conllu(file):
                if taken is not None and not taken(found.document, found.number):
                    continue
                sentence, fault = conllu.to_sentence(found, tags)
                if as_written:
                    sentence, joined_fault = written(found, tags)
                    fault = fault or joined_fault
                yield sentence
                if fault:
                    headless.append((f"{found.source}:{found.line}", fault))

    with clear_errors("convert"):
        lists = [] if documents is None else [documents]
        check_outputs([output, report], [*input_files(inputs, pattern), *lists])
        taken = None if documents is None else read_documents(documents)
        sentences = adapted(from_each(inputs, read), no_tags=no_tags)
        if taken is not None:
            taken.check_seen()
        write_docs(sentences, output, lang)
        finish({output.name: counts_of(sentences, headless=headless)}, report)


@convert_app.command("conll05")
def convert_conll05(
    inputs: Annotated[
        list[Path],
        typer.Argument(help="Folders of a set, with words/ and props/, or files.", exists=True),
    ],
    output: OutputArgument,
    lang: LangOption = "en",
    synt: Annotated[
        str, typer.Option("--synt", help="Folder of parses beside words/, e.g. synt.cha.")
    ] = "",
    ptb_escapes: Annotated[
        bool, typer.Option("--ptb-escapes", help="Undo the Penn Treebank's escapes in words.")
    ] = False,
    heads: HeadsOption = HeadRules.none,
    report: ReportOption = None,
) -> None:
    """Convert CoNLL-2005: the release's parallel files, or files with all columns in one."""
    unescape = ptb_unescape if ptb_escapes else str
    with clear_errors("convert"):
        folders = {"words", "props", "senses", synt} - {""}
        within = (file for path in inputs for name in folders for file in path.glob(f"{name}/*"))
        check_outputs([output, report], [*inputs, *within])
        read = from_each(
            inputs, lambda path: conll2005.read_conll2005(path, synt=synt, unescape=unescape)
        )
        sentences, left_out = _collect(read)
        sentences, headless = _with_heads(sentences, heads)
        write_docs(sentences, output, lang)
        counts = counts_of(sentences, headless=headless) | {"frames left out": left_out}
        finish({output.name: counts}, report)


@convert_app.command("conll12")
def convert_conll12(
    inputs: InputsArgument,
    output: OutputArgument,
    lang: LangOption = "en",
    pattern: Annotated[
        str, typer.Option("--pattern", help="Which files to take from a folder.")
    ] = "*gold_conll",
    ptb_escapes: Annotated[
        bool,
        typer.Option("--ptb-escapes", help="Undo the treebank's escapes in words: -LRB-, /. etc."),
    ] = False,
    heads: HeadsOption = HeadRules.none,
    report: ReportOption = None,
) -> None:
    """Convert CoNLL-2012, the column files of OntoNotes."""
    unescape = conll2012.ontonotes_unescape if ptb_escapes else str
    with clear_errors("convert"):
        check_outputs([output, report], input_files(inputs, pattern))
        read = from_each(
            inputs,
            lambda path: (
                found
                for file in input_files([path], pattern)
                for found in conll2012.read_conll2012(file, unescape=unescape)
            ),
        )
        sentences, left_out = _collect(read)
        sentences, headless = _with_heads(sentences, heads)
        write_docs(sentences, output, lang)
        counts = counts_of(sentences, headless=headless) | {"frames left out": left_out}
        finish({output.name: counts}, report)


@convert_app.command("propbank")
def convert_propbank(
    skeletons: Annotated[
        Path, typer.Argument(help="A skeleton, or a folder of .gold_skel files.", exists=True)
    ],
    output: OutputArgument,
    words: Annotated[
        Path,
        typer.Option(
            "--words",
            help="CoNLL-U or one tokenised sentence per line, in the skeletons' order.",
            exists=True,
            dir_okay=False,
        ),
    ],
    lang: LangOption = "en",
    report: ReportOption = None,
) -> None:
    """Convert PropBank's skeletons, with words from a file that has the same sentences."""
    with clear_errors("convert"):
        files = list(input_files([skeletons], "*.gold_skel"))
        check_outputs([output, report], [*files, words])
        sentences: list[TreebankSentence] = []
        headless: list[Drop] = []
        left_out: list[Drop] = []
        for sentence, faults, frames in from_each(
            [skeletons], lambda _: read_propbank(files, words)
        ):
            sentences.append(sentence)
            headless += faults
            left_out += frames
        write_docs(sentences, output, lang)
        counts = counts_of(sentences, headless=headless) | {"frames left out": left_out}
        finish({output.name: counts}, report)


def _numbers(limits: str) -> range:
    """`first-last` as a range; "" is an empty one. Raises ValueError for anything else."""
    if not limits:
        return range(0)
    first, hyphen, last = limits.partition("-")
    if not (hyphen and first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
        raise ValueError(f"--skip must be FIRST-LAST, as 12-40, not {limits!r}")
    return range(int(first), int(last) + 1)


def _collect(
    read: Iterable[tuple[TreebankSentence, list[Drop]]],
) -> tuple[list[TreebankSentence], list[Drop]]:
    """All sentences, and all that was left out of them."""
    sentences: list[TreebankSentence] = []
    drops: list[Drop] = []
    for sentence, own in read:
        sentences.append(sentence)
        drops += own
    return sentences, drops


def _with_heads(
    sentences: list[TreebankSentence], rules: HeadRules
) -> tuple[list[TreebankSentence], list[Drop]]:
    """The sentences with heads by rules, and those of them that have no tree to find heads in."""
    if rules is HeadRules.none:
        return sentences, []
    found: list[TreebankSentence] = []
    headless: list[Drop] = []
    for number, sentence in enumerate(sentences, start=1):
        if sentence.tags is None or sentence.constituents is None:
            headless.append((sentence.id or f"sentence {number}", "no tree"))
        else:
            tree = ConstituentTree.from_spans(sentence.words, sentence.tags, sentence.constituents)
            sentence = replace(sentence, heads=heads_by_rules(tree, rules))
        found.append(sentence)
    return found, headless
