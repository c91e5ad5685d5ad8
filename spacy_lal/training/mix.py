"""`spacy-lal.Mix.v1`: several corpora in given shares, streamed."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from spacy.language import Language
from spacy.training import Example

Reader = Callable[[Language], Iterable[Example]]


class Mix:
    """Read several corpora at once, so that each has its share of the words.

    The next example is always of the corpus whose words so far are furthest below its share, so the
    order depends on the corpora's alone. A corpus that ends begins anew. No more is in memory than
    the corpora keep.

    corpora: readers by name. shares: of words, by the same names; only their proportions matter.
    epoch_words: an epoch is over after so many words; the next goes on where it stopped. With
    `max_epochs = -1` all of the corpora are read in turn, with other values spaCy keeps the first
    epoch and repeats that.
    Raises ValueError for shares that aren't positive, or of other names; when read, if a corpus
    has no words.
    """

    def __init__(
        self, corpora: dict[str, Reader], shares: dict[str, float], epoch_words: int
    ) -> None:
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


def make_mix(
    corpora: dict[str, Any], shares: dict[str, float], epoch_words: int
) -> Callable[[Language], Iterable[Example]]:
    """See `Mix`."""
    # Any: of what is in a dict, configs are checked before it is made, when it is no `Reader` yet
    return Mix(corpora, shares, epoch_words)
