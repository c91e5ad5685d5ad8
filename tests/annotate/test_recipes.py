"""What docs/usage/scale.md shows for other engines gives the records of `annotate_batch`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from spacy.language import Language

from spacy_lal.annotate import annotate_batch
from tests.docs.pages import ROOT, blocks

from .test_records import TEXTS, _no_scores

RECORDS = [{"id": str(k), "lang": "en", "text": text} for k, text in enumerate(TEXTS)]


@pytest.fixture(scope="module")
def recipes() -> dict[str, Any]:
    """Functions of the page, as in a program: engines send what is in `__main__` as it is."""
    names: dict[str, Any] = {"__name__": "__main__"}
    page = (ROOT / "docs/usage/scale.md").read_text("utf8")
    for block in blocks(page):
        if block.language == "python":
            exec(block.text, names)
    return names


@pytest.fixture(scope="module")
def expected(nlp: Language) -> list[dict[str, Any]]:
    return annotate_batch(RECORDS, nlp)


def check(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    found = sorted(found, key=lambda record: record["id"])
    assert _no_scores(found) == _no_scores(expected)
    assert _scores(found) == pytest.approx(_scores(expected), abs=1e-4)


def _scores(value: Any) -> list[float]:
    if isinstance(value, dict):
        own = [value["score"]] if isinstance(value.get("score"), float) else []
        return own + [score for inner in value.values() for score in _scores(inner)]
    return [s for inner in value for s in _scores(inner)] if isinstance(value, list) else []


def test_spark(
    recipes: dict[str, Any],
    folder: Path,
    expected: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sql = pytest.importorskip("pyspark.sql", reason="pip install pyspark pandas pyarrow")
    pytest.importorskip("pandas")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.master("local[2]")
    for name, value in (
        ("spark.ui.enabled", "false"),
        ("spark.driver.host", "127.0.0.1"),
        ("spark.driver.bindAddress", "127.0.0.1"),
        ("spark.sql.shuffle.partitions", "2"),
    ):
        builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
    except Exception as error:
        pytest.skip(f"no Java for Spark: {str(error).splitlines()[0]}")
    try:
        frame = spark.createDataFrame(RECORDS).repartition(2)
        rows = recipes["with_spark"](frame, str(folder)).collect()
    finally:
        spark.stop()
    check([json.loads(row.record) for row in rows], expected)


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_dask(
    scheduler: str, recipes: dict[str, Any], folder: Path, expected: list[dict[str, Any]]
) -> None:
    bag = pytest.importorskip("dask.bag", reason="pip install 'dask[bag]'")
    records = bag.from_sequence(RECORDS, npartitions=3)
    found = recipes["with_dask"](records, str(folder)).compute(scheduler=scheduler)
    check(found, expected)


@pytest.fixture
def ray() -> Iterator[Any]:
    ray = pytest.importorskip("ray", reason="pip install 'ray[data]'")
    for needed in ("pandas", "pyarrow"):
        pytest.importorskip(needed)
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


def test_ray_data(
    ray: Any, recipes: dict[str, Any], folder: Path, expected: list[dict[str, Any]]
) -> None:
    import ray.data

    found = recipes["with_ray_data"](ray.data.from_items(RECORDS), str(folder)).take_all()
    check([json.loads(row["record"]) for row in found], expected)


def test_pandas(recipes: dict[str, Any], nlp: Language, expected: list[dict[str, Any]]) -> None:
    pandas = pytest.importorskip("pandas")
    table = recipes["lines"](pandas.DataFrame(RECORDS), nlp)
    check([json.loads(line) for line in table["record"]], expected)


def test_threads_take_turns(nlp: Language, expected: list[dict[str, Any]]) -> None:
    """Strings that one thread's zone frees would be those of another."""
    with ThreadPoolExecutor(4) as threads:
        runs = list(threads.map(lambda _: annotate_batch(RECORDS, nlp, batch_tokens=5), range(8)))
    for found in runs:
        check(found, expected)
