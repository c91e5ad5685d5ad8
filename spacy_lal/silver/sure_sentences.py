"""Text to files of sentences with a pipeline's confident layers, without duplicates."""

from __future__ import annotations

import random
import re
import unicodedata
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy
import srsly
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc

from ..annotate.manifest import check_same, describe
from ..annotate.texts import pieces
from ..formats.docbins import write_spacy
from ..formats.files import OPENERS, alone_in, remove_unfinished, undamaged
from .certainty import (
    count_layers,
    findable,
    has_joint_parser,
    only_layers,
    sure_layers,
    with_certainty,
)

SETTINGS = "silver.json"
"""Name of the file of settings in the output folder."""
BLOCK = 60
"""Size of a block of a document, in lines; blocks stay together."""

_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class SilverSettings:
    """Settings that decide which sentences and layers are kept.

    least: least certainty by layer; other layers are left out. A sentence is kept with at least one
    layer besides tags. shortest, longest: length of a sentence, in words. parts: number of files
    for the whole text. marginals: the least certainty of trees of sentences that are kept with the
    teacher's marginal probabilities, which then train a parser instead of layers; None for none.
    """

    least: dict[str, float]
    shortest: int = 3
    longest: int = 60
    parts: int = 100
    marginals: float | None = None

    def __post_init__(self) -> None:
        if self.marginals is None and not set(self.least) - {"tags"}:
            raise ValueError(
                "give how sure the pipeline must be of trees, heads or roles: at least one of these"
            )


def write_shards(
    nlp: Language, text: Path, output: Path, settings: SilverSettings, *, words: int = 0
) -> Iterator[dict[str, Any]]:
    """Write `part-00000.spacy` and so on; yield counts of each file.

    Each file is an even sample of the text, so that any number of files will do. Existing files are
    kept, and their counts yielded again. Sentences of a file are shuffled reproducibly.
    words: the run ends once so many words are kept; 0 for no limit.
    Raises ValueError if no component finds one of the layers, or has marginals to keep, or if
    `output` has other settings, pipelines or texts, and BlockingIOError if another run is writing
    there.
    """
    if missing := sorted(set(settings.least) - findable(nlp)):
        raise ValueError(f"none of the components {nlp.pipe_names} finds {', '.join(missing)}")
    if settings.marginals is not None and not has_joint_parser(nlp):
        raise ValueError(
            f"none of the components {nlp.pipe_names} finds trees and heads together, whose "
            "marginals could be kept"
        )
    about = {"pipeline": describe(nlp), "text": [text.name, text.stat().st_size]}
    check_same(output, SETTINGS, about | asdict(settings))
    with alone_in(output):
        remove_unfinished(output)
        seen = Seen()
        kept = 0
        for part in range(settings.parts):
            path = output / f"part-{part:05}.spacy"
            if path.exists():
                seen.add(numpy.load(path.with_suffix(".npy")))
                counts = srsly.read_json(path.with_suffix(".json")) | {"there": True}
            else:
                # or the strings of each file's words would stay in memory
                with nlp.memory_zone():
                    docs, counts = _read(nlp, lines(text, part, settings.parts), seen, settings)
                    random.Random(part).shuffle(docs)
                    numpy.save(path.with_suffix(".npy"), numpy.array(seen.new, dtype=numpy.uint64))
                    srsly.write_json(path.with_suffix(".json"), counts)
                    # last and at once: an existing file is complete
                    write_spacy(docs, path)
                    del docs  # whose words end with the zone
            seen.new = []
            kept += counts["kept_words"]
            yield {"file": path.name, **counts}
            if words and kept >= words:
                return


def _read(
    nlp: Language, texts: Iterator[str | None], seen: Seen, settings: SilverSettings
) -> tuple[list[Doc], dict[str, Any]]:
    counts: Counter[str] = Counter()

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
    soft = settings.marginals
    for doc, certainty in with_certainty(nlp, docs(), marginals=soft is not None):
        counts["sentences"] += 1
        counts["words"] += len(doc)
        if not settings.shortest <= len(doc) <= settings.longest:
            counts["too_short_or_long"] += 1
        elif any(token.is_space for token in doc):
            counts["with_odd_spaces"] += 1
        elif seen.again(doc.text, "sentence"):
            counts["sentences_again"] += 1
        else:
            layers = sure_layers(certainty, settings.least)
            taught = soft is not None and certainty.get("trees", 0.0) >= soft
            if layers - {"tags"} or taught:
                kept.append(only_layers(doc, layers))
    counts["kept"] = len(kept)
    counts["kept_words"] = sum(map(len, kept))
    of_layers = {f"words_with_{layer}": n for layer, n in count_layers(kept).items()}
    return kept, {**counts, **of_layers}


def lines(path: Path, part: int, parts: int) -> Iterator[str | None]:
    """Yield the lines of every `parts`-th block from block `part` on, without blank lines. The file
    may be compressed (.xz, .gz, .bz2). None stands for a line that isn't UTF-8. Raises ValueError,
    naming file and line, if the file is damaged."""
    number = 0
    opener = OPENERS.get(path.suffix, open)
    with undamaged(path, lambda: f"line {number}"), opener(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            if (number - 1) // BLOCK % parts == part and line.removeprefix(BOM_UTF8).strip():
                text: str | None = None
                with suppress(UnicodeDecodeError):
                    text = line.decode("utf-8-sig" if number == 1 else "utf8").strip()
                yield text


class Seen:
    """Set of texts, compared without case, punctuation and the values of digits. `new` holds recent
    texts as 64-bit numbers, until it is emptied."""

    def __init__(self) -> None:
        self._known: set[int] = set()
        self.new: list[int] = []

    def again(self, text: str, kind: str) -> bool:
        """Add a text of a kind; return whether it was added before."""
        composed = unicodedata.normalize("NFC", text.lower())
        # marks are letters in Hindi or Thai, and accents elsewhere
        letters = "".join(c for c in composed if unicodedata.category(c)[0] in "LMN")
        letters = _DIGIT.sub("0", letters)
        digest = blake2b(f"{kind} {letters}".encode(), digest_size=8).digest()
        number = int.from_bytes(digest)
        if number in self._known:
            return True
        self._known.add(number)
        self.new.append(number)
        return False

    def add(self, numbers: NDArray[numpy.uint64]) -> None:
        """Add numbers that `new` held earlier."""
        self._known.update(numbers.tolist())
