"""`.spacy` files, read and written without a search for plug-ins at every span group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from threading import Lock

from catalogue import Registry
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from srsly.msgpack import msgpack_decoders, msgpack_encoders

_AT_ONCE = 100
_LOCK = Lock()


def read_spacy(path: str | Path, vocab: Vocab) -> Iterator[Doc]:
    """The Docs of a `.spacy` file. Raises ValueError, which names the file, if it is none."""
    read = 0
    try:
        docs = DocBin().from_disk(path).get_docs(vocab)
        while True:
            with _found_once(msgpack_decoders):
                some = list(islice(docs, _AT_ONCE))
            if not some:
                return
            read += len(some)
            yield from some
    except Exception as error:
        where = f", somewhere after Doc {read}" if read else ""
        raise ValueError(f"can't read {path} as a .spacy file{where}: {error}") from error


def write_spacy(docs: Iterable[Doc], path: str | Path) -> None:
    """Write Docs, with their user data, to a `.spacy` file."""
    left = iter(docs)
    written = DocBin(store_user_data=True)
    while some := list(islice(left, _AT_ONCE)):
        with _found_once(msgpack_encoders):
            for doc in some:
                written.add(doc)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    written.to_disk(path)


@contextmanager
def _found_once(registry: Registry) -> Iterator[None]:
    """Within this block, what the registry has is what it had in the beginning.

    srsly looks through all registries and all installed packages for codecs whenever it packs or
    unpacks, several times a Doc with span groups: 4 ms, ten times what the rest of it takes.
    """
    with _LOCK:  # the registry is everybody's
        found = registry.get_all()
        registry.get_all = lambda: found
        try:
            yield
        finally:
            del registry.get_all
