"""`search`: matches of a query in a corpus, as keywords in context, tables or counts."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain, islice
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any, NamedTuple

import typer
from spacy.tokens import Doc, Span, Token
from tqdm import tqdm

from ..annotate.reading import Piece, Text, corpus_files, read_piece
from ..search import Match, Query, QueryError, compile_query
from ..search.index import indexed_pieces
from ..search.queries import SECONDS
from ..search.word_patterns import ALIASES, ATTRIBUTES
from ..trees.tree import ConstituentTree
from .checks import clear_errors

Row = dict[str, Any]
"""Match as plain values: "id" and number of the "sentence" in the text, its "words", the "match"
and the "nodes" of names (start and end, exclusive, in these words, "text" and "label"), labels of
the named "relations", and, to count, "value"."""
MATCH = "match"
"""Name of the node that the whole query matches."""


class Answer(NamedTuple):
    """Matches in a text, its number of sentences, and the annotation that it lacks, or ""."""

    rows: list[Row]
    sentences: int
    lacks: str = ""


def search(
    query: Annotated[str, typer.Argument(help="A tree pattern, a word pattern, or both with &&.")],
    corpus: Annotated[
        list[Path],
        typer.Argument(
            metavar="CORPUS…",
            help="Files or folders: .spacy, CoNLL-U, brackets, output of `annotate`.",
        ),
    ],
    *,
    tsv: Annotated[bool, typer.Option("--tsv", help="Print a table with a column a name.")] = False,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Print a JSON record a match.")] = False,
    count: Annotated[bool, typer.Option("--count", help="Print the number of matches.")] = False,
    by: Annotated[
        str, typer.Option(help="Count by the words of NAME, by NAME.label, NAME.lemma, …")
    ] = "",
    limit: Annotated[int, typer.Option(min=0, help="Most matches to show; 0 for all.")] = 0,
    index: Annotated[
        Path | None, typer.Option(help="Index of the corpus, made if need be, for tree patterns.")
    ] = None,
    seconds: Annotated[float, typer.Option(help="Most seconds for one sentence.")] = SECONDS,
    n_process: Annotated[int, typer.Option(min=1, help="Processes, which share the files.")] = 1,
) -> None:
    """Search a corpus by phrases, heads and roles, and print each match in its context."""
    with clear_errors("search"):
        if sum([tsv, jsonl, count, bool(by)]) > 1:
            raise ValueError("give one of --tsv, --jsonl, --count and --by")
        try:
            compiled = compile_query(query)
        except QueryError as error:  # its caret needs its own lines
            typer.echo(f"search: {error}", err=True)
            raise typer.Exit(1) from None
        key = _key(by, compiled.names) if by else None
        files = [file for path in corpus for file in corpus_files(path, others=True)]
        if n_process > len(files):
            _warn(f"{n_process} processes, but files to read: {len(files)}")
        pieces = indexed_pieces(compiled, files, index) if index else list(map(Piece, files))
        report, read = _Report(), partial(_search_piece, compiled, key, seconds)
        found = report.read(_answers(read, pieces, n_process))
        rows = islice(chain.from_iterable(found), limit or None)
        if by:
            for value, times in Counter(row["value"] for row in rows).most_common():
                typer.echo(f"{times}\t{value}")
        elif count:
            matches = sum(1 for _ in rows)
            of = f"{report.hits:,} of {report.sentences:,}"
            typer.echo(f"{matches:,} matches in {of} sentences read")
        elif jsonl:
            for row in rows:
                typer.echo(json.dumps(row, ensure_ascii=False))
        elif tsv:
            typer.echo("\t".join(["id", "sentence", MATCH, "label", *compiled.names, "text"]))
            for row in rows:
                typer.echo("\t".join(_cells(row, compiled.names)))
        else:
            width = get_terminal_size((120, 24)).columns
            for row in rows:
                typer.echo(_in_context(row, width))
        report.end()


class _Report:
    """Counts of what was read: sentences, sentences with matches, texts, and texts by what they
    lack."""

    def __init__(self) -> None:
        self.sentences = self.hits = self.texts = 0
        self.lacking = Counter[str]()

    def read(self, answers: Iterable[Answer]) -> Iterator[list[Row]]:
        """Yield the rows of each text. Progress is shown on a terminal."""
        for answer in tqdm(answers, unit=" texts", disable=None):
            self.texts += 1
            self.sentences += answer.sentences
            self.hits += len({row["sentence"] for row in answer.rows})
            if answer.lacks:
                self.lacking[answer.lacks] += 1
            yield answer.rows

    def end(self) -> None:
        """Warn of texts that were left out. Raises ValueError if all were."""
        for lacks, texts in self.lacking.items():
            if texts == self.texts:
                raise ValueError(f"the query needs {lacks}, which the corpus doesn't have")
            _warn(f"left out {texts:,} of {self.texts:,} texts without {lacks}")


def _warn(text: str) -> None:
    typer.echo(f"search: {text}", err=True)  # what is printed may be a table


def _answers(read: Any, pieces: Sequence[Piece], processes: int) -> Iterator[Answer]:
    """Yield the answers of all pieces in order. Other processes have one piece each, and one more
    is read ahead."""
    if processes == 1 or len(pieces) == 1:
        yield from chain.from_iterable(map(read, pieces))
        return
    left = iter(pieces)
    with ProcessPoolExecutor(processes) as pool:
        running = deque(pool.submit(_listed, read, piece) for piece in islice(left, processes + 1))
        try:
            while running:
                yield from running.popleft().result()
                running.extend(pool.submit(_listed, read, piece) for piece in islice(left, 1))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _listed(read: Any, piece: Piece) -> list[Answer]:
    return list(read(piece))


def _search_piece(
    query: Query, key: tuple[str, str] | None, seconds: float, piece: Piece
) -> Iterator[Answer]:
    for text in read_piece(piece):
        try:
            yield _answer(query, key, seconds, text)
        except (ValueError, TimeoutError) as error:
            raise type(error)(f"{piece.file}: {text.id}: {error}") from None


def _answer(query: Query, key: tuple[str, str] | None, seconds: float, text: Text) -> Answer:
    if isinstance(text.item, ConstituentTree):
        found = query.in_tree(text.item, seconds)
        return Answer([_row(match, text.id, 1, key) for match in found], 1)
    doc: Doc = text.item
    bounds = doc.has_annotation("SENT_START")
    numbers = {s.start: n for n, s in enumerate(doc.sents, start=1)} if bounds else {0: 1}
    shown = ATTRIBUTES.get(key[1], ("", ""))[1] if key else ""
    if lacks := query.lacks(doc, {shown} - {""}):
        return Answer([], len(numbers), lacks)
    rows: list[Row] = []
    for match in query.in_doc(doc, seconds):
        assert isinstance(match.sentence, Span)
        rows.append(_row(match, text.id, numbers[match.sentence.start], key))
    return Answer(rows, len(numbers))


def _row(match: Match, name: str, number: int, key: tuple[str, str] | None) -> Row:
    whole = match.sentence
    tree = isinstance(whole, ConstituentTree)
    if isinstance(whole, ConstituentTree):
        words = whole.leaves
    else:
        words = [token.text for token in whole if not token.text.isspace()]

    def place(name: str, node: Any) -> Row:
        start, end = match.places[name]
        label = node.tag_ if isinstance(node, Token) else node.label if tree else node.label_
        return {"start": start, "end": end, "text": " ".join(words[start:end]), "label": label}

    nodes = {name: place(name, node) for name, node in match.nodes.items()}
    row = {"id": name, "sentence": number, "words": words, MATCH: place("", match.node)}
    row |= {"nodes": nodes, "relations": match.relations}
    if key is not None:
        row["value"] = _value(match, row, *key)
    return row


def _key(by: str, names: Sequence[str]) -> tuple[str, str]:
    """Return the name and attribute of `--by`. Raises ValueError."""
    name, _, attribute = by.partition(".")
    name = f"~{name}" if f"~{name}" in names else name
    attribute = ALIASES.get(attribute, attribute)
    if name not in (*names, MATCH):
        known = ", ".join([MATCH, *(n.removeprefix("~") for n in names)])
        raise ValueError(f"--by {by}: the query has no name {name!r}, only {known}")
    if attribute not in ("", "label", *ATTRIBUTES) or (attribute and name[0] == "~"):
        known = ", ".join(["label", *ATTRIBUTES])
        raise ValueError(f"--by {by}: after the name of a node comes one of {known}")
    return name, attribute


def _value(match: Match, row: Row, name: str, attribute: str) -> str:
    """Return what a match is counted by: of several words, an attribute is that of the root."""
    if name.startswith("~"):
        return match.relations.get(name[1:], "")
    place = row[MATCH] if name == MATCH else row["nodes"].get(name)
    if place is None or attribute in ("", "label"):
        return "" if place is None else str(place[attribute or "text"])
    node: Any = match.node if name == MATCH else match.nodes[name]
    if isinstance(node, ConstituentTree):
        raise ValueError(f"words of trees without a Doc have no {attribute}: count by the label")
    token = node if isinstance(node, Token) else node.root
    return str(getattr(token, ATTRIBUTES[attribute][0]))


def _cells(row: Row, names: Sequence[str]) -> Iterator[str]:
    yield from (row["id"], str(row["sentence"]), row[MATCH]["text"], row[MATCH]["label"])
    for name in names:
        known = row["nodes"].get(name, {"text": ""})["text"]
        yield row["relations"].get(name[1:], "") if name[0] == "~" else known
    yield " ".join(row["words"])


def _in_context(row: Row, width: int) -> str:
    """Return the line of a match, in the middle of its sentence, and then its names."""
    words, found = row["words"], row[MATCH]
    side = max(20, width // 3)
    left, right = " ".join(words[: found["start"]]), " ".join(words[found["end"] :])
    left = left if len(left) <= side else "…" + left[1 - side :]
    right = right if len(right) <= side else right[: side - 1] + "…"
    text = typer.style(found["text"], fg="red", bold=True)
    names = [f"{name}={node['text']}" for name, node in row["nodes"].items()]
    names += [f"~{name}={label}" for name, label in row["relations"].items()]
    shown = typer.style("  ".join(["", *names]), fg="cyan") if names else ""
    return f"{row['id']}.{row['sentence']}  {left:>{side}} {text} {right}{shown}".rstrip()
