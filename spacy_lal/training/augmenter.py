"""`spacy-lal.corrupt.v1`: new errors in a training corpus every time it is read."""

from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from spacy.language import Language
from spacy.training import Example

from ..annotations.grammar_errors import CORRECT, ERRORS_KEY, set_errors
from ..annotations.words import bare_doc
from ..artificial_errors.corrupt import corrupt_doc, sentence_random
from ..artificial_errors.error_model import ErrorModel


class CorruptAugmenter:
    """Examples with errors in `reference.spans["errors"]`, made of examples without this group.

    model: path of an error model's JSON. rate: expected share of tokens that are errors.
    level: share of examples that get errors. The others get an empty group, as correct text, so
        unlabelled text has to be correct.

    Examples with the group, even an empty one, stay as they are. A corrupted Doc keeps only words,
    whitespace and sentence starts; the Doc to be predicted has the same words and sentence starts.
    Errors depend on `seed`, on the example's words and on the number of earlier occurrences of
    these words, not on the order of examples. Every reading makes new errors, but spaCy reads a
    corpus again for each epoch only with `max_epochs = -1`, which initialises with 100 examples.
    Raises ValueError for a malformed model, and for a rate or level outside 0 to 1.
    """

    def __init__(self, model: str | Path, rate: float, level: float, seed: int) -> None:
        for name, value in (("rate", rate), ("level", level)):
            if not 0 <= value <= 1:
                raise ValueError(f"spacy-lal.corrupt.v1: {name} must be from 0 to 1, not {value}")
        self.model = ErrorModel.load(model)
        self.rate = rate
        self.level = level
        self.seed = seed
        self._seen: Counter[bytes] = Counter()

    def __call__(self, nlp: Language, example: Example) -> Iterator[Example]:
        reference = example.reference
        if ERRORS_KEY in reference.spans or not len(reference):
            yield example
            return
        words = [token.text for token in reference]
        key = blake2b("\n".join(words).encode("utf8", "surrogatepass"), digest_size=12).digest()
        round = self._seen[key]
        self._seen[key] += 1
        # of the whole Doc, apart from the generators of its sentences, even if it has only one
        if sentence_random(self.seed, ["", *words], round).random() >= self.level:
            # the example's own Doc may return in the next epoch
            correct = reference.copy()
            set_errors(correct, [CORRECT] * len(correct))
            yield Example(example.predicted, correct)
            return
        corrupted = corrupt_doc(
            reference, nlp.vocab, self.model, self.rate, seed=self.seed, round=round
        )
        starts = example.predicted.has_annotation("SENT_START")
        predicted = bare_doc(corrupted, nlp.vocab, sentence_starts=starts)
        yield Example(predicted, corrupted)
