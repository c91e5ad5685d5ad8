"""Tables of what parts of a parser are worth."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import srsly
from thinc.api import Config

from .running import ATTACHMENT, FEW_STEPS, ROOT, load_benchmark
from .toy_treebanks import toy_ewt
from .two_steps import trained_two_steps


def test_ablation(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    results = project / "docs/training/results.jsonl"
    page = project / "projects/ewt/metrics/ablation.md"
    read = load_benchmark("results").read
    variables = toy_ewt(tmp_path) | {
        "ablation_rows": "base,matrix-project",
        "seeds": "1",
        "options": FEW_STEPS,
    }
    run_here("ablate", "projects/ewt", **variables)
    base = read(results)["ablation/base-1"]
    assert [point["step"] for point in base["curve"]] == [0, 2]
    assert base["seed"] == 1
    assert base["config"] == "benchmarks/ewt_ablation.cfg"
    assert base["options"] == {"training.max_steps": 2, "training.eval_frequency": 2}
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
    printed = run_here("ablate", "projects/ewt", **variables | {"ablation_rows": "base"})
    assert "ablation/base-1 is there" in printed
    assert results.read_text("utf8") == before
    assert page.read_text("utf8") == text
    page.write_text("mine\n", "utf8")
    with pytest.raises(AssertionError, match=r"tables\.py"):
        run_here("ablate", "projects/ewt", **variables | {"ablation_rows": "base"})
    assert page.read_text("utf8") == "mine\n"


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


ABLATIONS = {
    # base config, rows, base row, names of some tables and how many rows these have
    "ewt_ablation": ("ablation_rows", "base", "table 1,table 2", 7),  # one row is in both
    "ewt_crf_ablation": ("crf_rows", "crf", "parsers,heads,content", 7),
    "minilm_ablation": ("minilm_rows", "base", "table 1,table 2", 7),
}


@pytest.mark.parametrize("name", ABLATIONS)
def test_every_row_is_a_change_of_the_base_config(name: str) -> None:
    rows, first, names, count = ABLATIONS[name]
    ablate = load_benchmark("ablate")
    table = srsly.read_json(ROOT / f"benchmarks/{rows}.json")
    base = Config().from_disk(ROOT / f"benchmarks/{name}.cfg", interpolate=False)
    changed = {
        row: ablate.with_settings(base, settings).to_str()
        for row, settings in table["rows"].items()
    }
    assert changed[first] == base.to_str()
    assert len(set(changed.values())) == len(changed)
    assert {row for of in table["tables"].values() for row in of["rows"]} == set(changed)
    for of in table["tables"].values():
        assert {len(cells) for cells in of["rows"].values()} == {len(of["columns"])}
    assert len(ablate.chosen_rows(names, table["rows"], table["tables"])) == count
    with pytest.raises(ValueError, match="no row or table 'tabel 1'"):
        ablate.chosen_rows("tabel 1", table["rows"], table["tables"])
    with pytest.raises(ValueError, match=r"the config has no training\.max_stepz"):
        ablate.with_settings(base, {"training.max_stepz": 1})


def test_every_row_of_two_stage_parsers_trains() -> None:
    ablate = load_benchmark("ablate")
    base = Config().from_disk(ROOT / "benchmarks/ewt_crf_ablation.cfg", interpolate=False)
    for settings in srsly.read_json(ROOT / "benchmarks/crf_rows.json")["rows"].values():
        nlp = trained_two_steps(ablate.with_settings(base, settings))
        assert nlp("The door opened.")._.trees


def test_the_page_describes_the_model_that_ran() -> None:
    model = Config().from_disk(ROOT / "benchmarks/ewt_ablation.cfg", interpolate=False)
    parser = model["components"]["lal_constituency"]["model"]
    width, encoder = parser["input_encoder"]["hidden_width"], parser["encoder"]
    text = " ".join((ROOT / "docs/results.md").read_text("utf8").split())
    heads = f"{encoder['heads']} heads of {encoder['projection_width']} features instead"
    assert f"a BiLSTM of {width} below, {heads}" in text
    assert f"through projections to {encoder['projection_width']} features a head" in text
