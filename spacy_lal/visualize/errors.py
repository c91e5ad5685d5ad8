"""Grammatical errors: wavy lines under words, the stronger the more probable the error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..annotations.grammar_errors import ERROR
from .html import element, figure, tenth
from .sentences import Sentence
from .svg import xml


def errors_html(sentences: Iterable[Sentence], *, threshold: float | None = None) -> str:
    """The sentences with what is wrong underlined, and corrections behind it where there are any.

    threshold: mark the words whose probability to be wrong is at least this, instead of the errors
    of the Doc. Raises ValueError for one outside 0..1, or if words have no probabilities.
    """
    sentences = list(sentences)
    if threshold is not None:
        if not 0 <= threshold <= 1:
            raise ValueError(f"threshold must be from 0 to 1, got {threshold}")
        if any(sentence.error_scores is None for sentence in sentences):
            raise ValueError("no threshold without probabilities of all words (gec_detector)")
    return "".join(
        figure(
            "errors",
            f"Grammatical errors in “{sentence.text}”",
            _words(sentence, threshold),
            direction=sentence.direction,
        )
        for sentence in sentences
    )


def _words(sentence: Sentence, threshold: float | None) -> Iterator[str]:
    labels = [""] * len(sentence.words)
    scores: list[float | None] = [None] * len(labels)
    behind: dict[int, str] = {}
    if threshold is None:
        corrections = sentence.corrections or [None] * len(sentence.errors or ())
        for (start, end, label, score), correction in zip(
            reversed(sentence.errors or []), reversed(corrections), strict=True
        ):
            labels[start:end] = [label or ERROR] * (end - start)
            scores[start:end] = [score] * (end - start)
            if correction is not None:
                behind[end - 1] = correction
    if sentence.error_scores is not None:
        scores = list(sentence.error_scores)
        if threshold is not None:
            labels = [ERROR if score >= threshold else "" for score in sentence.error_scores]
    for i, word in enumerate(sentence.words):
        label, score = labels[i], scores[i]
        sure = "" if score is None else f"probability {score:.2f}"
        data = f"data-token='{sentence.tokens[i]}'"
        data += "" if score is None else f" data-score='{score:.4f}'"
        classes = f"lal-token lal-p{tenth(score)}"
        if label:
            title = ", ".join(filter(None, [label, sure]))
            yield element("span", f"{classes} lal-wrong", xml(word), title=title, data=data)
        else:
            yield element("span", classes, xml(word), title=sure, data=data)
        if label and label != ERROR and (i + 1 == len(labels) or labels[i + 1] != label):
            yield element("sub", "lal-label", xml(label))
        if i in behind:
            shown = xml(behind[i]) or "∅"
            yield element("ins", "lal-correction", shown, title="correction")
        yield sentence.spaces[i]
