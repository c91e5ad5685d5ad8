"""The project's workflows run end to end on made-up data, with nothing changed but variables."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
import spacy
import srsly
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from spacy.tokens import Doc, DocBin
from weasel.util import load_project_config

from spacy_lal.annotations import get_constituents
from spacy_lal.treebanks.brackets import clean_tree, read_treebank
from spacy_lal.treebanks.files import FormatError

ROOT = Path(__file__).parents[1]
FEW_STEPS = " --training.max_steps 2 --training.eval_frequency 2"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE", "COLUMNS": "200"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a project run needs."""
    path = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "project.yml", path)
    for folder in ("configs", "scripts", "assets/toy"):
        shutil.copytree(ROOT / folder, path / folder)
    return path


def run(project: Path, workflow: str, **variables: str) -> str:
    """Run a workflow as one does on the command line. Returns what it prints."""
    command = [sys.executable, "-m", "spacy", "project", "run", workflow, "."]
    for name, value in variables.items():
        command += [f"--vars.{name}", value]
    result = subprocess.run(
        command,
        cwd=project,
        env=os.environ | ONE_THREAD,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf8",
    )
    assert result.returncode == 0, result.stdout
    return result.stdout


def read_docs(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(spacy.blank("en").vocab))


# Workflows


def test_smoke_learns_its_training_data(project: Path) -> None:
    printed = run(project, "smoke")
    seen = srsly.read_json(project / "metrics/smoke-train.json")
    unseen = srsly.read_json(project / "metrics/smoke-dev.json")
    assert (seen["sentences"], seen["words"], unseen["sentences"]) == (32, 279, 10)
    assert seen["const_evalb_f"] > 0.97  # 1.0 where this was written
    assert seen["tag_acc"] > 0.97  # 1.0
    assert unseen["const_evalb_f"] > 0.75  # 0.94
    assert seen["words_per_cpu_second"] > 0
    meta = srsly.read_json(project / "training/smoke/packages/en_lal_smoke/meta.json")
    assert any(name.startswith("spacy-lal") for name in meta["requirements"])
    assert meta["performance"]["const_evalb_f"] == pytest.approx(unseen["const_evalb_f"])
    assert "(TOP (S (NP (DT The) (NN captain))" in printed


def test_train_ptb(project: Path) -> None:
    printed = run(
        project,
        "train-ptb",
        ptb_dir="assets/toy/ptb/wsj",
        ptb_conllx="assets/toy/ptb/conllx",
        ptb_take="both",
        train_options=FEW_STEPS,
    )
    assert "no trees in sections 03, 04," in printed
    docs = {split: read_docs(project / f"corpus/ptb/{split}.spacy") for split in PTB_TEXTS}
    assert {split: [doc.text for doc in docs[split]] for split in ("dev", "test")} == {
        split: PTB_TEXTS[split] for split in ("dev", "test")
    }
    assert [doc.text for doc in docs["train"]][:4] == PTB_TEXTS["train"]
    assert len(docs["train"]) == 12
    ship = docs["test"][0]
    assert [token.tag_ for token in ship][-3:] == ["IN", "MD", "."]  # the tagger's mistake
    assert [token.head.text for token in ship][:3] == ["Reed", "repaired", "repaired"]
    assert get_constituents(ship)[:2] == [(0, 9, "S"), (0, 2, "NP")]
    metrics = srsly.read_json(project / "metrics/ptb.json")
    assert metrics["sentences"] == 3
    assert 0 <= metrics["const_evalb_f"] <= 1


PTB_TEXTS = {
    "train": [
        "Harbor Mills sold two old ships in May .",
        "The ships were bought by a dealer who restores them .",
        "Prices will rise 3 1/2 % , the dealer said .",
        '" We do n\'t know why sales fell . "',
    ],
    "dev": [
        "The dealer sold two offices .",
        "The mill was bought by a bank .",
        "Analysts expect sales to rise .",
    ],
    "test": [
        "Ms. Reed repaired the old ship in May .",
        '" Costs will fall , " she said .',
        "The owner ( a dealer ) plans to buy the bank .",
    ],
}


def test_train_ewt(project: Path, tmp_path: Path) -> None:
    write_ewt(tmp_path)
    run(
        project,
        "train-ewt",
        ewt_dir=str(tmp_path),
        propbank=str(tmp_path / "skeletons"),
        package_dir="packages",
        train_options=FEW_STEPS,
    )
    metrics = srsly.read_json(project / "metrics/ewt.json")
    assert (metrics["sentences"], metrics["evalb_parameters"]) == (10, "nk")
    meta = srsly.read_json(project / "packages/en_lal_sm/meta.json")
    assert meta["name"] == "lal_sm"
    assert meta["license"] == "CC BY-SA 4.0"
    assert {source["license"] for source in meta["sources"]} == {"CC BY-SA 4.0"}
    assert meta["performance"]["tag_acc"] == pytest.approx(metrics["tag_acc"])
    assert (project / "packages/en_lal_sm/setup.py").exists()


def write_ewt(path: Path) -> None:
    """The toy treebank in the layout of UD's and PropBank's halves of the English Web Treebank."""
    for split in ("train", "dev", "test"):
        trees = read_treebank(ROOT / f"assets/toy/{split.replace('test', 'dev')}.mrg")
        words, skeleton = [f"# newdoc id = weblog-{split}"], []
        for number, tree in enumerate(trees):
            tree = clean_tree(tree)
            before, after = [""] * len(tree.leaves), [""] * len(tree.leaves)
            for start, end, label in tree.rooted().spans():
                before[start] += f"({label}"
                after[end - 1] += ")"
            for i, (word, tag) in enumerate(tree.tagged):
                head, relation = (0, "root") if i == 0 else (1, "dep")
                words.append(f"{i + 1}\t{word}\t_\t_\t{tag}\t_\t{head}\t{relation}\t_\t_")
                bit = f"{before[i]}*{after[i]}"
                skeleton.append(f"weblog/{split} {number} {i} [WORD] {tag} {bit} - -")
            words.append("")
            skeleton.append("")
        (path / f"en_ewt-ud-{split}.conllu").write_text("\n".join(words), "utf8")
        folder = path / "skeletons/weblog/00"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{split}.xml.gold_skel").write_text("\n".join(skeleton), "utf8")


def test_project_names_files_that_exist() -> None:
    config = load_project_config(ROOT, interpolate=False)
    scripts = " ".join(line for command in config["commands"] for line in command["script"])
    named = set(
        re.findall(r"(?:scripts|configs|assets/toy)/[\w./]+", scripts + str(config["vars"]))
    )
    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


# Conversion of the Penn Treebank


@pytest.fixture(scope="module")
def convert_ptb() -> ModuleType:
    spec = spec_from_file_location("convert_ptb", ROOT / "scripts/convert_ptb.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["convert_ptb"] = module  # typer reads annotations through it
    spec.loader.exec_module(module)
    return module


def test_sections(convert_ptb: ModuleType) -> None:
    assert convert_ptb.sections("02-21") == [f"{i:02}" for i in range(2, 22)]
    assert convert_ptb.sections("00, 24") == ["00", "24"]
    with pytest.raises(ValueError, match="'2-x'"):
        convert_ptb.sections("2-x")


def test_section_files_of_both_editions(convert_ptb: ModuleType, tmp_path: Path) -> None:
    for name in ("22/WSJ_2201.MRG", "23/wsj_2301.tree", "23/wsj_2300.tree", "23/readme.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    files, empty = convert_ptb.section_files(tmp_path, ["22", "23", "24"])
    assert [path.name for path in files] == ["WSJ_2201.MRG", "wsj_2300.tree", "wsj_2301.tree"]
    assert empty == ["24"]


def test_conllx_words_may_be_plain_or_escaped(convert_ptb: ModuleType, tmp_path: Path) -> None:
    sentences = list(convert_ptb.read_trees(ROOT / "assets/toy/ptb/wsj/23/wsj_2302.mrg"))
    rows = (ROOT / "assets/toy/ptb/conllx/test.conllx").read_text("utf8").split("\n\n")[2]
    path = tmp_path / "test.conllx"
    for text in (rows, rows.replace("-LRB-", "(").replace("-RRB-", ")")):
        path.write_text(text, "utf8")
        (merged,), faults = convert_ptb.merge(sentences, path, convert_ptb.Take.heads)
        assert faults == 0
        assert merged.tags == sentences[0].tags
        assert merged.heads[6] == 6
        assert merged.deps[1] == "nsubj"


def test_conllx_that_does_not_fit_says_where(convert_ptb: ModuleType, tmp_path: Path) -> None:
    sentences = list(convert_ptb.read_trees(ROOT / "assets/toy/ptb/wsj/23/wsj_2301.mrg"))
    text = (ROOT / "assets/toy/ptb/conllx/test.conllx").read_text("utf8")
    path = tmp_path / "test.conllx"
    path.write_text(text, "utf8")
    with pytest.raises(FormatError, match=r"test.conllx:21: more than the treebank's 2 sentences"):
        convert_ptb.merge(sentences, path, convert_ptb.Take.both)
    path.write_text(text.split("\n\n")[0] + "\n", "utf8")
    with pytest.raises(ValueError, match="1 sentences, the treebank has 2"):
        convert_ptb.merge(sentences, path, convert_ptb.Take.both)
    path.write_text(text.replace("Costs", "Prices"), "utf8")
    with pytest.raises(FormatError, match=r"test.conllx:11: sentence 2 is .`` Prices will"):
        convert_ptb.merge(sentences, path, convert_ptb.Take.both)


# Installation


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize(
    "text",
    [
        'It\'s "odd" `date` $HOME ${HOME} $(date) $(shell date) $$ \\',
        "--model x",
        "-n",
        "",
        "naïve 😀 #1 100% a=b:=c",
        "two\nlines",
        None,
    ],
)
def test_make_demo_passes_text_on_as_it_is(text: str | None, tmp_path: Path) -> None:
    python = tmp_path / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nprintf "%s\\0" "$@"\n')
    python.chmod(0o755)
    (tmp_path / "meta.json").touch()
    later = (tmp_path / "meta.json").stat().st_mtime + 60
    for stamp in ("bin/pip", ".torch", ".package", ".pipeline"):
        (tmp_path / "venv" / stamp).touch()
        os.utime(tmp_path / "venv" / stamp, (later, later))
    command = ["make", "demo", f"VENV={tmp_path / 'venv'}", f"PIPELINE={tmp_path}"]
    of_make = ("TEXT", "DEMO_TEXT", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")
    environment = {name: value for name, value in os.environ.items() if name not in of_make}
    result = subprocess.run(
        command if text is None else [*command, f"TEXT={text}"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        encoding="utf8",
        check=True,
    )
    arguments = result.stdout.split("\0")[:-1]
    assert arguments == ["scripts/demo.py", *([] if text is None else ["--", text])]


@pytest.mark.parametrize("status", [0, 3])
def test_progress_keeps_status_and_shows_failure(status: int, tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = f"import sys; print('line of output'); sys.exit({status})"
    result = subprocess.run(
        [sys.executable, ROOT / "scripts/progress.py", "Working", log, sys.executable, "-c", code],
        capture_output=True,
        encoding="utf8",
    )
    assert result.returncode == status
    assert log.read_text("utf8") == "line of output\n"
    assert ("line of output" in result.stderr) == bool(status)
    assert ("Working: done" in result.stdout) == (not status)


def test_constraints_pin_every_dependency_within_its_range() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf8").splitlines()
    pinned = {}
    for line in lines:
        if line and not line.startswith("#"):
            name, _, version = line.partition("==")
            pinned[canonicalize_name(name)] = version
    with (ROOT / "pyproject.toml").open("rb") as file:
        package = tomllib.load(file)["project"]
    extras = package["optional-dependencies"]
    for text in [*package["dependencies"], *extras["transformers"], *extras["dev"]]:
        requirement = Requirement(text)
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)]), text
