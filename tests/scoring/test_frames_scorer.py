"""Scores of frames on Docs: those of srl-eval end to end, whatever the tokens."""

import pickle

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations.frames import FrameSpans, set_frames
from spacy_lal.srl.scorer import AUXILIARIES, make_srl_scorer, score_frames

VOCAB = spacy.blank("en").vocab
ARGUMENTS = ("srl_p", "srl_r", "srl_f")
PREDICATES = ("srl_pred_p", "srl_pred_r", "srl_pred_f")
WORDS = ["the", "dogs", "want", "to", "chase", "cats", "today"]
WANT = FrameSpans(2, "want.01", [(2, 3, "V"), (0, 2, "ARG0"), (3, 7, "ARG1")])
CHASE = FrameSpans(4, "chase.01", [(4, 5, "V"), (0, 2, "ARG0"), (5, 6, "ARG1"), (6, 7, "ARGM-TMP")])


def doc(frames=None, words=WORDS, spaces=None, key="srl"):
    result = Doc(VOCAB, words=words, spaces=spaces)
    if frames is not None:
        set_frames(result, frames, key=key)
    return result


def scores(predicted, gold, **options):
    return score_frames([Example(predicted, gold)], **options)


def values(result, keys=ARGUMENTS):
    return pytest.approx([result[key] for key in keys])


def test_perfect_prediction():
    result = scores(doc([WANT, CHASE]), doc([CHASE, WANT]))
    for key in ("srl_per_type", "spans_srl_per_type"):
        assert result.pop(key) == {
            label: {"p": 1.0, "r": 1.0, "f": 1.0} for label in ("ARG0", "ARG1", "ARGM-TMP")
        }
    assert set(result) == {*ARGUMENTS, *PREDICATES, *(f"spans_{key}" for key in ARGUMENTS)}
    assert set(result.values()) == {1.0}


def test_rolesets_and_verb_spans_are_not_compared():
    found = [FrameSpans(2, "", [(2, 4, "V"), *WANT.spans[1:]]), CHASE._replace(roleset="x")]
    result = scores(doc(found), doc([WANT, CHASE]))
    assert [result[key] for key in (*ARGUMENTS, *PREDICATES)] == [1.0] * 6


def test_wrong_arguments():
    found = [FrameSpans(2, "", [(2, 3, "V"), (1, 2, "ARG0"), (3, 7, "ARG2")]), CHASE]
    result = scores(doc(found), doc([WANT, CHASE]))
    assert values(result) == [3 / 5] * 3
    assert result["srl_per_type"]["ARG0"] == pytest.approx({"p": 0.5, "r": 0.5, "f": 0.5})
    assert result["srl_per_type"]["ARG2"] == {"p": 0.0, "r": 0.0, "f": 0.0}
    assert [result[key] for key in PREDICATES] == [1.0] * 3


def test_predicates_count_end_to_end():
    """One too many costs precision, one too few recall; both sides see the same."""
    spurious = FrameSpans(5, "cat.01", [(5, 6, "V"), (4, 5, "ARG0"), (6, 7, "ARG1")])
    result = scores(doc([WANT, spurious]), doc([WANT, CHASE]))
    assert values(result) == [2 / 4, 2 / 5, 4 / 9]
    assert values(result, PREDICATES) == [1 / 2, 1 / 2, 1 / 2]
    back = scores(doc([WANT, CHASE]), doc([WANT, spurious]))
    assert (back["srl_p"], back["srl_r"]) == (result["srl_r"], result["srl_p"])


def test_the_predicate_is_the_token_with_the_roleset():
    """Of a V with several tokens it needn't be the first."""
    gold = FrameSpans(3, "want.01", [(2, 4, "V"), (0, 2, "ARG0")])
    assert scores(doc([gold]), doc([gold]))["srl_f"] == 1
    result = scores(doc([gold._replace(predicate=2)]), doc([gold]))
    assert (result["srl_f"], result["srl_pred_f"]) == (0, 0)


def test_pieces_are_one_argument():
    gold = FrameSpans(4, "", [(4, 5, "V"), (0, 1, "ARG1"), (2, 3, "C-ARG1"), (5, 6, "C-V")])
    result = scores(doc([gold]), doc([gold]))
    assert set(result["srl_per_type"]) == {"ARG1"}
    found = gold._replace(spans=gold.spans[:2])
    result = scores(doc([found]), doc([gold]))
    assert values(result) == [0, 0, 0]
    # the second piece of V is as little an argument as V is
    found = gold._replace(spans=gold.spans[:3])
    assert scores(doc([found]), doc([gold]))["srl_f"] == 1


def test_only_annotated_docs_count():
    assert set(scores(doc([WANT]), doc()).values()) == {None}
    assert set(score_frames([]).values()) == {None}
    examples = [Example(doc([WANT]), doc()), Example(doc([CHASE]), doc([CHASE]))]
    assert score_frames(examples)["srl_f"] == 1


def test_annotated_without_frames():
    """What is predicted there is wrong."""
    result = scores(doc([WANT]), doc([]))
    assert [result[key] for key in (*ARGUMENTS, *PREDICATES)] == [0] * 6
    assert set(scores(doc([]), doc([])).values()) == {None}


def test_nothing_predicted_is_zero():
    for found in (doc(), doc([])):
        result = scores(found, doc([WANT, CHASE]))
        assert [result[key] for key in (*ARGUMENTS, *PREDICATES)] == [0] * 6


def test_positions_of_different_docs_stay_apart():
    examples = [Example(doc([WANT]), doc([CHASE])), Example(doc([CHASE]), doc([WANT]))]
    assert score_frames(examples)["srl_pred_f"] == 0


def test_ignored_rolesets():
    have = FrameSpans(2, "have.01", [(2, 3, "V"), (4, 5, "ARG1")])
    gold = doc([have, CHASE])
    # as right as wrong arguments of the auxiliary are left out, as is the lack of it
    for frames in ([have, CHASE], [WANT, CHASE], [CHASE]):
        result = scores(doc(frames), gold, ignored_rolesets=AUXILIARIES)
        assert [result[key] for key in (*ARGUMENTS, *PREDICATES)] == [1.0] * 6
    assert values(scores(doc([WANT, CHASE]), gold)) == [3 / 5, 3 / 4, 2 / 3]
    # a predicted roleset doesn't make a frame an auxiliary's
    result = scores(doc([have, CHASE]), doc([CHASE]), ignored_rolesets=AUXILIARIES)
    assert values(result, PREDICATES) == [1 / 2, 1, 2 / 3]
    assert set(scores(doc([WANT]), doc([have]), ignored_rolesets=AUXILIARIES).values()) == {None}


def test_other_tokens_are_aligned():
    spans = [(2, 3, "V"), (0, 1, "ARGM-MOD"), (1, 2, "ARGM-NEG"), (3, 4, "A4")]
    gold = doc(
        [FrameSpans(2, "go.01", spans)], ["do", "n't", "go", "there"], [False, True, True, False]
    )
    found = doc(
        [FrameSpans(1, "", [(1, 2, "V"), (0, 1, "ARGM-MOD"), (2, 4, "A4")])],
        ["don't", "go", "the", "re"],
        [True, True, False, False],
    )
    result = scores(found, gold)
    # "don't" is two gold tokens, "there" two predicted ones
    assert values(result) == [1 / 2, 1 / 3, 2 / 5]
    assert result["srl_pred_f"] == 1
    assert result["srl_per_type"]["A4"]["f"] == 1
    # the other way round, "do" and "n't" are parts of a token and can't be right
    result = scores(gold, found)
    assert values(result) == [1 / 3, 1 / 2, 2 / 5]
    # a part of "there" isn't right, either
    part = doc(
        [FrameSpans(1, "", [(1, 2, "V"), (2, 3, "A4")])],
        ["don't", "go", "the", "re"],
        [True, True, False, False],
    )
    assert values(scores(part, gold)) == [0, 0, 0]


def test_a_predicate_within_another_token_is_wrong():
    whole = doc([FrameSpans(0, "", [(0, 1, "V"), (1, 2, "ARG1")])], ["gonna", "go"])
    split = doc(
        [FrameSpans(0, "", [(0, 1, "V"), (2, 3, "ARG1")])], ["gon", "na", "go"], [False, True, True]
    )
    for found, gold in ((whole, split), (split, whole)):
        result = scores(found, gold)
        assert [result[key] for key in (*ARGUMENTS, *PREDICATES)] == [0] * 6


@pytest.mark.parametrize("spaced_gold", [False, True])
def test_whitespace_tokens_do_not_count(spaced_gold):
    plain = doc([FrameSpans(1, "", [(1, 2, "V"), (0, 1, "A0"), (2, 4, "A1")])], [*"abcd"])
    spaced = doc(
        [FrameSpans(2, "", [(2, 3, "V"), (0, 2, "A0"), (3, 6, "A1"), (6, 7, "A2")])],
        ["a", "\n", "b", "c", "\n", "d", "\n"],
    )
    pair = (plain, spaced) if spaced_gold else (spaced, plain)
    result = scores(*pair)
    assert [result[key] for key in (*ARGUMENTS, *PREDICATES)] == [1.0] * 6


def test_spaced_on_both_sides():
    words = ["a", "\n", "b"]
    gold = doc([FrameSpans(2, "", [(2, 3, "V"), (0, 1, "A0")])], words)
    found = doc([FrameSpans(2, "", [(2, 3, "V"), (0, 2, "A0"), (1, 2, "A1")])], words)
    assert scores(found, gold)["srl_f"] == 1


def test_a_predicate_of_whitespace_is_wrong():
    found = doc([FrameSpans(1, "", [(1, 2, "V"), (0, 1, "A0")])], ["a", "\n", "b"])
    gold = doc([FrameSpans(1, "", [(1, 2, "V"), (0, 1, "A0")])], ["a", "b"])
    result = scores(found, gold)
    assert [result[key] for key in (*ARGUMENTS, *PREDICATES)] == [0] * 6


def test_registered_scorer():
    be = FrameSpans(2, "be.03", [(2, 3, "V")])
    scorer = pickle.loads(pickle.dumps(make_srl_scorer("roles", ["be.03"])))
    example = Example(doc([CHASE], key="roles"), doc([be, CHASE], key="roles"))
    assert scorer([example], labels=(), threshold=0.5)["srl_pred_f"] == 1
    assert make_srl_scorer("roles")([example])["srl_pred_r"] == 1 / 2
    assert make_srl_scorer()([example])["srl_f"] is None
