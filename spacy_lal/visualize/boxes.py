"""Phrases as boxes in boxes: text that fits any width, for long sentences and narrow screens."""

from __future__ import annotations

from collections.abc import Iterable

from .html import element, figure, tenth
from .nodes import Node, nodes
from .sentences import Sentence
from .svg import xml


def boxes_html(sentences: Iterable[Sentence], *, compact: bool = True) -> str:
    """The phrases of sentences, each a box around its words; the darker, the less probable.

    compact: whether unary chains are one box, "S›VP". Raises ValueError where phrases cross.
    """
    return "".join(
        figure(
            "boxes",
            f"Constituents of “{sentence.text}”",
            _boxed(nodes(sentence, compact=compact), sentence),
            direction=sentence.direction,
        )
        for sentence in sentences
    )


def _boxed(top: Node, sentence: Sentence) -> Iterable[str]:
    stack: list[Node | str] = [top]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            yield node
        elif not node.labels:
            yield element("span", "lal-word", xml(node.word), title=node.tag) + " "
        else:
            title = xml(node.described(sentence))
            yield (
                f"<span class='lal-box lal-node lal-doubt-{tenth(node.probability)}' "
                f"title='{title}' {node.data(sentence)}>"
                + element("span", "lal-label", xml(node.label))
            )
            stack.append("</span>")
            stack.extend(reversed(node.children))
