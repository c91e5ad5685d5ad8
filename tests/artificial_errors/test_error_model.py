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
        (["format"], "v0", "format: expected 'spacy-lal.error-model.v1', found 'v0'"),
        (["lang"], 3, "lang: expected a string, found 3"),
        (["kinds"], [], "kinds: expected an object, found []"),
        (["kinds", "form", "rate"], "1", "kinds.form.rate: expected a number, found '1'"),
        (["kinds", "form", "rate"], True, "kinds.form.rate: expected a number, found True"),
        (["kinds", "form", "rates"], 1, "kinds.form: unknown key 'rates'"),
        (
            ["kinds", "form", "replacements", "walk", "walked"],
            -1,
            "kinds.form.replacements.walk.walked: expected a number from 0 to 1e+50, found -1",
        ),
        (
            ["kinds", "form", "replacements", ""],
            {"x": 1},
            "kinds.form.replacements: an empty phrase can't be replaced",
        ),
        (["kinds", "form", "insertions", ""], {}, "nothing to insert"),
        (["kinds", "form", "insertions", "x"], {"after": {}}, "insertions.x: no 'before'"),
        (["noise", "shout"], 1, "noise.shout: no such noise"),
        (
            ["noise", "swap"],
            float("nan"),
            "noise.swap: expected a number from 0 to 1e+50, found nan",
        ),
        (["kinds", "form", "rate"], 1e200, "kinds.form.rate: expected a number from 0 to 1e+50"),
        (["words"], "a b", "words: expected a list of strings, found 'a b'"),
        (["closed"], [1], "closed: expected a list of strings"),
    ],
)
def test_bad_models_are_located(path, value, message, tmp_path):
    data = MODEL.to_dict()
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
    with pytest.raises(ValueError, match=r"model\.json: (not JSON|top level)"):
        ErrorModel.load(file)
