"""What the component decodes from scores of sentences."""

import numpy

from spacy_lal.batching.batches import ParserScores, SentenceBatch
from spacy_lal.batching.sentences import Sentence
from spacy_lal.parsing.decoding import decode_trees


def parses_of(scores, lengths, decoder, **options):
    """{row: parse} of one padded batch; options are those of `decode`."""
    tokens = [Sentence(row, 0, n, numpy.arange(n)) for row, n in enumerate(lengths.tolist())]
    batch = SentenceBatch(list(range(len(tokens))), lengths, scores)
    return decode_trees(ParserScores(tokens, [batch]), decoder, **options)


def constituents(parse):
    """[(start, end, label)] in preorder."""
    nodes = (parse.starts.tolist(), parse.ends.tolist(), parse.labels.tolist())
    return list(zip(*nodes, strict=True))
