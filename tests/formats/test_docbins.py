"""`.spacy` files, against spaCy's own way to read and write them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pytest
import spacy
from catalogue import REGISTRY
from spacy.tokens import Doc, DocBin, Span
from srsly.msgpack import msgpack_decoders, msgpack_encoders

from spacy_lal.formats.docbins import pack, read_spacy, write_packed, write_spacy

VOCAB = spacy.blank("en").vocab


def docs(count: int) -> list[Doc]:
    made = []
    for k in range(count):
        doc = Doc(VOCAB, words=["word", str(k), "."], spaces=[True, False, False])
        doc.spans["errors"] = [Span(doc, 0, 2, label="ERROR")]
        doc.spans["errors"].attrs["token_scores"] = [0.5, k / 1000, 0.0]
        doc.user_data["k"] = k
        made.append(doc)
    return made


def content(doc: Doc) -> tuple:
    group = doc.spans["errors"]
    spans = [(span.start, span.end, span.label_) for span in group]
    return doc.text, spans, dict(group.attrs), doc.user_data["k"]


@pytest.mark.parametrize("count", [0, 1, 100, 250])
def test_both_ways_agree(tmp_path, count):
    written = docs(count)
    write_spacy(written, tmp_path / "new" / "ours.spacy")
    DocBin(docs=written, store_user_data=True).to_disk(tmp_path / "theirs.spacy")
    by_spacy = DocBin().from_disk(tmp_path / "new" / "ours.spacy").get_docs(VOCAB)
    by_us = read_spacy(tmp_path / "theirs.spacy", VOCAB)
    expected = [content(doc) for doc in written]
    assert [content(doc) for doc in by_spacy] == expected
    assert [content(doc) for doc in by_us] == expected


def test_a_file_that_is_none_is_named(tmp_path):
    (tmp_path / "a.spacy").write_text("no")
    with pytest.raises(ValueError, match=r"can't read .*a\.spacy as a \.spacy file"):
        list(read_spacy(tmp_path / "a.spacy", VOCAB))


def test_a_broken_doc_names_the_file(tmp_path):
    broken = DocBin(docs=docs(150), store_user_data=True)
    broken.span_groups[120] = b"no"
    broken.to_disk(tmp_path / "a.spacy")
    found = read_spacy(tmp_path / "a.spacy", VOCAB)
    assert [doc[1].text for doc in islice(found, 120)] == [str(k) for k in range(120)]
    with pytest.raises(
        ValueError, match=r"can't read .*a\.spacy as a \.spacy file, somewhere after Doc 120"
    ):
        next(found)


def test_threads_read_and_write_at_once(tmp_path):
    def copied(k: int) -> int:
        write_spacy(docs(250), tmp_path / f"{k}.spacy")
        return sum(1 for _ in read_spacy(tmp_path / f"{k}.spacy", spacy.blank("en").vocab))

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(copied, range(4))) == [250] * 4


def test_the_registries_are_as_they_were(tmp_path):
    def broken():
        yield from docs(3)
        raise KeyError("no more")

    with pytest.raises(KeyError):
        write_spacy(broken(), tmp_path / "a.spacy")
    write_spacy(docs(3), tmp_path / "b.spacy")
    next(read_spacy(tmp_path / "b.spacy", VOCAB))
    for registry in (msgpack_decoders, msgpack_encoders):
        assert "get_all" not in vars(registry)
        registry.register("mine", func=lambda value, chain=None: value)
        try:
            assert "mine" in registry.get_all()
        finally:
            del REGISTRY[(*registry.namespace, "mine")]


def test_a_doc_that_can_not_be_written_leaves_nothing(tmp_path):
    """What comes after it has its own spans and user data."""
    first, bad, last = docs(3)
    bad.user_data["thing"] = {1, 2}
    with pytest.raises(TypeError):
        pack(bad)
    write_packed(map(pack, (first, last)), tmp_path / "two.spacy")
    found = [content(doc) for doc in read_spacy(tmp_path / "two.spacy", VOCAB)]
    assert found == [content(first), content(last)]
