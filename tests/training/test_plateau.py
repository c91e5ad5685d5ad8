"""The rate that falls on a plateau: by hand, against torch's, and in spaCy's training loop."""

from __future__ import annotations

import io
from itertools import islice
from typing import Any

import numpy
import pytest
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_model_from_config, registry
from thinc.api import Config
from torch.optim.lr_scheduler import ReduceLROnPlateau

from spacy_lal.training.schedules import Plateau, make_plateau_logger


def falls(scores: list[float], every: int = 1, **settings: Any) -> list[int]:
    """How often the rate fell until each of these evaluations, one every so many updates."""
    plateau = Plateau(1.0, **settings)
    checkpoints, found = [], []
    for k, score in enumerate(scores):
        checkpoints.append((score, k * every))
        plateau.set_scores(checkpoints)
        found.append(plateau.falls or 0)
    return found


def test_by_hand() -> None:
    """Five that are no better pass, the sixth lowers the rate; a tie is no better."""
    scores = [0.80, 0.79, 0.80, 0.78, 0.80, 0.75, 0.80, 0.79]
    assert falls(scores) == [0, 0, 0, 0, 0, 0, 1, 1]


def test_anything_better_begins_anew() -> None:
    scores = [0.80, 0.79, 0.79, 0.81, 0.80, 0.80, 0.80, 0.80]
    assert falls(scores, patience=2) == [0, 0, 0, 0, 0, 0, 1, 1]


def test_falls_again() -> None:
    """Three more that are no better than the best ever, though they rise."""
    assert falls([0.9, 0.5, 0.6, 0.7, 0.8, 0.85, 0.86], patience=2) == [0, 0, 0, 1, 1, 1, 2]


def test_better_is_by_a_ten_thousandth() -> None:
    """0.80008 is 1.0001 times 0.8; small steps add up."""
    assert falls([0.8, 0.80004, 0.80007], patience=1) == [0, 0, 1]
    assert falls([0.8, 0.80005, 0.80010, 0.80015], patience=1) == [0, 0, 0, 0]


def test_evaluations_in_the_warm_up_do_not_count() -> None:
    """Evaluations at updates 1, 11, 21, ...; the warm-up's last update is the 21st, and its 0.9 is
    the best score of the first that counts."""
    scores = [0.9, 0.1, 0.2, 0.3, 0.4]
    assert falls(scores, every=10, warmup_steps=21, patience=1) == [0, 0, 0, 0, 1]
    assert falls(scores, every=10, warmup_steps=22, patience=1) == [0, 0, 0, 0, 0]


def test_several_evaluations_that_count_as_one() -> None:
    """Pairs have as best so far 2, 3, 3, 3: the third and fourth are no better."""
    assert falls([1, 2, 3, 1, 1, 3, 2, 2, 4], evaluations=2, patience=1) == [0] * 7 + [1, 1]


@pytest.mark.parametrize("seed", range(5))
def test_as_reduce_lr_on_plateau(seed: int) -> None:
    """As the released code calls it: at the end of epochs of four, with the best score so far."""
    scores = numpy.random.default_rng(seed).normal(90, 1, 200).tolist()
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    theirs = ReduceLROnPlateau(optimizer, "max", factor=0.5, patience=5, eps=0)
    wanted = []
    for k in range(200):
        if k % 4 == 3:
            theirs.step(max(scores[: k + 1]))
        wanted.append(optimizer.param_groups[0]["lr"])
    assert wanted == [0.5**n for n in falls(scores, evaluations=4)]
    assert wanted[-1] < 0.1


def test_rates() -> None:
    plateau = Plateau(0.8, warmup_steps=4, patience=0, factor=0.25)
    assert list(islice(plateau, 2)) == pytest.approx([0.2, 0.4])
    plateau.set_scores([(0.5, 0)])
    assert list(islice(plateau, 4)) == pytest.approx([0.6, 0.8, 0.8, 0.8])
    plateau.set_scores([(0.5, 0), (0.6, 4), (0.6, 5)])
    assert next(plateau) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"factor": 1.0}, "spacy-lal.plateau.v1 needs .*factor=1.0"),
        ({"factor": 0.0}, "spacy-lal.plateau.v1 needs .*factor=0.0"),
        ({"patience": -1}, "spacy-lal.plateau.v1 needs .*patience=-1"),
        ({"warmup_steps": -1}, "spacy-lal.plateau.v1 needs .*warmup_steps=-1"),
        ({"evaluations": 0}, "spacy-lal.plateau.v1 needs .*evaluations=0"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Plateau(0.1, **settings)


CONFIG = """
[nlp]
lang = "en"
pipeline = ["tagger"]

[components]

[components.tagger]
factory = "tagger"

[components.tagger.model]
@architectures = "spacy.Tagger.v2"

[components.tagger.model.tok2vec]
@architectures = "spacy.HashEmbedCNN.v2"
width = 4
depth = 1
embed_size = 10
window_size = 1
maxout_pieces = 2
subword_features = false
pretrained_vectors = null

[corpora]

[corpora.train]
@readers = "spacy-lal.one_word.v1"

[corpora.dev]
@readers = "spacy-lal.one_word.v1"

[training]
train_corpus = "corpora.train"
dev_corpus = "corpora.dev"
seed = 1
patience = 0
max_steps = 9
eval_frequency = 2

[training.logger]
@loggers = "spacy-lal.PlateauLogger.v1"

[training.logger.logger]
@loggers = "spacy.ConsoleLogger.v1"

[training.optimizer]
@optimizers = "spacy-lal.GroupedAdam.v1"
groups = [{"names": "W|E", "factor": 0.5}]

[training.optimizer.learn_rate]
@schedules = "spacy-lal.plateau.v1"
learn_rate = 0.08
warmup_steps = 2
patience = 1

[training.score_weights]
tag_acc = 1.0
"""


@registry.readers("spacy-lal.one_word.v1")
def one_word() -> Any:
    def read(nlp: Language) -> list[Example]:
        reference = Doc(nlp.vocab, words=["word"], tags=["N"])  # type: ignore[call-arg]
        return [Example(nlp.make_doc("word"), reference)]

    return read


@pytest.fixture
def rates(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Those that schedules give out."""
    found: list[float] = []
    given = Plateau.__next__

    def recording(self: Plateau) -> float:
        found.append(given(self))
        return found[-1]

    monkeypatch.setattr(Plateau, "__next__", recording)
    return found


def trained(config: Config, rates: list[float], monkeypatch: pytest.MonkeyPatch) -> str:
    """Train; scores are 0.5, 0.6, 0.6, 0.6, 0.9 after steps 0, 2, 4, 6, 8."""
    nlp = init_nlp(load_model_from_config(config, auto_fill=True).config)
    scores = iter([0.5, 0.6, 0.6, 0.6, 0.9])
    monkeypatch.setattr(nlp, "evaluate", lambda examples: {"tag_acc": next(scores)})
    rates.clear()
    log = io.StringIO()
    train(nlp, stdout=log)
    return log.getvalue()


def test_in_training(rates: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """The evaluations after steps 4 and 6 are no better than that after step 2; step 8 is the first
    that the lower rate reaches."""
    log = trained(Config().from_str(CONFIG), rates, monkeypatch)
    assert rates == pytest.approx([0.04, *[0.08] * 7, 0.04, 0.04, 0.04])
    assert "90.00" in log or "0.90" in log


def test_the_logger_is_missing(rates: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    config = Config().from_str(CONFIG)
    config["training"]["logger"] = {"@loggers": "spacy.ConsoleLogger.v1"}
    with pytest.warns(UserWarning, match=r"gets no scores: \[training\.logger\]"):
        trained(config, rates, monkeypatch)
    assert rates[-1] == pytest.approx(0.08)


def test_finalize_is_the_other_loggers() -> None:
    calls: list[Any] = []
    logger = make_plateau_logger(lambda nlp, out, err: (calls.append, lambda: calls.append("end")))
    log_step, finalize = logger(Language(), io.StringIO(), io.StringIO())
    log_step(None)
    finalize()
    assert calls == [None, "end"]
