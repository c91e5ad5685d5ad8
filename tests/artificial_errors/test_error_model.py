"""The JSON of error models, there and back, and what is said of bad ones."""

import json
import re

import pytest

from spacy_lal.artificial_errors.error_model import ErrorModel

from .small import MODEL


def test_round_trip(tmp_path):
    MODEL.save(tmp_path / "folder" / "model.json")
    assert ErrorModel.load(tmp_path / "folder" / "model.json") == MODEL


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], "v0", "format: Input should be 'spacy-lal.error-model.v1', not 'v0'"),
        (["lang"], 3, "lang: Input should be a valid string, not 3"),
        (["kinds"], [], "kinds: Input should be an object, not []"),
        (["kinds", "form", "rate"], "1", "kinds.form.rate: Input should be a valid number"),
        (["kinds", "form", "rate"], True, "kinds.form.rate: Input should be a valid number"),
        (["kinds", "form", "rates"], 1, "kinds.form.rates: Unexpected keyword argument"),
        (
            ["kinds", "form", "replacements", "walk", "walked"],
            -1,
            "kinds.form.replacements.walk.walked: Input should be greater than or equal to 0",
        ),
        (
            ["kinds", "form", "replacements", ""],
            {"x": 1},
            "kinds.form.replacements..[key]: String should have at least 1 character",
        ),
        (["kinds", "form", "insertions", ""], {}, "form.insertions..[key]: String should match"),
        (["kinds", "form", "insertions", "x"], {"after": {}}, "insertions.x.before: Field req"),
        (["noise", "shout"], 1, "noise.shout.[key]: Input should be 'transpose', 'omit',"),
        (["noise", "swap"], float("nan"), "noise.swap: Input should be less than"),
        (["kinds", "form", "rate"], 1e200, "kinds.form.rate: Input should be less than"),
        (["words"], "a b", "words: Input should be a valid array, not 'a b'"),
        (["closed"], [1], "closed.0: Input should be a valid string, not 1"),
    ],
)
def test_bad_models_are_located(path, value, message, tmp_path):
    MODEL.save(tmp_path / "good.json")
    data = json.loads((tmp_path / "good.json").read_text())
    *parents, key = path
    place = data
    for parent in parents:
        place = place[parent]
    place[key] = value
    file = tmp_path / "model.json"
    file.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=f"^{re.escape(str(file))}: .*{re.escape(message)}"):
        ErrorModel.load(file)


@pytest.mark.parametrize("text", [b"{", b"\xff", b"[]", b"{}"])
def test_what_is_no_model_at_all(text, tmp_path):
    file = tmp_path / "model.json"
    file.write_bytes(text)
    with pytest.raises(ValueError, match=r"model\.json: (top level|lang)"):
        ErrorModel.load(file)
