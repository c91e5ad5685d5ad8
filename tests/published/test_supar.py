"""supar's parsers, imported, find what supar 1.1.4 found: scores, trees, heads.

supar itself made the checkpoints and what is expected of them (`scripts/supar_fixtures.py`).
"""

import json
import pickle
from pathlib import Path

import numpy
import pytest
import spacy
import torch
from spacy.tokens import Doc

from spacy_lal.layers.label_factors import label_scores
from spacy_lal.published.supar import read_supar
from spacy_lal.structure.chart import packed_spans, unpack
from spacy_lal.trees import ConstituentTree

FIXTURES = Path(__file__).parents[1] / "fixtures" / "supar"
NAMES = sorted(path.stem for path in FIXTURES.glob("*.pt"))
CONSTITUENCY = [name for name in NAMES if name.startswith("con")]
DEPENDENCY = [name for name in NAMES if name.startswith("dep")]


def encoder_of(name):
    return FIXTURES / "bert" if name.endswith("bert") else None


@pytest.fixture(scope="module")
def pipelines(tmp_path_factory):
    """Every variant, imported, written and read again."""
    found = {}
    for name in NAMES:
        imported = read_supar(FIXTURES / f"{name}.pt", encoder_of(name))
        folder = tmp_path_factory.mktemp("supar") / name
        imported.nlp.to_disk(folder)
        found[name] = spacy.load(folder)
    return found


@pytest.fixture(scope="module")
def expected():
    return {
        name: (
            json.loads((FIXTURES / f"{name}.json").read_text("utf-8")),
            numpy.load(FIXTURES / f"{name}.npz"),
        )
        for name in NAMES
    }


def docs_of(nlp, recorded):
    return [
        Doc(nlp.vocab, [word for word, _ in sentence], tags=[tag for _, tag in sentence])
        for sentence in recorded["sentences"]
    ]


def scores_of(nlp, docs):
    """The scores of every sentence, all read together: {number: (scores, row, length)}."""
    model = nlp.pipeline[0][1].model
    scores = model.predict(docs)
    return {
        member: (batch.scores, row, int(batch.lengths[row]))
        for batch in scores.batches
        for row, member in enumerate(batch.members)
    }


def assert_near(found, recorded, mask=None):
    recorded = torch.from_numpy(recorded)
    if mask is not None:
        found, recorded = found[mask], recorded[mask]
    assert found.shape == recorded.shape
    assert (found - recorded).abs().max() < 1e-4


@pytest.mark.parametrize("name", CONSTITUENCY)
def test_scores_of_spans(name, pipelines, expected):
    nlp, (recorded, arrays) = pipelines[name], expected[name]
    for k, (scores, row, n) in scores_of(nlp, docs_of(nlp, recorded)).items():
        above = torch.ones(n + 1, n + 1, dtype=torch.bool).triu(1)
        spans = unpack(scores.spans[row : row + 1], scores.tags.shape[1])[0, : n + 1, : n + 1]
        assert_near(spans, arrays[f"{k}/0"], above)
        starts, ends = packed_spans(scores.tags.shape[1])
        labels = label_scores(scores.factors, torch.full_like(starts, row), starts, ends)
        inside = ends <= n
        theirs = torch.from_numpy(arrays[f"{k}/1"])[starts[inside], ends[inside]]
        assert (labels[inside][:, 1:] - theirs).abs().max() < 1e-4


@pytest.mark.parametrize("name", CONSTITUENCY)
def test_trees(name, pipelines, expected):
    nlp, (recorded, _) = pipelines[name], expected[name]
    for doc, theirs in zip(nlp.pipe(docs_of(nlp, recorded)), recorded["trees"], strict=True):
        (tree,) = doc._.trees
        # supar writes brackets as they are
        theirs = theirs.replace("(-LRB- ()", "(-LRB- x)").replace("(-RRB- ))", "(-RRB- x)")
        of_supar = ConstituentTree.from_string(theirs)
        # which has TOP above every tree
        found, recorded_spans = (
            [span for span in t.spans() if span[2] != "TOP"] for t in (tree, of_supar)
        )
        assert found == recorded_spans


@pytest.mark.parametrize("name", DEPENDENCY)
def test_scores_of_heads(name, pipelines, expected):
    nlp, (recorded, arrays) = pipelines[name], expected[name]
    for k, (scores, row, n) in scores_of(nlp, docs_of(nlp, recorded)).items():
        assert_near(scores.arcs[row, :n, : n + 1], arrays[f"{k}/0"][1:])
        assert_near(scores.relations[row, :n, : n + 1], arrays[f"{k}/1"][1:])


@pytest.mark.parametrize("name", DEPENDENCY)
def test_heads_and_relations(name, pipelines, expected):
    nlp, (recorded, _) = pipelines[name], expected[name]
    pipe = nlp.pipeline[0][1]
    docs = docs_of(nlp, recorded)
    _, parses = pipe.predict(docs)
    for k, doc in enumerate(nlp.pipe(docs)):
        assert parses[k].heads.tolist() == recorded["heads"][k]
        names = [pipe.relations[r] for r in parses[k].relations]
        assert names == recorded["relations"][k]
        found = [0 if t.head.i == t.i else t.head.i + 1 for t in doc]
        assert found == recorded["heads"][k]


@pytest.mark.parametrize("name", ["con_bert", "dep_char"])
def test_bytes_and_copies(name, pipelines, expected):
    """A pipeline goes through bytes and pickles, as to other processes, and finds the same."""
    nlp, (recorded, _) = pipelines[name], expected[name]
    again = spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes())
    copied = pickle.loads(pickle.dumps(nlp.pipeline[0][1].model))
    docs = docs_of(nlp, recorded)
    for one, other in zip(nlp.pipe(docs), again.pipe(docs_of(again, recorded)), strict=True):
        assert str(one._.trees[0] if name.startswith("con") else [t.head.i for t in one]) == str(
            other._.trees[0] if name.startswith("con") else [t.head.i for t in other]
        )
    first, second = (
        next(iter(m.predict(docs).batches)) for m in (nlp.pipeline[0][1].model, copied)
    )
    for mine, theirs in zip(first.scores, second.scores, strict=True):
        assert mine is None or torch.equal(mine, theirs)
