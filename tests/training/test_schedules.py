"""Learning rates by hand; recorded ones are in tests/reference."""

from __future__ import annotations

import time
import warnings
from itertools import islice
from pathlib import Path

import pytest
import spacy
from spacy.util import registry
from typer.testing import CliRunner

from spacy_lal.cli import app
from spacy_lal.training.checkpoint import CHECKPOINT, Progress, read_state
from spacy_lal.training.schedules import Falling, make_inverse_sqrt, tell_share

TOY = Path(__file__).parents[2] / "assets" / "toy"


def test_by_hand() -> None:
    """4^(-3/2) = 1/8 a step up to 4^(-1/2) = 1/2 at step 4; 9^(-1/2) = 1/3 at step 9."""
    rates = list(islice(make_inverse_sqrt(2.0, 4), 9))
    assert rates[:4] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert rates[8] == pytest.approx(2 / 3)


@pytest.mark.parametrize("steps", [0, -1])
def test_no_warmup_steps(steps: int) -> None:
    with pytest.raises(ValueError, match=rf"warmup_steps .* must be at least 1, not {steps}"):
        make_inverse_sqrt(0.04, steps)


def test_from_a_config() -> None:
    block = {"@schedules": "spacy-lal.inverse_sqrt.v1", "factor": 0.04, "warmup_steps": 8000}
    schedule = registry.resolve({"learn_rate": block})["learn_rate"]
    assert next(schedule) == pytest.approx(0.04 * 8000**-1.5)


def test_falls_with_the_share_that_is_over() -> None:
    """Half of the warm-up at update 1; a quarter of the training is over at update 3."""
    schedule = Falling(0.8, warmup_steps=2)
    rates = []
    for share in (0.0, 0.0, 0.25, 0.5, 1.0, 1.5):
        tell_share(share)
        rates.append(next(schedule))
    assert rates == pytest.approx([0.4, 0.8, 0.6, 0.4, 0.0, 0.0])


def test_whichever_end_is_nearer() -> None:
    progress = Progress(steps=30, seconds=40.0)
    assert progress.share(100, 0) == 0.3
    assert progress.share(0, 80) == 0.5
    assert progress.share(100, 80) == 0.5
    assert progress.share(40, 80) == 0.75
    assert progress.share(0, 0) == 0.0


def test_warns_where_nobody_says_how_near_the_end_is() -> None:
    schedule = Falling(0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [next(schedule), next(schedule)] == [0.5, 0.5]
        with pytest.raises(UserWarning, match=r"falling\.v1 doesn't know when training ends"):
            next(schedule)


def test_training_ends_after_its_minutes(tmp_path: Path) -> None:
    """With an evaluation, though neither max_steps nor eval_frequency asks for one, and a
    pipeline."""
    nlp = spacy.blank("en")
    nlp.add_pipe("lal_constituency")
    config = nlp.config.copy()
    corpus = str(tmp_path / "dev.spacy")
    CliRunner().invoke(app, ["convert", "brackets", str(TOY / "dev.mrg"), corpus])
    reader = {"@readers": "spacy-lal.Corpus.v1", "path": corpus}
    config["corpora"] = {"train": reader, "dev": reader}
    config["training"] |= {"max_steps": 0, "max_epochs": 0, "patience": 0, "eval_frequency": 10**6}
    rate = {"@schedules": "spacy-lal.falling.v1", "learn_rate": 0.01, "warmup_steps": 1}
    config["training"]["optimizer"]["learn_rate"] = rate
    config.to_disk(tmp_path / "config.cfg")
    began = time.monotonic()
    args = ["train", str(tmp_path / "config.cfg"), "--output", str(tmp_path / "out")]
    result = CliRunner().invoke(app, [*args, "--minutes", "0.02"])
    assert result.exit_code == 0, result.output
    assert time.monotonic() - began < 60
    state = read_state(tmp_path / "out")
    assert state is not None, CHECKPOINT
    progress = state["progress"]
    assert progress["seconds"] >= 1.2
    assert [step for _, step in progress["results"]] == [0, progress["steps"] - 1]
    assert spacy.load(tmp_path / "out" / "model-best").pipe_names == ["lal_constituency"]
