"""CoNLL-2005 evaluation: every table, per sentence and overall, of the original program."""

from typing import Any

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations.frames import FrameSpans, set_frames
from spacy_lal.formats.props import read_props
from spacy_lal.scoring.srl_eval import SrlReport, score_sentence
from spacy_lal.srl.scorer import score_frames


def sentences(cases: list[dict[str, Any]], side: str) -> list[list[FrameSpans]]:
    text = "\n".join("".join("\t".join(row) + "\n" for row in case[side]) for case in cases)
    return [list(sentence.frames) for sentence in read_props(text)]


def table(report: SrlReport) -> dict[str, list[float]]:
    return {
        label: [
            counts.tp,
            counts.fp,
            counts.fn,
            round(100 * counts.precision, 2),
            round(100 * counts.recall, 2),
            round(100 * counts.fscore, 2),
        ]
        for label, counts in {"Overall": report.overall, **report.types}.items()
    }


def same(report: SrlReport, expected) -> bool:
    return (
        report.sentences == expected["sentences"]
        and report.propositions == expected["propositions"]
        and round(report.perfect_propositions, 2) == expected["perfect_props_pct"]
        and table(report) == expected["table"]
    )


@pytest.fixture(scope="module")
def fixture(load_json):
    return load_json("srl_eval")


def test_every_sentence(fixture):
    for i, case in enumerate(fixture["sentences"]):
        (gold,), (predicted,) = sentences([case], "gold"), sentences([case], "pred")
        report = score_sentence(gold, predicted)
        assert same(report, case["result"]), (i, case["notes"], report, case["result"])


def test_all_sentences_as_printed(fixture):
    cases = fixture["sentences"]
    pairs = zip(sentences(cases, "gold"), sentences(cases, "pred"), strict=True)
    report = sum((score_sentence(*pair) for pair in pairs), SrlReport())
    assert same(report, fixture["overall"])
    assert fixture["confusion_stdout"].startswith(report.format())


def test_docs_with_gold_predicates(fixture):
    """Where both sides have the same predicates, spaCy's scores are those of the program."""
    vocab = spacy.blank("xx").vocab
    scored = 0
    for i, case in enumerate(fixture["sentences"]):
        (gold,), (predicted,) = sentences([case], "gold"), sentences([case], "pred")
        if [frame[:2] for frame in gold] != [frame[:2] for frame in predicted]:
            continue
        if any([label for *_, label in frame.spans].count("V") != 1 for frame in predicted):
            continue  # nothing that a Doc can hold
        docs = [Doc(vocab, words=["a"] * case["n"]) for _ in range(2)]
        for doc, frames in zip(docs, (predicted, gold), strict=True):
            set_frames(doc, frames)
        scores = score_frames([Example(*docs)])
        expected = dict(case["result"]["table"])
        overall, _ = expected.pop("Overall"), expected.pop("V", None)
        if not any(overall[:3]):
            assert (scores["srl_f"], scores["srl_per_type"]) == (None, None), i
            continue
        scored += 1
        percent = {
            label: [round(100 * row[key], 2) for key in "prf"]
            for label, row in scores["srl_per_type"].items()
        }
        assert percent == {label: row[3:] for label, row in expected.items()}, i
        assert [round(100 * scores[f"srl_{key}"], 2) for key in "prf"] == overall[3:], i
        assert gold == [] or scores["srl_pred_f"] == 1, i
    assert scored
