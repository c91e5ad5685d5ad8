"""What the component decodes from scores of sentences."""

import numpy

from spacy_lal.batching.batches import ParserScores, SentenceBatch
from spacy_lal.batching.sentences import Sentence
from spacy_lal.parsing.decoders import read_parses
from spacy_lal.structure.binarise import JOIN


def parses_of(scores, lengths, decoder, **options):
    """{row: parse} of one padded batch; options are those of `LabelledTrees`."""
    tokens = [Sentence(row, 0, n, numpy.arange(n)) for row, n in enumerate(lengths.tolist())]
    batch = SentenceBatch(list(range(len(tokens))), lengths, scores)
    return read_parses(
        ParserScores(tokens, [batch]),
        lambda of, lengths: decoder(of.trees(lengths, **options)),
    )


def expand_unaries(spans):
    """Undo `collapse_unaries`."""
    return [(start, end, part) for start, end, label in spans for part in label.split(JOIN)]


def constituents(parse):
    """[(start, end, label)] in preorder."""
    nodes = (parse.starts.tolist(), parse.ends.tolist(), parse.labels.tolist())
    return list(zip(*nodes, strict=True))
