"""Readers of Docs with span groups: `spacy-lal.Corpus.v1`, several mixed (`spacy-lal.Mix.v1`), and
single sentences as running text (`spacy-lal.Paragraphs.v1`). New errors in every reading
(`spacy-lal.corrupt.v1`)."""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, fields
from hashlib import blake2b
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.corpus import walk_corpus

from ..annotations.constituents import CONSTITUENTS_KEY
from ..annotations.frames import FRAMES_KEY, give_predicates
from ..annotations.grammar_errors import CORRECT, ERRORS_KEY, set_errors
from ..annotations.retokenized import PARAGRAPH
from ..annotations.words import bare_doc
from ..artificial_errors.corrupt import corrupt_doc, sentence_random
from ..artificial_errors.error_model import ErrorModel
from ..formats.docbins import read_spacy
from .noise import Noise, people_in, running_text

Augmenter = Callable[[Language, Example], Iterator[Example]]
Reader = Callable[[Language], Iterable[Example]]


@dataclass
class Corpus:
    """Read the Docs of `.spacy` files as training examples.

    Unlike spaCy's reader with `max_length` or `gold_preproc`, which loses span groups
    (constituents, frames) in `Span.as_doc()`, this one keeps Docs whole. The Doc to be predicted
    gets the gold words and sentence starts, the gold predicates where a component has
    predicate_source = "doc", and gold tags if a parser reads tags that no component before finds.

    path: a `.spacy` file or a directory of them. max_length: most tokens of a Doc; longer Docs are
        left out; 0 for no limit.
    limit: most Docs to read, 0 for all. shuffle: in a new order every time.
    augmenter: makes one or more examples of each example, such as `spacy-lal.corrupt.v1`.
    Raises ValueError, when read, for a malformed file, and where there are no Docs.
    """

    path: str | Path
    _: KW_ONLY
    max_length: int = 0
    limit: int = 0
    shuffle: bool = False
    augmenter: Augmenter | None = None

    def __call__(self, nlp: Language) -> Iterator[Example]:
        docs: Iterable[Doc] = self.docs(nlp)
        if self.shuffle:
            docs = list(docs)
            random.shuffle(docs)
        for reference in docs:
            example = Example(_to_predict(reference, nlp), reference)
            if self.augmenter is None:
                yield example
            else:
                yield from self.augmenter(nlp, example)

    def docs(self, nlp: Language) -> Iterator[Doc]:
        """Yield the gold Docs in the files' order."""
        if not Path(self.path).exists():
            raise FileNotFoundError(f"no corpus at {self.path}: no such file or directory")
        paths = walk_corpus(self.path, ".spacy")
        if not paths:
            raise ValueError(f"no .spacy files in {self.path}: `spacy lal convert` makes them")
        most = self.max_length or math.inf
        docs = (doc for path in paths for doc in read_spacy(path, nlp.vocab))
        some = islice((doc for doc in docs if 0 < len(doc) <= most), self.limit or None)
        doc = None
        for doc in some:
            yield doc
        if doc is None:
            short = f" of at most {self.max_length} tokens" if self.max_length else ""
            raise ValueError(f"no Docs{short} in {self.path}")


def _reads_gold_tags(nlp: Language) -> bool:
    """Whether a parser of the pipeline reads given tags (input_encoder.tags = "doc"), and no
    component before it finds any."""
    for name, pipe in nlp.pipeline:
        settings = getattr(getattr(pipe, "model", None), "attrs", {}).get("settings")
        if getattr(getattr(settings, "input_encoder", None), "reads_doc_tags", False):
            return True
        if "token.tag" in nlp.get_pipe_meta(name).assigns:
            return False
    return False


def _to_predict(reference: Doc, nlp: Language, sentence_starts: bool = True) -> Doc:
    """Return a Doc with the annotation that components take as given."""
    tags = _reads_gold_tags(nlp)
    doc = bare_doc(reference, nlp.vocab, sentence_starts=sentence_starts, tags=tags)
    for _, pipe in nlp.pipeline:
        key = getattr(pipe, "spans_key", "")
        if getattr(pipe, "predicate_source", "model") == "doc" and key in reference.spans:
            give_predicates(doc, reference, key=key)
    return doc


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
        positive = {f"the share of {name}": share for name, share in shares.items()}
        for name, value in (positive | {"epoch_words": epoch_words}).items():
            if not value > 0:
                raise ValueError(f"spacy-lal.Mix.v1: {name} must be above 0, not {value}")
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


@dataclass
class Paragraphs:
    """Read the Docs of `.spacy` files, one sentence each, as texts of several sentences.

    path: a `.spacy` file or a directory of them. line_breaks, lower_case, unstopped, spaces, names,
        title_case: see `Noise`; names are made of those in the Docs.
    running: whether sentences outside paragraphs are running text in their order; else each is a
        text of its own.
    single: probability that a sentence begins a text though it could continue the one before.
    blank_lines: share of paragraphs that follow another in the same text, after a blank line.
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

    path: str | Path
    line_breaks: float = 0.3
    lower_case: float = 0.15
    unstopped: float = 0.15
    single: float = 0.0
    blank_lines: float = 0.3
    tokenized: float = 0.5
    max_length: int = 200
    sentence_starts: bool = True
    shuffle: bool = False
    seed: int = 0
    spaces: float = 0.0
    names: float = 0.0
    title_case: float = 0.0
    running: bool = False

    def __post_init__(self) -> None:
        self.noise = Noise(**{field.name: getattr(self, field.name) for field in fields(Noise)})
        others = {name: getattr(self, name) for name in ("single", "blank_lines", "tokenized")}
        for name, share in (others | vars(self.noise)).items():
            if not 0 <= share <= 1:
                raise ValueError(
                    f"spacy-lal.Paragraphs.v1: {name} must be from 0 to 1, not {share}"
                )
        self._read = 0

    def __call__(self, nlp: Language) -> Iterator[Example]:
        rng = random.Random(f"{self.seed} {self._read}")
        self._read += self.shuffle
        texts: list[list[Doc]] = []
        for doc in Corpus(self.path).docs(nlp):
            if texts and self._goes_on(texts[-1], doc, rng):
                texts[-1].append(doc)
            else:
                texts.append([doc])
        people = people_in(doc for text in texts for doc in text) if self.names else ()
        if self.shuffle:
            rng.shuffle(texts)
        for text in texts:
            gaps = [_gap(before, after) for before, after in pairwise(text)]
            tokenizer = nlp.tokenizer if rng.random() < self.tokenized else None
            reference = running_text(text, gaps, self.noise, rng, nlp.vocab, tokenizer, people)
            predicted = _to_predict(reference, nlp, self.sentence_starts)
            yield Example(predicted, reference)

    def _goes_on(self, text: list[Doc], doc: Doc, rng: random.Random) -> bool:
        before = text[-1]
        return (
            sum(map(len, text)) + len(doc) <= self.max_length
            and _layers(before) == _layers(doc)
            and rng.random() >= self.single
            and (self.running or all(s.user_data.get(PARAGRAPH) for s in (before, doc)))
            and (_gap(before, doc) == " " or rng.random() < self.blank_lines)
        )


def _gap(before: Doc, after: Doc) -> str:
    same = before.user_data.get(PARAGRAPH) == after.user_data.get(PARAGRAPH)
    return " " if same else "\n\n"


def _layers(doc: Doc) -> tuple[bool, ...]:
    spans = (key in doc.spans for key in (CONSTITUENTS_KEY, FRAMES_KEY))
    return (doc.has_annotation("DEP"), doc.has_annotation("TAG"), *spans)


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
