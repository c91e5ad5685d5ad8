"""Readers of Docs with span groups: `spacy-lal.Corpus.v1`; several mixed: `spacy-lal.Mix.v1`."""

import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.corpus import walk_corpus

from ..annotations import bare_doc
from ..formats.docbins import read_spacy

Augmenter = Callable[[Language, Example], Iterator[Example]]
Reader = Callable[[Language], Iterable[Example]]


class Corpus:
    """Read the Docs of `.spacy` files as training examples.

    Unlike spaCy's reader with `max_length` or `gold_preproc`, which loses span groups
    (constituents, frames) in `Span.as_doc()`, this one keeps Docs whole. The Doc to be predicted
    gets the gold words and sentence starts.

    path: a `.spacy` file or a directory of them. max_length: most tokens of a Doc; longer Docs are
        left out; 0 for no limit.
    limit: most Docs to read, 0 for all. shuffle: in a new order every time.
    augmenter: makes one or more examples of each example, such as `spacy-lal.corrupt.v1`.
    Raises ValueError, when read, for a malformed file, and where there are no Docs.
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
        """Yield the gold Docs in the files' order."""
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


class Mix:
    """Read several corpora at once, so that each has its share of the words.

    The next example comes from the corpus whose words are furthest below its share, so the order is
    deterministic. A corpus that ends starts again. Only the readers' own data stays in memory.

    corpora: readers by name. shares: proportions of words, by the same names.
    epoch_words: words of an epoch; the next epoch continues where it stopped. With `max_epochs =
        -1` all of the corpora are read in turn; otherwise spaCy keeps and repeats the first epoch.
    Raises ValueError for shares that aren't positive or have other names; when read, if a corpus
    has no words.
    """

    # Any: configs are validated before the values of a dict are `Reader`s
    def __init__(self, corpora: dict[str, Any], shares: dict[str, float], epoch_words: int) -> None:
        if set(corpora) != set(shares):
            raise ValueError(
                "spacy-lal.Mix.v1: corpora and shares must have the same names: corpora are "
                f"{sorted(corpora)}, shares are of {sorted(shares)}"
            )
        for name, share in shares.items():
            if not share > 0:
                raise ValueError(
                    f"spacy-lal.Mix.v1: the share of {name} must be above 0, not {share}"
                )
        if epoch_words < 1:
            raise ValueError(f"spacy-lal.Mix.v1: epoch_words must be at least 1, not {epoch_words}")
        self.corpora = corpora
        self.shares = shares
        self.epoch_words = epoch_words
        self._stream: Iterator[Example] | None = None
        self._of: Language | None = None

    def __call__(self, nlp: Language) -> Iterator[Example]:
        if self._stream is None or self._of is not nlp:
            self._stream, self._of = self._mixed(nlp), nlp
        words = 0
        for example in self._stream:
            words += len(example)
            yield example
            if words >= self.epoch_words:
                return

    def _mixed(self, nlp: Language) -> Iterator[Example]:
        streams = {name: _again(name, read, nlp) for name, read in self.corpora.items()}
        words = dict.fromkeys(streams, 0)
        while True:
            name = min(words, key=lambda name: words[name] / self.shares[name])
            example = next(streams[name])
            words[name] += len(example)
            yield example


def _again(name: str, read: Reader, nlp: Language) -> Iterator[Example]:
    while True:
        words = 0
        for example in read(nlp):
            words += len(example)
            yield example
        if not words:
            raise ValueError(f"spacy-lal.Mix.v1: {name} has no words")
