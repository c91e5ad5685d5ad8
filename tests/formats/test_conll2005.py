"""CoNLL-2005 in both of its layouts, with invented sentences."""

import gzip
import json

import pytest
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from typer.testing import CliRunner

from spacy_lal.annotations import FrameSpans, sentence_trees
from spacy_lal.cli import app
from spacy_lal.cli.convert import command
from spacy_lal.formats.conll import Conll2005
from spacy_lal.formats.files import FormatError
from spacy_lal.formats.props import Props
from spacy_lal.formats.treebank_format import Losses

WORDS = "The\ncook\nthat\nleft\ngave\nit\nup\n-LRB-\n\nTea\n.\n\n"
SYNT = """\
DT    (S1(S(NP-SBJ-1(NP*
NN          *)
WDT         (SBAR(WHNP-2*)
VBD         (S(VP*))))
VBD         (VP*
PRP         (NP*)
RP          (PRT*))
-LRB-       *))

NN    (NP*)
.     (X*)
"""
SENSES = "-\n-\n-\n01\n08\n-\n-\n-\n\n-\n-\n"
NE = "*\n(PER*)\n*\n*\n*\n*\n*\n*\n\n*\n*\n"
PROPS = """\
-      (A0*     (A0*
-      *)       *
-      (R-A0*)  *
leave  (V*)     *)
give   *        (V*)
-      *        (A1*)
-      *        (C-V*)
-      *        *

-
-

"""
CONSTITUENTS = [
    (0, 8, "S"),
    (0, 4, "NP"),
    (0, 2, "NP"),
    (2, 4, "SBAR"),
    (2, 3, "WHNP"),
    (3, 4, "S"),
    (3, 4, "VP"),
    (4, 7, "VP"),
    (5, 6, "NP"),
    (6, 7, "PRT"),
]
FRAMES = [
    FrameSpans(3, "leave.01", [(0, 2, "A0"), (2, 3, "R-A0"), (3, 4, "V")]),
    FrameSpans(4, "give.08", [(0, 4, "A0"), (4, 5, "V"), (5, 6, "A1"), (6, 7, "C-V")]),
]


def paste(*kinds):
    """The same lines of several files side by side."""
    return "\n".join("\t".join(cells) for cells in zip(*(k.split("\n") for k in kinds)))  # noqa: B905


@pytest.fixture
def release(tmp_path):
    """A set's folder: words, gold and predicted parses, senses, named entities, props."""
    for kind, text, name in [
        ("words", WORDS, "train.02.words.gz"),
        ("synt", SYNT, "train.02.synt.wsj.gz"),
        ("synt.cha", SYNT.replace("X", "FRAG"), "train.02.synt.cha.gz"),
        ("senses", SENSES, "train.02.senses.gz"),
        ("ne", NE, "train.02.ne.gz"),
        ("props", PROPS, "train.02.props.gz"),
        ("props", PROPS, "train.021.props.gz"),
    ]:
        folder = tmp_path / "train" / kind
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(gzip.compress(text.encode()))
    return tmp_path / "train"


def read(path, **options):
    losses = Losses()
    sentences = list(Conll2005(**options).read(path, losses))
    assert not losses.left_out["frames left out"]
    return sentences


@pytest.fixture
def in_one(tmp_path):
    """Sentences of a text with all columns."""

    def reading(text):
        (tmp_path / "x").write_text(text)
        return read(tmp_path / "x")

    return reading


def check(sentences):
    first, second = sentences
    assert first.words == WORDS.split("\n\n")[0].split("\n")
    assert first.tags == ["DT", "NN", "WDT", "VBD", "VBD", "PRP", "RP", "-LRB-"]
    assert first.constituents == CONSTITUENTS
    assert first.frames == FRAMES
    assert second.words == ["Tea", "."]
    assert second.constituents == [(0, 1, "NP"), (1, 2, "X")]
    assert second.frames == []


def test_parallel_files(release):
    check(read(release, synt="synt"))
    _, second = read(release, synt="synt.cha")
    assert second.constituents == [(0, 1, "NP"), (1, 2, "FRAG")]
    first, _ = read(release)
    assert first.tags is None
    assert first.constituents is None
    assert first.frames == FRAMES


def test_all_in_one(tmp_path):
    path = tmp_path / "train-set.gz"
    path.write_bytes(gzip.compress(paste(WORDS, SYNT, NE, SENSES, PROPS).encode()))
    check(read(path))


@pytest.mark.parametrize("kinds", [(), (NE,), (NE, SENSES.replace("01", "-").replace("08", "-"))])
def test_without_senses_rolesets_are_lemmas(kinds, in_one):
    first, second = in_one(paste(WORDS, SYNT, *kinds, PROPS))
    assert [frame.roleset for frame in first.frames] == ["leave", "give"]
    assert [frame.spans for frame in first.frames] == [frame.spans for frame in FRAMES]
    assert second.frames == []


def test_escapes_stay_unless_they_are_undone(release):
    first, _ = read(release, ptb_escapes=True)
    assert first.words[-1] == "("


def test_asterisks_among_words(in_one):
    text = paste(WORDS.replace("The", "*"), SYNT, NE, SENSES, PROPS)
    first, _ = in_one(text)
    assert first.words[0] == "*"
    assert first.frames == FRAMES


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("VBD\t(S", "VBD (S x", "x:4: expected 6 columns and one for each of 2 predicates, found"),
        ("(C-V*)", "*)", "x:7: a role ends without a beginning"),
        ("(PRT*))", "PRT*))", r"x:7: bad phrase 'PRT\*\)\)'"),
    ],
)
def test_bad_rows_are_located(old, new, message, in_one):
    text = paste(WORDS, SYNT, NE, SENSES, PROPS).replace("VBD         ", "VBD\t")
    with pytest.raises(FormatError, match=message):
        in_one(text.replace(old, new))


def test_too_few_columns_are_located(in_one):
    with pytest.raises(FormatError, match="x:2: expected word, tag, parse bit and"):
        in_one("\nTea NN (NP*) *\n")
    with pytest.raises(
        FormatError, match="x:2: expected 4 columns and one for each of 0 predicates, f"
    ):
        in_one("Tea NN (NP*) -\n. .\n")


def rewrite(release, kind, change):
    (path,) = (release / kind).glob("train.02.*")
    path.write_bytes(gzip.compress(change(gzip.decompress(path.read_bytes()).decode()).encode()))
    return path


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("props", lambda t: t.replace("-\n-\n", "-\n-\n-\n"), "{}:10: 3 rows, but 2 in the same"),
        ("props", lambda t: t.replace("\n\n-\n-\n", "\n"), "this is sentence 2, and {} has only 1"),
        ("props", lambda t: t + "-\n", "{}:13: this is sentence 3, and .*words.gz has only 2"),
        ("props", lambda t: t.replace("(C-V*)", "C-V"), "train.02.*:7: bad role 'C-V'"),
        (
            "props",
            lambda t: t.replace("  (V*)\n", "\n"),
            ":5: expected 5 columns and one for",
        ),
        (
            "synt",
            lambda t: t.replace("(PRT*)", "(PRT* *)"),
            ":7: expected 5 columns and one",
        ),
        ("synt", lambda t: t.replace("(PRT*)", "(PRT*"), "train.02.*:8: phrase S1 never ends"),
        ("senses", lambda t: t.replace("\n\n", "\n"), "{}:1: 10 rows, but 8 in the same sentence"),
    ],
)
def test_files_that_are_not_parallel_are_located(release, kind, change, message):
    path = rewrite(release, kind, change)
    with pytest.raises(FormatError, match=message.format(path)):
        read(release, synt="synt")


def test_missing_files_are_named(release):
    with pytest.raises(FileNotFoundError, match=r"no files train.02.\* in .*synt.upc"):
        read(release, synt="synt.upc")
    (release / "props" / "train.02.props").write_text(PROPS)
    with pytest.raises(FileNotFoundError, match=r"2 files train.02.\* in .*props, expected one"):
        read(release)
    with pytest.raises(FileNotFoundError, match=r"no words/\*.words\[.gz\] in"):
        read(release / "words")


# The command


@pytest.fixture
def run():
    return lambda *arguments: CliRunner().invoke(app, ["convert", "conll05", *map(str, arguments)])


def test_convert(run, release, tmp_path):
    out, report = tmp_path / "train.spacy", tmp_path / "report.json"
    rewrite(release, "props", lambda text: text.replace("(V*)     *)", "*        *)"))
    result = run(release, out, "--synt", "synt", "--ptb-escapes", "--report", report)
    assert result.exit_code == 0, result.output
    first, second = DocBin().from_disk(out).get_docs(Vocab())
    assert first.text.strip() == "The cook that left gave it up ("
    assert str(*sentence_trees(second)) == "(TOP (NP (NN Tea)) (X (. .)))"
    # with one of its two frames the other's predicate would be taken for none
    assert "srl" not in first.spans
    assert json.loads(report.read_text())["train.spacy"] == {
        "sentences": 2,
        "words": 10,
        "constituents": 12,
        "predicates": 0,
        "dropped": [],
        "without heads": [],
        "frames left out": [[f"{release}/*/train.02.*:4", "0 spans labelled V"]],
    }
    assert "frames left out: 0 spans labelled V" in " ".join(result.output.split())


def test_bad_input_is_one_line_that_names_the_place(run, release, tmp_path):
    rewrite(release, "props", lambda text: text.replace("(C-V*)", "C-V"))
    result = run(release, tmp_path / "train.spacy")
    assert result.exit_code == 1
    assert f"convert: {release}/*/train.02.*:7: bad role 'C-V'" in result.output


def test_props_come_back_as_they_were(run, release, tmp_path):
    for path in ("senses/train.02.senses.gz", "props/train.021.props.gz"):
        (release / path).unlink()
    (release / "senses").rmdir()
    assert run(release, tmp_path / "train.spacy").exit_code == 0
    command(Props)(tmp_path / "train.spacy", tmp_path / "train.props")
    assert (tmp_path / "train.props").read_text() == PROPS


# Heads and tags of CoNLL-X files

STANFORD = """\
1 The _ DT DT _ 2 det
2 cook _ NN NN _ 5 nsubj
3 that _ WDT WP _ 4 nsubj
4 left _ VBD VBD _ 2 rcmod
5 gave _ VBD VBD _ 0 root
6 it _ PRP PRP _ 5 dobj
7 up _ RP RP _ 5 prt
8 -LRB- _ -LRB- -LRB- _ 5 punct

1 Tea _ NN NNP _ 0 root
2 . _ . . _ 1 punct

"""


@pytest.fixture
def stanford(tmp_path):
    rows = STANFORD.replace(" ", "\t")
    path = tmp_path / "train.conllx"
    path.write_text("".join(f"{row}\t_\t_\n" if row else "\n" for row in rows.splitlines()))
    return path


@pytest.mark.parametrize("escapes", [(), ("--ptb-escapes",)])
@pytest.mark.parametrize(
    ("take", "heads", "tag"),
    [("heads", True, "NN"), ("tags", False, "NNP"), ("both", True, "NNP")],
)
def test_heads_and_tags_of_conllx(run, release, stanford, tmp_path, escapes, take, heads, tag):
    """Head rules fill in for none of these heads."""
    out = tmp_path / "train.spacy"
    options = ["--synt", "synt", "--heads", "semantic", "--conllx", stanford, "--take", take]
    result = run(release, out, *options, *escapes)
    assert result.exit_code == 0, result.output
    first, second = DocBin().from_disk(out).get_docs(Vocab())
    rules = ["dep", "dep", "dep", "dep", "ROOT"]
    given = ["det", "nsubj", "nsubj", "rcmod", "ROOT"]
    assert [token.dep_ for token in first][:5] == (given if heads else rules)
    assert second[0].tag_ == tag
    assert "srl" in first.spans
    assert str(*sentence_trees(second)) == f"(TOP (NP ({tag} Tea)) (X (. .)))"


def test_conllx_in_a_folder_and_in_bad_order(run, release, stanford, tmp_path):
    first, second, _ = stanford.read_text().split("\n\n")
    (tmp_path / "x").mkdir()
    (tmp_path / "x/1.conllx").write_text(first + "\n")
    (tmp_path / "x/2.conllx").write_text(second + "\n")
    result = run(release, tmp_path / "train.spacy", "--conllx", tmp_path / "x")
    assert result.exit_code == 0, result.output
    (tmp_path / "x/1.conllx").rename(tmp_path / "x/3.conllx")
    result = run(release, tmp_path / "train.spacy", "--conllx", tmp_path / "x")
    assert f"{tmp_path}/x/2.conllx:1: sentence 1 is 'Tea .' here" in result.output
    result = run(release, tmp_path / "train.spacy", "--conllx", tmp_path / "y")
    assert f"no file or folder {tmp_path}/y of CoNLL-X rows" in result.output
