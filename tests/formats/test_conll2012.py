"""OntoNotes' column files, with invented sentences."""

import json

import pytest
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from typer.testing import CliRunner

from spacy_lal.annotations import FrameSpans, get_frames, sentence_trees
from spacy_lal.cli import app
from spacy_lal.formats.conll import Conll2012, ontonotes_unescape
from spacy_lal.formats.files import FormatError
from spacy_lal.formats.treebank_format import Losses

TEXT = """\
#begin document (wb/x_1); part 000
wb/x_1  0  0  Ann     NNP    (TOP(S(NP*)  -     -   -  Ann  (PERSON)  (ARG0*)  (ARG0*)      (3)
wb/x_1  0  1  will    MD     (VP*         -     -   -  Ann  *         *        (ARGM-MOD*)  -
wb/x_1  0  2  keep    VB     (VP*         keep  02  1  Ann  *         (V*)     *            -
wb/x_1  0  3  giving  VBG    (S(VP*       give  01  4  Ann  *         (ARG1*   (V*)         -
wb/x_1  0  4  tea     NN     (NP*)        tea   -   2  Ann  *         *        (ARG1*)      (5
wb/x_1  0  5  -LRB-   -LRB-  *)))         -     -   -  Ann  *         *)       *            5)
wb/x_1  0  6  /.      .      *)))         -     -   -  Ann  *         *        *            -

wb/x_1  0  0  #  NN  (TOP(NP*))  -  -  -  -  *  -

#end document
#begin document (wb/x_1); part 001
wb/x_1  1  0  Go  VB  (TOP(S*  go  01  -  -  *  (V*  -
wb/x_1  1  1  on  RP  *))      -   -   -  -  *  *)   -

#end document
"""


def parse(text, **options):
    losses = Losses()
    sentences = list(Conll2012(**options).parse(text, "x", losses))
    assert not losses.left_out["frames left out"]
    return sentences


def test_parse():
    first, second, third = parse(TEXT)
    assert first.words == ["Ann", "will", "keep", "giving", "tea", "-LRB-", "/."]
    assert first.tags == ["NNP", "MD", "VB", "VBG", "NN", "-LRB-", "."]
    assert first.constituents == [
        (0, 7, "S"),
        (0, 1, "NP"),
        (1, 7, "VP"),
        (2, 6, "VP"),
        (3, 6, "S"),
        (3, 6, "VP"),
        (4, 5, "NP"),
    ]
    assert first.frames == [
        FrameSpans(2, "keep.02", [(0, 1, "ARG0"), (2, 3, "V"), (3, 6, "ARG1")]),
        FrameSpans(3, "give.01", [(0, 1, "ARG0"), (1, 2, "ARGM-MOD"), (3, 4, "V"), (4, 5, "ARG1")]),
    ]
    assert second.words == ["#"]
    assert second.frames == []
    assert third.frames == [FrameSpans(0, "go.01", [(0, 2, "V")])]
    assert [s.id for s in (first, second, third)] == [
        "wb/x_1.0.0",
        "wb/x_1.0.1",
        "wb/x_1.1.0",
    ]


def test_escapes_are_undone_on_request():
    first, *_ = parse(TEXT, ptb_escapes=True)
    assert first.words[-2:] == ["(", "."]
    assert list(map(ontonotes_unescape, ["/?", "``", "/", "a\\/b", "/.a"])) == [
        "?",
        '"',
        "/",
        "a/b",
        "/.a",
    ]


def test_a_missing_parse_is_not_annotated():
    parsed, bare, _ = parse(TEXT.replace("(TOP(NP*))", "-"))
    assert parsed.constituents
    assert bare.constituents is None
    assert bare.frames == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "tea   -   2",
            "tea   01  2",
            "x:2: expected 12 columns and one for each of 3 predicates",
        ),
        ("(PERSON)", "", "x:2: expected 12 columns and one for each of 2 predicates, found 13"),
        (
            "go  01",
            "go  -",
            "x:14: expected 12 columns and one for each of 0 predicates, found 13",
        ),
        ("0  2  keep", "0  3  keep", "x:4: expected word 2, found '3'"),
        ("(ARGM-MOD*)", "ARGM-MOD*)", r"x:3: bad role 'ARGM-MOD\*\)'"),
        ("(NP*))", "(NP*)))", "x:10: a phrase ends without a beginning"),
    ],
)
def test_bad_rows_are_located(old, new, message):
    assert old in TEXT
    with pytest.raises(FormatError, match=message):
        parse(TEXT.replace(old, new))


def test_convert(tmp_path):
    folder = tmp_path / "data" / "wb"
    folder.mkdir(parents=True)
    (folder / "x_0002.v4_gold_conll").write_text(TEXT.replace("(V*  -", "(A*  -"))
    (folder / "x_0001.gold_conll").write_text(TEXT)
    (folder / "x_0001.v4_auto_conll").write_text("something else")
    out, report = tmp_path / "wb.spacy", tmp_path / "report.json"

    def run(*options):
        command = ["convert", "conll12", str(tmp_path / "data"), str(out), *options]
        return CliRunner().invoke(app, command)

    result = run("--report", str(report), "--ptb-escapes")
    assert result.exit_code == 0, result.output
    docs = list(DocBin().from_disk(out).get_docs(Vocab()))
    assert len(docs) == 6
    assert docs[0].text.strip() == "Ann will keep giving tea ( ."
    assert [frame.roleset for frame in get_frames(docs[0])] == ["keep.02", "give.01"]
    assert str(*sentence_trees(docs[2])) == "(TOP (S (VB Go) (RP on)))"
    assert docs[2].user_data["sent_id"] == "wb/x_1.1.0"
    counts = json.loads(report.read_text())["wb.spacy"]
    assert counts["sentences"] == 6
    assert counts["predicates"] == 5
    place = f"{folder / 'x_0002.v4_gold_conll'}:14"
    assert counts["frames left out"] == [[place, "0 spans labelled V"]]
    result = run("--pattern", "*auto_conll")
    assert result.exit_code == 1
    assert f"convert: {folder / 'x_0001.v4_auto_conll'}:1: expected 12 columns" in result.output


def test_read(tmp_path):
    path = tmp_path / "x.gold_conll"
    path.write_bytes(TEXT.replace("\n", "\r\n").encode())
    assert len(list(Conll2012().read(path, Losses()))) == 3


def test_heads_of_conllx(tmp_path):
    """Also of a file whose words have the escapes of OntoNotes."""
    words = [sentence.words for sentence in parse(TEXT)]
    text = "".join(
        "".join(
            "\t".join([f"{i}", word, "_", "X", "X", "_", f"{i - 1}", "dobj", "_", "_"]) + "\n"
            for i, word in enumerate(sentence, start=1)
        )
        + "\n"
        for sentence in words
    )
    (tmp_path / "a.conllx").write_text(text)
    (tmp_path / "x_gold_conll").write_text(TEXT)
    options = ["--conllx", tmp_path / "a.conllx", "--ptb-escapes", "--heads", "semantic"]
    command = ["convert", "conll12", tmp_path / "x_gold_conll", tmp_path / "out.spacy", *options]
    result = CliRunner().invoke(app, [*map(str, command)])
    assert result.exit_code == 0, result.output
    first, *_ = DocBin().from_disk(tmp_path / "out.spacy").get_docs(Vocab())
    assert [token.head.i for token in first] == [0, 0, 1, 2, 3, 4, 5]
    assert [token.dep_ for token in first] == ["ROOT", *["dobj"] * 6]
    assert first[5].text == "("
    assert first[6].tag_ == "."
    (tmp_path / "a.conllx").write_text(text.replace("tea", "tee"))
    result = CliRunner().invoke(app, [*map(str, command)])
    assert f"{tmp_path}/a.conllx:1: sentence 1 is 'Ann will keep giving tee" in result.output
