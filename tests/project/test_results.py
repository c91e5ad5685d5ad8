"""The table of results, and the pages and pictures that are made from it."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
import srsly
from cogapp import Cog

from .running import ROOT, load_benchmark

RESULT = {
    "seed": 1,
    "dev": {"f": 0.12345, "of": [1, 2]},
    "curve": [{"step": 0, "f": 0.0}, {"step": 2, "f": 0.5}],
    "results": [{"decoder": "valid", "bins": [{"count": 3}]}],
    "none": [],
}
PAGES = [path for path in sorted((ROOT / "docs").glob("*.md")) if "[[[cog" in path.read_text()]


def test_a_run_comes_back_as_it_was(tmp_path: Path) -> None:
    results, table = load_benchmark("results"), tmp_path / "new/results.jsonl"
    assert results.read(table) == {}
    results.add("a/x-1", RESULT, table)
    results.add("b/é", {"seed": 2}, table)
    assert len(table.read_text("utf8").splitlines()) == 5  # one each, three evaluations
    assert results.read(table) == {"a/x-1": RESULT, "b/é": {"seed": 2}}
    assert results.read(table, "a/") == {"x-1": RESULT}


def test_no_run_is_written_over(tmp_path: Path) -> None:
    results, table = load_benchmark("results"), tmp_path / "results.jsonl"
    results.add("a", RESULT, table)
    before = table.read_bytes()
    with pytest.raises(ValueError, match=r"results.jsonl has a run a already"):
        results.add("a", {"seed": 3}, table)
    for result in ({"run": 1}, {"curve": [{"run": "other"}]}, {"curve": [{"part": "other"}]}):
        with pytest.raises(ValueError, match="can't have the keys run and part"):
            results.add("b", result, table)
    assert table.read_bytes() == before


@pytest.mark.parametrize("line", ["{", "[]", '{"step": 1}', ""])
def test_a_broken_line_is_named(line: str, tmp_path: Path) -> None:
    table = tmp_path / "results.jsonl"
    table.write_text(f'{{"run": "a"}}\n{line}\n{{"run": "b"}}\n', "utf8")
    with pytest.raises(ValueError, match=r"results.jsonl, line 2: no line of results"):
        load_benchmark("results").read(table)


def test_results_and_logs_are_added(tmp_path: Path) -> None:
    results, table = load_benchmark("results"), tmp_path / "results.jsonl"
    (tmp_path / "score.json").write_text(json.dumps(RESULT))
    srsly.write_jsonl(tmp_path / "log.jsonl", RESULT["curve"])
    results.main("score", tmp_path / "score.json", table)
    results.main("log", tmp_path / "log.jsonl", table)
    assert results.read(table) == {"score": RESULT, "log": {"curve": RESULT["curve"]}}


def test_mean_and_standard_deviation() -> None:
    spread = load_benchmark("tables").spread
    assert [spread(values) for values in ([], [1.0], [1.0, 3.0])] == ["–", "1.00", "2.00 ± 1.41"]


def test_runs_of_two_sizes_make_no_table(tmp_path: Path) -> None:
    results, tables = load_benchmark("results"), load_benchmark("tables")
    table, rows = tmp_path / "results.jsonl", ROOT / "benchmarks/ablation_rows.json"
    with pytest.raises(ValueError, match="ablation: no results"):
        tables.ablation("ablation", rows, table)
    for name, options in (("a", {}), ("b", {"training.max_steps": 2})):
        size = {
            "row": "base",
            "config": "c",
            "base": "b",
            "options": options,
            "evalb_parameters": "nk",
        }
        results.add(f"ablation/{name}", size, table)
    with pytest.raises(ValueError, match="results of 2 sizes"):
        tables.ablation("ablation", rows, table)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_have_what_the_table_says(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    cog = Cog()
    cog.options.include_path = [str(ROOT / "benchmarks")]
    before = page.read_text("utf8")
    assert cog.process_string(before, str(page)) == before  # `make docs` writes them


def test_pages_with_tables() -> None:
    assert {"pretrained", "results", "srl"} <= {page.stem for page in PAGES}


def test_pictures_show_what_the_table_says() -> None:
    folder = ROOT / "docs/training"
    pictures = load_benchmark("pictures").pictures()
    assert {path.name for path in folder.iterdir()} == {"results.jsonl", *pictures}
    for name, picture in pictures.items():
        assert (folder / name).read_text("utf8") == picture, name  # `make docs` draws them


def test_runs_that_pages_name_are_in_the_table() -> None:
    runs = set(load_benchmark("results").read())
    for page in PAGES:
        text = page.read_text("utf8")
        for names in re.findall(r"\b[Rr]uns?\s((?:`[^`]+`(?:,\s| and\s)?)+)", text):
            for name in re.findall(r"`([^`]+)`", names):
                group = name.removesuffix("…")
                assert any(r == name or (r.startswith(group) and group != name) for r in runs), name


def test_the_picture_of_speed_has_the_figures_of_the_pages() -> None:
    figures = tomllib.loads((ROOT / "docs/pictures/speed.toml").read_text("utf8"))
    for name, of in figures.items():
        page = (ROOT / f"docs/{name}.md").read_text("utf8")
        assert f"{of['f1']:.2f}" in page, name
        for key in ("all", "parser"):
            assert f"{of[key]:,}" in page, f"{key} of {name}"
    picture = load_benchmark("pictures").speed_svg(figures)
    assert (ROOT / "docs/pictures/speed.svg").read_text("utf8") == picture
