"""A training that is killed and goes on ends as spaCy's own, never killed, to the last bit."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors import safe_open
from spacy.training.initialize import init_nlp
from spacy.training.loop import train as spacy_train
from spacy.util import load_config
from typer.testing import CliRunner, Result

from spacy_lal.cli import app
from spacy_lal.formats.files import alone_in
from spacy_lal.training.checkpoint import CHECKPOINT

ROOT = Path(__file__).parents[2]
ALL_SPELLINGS = True  # as the process has that is killed

CONFIG = """
[nlp]
lang = "en"
pipeline = {pipeline}

[components]
{components}

[components.lal_constituency]
factory = "lal_constituency"

[components.lal_constituency.model]
@architectures = "spacy-lal.LabelAttentionParser.v1"
hidden_width = 16

[components.lal_constituency.model.tok2vec]
@architectures = "spacy-lal.WordAffixEmbed.v1"
word_width = 8
affix_width = 4
min_count = 1
word_dropout = 0.1

[components.lal_constituency.model.input_encoder]
@misc = "spacy-lal.BiLSTMRows.v1"
hidden_width = 8
depth = 2
tag_width = 8

[components.lal_constituency.model.encoder]
@misc = "spacy-lal.LabelAttentionEncoder.v1"
heads = 4
key_width = 8
value_width = 8
projection_width = 4

[corpora]

[corpora.train]
@readers = "spacy-lal.Corpus.v1"
path = "{corpus}/train.spacy"
shuffle = true

[corpora.dev]
{dev}
path = "{corpus}/dev.spacy"

[training]
train_corpus = "corpora.train"
dev_corpus = "corpora.dev"
seed = 1
gpu_allocator = null
dropout = 0.2
max_steps = 12
eval_frequency = 4
{training}

[training.batcher]
@batchers = "spacy.batch_by_padded.v1"
buffer = 16
discard_oversize = false
{batcher}

[training.score_weights]
{weights}
"""

TAGGER = """
[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy.HashEmbedCNN.v2"
pretrained_vectors = null
width = 8
depth = 1
embed_size = 50
window_size = 1
maxout_pieces = 2
subword_features = false

[components.tagger]
factory = "tagger"

[components.tagger.model]
@architectures = "spacy.Tagger.v2"

[components.tagger.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 8
"""

ADAM = """
max_epochs = 0

[training.optimizer]
@optimizers = "Adam.v1"

[training.optimizer.learn_rate]
@schedules = "warmup_linear.v1"
warmup_steps = 4
total_steps = 20
initial_rate = 0.01
"""

NADAM = """
max_epochs = -1
accumulate_gradient = 2

[training.optimizer]
@optimizers = "spacy-lal.Nadam.v1"

[training.optimizer.learn_rate]
@schedules = "spacy-lal.inverse_sqrt.v1"
factor = 0.04
warmup_steps = 5

[corpora.train.augmenter]
@augmenters = "spacy.lower_case.v1"
level = 0.5
"""

PARAGRAPHS = """
@readers = "spacy-lal.Paragraphs.v1"
lower_case = 0.5
shuffle = true
"""

GROWING = '{"@schedules": "compounding.v1", "start": 40, "stop": 90, "compound": 1.1}'


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Toy treebank and two configs.

    memory.cfg: all examples in memory; Thinc's layers, and a component that listens to another.
    stream.cfg: examples read again for every epoch, changed at random; batches that grow; other
        texts at every evaluation.
    """
    place = tmp_path_factory.mktemp("resume")
    for split in ("train", "dev"):
        bracketed = ROOT / f"assets/toy/{split}.mrg"
        options = ["--lang", "en", "--ptb-escapes"]
        output = place / f"{split}.spacy"
        result = invoke("convert", "brackets", str(bracketed), str(output), *options)
        assert result.exit_code == 0, result.output
    memory = {
        "pipeline": '["tok2vec", "tagger", "lal_constituency"]',
        "components": TAGGER,
        "training": ADAM,
        "batcher": "size = 80",
        "dev": '@readers = "spacy-lal.Corpus.v1"',
        "weights": "tag_acc = 0.5\nconst_evalb_f = 0.5",
    }
    stream = {
        "pipeline": '["lal_constituency"]',
        "components": "",
        "training": NADAM,
        "batcher": f"size = {GROWING}",
        "dev": PARAGRAPHS,
        "weights": "tag_acc = 1.0",
    }
    for name, settings in (("memory", memory), ("stream", stream)):
        (place / f"{name}.cfg").write_text(CONFIG.format(corpus=place, **settings), "utf8")
    return place


@pytest.fixture(scope="module")
def never_killed(place: Path) -> Callable[[str], str]:
    """What spaCy's training logs; its pipelines are in the folder named after the config."""
    logs = {}
    for name in ("memory", "stream"):
        log = io.StringIO()
        (place / name).mkdir()
        spacy_train(init_nlp(load_config(place / f"{name}.cfg")), place / name, stdout=log)
        logs[name] = log.getvalue()
    return logs.__getitem__


@pytest.fixture(scope="module")
def killed(place: Path) -> Path:
    """Folders of trainings that were killed; see killed_runs.py."""
    command = [sys.executable, "-m", "tests.training.killed_runs", str(place)]
    command += [str(place / "memory.cfg"), str(place / "stream.cfg")]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return place


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def go_on(place: Path, config: str, output: str, *options: str) -> Result:
    path = str(place / output)
    return invoke("train", str(place / f"{config}.cfg"), "-o", path, "--resume", *options)


def rows(log: str) -> list[str]:
    """Lines of the table of losses and scores."""
    lines = [line.strip() for line in log.splitlines()]
    return [line for line in lines if line[:1].isdigit()]


def contents(folder: Path) -> dict[str, bytes]:
    return {
        f"{kind}/{path.relative_to(folder / kind)}": path.read_bytes()
        for kind in ("model-best", "model-last")
        for path in (folder / kind).rglob("*")
        if path.is_file()
    }


def steps_of(folder: Path) -> int:
    with safe_open(folder / CHECKPOINT, "pt") as file:
        return int(json.loads(file.metadata()["state"])["progress"]["steps"])


@pytest.mark.parametrize(
    ("config", "kill", "steps"),
    [
        ("memory", "first", 0),
        ("memory", "update", 5),
        ("memory", "half", 1),
        ("memory", "pipelines", 1),
        ("stream", "update", 6),  # between two evaluations
    ],
)
def test_same_result_as_if_never_killed(
    killed: Path, never_killed: Callable[[str], str], config: str, kill: str, steps: int
) -> None:
    folder = killed / f"{config}-{kill}"
    assert steps_of(folder) == steps
    result = go_on(killed, config, folder.name)
    assert result.exit_code == 0, result.output
    expected = rows(never_killed(config))
    assert len(expected) == 4
    assert rows(result.stdout) == expected[-(-steps // 4) :][: len(expected)]
    assert contents(folder) == contents(killed / config)
    assert {path.name for path in folder.iterdir()} == {"model-best", "model-last", CHECKPOINT}


@pytest.fixture(scope="module")
def short(place: Path) -> Path:
    """A training of memory.cfg that stops earlier than the config says."""
    folder = place / "short"
    arguments = ["train", str(place / "memory.cfg"), "-o", str(folder), "--training.max_steps", "4"]
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    return folder


def test_more_steps_are_the_same_as_more_steps_at_once(
    short: Path, never_killed: Callable[[str], str]
) -> None:
    never_killed("memory")
    shutil.copytree(short, short.parent / "longer")
    result = go_on(short.parent, "memory", "longer")
    assert result.exit_code == 0, result.output
    longer, expected = (contents(short.parent / name) for name in ("longer", "memory"))
    # the best pipeline was saved when max_steps was 4
    assert b"max_steps = 4\n" in longer.pop("model-best/config.cfg")
    assert b"max_steps = 12\n" in expected.pop("model-best/config.cfg")
    assert longer == expected


def test_says_that_it_is_finished(short: Path) -> None:
    before = contents(short)
    result = go_on(short.parent, "memory", "short", "--training.max_steps", "4")
    assert result.exit_code == 0
    assert "finished after 5 steps" in " ".join(result.output.split())
    assert contents(short) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "continue from it with --resume, or delete it"),
        (("--resume", "--training.dropout", "0.5"), "training.dropout is 0.5, and was 0.2"),
        (("--resume", "--nlp.batch_size", "7"), "nlp.batch_size is 7, and was not there"),
        (("--resume", "--code", __file__), "test_resume.py was not there"),
    ],
)
def test_another_training_is_refused(short: Path, options: list[str], message: str) -> None:
    before = contents(short)
    result = invoke("train", str(short.parent / "memory.cfg"), "-o", str(short), *options)
    assert result.exit_code == 1
    assert message in result.output
    assert len(result.output.splitlines()) == 1
    assert contents(short) == before


def test_other_data_are_refused(short: Path) -> None:
    corpus = short.parent / "dev.spacy"
    before = corpus.read_bytes()
    corpus.write_bytes(before + b" ")
    try:
        result = go_on(short.parent, "memory", "short")
    finally:
        corpus.write_bytes(before)
    assert result.exit_code == 1
    assert "dev.spacy has changed" in result.output


def test_a_corpus_that_is_not_there(place: Path, tmp_path: Path) -> None:
    """Is named, and does not stand in the way of the right one."""
    command = ["train", str(place / "memory.cfg"), "-o", str(tmp_path), "--training.max_steps", "1"]
    for corpus in ("train", "dev"):
        result = invoke(*command, f"--corpora.{corpus}.path", str(tmp_path / "absent.spacy"))
        assert result.exit_code == 1
        assert "train: no corpus at" in result.output
        assert "absent.spacy" in result.output
        assert "Traceback" not in result.output
    assert invoke(*command).exit_code == 0


def test_development_data_that_can_not_be_read(place: Path, tmp_path: Path) -> None:
    conllu, damaged = tmp_path / "dev.conllu", tmp_path / "dev.spacy"
    conllu.write_text("1")
    damaged.write_bytes((place / "dev.spacy").read_bytes()[:100])
    command = ["train", str(place / "memory.cfg"), "-o", str(tmp_path / "out")]
    for path in (conllu, damaged):
        result = invoke(*command, "--training.max_steps", "1", "--corpora.dev.path", str(path))
        assert result.exit_code == 1
        assert "train: " in result.output
        assert "Traceback" not in result.output


def test_a_pipeline_without_a_checkpoint_is_not_replaced(short: Path, tmp_path: Path) -> None:
    shutil.copytree(short / "model-best", tmp_path / "model-best")
    result = invoke("train", str(short.parent / "memory.cfg"), "-o", str(tmp_path), "--resume")
    assert result.exit_code == 1
    assert "model-best is there, but no" in result.output


def test_a_damaged_checkpoint_is_named(short: Path, tmp_path: Path) -> None:
    (tmp_path / CHECKPOINT).write_bytes((short / CHECKPOINT).read_bytes()[:1000])
    result = invoke("train", str(short.parent / "memory.cfg"), "-o", str(tmp_path), "--resume")
    assert result.exit_code == 1
    assert f"{CHECKPOINT} is no checkpoint" in result.output


def test_two_at_once_are_refused(place: Path, tmp_path: Path) -> None:
    with alone_in(tmp_path):
        result = invoke("train", str(place / "memory.cfg"), "-o", str(tmp_path))
    assert result.exit_code == 1
    assert "another run is writing in" in result.output
    assert not list(tmp_path.iterdir())
