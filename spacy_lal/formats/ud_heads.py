"""Heads from a Universal Dependencies treebank of which some sentences have trees elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from .conllu import ConlluSentence, read_conllu
from .docs import TreebankSentence
from .props import Drop
from .ud_join import COMPOUND, surface, text_key, with_heads, written


class UdHeads:
    """The sentences of all `*.conllu` files of a release, or of one file; found by their text.

    Raises FileNotFoundError for a folder without such a file, FormatError for a malformed one.
    """

    def __init__(self, ud: Path) -> None:
        self.files = [ud] if ud.is_file() else sorted(ud.glob("*.conllu*"))
        if not self.files:
            raise FileNotFoundError(f"no *.conllu in {ud}")
        self._known: dict[str, list[ConlluSentence]] = defaultdict(list)
        for file in self.files:
            for found in read_conllu(file):
                self._known[text_key(token.text for token in surface(found))].append(found)
        self._uses: dict[str, int] = defaultdict(int)

    def join(self, sentence: TreebankSentence) -> tuple[TreebankSentence, str]:
        """The sentence with the heads of UD's sentence of the same text, and why it has none ("" if
        it has). Of several with that text, each is taken once, in order, and then the last.
        """
        key = text_key(sentence.words)
        if key not in self._known:
            return sentence, "UD has no such sentence"
        same = self._known[key]
        found = same[min(self._uses[key], len(same) - 1)]
        self._uses[key] += 1
        return with_heads(sentence, found)

    @property
    def found(self) -> int:
        """How many sentences `join` has found."""
        return sum(self._uses.values())

    def others(self) -> Iterator[tuple[TreebankSentence, list[Drop]]]:
        """The sentences that `join` was not asked for, and why some have no heads. Syllables of a
        word are joined as they are in treebanks; tags, which are UD's own, are left out."""
        for key, same in self._known.items():
            for found in () if key in self._uses else same:
                sentence, fault = written(found)
                words = [COMPOUND.join(word.split()) for word in sentence.words]
                place = f"{found.source}:{found.line}"
                yield (
                    replace(sentence, words=words, tags=None),
                    [(place, fault)] if fault else [],
                )
