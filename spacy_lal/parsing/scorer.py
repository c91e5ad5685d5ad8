"""spaCy scores of constituency trees on Docs."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import accumulate
from operator import itemgetter
from typing import Any

from spacy.scorer import PRFScore, Scorer
from spacy.training import Example

from ..annotations.constituents import CONSTITUENTS_KEY, get_constituents, project_constituents
from ..annotations.words import WordIndex
from ..scoring import UNALIGNED, named_scores
from ..scoring.evalb import EvalbParameters, count_matches
from ..trees.tree import LabelledSpan


def make_constituency_scorer(
    spans_key: str = CONSTITUENTS_KEY, prm: str = "nk"
) -> Callable[..., dict[str, Any]]:
    """The scorer `spacy-lal.constituency_scorer.v1`.
    spans_key: the span group of the trees. prm: EVALB parameters, a name (collins, new, nk, sample)
        or the path of a .prm file."""
    return partial(score_constituency, spans_key=spans_key, prm=prm)


def score_constituency(
    examples: Iterable[Example], *, spans_key: str = CONSTITUENTS_KEY, prm: str = "nk", **cfg: Any
) -> dict[str, Any]:
    """Compare predicted with gold trees, both read from `doc.spans[spans_key]`.

    - `spans_constituents_{p,r,f}`, `spans_constituents_per_type` (named after `spans_key`): all
      constituents as multisets of (start, end, label); `Scorer.score_spans` compares sets.
    - `const_evalb_{p,r,f}`: EVALB with `prm`, from 0 to 1. Both trees carry the gold tags (else the
      predicted ones), so that no sentence is skipped over a mistagged comma.
    - `const_complete`: share of sentences whose EVALB brackets are all equal.
    - `tag_acc`: spaCy's accuracy of `token.tag`, where the gold has tags.

    Only gold Docs with the span group are scored, sentence by sentence (whole without boundaries),
    with the predicted constituents that start in the sentence; otherwise all but `tag_acc` are
    None. Predicted constituents are mapped to gold tokens; one whose borders are no gold token
    borders counts as wrong. Whitespace tokens don't count.
    """
    params = EvalbParameters.load(prm)
    examples = list(examples)
    per_type: dict[str, PRFScore] = defaultdict(PRFScore)
    evalb = PRFScore()
    complete = valid = 0
    for example in examples:
        for gold, found, kept in _scored_sentences(example, spans_key, params):
            outcomes = {"tp": gold & found, "fp": found - gold, "fn": gold - found}
            for outcome, brackets in outcomes.items():
                for (_, _, label), count in brackets.items():
                    per_type[label] += PRFScore(**{outcome: count})
            if kept is None:
                continue
            kept_gold, kept_found = (params.counted(_over_kept(s, kept)) for s in (gold, found))
            both = count_matches(kept_gold, kept_found, params)
            evalb += PRFScore(tp=both, fp=len(kept_found) - both, fn=len(kept_gold) - both)
            complete += both == len(kept_gold) == len(kept_found)
            valid += 1
    scores: dict[str, Any] = {
        **named_scores(f"spans_{spans_key}", sum(per_type.values(), PRFScore())),
        f"spans_{spans_key}_per_type": {k: v.to_dict() for k, v in sorted(per_type.items())}
        or None,
        **named_scores("const_evalb", evalb),
        "const_complete": complete / valid if valid else None,
    }
    tags = Scorer.score_token_attr(examples, "tag")
    if tags["tag_acc"] is not None:
        scores.update(tags)
    return scores


def _scored_sentences(
    example: Example, key: str, params: EvalbParameters
) -> Iterator[tuple[Counter[LabelledSpan], Counter[LabelledSpan], list[int] | None]]:
    """Yield, for each gold sentence with a tree, its constituents and the predicted ones that start
    in it, by words of the gold Doc, and the number of words before each word that EVALB keeps; None
    if it keeps no word and skips the sentence."""
    doc = example.reference
    word = WordIndex(doc).before
    if key not in doc.spans:
        return
    gold = list(_in_words(((*span, True) for span in get_constituents(doc, key)), word))
    spans, alignment = get_constituents(example.predicted, key), example.alignment
    found = list(_in_words(project_constituents(spans, alignment.x2y, alignment.y2x), word))
    keep = (tag not in params.delete_labels for tag in _terminal_tags(example))
    kept = list(accumulate(keep, initial=0))
    unparsed = doc.spans[key].attrs.get("unparsed", ())
    for sentence in doc.sents if doc.has_annotation("SENT_START") else [doc[:]]:
        start, end = word[sentence.start], word[sentence.end]
        if start < end and not any(s < sentence.end and sentence.start < e for s, e in unparsed):
            of_gold, of_found = (_starting_in(both, start, end) for both in (gold, found))
            yield of_gold, of_found, None if kept[start] == kept[end] else kept


def _over_kept(spans: Counter[LabelledSpan], kept: list[int]) -> Iterator[LabelledSpan]:
    for start, end, label in spans.elements():
        yield kept[start], UNALIGNED if end == UNALIGNED else kept[end], label


def _starting_in(spans: list[LabelledSpan], start: int, end: int) -> Counter[LabelledSpan]:
    """Return the spans that start in start..end-1; the input is in preorder."""
    first, last = (bisect_left(spans, border, key=itemgetter(0)) for border in (start, end))
    return Counter(spans[first:last])


def _in_words(
    spans: Iterable[tuple[int, int, str, bool]], word: list[int]
) -> Iterator[LabelledSpan]:
    """Yield spans by words; one that is not exact ends nowhere."""
    for start, end, label, exact in spans:
        if not exact:
            yield word[start], UNALIGNED, label
        elif word[start] < word[end]:
            yield word[start], word[end], label


def _terminal_tags(example: Example) -> Iterator[str]:
    """Yield the tag of every gold word, else that of the predicted token."""
    y2x = example.alignment.y2x
    for token in example.reference:
        if token.is_space:
            continue
        aligned = y2x[token.i]
        if token.tag_ or len(aligned) != 1:
            yield token.tag_
        else:
            yield example.predicted[int(aligned[0])].tag_
