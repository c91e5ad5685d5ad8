"""Bad input to `import`: one line that names the file; no folder."""

import importlib
import json
import os
import pickle
import shutil
import sys
import types
from pathlib import Path

import pytest
import torch
from spacy.cli import app
from typer.testing import CliRunner

from spacy_lal.published.lal_parser import read_lal_parser
from spacy_lal.published.restricted import looks_like, read_checkpoint
from spacy_lal.published.supar import CLASSES, FUNCTIONS, read_supar

FIXTURES = Path(__file__).parents[1] / "fixtures"
LAL, SUPAR = FIXTURES / "lal_parser", FIXTURES / "supar"


class Plant:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def run(kind, checkpoint, output, *options):
    """The command's exit status and what it says, in one line."""
    result = CliRunner().invoke(
        app,
        ["lal", "import", str(checkpoint), str(output), "--kind", kind, *map(str, options)],
    )
    return result.exit_code, " ".join(result.output.split())


def refused(kind, checkpoint, tmp_path, *options):
    before = set(tmp_path.iterdir())
    status, said = run(kind, checkpoint, tmp_path / "out", *options)
    assert status == 1, said
    assert "Traceback" not in said
    assert set(tmp_path.iterdir()) == before
    return said.replace(" ", "")


def test_whose_checkpoint_it_is(tmp_path):
    """By its contents alone, whatever its name and PyTorch's format."""
    checkpoints = [(kind, path) for kind, path in KINDS]
    checkpoints += [("benepar", path) for path in (FIXTURES / "benepar").glob("*.pt")]
    for kind, path in checkpoints:
        assert looks_like(path) == kind
    assert looks_like(FIXTURES / "benepar") == "benepar"
    old, other = tmp_path / "old.pt", tmp_path / "other.pt"
    state = {"config": {"hparams": {}}, "state_dict": {"a": torch.zeros(2)}}
    torch.save(state, old, _use_new_zipfile_serialization=False)
    assert looks_like(old) == "benepar"
    for content in (b"", b"PK", pickle.dumps({"config": 1})[:9], b"\x80\x02."):
        other.write_bytes(content)
        status = CliRunner().invoke(app, ["lal", "import", str(other), str(tmp_path / "out")])
        assert status.exit_code == 1
        assert "give --kind" in status.output
    assert not (tmp_path / "out").exists()


KINDS = [("lal-parser", LAL / "characters.pt"), ("supar", SUPAR / "con_char.pt")]


@pytest.mark.parametrize("kind", ["lal-parser", "supar"])
@pytest.mark.parametrize(
    "content", [torch.zeros(3), None, [1], "abc", {"state_dict": "abc", "spec": {}}]
)
def test_a_file_of_something_else(kind, content, tmp_path):
    path = tmp_path / "other.pt"
    torch.save(content, path)
    said = refused(kind, path, tmp_path)
    assert "other.pt:no" in said
    assert "ismissing" not in said


@pytest.mark.parametrize(("kind", "checkpoint"), KINDS)
def test_a_truncated_file(kind, checkpoint, tmp_path):
    path = tmp_path / "half.pt"
    path.write_bytes(checkpoint.read_bytes()[:5000])
    assert "half.pt:truncated" in refused(kind, path, tmp_path)


@pytest.mark.parametrize(("kind", "checkpoint"), KINDS)
def test_another_file_of_torch(kind, checkpoint, tmp_path):
    path = tmp_path / "other.pt"
    torch.save({"model": torch.ones(2)}, path)
    assert "other.pt" in refused(kind, path, tmp_path)


@pytest.mark.parametrize(("kind", "checkpoint"), KINDS)
def test_a_hostile_pickle(kind, checkpoint, tmp_path):
    path, planted = tmp_path / "hostile.pt", tmp_path / "planted"
    torch.save({"state_dict": {"a": torch.ones(1)}, "spec": Plant(planted)}, path)
    assert "posix.mkdir" in refused(kind, path, tmp_path)
    assert not planted.exists()
    pickle.loads(pickle.dumps(Plant(planted)))
    assert planted.exists()


def test_an_encoder_is_asked_for(tmp_path):
    for kind, path in (("lal-parser", LAL / "bert.pt"), ("supar", SUPAR / "con_bert.pt")):
        assert "--encoderFOLDER" in refused(kind, path, tmp_path)


@pytest.mark.parametrize("missing", ["config.json", "tokenizer.json"])
def test_a_missing_file_of_the_encoder(missing, tmp_path):
    folder = tmp_path / "encoder"
    shutil.copytree(LAL / "bert", folder)
    (folder / missing).unlink()
    said = refused("lal-parser", LAL / "bert.pt", tmp_path, "--encoder", folder)
    assert missing in said
    assert "Nosuchfile" in said or "notokenizerthatcanbereadormade" in said


def test_sentence_pieces_without_what_reads_them(tmp_path, monkeypatch):
    """The folder of an older XLNet has spiece.model and no tokenizer.json."""
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    folder = tmp_path / "encoder"
    shutil.copytree(LAL / "xlnet", folder)
    (folder / "tokenizer.json").unlink()
    (folder / "spiece.model").write_bytes(b"pieces")
    said = refused("lal-parser", LAL / "xlnet112.pt", tmp_path, "--encoder", folder)
    assert "pipinstallsentencepieceprotobuf" in said


def test_an_encoder_of_another_size(tmp_path):
    folder = tmp_path / "encoder"
    shutil.copytree(LAL / "bert", folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"vocab_size": 7}))
    said = refused("lal-parser", LAL / "bert.pt", tmp_path, "--encoder", folder)
    assert "apiecenumber62,buttheencoderonly7" in said


def test_a_tokenizer_of_another_vocabulary(tmp_path):
    said = refused("supar", SUPAR / "con_bert.pt", tmp_path, "--encoder", LAL / "bert")
    assert "tokenizer.json" in said


def test_a_tokenizer_that_keeps_case(tmp_path):
    folder = tmp_path / "encoder"
    shutil.copytree(LAL / "bert", folder)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["normalizer"]["lowercase"] = False
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    said = refused("lal-parser", LAL / "bert.pt", tmp_path, "--encoder", folder)
    assert "itkeepscase" in said


def pretend(monkeypatch, module, name):
    """A class under the name that a checkpoint has, to write others like it."""
    made = type(name, (), {"__module__": module})
    for end, letter in enumerate(f"{module}."):
        if letter == ".":
            monkeypatch.setitem(sys.modules, module[:end], types.SimpleNamespace(**{name: made}))
    return made


def test_an_unknown_architecture(tmp_path, monkeypatch):
    config = pretend(monkeypatch, "supar.utils.config", "Config")()
    state = {"name": "crf2o-dependency", "state_dict": {}, "pretrained": None}
    path = tmp_path / "second.pt"
    torch.save(state | {"args": config, "transform": config}, path)
    assert "'crf2o-dependency'" in refused("supar", path, tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda state: state["spec"]["hparams"].update(use_elmo=True), "use_elmo"),
        (lambda state: state["spec"]["tag_vocab"].values.pop(), "vectorsfor"),
        (lambda state: state["spec"]["label_vocab"].values.pop(), "scorer.output"),
        (lambda state: state["state_dict"].pop("f_label.3.bias"), "output.bias"),
        (lambda state: state["spec"].pop("char_vocab"), "char_vocab"),
        (lambda state: replace(state["spec"]["tag_vocab"].values, "<START>"), "'<START>'isnotin"),
        (lambda state: replace(state["spec"]["char_vocab"].values, "\0"), "isnotin"),
        (lambda state: flatten(state, "dep_score.attention.dep_weight"), "IndexError"),
        (lambda state: flatten(state, "char_encoder.lstm.weight_hh_l0"), "IndexError"),
    ],
)
def test_what_can_not_be_read(change, said, tmp_path, monkeypatch):
    """ELMo, vocabularies of other sizes than their tables, and what is not there or flat."""
    pretend(monkeypatch, "vocabulary", "Vocabulary")
    state = torch.load(LAL / "characters.pt", weights_only=False)
    change(state)
    path = tmp_path / "changed.pt"
    torch.save(state, path)
    assert said in refused("lal-parser", path, tmp_path)
    with pytest.raises(ValueError, match=rf"^{path}: ") as error:
        read_lal_parser(path)
    assert str(error.value).count("changed.pt") == 1


def replace(values, value):
    values[values.index(value)] = "something else"


def flatten(state, name):
    state["state_dict"][name] = state["state_dict"][name].flatten()


@pytest.mark.parametrize(
    ("checkpoint", "change", "said"),
    [
        ("dep_char", lambda state: flatten(state, "arc_attn.weight"), "IndexError"),
        ("con_char", lambda state: flatten(state, "span_attn.weight"), "IndexError"),
        ("con_char", lambda state: flatten(state, "word_embed.weight"), "240 vectors for 20 words"),
        (
            "con_char",
            lambda state: replace(
                vars(vars(vars(state["transform"])["WORD"][0])["vocab"])["itos"], "<bos>"
            ),
            "'<bos>' is not in list",
        ),
    ],
)
def test_what_can_not_be_read_of_supar(checkpoint, change, said, monkeypatch):
    """supar's classes are not here: what is read as data is changed before it is converted."""
    state = read_checkpoint(SUPAR / f"{checkpoint}.pt", CLASSES, FUNCTIONS)
    change(state)
    monkeypatch.setattr("spacy_lal.published.supar.read_checkpoint", lambda *_: state)
    with pytest.raises(ValueError, match=r"^changed\.pt: ") as error:
        read_supar(Path("changed.pt"))
    assert said in str(error.value)
    assert str(error.value).count("changed.pt") == 1


def test_what_the_folder_says(tmp_path):
    """meta.json has source, licence and a hash."""
    source = tmp_path / "model_best_dev=95.50_devuas=96.25_devlas=94.00.pt"
    shutil.copy(LAL / "characters.pt", source)
    status, said = run("lal-parser", source, tmp_path / "out", "--license", "unknown")
    assert status == 0, said
    meta = json.loads((tmp_path / "out" / "meta.json").read_text())
    assert meta["license"] == "unknown"
    assert meta["imported"]["kind"] == "lal-parser"
    assert meta["imported"]["source"] == source.name
    assert len(meta["imported"]["sha256"]) == 64
    assert not [path for path in (tmp_path / "out").rglob("*") if path.suffix in (".pt", ".pkl")]


def test_without_tokenizers_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    monkeypatch.delitem(sys.modules, "spacy_lal.encoders.word_pieces", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'spacy-lal\[encoders\]'"):
        importlib.import_module("spacy_lal.encoders.word_pieces")
