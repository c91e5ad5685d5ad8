"""Semantic roles: a row a frame, with a chip around each argument."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .html import element, figure
from .palette import role
from .sentences import Phrase, RoleFrame, Sentence
from .svg import xml


def roles_html(sentences: Iterable[Sentence]) -> str:
    """The frames of sentences, one a row: the sentence, with a chip around each role."""
    return "".join(
        figure(
            "srl",
            f"Semantic roles in “{sentence.text}”",
            list(_rows(sentence)) or [element("p", "lal-row lal-none", "no predicates")],
            direction=sentence.direction,
        )
        for sentence in sentences
    )


def _rows(sentence: Sentence) -> Iterator[str]:
    for number, frame in enumerate(sentence.frames or ()):
        name = frame.roleset or sentence.words[frame.predicate]
        yield element(
            "p",
            "lal-row",
            element("bdi", "lal-name", xml(name)) + "".join(_chips(sentence, frame, number)),
        )


def _chips(sentence: Sentence, frame: RoleFrame, number: int) -> Iterator[str]:
    """The words; roles that lie in others are chips within chips.

    A role that crosses another one is cut at its border: its second part has the label again.
    """
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
