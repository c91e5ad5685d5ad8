"""benepar's checkpoints: the trees, tags and label scores that benepar's own code recorded."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
import torch
from spacy.lang.en import English
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from thinc.api import Adam

from spacy_lal.annotations.constituents import get_constituents
from spacy_lal.interpret import explain
from spacy_lal.published.benepar_checkpoints import MODEL, read_benepar
from spacy_lal.published.imported import write_imported
from spacy_lal.published.reading import Text, guessed_spaces, unescaped
from spacy_lal.structure.chart import unpack

CHECKPOINTS = Path(__file__).parent.parent / "fixtures" / "benepar"
NAMES = ("bert", "electra", "xlmr", "t5", "plain", "chars")


def source(name: str) -> Path:
    return next((CHECKPOINTS / name).glob("*.pt"), CHECKPOINTS / name)


@cache
def imported(name: str) -> Language:
    return read_benepar(source(name))


def write(name: str, output: Path, licence: str | None = None) -> None:
    path = source(name)
    weights = path / MODEL if path.is_dir() else path
    write_imported(imported(name), "benepar", weights, output, licence)


@cache
def expected(name: str) -> list[dict[str, Any]]:
    return json.loads((CHECKPOINTS / name / "expected.json").read_text("utf-8"))


def doc_of(nlp: Language, entry: dict[str, Any]) -> Doc:
    starts = [True] + [False] * (len(entry["words"]) - 1)
    return Doc(nlp.vocab, entry["words"], entry["spaces"], sent_starts=starts)


def docs_of(nlp: Language, name: str) -> list[Doc]:
    return [doc_of(nlp, entry) for entry in expected(name)]


def trees(docs: list[Doc]) -> list[list[tuple[int, int, str]]]:
    return [get_constituents(doc) for doc in docs]


def recorded(entry: dict[str, Any]) -> list[tuple[int, int, str]]:
    return [(s, e, label) for s, e, labels, *_ in entry["constituents"] for label in labels]


@pytest.mark.parametrize("name", NAMES)
def test_trees_tags_and_scores_are_benepars(name: str) -> None:
    nlp = imported(name)
    docs = docs_of(nlp, name)
    scores = nlp.get_pipe("lal_constituency").model.predict(docs)
    arrays = numpy.load(CHECKPOINTS / name / "expected.npz")
    compared = 0
    for batch in scores.batches:
        n = batch.scores.tags.shape[1]
        for square, member in zip(unpack(batch.scores.labels, n), batch.members, strict=True):
            if str(member) in arrays:
                theirs = torch.from_numpy(arrays[str(member)])
                size = len(theirs)
                spans = torch.ones(size, size, dtype=torch.bool).triu()
                ours = square[:size, 1 : size + 1]
                torch.testing.assert_close(ours[spans], theirs[spans], rtol=0, atol=1e-4)
                compared += 1
    assert compared == len(arrays.files) >= 9
    for doc, entry in zip(nlp.pipe(docs), expected(name), strict=True):
        if "error" not in entry:
            assert get_constituents(doc) == recorded(entry)
            assert [token.tag_ for token in doc] == entry["tags"]
            assert doc._.trees[0].log_prob is None


@pytest.mark.parametrize("name", ["bert", "xlmr", "t5"])
def test_what_benepar_refuses_as_too_long_is_read_in_windows(name: str) -> None:
    refused = [entry for entry in expected(name) if "error" in entry]
    assert refused
    nlp = imported(name)
    for doc in nlp.pipe([doc_of(nlp, entry) for entry in refused]):
        assert doc._.trees[0].parsed
        assert [token.tag_ for token in doc if token.tag_] != []


def test_every_word_of_a_long_sentence_is_in_one_window() -> None:
    reader = imported("bert").get_pipe("lal_constituency").model.shims[0].reader
    (text,) = reader.read([Text(["a"] * 300, [True] * 300)])
    batch = reader.batch([text], torch.device("cpu"))
    assert batch["pieces"].shape[1] == 64
    assert (batch["mask"].sum(1) <= 64).all()
    # [CLS], every word once and in order, [SEP]
    rows = batch["states"][0, batch["starts"][0]]
    flat = batch["pieces"].flatten()
    assert flat[rows].tolist() == [2, *([flat[rows[1]].item()] * 300), 3]
    assert (rows.diff() > 0).all()


def test_escaped_words_are_read_as_benepar_reads_them() -> None:
    for row in json.loads((CHECKPOINTS / "escaped.json").read_text("utf-8")):
        assert unescaped(row["escaped"]) == row["words"]
        assert guessed_spaces(row["escaped"]) == row["spaces"]


def test_escaped_and_raw_text_have_the_same_tree() -> None:
    raw = imported("bert")
    escaped = read_benepar(source("bert"), escaped=True)
    words, spaces = ["(", "so", "he", "said", ")"], [False, True, True, False, False]
    marked = Doc(escaped.vocab, ["-LRB-", *words[1:4], "-RRB-"])
    # the guess has a space behind the last word
    plain = Doc(raw.vocab, words, [*spaces[:4], True])
    assert get_constituents(escaped(marked)) == get_constituents(raw(plain))


@pytest.mark.parametrize("name", ["bert", "t5", "chars"])
def test_the_same_trees_after_storage_in_processes_and_threads(name: str, tmp_path: Path) -> None:
    nlp = imported(name)
    docs = docs_of(nlp, name)
    wanted = trees(list(nlp.pipe(docs)))
    assert any(wanted)
    write(name, tmp_path / "out", "MIT")
    loaded = spacy.load(tmp_path / "out")
    assert trees([loaded(doc) for doc in docs_of(loaded, name)]) == wanted
    again = English.from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert trees(list(again.pipe(docs_of(again, name)))) == wanted
    with ThreadPoolExecutor(4) as threads:
        assert trees(list(threads.map(loaded, docs_of(loaded, name)))) == wanted
    if name == "bert":
        given = docs_of(loaded, name)
        assert trees(list(loaded.pipe(given, n_process=2, batch_size=3))) == wanted


def test_what_is_written_says_where_it_comes_from(tmp_path: Path) -> None:
    write("chars", tmp_path / "out", "Apache-2.0")
    meta = json.loads((tmp_path / "out" / "meta.json").read_text("utf-8"))
    assert meta["license"] == "Apache-2.0"
    assert meta["imported"]["source"] == "chars_dev=91.25.pt"
    assert len(meta["imported"]["sha256"]) == 64
    assert not list(tmp_path.glob("**/*.pkl"))
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_package_of_it_asks_for_what_it_needs(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from spacy_lal.cli import app

    write("bert", tmp_path / "out")
    arguments = ["package", str(tmp_path / "out"), str(tmp_path / "packages"), "--name", "it"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    meta = json.loads((tmp_path / "packages" / "en_it" / "meta.json").read_text("utf-8"))
    wanted = {requirement.split(">")[0] for requirement in meta["requirements"]}
    assert wanted == {"tokenizers", "spacy-lal"}
    assert meta["imported"]["kind"] == "benepar"


def test_what_it_has_not_is_said() -> None:
    nlp = imported("bert")
    doc = nlp("the river")
    with pytest.raises(ValueError, match="this parser has no label attention"):
        explain(nlp, doc)
    with pytest.raises(ValueError, match="margin"):
        nlp.get_pipe("lal_constituency").kbest(doc, 2)


def test_whitespace_and_empty_docs_are_no_trouble() -> None:
    nlp = imported("bert")
    assert get_constituents(nlp(" ")) == []
    assert get_constituents(nlp("")) == []
    tree = nlp("the  river \n in")._.trees[0]
    assert tree.leaves == ["the", "river", "in"]


def test_it_learns_on() -> None:
    # the encoder's own dropout
    torch.manual_seed(0)
    nlp = read_benepar(source("bert"))
    doc = nlp("The river .")
    gold = doc.copy()
    gold.spans["constituents"] = [
        Span(gold, 0, 3, "S"),
        Span(gold, 0, 2, "NP"),
    ]
    optimizer = Adam(0.01)
    examples = [Example(nlp.make_doc("The river ."), gold)]
    losses = [nlp.update(examples, sgd=optimizer)["lal_constituency"] for _ in range(30)]
    assert min(losses[-3:]) < losses[0] / 2


def copied(name: str, to: Path) -> Path:
    return Path(shutil.copytree(CHECKPOINTS / name, to))


def test_a_tokenizer_is_made_of_older_files(tmp_path: Path) -> None:
    folder = copied("bert", tmp_path / "old")
    (folder / "tokenizer.json").unlink()
    nlp = read_benepar(folder)
    wanted = trees(list(imported("bert").pipe(docs_of(nlp, "bert"))))
    assert trees(list(nlp.pipe(docs_of(nlp, "bert")))) == wanted


def _cut(folder: Path) -> None:
    path = folder / MODEL
    path.write_bytes(path.read_bytes()[:2000])


def _other_encoder(folder: Path) -> None:
    _change(folder, lambda config: config.update(model_type="xlnet"))


def _no_tokenizer(folder: Path) -> None:
    for name in ("tokenizer.json", "vocab.txt"):
        (folder / name).unlink()


def _other_labels(folder: Path) -> None:
    _change(folder, lambda config: config["benepar"]["label_vocab"].update(NEW=8))


def _other_words(folder: Path) -> None:
    _change(folder, lambda config: config.update(vocab_size=7))


def _other_width(folder: Path) -> None:
    _change(folder, lambda config: config["benepar"]["hparams"].update(d_kv=4))


def _no_benepar(folder: Path) -> None:
    _change(folder, lambda config: config.pop("benepar"))


def _larger_tokenizer(folder: Path) -> None:
    path = folder / "tokenizer.json"
    values = json.loads(path.read_text("utf-8"))
    values["model"]["vocab"]["newest"] = 5000
    path.write_text(json.dumps(values), "utf-8")


def _change(folder: Path, change: Any) -> None:
    path = folder / "config.json"
    values = json.loads(path.read_text("utf-8"))
    change(values)
    path.write_text(json.dumps(values), "utf-8")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_cut, r"benepar_model.bin: truncated, damaged"),
        (lambda folder: (folder / MODEL).unlink(), r"benepar_model.bin: no such file"),
        (
            lambda folder: (folder / "config.json").unlink(),
            r"No such file or directory: .*config.json",
        ),
        (lambda folder: (folder / "config.json").write_text("{"), r"config.json: no JSON"),
        (_no_benepar, r"no checkpoint of benepar: it lacks its config"),
        (_other_encoder, r"config.json: an encoder of model_type 'xlnet'.* is not read"),
        (_no_tokenizer, r"tokenizer.json: no tokenizer that can be read or made"),
        (_other_labels, r"benepar_model.bin: .*scorer.output.bias is \(7,\), and should be \(8,\)"),
        (
            _other_words,
            r"the tokenizer has a piece number \d+, but the encoder only 7",
        ),
        (_larger_tokenizer, r"the tokenizer has a piece number 5000, but the encoder only"),
        (_other_width, r"benepar_model.bin: .*proj1.weight is \(8, 8\), and should be \(8, 4\)"),
    ],
)
def test_bad_input_is_one_line_and_no_folder(tmp_path: Path, damage: Any, message: str) -> None:
    from typer.testing import CliRunner

    from spacy_lal.cli import app

    folder = copied("bert", tmp_path / "bad")
    damage(folder)
    with pytest.raises((ValueError, OSError), match=message):
        read_benepar(folder)
    result = CliRunner().invoke(app, ["import", str(folder), str(tmp_path / "out")])
    assert result.exit_code == 1
    assert len(result.output.strip().splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["bad"]


def test_a_training_file_of_a_pretrained_encoder_needs_its_folder(tmp_path: Path) -> None:
    config = json.loads((CHECKPOINTS / "bert" / "config.json").read_text("utf-8"))["benepar"]
    state = torch.load(CHECKPOINTS / "bert" / MODEL, weights_only=True)
    torch.save({"config": config, "state_dict": state}, tmp_path / "en_dev=12.5.pt")
    with pytest.raises(ValueError, match=r"--encoder FOLDER must name a folder with config.json"):
        read_benepar(tmp_path / "en_dev=12.5.pt")
    nlp = read_benepar(tmp_path / "en_dev=12.5.pt", encoder=CHECKPOINTS / "bert")
    wanted = trees(list(imported("bert").pipe(docs_of(nlp, "bert"))))
    assert trees(list(nlp.pipe(docs_of(nlp, "bert")))) == wanted


class _Payload:
    def __reduce__(self) -> Any:
        return (Path.write_text, (Path("payload"), "ran"))


def test_a_pickle_with_code_is_refused_and_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    torch.save({"config": {}, "state_dict": _Payload()}, "hostile.pt")
    with pytest.raises(ValueError, match=r"hostile.pt: it holds 'getattr'"):
        read_benepar(Path("hostile.pt"))
    assert not Path("payload").exists()


def test_from_scratch_it_says_where_weights_come_from() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe(
        "lal_constituency",
        config={
            "model": {"@architectures": "spacy-lal.ReleasedParser.v1", "format": "benepar"},
            "objective": {"@misc": "spacy-lal.margin_objective.v2"},
            "decoder": {"@misc": "spacy-lal.map_decoder.v1"},
        },
    )
    doc = nlp.make_doc("a b")
    doc.spans["constituents"] = [Span(doc, 0, 2, "NP")]
    with pytest.raises(ValueError, match=r"import them with `python -m spacy lal import`"):
        nlp.initialize(lambda: [Example(nlp.make_doc("a b"), doc)])
