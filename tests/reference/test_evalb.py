"""EVALB: every row, total, summary and message of the compiled program."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from spacy_lal.scoring.evalb import EvalbParameters, EvalbReport, Summary, evaluate


def parameters(run: str, fixtures_dir: Path) -> EvalbParameters:
    """Those of a run: `folder/FILE.prm` with `-e 100000`, unless its name says otherwise."""
    stem = Path(run.split()[0]).stem
    params = EvalbParameters.load(stem)
    if (file := fixtures_dir / f"evalb_{stem}.prm").exists():
        assert EvalbParameters.load(file) == params, stem
    if "default MAX_ERROR" in run:
        return params
    params = replace(params, max_errors=100000)
    if "unlabeled cutoff" in run:
        params = replace(params, labeled=False, cutoff_length=int(run.rpartition("cutoff")[2]))
    return params


def row(report: EvalbReport, number: int) -> dict[str, Any]:
    result = report.sentences[number - 1]
    return {
        "id": number,
        "len": result.length,
        "stat": result.status,
        "recall": round(result.recall, 2),
        "prec": round(result.precision, 2),
        "match": result.matched,
        "gold": result.gold,
        "test": result.test,
        "cross": result.crossing,
        "words": result.words,
        "tags": result.tags,
        "tagacc": round(result.tag_accuracy, 2),
    }


def printed(summary: Summary) -> dict[str, str]:
    return {key.strip(): value.strip() for key, value in (s.split("=") for s in summary.lines())}


def same_numbers(ours: dict[str, str], theirs: dict[str, str]) -> bool:
    """Equal as printed; C prints the sign of a nan."""
    return ours.keys() == theirs.keys() and all(
        ours[k] == v or (math.isnan(float(v)) and math.isnan(float(ours[k])))
        for k, v in theirs.items()
    )


def test_equals_the_compiled_program(fixtures_dir, load_json):
    fixture = load_json("evalb")
    gold = [pair["gold"] for pair in fixture["pairs"]]
    test = [pair["test"] for pair in fixture["pairs"]]
    for run, expected in fixture["runs"].items():
        report = evaluate(gold, test, parameters(run, fixtures_dir))
        assert report.aborted == bool(expected["returncode"]), run
        text = report.format()
        if report.aborted:
            assert len(report.sentences) == expected["n_sent_printed"], run
            assert ("=== Summary ===" in text) == expected["has_summary"], run
            tail = expected["stderr_tail"]
            assert list(report.errors[-len(tail) :]) == tail, run
            continue
        rows = [row(report, number) for number in range(1, len(report.sentences) + 1)]
        mismatches = [(a, b) for a, b in zip(rows, expected["sent"], strict=True) if a != b]
        assert not mismatches, (run, mismatches[:3])
        (totals,) = (
            line
            for line, after in zip(text.split("\n"), text.split("\n")[1:], strict=False)
            if after == "=== Summary ==="
        )
        assert totals.split() == expected["totals_line"], run
        cutoff = f"len<={report.params.cutoff_length}"
        ours = {"All": report.summary, cutoff: report.cutoff_summary}
        assert ours.keys() == expected["summary"].keys(), run
        for name, summary in ours.items():
            assert same_numbers(printed(summary), expected["summary"][name]), (run, name)
        assert list(report.errors) == expected["stderr"], run
        assert len(text.splitlines()) == expected["stdout_lines"], run
