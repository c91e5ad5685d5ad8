"""Texts through a pipeline in batches of tokens, in bounded memory."""

import os
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from itertools import repeat
from pathlib import Path
from threading import RLock
from typing import Generic, NamedTuple, TypeVar

from spacy.language import Language
from spacy.tokens import Doc

from .records import Record, doc_record, layers_of
from .texts import MAX_CHARS, pieces, told

T = TypeVar("T")

BATCH_TOKENS = 10_000
"""Default size of a batch, in tokens."""


def load(model: str, threads: int = 0, gpu: int = -1) -> Language:
    """Load a pipeline on this GPU or the CPU (-1), with this number of threads (0: torch's
    default).

    oneDNN keeps 64 operations, compiled for a batch's shape, instead of 1,024, since shapes hardly
    recur. The environment variable has precedence; oneDNN reads it at its first use in a process.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
    import spacy
    import torch

    from ..pipeline.pipes import load_pipeline

    if threads:
        torch.set_num_threads(threads)
    if gpu >= 0:
        spacy.require_gpu(gpu)
    return load_pipeline(model)


class Found(NamedTuple, Generic[T]):
    """Record with the value read from its Doc, or with the type and message of the error."""

    record: Record
    value: T | None
    error: str = ""


def through_pipeline(
    nlp: Language,
    records: Iterable[Record],
    read: Callable[[Record, Doc], T],
    *,
    batch_tokens: int = BATCH_TOKENS,
    one_sentence: bool = False,
) -> Iterator[Found[T]]:
    """Yield `read(record, annotated Doc)` for each record, in order.

    batch_tokens: size of a batch; its last text may exceed it. one_sentence: whether each text is
    given to the pipeline as one sentence.
    A batch's Docs, strings and lexemes are freed with it (`nlp.memory_zone`, which must not be
    nested). So `read` must return none of spaCy's objects, and the source of the records must not
    use `nlp`. The texts of a failed batch are annotated one by one.
    """
    left = iter(records)

    def make(text: str) -> Doc:
        doc = nlp.make_doc(text)
        for token in doc if one_sentence else ():
            token.is_sent_start = token.i == 0
        return doc

    def found(record: Record, doc: Doc | None) -> Found[T]:
        try:
            if doc is None:
                (doc,) = _piped(nlp, [make(record["text"])])
            return Found(record, read(record, doc))
        except Exception as error:
            return Found(record, None, told(error))

    def batch() -> list[Found[T]]:
        made: list[tuple[Record, Doc | None]] = []
        tokens = 0
        while tokens < batch_tokens and (record := next(left, None)) is not None:
            try:
                doc = make(record["text"])
            except Exception:
                doc = None
            made.append((record, doc))
            tokens += len(doc or ()) or 1
        docs = [doc for _, doc in made if doc is not None]
        annotated: Iterator[Doc | None]
        try:
            annotated = iter(_piped(nlp, docs) if docs else [])
        except Exception:
            annotated = repeat(None)
        return [found(record, None if doc is None else next(annotated)) for record, doc in made]

    while True:
        with nlp.memory_zone():
            done = batch()
        if not done:
            return
        yield from done


def _piped(nlp: Language, docs: list[Doc]) -> list[Doc]:
    done = list(nlp.pipe(docs, batch_size=len(docs)))
    if len(done) != len(docs):  # a pipeline's error handler may drop Docs
        raise ValueError(f"the pipeline returned {len(done)} Docs for {len(docs)} texts")
    return done


def annotate_batch(
    records: Iterable[Record],
    model: str | Path | Language,
    *,
    max_chars: int = MAX_CHARS,
    batch_tokens: int = BATCH_TOKENS,
) -> list[Record]:
    """Return annotated records (see `doc_record`) for those with a "text", in order.

    model: a pipeline, or its name or folder, which is loaded once per process.
    A text of more than `max_chars` characters becomes several records (see `pieces`). Other fields
    are kept; failed records and those without text get an "error"; all others have the same fields
    (see `layers_of`), and "unparsed" if need be. Threads of a process take turns.
    """
    with _ONE_AT_A_TIME:
        nlp = model if isinstance(model, Language) else _load(str(model))
        # all at once: the source of the records may use the pipeline, whose batches free strings
        parts: list[Record] = []
        for record in records:
            if isinstance(record.get("text"), str):
                sound = {name: value for name, value in record.items() if name != "error"}
                parts.extend(pieces(sound, max_chars))
            else:
                parts.append({**record, "error": "no text in 'text'"})
        texts = (part for part in parts if "error" not in part)
        read = partial(doc_record, layers=layers_of(nlp))
        found = (
            {**record, "error": error} if annotated is None else annotated
            for record, annotated, error in through_pipeline(
                nlp, texts, read, batch_tokens=batch_tokens
            )
        )
        return [part if "error" in part else next(found) for part in parts]


# The end of a batch frees strings of a vocabulary that all threads share.
_ONE_AT_A_TIME = RLock()


@lru_cache(maxsize=1)
def _load(model: str) -> Language:
    return load(model)
