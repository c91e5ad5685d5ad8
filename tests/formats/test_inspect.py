"""`spacy lal inspect`: what files hold, before they are converted."""

import json
import lzma

import spacy
from spacy.tokens import Doc
from typer.testing import CliRunner

from spacy_lal.annotate.records import doc_record
from spacy_lal.annotations import FrameSpans, set_constituents, set_frames
from spacy_lal.cli import app
from spacy_lal.cli.inspect import unary_chains
from spacy_lal.formats.docbins import write_spacy

from .test_brackets import OLD


def inspected(*arguments):
    """The rows that are printed, the odd ones as a list."""
    result = CliRunner().invoke(app, ["inspect", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    rows = [line.split(maxsplit=1) for line in result.stdout.splitlines()]
    odd = [value for name, value in rows if name == "odd"]
    rows.reverse()  # of the longest sentences, the first
    return {name: value for name, value in rows if name != "odd"}, odd


def refused(*arguments):
    result = CliRunner().invoke(app, ["inspect", *map(str, arguments)])
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_trees(tmp_path):
    path = tmp_path / "tea.mrg.xz"
    text = "( (S (NP-SBJ-1 (NN tea)) (VP (VBZ is) (ADJP-PRD (JJ hot)))) )\n"
    text += "(TOP (NP (NP (NN tea)) (NP (-NONE- *-1))))\n"
    path.write_bytes(lzma.compress(text.encode()))
    rows, odd = inspected(path)
    assert rows == {
        "sentences": "2",
        "words": "4",
        "longest": f"3 words: {path}: tree 1: tea is hot",
        "roots": "(no label) 1, TOP 1",
        "phrases": "NP 3, S 1, VP 1, ADJP 1",
        "chains": "NP+NP 1",
        "tags": "NN 2, VBZ 1, JJ 1",
        "functions": "SBJ 1, PRD 1",
    }
    assert odd == [f"1 × trace: {path}: tree 2 *-1"]
    assert inspected(path, "--format", "ptb") == (rows, odd)


def test_what_is_odd(tmp_path):
    path = tmp_path / "old.psd"
    old = OLD.replace(", (with", ", with")
    path.write_text(old + "(S (NP (PRP (They))) (VP ( said)) ((. .))\n")
    rows, odd = inspected(path)
    assert rows["roots"].startswith("(no label) 3")
    found = "\n".join(odd)
    for said in (
        f"× … stands outside any bracket: {path}:1:1 '*x*x*x*' stands outside any bracket",
        f"2 × neither words nor phrases in …: {path}:1:19 neither words nor phrases in (C)",
        f"1 × this bracket is never closed: {path}:10:1 this bracket",
        f"1 × trace with another tag: see --traces: {path}: tree 3 *T*-1",
        f"6 × node that may be no text: see --drop: {path}: tree 2 METADATA",
        f"2 × root with several children: {path}: tree 3",
        "× second word … in one bracket: ",
    ):
        assert said in found
    path.write_text("( (S ( tea) ((NN x))))")
    assert inspected(path)[1] == [
        f"1 × word without a tag: {path}: tree 1 tea",
        f"1 × phrase without a label: {path}: tree 1",
    ]


def test_other_formats(tmp_path):
    rest = "_\t_\t{}\t{}\t_\t_\n"
    row = "{}\t{}\t_\tX\tNN\t" + rest.replace("_\t_\t", "_\t", 1)
    path = tmp_path / "tea.conllu"
    bad = row.format(1, "a", 0, "root") + row.format(2, "b", 0, "root")
    path.write_text(row.format(1, "tea", 2, "obj") + row.format(2, "up", 0, "root") + "\n" + bad)
    rows, odd = inspected(path)
    assert rows == {
        "sentences": "2",
        "words": "4",
        "longest": f"2 words: {path}: sentence 1: tea up",
        "roots": "root 1",
        "tags": "NN 4",
        "pos": "X 4",
        "relations": "obj 1, root 1",
    }
    assert odd == [f"1 × without heads: 2 roots in the dependency tree: {path}:4"]
    path.write_text("1\ttea up\n")
    assert f"{path}:1: expected 10 columns, found 2" in refused(path)

    path = tmp_path / "tea.m2"
    path.write_text("S I like tea\nA 3 3|||M:PUNCT|||.|||REQUIRED|||-NONE-|||0\n")
    rows, odd = inspected(path)
    assert rows["words"] == "3"
    assert odd == [f"1 × errors at the end of a sentence, marked on no word: {path}"]

    path = tmp_path / "tea.txt"
    path.write_text("I PRP (S* - (A0*)\nlike VBP *) like (V*)\n")
    rows, _ = inspected(path, "--format", "conll05")
    assert (rows["roles"], rows["phrases"]) == ("A0 1, V 1", "S 1")


def parsed():
    """Two sentences; in the first, "it" depends on "hearing" across the root."""
    words = ["A", "hearing", "is", "today", "\n", "about", "it", "Go", "on"]
    doc = Doc(
        spacy.blank("en").vocab,
        words=words,
        tags=["DT", "NN", "VBZ", "NN", "_SP", "IN", "PRP", "VB", "RP"],
        heads=[1, 3, 3, 3, 3, 6, 1, 7, 7],
        deps=["det", "nsubj", "cop", "ROOT", "dep", "case", "nmod", "ROOT", "compound:prt"],
        ents=["O", "O", "O", "B-DATE", "O", "O", "O", "O", "O"],
    )
    spans = [(0, 7, "S"), (0, 2, "NP"), (2, 7, "VP"), (7, 9, "S"), (7, 9, "VP"), (8, 9, "PRT")]
    set_constituents(doc, spans, unparsed=[(0, 7)])
    set_frames(doc, [FrameSpans(1, "hear.01", [(1, 2, "V"), (5, 7, "ARG1")])])
    return doc


def test_parsed_corpora(tmp_path):
    """Docs and records; sentences without words don't count, nor whitespace."""
    doc = parsed()
    write_spacy([doc, spacy.blank("en")(" ")], tmp_path / "a.spacy")
    record = doc_record({"id": 7, "text": doc.text, "offset": 0}, doc)
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n\n")
    for name in ("a.spacy", "a.jsonl"):
        path = tmp_path / name
        rows, odd = inspected(path, "--json", tmp_path / "a.json")
        assert rows == {
            "sentences": "2",
            "words": "8",
            "longest": f"6 words: {path}: Doc 1, sentence 1: A hearing is today about it",
            "roots": "ROOT 2",
            "phrases": "S 2, VP 2, NP 1, PRT 1",
            "chains": "S+VP 1",
            "tags": "NN 2, DT 1, VBZ 1, IN 1, PRP 1, VB 1, RP 1",
            "relations": "ROOT 2, det 1, nsubj 1, cop 1, case 1, nmod 1, compound:prt 1",
            "roles": "V 1, ARG1 1",
            "entities": "DATE 1",
            "crossing": f"heads in 1 sentences, first in {path}: Doc 1, sentence 1",
        }
        assert odd == [f"1 × sentence that wasn't parsed: {path}: Doc 1"]
        report = json.loads((tmp_path / "a.json").read_text())
        assert report["labels"]["phrases"] == {"S": 2, "VP": 2, "NP": 1, "PRT": 1}
        assert [one["words"] for one in report["longest"]] == [6, 2]
        assert report["crossing heads"]["sentences"] == 1
        assert report["odd"]["sentence that wasn't parsed"]["count"] == 1
    (tmp_path / "a.jsonl").write_text('{"text": "Go"}\n')
    assert "a.jsonl:1: a record: words: Field required" in refused(tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").write_text('{"text": "Go", "words": ["Go"]}\n')
    assert "a.jsonl:1: a record without 'starts'" in refused(tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").write_text("7\n")
    assert "a.jsonl:1: no JSON object" in refused(tmp_path / "a.jsonl")


def test_chains():
    spans = [(0, 3, "S"), (0, 3, "S"), (0, 3, "VP"), (0, 1, "NP"), (1, 3, "PP"), (2, 3, "NP")]
    assert unary_chains(spans) == ["S+S+VP"]
    assert unary_chains([(0, 1, "S"), (0, 1, "NP"), (1, 2, "S"), (1, 2, "VP")]) == ["S+NP", "S+VP"]
    assert unary_chains([]) == unary_chains([(0, 1, "S")]) == []


def test_bad_input(tmp_path):
    path = tmp_path / "empty.mrg"
    path.write_text("\n")
    assert f"no sentences in {path}" in refused(path)
    assert "--format 'html': it must be one of brackets, " in refused(path, "--format", "html")
    path.write_bytes("(S (NN thé))".encode("latin-1"))
    assert f"{path}:1: not utf-8-sig" in refused(path)
    assert inspected(path, "--encoding", "latin-1")[0]["tags"] == "NN 1"
    assert "No such file" in refused(tmp_path / "none.mrg")
