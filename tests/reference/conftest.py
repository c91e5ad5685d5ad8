"""Numbers of the original implementations.

`pytest tests/reference --fixtures DIR` checks against another set of them.
"""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

Arrays = dict[str, torch.Tensor]
FOLDER = pytest.StashKey[Path]()


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


@pytest.fixture(scope="session")
def fixtures_dir(pytestconfig: pytest.Config) -> Path:
    return pytestconfig.stash.get(FOLDER, Path(__file__).parent.parent / "fixtures")


@pytest.fixture(scope="session")
def load_arrays(fixtures_dir: Path) -> Callable[[str], dict[str, Arrays]]:
    """Arrays of one file, by the first part of their names: {case: {name: tensor}}."""

    def load(name: str) -> dict[str, Arrays]:
        cases: dict[str, Arrays] = {}
        with numpy.load(fixtures_dir / f"{name}.npz") as arrays:
            for key in arrays.files:
                case, _, rest = key.partition("/") if "/" in key else ("", "", key)
                cases.setdefault(case, {})[rest] = torch.from_numpy(arrays[key])
        return cases

    return load


@pytest.fixture(scope="session")
def load_json(fixtures_dir: Path) -> Callable[[str], Any]:
    def load(name: str) -> Any:
        path = fixtures_dir / f"{name}.json"
        if path.exists():
            return json.loads(path.read_text(encoding="utf8"))
        with gzip.open(f"{path}.gz", "rt", encoding="utf8") as file:
            return json.load(file)

    return load
