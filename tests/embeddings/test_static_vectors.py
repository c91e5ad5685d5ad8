"""Static word vectors beside an embedding, inside a parser."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vectors import Vectors
from thinc.api import Model

from spacy_lal.trees.tree import ConstituentTree
from tests.pipeline.toy import TINY, TREES, examples, predicted, tiny_pipeline, train

WORDS = sorted({w for tree in TREES for w, _ in ConstituentTree.from_string(tree).tagged})
KNOWN, UNKNOWN = WORDS[:-3], WORDS[-3:]
WIDTH, OF_VECTORS = 6, 10
OF_EMBED = TINY["tok2vec"]["word_width"] + 8 * TINY["tok2vec"]["affix_width"]


def with_vectors(mode: str) -> Language:
    """A pipeline that has vectors of its own and nothing else."""
    nlp = spacy.blank("en")
    numbers = numpy.random.default_rng(0)
    rows = len(KNOWN) if mode == "default" else 50
    data = numbers.normal(size=(rows, OF_VECTORS)).astype("float32")
    settings = (
        {"keys": [nlp.vocab.strings.add(word) for word in KNOWN]}
        if mode == "default"
        else {"mode": "floret", "minn": 2, "maxn": 3, "hash_count": 2}
    )
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=data, **settings)
    return nlp


@pytest.fixture(scope="module", params=["default", "floret"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp(request.param)
    with_vectors(request.param).to_disk(path)
    return path


def pipeline(folder: Path | None, width: int | None = WIDTH, **embed: object) -> Language:
    tok2vec = {
        "@architectures": "spacy-lal.WithVectors.v1",
        "embed": {**TINY["tok2vec"], **embed},
        "width": width,
    }
    nlp = tiny_pipeline(model={**TINY, "tok2vec": tok2vec})
    nlp.config["initialize"]["vectors"] = folder and str(folder)
    return nlp


def embedding(nlp: Language) -> Model:
    return nlp.get_pipe("lal_constituency").model.get_ref("tok2vec")


def rows(nlp: Language, *words: str) -> numpy.ndarray:
    (found,) = embedding(nlp).predict([Doc(nlp.vocab, words=list(words))])
    return found


def test_the_width_is_known_before_initialisation() -> None:
    assert embedding(pipeline(None)).get_dim("nO") == OF_EMBED + WIDTH
    assert embedding(pipeline(None, width=None)).maybe_get_dim("nO") is None


@pytest.mark.parametrize("width", [WIDTH, None])
def test_projected_vectors_stand_beside_the_embedding(folder: Path, width: int | None) -> None:
    nlp = pipeline(folder, width)
    nlp.initialize(lambda: examples(nlp))
    model, words = embedding(nlp), [*KNOWN[:4], *UNKNOWN, " ", "zebra"]
    projection = model.get_ref("vectors").get_param("W")
    assert projection.shape == (width or OF_VECTORS, OF_VECTORS)
    assert model.get_dim("nO") == OF_EMBED + (width or OF_VECTORS)
    doc = Doc(nlp.vocab, words=words)
    (alone,) = model.get_ref("embed").predict([doc])
    static = numpy.stack([token.vector for token in doc]) @ projection.T
    numpy.testing.assert_allclose(
        rows(nlp, *words), numpy.concatenate([alone, static], -1), atol=1e-5
    )
    if nlp.vocab.vectors.mode == "default":
        assert (rows(nlp, "zebra")[0, OF_EMBED:] == 0).all()
    assert (rows(nlp, KNOWN[0])[0, OF_EMBED:] != 0).any()


def test_train_save_and_load(folder: Path, tmp_path: Path) -> None:
    spacy.util.fix_random_seed(0)
    nlp = pipeline(folder)
    nlp.initialize(lambda: examples(nlp))
    before = embedding(nlp).get_ref("vectors").get_param("W").copy()
    vectors = nlp.vocab.vectors.data.copy()
    train(nlp, steps=60)
    after = embedding(nlp).get_ref("vectors").get_param("W")
    assert (before != after).any()
    assert (nlp.vocab.vectors.data == vectors).all()
    assert [predicted(nlp, tree) for tree in TREES] == TREES
    nlp.to_disk(tmp_path)
    for loaded in (spacy.load(tmp_path), pipeline(None).from_bytes(nlp.to_bytes())):
        assert (embedding(loaded).get_ref("vectors").get_param("W") == after).all()
        numpy.testing.assert_array_equal(rows(loaded, *WORDS, "zebra"), rows(nlp, *WORDS, "zebra"))
        assert [predicted(loaded, tree) for tree in TREES] == TREES


def test_a_gradient_step_by_the_formula(folder: Path) -> None:
    """Rows are linear in the projection: dW = the rows' gradient times the vectors."""
    nlp = pipeline(folder)
    nlp.initialize(lambda: examples(nlp))
    docs = [Doc(nlp.vocab, words=KNOWN[:3]), Doc(nlp.vocab), Doc(nlp.vocab, words=[KNOWN[1]])]
    model = embedding(nlp)
    Y, backprop = model.begin_update(docs)
    assert [y.shape for y in Y] == [(n, OF_EMBED + WIDTH) for n in (3, 0, 1)]
    d_rows = [numpy.random.default_rng(1).normal(size=y.shape).astype("float32") for y in Y]
    backprop(d_rows)
    static = numpy.stack([token.vector for doc in docs for token in doc])
    numpy.testing.assert_allclose(
        model.get_ref("vectors").get_grad("W"),
        numpy.concatenate(d_rows)[:, OF_EMBED:].T @ static,
        rtol=1e-4,
        atol=1e-5,
    )


def test_dropout_of_the_training_leaves_the_vectors_alone(folder: Path) -> None:
    nlp = pipeline(folder)
    nlp.initialize(lambda: examples(nlp))
    nlp.update(examples(nlp), drop=0.5, sgd=nlp.create_optimizer())
    doc = Doc(nlp.vocab, words=KNOWN)
    (trained,), _ = embedding(nlp).begin_update([doc])
    numpy.testing.assert_array_equal(trained, rows(nlp, *KNOWN))


def test_nothing_to_embed(folder: Path) -> None:
    nlp = pipeline(folder)
    nlp.initialize(lambda: examples(nlp))
    empty = Doc(nlp.vocab)
    for docs in ([], [empty], [empty, empty]):
        Y, backprop = embedding(nlp).begin_update(docs)
        assert [len(y) for y in Y] == [0] * len(docs)
        backprop(Y)
    assert list(nlp.pipe(["", "A dog", "", "\n\n"]))


def test_beside_any_other_embedding(folder: Path) -> None:
    tok2vec = {
        "@architectures": "spacy-lal.WithVectors.v1",
        "embed": {
            "@architectures": "spacy.MultiHashEmbed.v2",
            "width": 8,
            "attrs": ["NORM", "SUFFIX"],
            "rows": [50, 50],
            "include_static_vectors": False,
        },
        "width": WIDTH,
    }
    nlp = tiny_pipeline(model={**TINY, "tok2vec": tok2vec})
    nlp.config["initialize"]["vectors"] = str(folder)
    train(nlp, steps=2)
    assert rows(nlp, "A", "dog").shape == (2, 8 + WIDTH)


def test_a_pipeline_without_vectors_is_told_how_to_get_them() -> None:
    nlp = pipeline(None)
    with pytest.raises(ValueError, match=r"\[initialize\] .*`python -m spacy init vectors`"):
        nlp.initialize(lambda: examples(nlp))
