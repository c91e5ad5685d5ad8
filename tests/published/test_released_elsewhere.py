"""Imported LAL and supar parsers in other processes, from bytes and from disk: what they find in
this process, one Doc after another."""

import pickle

import pytest
import spacy
from spacy.cli import app
from typer.testing import CliRunner

from spacy_lal.interpret import explain
from spacy_lal.page.answers import answer, views

from .recorded import LAL_PARSER, SUPAR

PROGRAMS = (LAL_PARSER, SUPAR)
ALL = [pytest.param(p, name, id=f"{p.folder.name}-{name}") for p in PROGRAMS for name in p.names]
SOME = [p for p in ALL if p.values[1] in ("xlnet112", "characters", "con_bert", "dep_char")]
MORE = SOME + [p for p in ALL if p.values[1] in ("con_feature_bert", "dep_vectors")]


def found(docs):
    """Trees with their log-probabilities, heads and relations."""
    return [
        (
            [(str(tree), tree.log_prob) for tree in doc._.trees or ()],
            [(token.head.i, token.dep_) for token in doc],
        )
        for doc in docs
    ]


def assert_same(mine, theirs):
    """Log-probabilities may differ by rounding: batches are others."""
    for (trees, heads), (other_trees, other_heads) in zip(mine, theirs, strict=True):
        assert heads == other_heads
        assert [tree for tree, _ in trees] == [tree for tree, _ in other_trees]
        for (_, one), (_, other) in zip(trees, other_trees, strict=True):
            assert one == (other if other is None else pytest.approx(other, abs=1e-4))


def alone(program, name):
    return found([program.pipeline(name)(doc) for doc in program.docs(name)])


@pytest.mark.parametrize(("program", "name"), MORE)
def test_from_bytes_and_from_disk(program, name, tmp_path):
    nlp = program.pipeline(name)
    wanted = alone(program, name)
    again = spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert_same(found(again.pipe(program.docs(name, again))), wanted)
    again.to_disk(tmp_path / "again")
    loaded = spacy.load(tmp_path / "again")
    assert_same(found(loaded.pipe(program.docs(name, loaded))), wanted)
    assert again.to_bytes() == nlp.to_bytes()


@pytest.mark.parametrize(("program", "name"), SOME)
def test_in_two_processes(program, name):
    nlp = program.pipeline(name)
    docs = nlp.pipe(program.docs(name), n_process=2, batch_size=3)
    assert_same(found(docs), alone(program, name))


@pytest.mark.parametrize(("program", "name"), SOME)
def test_a_pickled_model_is_the_same(program, name):
    pipe = program.pipeline(name).pipeline[0][1]
    copied = pickle.loads(pickle.dumps(pipe.model))
    docs = program.docs(name)
    for one, other in zip(
        pipe.model.predict(docs).batches, copied.predict(docs).batches, strict=True
    ):
        for mine, theirs in zip(one.scores, other.scores, strict=True):
            assert str(mine) == str(theirs)


@pytest.mark.parametrize("program", [LAL_PARSER, SUPAR], ids=["lal-parser", "supar"])
def test_spacy_package_asks_for_what_it_needs(program, tmp_path):
    name = "xlnet112" if program is LAL_PARSER else "con_bert"
    kind = "lal-parser" if program is LAL_PARSER else "supar"
    folder, packages = tmp_path / "imported", tmp_path / "packages"
    encoder = next(e for e in program.folder.iterdir() if e.is_dir() and e.name in name)
    command = ["import", str(program.folder / f"{name}.pt"), str(folder)]
    run = CliRunner().invoke(app, ["lal", *command, "--encoder", str(encoder), "--license", "MIT"])
    assert run.exit_code == 0, run.output
    packages.mkdir()
    command = ["package", str(folder), str(packages), "--build", "none"]
    run = CliRunner().invoke(app, [*command, "--name", "it", "--version", "1.2.3"])
    assert run.exit_code == 0, run.output
    inside = packages / "en_it-1.2.3"
    meta = spacy.util.load_meta(inside / "meta.json")
    wanted = {requirement.split(">")[0] for requirement in meta["requirements"]}
    assert "tokenizers" in wanted
    assert wanted & {"spacy-lal", "spacy_lal"}
    assert meta["license"] == "MIT"
    assert meta["imported"]["kind"] == kind
    nlp = spacy.load(inside / "en_it" / "en_it-1.2.3")
    assert_same(found(nlp.pipe(program.docs(name, nlp))), alone(program, name))


@pytest.mark.parametrize(("program", "name"), SOME)
def test_heads_of_published_weights_are_not_explained(program, name):
    nlp = program.pipeline(name)
    (doc, *_) = program.docs(name)
    with pytest.raises(ValueError, match="this parser has no label attention that can be read"):
        explain(nlp, doc)
    assert "label_attention" not in views(nlp)
    view = views(nlp)[0]
    assert not answer(nlp, "She ate .", view).get("contributions")
