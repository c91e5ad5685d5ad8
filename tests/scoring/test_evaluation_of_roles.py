"""Roles by `evaluate`, apart from the model: parses of others, groups of arguments."""

from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_lal.annotations import FrameSpans, get_frames, set_constituents, set_frames
from spacy_lal.evaluation import evaluate
from spacy_lal.evaluation.role_scores import (
    _by_parse,
    _have_heads,
    _heads_of,
    _parse,
)
from spacy_lal.srl.scorer import score_frames
from tests.pipeline.toy_frames import frames_examples
from tests.silver.teacher import toy_teacher

NLP = spacy.blank("en")


def test_parses_without_heads_are_none(tmp_path: Path) -> None:
    """Or the model's own would be scored under their name."""
    NLP.to_disk(tmp_path / "none")
    bare = Doc(NLP.vocab, words=["It", "is"])
    parsed = Doc(NLP.vocab, words=["It", "is"], heads=[1, 1], deps=["nsubj", "ROOT"])
    with pytest.raises(ValueError, match="the corpus has no gold heads"):
        _heads_of("gold", NLP, [Example(bare.copy(), bare)])
    with pytest.raises(ValueError, match=r"none finds no heads"):
        _heads_of(str(tmp_path / "none"), NLP, [Example(bare, parsed)])
    examples = [Example(bare, parsed), Example(bare.copy(), bare)]
    assert _heads_of("gold", NLP, examples)[0] == ([1, 1], ["nsubj", "ROOT"])


def test_sentences_without_gold_heads_are_kept_apart() -> None:
    """Wherever they stand: their parses are neither right nor wrong."""
    bare = Doc(NLP.vocab, words=["It", "is"])
    parsed = Doc(NLP.vocab, words=["It", "is"], heads=[1, 1], deps=["nsubj", "ROOT"])
    other = Doc(NLP.vocab, words=["It", "is"], heads=[0, 0], deps=["ROOT", "nsubj"])
    pairs = [Example(parsed, gold) for gold in (bare, parsed, other)]
    assert _have_heads(pairs)
    assert [_parse("model", pair) for pair in pairs] == ["model?", "model+", "model-"]
    assert not _have_heads(pairs[:1])
    assert not _have_heads([Example(bare, parsed)])


def test_scores_by_right_and_wrong_parses() -> None:
    """Tables 6 and 8 of Strubell et al. 2018: relations count, punctuation doesn't, and sentences
    weigh the same. Beside them: heads alone, punctuation too, and arguments weigh the same."""

    def sentence(heads: list[int], deps: str, *arguments: tuple[int, int, str]) -> Doc:
        words = ["It", "is", "here", "."]
        doc = Doc(NLP.vocab, words=words, heads=heads, deps=deps.split())
        set_frames(doc, [FrameSpans(1, "be.01", [(1, 2, "V"), *arguments])])
        return doc

    heads, deps = [1, 1, 1, 1], "nsubj ROOT advmod punct"
    subject, place = (0, 1, "ARG1"), (2, 3, "ARG2")
    gold = sentence(heads, deps, subject, place)
    found = [
        sentence([1, 1, 1, 2], "nsubj root advmod dep", subject, place),  # a wrong full stop
        sentence(heads, "obj ROOT advmod punct", subject),  # a wrong relation
        sentence([1, 1, 0, 1], "dep ROOT advmod punct", (0, 1, "ARG0"), (2, 3, "ARGM-LOC")),
        sentence(heads, deps, subject),
    ]
    pairs = [Example(doc, gold) for doc in found]
    other = [Example(gold.copy(), gold) for _ in found]
    by_paper = _by_parse(pairs, {"L": pairs, "D": other}, labelled=True)
    assert by_paper == {
        "L+ D+": {
            "f": pytest.approx(6 / 7),
            "mean_f": pytest.approx((1 + 2 / 3) / 2),
            "arguments": 4,
            "sentences": 2,
            "share": 0.5,
            "las": {"L": 1.0, "D": 1.0},
        },
        "L- D+": {
            "f": pytest.approx(2 / 7),
            "mean_f": pytest.approx((2 / 3 + 0) / 2),
            "arguments": 4,
            "sentences": 2,
            "share": 0.5,
            "las": {"L": pytest.approx((2 / 3 + 1 / 3) / 2), "D": 1.0},
        },
    }
    by_heads = _by_parse(pairs, {"L": pairs})
    assert {name: of["sentences"] for name, of in by_heads.items()} == {"L-": 2, "L+": 2}
    silent = sentence(heads, deps)
    (nothing,) = _by_parse([Example(silent, silent)], {"L": [Example(silent, silent)]}).values()
    assert nothing["mean_f"] is None


@Language.component("no_phrases")
def no_phrases(doc: Doc) -> Doc:
    """Like a parser that finds no constituent."""
    set_constituents(doc, [])
    return doc


def test_arguments_go_by_the_parsers_trees(tmp_path: Path) -> None:
    """Where constituents count, scores are those of the whole pipeline's frames."""
    toy_teacher(30).to_disk(tmp_path / "toy")
    weight = {"components.lisa_srl.nonconstituent_penalty": 100.0}
    nlp = spacy.load(tmp_path / "toy", config=weight)
    flat = spacy.load(tmp_path / "toy", config=weight, exclude=["lal_constituency"])
    flat.add_pipe("no_phrases", first=True)
    golds = [example.reference for example in frames_examples(nlp)]
    DocBin(docs=golds).to_disk(tmp_path / "gold.spacy")
    for pipeline in (nlp, flat):
        scores = evaluate(pipeline, [tmp_path / "gold.spacy"], roles={"predicates": ["model"]})
        pairs = []
        for gold in golds:
            starts = [token.i == 0 for token in gold]
            words = Doc(nlp.vocab, words=[token.text for token in gold], sent_starts=starts)
            doc = pipeline(words)
            trees = {(span.start, span.end) for span in doc.spans["constituents"]}
            for found in get_frames(doc):
                for argument in found.arguments:
                    assert len(argument) == 1 or (argument.start, argument.end) in trees
            pairs.append(Example(doc, gold))
        wanted = score_frames(pairs)
        (result,) = scores["results"]
        assert (result["srl_p"], result["srl_r"]) == (wanted["srl_p"], wanted["srl_r"])
        assert result["by_label"]["roles"].keys() == (wanted["srl_per_type"] or {}).keys()
        assert result["roles"][0]["srl_f"] == wanted["srl_f"]
