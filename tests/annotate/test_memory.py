"""What a process holds is bounded by tokens and cells of charts, and doesn't grow."""

from __future__ import annotations

import gc
import random
import string
import sys
from collections.abc import Iterator

import numpy
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lal.annotate.annotating import through_pipeline
from spacy_lal.annotate.records import doc_record
from spacy_lal.annotate.texts import pieces
from spacy_lal.batching.batches import token_batches
from spacy_lal.batching.sentences import Reading
from spacy_lal.embeddings.forms import WordAffixEmbedding


def sentences(count: int, longest: int, seed: int = 0) -> Iterator[str]:
    """Of words that are letters drawn at random."""
    draw = random.Random(seed)
    for _ in range(count):
        words = ("".join(draw.choices(string.ascii_lowercase, k=6)) for _ in range(longest))
        yield " ".join([*words][: draw.randint(1, longest)])


def test_charts_of_a_batch() -> None:
    """10,000 words without punctuation among short texts: every word is in one batch, no batch has
    more cells than the limit, or than the longest sentence alone, nor 3,000 words."""
    vocab = spacy.blank("en").vocab
    lengths = [3] * 2_000 + [10_000] + [40] * 200 + [0]
    docs = [Doc(vocab, words=["word"] * length) for length in lengths]
    longest, limit = 256, 60_000
    cells, seen = [], numpy.zeros(sum(lengths), dtype=int)
    for _, sizes, tokens in token_batches(
        docs, Reading(max_sentence_length=longest).split(docs), limit
    ):
        rows, columns = tokens.shape
        assert columns <= longest
        assert rows * columns <= 3_000
        cells.append(rows * columns * (columns + 1) // 2)
        for row, size in zip(tokens.tolist(), sizes.tolist(), strict=True):
            seen[row[:size]] += 1
    assert max(cells) <= max(limit, longest * (longest + 1) // 2)
    assert (seen == 1).all()


def test_a_text_longer_than_spacy_takes() -> None:
    """It comes in pieces that put together are the text, 10,000 tokens and a piece's a batch."""
    text = ("\n\n".join(sentences(1_000, 50)) * 20)[:1_050_000]
    nlp = spacy.blank("en")
    assert nlp.max_length < len(text) == 1_050_000
    sizes: list[int] = []
    pipe = nlp.pipe

    def counted(docs: list[Doc], batch_size: int) -> Iterator[Doc]:
        sizes.append(sum(map(len, docs)))
        return pipe(docs, batch_size=batch_size)

    nlp.pipe = counted  # type: ignore[method-assign, assignment]
    found = [one.record for one in through_pipeline(nlp, pieces({"text": text}), lambda *_: 0)]
    assert "".join(piece["text"] for piece in found) == text
    assert [piece["offset"] for piece in found] == list(
        numpy.cumsum([0, *(len(piece["text"]) for piece in found)][:-1])
    )
    assert max(len(piece["text"]) for piece in found) <= 100_000
    assert max(sizes) <= 10_000 + 100_000


def test_nothing_grows(nlp: Language) -> None:
    """After a while, Python holds no more objects and the vocabulary no more strings."""
    records = ({"id": "", "text": text} for text in sentences(900, 8))
    found = through_pipeline(nlp, records, lambda *of: len(doc_record(*of)), batch_tokens=200)
    held = []
    for _ in range(3):
        for _ in range(300):
            next(found)
        gc.collect()
        for part in gc.get_objects():
            if isinstance(part, WordAffixEmbedding):
                part.known.clear()  # it has at most KNOWN words
        held.append((len(nlp.vocab.strings), sys.getallocatedblocks()))
    (_, _), (strings, blocks), (strings_later, blocks_later) = held
    assert strings_later == strings
    assert blocks_later - blocks < 300  # a Doc alone has more
