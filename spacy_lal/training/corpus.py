"""`spacy-lal.Corpus.v1`: training Docs with their span groups and sentence starts."""

import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.corpus import walk_corpus

from ..annotations import bare_doc
from ..formats.docbins import read_spacy

Augmenter = Callable[[Language, Example], Iterator[Example]]


class Corpus:
    """Read the Docs of `.spacy` files as training examples.

    With `max_length` or `gold_preproc`, spaCy's own reader cuts sentences out with
    `Span.as_doc()`, which loses span groups, where constituents and frames live. This one keeps
    Docs whole (`spacy lal convert` writes one sentence a Doc). The Doc to be predicted gets the
    gold words and sentence starts, nothing else.

    path: a `.spacy` file or a directory of them. max_length: longer Docs are left out, 0 for no
    limit. limit: read no more than so many Docs, 0 for all. shuffle: in a new order every time.
    Raises ValueError, when read, for a file that is no `.spacy` file, and where there are no Docs.
    augmenter: makes of every example one or more others, as `spacy-lal.corrupt.v1`.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        max_length: int = 0,
        limit: int = 0,
        shuffle: bool = False,
        augmenter: Augmenter | None = None,
    ) -> None:
        self.path = Path(path)
        self.max_length = max_length
        self.limit = limit
        self.shuffle = shuffle
        self.augmenter = augmenter

    def __call__(self, nlp: Language) -> Iterator[Example]:
        docs: Iterable[Doc] = self.docs(nlp)
        if self.shuffle:
            docs = list(docs)
            random.shuffle(docs)
        for reference in docs:
            example = Example(bare_doc(reference, nlp.vocab), reference)
            if self.augmenter is None:
                yield example
            else:
                yield from self.augmenter(nlp, example)

    def docs(self, nlp: Language) -> Iterator[Doc]:
        """The gold Docs alone, in the files' order."""
        if not self.path.exists():
            raise FileNotFoundError(f"no corpus at {self.path}: no such file or directory")
        paths = walk_corpus(self.path, ".spacy") if self.path.is_dir() else [self.path]
        if not paths:
            raise ValueError(f"no .spacy files in {self.path}")
        count = 0
        for path in paths:
            if path.suffix != ".spacy":
                raise ValueError(f"{path} is no .spacy file: `spacy lal convert` makes them")
            for doc in read_spacy(path, nlp.vocab):
                if self.limit and count >= self.limit:
                    return
                if len(doc) and not (self.max_length and len(doc) > self.max_length):
                    count += 1
                    yield doc
        if not count:
            short = f" of at most {self.max_length} tokens" if self.max_length else ""
            raise ValueError(f"no Docs{short} in {self.path}")


def make_corpus(
    path: str | Path,
    max_length: int = 0,
    limit: int = 0,
    shuffle: bool = False,
    augmenter: Augmenter | None = None,
) -> Callable[[Language], Iterable[Example]]:
    """See `Corpus`."""
    return Corpus(path, max_length=max_length, limit=limit, shuffle=shuffle, augmenter=augmenter)
