"""Detection of grammatical errors: on corpora, and on pairs of a textbook's sentences.

On a corpus the pipeline reads the gold words and sentence boundaries; precision, recall and F0.5
count tokens, as in MultiGED-2023.

A file of pairs has three columns with tabs between them, and a line that names them: kind, wrong,
right. Brackets in the wrong sentence mark words that are changed or unnecessary, and the word after
a missing one. A right sentence may be alone.

    kind	wrong	right
    agreement	He [go] home.	He goes home.
    articles	I have [car].	I have a car.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from spacy.language import Language
from spacy.tokens import Doc

from ..annotations.grammar_errors import CORRECT, error_scores, get_errors
from ..formats.files import FormatError, read_text
from ..ged.component import ErrorDetector
from ..ged.scorer import Detection
from ..pipeline.pipes import only_pipe, pipes_before, run_pipes
from ..training.corpus import Corpus

Bools = numpy.ndarray
Reals = numpy.ndarray


def detector_of(nlp: Language) -> ErrorDetector:
    """Return the pipeline's detector. Raises ValueError if there is none."""
    return only_pipe(nlp, ErrorDetector, "component gec_detector")


def measure_errors(nlp: Language, corpus: Corpus, threshold: float) -> dict[str, Any]:
    """Return scores on a corpus, at a threshold and at the best one. Raises ValueError as
    `score_words` does."""
    gold, scores = score_words(nlp, corpus)
    marked = scores >= threshold
    best = best_threshold(gold, scores)
    counts = detection(gold, marked)
    return {
        "ged_p": counts.p,
        "ged_r": counts.r,
        "ged_f05": counts.f(),
        "tokens": len(gold),
        "errors": int(gold.sum()),
        "marked": float(marked.mean()),
        # an upper bound, from a threshold chosen on this corpus
        "best_threshold": best,
        "best_f05": detection(gold, scores >= best).f(),
    }


def score_words(nlp: Language, corpus: Corpus) -> tuple[Bools, Reals]:
    """Return whether each word is an error, and its probability. Docs without a span group of
    errors don't count. Raises ValueError if none has one."""
    pipe = detector_of(nlp)
    examples = [e for e in corpus(nlp) if pipe.spans_key in e.reference.spans]
    if not examples:
        raise ValueError(f"no Doc in {corpus.path} has doc.spans[{pipe.spans_key!r}], its errors")
    bare = (example.predicted for example in examples)
    docs = run_pipes([*pipes_before(nlp, pipe), pipe], bare, nlp.batch_size)
    found = [
        (label != CORRECT, score)
        for doc, example in zip(docs, examples, strict=True)
        for token, label, score in zip(
            doc,
            get_errors(example.reference, pipe.spans_key),
            error_scores(doc, pipe.spans_key) or [],
            strict=True,
        )
        if not token.is_space
    ]
    gold, scores = map(numpy.asarray, zip(*found, strict=True))
    return gold, scores


def detection(gold: Bools, found: Bools) -> Detection:
    """Count words that are errors, and words that are marked."""
    right = int((gold & found).sum())
    return Detection(right, int(found.sum()) - right, int(gold.sum()) - right)


def best_threshold(gold: Bools, scores: Reals) -> float:
    """Return the threshold with the highest F0.5."""
    order = numpy.argsort(-scores, kind="stable")
    right = numpy.cumsum(gold[order])
    marked = numpy.arange(1, len(gold) + 1)
    # F0.5 = 1.25 TP / (TP + FP + 0.25 (TP + FN))
    f = 1.25 * right / (marked + 0.25 * max(1, gold.sum()))
    # words of the same score are marked together
    last = numpy.append(scores[order][1:] != scores[order][:-1], True)
    f[~last] = -1.0
    return float(scores[order][int(f.argmax())])


def lowest_threshold(scores: Reals, most: float) -> float:
    """Return the lowest threshold, in nine decimals, that at most a share `most` of the
    probabilities reaches. Raises ValueError if there is none."""
    allowed = math.floor(most * len(scores) + 1e-9)  # 0.29 * 100 is less than 29
    if allowed >= len(scores):
        return 0.0
    # just above the first score that would be one too many
    one_too_many = numpy.sort(scores)[-1 - allowed]
    if one_too_many >= 1:
        raise ValueError(f"no threshold marks at most {most:.2%}: more have the probability 1")
    return min(1.0, (math.floor(one_too_many * 1e9) + 1) / 1e9)


def choose_threshold(
    nlp: Language, correct: Sequence[Path], most: float, tune: Path | None = None
) -> tuple[float, list[dict[str, Any]]]:
    """Return the lowest threshold that is high enough for each file, and a row for each file.

    correct: files without errors, in which at most a share `most` of the words may be marked. tune:
    a file with errors, whose best threshold is a lower bound. A row has the file, its words, its
    lowest threshold, and the share of words marked at the chosen threshold. Raises ValueError for a
    file of the other kind, or without files.
    """
    if not correct and tune is None:
        raise ValueError("no files to choose a threshold by")
    needed: dict[Path, tuple[float, Reals]] = {}
    # one by one, as a small file would not count among all
    for path in (*correct, *([tune] if tune else [])):
        gold, scores = score_words(nlp, Corpus(path))
        if gold.any() != (path == tune):
            which = "no" if path == tune else "a"
            raise ValueError(f"{path} has {which} word that is labelled as an error")
        # in the stored decimals, rounded down to mark no token less
        best = math.floor(best_threshold(gold, scores) * 1e9) / 1e9
        needed[path] = best if path == tune else lowest_threshold(scores, most), scores
    chosen = max(lowest for lowest, _ in needed.values())
    return chosen, [
        {
            "file": path.name,
            "words": len(scores),
            "needs": lowest,
            "marked": float((scores >= chosen).mean()),
        }
        for path, (lowest, scores) in needed.items()
    ]


PAIRS = ".tsv"
"""Suffix of files of pairs."""
COLUMNS = ("kind", "wrong", "right")
"""The columns of a file of pairs, which its first line names."""


class Pair(NamedTuple):
    """A wrong sentence, without brackets, or "", and its correction. places: start and end of
    bracketed text, in characters of the wrong sentence."""

    kind: str
    wrong: str
    places: tuple[tuple[int, int], ...]
    right: str


class Outcome(NamedTuple):
    """Marks in the sentences of a pair, of a kind and with a wrong sentence.

    found: whether a wrong token is marked. elsewhere: number of other marks in the wrong sentence.
    in_right: marked tokens of the correction, which has `words` tokens.
    """

    kind: str
    wrong: str
    found: bool
    elsewhere: int
    in_right: list[str]
    words: int


def read_pairs(path: str | Path) -> list[Pair]:
    """Read pairs. Raises FormatError for other than three columns or for unmatched brackets."""
    header, *rows = read_text(path).removesuffix("\n").split("\n")
    if tuple(header.split("\t")) != COLUMNS or not rows:
        columns = f"the first line isn't {', '.join(COLUMNS)} with tabs between them"
        raise FormatError(f"{columns}, or no pair is below it", source=str(path), line=1)
    pairs = []
    for line, row in enumerate(rows, start=2):
        cells = row.split("\t")
        wrong, places = _unmarked("".join(cells[1:2]))
        said = ""
        if len(cells) != len(COLUMNS):
            said = f"expected 3 columns, found {len(cells)}: only tabs separate columns"
        elif not (cells[0].strip() and cells[2].strip()):
            said = "an empty column"
        elif (wrong and not places) or set("[]") & set(wrong + cells[-1]):
            said = "expected [brackets] around the words that are wrong, but no others"
        if said:
            raise FormatError(said, source=str(path), line=line)
        pairs.append(Pair(cells[0], wrong, places, cells[2]))
    return pairs


def _unmarked(marked: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    text = ""
    places = []
    for number, part in enumerate(re.split(r"(\[\s*[^\[\]\s][^\[\]]*\])", marked)):
        if number % 2:
            places.append((len(text), len(text) + len(part) - 2))
            part = part[1:-1]
        text += part
    return text, tuple(places)


def evaluate_pairs(nlp: Language, path: Path) -> dict[str, Any]:
    """Return shares by kind and of all pairs, as fractions, and the marks of every pair."""
    pipe = detector_of(nlp)
    found = list(outcomes(nlp, read_pairs(path), pipe.cfg["threshold"], pipe.spans_key))
    kinds: dict[str, list[Outcome]] = defaultdict(list)
    for one in found:
        kinds[one.kind].append(one)
    return {
        "pairs": path.name,
        "threshold": pipe.cfg["threshold"],
        "kinds": {kind: _shares(of_kind) for kind, of_kind in kinds.items()},
        "all": _shares(found),
        "each": [one._asdict() for one in found],
    }


def outcomes(
    nlp: Language, pairs: Sequence[Pair], threshold: float, key: str = "errors"
) -> Iterator[Outcome]:
    """Yield the marks of each pair. The pipeline reads the two sentences one by one."""

    def marks(doc: Doc) -> list[int]:
        return [at for at, score in enumerate(error_scores(doc, key) or []) if score >= threshold]

    wrong = nlp.pipe(pair.wrong for pair in pairs)
    right = nlp.pipe(pair.right for pair in pairs)
    for pair, one, other in zip(pairs, wrong, right, strict=True):
        gold = {
            token.i
            for token in one
            for start, end in pair.places
            if token.idx < end and start < token.idx + len(token)
        }
        marked = set(marks(one))
        in_right = [other[at].text for at in marks(other)]
        elsewhere = len(marked - gold)
        found = bool(gold & marked)
        yield Outcome(pair.kind, pair.wrong, found, elsewhere, in_right, len(other))


def _shares(found: Sequence[Outcome]) -> dict[str, float | None]:
    wrong = [one for one in found if one.wrong]
    return {
        "pairs": len(found),
        "found": sum(one.found for one in wrong) / len(wrong) if wrong else None,
        "marked_elsewhere": sum(one.elsewhere > 0 for one in wrong) / len(wrong) if wrong else None,
        "right_marked": sum(bool(one.in_right) for one in found) / len(found),
        "right_words_marked": sum(len(one.in_right) for one in found)
        / sum(one.words for one in found),
    }
