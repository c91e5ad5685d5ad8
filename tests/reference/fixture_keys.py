"""Every key of every fixture file, and the test that reads it.

A key is a path: `case/name` of an array, or the keys that lead to a value in a JSON file. There
`*` stands for the items of a list, and a `/` inside a key is written `|`. In patterns `*` matches
within one part of the path, `{a,b}` is either of both, and `/**` at the end is everything below.
"""

import gzip
import itertools
import json
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import numpy

# file: {test module::test: patterns}
READ_BY: dict[str, dict[str, list[str]]] = {}

# file: {pattern: why no test compares it}
NOT_COMPARED: dict[str, dict[str, str]] = {}

# Keys that not every set of fixtures has.
OPTIONAL: set[tuple[str, str]] = set()


def expanded(pattern: str) -> Iterator[str]:
    """`a/{b,c}` as `a/b` and `a/c`."""
    parts = re.split(r"\{(.*?)\}", pattern)
    choices = [part.split(",") if k % 2 else [part] for k, part in enumerate(parts)]
    return map("".join, itertools.product(*choices))


def matches(key: str, pattern: str) -> bool:
    parts, of_pattern = key.split("/"), pattern.split("/")
    if of_pattern[-1] == "**":
        of_pattern.pop()
        parts = parts[: len(of_pattern)]
    return len(parts) == len(of_pattern) and all(map(fnmatchcase, parts, of_pattern))


KEYS_OF: dict[str, list[tuple[str, str]]] = {}
for file, tests in READ_BY.items():
    for test, patterns in tests.items():
        KEYS_OF.setdefault(test, []).extend(
            (file, one) for pattern in patterns for one in expanded(pattern)
        )


def listed(file: str) -> list[str]:
    """All patterns of a file."""
    patterns = itertools.chain(*READ_BY.get(file, {}).values(), NOT_COMPARED.get(file, ()))
    return [one for pattern in patterns for one in expanded(pattern)]


def is_read(file: str, pattern: str, keys: Iterable[str], read: set[str]) -> bool:
    """Whether a key that the pattern is about was read, if there is any in the file."""
    there = [key for key in keys if matches(key, pattern)]
    return not there or any(
        matches(key, pattern) for name, _, key in (r.partition(":") for r in read) if name == file
    )


class Recorded(dict):
    """A dict that notes in the last of some sets which of its values are read."""

    def __init__(self, path: str, read: list[set[str]]) -> None:
        super().__init__()
        self.path, self.read = path, read

    def __getitem__(self, key: str) -> Any:
        self.read[-1].add(self.path + key.replace("/", "|" if ".json:" in self.path else "/"))
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401

    def values(self) -> Any:
        return [self[key] for key in self]

    def items(self) -> Any:
        return [(key, self[key]) for key in self]


def recorded(value: Any, path: str, read: list[set[str]]) -> Any:
    """A JSON value whose dicts note what is read of them."""
    if isinstance(value, list):
        return [recorded(item, f"{path}*/", read) for item in value]
    if not isinstance(value, dict):
        return value
    found = Recorded(path, read)
    for key, item in value.items():
        found[key] = recorded(item, f"{path}{key.replace('/', '|')}/", read)
    return found


@cache
def read_json(folder: Path, name: str) -> Any:
    path = folder / f"{name}.json"
    if path.exists():
        return json.loads(path.read_text(encoding="utf8"))
    with gzip.open(f"{path}.gz", "rt", encoding="utf8") as file:
        return json.load(file)


@cache
def keys_of_file(folder: Path, file: str) -> frozenset[str]:
    if file.endswith(".npz"):
        with numpy.load(folder / file) as arrays:
            return frozenset(arrays.files)
    return frozenset(_keys(read_json(folder, file.removesuffix(".json")), ()))


def _keys(value: Any, path: tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _keys(item, (*path, key.replace("/", "|")))
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for item in value:
            yield from _keys(item, (*path, "*"))
    else:
        yield "/".join(path)
