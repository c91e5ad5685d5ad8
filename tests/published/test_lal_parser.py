"""The released LAL parser, imported, finds what it found: scores, trees, heads, relations.

Its own code made the checkpoints and what is expected of them, sentence by sentence
(`tests/fixtures/makers/make_lal_parser.py`); here all sentences are one batch.
"""

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers

from spacy_lal.published.reading import SentenceReader, Text
from spacy_lal.structure.chart import unpack
from spacy_lal.trees.tree import ConstituentTree

from .recorded import LAL_PARSER


@pytest.mark.parametrize("name", LAL_PARSER.names)
def test_scores(name):
    nlp, (recorded, arrays) = LAL_PARSER.pipeline(name), LAL_PARSER.expected(name)
    scores = nlp.get_pipe("lal_constituency").model.predict(LAL_PARSER.docs(name))
    read = 0
    for batch in scores.batches:
        found = batch.scores
        charts = unpack(found.labels, found.tags.shape[1])
        for row, (k, n) in enumerate(zip(batch.members, batch.lengths.tolist(), strict=True)):
            above = torch.ones(n + 1, n + 1, dtype=torch.bool).triu(1)
            step = 7 if found.labels.shape[-1] > 50 else 1
            labels = charts[row, : n + 1, : n + 1][above][:, ::step]
            of_relations = found.relations_of(torch.zeros_like(found.tags[..., 0]).long())[row, :n]
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


@pytest.mark.parametrize("name", LAL_PARSER.names)
def test_trees_heads_and_relations(name):
    nlp, (recorded, _) = LAL_PARSER.pipeline(name), LAL_PARSER.expected(name)
    pipe = nlp.get_pipe("lal_constituency")
    docs = LAL_PARSER.docs(name)
    _, parses = pipe.predict(docs)
    for k, doc in enumerate(nlp.pipe(docs)):
        assert parses[k].heads.tolist() == recorded["heads"][k]
        assert [pipe.relations[r] for r in parses[k].relations] == recorded["relations"][k]
        (tree,) = doc._.trees
        theirs = ConstituentTree.from_string(recorded["trees"][k], unescape=str)
        found, recorded_spans = (
            [span for span in t.spans() if span[2] != "TOP"] for t in (tree, theirs)
        )
        assert found == recorded_spans


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("1,200", ["▁1", ",", "200"]),
        ("a1,", ["▁a", "1", ","]),
        ("a2,", ["▁a", "2", ","]),
        ("200,", ["▁", "200", ","]),
        ("a,", ["▁a", ","]),
        ("9,", ["▁", "<unk>", ","]),
    ],
)
def test_xlnet_reads_a_comma_behind_a_digit_alone(word, pieces):
    """As the tokenizer does that XLNet was released with; a tokenizer.json takes the longest."""
    vocabulary = ["<unk>", "▁", "▁1,", "▁1", "1,", "1", "2,", "2", "200,", "200", ",", "▁a", "9,"]
    scores = [0.0, -3, -1, -2, -1, -2, -1, -2, -1, -1, -2, -1, -1]
    tokenizer = Tokenizer(models.Unigram(list(zip(vocabulary, scores, strict=True)), unk_id=0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    assert tokenizer.encode(word).tokens != pieces or word == "a,"
    how = {"before": [], "behind": [], "unknown": 0, "padding": 0, "commas": True}
    reader = SentenceReader({"reading": {"pieces": how}, "tokenizer": tokenizer.to_str()})
    (read,) = reader.read([Text([word])])
    assert [vocabulary[number] for number in read.pieces.ids] == pieces


def test_a_word_that_looks_like_a_special_piece_is_text():
    """The LAL parser's own BERT tokenizer splits "[SEP]" at its brackets."""
    reader = LAL_PARSER.pipeline("bert").pipeline[0][1].model.shims[0].reader
    (separator,) = reader.pieces.settings.behind
    (read,) = reader.read([Text(["a", "[SEP]", "b"])])
    assert read.pieces.ids.count(separator) == 1
    assert read.pieces.ends[2] - read.pieces.starts[2] == 5
