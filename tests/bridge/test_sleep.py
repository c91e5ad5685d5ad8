"""Weights that are stored in 8 bits are asleep while no computation reads them.

The truth is a twin: the same weights, unpacked by hand, in a pipeline that has float32 on disk.
"""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
import pytest
import safetensors.torch
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Adam, fix_random_seed

from spacy_lal.bridge.shim import TorchShim, torch_shim, torch_shims
from spacy_lal.bridge.warm_start import take_weights
from spacy_lal.bridge.weights import SCALE, WEIGHTS, store_as, to_int8
from spacy_lal.interpret import explain
from spacy_lal.layers.prepared import awake
from spacy_lal.training.checkpoint import read_weights
from tests.pipeline.contract import annotations, copy_of, same
from tests.pipeline.toy import examples

PIPE = "lal_constituency"
WORDS = ["The", "dog", "saw", "a", "cat", "with", "the", "old", "man", "."]


def shim_of(nlp: Language) -> TorchShim:
    return torch_shim(nlp.get_pipe(PIPE).model)


def scores_of(nlp: Language) -> numpy.ndarray:
    (batch,) = nlp.get_pipe(PIPE).model.predict([Doc(nlp.vocab, WORDS)]).batches
    return batch.scores.labels.numpy()


def resident(nlp: Language) -> int:
    """Bytes that the parameters of the parser's network take."""
    return sum(p.untyped_storage().nbytes() for p in shim_of(nlp).module.parameters())


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A pipeline stored in 8 bits, and its twin."""
    packed, twin = (tmp_path_factory.mktemp("sleep") / name for name in ("packed", "twin"))
    nlp = copy_of("constituency")
    nlp.config["components"][PIPE]["model"]["prediction"] = "int8"
    for folder in (packed, twin):
        nlp.to_disk(folder)
    store_as(packed / PIPE, to_int8)
    tensors = safetensors.torch.load_file(packed / PIPE / WEIGHTS)
    own = safetensors.torch.safe_open(packed / PIPE / WEIGHTS, "pt")
    unpacked = {
        name: tensor.float() * tensors[name + SCALE] if name + SCALE in tensors else tensor
        for name, tensor in tensors.items()
        if not name.endswith(SCALE)
    }
    safetensors.torch.save_file(unpacked, twin / PIPE / WEIGHTS, own.metadata())
    return packed, twin


@pytest.fixture
def pair(folders: tuple[Path, Path]) -> tuple[Language, Language]:
    packed, twin = (spacy.load(folder) for folder in folders)
    return packed, twin


def test_they_take_less_memory_until_a_training_wants_them(
    pair: tuple[Language, Language],
) -> None:
    nlp, twin = pair
    whole = resident(twin)
    assert resident(nlp) < 0.2 * whole
    assert numpy.array_equal(scores_of(nlp), scores_of(twin))
    assert resident(nlp) < 0.2 * whole
    nlp.update(examples(nlp), sgd=Adam(0.01))
    assert resident(nlp) == whole


def test_saving_leaves_them_asleep(pair: tuple[Language, Language]) -> None:
    nlp, twin = pair
    for _ in range(2):  # before the first prediction, and after
        mine, theirs = shim_of(nlp).tensors(), shim_of(twin).tensors()
        assert mine.keys() == theirs.keys()
        assert all(torch.equal(mine[name], theirs[name]) for name in mine)
        again = spacy.blank("en", config=nlp.config).from_bytes(nlp.to_bytes())
        assert numpy.array_equal(scores_of(again), scores_of(twin))
        assert resident(nlp) < 0.2 * resident(twin)
        scores_of(nlp)


@pytest.mark.parametrize("predicts", [False, True])
def test_training_begins_with_them(pair: tuple[Language, Language], predicts: bool) -> None:
    losses = []
    for nlp in pair:
        if predicts:
            scores_of(nlp)
        fix_random_seed(0)
        optimizer = Adam(0.01, use_averages=True)
        losses.append([nlp.update(examples(nlp), sgd=optimizer)[PIPE] for _ in range(3)])
        with nlp.use_params(optimizer.averages):
            scores_of(nlp)
    assert losses[0] == losses[1]
    assert numpy.array_equal(scores_of(pair[0]), scores_of(pair[1]))


def test_lent_values_don_t_lose_them(pair: tuple[Language, Language]) -> None:
    nlp, twin = pair
    shim = shim_of(nlp)
    zeros = {(shim.id, name): t.numpy() * 0 for name, t in shim.tensors().items()}
    with nlp.use_params(zeros):
        assert not scores_of(nlp).any()
    assert numpy.array_equal(scores_of(nlp), scores_of(twin))


def test_other_products_and_gradients_read_them(pair: tuple[Language, Language]) -> None:
    nlp, twin = pair
    doc, of_twin = (which(Doc(which.vocab, WORDS)) for which in pair)
    same(annotations(doc), annotations(of_twin))
    for mine, theirs in zip(explain(nlp, doc), explain(twin, of_twin), strict=True):
        numpy.testing.assert_array_equal(mine.attention, theirs.attention)
        numpy.testing.assert_array_equal(mine.shares, theirs.shares)
    for which in pair:
        which.get_pipe(PIPE).model.attrs["prediction"] = "float32"
    assert numpy.array_equal(scores_of(nlp), scores_of(twin))


def test_another_model_takes_them(pair: tuple[Language, Language]) -> None:
    nlp, twin = pair
    new = copy_of("constituency")
    for _, shim in torch_shims(new.get_pipe(PIPE).model):
        for parameter in shim.module.parameters():
            parameter.data.zero_()
    scores_of(nlp)
    take_weights(new.get_pipe(PIPE).model, nlp.get_pipe(PIPE).model)
    mine, theirs = shim_of(new).tensors(), shim_of(twin).tensors()
    assert all(torch.equal(mine[name], theirs[name]) for name in mine)


def test_a_checkpoint_has_them(pair: tuple[Language, Language]) -> None:
    found, expected = (read_weights(nlp, ())[0] for nlp in pair)
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_threads_begin_at_once(folders: tuple[Path, Path]) -> None:
    expected = scores_of(spacy.load(folders[1]))
    for _ in range(3):
        nlp = spacy.load(folders[0])
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda _, nlp=nlp: scores_of(nlp), range(8)))
        assert all(numpy.array_equal(scores, expected) for scores in found)


def test_copies_of_a_module_have_them(pair: tuple[Language, Language]) -> None:
    nlp, twin = pair
    scores_of(nlp)
    module = copy.deepcopy(shim_of(nlp).module)
    found, expected = (awake(of).state_dict() for of in (module, shim_of(twin).module))
    assert all(torch.equal(found[name], expected[name]) for name in expected)


DAMAGE = {
    "endless": lambda values, scale: (values, scale.fill_(torch.inf)),
    "too large": lambda values, scale: (values, scale.fill_(3e38)),
    "of another shape": lambda values, scale: (values, scale.flatten()),
    "of other numbers": lambda values, scale: (values.half(), scale),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_ones_are_refused(folders: tuple[Path, Path], tmp_path: Path, kind: str) -> None:
    spacy.load(folders[0]).to_disk(tmp_path / "nlp")
    store_as(tmp_path / "nlp" / PIPE, to_int8)
    path = tmp_path / "nlp" / PIPE / WEIGHTS
    tensors = safetensors.torch.load(path.read_bytes())
    header = safetensors.torch.safe_open(path, "pt").metadata()
    name = next(name for name in tensors if name.endswith(SCALE)).removesuffix(SCALE)
    damaged = DAMAGE[kind](tensors[name], tensors[name + SCALE])
    tensors[name], tensors[name + SCALE] = damaged
    path.write_bytes(safetensors.torch.save(tensors, header))
    with pytest.raises(ValueError, match=f"{WEIGHTS}: {name[2:]} has "):
        spacy.load(tmp_path / "nlp")
