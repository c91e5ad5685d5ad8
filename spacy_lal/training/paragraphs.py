"""`spacy-lal.Paragraphs.v1`: single treebank sentences, read as running text."""

import random
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..annotations.constituents import CONSTITUENTS_KEY
from ..annotations.frames import FRAMES_KEY
from ..annotations.retokenized import PARAGRAPH
from ..annotations.words import bare_doc
from .corpus import Corpus
from .noise import Noise, running_text


class Paragraphs:
    """Read the Docs of `.spacy` files, one sentence each, as texts of several sentences.

    path: a `.spacy` file or a directory of them. line_breaks, lower_case, unstopped, spaces: see
        `Noise`.
    single: probability that a sentence begins a text though it could continue the one before.
    blank_lines: share of paragraphs that follow another in the same text, after a blank line;
        sentences outside paragraphs stay alone.
    tokenized: share of texts with the pipeline's own tokens instead of the gold ones.
    max_length: most gold tokens of a text, unless one sentence has more.
    sentence_starts: whether the Docs to be predicted have sentence starts; parsers learn with gold
        sentences, sentence finders are evaluated without.
    shuffle: new order and new texts at every reading; otherwise both are fixed. spaCy reads anew
        for each epoch only with `max_epochs = -1`.

    Texts depend only on `seed` and, with `shuffle`, on the number of readings. Sentences with
    different layers of annotation are kept apart; grammatical errors are dropped. Raises ValueError
    for shares outside 0 to 1 and, when read, as `Corpus` does.
    """

    def __init__(
        self,
        path: str | Path,
        line_breaks: float = 0.3,
        lower_case: float = 0.15,
        unstopped: float = 0.15,
        single: float = 0.0,
        blank_lines: float = 0.3,
        tokenized: float = 0.5,
        max_length: int = 200,
        sentence_starts: bool = True,
        shuffle: bool = False,
        seed: int = 0,
        spaces: float = 0.0,
    ) -> None:
        self.noise = Noise(line_breaks, lower_case, unstopped, spaces)
        self.single = single
        self.blank_lines = blank_lines
        self.tokenized = tokenized
        for name, share in (vars(self) | vars(self.noise)).items():
            if name != "noise" and not 0 <= share <= 1:
                raise ValueError(
                    f"spacy-lal.Paragraphs.v1: {name} must be from 0 to 1, not {share}"
                )
        self.sentences = Corpus(path)
        self.max_length = max_length
        self.sentence_starts = sentence_starts
        self.shuffle = shuffle
        self.seed = seed
        self._read = 0

    def __call__(self, nlp: Language) -> Iterator[Example]:
        rng = random.Random(f"{self.seed} {self._read}")
        self._read += self.shuffle
        texts = list(self._texts(self.sentences.docs(nlp), rng))
        if self.shuffle:
            rng.shuffle(texts)
        for text in texts:
            gaps = [self._gap(before, after) for before, after in pairwise(text)]
            tokenizer = nlp.tokenizer if rng.random() < self.tokenized else None
            reference = running_text(text, gaps, self.noise, rng, nlp.vocab, tokenizer)
            predicted = bare_doc(reference, nlp.vocab, sentence_starts=self.sentence_starts)
            yield Example(predicted, reference)

    def _texts(self, docs: Iterable[Doc], rng: random.Random) -> Iterator[list[Doc]]:
        text: list[Doc] = []
        length = 0
        for doc in docs:
            goes_on = (
                text
                and length + len(doc) <= self.max_length
                and _layers(text[-1]) == _layers(doc)
                and rng.random() >= self.single
                and self._follows(text[-1], doc, rng)
            )
            if not goes_on:
                if text:
                    yield text
                text, length = [], 0
            text.append(doc)
            length += len(doc)
        if text:
            yield text

    def _follows(self, before: Doc, after: Doc, rng: random.Random) -> bool:
        if not (before.user_data.get(PARAGRAPH) and after.user_data.get(PARAGRAPH)):
            return False
        return self._gap(before, after) == " " or rng.random() < self.blank_lines

    @staticmethod
    def _gap(before: Doc, after: Doc) -> str:
        same = before.user_data[PARAGRAPH] == after.user_data[PARAGRAPH]
        return " " if same else "\n\n"


def _layers(doc: Doc) -> tuple[bool, ...]:
    spans = (key in doc.spans for key in (CONSTITUENTS_KEY, FRAMES_KEY))
    return (doc.has_annotation("DEP"), doc.has_annotation("TAG"), *spans)
