"""Evidence by n-grams, by counts made by hand."""

from __future__ import annotations

import subprocess
import sys
from math import log
from pathlib import Path

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lal.annotations.grammar_errors import error_scores
from spacy_lal.cli.edit import edit
from spacy_lal.ged import ngrams
from spacy_lal.ged.ngrams import NgramCounts, confused, counted, evidence, forms, word_hash
from tests.pipeline.toy_errors import MODEL, agreement_examples

SCRIPT = Path(__file__).parents[2] / "scripts/ngrams.py"
TEXT = 40 * ["We depend on you .", "He goes home ."] + 2 * ["We can not stay ."]


@pytest.fixture(scope="module")
def counts() -> NgramCounts:
    return counted((line.split() for line in TEXT), (1, 1, 3))


def count(counts: NgramCounts, text: str) -> float:
    words = [numpy.array([word_hash(word)], numpy.uint64) for word in text.split(" ")]
    return float(counts(*words)[0])


def test_counts_by_hand(counts: NgramCounts) -> None:
    # 40 is between 32 and 64, 2 between 2 and 4
    assert count(counts, "depend on you") == count(counts, " he goes") == 2**5.5
    assert count(counts, "depend") == 2**5.5
    assert count(counts, "not stay") == 2**1.5
    assert count(counts, "can not stay") == 0  # thrice at least
    assert count(counts, "goes you") == count(counts, ".  we") == 0


def test_stored_counts_are_the_same(counts: NgramCounts) -> None:
    read = NgramCounts.from_bytes(counts.to_bytes())
    assert (read.total, count(read, "on you")) == (counts.total, 2**5.5)


def test_many_ngrams_keep_their_counts() -> None:
    random = numpy.random.default_rng(0)
    hashes = random.integers(0, 2**63, 20_000).astype(numpy.uint64)
    sizes = random.integers(0, 16, len(hashes))
    table = NgramCounts.of(hashes[:10_000], 2 ** sizes[:10_000], 1)
    places, prints = ngrams._places(hashes, len(table.cells) // 3, table.seed)
    values = numpy.bitwise_xor.reduce(table.cells[places], 0)
    found = values >> 4 == prints
    assert found[:10_000].all()
    assert (values[:10_000] & 15 == sizes[:10_000]).all()
    assert found[10_000:].sum() < 10


def test_evidence_by_hand(counts: NgramCounts) -> None:
    words = ["We", "depend", "of", "you", ".", "We", "depend", "on", "you", "."]
    wrong, right = evidence(words, [0, 5], [2, 7], counts)
    assert right == pytest.approx(ngrams.BEGIN)  # surely "on", which the text has no rival of
    known = 2**5.5
    # "of" is unknown: alone and before "you"; after "on" all is sure
    alone = log(0.16 * 0.5 / counts.total)
    after = log(0.16 * known / counts.total)
    end = log(0.4)
    gain = -(alone + after + end)
    of_kind = ngrams.CONFUSED * (gain + ngrams.CONFUSED_FROM)
    assert wrong == pytest.approx(ngrams.BEGIN + ngrams.IMPROBABLE * alone + of_kind)


def test_words_like_a_word() -> None:
    assert {"information", "informed"} & forms("informations") == {"information"}
    assert {"goes", "went", "gone"} <= forms("go")
    assert {"study", "studies", "studying"} <= forms("studied")
    assert "stop" in forms("stopping")
    assert "writing" in forms("write")
    assert "write" in forms("writing")
    assert forms("a") == forms("3rd") == frozenset()
    assert {"in", "at"} <= confused("on")
    assert confused("on").isdisjoint({"on", "the"})


def detector(weight: float) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("gec_detector", config={"model": MODEL, "ngram_evidence": weight})
    return nlp


def scores(nlp: Language) -> list[float]:
    doc = Doc(nlp.vocab, words=["We", "depend", "of", "you", "."])
    pipe = nlp.get_pipe("gec_detector")
    pipe.cfg["labels"] = pipe.cfg["labels"] or ["ERROR"]
    wrong = numpy.array([0.0, 0.05, 0.5, 0.3, 0.0], "float32")
    pipe.set_annotations([doc], [numpy.stack([1 - wrong, wrong], 1)])
    return error_scores(doc)


def test_a_detector_weighs_what_may_be_wrong(counts: NgramCounts, tmp_path: Path) -> None:
    (tmp_path / "counts").write_bytes(counts.to_bytes())
    nlp, doubled = detector(1.0), detector(2.0)
    assert scores(nlp) == pytest.approx([0.0, 0.05, 0.5, 0.3, 0.0])  # without counts
    nlp.get_pipe("gec_detector").read_ngrams(tmp_path / "counts")
    doubled.get_pipe("gec_detector").read_ngrams(tmp_path / "counts")
    words = ["We", "depend", "of", "you", "."]
    more = evidence(words, [0], [2, 3], counts)
    of, you = (1 / (1 + numpy.exp(-more - [0, log(3 / 7)]))).tolist()
    assert scores(nlp) == pytest.approx([0.0, 0.05, of, you, 0.0])
    assert scores(doubled)[2] == pytest.approx(1 / (1 + numpy.exp(-2 * more[0])))
    with pytest.raises(ValueError, match="ngram_evidence must be from 0 on, got -1"):
        detector(-1.0)


def test_counts_are_stored_with_the_detector(counts: NgramCounts, tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("gec_detector", config={"model": MODEL})
    nlp.initialize(lambda: agreement_examples(nlp, 20))
    nlp.to_disk(tmp_path / "plain")
    (tmp_path / "counts").write_bytes(counts.to_bytes())
    weight = ["components.gec_detector.ngram_evidence=1"]
    edit(str(tmp_path / "plain"), tmp_path / "with", weight, ngrams=tmp_path / "counts")
    stored = spacy.load(tmp_path / "with")
    assert "ngrams" not in (tmp_path / "with/gec_detector/cfg").read_text()
    by_bytes = spacy.load(tmp_path / "plain").from_bytes(stored.to_bytes())
    for read in (stored, by_bytes):
        of_detector = read.get_pipe("gec_detector")._ngram_counts()
        assert count(of_detector, "depend on") == 2**5.5
    (tmp_path / "with/gec_detector/ngrams.safetensors").write_bytes(b"no counts")
    with pytest.raises(ValueError, match=r"ngrams\.safetensors"):
        spacy.load(tmp_path / "with")


def test_the_script_counts_text(tmp_path: Path) -> None:
    text = 5 * "They can’t wait. We cannot—ever—say “3,000”.\n"
    (tmp_path / "text.txt").write_text(text, "utf8")
    subprocess.run([sys.executable, SCRIPT, tmp_path / "text.txt", tmp_path / "counts"], check=True)
    counts = NgramCounts.from_bytes((tmp_path / "counts").read_bytes())
    for known in ("ca n't wait", "we can not", "not - ever", 'say " 0', '0 " .'):
        assert count(counts, known) == 2**2.5, known
    assert count(counts, "wait . we") == 0
