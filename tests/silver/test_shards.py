"""Text to files: what stays, what comes twice, and how it goes on after a kill."""

from __future__ import annotations

import gzip
from functools import partial
from pathlib import Path

import numpy
import pytest
import spacy
from spacy.language import Language
from typer.testing import CliRunner

from spacy_lal.annotate.texts import pieces
from spacy_lal.cli import app
from spacy_lal.formats.docbins import read_spacy
from spacy_lal.parsing.teacher_marginals import get_targets
from spacy_lal.silver import sure_sentences
from spacy_lal.silver.sure_sentences import BLOCK, Seen, SilverSettings, lines, write_shards

LINES = [
    "The cat sat on the mat. She ate the fish.",
    "the cat sat on the mat - she ate the fish",
    "She ate the fish. Go home!",
    "Dogs fight. Hello.",
    "",
]
ANY = SilverSettings({"trees": 0.0, "heads": 0.0, "roles": 0.0}, shortest=3, longest=8, parts=3)


def test_parts_of_a_text(tmp_path: Path) -> None:
    """Every line is in one part, and neighbours stay together."""
    path = tmp_path / "text.txt.gz"
    with gzip.open(path, "wt") as file:
        file.writelines(f"{number}\n" for number in range(4 * BLOCK + 5))
    parts = [list(lines(path, part, 3)) for part in range(3)]
    assert sorted(int(line) for part in parts for line in part) == list(range(4 * BLOCK + 5))
    assert parts[0] == [str(n) for n in (*range(BLOCK), *range(3 * BLOCK, 4 * BLOCK))]


def test_lines_that_are_no_text(
    teacher: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that isn't UTF-8 is left out, one longer than spaCy reads is cut, damage is named."""
    path = tmp_path / "text.txt.gz"
    path.write_bytes(gzip.compress(b"Dogs fight.\n\xff\n" + b"Go home! " * 12 + b"\n"))
    first, second, third = lines(path, 0, 1)
    assert (first, second) == ("Dogs fight.", None)
    assert third == " ".join(["Go home!"] * 12)
    monkeypatch.setattr(sure_sentences, "pieces", partial(pieces, max_chars=50))
    monkeypatch.setattr(teacher, "max_length", 50)
    settings = SilverSettings({"trees": 0.0}, parts=1)
    (counts,) = write_shards(teacher, path, tmp_path / "silver", settings)
    assert (counts["lines"], counts["lines_not_utf8"], counts["words"]) == (3, 1, 39)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"text\.txt\.gz: damaged, somewhere after line"):
        list(lines(path, 0, 1))


def test_another_pipeline_of_the_same_name(teacher: Language, text: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        teacher.get_pipe("lal_constituency").cfg["note"] = name
        teacher.to_disk(tmp_path / name)
    list(write_shards(spacy.load(tmp_path / "one"), text, tmp_path / "silver", ANY))
    with pytest.raises(ValueError, match="was made with pipeline"):
        next(write_shards(spacy.load(tmp_path / "two"), text, tmp_path / "silver", ANY))


def test_seen() -> None:
    seen = Seen()
    assert not seen.again("On 3 May, it rained.", "line")
    assert seen.again("on 7 may it RAINED", "line")
    assert not seen.again("On 3 May, it rained.", "sentence")
    assert not seen.again("On 31 May, it rained.", "line")
    assert not seen.again("वह आया", "line")  # he came
    assert not seen.again("वह आयी", "line")  # she came: another vowel sign, which is no letter
    assert not seen.again("re\u0301sume\u0301", "line")
    assert seen.again("Résumé!", "line")
    other = Seen()
    other.add(numpy.array(seen.new, dtype=numpy.uint64))
    assert other.again("On 12 May it rained", "line")


def test_lines_of_a_file_with_a_mark_of_its_encoding(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(b"\xef\xbb\xbfTea cools .\n")
    assert list(lines(path, 0, 1)) == ["Tea cools ."]
    path.write_bytes(b"\xef\xbb\xbf\n")
    assert list(lines(path, 0, 1)) == []


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    # three parts: these lines, blocks of others, and these again, which have nothing new
    filler = [f"Cats and dogs fight in the {'x' * k} ." for k in range(1, BLOCK + 1)]
    again = [*LINES, *[""] * (BLOCK - len(LINES))]
    path.write_text("\n".join([*again, *filler, *again]) + "\n")
    return path


def test_no_sentence_twice(teacher: Language, text: Path, tmp_path: Path) -> None:
    output = tmp_path / "silver"
    counts = list(write_shards(teacher, text, output, ANY))
    docs = [list(read_spacy(output / one["file"], teacher.vocab)) for one in counts]
    assert sorted(doc.text.strip() for doc in docs[0]) == [
        "Dogs fight.",
        "Go home!",
        "She ate the fish.",
        "The cat sat on the mat.",
    ]
    assert len(docs[1]) == BLOCK
    assert docs[2] == []
    assert counts[0]["lines_again"] == 1
    assert counts[2]["lines_again"] == 4
    assert counts[0]["kept_words"] == sum(map(len, docs[0]))


def test_goes_on(teacher: Language, text: Path, tmp_path: Path) -> None:
    """Killed after a file, or while it writes one, it makes what it makes in one go."""
    at_once, killed = tmp_path / "at_once", tmp_path / "killed"
    list(write_shards(teacher, text, at_once, ANY))
    next(write_shards(teacher, text, killed, ANY))
    (killed / "part-00001.unfinished").write_bytes(b"half")
    again = list(write_shards(teacher, text, killed, ANY))
    assert [one.get("there", False) for one in again] == [True, False, False]
    for path in sorted(at_once.glob("*.spacy")):
        ours, theirs = (
            [
                (d.text, d.to_array(["TAG", "HEAD", "DEP"]).tolist())
                for d in read_spacy(p, teacher.vocab)
            ]
            for p in (path, killed / path.name)
        )
        assert ours == theirs
    with pytest.raises(ValueError, match="longest 8, not 9"):
        next(write_shards(teacher, text, killed, SilverSettings(ANY.least, 3, 9, 3)))
    assert len(list(write_shards(teacher, text, killed, ANY, words=10))) == 1


def test_no_words_stay_in_memory(teacher: Language, text: Path, tmp_path: Path) -> None:
    before = len(teacher.vocab.strings)
    counts = list(write_shards(teacher, text, tmp_path / "silver", ANY))
    assert counts[1]["kept"] == BLOCK  # each sentence has a word of its own
    assert len(teacher.vocab.strings) == before


def test_only_what_it_is_sure_of(teacher: Language, text: Path, tmp_path: Path) -> None:
    settings = SilverSettings({"tags": 0.0, "trees": 0.0, "heads": 1.0}, parts=3)
    first = next(write_shards(teacher, text, tmp_path / "silver", settings))
    docs = list(read_spacy(tmp_path / "silver" / first["file"], teacher.vocab))
    assert docs
    for doc in docs:
        assert doc.has_annotation("TAG")
        assert "constituents" in doc.spans
        assert not doc.has_annotation("DEP")
        assert "srl" not in doc.spans
    none = SilverSettings({"tags": 0.0, "heads": 1.0}, parts=3)
    assert next(write_shards(teacher, text, tmp_path / "none", none))["kept"] == 0


def test_bad_settings(text: Path, tmp_path: Path) -> None:
    for options, message in (
        (["--tags", "0.9"], "give how sure the pipeline must be"),
        (["--trees", "0.9"], "nonsense"),
    ):
        command = ["silver", "nonsense", str(text), str(tmp_path / "out"), *options]
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 1
        assert message in result.output


def test_layers_that_nothing_finds(teacher: Language, tmp_path: Path) -> None:
    """They are named at once, and the folder stays free."""
    text = tmp_path / "text.txt"
    text.write_text("Dogs fight.\n")
    blank = spacy.blank("en")
    blank.add_pipe("sentencizer")
    with pytest.raises(ValueError, match=r"none of the components \['sentencizer'\] finds heads"):
        list(write_shards(blank, text, tmp_path / "silver", SilverSettings({"heads": 0.0})))
    assert list(write_shards(teacher, text, tmp_path / "silver", ANY))


def test_marginals(teacher: Language, tmp_path: Path) -> None:
    """Sentences of whose trees the teacher is sure enough have them; a pipeline without a joint
    parser is refused."""
    text = tmp_path / "text.txt"
    text.write_text("The cat sat on the mat. She ate the fish.\n")
    settings = SilverSettings({}, parts=1, marginals=0.0)
    (counts,) = write_shards(teacher, text, tmp_path / "out", settings)
    docs = list(read_spacy(tmp_path / "out" / counts["file"], teacher.vocab))
    assert len(docs) == 2
    assert all(get_targets(doc) is not None for doc in docs)
    blank = spacy.blank("en")
    blank.add_pipe("sentencizer")
    with pytest.raises(ValueError, match="finds trees and heads together"):
        list(write_shards(blank, text, tmp_path / "none", settings))
