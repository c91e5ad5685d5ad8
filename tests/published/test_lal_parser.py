"""The released LAL parser, imported, finds what it found: scores, trees, heads, relations.

Its own code made the checkpoints and what is expected of them, sentence by sentence
(`scripts/lal_parser_fixtures.py`); here all sentences are one batch.
"""

import json
from pathlib import Path

import numpy
import pytest
import spacy
import torch
from spacy.tokens import Doc

from spacy_lal.published.lal_parser import read_lal_parser
from spacy_lal.structure.chart import unpack
from spacy_lal.trees import ConstituentTree

FIXTURES = Path(__file__).parents[1] / "fixtures" / "lal_parser"
NAMES = sorted(path.stem for path in FIXTURES.glob("*.pt"))


def encoder_of(name):
    kind = name.split("_")[0].removesuffix("112")
    return FIXTURES / kind if (FIXTURES / kind).is_dir() else None


@pytest.fixture(scope="module")
def pipelines(tmp_path_factory):
    """Every variant, imported, written and read again."""
    found = {}
    for name in NAMES:
        imported = read_lal_parser(FIXTURES / f"{name}.pt", encoder_of(name))
        folder = tmp_path_factory.mktemp("lal") / name
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
        Doc(nlp.vocab, [word for _, word in sentence], tags=[tag for tag, _ in sentence])
        for sentence in recorded["sentences"]
    ]


@pytest.mark.parametrize("name", NAMES)
def test_scores(name, pipelines, expected):
    nlp, (recorded, arrays) = pipelines[name], expected[name]
    scores = nlp.get_pipe("lal_constituency").model.predict(docs_of(nlp, recorded))
    read = 0
    for batch in scores.batches:
        found = batch.scores
        charts = unpack(found.labels, found.tags.shape[1])
        for row, (k, n) in enumerate(zip(batch.members, batch.lengths.tolist(), strict=True)):
            above = torch.ones(n + 1, n + 1, dtype=torch.bool).triu(1)
            step = 7 if found.labels.shape[-1] > 50 else 1
            labels = charts[row, : n + 1, : n + 1][above][:, ::step]
            of_relations = found.relations[row, :n, 0]
            for kind, mine in (
                ("labels", labels),
                ("arcs", found.arcs[row, :n, : n + 1]),
                ("relations", of_relations),
            ):
                theirs = torch.from_numpy(arrays[f"{k}/{kind}"])
                # float32: random weights score up to 150
                near = 1e-5 * max(10.0, theirs.abs().max().item())
                torch.testing.assert_close(mine, theirs, rtol=0, atol=near)
            read += 1
    assert read == len(recorded["sentences"])


@pytest.mark.parametrize("name", NAMES)
def test_trees_heads_and_relations(name, pipelines, expected):
    nlp, (recorded, _) = pipelines[name], expected[name]
    pipe = nlp.get_pipe("lal_constituency")
    docs = docs_of(nlp, recorded)
    _, parses = pipe.predict(docs)
    for k, doc in enumerate(nlp.pipe(docs)):
        assert parses[k].heads.tolist() == recorded["heads"][k]
        assert [pipe.relations[r] for r in parses[k].relations] == recorded["relations"][k]
        (tree,) = doc._.trees
        theirs = ConstituentTree.from_string(recorded["trees"][k], unescape=False)
        found, recorded_spans = (
            [span for span in t.spans() if span[2] != "TOP"] for t in (tree, theirs)
        )
        assert found == recorded_spans
