"""Attachment scores, each convention by hand, against spaCy and against a plain rewriting."""

import pickle
import random

import pytest
import spacy
from spacy.pipeline._parser_internals.nonproj import is_nonproj_tree
from spacy.pipeline.dep_parser import parser_score
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.scoring.attachment import ATTACHMENT_SCORES, make_attachment_scorer, score_attachment

VOCAB = spacy.blank("en").vocab
LABELS = ("nsubj", "nsubj:pass", "obj", "case", "det", "punct", "dep")
TAGS = ("NN", "VB", ".", ",", "``", "''", ":", "")


def doc(words, heads=None, deps=None, tags=None, spaces=None):
    return Doc(VOCAB, words=words, heads=heads, deps=deps, tags=tags, spaces=spaces)


def sentence(heads=(1, 1, 3, 1, 1), deps=("nsubj:pass", "root", "case", "obl", "punct"), tags=None):
    """They were seen at night, more or less."""
    tags = tags or ["PRP", "VBD", "IN", "NN", "."]
    return doc(["They", "slept", "at", "night", "."], list(heads), list(deps), tags)


def scores_of(found, gold):
    return score_attachment([Example(found, gold)])


def random_tree(rng, n):
    """A head for each of n words, the root being its own; some are nonprojective."""
    order = rng.sample(range(n), n)
    heads = [0] * n
    heads[order[0]] = order[0]
    for i, word in enumerate(order[1:], 1):
        heads[word] = rng.choice(order[:i])
    return heads


def random_deps(rng, heads):
    return ["ROOT" if head == i else rng.choice(LABELS) for i, head in enumerate(heads)]


def test_by_hand():
    """Of five words "at" has a wrong head, "They" a wrong relation, the full stop both."""
    found = sentence((1, 1, 1, 1, 3), ("nsubj", "ROOT", "case", "obl", "dep"))
    scores = scores_of(found, sentence())
    assert scores["conll18_uas"] == pytest.approx(3 / 5)
    assert scores["conll18_las"] == pytest.approx(3 / 5)  # nsubj is as good as nsubj:pass
    assert scores["ptb_uas"] == pytest.approx(3 / 4)
    assert scores["ptb_las"] == pytest.approx(2 / 4)
    # spaCy: 4 gold words, but 5 predicted ones, since its full stop is none by the relation
    assert scores["dep_uas"] == pytest.approx(2 * 3 / (4 + 5))
    assert scores["dep_las"] == pytest.approx(2 * 2 / (4 + 5))
    assert (scores["dep_nonproj"], scores["dep_nonproj_pred"]) == (0, 0)
    assert scores["sents_f"] == pytest.approx(1)


def test_perfect_prediction():
    scores = scores_of(sentence(), sentence())
    assert set(scores.pop("dep_las_per_type")) == {"nsubj:pass", "root", "case", "obl"}
    assert (scores.pop("dep_nonproj"), scores.pop("dep_nonproj_pred")) == (0, 0)
    assert set(scores) == {*ATTACHMENT_SCORES, "sents_p", "sents_r", "sents_f"} - {
        "dep_las_per_type", "dep_nonproj", "dep_nonproj_pred",
    }  # fmt: skip
    assert list(scores.values()) == pytest.approx([1] * len(scores))


def test_punctuation_is_told_by_the_gold_tag_only():
    """A wrong head of a comma costs nothing in `ptb`; one of a word without tag does."""
    punctuation, words = (",", "``", "`", "''", ".", ":"), ("NN", "", "$", "-LRB-")
    for tag in (*punctuation, *words):
        gold = sentence(tags=["PRP", "VBD", "IN", "NN", tag])
        scores = scores_of(sentence((1, 1, 3, 1, 3), tags=["."] * 5), gold)
        assert scores["ptb_uas"] == pytest.approx(1 if tag in punctuation else 4 / 5)
        assert scores["conll18_uas"] == pytest.approx(4 / 5)


def test_without_gold_tags_there_is_no_ptb_score():
    words, heads, deps = ["a", "."], [0, 0], ["ROOT", "punct"]
    scores = scores_of(doc(words, heads, deps, ["NN", "."]), doc(words, heads, deps))
    assert [scores[key] for key in ATTACHMENT_SCORES if key.startswith("ptb")] == [None] * 2
    assert scores["conll18_las"] == 1


def test_several_sentences():
    """The second of four sentences has a wrong relation, the third a wrong head."""
    words, tags = ["a", "b"] * 3 + ["!"], ["NN", "VB"] * 3 + ["."]
    gold = doc(words, [1, 1, 3, 3, 5, 5, 6], ["x", "ROOT"] * 3 + ["ROOT"], tags)
    found = doc(words, [1, 1, 3, 3, 4, 4, 6], ["x", "ROOT", "y", "ROOT", "ROOT", "x", "ROOT"])
    scores = scores_of(found, gold)
    assert scores["ptb_uas"] == pytest.approx(4 / 6)
    assert scores["ptb_las"] == pytest.approx(3 / 6)
    assert scores["conll18_uas"] == pytest.approx(5 / 7)


def test_only_punctuation():
    gold = doc(["!"], [0], ["ROOT"], ["."])
    scores = scores_of(gold, gold)
    assert (scores["ptb_uas"], scores["ptb_las"]) == (None, None)


def test_spacy_scores_are_those_of_spacy():
    rng = random.Random(0)
    examples = []
    for _ in range(30):
        n = rng.randint(1, 10)
        gold, found = random_tree(rng, n), random_tree(rng, n)
        if rng.random() < 0.5:
            found = gold
        words = ["w"] * n
        examples.append(
            Example(doc(words, found, random_deps(rng, found)),
                    doc(words, gold, random_deps(rng, gold)))
        )  # fmt: skip
    scores = score_attachment(iter(examples))
    assert 0 < scores["dep_las"] < scores["dep_uas"] < 1
    expected = parser_score(examples)
    assert {key: scores[key] for key in expected} == expected
    deps = Scorer.score_deps(
        examples, "dep", getter=lambda token, attr: token.dep_.lower(),
        ignore_labels=("p", "punct"),
    )  # fmt: skip
    assert {key: scores[key] for key in deps} == deps


def simple_scores(pairs):
    """conll18_{uas,las} and ptb_{uas,las}, word by word, for equal tokens."""
    right = {"conll18_uas": [], "conll18_las": [], "ptb_uas": [], "ptb_las": []}
    for gold, found in pairs:
        unlabelled, labelled = [], []
        for g, f in zip(gold, found, strict=True):
            head = g.head.i == f.head.i
            right["conll18_uas"].append(head)
            right["conll18_las"].append(head and g.dep_.split(":")[0] == f.dep_.split(":")[0])
            if g.tag_ not in {".", "``", "''", ",", ":"}:
                unlabelled.append(head)
                labelled.append(head and g.dep_ == f.dep_)
        right["ptb_uas"] += unlabelled
        right["ptb_las"] += labelled
    return {key: sum(values) / len(values) for key, values in right.items()}


def test_equals_counting_word_by_word():
    rng = random.Random(1)
    pairs, examples = [], []
    for _ in range(60):
        n = rng.randint(1, 9)
        words = [rng.choice("abc") for _ in range(n)]
        heads = random_tree(rng, n)
        deps, tags = random_deps(rng, heads), [rng.choice(TAGS) for _ in range(n)]
        tags[rng.randrange(n)] = "NN"
        gold = doc(words, heads, deps, tags)
        if rng.random() < 0.3:
            heads = random_tree(rng, n)
        found_deps = [rng.choice((dep, dep, rng.choice(LABELS))) for dep in deps]
        found = doc(words, heads, found_deps)
        pairs.append((gold, found))
        examples.append(Example(found, gold))
    scores, expected = score_attachment(examples), simple_scores(pairs)
    assert {key: scores[key] for key in expected} == pytest.approx(expected)
    assert 0 < scores["ptb_las"] < scores["ptb_uas"] < 1


def test_several_sentences_in_a_doc_score_as_apart():
    rng = random.Random(2)
    apart, golds, founds = [], [], []
    for _ in range(8):
        n = rng.randint(1, 8)
        for docs in (golds, founds):
            heads = random_tree(rng, n)
            docs.append(doc(["w"] * n, heads, random_deps(rng, heads), ["NN"] * n))
        apart.append(Example(founds[-1], golds[-1]))
    together = [Example(Doc.from_docs(founds), Doc.from_docs(golds))]
    expected, scores = score_attachment(apart), score_attachment(together)
    assert 0 < scores["dep_nonproj"] < 8
    per_type = expected.pop("dep_las_per_type")
    assert scores.pop("dep_las_per_type").keys() == per_type.keys()
    assert scores == pytest.approx(expected)


def test_other_tokens():
    """The gold do, n't, go, home against don't, go, ho, me: only go is a word of both."""
    gold = doc(["do", "n't", "go", "home"], [2, 2, 2, 2], ["aux", "advmod", "root", "obj"],
               ["VB", "RB", "VB", "NN"], [False, True, True, False])  # fmt: skip
    found = doc(["don't", "go", "ho", "me"], [1, 1, 1, 1], ["aux", "ROOT", "obj", "obj"],
                None, [True, True, False, False])  # fmt: skip
    for one, other in ((found, gold), (gold, found)):
        scores = scores_of(one, other)
        assert scores["conll18_uas"] == scores["conll18_las"] == pytest.approx(2 * 1 / (4 + 4))
    scores = scores_of(found, gold)
    assert scores["ptb_las"] == pytest.approx(2 * 1 / (4 + 4))
    spacys = parser_score([Example(found, gold)])
    assert {key: scores[key] for key in spacys} == spacys


def test_a_head_that_is_no_word_of_both_is_wrong():
    gold = doc(["a", "bc"], [1, 1], ["x", "ROOT"], spaces=[True, False])
    found = doc(["a", "b", "c"], [1, 1, 1], ["x", "ROOT", "x"], spaces=[True, False, False])
    assert scores_of(found, gold)["conll18_uas"] == 0
    found = doc(["a", "b", "c"], [0, 0, 1], ["ROOT", "x", "x"], spaces=[True, False, False])
    gold = doc(["a", "bc"], [0, 0], ["ROOT", "x"], spaces=[True, False])
    assert scores_of(found, gold)["conll18_uas"] == pytest.approx(2 * 1 / (2 + 3))


def test_split_punctuation_is_still_punctuation():
    gold = doc(["a", "..."], [0, 0], ["ROOT", "punct"], ["NN", ":"], [False, False])
    found = doc(["a", ".", ".."], [0, 0, 0], ["ROOT", "punct", "punct"], None, [False] * 3)
    scores = scores_of(found, gold)
    assert scores["ptb_las"] == 1
    assert scores["conll18_las"] == pytest.approx(2 * 1 / (2 + 3))


@pytest.mark.parametrize("spaced_gold", [False, True])
def test_whitespace_does_not_count(spaced_gold):
    plain = doc(["a", "b", "c"], [1, 1, 1], ["det", "ROOT", "obj"], ["DT", "VB", "NN"])
    spaced = doc(["a", "\n", "b", "c", " "], [2, 0, 2, 2, 3], ["det", "dep", "ROOT", "obj", "dep"],
                 ["DT", "_SP", "VB", "NN", "_SP"])  # fmt: skip
    example = Example(plain, spaced) if spaced_gold else Example(spaced, plain)
    scores = score_attachment([example])
    for key in ATTACHMENT_SCORES[3:7]:
        assert scores[key] == 1
    assert scores["dep_nonproj"] == 0


def test_words_without_gold_head_do_not_count():
    words, tags = ["a", "b", "c", "d"], ["NN"] * 4
    gold = doc(words, [1, 1, None, None], ["x", "ROOT", None, None], tags)
    assert [token.has_head() for token in gold] == [True, True, False, False]
    found = doc(words, [1, 1, 3, 1], ["x", "ROOT", "x", "obj"])
    scores = scores_of(found, gold)
    for key in ("dep_uas", "dep_las", *ATTACHMENT_SCORES[3:7]):
        assert scores[key] == 1
    wrong = doc(words, [0, 0, 3, 0], ["ROOT", "x", "x", "obj"])
    scores = scores_of(wrong, gold)
    assert (scores["conll18_uas"], scores["ptb_uas"]) == (0, 0)
    # the predicted word of c and d is none of them
    merged = doc(["a", "b", "cd"], [1, 1, 1], ["x", "ROOT", "obj"], spaces=[True, True, False])
    gold = doc(words, [1, 1, None, None], ["x", "ROOT", None, None], tags,
               [True, True, False, False])  # fmt: skip
    assert scores_of(merged, gold)["conll18_las"] == 1


def test_docs_without_gold_heads_are_left_out():
    bare = Example(sentence(), doc(["They", "slept", "at", "night", "."]))
    both = score_attachment([bare, Example(sentence((1, 1, 1, 1, 1)), sentence())])
    assert both["conll18_uas"] == pytest.approx(4 / 5)


def test_without_gold_all_is_none():
    words = ["They", "slept", "at", "night", "."]
    assert set(scores_of(sentence(), doc(words)).values()) == {None}
    assert set(scores_of(doc([]), doc([])).values()) == {None}
    assert set(score_attachment([]).values()) == {None}
    assert set(score_attachment([])) == {*ATTACHMENT_SCORES, "sents_p", "sents_r", "sents_f"}
    # spaCy has a score of zero where predicted words are no words of the gold
    merged = doc(["ab", "c"], [0, 0], ["ROOT", "x"], spaces=[True, False])
    example = Example(merged, doc(["a", "b", "c"], spaces=[False, True, False]))
    assert parser_score([example])["dep_las"] == 0
    assert set(score_attachment([example]).values()) == {None}


def test_nothing_predicted_is_zero():
    """Without its own relation a predicted word is no root, though its head is itself."""
    scores = scores_of(doc(["They", "slept", "at", "night", "."]), sentence())
    assert [scores[key] for key in ATTACHMENT_SCORES[3:7]] == [0] * 4
    assert scores["dep_nonproj_pred"] == 0


def crosses(heads):
    """By definition, with the arc of the root from before the first word."""
    arcs = [(min(i, h), max(i, h)) if i != h else (-1, i) for i, h in enumerate(heads)]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)


def test_nonprojective_sentences_are_counted():
    rng = random.Random(3)
    trees = [random_tree(rng, rng.randint(1, 7)) for _ in range(200)]
    expected = [crosses(heads) for heads in trees]
    assert expected == [is_nonproj_tree(heads) for heads in trees]
    assert 20 < sum(expected) < 180
    for heads, nonprojective in zip(trees, expected, strict=True):
        parsed = doc(["w"] * len(heads), heads, random_deps(rng, heads))
        flat = doc(["w"] * len(heads), [0] * len(heads), random_deps(rng, [0] * len(heads)))
        scores = scores_of(flat, parsed)
        assert (scores["dep_nonproj"], scores["dep_nonproj_pred"]) == (nonprojective, 0)
        scores = scores_of(parsed, flat)
        assert (scores["dep_nonproj"], scores["dep_nonproj_pred"]) == (0, nonprojective)


def test_scorer_pickles_and_passes_settings_to_spacy():
    scorer = pickle.loads(pickle.dumps(make_attachment_scorer()))
    examples = [Example(sentence((1, 1, 3, 1, 3)), sentence())]
    assert scorer(examples, labels=()) == score_attachment(examples)
    assert scorer(examples)["dep_uas"] == pytest.approx(1)
    assert scorer(examples, ignore_labels=())["dep_uas"] == pytest.approx(4 / 5)
