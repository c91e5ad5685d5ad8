"""F0.5 of error detection against recorded scores."""

import pytest

from spacy_lal.ged.scorer import DetectionReport


def names(labels):
    return ["ERROR" if label else "" for label in labels]


def test_recorded_scores(load_json):
    compared = 0
    for case in load_json("mhmla")["f05"]:
        report = DetectionReport()
        report.add(names(case["gold"]), names(case["pred"]))
        found = report.overall
        assert found.right == case["tp"]
        assert found.right + found.wrong == case["n_pred"]
        assert found.right + found.missed == case["n_gold"]
        # where nothing is right, the rules of MultiGED-2023 may say 1 instead of 0
        if case["tp"]:
            assert (found.p, found.r) == pytest.approx((case["P"], case["R"]))
            assert found.f() == pytest.approx(case["F05"])
            compared += 1
    assert compared
