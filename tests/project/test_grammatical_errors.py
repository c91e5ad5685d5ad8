"""Workflows of `gec_detector`."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from string import ascii_lowercase
from types import ModuleType
from typing import Any

import pytest
import spacy
import srsly
import torch

from spacy_lal.annotations.grammar_errors import error_scores
from spacy_lal.bridge.shim import torch_shims
from spacy_lal.ged.ngrams import counted

from ..tiny_transformers import write_bert
from .running import FEW_STEPS, ROOT, load_benchmark, read_docs, weight_types
from .sizes import DETECTOR, EMBEDDED, ON_ENCODER, WITH_VECTORS
from .toy_treebanks import toy_ewt

TOY_GED = ROOT / "assets/toy/ged"


def detected(path: Path) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = srsly.read_json(path)["results"]
    assert all(0 <= result["ged_f05"] <= 1 for result in results)
    return results


def test_train_fce(project: Path, run_here: Callable[..., str]) -> None:
    """On the project's own config for a CPU, with a block of the training file to choose by."""
    run_here(
        "bilstm",
        "projects/fce",
        train=str(TOY_GED / "train.tsv"),
        train_block=" --without-block 10/10",
        dev=str(TOY_GED / "train.tsv"),
        dev_block=" --block 10/10",
        test=str(TOY_GED / "test.tsv"),
        train_options=f"{FEW_STEPS} {DETECTOR} {WITH_VECTORS}",
    )
    counts = [
        len(read_docs(project / f"projects/fce/corpus/{part}.spacy")) for part in ("train", "dev")
    ]
    assert counts == [54, 6]
    (result,) = detected(project / "projects/fce/metrics/test.json")
    assert (result["tokens"], result["errors"]) == (99, 8)


def test_train_fce_on_a_small_encoder(
    project: Path, tmp_path: Path, run_here: Callable[..., str]
) -> None:
    pytest.importorskip("transformers")
    write_bert(tmp_path, ["abcdefghijklmnopqrstuvwxyz.,"])
    run_here(
        "minilm",
        "projects/fce",
        train=str(TOY_GED / "train.tsv"),
        dev=str(TOY_GED / "dev.tsv"),
        test=str(TOY_GED / "test.tsv"),
        encoder=str(tmp_path),
        train_options=f"{FEW_STEPS} {ON_ENCODER}",
    )
    (result,) = detected(project / "projects/fce/metrics/minilm.json")
    assert (result["tokens"], result["errors"]) == (99, 8)


def test_train_fce_on_bert(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    """The paper's config, with nothing changed but the transformer and the number of heads."""
    pytest.importorskip("transformers")
    write_bert(tmp_path, ["abcdefghijklmnopqrstuvwxyz.,"])
    run_here(
        "all",
        "projects/fce",
        train=str(TOY_GED / "train.tsv"),
        dev=str(TOY_GED / "dev.tsv"),
        test=str(TOY_GED / "test.tsv"),
        train_options=f"{FEW_STEPS} --training.max_epochs 0 --paths.transformer {tmp_path}"
        " --components.gec_detector.model.heads 4",
    )
    (result,) = detected(project / "projects/fce/metrics/test.json")
    assert result["tokens"] == 99


@pytest.mark.slow
@pytest.mark.spacy_transformers
def test_tables_on_bert(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    """With and without pretraining, by the likelier class, on the paper's four test sets."""
    write_bert(tmp_path, ["abcdefghijklmnopqrstuvwxyz.,"])
    m2 = tmp_path / "conll14.m2"
    edit = "|||Vform|||goes|||REQUIRED|||-NONE-|||"
    m2.write_text(f"S He go home .\nA 1 2{edit}0\nA 1 2{edit}1\nA 2 3{edit}1\n\nS Good .\n\n")
    jfleg = {"src": "He go home", "ref0": "He goes home", "ref1": "He go home", "ref2": "He goes"}
    for name, line in (jfleg | {"ref3": "He go home"}).items():
        (tmp_path / f"test.{name}").write_text(f"{line} .\n")
    run_here(
        "compare-paper",
        "projects/fce",
        **{part: str(TOY_GED / f"{part}.tsv") for part in ("train", "dev", "test")},
        conll14=str(m2),
        jfleg=str(tmp_path),
        paper_rows="untrained,pooling-last",
        paper_seeds="1,2",
        train_options=f"{FEW_STEPS} --training.max_epochs 0 --paths.transformer {tmp_path}"
        " --components.gec_detector.model.heads 4",
    )
    folder = project / "projects/fce"
    found = load_benchmark("results").read(folder / "metrics/paper.jsonl", "ged/bert/")
    assert {run["threshold"] for run in found.values()} == {0.5}
    errors = [
        [(row["corpus"].removesuffix(".spacy"), row["errors"]) for row in run["results"]]
        for run in found.values()
    ]
    assert errors == [[("test", 8), ("CoNLL14-1", 1), ("CoNLL14-2", 2), ("JFLEG", 2)]] * 4
    text = (folder / "metrics/paper.md").read_text("utf8")
    assert "its threshold is the model's. F0.5 is of tokens" in text
    columns = " | ".join(f"{name} F0.5" for name, _ in errors[0])
    assert f"| model | {columns} | words/s | runs | paper FCE |" in text
    assert re.search(r"^\| last layer \|.*\| 2 \| 59\.47 \| 33\.97 \|", text, re.MULTILINE)


def test_train_realec(project: Path, run_here: Callable[..., str]) -> None:
    run_here(
        "all",
        "projects/realec",
        data=str(TOY_GED / "train.tsv"),
        train_options=f"{FEW_STEPS} {DETECTOR} {WITH_VECTORS}",
    )
    parts = ("train", "dev", "test")
    read = [
        [doc.text for doc in read_docs(project / f"projects/realec/corpus/{part}.spacy")]
        for part in parts
    ]
    assert [len(texts) for texts in read] == [36, 12, 12]
    assert len(detected(project / "projects/realec/metrics/test.json")) == 1


@pytest.mark.slow
def test_train_multiged(
    project: Path,
    tmp_path: Path,
    run_here: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """German, with edited text to train on; then Italian, without."""
    lang, name = "de", "german/de_falko-merlin"
    for part in ("train", "dev"):
        path = tmp_path / f"{name}_{part}.tsv"
        path.parent.mkdir(exist_ok=True)
        shutil.copy(TOY_GED / f"{part}.tsv", path)
    documents = ["# newdoc id = 1\n# text = Si.\n1\tSi\n\n", "# newdoc id = 2\n# text = No, no.\n"]
    (tmp_path / f"{lang}_pud-ud-test.conllu").write_text("".join(documents))
    (tmp_path / "text" / lang).mkdir(parents=True)
    (tmp_path / "text" / lang / "more.conllu").write_text("# text = Der Hund bellt.\n" * 3)
    given = {
        "edited": str(tmp_path),
        "text": str(tmp_path / "text"),
        "epoch_words": "200",
        "train_options": f"{FEW_STEPS} {DETECTOR} {EMBEDDED}",
    }
    known = ModuleType("wordfreq")
    known.top_n_list = lambda lang, most: ["walk", "he's", "station", "now"]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wordfreq", known)
    run_here("make-edited", "projects/multiged", lang=lang, data=str(tmp_path / name), **given)
    here = project / "projects/multiged"
    trained = spacy.load(here / f"training/{lang}-chosen")
    assert trained.lang == lang
    assert len(read_docs(here / f"corpus/{lang}/held-out.spacy")) == 6
    (result,) = detected(here / f"metrics/{lang}.json")
    path = project / f"packages/{lang}_lal_ged_sm"
    meta = srsly.read_json(path / "meta.json")
    assert meta["performance"]["ged_f05"] == pytest.approx(result["ged_f05"])
    assert meta["sources"][0]["license"] == "CC BY-SA 4.0"
    # the language model of the training isn't in it, and nothing is found otherwise
    inside = next((path / f"{lang}_lal_ged_sm").glob(f"{lang}_lal_ged_sm-*"))
    packed = spacy.load(inside)
    names = [
        {
            name
            for _, shim in torch_shims(nlp.get_pipe("gec_detector").model)
            for name in shim.tensors()
        }
        for nlp in (trained, packed)
    ]
    assert {name.partition(".")[0] for name in names[0] - names[1]} == {"language"}
    assert not names[1] - names[0]
    assert weight_types(path) == {torch.float16, torch.int8, torch.float32}
    text = "He walk to the station now."
    assert error_scores(packed(text)) == pytest.approx(error_scores(trained(text)), abs=0.02)
    assert packed.get_pipe("gec_detector").cfg["words"] == ["walk", "station", "now"]
    assert packed.get_pipe("gec_detector").misspelling_odds == 35
    threshold = packed.get_pipe("gec_detector").cfg["threshold"]
    component = packed.config["components"]["gec_detector"]
    assert component["threshold"] == pytest.approx(threshold, abs=1e-12)
    run_here("measure", "projects/multiged", lang=lang)
    of_dev, edited = detected(here / f"metrics/{lang}-package.json")
    assert of_dev["tokens"] == result["tokens"]
    halves = [
        read_docs(here / f"corpus/{lang}/edited-{half}.spacy") for half in ("threshold", "measure")
    ]
    assert sorted(doc.text for docs in halves for doc in docs) == ["No, no.", "Si."]
    assert (edited["tokens"], edited["errors"]) == (len(halves[1][0]), 0)
    assert srsly.read_json(here / f"metrics/{lang}-pairs.json")["all"]["pairs"] >= 18
    # without edited text in the training
    shutil.copy(tmp_path / f"{lang}_pud-ud-test.conllu", tmp_path / "it_pud-ud-test.conllu")
    run_here("make", "projects/multiged", lang="it", data=str(tmp_path / name), **given)
    assert srsly.read_json(project / "packages/it_lal_ged_sm/meta.json")["lang"] == "it"


def weights_of(pipeline: Path) -> list[torch.Tensor]:
    model = spacy.load(pipeline).get_pipe("gec_detector").model
    return [p.data for _, shim in torch_shims(model) for p in shim.module.parameters()]


@pytest.mark.slow
def test_make_en_lal_ged_md(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    """Artificial errors, then learners', on a small encoder, and a threshold by edited news."""
    pytest.importorskip("transformers")
    write_bert(tmp_path, ["abcdefghijklmnopqrstuvwxyz.,"])
    text = tmp_path / "text.txt"
    sentence = "The old farmer sold {} red apples at the market, because his sister has asked him."
    text.write_text("\n".join(sentence.format(n) for n in ["two", "three", "four", "five", "six"]))
    logged = run_here(
        "open-md",
        "projects/realec",
        data=str(TOY_GED / "train.tsv"),
        text=str(text),
        edited_text=str(text),
        edited_dev=str(text),
        encoder=str(tmp_path),
        md_steps="2",
        train_options=f"{FEW_STEPS} {ON_ENCODER}",
    )
    assert "parameters begin as those of training/open-md/model-last" in logged
    learned = project / "projects/realec/training/open-md-learners/model-last"
    before = project / "projects/realec/training/open-md/model-last"
    run_here("open-md-mean", "projects/realec", md_begin=str(before))
    mean = weights_of(project / "projects/realec/training/open-md-mean")
    twice = zip(weights_of(learned), weights_of(before), strict=True)
    for found, (one, other) in zip(mean, twice, strict=True):
        if one.shape == other.shape:
            assert torch.allclose(found, (one + other) / 2, atol=1e-6)
    edited = project / "assets/edited"
    edited.mkdir()
    for kind in ("news", "fiction", "technical", "learners"):
        for half in ("threshold", "measure"):
            correct = project / "projects/realec/corpus/open/edited.spacy"
            shutil.copy(correct, edited / f"{kind}-{half}.spacy")
    mean_folder = "projects/realec/training/open-md-mean"
    (tmp_path / "words.txt").write_text("apples 7\nmarket 4\n")
    words = {"md_words": str(tmp_path / "words.txt"), "md_ngrams": str(tmp_path / "ngrams")}
    counts = counted([["they", "walk", "now", "."]], (1, 1, 1))
    (tmp_path / "ngrams").write_bytes(counts.to_bytes())
    run_here("make-en-lal-ged-md", md_most_marked="0.1", md_detector=mean_folder, **words)
    assert len(detected(project / "metrics/en-lal-ged-md-edited.json")) == 4
    path = project / "packages/en_lal_ged_md"
    assert set(srsly.read_json(path / "meta.json")["performance"]) == {"ged_p", "ged_r", "ged_f05"}
    shutil.rmtree(project / "projects/realec/training")
    for file in tmp_path.iterdir():  # the package has its own encoder
        file.unlink()
    packed = spacy.load(next((path / "en_lal_ged_md").glob("en_lal_ged_md-*")))
    assert error_scores(packed("They walk now.")) != [0.0] * 4
    assert packed.get_pipe("gec_detector").error_cooccurrence == 0.21
    # in 8 bits, scores move a little
    nlp = spacy.load(project / "training/en-lal-ged-md")
    docs = read_docs(edited / "news-threshold.spacy")
    marked = sum(token._.is_error for doc in docs for token in nlp(doc.text))
    assert marked <= 0.1 * sum(map(len, docs))


@pytest.mark.slow
def test_train_kinds(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    """Errors by tags and heads, pairs of templates, and REALEC without kinds."""
    pytest.importorskip("transformers")
    pytest.importorskip("en_lal_sm", reason="pip install ./packages/en_lal_sm")
    write_bert(tmp_path, ["abcdefghijklmnopqrstuvwxyz.,"])
    text = tmp_path / "text.txt"
    lines = "They have gone to the market because it was open {0}.\nShe discussed it {0}.\n"
    text.write_text("".join(map(lines.format, ["today", "here", "now", "again", "then", "so"])))
    templates = project / "projects/realec/pairs/training.txt"
    words, *kinds = templates.read_text().split("\n## ")
    known = ("agreement with", "missing articles", "verbs with and", "spelling", "right: subj")
    few = [kind for kind in kinds if kind.startswith(known)]
    lists = re.findall(r"^(?:noun|verb|word|pair) \w+: .*", "\n".join(kinds), re.MULTILINE)
    templates.write_text("\n## ".join(["\n".join([words, *lists]), *few]))
    run_here(
        "kinds",
        "projects/realec",
        data=str(TOY_GED / "train.tsv"),
        raw_text=str(text),
        kinds_text=" --aside 30=corpus/kinds/edited-train.txt",
        kinds_aside="3",
        encoder=str(tmp_path),
        kinds_begin="null",
        train_options=f"{FEW_STEPS} {ON_ENCODER}",
    )
    folder = project / "projects/realec"
    assert len(read_docs(folder / "corpus/kinds/mixed/pairs.spacy")) > 4 * 120
    # the second leg has fewer corrections, and keeps the edits of the first
    for leg in ("kinds", "kinds-learners"):
        pipe = spacy.load(folder / f"training/{leg}/model-last").get_pipe("gec_detector")
        assert {"R:VERB:SVA", "M:DET", "U:PREP", "R:SPELL"} <= set(pipe.labels)
        assert "M:DET +a" in pipe.label_data
        assert "ERROR" not in pipe.labels
    assert pipe.cfg["words"][:2] == ["it", "they"]


def test_compare_ged(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    for part in ("train", "dev"):
        path = tmp_path / f"german/de_falko-merlin_{part}.tsv"
        path.parent.mkdir(exist_ok=True)
        shutil.copy(TOY_GED / f"{part}.tsv", path)
    run_here("convert", "projects/multiged", data=str(tmp_path / "german/de_falko-merlin"))
    options = f" {FEW_STEPS} {DETECTOR} {EMBEDDED}"
    variables = {
        "rows": "heads-1,heads-4",
        "seeds": "1,2",
        "options": options.replace("--components.gec_detector.model.heads 4", ""),
    }
    run_here("compare", "projects/multiged", **variables)
    table = project / "docs/training/results.jsonl"
    names = set(load_benchmark("results").read(table, "ged/"))
    assert names == {f"multiged-de/heads-{value}-{seed}" for value in (1, 4) for seed in (1, 2)}
    rows = ROOT / "benchmarks/ged_rows.json"
    text = load_benchmark("tables").ablation("ged/multiged-de", rows, table)
    cells = [line.split(" | ") for line in text.split("\n") if line.startswith("| ")]
    # two seeds each
    assert [(row[0], row[3]) for row in cells] == [("| heads", "runs"), ("| 1", "2"), ("| 4", "2")]
    # what is there is not trained again, and not taken for a result of other options
    before = table.read_bytes()
    assert "heads-4-2 is there" in run_here("compare", "projects/multiged", **variables)
    variables["options"] += " --training.dropout 0.1"
    with pytest.raises(AssertionError, match=r"ablate\.py"):
        run_here("compare", "projects/multiged", **variables)
    assert table.read_bytes() == before


@pytest.mark.slow
def test_compare_ged_on_a_small_encoder(
    project: Path, tmp_path: Path, run_here: Callable[..., str]
) -> None:
    pytest.importorskip("transformers")
    write_bert(tmp_path, ["abcdefghijklmnopqrstuvwxyz.,"])
    run_here("convert", "projects/realec", data=str(TOY_GED / "train.tsv"))
    every = "--components.gec_detector.model.layers.layers.encoder.trained_from 0"
    run_here(
        "compare-minilm",
        "projects/realec",
        encoder=str(tmp_path),
        seeds="1",
        options=f" {FEW_STEPS} {ON_ENCODER} {every}",
    )
    names = set(load_benchmark("results").read(project / "docs/training/results.jsonl", "ged/"))
    poolings = ("attention", "last", "average")
    assert names >= {f"realec-minilm/pooling-{pooling}-1" for pooling in poolings}


def test_open_text(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    """No line is lost or in two files, and none that holds edited text is in any."""
    edited = tmp_path / "edited"
    edited.mkdir()
    sentence = "The harvest of that year was better than anyone had dared to hope for."
    (edited / "news-measure.txt").write_text(f"{sentence}\n")
    lines = [f"line {n} " + "and so on and on " * 1600 for n in range(20)]
    text = tmp_path / "text.txt"
    text.write_text("\n".join([*lines, f"He said: {sentence}", ""]))
    run_here("open-text", "projects/realec", raw_text=str(text), sample="0", edited=str(edited))
    folder = project / "projects/realec/corpus/open"
    parts = [
        (folder / f"{name}.txt").read_text().splitlines()
        for name in ("text", "edited-train", "edited-dev")
    ]
    assert sorted(line.strip() for part in parts for line in part) == sorted(
        line.strip() for line in lines
    )
    # of 8,002 words a line: as many lines as reach 60,000 and 30,000
    assert [len(part) for part in parts] == [8, 8, 4]
    assert parts[0] + parts[1] != lines[:16]


def test_open_text_in_plain_words(
    project: Path, tmp_path: Path, run_here: Callable[..., str]
) -> None:
    """Of what isn't set aside, lines whose words are common ones, up to a number of words."""
    words = ["".join(letters) for letters in product(ascii_lowercase[:15], repeat=3)][:3000]
    common = " ".join(f"c{word}" for word in words)
    rare = [" ".join(first + word for word in words) for first in "wxyz"]
    text = tmp_path / "text.txt"
    text.write_text("\n".join([*[f"{common} c{n}" for n in range(40)], *rare]) + "\n")
    (tmp_path / "edited").mkdir()
    (tmp_path / "edited/news.txt").write_text("The harvest was better than hoped for.\n")
    run_here(
        "open-text",
        "projects/realec",
        raw_text=str(text),
        sample="0",
        edited=str(tmp_path / "edited"),
        split_options=" --plain 0.9 --words 20000",
    )
    lines = (project / "projects/realec/corpus/open/text.txt").read_text().splitlines()
    assert all(line.startswith("caaa caab") for line in lines)
    assert 20_000 <= sum(len(line.split()) for line in lines) < 20_000 + 3_001


@pytest.mark.slow
def test_train_ged_synthetic(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    """Then a training on REALEC may begin with what was learned of artificial errors."""
    small = f"{FEW_STEPS} {DETECTOR} {WITH_VECTORS}"
    run_here(
        "train-ged-synthetic",
        "projects/ewt",
        **toy_ewt(tmp_path),
        train_options=small,
    )
    assert len(detected(project / "projects/ewt/metrics/ged-synthetic.json")) == 1
    docs = read_docs(project / "projects/ewt/corpus/ged/dev.spacy")
    assert all("errors" in doc.spans for doc in docs)
    logged = run_here(
        "all",
        "projects/realec",
        data=str(TOY_GED / "train.tsv"),
        warm_start="../ewt/training/ged-synthetic/model-best",
        train_options=small + " --system.seed 2",
    )
    assert "parameters begin as those of ../ewt/training/ged-synthetic/model-best" in logged
