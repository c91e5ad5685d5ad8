"""Texts through a pipeline in batches of so many tokens, which leave nothing behind in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

from spacy.language import Language
from spacy.tokens import Doc

from .pieces import Record

T = TypeVar("T")

BATCH_TOKENS = 10_000
"""Tokens that are annotated together by default."""


class Found(NamedTuple, Generic[T]):
    """What was read off a record's Doc, or what went wrong: type and message of the error."""

    record: Record
    value: T | None
    error: str = ""


def annotated(
    nlp: Language,
    records: Iterable[Record],
    read: Callable[[Record, Doc], T],
    *,
    batch_tokens: int = BATCH_TOKENS,
) -> Iterator[Found[T]]:
    """What `read` makes of each record and its annotated Doc, in order.

    A batch has `batch_tokens` tokens and what its last text has more. Docs live as long as a batch:
    strings and lexemes that they brought are freed with them (`nlp.memory_zone`, which zones of the
    caller must not surround), so `read` returns none of spaCy's objects, and what makes the records
    must not use `nlp`. Where a batch fails, its texts are annotated one by one.
    """
    left = iter(records)
    while True:
        with nlp.memory_zone():
            found = _batch(nlp, left, read, batch_tokens)
        if not found:
            return
        yield from found


def _batch(
    nlp: Language, records: Iterator[Record], read: Callable[[Record, Doc], T], batch_tokens: int
) -> list[Found[T]]:
    batch: list[tuple[Record, Doc | None]] = []
    tokens = 0
    for record in records:
        doc = _tokens(nlp, record)
        batch.append((record, doc))
        tokens += max(1, len(doc) if doc is not None else 0)
        if tokens >= batch_tokens:
            break
    docs = [doc for _, doc in batch if doc is not None]
    try:
        annotations = iter(_annotate(nlp, docs) if docs else [])
    except Exception:
        return [_alone(nlp, record, read) for record, _ in batch]
    return [
        _alone(nlp, record, read) if doc is None else _read(record, next(annotations), read)
        for record, doc in batch
    ]


def _tokens(nlp: Language, record: Record) -> Doc | None:
    try:
        return nlp.make_doc(record["text"])
    except Exception:
        return None


def _annotate(nlp: Language, docs: list[Doc]) -> list[Doc]:
    done = list(nlp.pipe(docs, batch_size=len(docs)))
    if len(done) != len(docs):  # a pipeline's error handler may drop Docs
        raise ValueError(
            f"a pipeline must return one Doc for each text: it read {len(docs)} texts and "
            f"returned {len(done)} Docs"
        )
    return done


def _alone(nlp: Language, record: Record, read: Callable[[Record, Doc], T]) -> Found[T]:
    try:
        (doc,) = _annotate(nlp, [nlp.make_doc(record["text"])])
    except Exception as error:
        return Found(record, None, told(error))
    return _read(record, doc, read)


def _read(record: Record, doc: Doc, read: Callable[[Record, Doc], T]) -> Found[T]:
    try:
        return Found(record, read(record, doc))
    except Exception as error:
        return Found(record, None, told(error))


def told(error: Exception) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
