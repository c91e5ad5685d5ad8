"""Texts to plain dicts, in batches of tokens."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lal.annotate import annotate_batch
from spacy_lal.annotate.annotating import through_pipeline
from spacy_lal.annotate.records import check_record, doc_record, layers_of, record_doc
from spacy_lal.annotations.constituents import set_constituents
from spacy_lal.annotations.grammar_errors import set_errors

TEXTS = [
    "The cat sat on the mat. She ate the fish.",
    "",
    "Dogs  eat\n\nand cats sat .",
    " \n ",
    "Give the dog up!",
    "Go home \U0001f600 \x00 now.",
]


def state(doc: Doc) -> dict[str, Any]:
    """What a Doc has, read by spaCy's own means."""
    groups = {
        key: [(s.start, s.end, s.label_, s.id_) for s in group] for key, group in doc.spans.items()
    }
    return {
        "tokens": [(t.text, t.whitespace_, t.tag_, t.head.i, t.dep_) for t in doc],
        "sentences": [(s.start, s.end) for s in doc.sents]
        if doc.has_annotation("SENT_START")
        else [],
        "groups": groups,
    }


def test_a_record_is_the_doc(nlp: Language) -> None:
    """Back from JSON it is the Doc that the pipeline gives, scores to six digits."""
    for text in TEXTS:
        (record,) = annotate_batch([{"id": "a", "lang": "en", "text": text}], nlp)
        assert (record["id"], record["lang"], record["text"]) == ("a", "en", text)
        record = json.loads(json.dumps(record))
        doc, again = nlp(text), record_doc(record, nlp.vocab)
        assert state(again) == state(doc)
        for key in doc.spans:
            scores = doc.spans[key].attrs["scores"]
            assert again.spans[key].attrs["scores"] == pytest.approx(scores, abs=1e-6)


def test_errors_of_grammar() -> None:
    nlp = spacy.blank("en")
    doc = nlp("He go home")
    set_errors(doc, ["", "R", ""], [0.125, 0.75, 0.25])
    record = doc_record({"text": doc.text}, doc)
    assert record["errors"] == [{"start": 1, "end": 2, "label": "R", "score": 0.75}]
    assert record["error_scores"] == [0.125, 0.75, 0.25]
    assert state(record_doc(record, nlp.vocab)) == state(doc)
    assert "heads" not in record


def test_words_of_another_text(nlp: Language) -> None:
    with pytest.raises(ValueError, match="record 'a'"):
        record_doc({"id": "a", "text": "a b", "words": ["a"], "starts": [0]}, nlp.vocab)


def test_the_model_by_name(folder: Path, nlp: Language) -> None:
    records = [{"id": str(k), "text": text} for k, text in enumerate(TEXTS)]
    assert annotate_batch(records, folder) == annotate_batch(records, nlp)


def test_a_long_text_in_pieces(nlp: Language) -> None:
    text = "\n".join(["The cat sat on the mat."] * 9)
    found = annotate_batch([{"id": "a", "text": text}], nlp, max_chars=60)
    assert "".join(piece["text"] for piece in found) == text
    assert len(found) > 3
    for piece in found:
        end = piece["offset"] + len(piece["text"])
        assert text[piece["offset"] : end] == piece["text"]


def test_batches_of_tokens(nlp: Language) -> None:
    """A batch is full when it has so many tokens; what is found does not depend on it."""
    sizes: list[int] = []

    class Counted:
        def pipe(self, docs: Any, batch_size: int) -> Any:
            docs = list(docs)
            sizes.append(sum(map(len, docs)))
            return docs

    counting = spacy.blank("en")
    counting.add_pipe("sentencizer")
    counting._components[0] = ("sentencizer", Counted())
    records = [{"text": "a b c"}] * 10
    list(through_pipeline(counting, records, lambda record, doc: 0, batch_tokens=7))
    assert sizes == [9, 9, 9, 3]
    records = [{"id": str(k), "text": text} for k, text in enumerate(TEXTS)]
    whole = annotate_batch(records, nlp)
    for tokens in (1, 8):
        assert _no_scores(annotate_batch(records, nlp, batch_tokens=tokens)) == _no_scores(whole)


def test_a_text_that_fails(nlp: Language) -> None:
    """In a component, in the tokenizer, or when it is read: the others are annotated."""

    def fails(doc: Doc) -> Doc:
        if "poison" in doc.text:
            raise RuntimeError("no\nantidote")
        return doc

    poisoned = spacy.blank("en")
    poisoned.add_pipe("sentencizer")
    poisoned._components[0] = ("sentencizer", fails)
    texts = ["a", "some poison", "\ud800", "b", "x" * 1_000_001]
    records = [{"id": k, "text": text} for k, text in enumerate(texts)]
    found = annotate_batch(records, poisoned, max_chars=2_000_000)
    assert [record["id"] for record in found] == [0, 1, 2, 3, 4]
    assert found[1] == {
        "id": 1,
        "text": "some poison",
        "offset": 0,
        "error": "RuntimeError: no antidote",
    }
    assert found[2]["error"].startswith("UnicodeEncodeError")
    assert "maximum of 1000000" in found[4]["error"]
    assert [found[k]["words"] for k in (0, 3)] == [["a"], ["b"]]


def test_records_without_a_text(nlp: Language) -> None:
    """They come back, and so do the others; a failed record may be given again."""
    nothing: list[dict[str, Any]] = [{"id": 1}, {"id": 2, "text": None}, {"id": 3, "text": 0.5}]
    record = {"id": 0, "text": "A dog barks.", "error": "of another run"}
    first, *found, last = annotate_batch([record, *nothing, record], nlp)
    assert found == [{**record, "error": "no text in 'text'"} for record in nothing]
    assert first["words"] == last["words"] == ["A", "dog", "barks", "."]
    assert "error" not in first
    with pytest.raises(ValueError, match="record 2 has no words: no text in 'text'"):
        record_doc(found[1], nlp.vocab)


def test_pieces_have_characters(nlp: Language) -> None:
    with pytest.raises(ValueError, match="max_chars must be at least 1, got 0"):
        annotate_batch([{"text": "ab"}], nlp, max_chars=0)


def test_records_may_come_from_the_same_pipeline(nlp: Language) -> None:
    """Its strings are freed with each batch, those of the Doc that is being read too."""

    def sentences() -> Iterator[dict[str, str]]:
        for token in nlp.make_doc("Zqwxone Zqwxtwo Zqwxthree Zqwxfour Zqwxfive"):
            yield {"text": token.text}

    found = annotate_batch(sentences(), nlp, batch_tokens=1)
    assert [record["words"] for record in found] == [
        [f"Zqwx{number}"] for number in ("one", "two", "three", "four", "five")
    ]


def test_sentences_that_were_not_parsed(nlp: Language) -> None:
    doc = Doc(nlp.vocab, ["a", "b", "c"], sent_starts=[True, False, True])
    set_constituents(doc, [(2, 3, "S")], unparsed=[(0, 2)])
    record = doc_record({"text": doc.text}, doc)
    assert record["unparsed"] == [{"start": 0, "end": 2}]
    again = record_doc(record, nlp.vocab)
    assert [tree.parsed for tree in again._.trees] == [False, True]


def test_nothing_stays_in_the_vocabulary(nlp: Language) -> None:
    """Strings of texts are gone with their batch."""
    before = len(nlp.vocab.strings)
    records = [{"id": str(k), "text": f"Zq{k}x sat."} for k in range(100)]
    annotate_batch(records, nlp, batch_tokens=50)
    assert len(nlp.vocab.strings) <= before + 5  # labels that were never written before
    assert "Zq7x" not in nlp.vocab.strings


def _no_scores(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _no_scores(inner) for key, inner in value.items() if key != "score"}
    return [_no_scores(inner) for inner in value] if isinstance(value, list) else value


def _detector() -> Language:
    nlp = spacy.blank("en")

    @Language.component("errs")
    def errs(doc: Doc) -> Doc:
        set_errors(doc, ["R" if token.text == "go" else "" for token in doc], [0.5] * len(doc))
        return doc

    nlp.add_pipe("errs")
    return nlp


def _tagger_of_words() -> Language:
    """It sets tags and lemmas of words alone, and boundaries only behind them."""
    nlp = spacy.blank("en")

    @Language.component("words")
    def words(doc: Doc) -> Doc:
        for token in doc:
            if not token.is_space:
                token.tag_, token.lemma_ = "X", token.text
                token.is_sent_start = token.i == 0
        return doc

    nlp.add_pipe("words")
    return nlp


BLANK = ["", " ", "\n\n", "\n \n\t", "\u200b", "\u00a0", "\U0001f600", "go", "He go home."]


@pytest.mark.parametrize("make", [_detector, _tagger_of_words, lambda: spacy.blank("de"), None])
def test_records_of_a_pipeline_have_the_same_fields(make: Any, nlp: Language) -> None:
    """Those of a sentence, whatever the text is; and they are records of pictures and Docs."""
    nlp = make() if make else nlp
    expected = doc_record({"text": "", "offset": 0}, nlp("He go home.")).keys()
    for record in annotate_batch([{"text": text} for text in BLANK], nlp):
        assert record.keys() == expected
        check_record(record)
        assert record_doc(record, nlp.vocab).text == record["text"]
    failed, changed = annotate_batch([{"id": 1}, {"text": ""}], nlp)
    assert failed == {"id": 1, "error": "no text in 'text'"}
    nlp = pickle.loads(pickle.dumps(nlp)) if make is None else make()
    layers_of(nlp)
    with nlp.select_pipes(enable=[]):
        (record,) = annotate_batch([{"text": ""}], nlp)
        assert record.keys() == {"text", "offset", "words", "starts"}
    assert annotate_batch([{"text": ""}], nlp)[0].keys() == expected == changed.keys()


def test_unparsed_texts_have_the_same_fields(folder: Path) -> None:
    settings = {"max_sentence_length": 3, "long_sentences": "flat"}
    components = ("lal_constituency", "lisa_srl")
    config = {f"components.{c}.{key}": v for c in components for key, v in settings.items()}
    long, short = annotate_batch(
        [{"text": "The cat sat on the mat."}, {"text": "Go home!"}],
        spacy.load(folder, config=config),
    )
    assert long.keys() - short.keys() == {"unparsed"}
    assert not short.keys() - long.keys()
    assert long["unparsed"] == [{"start": 0, "end": 7}]


def test_neighbours_that_are_errors_of_their_own() -> None:
    doc = spacy.blank("en")("He have go home")
    set_errors(doc, ["", "R", "R", ""], [0.1, 0.5, 0.75, 0.2], begins=[2])
    record = doc_record({"text": doc.text}, doc)
    assert [(e["start"], e["end"], e["score"]) for e in record["errors"]] == [
        (1, 2, 0.5),
        (2, 3, 0.75),
    ]
    assert state(record_doc(record, doc.vocab)) == state(doc)
