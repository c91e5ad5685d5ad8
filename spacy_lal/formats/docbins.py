"""Reading and writing of `.spacy` files without a search for plug-ins at every span group."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock

from catalogue import Registry
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from srsly.msgpack import msgpack_decoders, msgpack_encoders

from .files import whole_file

_LOCK = Lock()


def read_spacy(path: str | Path, vocab: Vocab) -> Iterator[Doc]:
    """Yield the Docs of a `.spacy` file. Raises ValueError, naming the file, if it isn't one."""
    read = 0
    try:
        docs = DocBin().from_disk(path).get_docs(vocab)
        while True:
            with _found_once(msgpack_decoders):
                doc = next(docs, None)
            if doc is None:
                return
            for group in doc.spans.values():
                list(group)  # raises IndexError for a span outside of the Doc
            read += 1
            yield doc
    except Exception as error:
        where = f", somewhere after Doc {read}" if read else ""
        raise ValueError(f"can't read {path} as a .spacy file{where}: {error}") from error


def write_spacy(docs: Iterable[Doc], path: str | Path) -> None:
    """Write Docs with their user data to a `.spacy` file, atomically."""
    with whole_file(Path(path)) as unfinished:
        write_packed(map(pack, docs), unfinished)


def pack(doc: Doc) -> DocBin:
    """Return a Doc with its user data in bytes. Raises an error if these can't be written."""
    packed = DocBin(store_user_data=True)
    with _found_once(msgpack_encoders):
        packed.add(doc)
    return packed


def write_packed(docs: Iterable[DocBin], path: Path) -> None:
    """Write Docs that were packed one by one, so that one that can't be leaves nothing behind."""
    merged = DocBin(store_user_data=True)
    for packed in docs:
        merged.merge(packed)
    merged.to_disk(path)


_entries = cache(Registry.get_all)


@contextmanager
def _found_once(registry: Registry) -> Iterator[None]:
    """Restrict the registry, within this block, to the entries of its first use. Otherwise srsly
    searches all registries and installed packages for codecs whenever it packs or unpacks, several
    times a Doc with span groups: 4 ms, ten times the rest."""
    with _LOCK:  # the registry is global
        found = _entries(registry)
        registry.get_all = lambda: found
        try:
            yield
        finally:
            del registry.get_all
