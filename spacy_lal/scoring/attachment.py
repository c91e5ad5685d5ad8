"""Scores of dependency trees on Docs, in the three conventions of papers."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Any

from spacy.pipeline.dep_parser import parser_score
from spacy.scorer import PRFScore
from spacy.training import Example

from ..trees.nest import arcs_cross
from .characters import Characters, count_arcs

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
        gold, found = Characters(example.reference), Characters(example.predicted)
        attached = [token for token in example.reference if token.dep]
        among = gold.characters(attached)
        if not among:
            continue
        counts["dep_nonproj"] += _count_nonprojective(gold, among)
        counts["dep_nonproj_pred"] += _count_nonprojective(found, among)
        conventions = {"conll18": among}
        if example.reference.has_annotation("TAG"):
            kept = (token for token in attached if not _is_punctuation(token.tag_))
            conventions["ptb"] = gold.characters(kept)
        for name, scored in conventions.items():
            uas, las = count_arcs(gold, found, scored, universal=name == "conll18")
            totals[f"{name}_uas"] += uas
            totals[f"{name}_las"] += las
    scores: dict[str, Any] = parser_score(examples, **cfg)
    if not counts:
        return {**scores, **dict.fromkeys(ATTACHMENT_SCORES)}
    for name in ("conll18_uas", "conll18_las", "ptb_uas", "ptb_las"):
        scores[name] = totals[name].fscore if len(totals[name]) else None
    return {**scores, **counts}


def _is_punctuation(tag: str) -> bool:
    return tag == CTB_PUNCTUATION or (bool(tag) and tag in PTB_PUNCTUATION)


def _count_nonprojective(parse: Characters, among: set[int]) -> int:
    """Return the number of sentences in which arcs to tokens with these characters cross."""
    sentences = list(accumulate(token.is_sent_start is True for token in parse.doc))
    heads = defaultdict[int, dict[int, int]](dict)
    for token in parse.tokens(among):
        if token.dep:
            heads[sentences[token.i]][token.i] = token.head.i
    return sum(map(arcs_cross, heads.values()))
