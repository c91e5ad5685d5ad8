"""Text to files of sentences with a pipeline's confident layers."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy
import srsly
from spacy.language import Language
from spacy.tokens import Doc

from ..annotate.manifest import check_same, describe
from ..annotate.texts import pieces
from ..formats.docbins import write_spacy
from ..formats.whole_files import alone_in, remove_unfinished
from .certainty import count_layers, findable, only_layers, sure_layers, with_certainty
from .open_text import Seen, lines

SETTINGS = "silver.json"
"""Name of the file of settings in the output folder."""


@dataclass(frozen=True)
class SilverSettings:
    """Settings that decide which sentences and layers are kept.

    least: least certainty by layer; other layers are left out. A sentence is kept with at least one
    layer besides tags. shortest, longest: length of a sentence, in words. parts: number of files
    for the whole text.
    """

    least: dict[str, float]
    shortest: int = 3
    longest: int = 60
    parts: int = 100

    def __post_init__(self) -> None:
        if not set(self.least) - {"tags"}:
            raise ValueError(
                "give how sure the pipeline must be of trees, heads or roles: at least one of these"
            )
        if not 1 <= self.shortest <= self.longest:
            raise ValueError(
                "lengths of sentences must be at least 1 and in order: no sentence has "
                f"{self.shortest} to {self.longest} words"
            )


def write_shards(
    nlp: Language, text: Path, output: Path, settings: SilverSettings, *, words: int = 0
) -> Iterator[dict[str, Any]]:
    """Write `part-00000.spacy` and so on; yield counts and times of each file.

    Each file is an even sample of the text, so that any number of files will do. Existing files are
    kept, and their counts yielded again. Sentences of a file are shuffled reproducibly.
    words: the run ends once so many words are kept; 0 for no limit.
    Raises ValueError if no component finds one of the layers, or if `output` has other settings,
    pipelines or texts, and BlockingIOError if another run is writing there.
    """
    if missing := sorted(set(settings.least) - findable(nlp)):
        raise ValueError(f"none of the components {nlp.pipe_names} finds {', '.join(missing)}")
    _check_same(nlp, text, output, settings)
    with alone_in(output):
        remove_unfinished(output)
        yield from _written(nlp, text, output, settings, words)


def _written(
    nlp: Language, text: Path, output: Path, settings: SilverSettings, words: int
) -> Iterator[dict[str, Any]]:
    seen = Seen()
    kept = 0
    for part in range(settings.parts):
        path = output / f"part-{part:05}.spacy"
        told = path.with_suffix(".json")
        if path.exists():
            seen.add(numpy.load(path.with_suffix(".npy")))
            counts = srsly.read_json(told) | {"there": True}
        else:
            # or the strings of each file's words would stay in memory
            with nlp.memory_zone():
                counts = _write(nlp, lines(text, part, settings.parts), path, seen, settings, part)
        seen.new = []
        kept += counts["kept_words"]
        yield {"file": path.name, **counts}
        if words and kept >= words:
            return


def _write(
    nlp: Language,
    texts: Iterator[str | None],
    path: Path,
    seen: Seen,
    settings: SilverSettings,
    part: int,
) -> dict[str, Any]:
    docs, counts = _read(nlp, texts, seen, settings)
    random.Random(part).shuffle(docs)
    numpy.save(path.with_suffix(".npy"), numpy.array(seen.new, dtype=numpy.uint64))
    srsly.write_json(path.with_suffix(".json"), counts)
    # last and at once: an existing file is complete
    write_spacy(docs, path)
    return counts


def _check_same(nlp: Language, text: Path, output: Path, settings: SilverSettings) -> None:
    run = {
        "pipeline": describe(nlp),
        "text": [text.name, text.stat().st_size],
        **asdict(settings),
    }
    check_same(output, SETTINGS, run)


def _read(
    nlp: Language, texts: Iterator[str | None], seen: Seen, settings: SilverSettings
) -> tuple[list[Doc], dict[str, Any]]:
    counts: Counter[str] = Counter()
    cpu, wall = time.process_time(), time.perf_counter()

    def docs() -> Iterator[Doc]:
        for line in texts:
            counts["lines"] += 1
            if line is None:
                counts["lines_not_utf8"] += 1
            elif seen.again(line, "line"):
                counts["lines_again"] += 1
            else:
                yield from (nlp.make_doc(piece["text"]) for piece in pieces({"text": line}))

    kept = []
    for doc, certainty in with_certainty(nlp, docs()):
        counts["sentences"] += 1
        counts["words"] += len(doc)
        if not settings.shortest <= len(doc) <= settings.longest:
            counts["too_short_or_long"] += 1
        elif any(token.is_space for token in doc):
            counts["with_odd_spaces"] += 1
        elif seen.again(doc.text, "sentence"):
            counts["sentences_again"] += 1
        elif (layers := sure_layers(certainty, settings.least)) - {"tags"}:
            kept.append(only_layers(doc, layers))
    counts["kept"] = len(kept)
    counts["kept_words"] = sum(map(len, kept))
    of_layers = {f"words_with_{layer}": n for layer, n in count_layers(kept).items()}
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    speed = {
        "words_per_cpu_second": round(counts["words"] / cpu, 1) if cpu else 0.0,
        "words_per_second": round(counts["words"] / wall, 1),
    }
    return kept, {**counts, **of_layers, **speed}
