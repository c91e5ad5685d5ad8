"""Tables of what parts of a parser are worth."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import srsly
from spacy.tokens import Doc

from .running import ATTACHMENT, FEW_STEPS, ROOT, load_benchmark
from .test_configs import read as read_config
from .toy_treebanks import toy_ewt
from .two_steps import trained_two_steps


def test_ablation(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    results = project / "docs/training/results.jsonl"
    page = project / "projects/ewt/metrics/ablation.md"
    read = load_benchmark("results").read
    variables = toy_ewt(tmp_path) | {
        "rows": "base,matrix-project",
        "seeds": "1",
        "options": FEW_STEPS,
    }
    run_here("ablate", "projects/ewt", **variables)
    base = read(results)["ablation/base-1"]
    assert [point["step"] for point in base["curve"]] == [0, 2]
    assert base["seed"] == 1
    assert (base["config"], base["base"]) == ("benchmarks/ablation_rows.json", "bilstm")
    assert base["options"]["training.max_steps"] == 2
    assert set(base["test"]) >= {"const_evalb_f", *ATTACHMENT}
    assert base["training_words_per_cpu_second"] > 0
    changed = read(results)["ablation/matrix-project-1"]
    assert {key.rpartition(".")[2]: value for key, value in changed["settings"].items()} == {
        "query": "matrix",
        "combine": "project",
    }
    text = page.read_text("utf8")
    assert "| matrix | projected |" in text
    assert re.search(r"\| vector \| side by side \|.*\| 1 \| 96\.38 \| 97\.42 \| 96\.26 \|", text)
    # what is there is not trained again, and a page that isn't ours not written over
    before = results.read_text("utf8")
    printed = run_here("ablate", "projects/ewt", **variables | {"rows": "base"})
    assert "ablation/base-1 is there" in printed
    assert results.read_text("utf8") == before
    assert page.read_text("utf8") == text
    page.write_text("mine\n", "utf8")
    with pytest.raises(AssertionError, match=r"tables\.py"):
        run_here("ablate", "projects/ewt", **variables | {"rows": "base"})
    assert page.read_text("utf8") == "mine\n"


@pytest.mark.slow
def test_ablation_of_two_stage_parsers(
    project: Path, tmp_path: Path, run_here: Callable[..., str]
) -> None:
    run_here(
        "ablate-crf",
        "projects/ewt",
        **toy_ewt(tmp_path),
        crf_rows="crf,heads-64,spanformer",
        seeds="1",
        options=FEW_STEPS,
    )
    table = project / "docs/training/results.jsonl"
    results = load_benchmark("results").read(table, "crf/")
    assert set(results) == {"crf-1", "heads-64-1", "spanformer-1"}
    assert len({result["parameters"] for result in results.values()}) == 3
    text = (project / "projects/ewt/metrics/crf-tables.md").read_text("utf8")
    assert re.search(r"### Three two-stage parsers\n.*\n(\|.*\n){5}", text)
    # tables of which one row was run are left out
    assert re.findall(r"\| (none, and no branch|none|\d\d) \|.*\| 1 \| (\S+) \|", text) == [
        ("none, and no branch", "81.69"),
        ("64", "83.08"),
    ]


FILES = {
    # names of some rows and tables, and how many rows these are
    "ablation_rows": ("table 1,table 2", 7),  # one row is in both
    "crf_rows": ("parsers,heads,content", 8),
    "spanformer_rows": ("table 1,layers", 5),
    "vtb_rows": ("table 1,table 2", 10),
    "srl_rows": ("*", 2),
    "ged_rows": ("pooling-*", 3),
}


@pytest.mark.parametrize("name", FILES)
def test_every_row_is_a_change_of_a_base(name: str) -> None:
    names, count = FILES[name]
    ablate = load_benchmark("ablate")
    known = srsly.read_json(ROOT / f"benchmarks/{name}.json")
    configs = [ablate.base_config(base, known["bases"]) for base in known["bases"]]
    changed = {
        row: tuple(ablate.with_settings(of, settings, new=True).to_str() for of in configs)
        for row, settings in known["rows"].items()
    }
    assert len(changed) - len(set(changed.values())) <= 1
    tables = known.get("tables", {})
    assert {row for of in tables.values() for row in of["rows"]} in (set(), set(changed))
    for of in tables.values():
        assert {len(cells) for cells in of["rows"].values()} == {len(of["columns"])}
    assert len(ablate.chosen_rows(names, known)) == count
    with pytest.raises(ValueError, match="no row or table 'tabel 1'"):
        ablate.chosen_rows("tabel 1", known)
    with pytest.raises(ValueError, match=r"the config has no training\.max_stepz"):
        ablate.with_settings(configs[0], {"training.max_stepz": 1})


def test_a_schedule_hears_of_scores() -> None:
    """The learning rate of configs/ptb.cfg falls by them."""
    ablate = load_benchmark("ablate")
    logger = {"@loggers": ablate.LOGGER}
    bases = srsly.read_json(ROOT / "benchmarks/ablation_rows.json")["bases"]
    training = ablate.logged(ablate.base_config("xlnet", bases))["training"]
    assert training["logger"] == {"@loggers": "spacy-lal.PlateauLogger.v1", "logger": logger}
    training = ablate.logged(ablate.base_config("bilstm", bases))["training"]
    assert training["logger"] == logger


@pytest.mark.parametrize(("base", "command"), [("fasttext", "train"), ("xlmr", "train-xlmr")])
def test_a_base_has_the_settings_of_a_workflow(base: str, command: str) -> None:
    bases = srsly.read_json(ROOT / "benchmarks/spanformer_rows.json")["bases"]
    config = load_benchmark("ablate").base_config(base, bases)
    expected = read_config(f"projects/ftb {command}")
    config["initialize"]["vectors"] = expected["initialize"]["vectors"]
    for of in (config, expected):
        del of["paths"]
    assert config == expected


@pytest.mark.slow
def test_every_row_of_two_stage_parsers_trains() -> None:
    ablate = load_benchmark("ablate")
    known = srsly.read_json(ROOT / "benchmarks/crf_rows.json")
    base = ablate.base_config("bilstm", known["bases"])
    for settings in known["rows"].values():
        nlp = trained_two_steps(ablate.with_settings(base, settings))
        doc = Doc(nlp.vocab, ["The", "door", "opened", "."], tags=["DT", "NN", "VBD", "."])
        assert nlp(doc)._.trees


def test_the_page_describes_the_model_that_ran() -> None:
    ablate = load_benchmark("ablate")
    bases = srsly.read_json(ROOT / "benchmarks/ablation_rows.json")["bases"]
    parser = ablate.base_config("bilstm", bases)["components"]["lal_constituency"]["model"]
    width, encoder = parser["input_encoder"]["hidden_width"], parser["encoder"]
    text = " ".join((ROOT / "docs/results.md").read_text("utf8").split())
    heads = f"{encoder['heads']} heads of {encoder['projection_width']} features instead"
    assert f"a BiLSTM of {width} below, {heads}" in text
