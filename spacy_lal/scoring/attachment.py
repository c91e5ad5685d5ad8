"""Scores of dependency trees on Docs, in the three conventions of papers."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, IS_SPACE, SENT_START
from spacy.pipeline.dep_parser import parser_score
from spacy.scorer import PRFScore
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.alignment_array import AlignmentArray

from ..trees.nest import crossing
from . import UNALIGNED

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Strings = NDArray[np.object_]

PTB_PUNCTUATION = ".``'':,"
"""Punctuation tags of the Penn Treebank; a tag that is a substring of this is punctuation."""

CTB_PUNCTUATION = "PU"
"""The tag of punctuation in the Chinese treebank."""

ATTACHMENT_SCORES = (
    *("dep_uas", "dep_las", "dep_las_per_type", "conll18_uas", "conll18_las"),
    *("ptb_uas", "ptb_las", "dep_nonproj", "dep_nonproj_pred"),
)
"""Scores that need gold heads."""


def make_attachment_scorer() -> Callable[..., dict[str, Any]]:
    """Return the scorer `spacy-lal.attachment_scorer.v1`."""
    return score_attachment


def score_attachment(examples: Iterable[Example], **cfg: Any) -> dict[str, Any]:
    """Compare predicted with gold `token.head` and `token.dep_`, in each convention of papers.

    - `dep_{uas,las}`, `dep_las_per_type`, `sents_{p,r,f}`: scores of spaCy's parser, which gets
      `cfg`. Words with the relation p or punct don't count, each side by its own relation. Partial
      gold can make them far too low: spaCy also skips the predicted word at the index of a word
      without gold head in all later Docs.
    - `conll18_{uas,las}`: CoNLL 2018. Every word counts; relations are cut at ":".
    - `ptb_{uas,las}`: Penn Treebanks. Words whose gold tag is part of `PTB_PUNCTUATION`, or is
      `CTB_PUNCTUATION`, don't count; relations are compared whole. Only gold Docs with tags are
      scored.
    - `dep_nonproj`, `dep_nonproj_pred`: numbers of gold and predicted sentences with crossing arcs,
      including the arc from an artificial root before the first word.

    Words without gold head and whitespace don't count. Without any gold head all of these are None
    except `sents_{p,r,f}`. In `conll18` and `ptb`, a predicted word without head is wrong. Both
    give F1 over words that are the same in gold and prediction (accuracy if all are); other words
    are wrong on their side. Relations are compared regardless of case, as spaCy has "ROOT".
    """
    examples = list(examples)
    totals: dict[str, PRFScore] = defaultdict(PRFScore)
    counts: dict[str, int] = defaultdict(int)
    for example in examples:
        both = _Comparison.of(example)
        if not both.gold.attached.any():
            continue
        gold, found = both.gold, both.found
        scored, scored_found = gold.attached, both.covered(gold.attached)
        totals["conll18_uas"] += _count(both.head, scored, scored_found)
        totals["conll18_las"] += _count(both.universal, scored, scored_found)
        counts["dep_nonproj"] += _count_nonprojective(gold, scored)
        counts["dep_nonproj_pred"] += _count_nonprojective(found, scored_found & found.attached)
        tags = [token.tag_ for token in example.reference]
        if not any(tags):
            continue
        marks = (tag == CTB_PUNCTUATION or (tag and tag in PTB_PUNCTUATION) for tag in tags)
        scored = scored & ~np.fromiter(map(bool, marks), bool)
        scored_found = both.covered(scored)
        totals["ptb_uas"] += _count(both.head, scored, scored_found)
        totals["ptb_las"] += _count(both.relation, scored, scored_found)
    scores: dict[str, Any] = parser_score(examples, **cfg)
    if not counts:
        return {**scores, **dict.fromkeys(ATTACHMENT_SCORES)}
    for name in ("conll18_uas", "conll18_las", "ptb_uas", "ptb_las"):
        scores[name] = totals[name].fscore if len(totals[name]) else None
    return {**scores, **counts}


class _Parse(NamedTuple):
    """The dependencies of a Doc, by token. words: whether the token isn't whitespace. attached:
    whether a word has a head; a root its own."""

    heads: Ints
    relation: Strings
    universal: Strings
    sentences: Ints
    words: Bools
    attached: Bools

    @classmethod
    def of(cls, doc: Doc) -> Self:
        values = doc.to_array([HEAD, DEP, SENT_START, IS_SPACE]).view("int64")
        offsets, dep, starts, space = values.reshape(len(doc), 4).T
        relations = [token.dep_.lower() for token in doc]
        words = space == 0
        return cls(
            heads=np.arange(len(doc)) + offsets,
            relation=np.array(relations, dtype=object),
            universal=np.array([label.partition(":")[0] for label in relations], dtype=object),
            sentences=np.cumsum(starts == 1),
            words=words,
            attached=words & (dep != 0),
        )


class _Comparison(NamedTuple):
    """Gold words on which two parses of a text agree. head: the head is right. universal, relation:
    so is the relation, up to ":" or as a whole. y2x: the found tokens of each gold token."""

    gold: _Parse
    found: _Parse
    head: Bools
    universal: Bools
    relation: Bools
    y2x: AlignmentArray

    @classmethod
    def of(cls, example: Example) -> Self:
        gold, found = _Parse.of(example.reference), _Parse.of(example.predicted)
        x2y, y2x = example.alignment.x2y, example.alignment.y2x
        to_gold, to_found = _one_to_one(x2y, y2x), _one_to_one(y2x, x2y)
        words = np.flatnonzero(gold.attached & (to_found != UNALIGNED))
        partners = to_found[words]
        same = found.attached[partners] & (to_gold[found.heads[partners]] == gold.heads[words])
        words, partners = words[same], partners[same]

        def only(right: Ints) -> Bools:
            return np.isin(np.arange(len(gold.heads)), right)

        return cls(
            gold,
            found,
            head=only(words),
            universal=only(words[gold.universal[words] == found.universal[partners]]),
            relation=only(words[gold.relation[words] == found.relation[partners]]),
            y2x=y2x,
        )

    def covered(self, gold: Bools) -> Bools:
        """Return the predicted words that share characters with any of these gold words."""
        covered = self.y2x.data[np.repeat(gold, self.y2x.lengths)]
        return np.isin(np.arange(len(self.found.words)), covered) & self.found.words


def _one_to_one(there: AlignmentArray, back: AlignmentArray) -> Ints:
    """Return the token with the same characters on the other side, or UNALIGNED, of each token."""
    result = np.full(len(there.lengths), UNALIGNED)
    single = np.flatnonzero(there.lengths == 1)
    partners = there.data[there.starts[single]]
    same = back.lengths[partners] == 1
    result[single[same]] = partners[same]
    return result


def _count(right: Bools, gold: Bools, found: Bools) -> PRFScore:
    both = int((right & gold).sum())
    return PRFScore(tp=both, fp=int(found.sum()) - both, fn=int(gold.sum()) - both)


def _count_nonprojective(parse: _Parse, words: Bools) -> int:
    """Return the number of sentences in which arcs to these words cross."""
    dependents = np.flatnonzero(words)
    heads = parse.heads[dependents]
    heads = np.where(heads == dependents, -1, heads)  # the artificial root
    starts, ends = np.minimum(heads, dependents), np.maximum(heads, dependents)
    sentences = parse.sentences[dependents]
    order = np.lexsort((-ends, starts, sentences))
    arcs = np.stack((starts, ends), axis=1)[order]
    borders = np.flatnonzero(np.diff(sentences)) + 1
    return sum(crossing(sentence.tolist()) is not None for sentence in np.split(arcs, borders))
