"""Reading and writing of `.spacy` files without a search for plug-ins at every span group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any

from catalogue import Registry
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from srsly.msgpack import msgpack_decoders, msgpack_encoders

from .whole_files import whole_file

_AT_ONCE = 100
_LOCK = Lock()


def read_spacy(path: str | Path, vocab: Vocab) -> Iterator[Doc]:
    """Yield the Docs of a `.spacy` file. Raises ValueError, naming the file, if it isn't one."""
    read = 0
    try:
        docs = DocBin().from_disk(path).get_docs(vocab)
        while True:
            with _found_once(msgpack_decoders):
                some = list(islice(docs, _AT_ONCE))
            if not some:
                return
            for doc in some:
                _check_spans(doc)
            read += len(some)
            yield from some
    except Exception as error:
        where = f", somewhere after Doc {read}" if read else ""
        raise ValueError(f"can't read {path} as a .spacy file{where}: {error}") from error


def _check_spans(doc: Doc) -> None:
    for key, group in doc.spans.items():
        try:
            for _ in group:
                pass
        except IndexError as error:
            raise ValueError(f"doc.spans[{key!r}]: {error}") from error


def write_spacy(docs: Iterable[Doc], path: str | Path) -> None:
    """Write Docs with their user data to a `.spacy` file, atomically."""
    left = iter(docs)
    writer = SpacyWriter()
    while some := list(islice(left, _AT_ONCE)):
        writer.add(some)
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as unfinished:
        writer.write(unfinished)


class SpacyWriter:
    """Collector of Docs, which it keeps as bytes. A Doc whose user data can't be written raises an
    error, and is not taken."""

    def __init__(self) -> None:
        self._docs = DocBin(store_user_data=True)
        self._encoders = msgpack_encoders.get_all()

    def add(self, docs: Iterable[Doc]) -> None:
        with _found_once(msgpack_encoders, self._encoders):
            for doc in docs:
                # a separate DocBin, so that a Doc that can't be packed leaves nothing of itself
                one = DocBin(store_user_data=True)
                one.add(doc)
                self._docs.merge(one)

    def write(self, path: str | Path) -> None:
        self._docs.to_disk(path)


@contextmanager
def _found_once(registry: Registry, found: dict[str, Any] | None = None) -> Iterator[None]:
    """Restrict the registry, within this block, to its present entries and `found`. Otherwise srsly
    searches all registries and installed packages for codecs whenever it packs or unpacks, several
    times a Doc with span groups: 4 ms, ten times the rest."""
    with _LOCK:  # the registry is global
        found = registry.get_all() if found is None else found
        registry.get_all = lambda: found
        try:
            yield
        finally:
            del registry.get_all
