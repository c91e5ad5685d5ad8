"""HTML pictures, as valid XML without inline styles (pages may forbid them): elements, style sheet,
and sentences with chips around semantic roles or lines under errors."""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from .palette import (
    CATEGORIES,
    DARK,
    FAINT,
    INK,
    MISSED,
    PAPER,
    ROLES,
    RULE,
    TOP,
    WRONG,
    hue,
    role,
    style,
)  # fmt: skip
from .sentence import Phrase, RoleFrame, Sentence
from .svg import direction, xml

ERROR = "ERROR"
"""Label of an error of unknown type, which isn't shown."""


def figure(kind: str, what: str, of: str, parts: Iterable[str]) -> str:
    """Return a picture made of text, an element of class `lal-KIND` with the title WHAT “OF”."""
    return (
        f"<div class='lal lal-text lal-{kind}' role='group' aria-label='{what} “{xml(of)}”' "
        f"dir='{direction(of)}'>{''.join(parts)}</div>\n"
    )


def element(tag: str, classes: str, body: str, *, title: str = "", data: str = "") -> str:
    """Return an element; its title is shown on hover."""
    titled = f" title='{xml(title)}'" if title else ""
    return f"<{tag} class='{classes}'{titled}{' ' + data if data else ''}>{body}</{tag}>"


@cache
def text_style() -> str:
    """Return the style sheet of HTML pictures."""
    rules = Path(__file__).with_name("text.css").read_text(encoding="utf8").replace("\n", "")
    names = [("role", name.lower()) for name in ROLES] + [("category", name) for name in CATEGORIES]
    rules += "".join(
        f".lal-{kind}-{name}{{background:var(--lal-{kind}-{name})}}" for kind, name in names
    )
    colours = {
        "ink": INK, "faint": FAINT, "paper": PAPER, "rule": RULE, "top": TOP, "wrong": MISSED,
        "back-wrong": WRONG, **{f"role-{name.lower()}": hue(name) for name in ROLES},
        **{f"category-{name}": hue(name) for name in CATEGORIES},
    }  # fmt: skip
    light = "".join(f"--lal-{name}:{colour};" for name, colour in colours.items())
    dark = "".join(f"--lal-{name}:{DARK[colour]};" for name, colour in colours.items())
    scheme = "@media (prefers-color-scheme:dark)"
    return f".lal-text{{{light}}}{scheme}{{.lal-text{{{dark}}}}}{rules}"


def all_styles() -> str:
    """Return one style sheet for all HTML and SVG pictures."""
    return text_style() + style()


def roles_html(sentences: Iterable[Sentence]) -> str:
    """Draw a row for each frame, with a chip around each role."""
    none = [element("p", "lal-row lal-none", "no predicates")]
    return "".join(
        figure("srl", "Semantic roles in", sentence.text, list(_rows(sentence)) or none)
        for sentence in sentences
    )


def _rows(sentence: Sentence) -> Iterator[str]:
    for number, frame in enumerate(sentence.frames or ()):
        name = element("bdi", "lal-name", xml(frame.roleset or sentence.words[frame.predicate]))
        yield element("p", "lal-row", name + "".join(_chips(sentence, frame, number)))


def _chips(sentence: Sentence, frame: RoleFrame, number: int) -> Iterator[str]:
    """Yield the words in nested chips; a role that crosses another is split in labelled parts."""
    opened: list[Phrase] = []
    waiting = list(reversed(frame.roles))
    for i, word in enumerate(sentence.words):
        while opened and opened[-1][1] <= i:
            opened.pop()
            yield "</span>"
        if i:
            yield sentence.spaces[i - 1]
        while waiting and waiting[-1][0] == i:
            phrase = waiting.pop()
            start, end, label, probability = phrase
            if opened and end > opened[-1][1]:
                border = opened[-1][1]
                rest = (border, end, label, probability)
                waiting = sorted([*waiting, rest], key=lambda p: (-p[0], p[1]))
                phrase = (start, border, label, probability)
            yield _opening(sentence, phrase, number)
            opened.append(phrase)
        yield xml(word)
    yield "</span>" * len(opened)


def _opening(sentence: Sentence, phrase: Phrase, number: int) -> str:
    start, end, label, probability = phrase
    sure = "" if probability is None else f", probability {probability:.2f}"
    title = f"{label}{sure}: {sentence.covered(start, end)}"
    tokens = sentence.tokens[start:end]
    return (
        f"<span class='lal-role lal-role-{role(label).lower()}' title='{xml(title)}' "
        f"data-frame='{number}' data-start='{tokens[0]}' data-end='{tokens[-1] + 1}'>"
        + element("span", "lal-label", xml(label))
    )


def errors_html(sentences: Iterable[Sentence], *, threshold: float | None = None) -> str:
    """Draw sentences with errors underlined, and followed by corrections if there are any.

    Kinds and corrections stand behind the words. threshold: mark words of at least this error
    probability, not the sentences' errors. Raises ValueError for a threshold outside 0..1, or if
    words have no probabilities.
    """
    sentences = list(sentences)
    if threshold is not None:
        if not 0 <= threshold <= 1:
            raise ValueError(f"threshold must be from 0 to 1, got {threshold}")
        if any(sentence.error_scores is None for sentence in sentences):
            raise ValueError("no threshold without probabilities of all words (gec_detector)")
    return "".join(
        figure("errors", "Grammatical errors in", sentence.text, _words(sentence, threshold))
        for sentence in sentences
    )


def _words(sentence: Sentence, threshold: float | None) -> Iterator[str]:
    n = len(sentence.words)
    labels, behind = [""] * n, dict[int, str]()
    scores: list[float | None] = [None] * n
    if threshold is None:
        errors = sentence.errors or []
        corrections = sentence.corrections or [None] * len(errors)
        # of overlapping errors, the first counts
        for error, correction in reversed(list(zip(errors, corrections, strict=True))):
            start, end, label, score = error
            labels[start:end] = [label or ERROR] * (end - start)
            scores[start:end] = [score] * (end - start)
            if correction is not None:
                behind[end - 1] = correction
    if sentence.error_scores is not None:
        scores = [*sentence.error_scores]
        if threshold is not None:
            labels = [ERROR if score >= threshold else "" for score in sentence.error_scores]
    for i, (word, label, score) in enumerate(zip(sentence.words, labels, scores, strict=True)):
        sure = "" if score is None else f"probability {score:.2f}"
        data = f"data-token='{sentence.tokens[i]}'"
        data += "" if score is None else f" data-score='{score:.4f}'"
        classes = f"lal-token{' lal-wrong' if label else ''}"
        title = ", ".join(filter(None, [label, sure]))
        yield element("span", classes, xml(word), title=title, data=data)
        if label not in ("", ERROR) and label not in labels[i + 1 : i + 2]:
            yield element("sub", "lal-kind", xml(label))
        if i in behind:
            yield element("ins", "lal-correction", xml(behind[i]) or "∅", title="correction")
        yield sentence.spaces[i]
