"""Damaged files of every format: one line that names the file, or a sound output; never both.

A short form of `python benchmarks/robustness.py formats`.
"""

from __future__ import annotations

import os
import random
import zlib
from pathlib import Path

import pytest
import srsly
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_lal.formats.docbins import read_spacy
from spacy_lal.formats.files import FormatError, whole_file

from .formats import (
    CONLL05,
    CONLLU,
    GOLD_CONLL,
    INPUTS,
    M2,
    PACKED,
    archive_of_skeletons,
    attempt,
    fuzz,
)

TRIES = 20


@pytest.mark.parametrize("name", INPUTS)
def test_damaged(name: str, tmp_path: Path) -> None:
    assert attempt(name, INPUTS[name].data, tmp_path / "sound") == ""
    rng = random.Random(name)
    for _ in range(TRIES):
        fuzz(name, rng, tmp_path / "damaged")


LONG = "9" * 5000
FOUND = {
    "a head of thousands of digits": (
        "conllu",
        CONLLU.replace("\t3\taux", f"\t{LONG}\taux"),
        ":5:",
    ),
    "a range of thousands of digits": ("conllu", CONLLU.replace("1-2", f"1-{LONG}"), ":4:"),
    "an annotator of thousands of digits": ("m2", M2.replace("-NONE-|||0", f"x|||{LONG}"), ":2:"),
    "a place of thousands of digits": ("m2", M2.replace("A 3 3", f"A 3 {LONG}"), ":3:"),
    "a sentence of thousands of digits": (
        "gold-conll",
        GOLD_CONLL.replace("a 0", f"a {LONG}"),
        ":1:",
    ),
    "limits of thousands of digits": ("documents", f"weblog-a 0 {LONG}", ":1:"),
    "lists within lists": ("json", "[" * 100_000, ":1: Invalid JSON: recursion limit"),
    "half a character pair in a type": (
        "json",
        '{"text": "Go", "edits": [[0, [[0, 2, "x", "\\ud800"]]]]}',
        ":1: Invalid JSON",
    ),
    "half a character pair in an error model": (
        "error model",
        INPUTS["error model"].data.decode().replace('"ate"', '"\\ud800"'),
        "Invalid JSON",
    ),
    "a weight of hundreds of digits": (
        "error model",
        INPUTS["error model"].data.decode().replace("0.", "9" * 400 + "0.", 1),
        "",
    ),
    "an archive cut off": ("ewt, archive", INPUTS["ewt, archive"].data[:-30], "not a whole tar"),
    "an archive with a link to elsewhere": (
        "ewt, archive",
        archive_of_skeletons("/etc/hostname"),
        "not a whole tar",
    ),
    "an empty archive": ("ewt, archive", b"", "not a whole tar"),
}


@pytest.mark.parametrize("what", FOUND)
def test_what_was_found(what: str, tmp_path: Path) -> None:
    name, data, said = FOUND[what]
    text = attempt(name, data if isinstance(data, bytes) else data.encode(), tmp_path / "x")
    assert text
    assert said in text


@pytest.mark.parametrize("packed", PACKED)
def test_compressed_files_cut_off(packed: str, tmp_path: Path) -> None:
    data = PACKED[packed](CONLL05.encode())
    assert attempt("conll05", data, tmp_path / "x", packed) == ""
    for end in (0, 1, len(data) // 2, len(data) - 1):
        said = attempt("conll05", data[:end], tmp_path / "x", packed)
        assert "damaged" in said or "no sentences" in said


def test_spans_outside_of_their_doc(tmp_path: Path) -> None:
    """A well-formed file that somebody made: spaCy finds it when a span is looked at."""
    long, short = (Doc(Vocab(), words=["She", "ate", "it"][:n]) for n in (3, 1))
    long.spans["srl"] = [long[1:3]]
    data = srsly.msgpack_loads(zlib.decompress(DocBin(docs=[long]).to_bytes()))
    other = srsly.msgpack_loads(zlib.decompress(DocBin(docs=[short]).to_bytes()))
    data |= {key: other[key] for key in ("tokens", "spaces", "lengths", "strings")}
    path = tmp_path / "a.spacy"
    path.write_bytes(zlib.compress(srsly.msgpack_dumps(data)))
    with pytest.raises(ValueError, match=r"can't read .*a\.spacy as a \.spacy file: "):
        list(read_spacy(path, Vocab()))


def test_whole_files(tmp_path: Path) -> None:
    """Links stay links, and what is no file is written as it is."""
    real, link, pipe = (tmp_path / name for name in ("real", "link", "pipe"))
    link.symlink_to(real)
    with whole_file(link) as unfinished:
        assert unfinished.parent == tmp_path
        unfinished.write_text("x")
        assert not real.exists()
    assert link.is_symlink()
    assert real.read_text() == "x"
    os.mkfifo(pipe)
    with whole_file(pipe) as unfinished:
        assert unfinished == pipe

    def fails() -> None:
        with whole_file(real) as unfinished:
            unfinished.write_text("y")
            raise FormatError("no", source="x", line=1)

    with pytest.raises(FormatError):
        fails()
    assert real.read_text() == "x"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe", "real"]
