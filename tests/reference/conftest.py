"""Numbers of the original implementations.

`pytest tests/reference --fixtures DIR` checks against another set of them. Which test reads which
key stands in `fixture_keys.py`; a test fails if it does not read a key that stands there as its.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

from .fixture_keys import KEYS_OF, Recorded, is_read, keys_of_file, read_json, recorded

Arrays = dict[str, torch.Tensor]
FOLDER = pytest.StashKey[Path]()
# What fixtures of a wider scope read stays; what a test reads is forgotten after it.
SHARED: set[str] = set()
READ: list[set[str]] = [SHARED]


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Read `--fixtures DIR` as the folder of arrays.

    To pytest, `--fixtures` is a switch that lists test fixtures and DIR one more path of tests.
    The switch keeps that meaning without such a folder.
    """
    folders = [path for path in config.args if any(Path(path).glob("*.npz"))]
    if config.option.showfixtures and folders:
        config.option.showfixtures = False
        config.args.remove(folders[-1])
        config.stash[FOLDER] = Path(folders[-1]).absolute()


def folder(config: pytest.Config) -> Path:
    return config.stash.get(FOLDER, Path(__file__).parent.parent / "fixtures")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A test must read what the list says that it reads, unless it is skipped."""
    READ.append(set())
    try:
        result = yield
        read = READ[-1] | SHARED
    finally:
        READ.pop()
    test = f"{item.path.stem}::{item.name}"
    parameters = item.name.partition("[")[2].removesuffix("]")
    mine = [
        (file, pattern.replace("<id>", parameters))
        for name in sorted({test, test.partition("[")[0]})
        for file, pattern in KEYS_OF.get(name, ())
    ]
    unread = [
        f"{file}: {pattern}"
        for file, pattern in mine
        if not is_read(file, pattern, keys_of_file(folder(item.config), file), read)
    ]
    assert not unread, f"{test} does not read what fixture_keys.py says: {unread}"
    return result


@pytest.fixture(scope="session")
def fixtures_dir(pytestconfig: pytest.Config) -> Path:
    return folder(pytestconfig)


@pytest.fixture(scope="session")
def load_arrays(fixtures_dir: Path) -> Callable[[str], dict[str, Arrays]]:
    """Arrays of one file, by the first part of their names: {case: {name: tensor}}."""

    def load(name: str) -> dict[str, Arrays]:
        cases: dict[str, Arrays] = {}
        with numpy.load(fixtures_dir / f"{name}.npz") as arrays:
            for key in arrays.files:
                case, slash, rest = key.partition("/") if "/" in key else ("", "", key)
                of_case = cases.setdefault(case, Recorded(f"{name}.npz:{case}{slash}", READ))
                of_case[rest] = torch.from_numpy(arrays[key])
        return cases

    return load


@pytest.fixture(scope="session")
def load_json(fixtures_dir: Path) -> Callable[[str], Any]:
    """The contents of one file."""

    def load(name: str) -> Any:
        return recorded(read_json(fixtures_dir, name), f"{name}.json:", READ)

    return load
