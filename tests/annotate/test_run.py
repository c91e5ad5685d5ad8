"""Runs over text: what is in the files, how they go on after a kill, and what they refuse."""

from __future__ import annotations

import gzip
import io
import json
import logging
import multiprocessing
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_lal.annotate import run as runs
from spacy_lal.annotate.records import record_doc
from spacy_lal.annotate.run import Workers, annotate_texts
from spacy_lal.annotate.shards import AnnotateSettings, make_shard
from spacy_lal.annotate.texts import Texts
from spacy_lal.annotations.constituents import sentence_trees
from spacy_lal.cli import app
from spacy_lal.cli.annotate import _follow
from spacy_lal.formats.conllu import read_conllu
from spacy_lal.formats.penn_brackets import parse_treebank
from spacy_lal.formats.props import format_props, read_props
from tests.new_processes import fork_server

LINES = [
    "The cat sat on the mat. She ate the fish.",
    "Dogs  eat and cats sat .",
    "Give the dog up!",
    "Hello. Go home (now)!",
    "She ate the fish that swam.",
    "A dog with a bone. Cats and dogs fight.",
]
BIG = AnnotateSettings(shard_chars=20_000)
SMALL = AnnotateSettings(shard_chars=41, batch_tokens=20, max_chars=50)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(LINES) + "\n")
    return path


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def parts(folder: Path, ending: str) -> list[Path]:
    return sorted(folder.glob(f"part-*.{ending}"))


@pytest.fixture
def loaded(nlp: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pipeline is there already."""
    monkeypatch.setattr(runs, "load", lambda *_: nlp)


@pytest.mark.usefixtures("loaded")
@pytest.mark.parametrize("ending", ["jsonl", "spacy", "parquet", "conllu", "brackets", "props"])
def test_every_format_comes_back(ending: str, nlp: Language, text: Path, tmp_path: Path) -> None:
    """What readers find in the files is what the pipeline gives."""
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    output = tmp_path / "out"
    settings = AnnotateSettings(ending, shard_chars=60)
    done = list(annotate_texts("toy", Texts(str(text)), output, settings, Workers()))
    paths = parts(output, ending)
    assert len(paths) == len(done) > 2
    docs = [nlp(line) for line in LINES]
    ids = [f"text.txt:{k}" for k in range(1, len(LINES) + 1)]
    sentences = [sentence for doc in docs for sentence in doc.sents]
    if ending == "brackets":
        trees = [tree for path in paths for tree in parse_treebank(path.read_text(encoding="utf8"))]
        assert trees == [tree for doc in docs for tree in sentence_trees(doc)]
    elif ending == "props":
        found = [s for path in paths for s in read_props(path.read_text())]
        expected = [s for doc in docs for s in read_props(format_props(doc))]
        assert [(s.length, list(s.frames)) for s in found] == [
            (s.length, list(s.frames)) for s in expected
        ]
    elif ending == "conllu":
        rows = [s for path in paths for s in read_conllu(path)]
        for row, sentence in zip(rows, sentences, strict=True):
            words = [token for token in sentence if not token.is_space]
            assert row.words == [token.text for token in words]
            assert row.xpos == [token.tag_ for token in words]
            assert row.deprels == [t.dep_ if t.head.i != t.i else "root" for t in words]
            number = {token.i: k for k, token in enumerate(words, start=1)}
            assert row.heads == [0 if t.head.i == t.i else number[t.head.i] for t in words]
        assert list(dict.fromkeys(row.document for row in rows)) == ids
    else:
        if ending == "spacy":
            again = [d for p in paths for d in DocBin().from_disk(p).get_docs(nlp.vocab)]
            assert [doc.user_data["id"] for doc in again] == ids
        else:
            records = [record for path in paths for record in _records(path)]
            assert [record["id"] for record in records] == ids
            again = [record_doc(record, nlp.vocab) for record in records]
        for doc, other in zip(docs, again, strict=True):
            assert other.text == doc.text
            assert other.to_json()["tokens"] == doc.to_json()["tokens"]
            for key in doc.spans:
                assert [(s.start, s.end, s.label_) for s in other.spans[key]] == [
                    (s.start, s.end, s.label_) for s in doc.spans[key]
                ]
                scores = doc.spans[key].attrs["scores"]
                assert other.spans[key].attrs["scores"] == pytest.approx(scores, abs=1e-4)


def _records(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    import pyarrow.parquet

    return pyarrow.parquet.read_table(path).to_pylist()


@pytest.mark.usefixtures("loaded")
def test_fields_are_carried_through(nlp: Language, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"id": "x", "lang": "en", "n": [1], "text": "Go home!"}\n{"text": "Hello"}\n')
    texts = Texts(str(path), keep=("id", "lang", "n"))
    for ending in ("jsonl", "spacy", "conllu"):
        settings = AnnotateSettings(ending, ("id", "lang", "n"))
        list(annotate_texts("toy", texts, tmp_path / ending, settings, Workers()))
    first, second = _records(tmp_path / "jsonl/part-00000.jsonl")
    assert (first["id"], first["lang"], first["n"]) == ("x", "en", [1])
    assert (second["id"], second["lang"]) == ("in.jsonl:2", None)
    doc, _ = DocBin().from_disk(tmp_path / "spacy/part-00000.spacy").get_docs(nlp.vocab)
    assert doc.user_data["lang"] == "en"
    assert "# lang = en\n" in (tmp_path / "conllu/part-00000.conllu").read_text()
    with pytest.raises(ValueError, match="brackets has no place for fields"):
        AnnotateSettings("brackets", ("lang",))


@pytest.mark.usefixtures("loaded")
@pytest.mark.parametrize("ending", ["jsonl", "spacy", "parquet", "conllu"])
def test_a_field_that_is_no_unicode(ending: str, tmp_path: Path) -> None:
    """It fails its text, not the file."""
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / "in.jsonl"
    path.write_text(
        '{"text": "Go", "lang": "\\ud800"}\n{"id": "\\udfff", "text": "Go"}\n{"text": "Hello"}'
    )
    settings = AnnotateSettings(ending, ("lang",))
    texts = Texts(str(path), keep=("lang",))
    (done,) = annotate_texts("toy", texts, tmp_path / "out", settings, Workers())
    assert (done.counts["texts"], done.counts["failed"]) == (1, 2)
    assert len(_records(tmp_path / "out/failed/part-00000.jsonl")) == 2


def killed(work: Callable[[], Any], after: float) -> bool:
    """Whether `kill -9` met the work, in a process of its own, that many seconds after it began."""
    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join(after)
    process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


@pytest.mark.usefixtures("loaded")
def test_killed_anywhere_it_makes_the_same_files(text: Path, tmp_path: Path) -> None:
    """`kill -9` at random points, and before and after each step that makes something last."""

    def go(output: Path) -> None:
        with text.open("ab") as file:  # one that fails, so that there is a file of these, too
            file.write(b"" if b"\xff" in text.read_bytes() else b"\xff\n")
        list(annotate_texts("toy", Texts(str(text)), output, SMALL, Workers()))

    begun = time.perf_counter()
    go(tmp_path / "whole")
    seconds = time.perf_counter() - begun
    whole = files(tmp_path / "whole")
    assert "failed/part-00003.jsonl" in whole
    assert sum(name.startswith("part-") for name in whole) == 4

    draw = random.Random(0)
    for k in range(5):
        output = tmp_path / f"random-{k}"
        killed(lambda output=output: go(output), draw.random() * seconds)
        go(output)
        assert files(output) == whole

    def dying(output: Path, step: int) -> None:
        steps = 0

        def counted(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any) -> Any:
                nonlocal steps
                steps += 1
                if steps == step:
                    os.kill(os.getpid(), signal.SIGKILL)
                return function(*arguments)

            return call

        os.replace, os.fsync = counted(os.replace), counted(os.fsync)
        go(output)
        os._exit(0)

    step, met = 1, True
    while met:
        output = tmp_path / f"step-{step}"
        met = killed(lambda output=output, step=step: dying(output, step), 60)
        if output.exists():
            assert not any(path.stat().st_size == 0 for path in parts(output, "jsonl"))
        go(output)
        assert files(output) == whole, step
        step += 1
    assert step > 4 * 3


@pytest.mark.usefixtures("loaded")
def test_goes_on(text: Path, tmp_path: Path) -> None:
    """What is there is not made again, and a line that was half written counts for nothing."""
    output = tmp_path / "out"
    run = annotate_texts("toy", Texts(str(text)), output, SMALL, Workers())
    assert [next(run).there for _ in range(2)] == [False, False]
    run.close()
    with (output / "shards.jsonl").open("a") as file:
        file.write('{"shard": 2, "dig')
    done = list(annotate_texts("toy", Texts(str(text)), output, SMALL, Workers()))
    assert [one.there for one in done] == [True, True, False, False]
    assert done[-1].position == text.stat().st_size


@pytest.mark.usefixtures("loaded")
def test_settings_do_not_mix(text: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"

    def again(settings: AnnotateSettings = SMALL, **of_texts: Any) -> None:
        list(annotate_texts("toy", Texts(str(text), **of_texts), output, settings, Workers()))

    again()
    for other, said in (
        (AnnotateSettings(shard_chars=42, batch_tokens=20, max_chars=50), "shard_chars 41, not 42"),
        (AnnotateSettings("spacy", (), 50, 41, 20), "format jsonl, not spacy"),
    ):
        with pytest.raises(ValueError, match=said):
            again(other)
    with pytest.raises(ValueError, match="made with text_field text, not body"):
        again(text_field="body")
    before = text.read_text()
    text.rename(text.with_name("other.txt"))
    with pytest.raises(ValueError, match=r"made with input \['text.txt'\], not \['other.txt'\]"):
        list(annotate_texts("toy", Texts(str(tmp_path / "other.txt")), output, SMALL, Workers()))
    text.write_text(before + "More.\n")
    with pytest.raises(ValueError, match=r"part-00003\.jsonl was made of another text"):
        again()
    text.write_text(before.replace("cat", "dog"))
    with pytest.raises(ValueError, match=r"part-00000\.jsonl was made of another text"):
        again()
    text.write_text(before)
    (output / "part-00001.jsonl").unlink()
    with pytest.raises(ValueError, match=r"part-00001\.jsonl, complete before, is gone"):
        again()
    (output / "annotate.json").write_text("?")
    with pytest.raises(ValueError, match=r"annotate\.json"):
        again()


@pytest.mark.usefixtures("loaded")
def test_one_run_at_a_time(text: Path, tmp_path: Path) -> None:
    """A second one would remove what the first is writing."""
    run = annotate_texts("toy", Texts(str(text)), tmp_path / "out", SMALL, Workers())
    next(run)
    with pytest.raises(BlockingIOError, match="another run is writing in"):
        next(annotate_texts("toy", Texts(str(text)), tmp_path / "out", SMALL, Workers()))
    assert len(list(run)) == 3


@pytest.mark.usefixtures("loaded")
def test_files_of_others_stay(text: Path, tmp_path: Path) -> None:
    """Spark, too, calls its files so."""
    other = tmp_path / "out/part-00000.jsonl"
    other.parent.mkdir()
    other.write_text("precious")
    with pytest.raises(FileExistsError, match=r"part-00000\.jsonl is there, but no annotate\.json"):
        next(annotate_texts("toy", Texts(str(text)), other.parent, SMALL, Workers()))
    assert other.read_text() == "precious"


@pytest.mark.usefixtures("loaded")
def test_an_input_that_was_mended(text: Path, tmp_path: Path) -> None:
    """What was made before the damage stays."""
    packed = tmp_path / "in.txt.gz"
    whole = gzip.compress("".join(f"{line}\n" for line in LINES * 400).encode(), 1)
    packed.write_bytes(whole[: 9 * len(whole) // 10])
    run = annotate_texts("toy", Texts(str(packed)), tmp_path / "out", BIG, Workers())
    with pytest.raises(ValueError, match=r"in\.txt\.gz: damaged"):
        list(run)
    packed.write_bytes(whole)
    again = list(annotate_texts("toy", Texts(str(packed)), tmp_path / "out", BIG, Workers()))
    assert [done.there for done in again[:2]] == [True, True]
    assert not again[-1].there


@pytest.mark.usefixtures("loaded")
def test_failures_of_a_run_that_was_killed(text: Path, tmp_path: Path) -> None:
    """It died between the file of failures and that of the others; now nothing fails."""
    old = tmp_path / "out/failed/part-00000.jsonl"
    old.parent.mkdir(parents=True)
    old.write_text("{}\n")
    next(annotate_texts("toy", Texts(str(text)), tmp_path / "out", SMALL, Workers()))
    assert not old.exists()


def test_the_command(folder: Path, tmp_path: Path) -> None:
    """What fails is put aside with its error, and the exit status says so."""
    path = tmp_path / "in.jsonl"
    path.write_text(
        '{"id": 1, "text": "Go home!"}\n{"id": 2}\n'
        '{"id": 3, "text": "\\ud800"}\n{"id": 4, "text": "Hello"}\n'
    )
    output = tmp_path / "out"

    def call(*arguments: str) -> Any:
        return CliRunner().invoke(app, ["annotate", str(folder), str(path), *arguments])

    result = call(str(output))
    assert result.exit_code == 3, result.output
    said = " ".join(result.output.split())
    assert "2 texts, 4 words in 1 files" in said
    assert "2 texts failed" in said
    assert [r["id"] for r in _records(output / "part-00000.jsonl")] == ["1", "4"]
    inside = CliRunner().invoke(app, ["annotate", "toy", str(tmp_path), str(tmp_path / "a/b")])
    assert inside.exit_code == 1
    assert "is inside the input" in inside.output
    result = call(str(output))
    assert result.exit_code == 3
    assert "1 of them there before" in " ".join(result.output.split())
    failed = {r["id"]: r["error"] for r in _records(output / "failed/part-00000.jsonl")}
    assert failed.keys() == {"2", "3"}
    path.write_text("")
    result = call(str(tmp_path / "none"))
    assert (result.exit_code, list((tmp_path / "none").glob("part-*"))) == (0, [])
    result = call(str(tmp_path / "none"), "--format", "xml")
    assert result.exit_code == 1
    assert "expected one of jsonl" in result.output
    result = call(str(tmp_path))
    assert "would overwrite the input" in result.output


@pytest.mark.usefixtures("loaded")
def test_a_bar_where_there_is_a_terminal(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for there in (False, True):
        for stream in (Terminal(), io.StringIO()):
            monkeypatch.setattr(sys, "stderr", stream)
            texts = Texts(str(text))
            output = tmp_path / type(stream).__name__
            _follow(annotate_texts("toy", texts, output, SMALL, Workers()), texts, output)
            said = stream.getvalue()
            assert bool(said) == stream.isatty()
            if stream.isatty():
                assert "100%" in said
                assert ("words/s" in said) != there


def test_a_format_that_the_pipeline_has_nothing_for(text: Path, tmp_path: Path) -> None:
    import spacy

    blank = spacy.blank("en")
    blank.to_disk(tmp_path / "blank")
    run = annotate_texts(
        str(tmp_path / "blank"),
        Texts(str(text)),
        tmp_path / "out",
        AnnotateSettings("props"),
        Workers(),
    )
    with pytest.raises(ValueError, match=r"props needs frames, which no component writes"):
        next(run)
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("loaded")
def test_a_text_in_another_language_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    german = "Der Ausschuss hat den Bericht nicht veröffentlicht."
    for texts, said in (
        (LINES, []),
        ([*LINES, german, *LINES, german], ["text.txt:7: the text looks like German, not English"]),
    ):
        path = tmp_path / "text.txt"
        path.write_text("\n".join(texts))
        caplog.clear()
        with caplog.at_level(logging.WARNING, logger="spacy"):
            run = annotate_texts("toy", Texts(str(path)), tmp_path / texts[-1], SMALL, Workers())
            assert len(list(run)) > 3
        assert [record.getMessage().partition(". ")[0] for record in caplog.records] == said


@pytest.mark.parametrize(("processes", "told"), [(1, False), (4, False), (5, True)])
def test_processes_without_a_file_to_write(
    processes: int,
    told: bool,
    nlp: Language,
    text: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(runs, "load", lambda *_: nlp)
    monkeypatch.setattr(
        runs,
        "made_by",
        lambda workers, make, shards: (
            (shard, make_shard(nlp, shard, tmp_path / "out", SMALL)) for shard in shards
        ),
    )
    with caplog.at_level(logging.WARNING, logger="spacy"):
        run = annotate_texts(
            "toy",
            Texts(str(text)),
            tmp_path / "out",
            SMALL,
            Workers(processes),
        )
        assert len(list(run)) == 4
    said = [record.getMessage() for record in caplog.records]
    assert said == ["5 processes, but files to write: 4. A smaller --shard-chars makes more"] * told


def test_processes(
    folder: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same files; also when all is killed, with shards under way, and goes on."""
    here, there = tmp_path / "here", tmp_path / "there"
    fork, server = multiprocessing.get_context("fork"), fork_server()
    asked = []

    def context(method: str) -> ForkServerContext:
        asked.append(method)
        return server

    monkeypatch.setattr(multiprocessing, "get_context", context)
    forkserver.ensure_running()
    list(annotate_texts(str(folder), Texts(str(text)), here, SMALL, Workers(threads=1)))

    def go() -> list[runs.Done]:
        workers = Workers(2, threads=1)
        return list(annotate_texts(str(folder), Texts(str(text)), there, SMALL, workers))

    def go_with_the_same_server() -> None:
        # a fork can't ask whether its parent's child runs, and would start another server
        forkserver._forkserver.ensure_running = lambda: None
        go()

    process = fork.Process(target=go_with_the_same_server)
    process.start()
    log = there / "shards.jsonl"
    while process.is_alive() and not (log.exists() and b"\n" in log.read_bytes()):
        time.sleep(0.01)
    process.kill()
    process.join()
    done = go()
    assert any(one.there for one in done)
    assert asked == ["spawn"]
    assert sorted(one.counts["shard"] for one in done) == [0, 1, 2, 3]
    assert files(there) == files(here)


@pytest.mark.usefixtures("loaded")
@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_the_same_fields_in_all_lines(ending: str, tmp_path: Path) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in ("", " ", "Go home!")))
    list(
        annotate_texts(
            "toy", Texts(str(path)), tmp_path / "out", AnnotateSettings(ending), Workers()
        )
    )
    fields = [
        {name for name, value in record.items() if value is not None}
        for record in _records(tmp_path / f"out/part-00000.{ending}")
    ]
    assert fields[0] == fields[1] == fields[2] > {"id", "tags", "heads", "constituents", "frames"}
