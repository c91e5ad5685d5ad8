"""supar's parsers, imported, find what supar 1.1.4 found: scores, trees, heads.

supar itself made the checkpoints and their expectations (`tests/fixtures/makers/make_supar.py`).
"""

import pytest
import torch

from spacy_lal.layers.biaffine import LabelFactors, label_scores
from spacy_lal.structure.chart import packed_spans, unpack
from spacy_lal.trees.tree import ConstituentTree

from .recorded import SUPAR

CONSTITUENCY = [name for name in SUPAR.names if name.startswith("con")]
DEPENDENCY = [name for name in SUPAR.names if name.startswith("dep")]


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
def test_scores_of_spans(name):
    nlp, (_, arrays) = SUPAR.pipeline(name), SUPAR.expected(name)
    for k, (scores, row, n) in scores_of(nlp, SUPAR.docs(name)).items():
        above = torch.ones(n + 1, n + 1, dtype=torch.bool).triu(1)
        spans = unpack(scores.spans[row : row + 1], scores.tags.shape[1])[0, : n + 1, : n + 1]
        assert_near(spans, arrays[f"{k}/0"], above)
        starts, ends = packed_spans(scores.tags.shape[1])
        labels = label_scores(LabelFactors(*scores[2:]), torch.full_like(starts, row), starts, ends)
        inside = ends <= n
        theirs = torch.from_numpy(arrays[f"{k}/1"])[starts[inside], ends[inside]]
        assert (labels[inside][:, 1:] - theirs).abs().max() < 1e-4


@pytest.mark.parametrize("name", CONSTITUENCY)
def test_trees(name):
    nlp, (recorded, _) = SUPAR.pipeline(name), SUPAR.expected(name)
    for doc, theirs in zip(nlp.pipe(SUPAR.docs(name)), recorded["trees"], strict=True):
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
def test_scores_of_heads(name):
    nlp, (_, arrays) = SUPAR.pipeline(name), SUPAR.expected(name)
    for k, (scores, row, n) in scores_of(nlp, SUPAR.docs(name)).items():
        assert_near(scores.arcs[row, :n, : n + 1], arrays[f"{k}/0"][1:])
        of_heads = scores.arcs.new_zeros(scores.arcs.shape[:2], dtype=torch.long)
        relations = [scores.relations_of(of_heads + head)[row, :n] for head in range(n + 1)]
        assert_near(torch.stack(relations, 1), arrays[f"{k}/1"][1:])


@pytest.mark.parametrize("name", DEPENDENCY)
def test_heads_and_relations(name):
    nlp, (recorded, _) = SUPAR.pipeline(name), SUPAR.expected(name)
    pipe = nlp.pipeline[0][1]
    docs = SUPAR.docs(name)
    _, parses = pipe.predict(docs)
    for k, doc in enumerate(nlp.pipe(docs)):
        assert parses[k].heads.tolist() == recorded["heads"][k]
        names = [pipe.relations[r] for r in parses[k].relations]
        assert names == recorded["relations"][k]
        found = [0 if t.head.i == t.i else t.head.i + 1 for t in doc]
        assert found == recorded["heads"][k]
