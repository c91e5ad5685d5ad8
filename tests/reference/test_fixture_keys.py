"""The list of fixtures' keys against the files, both ways."""

import ast
from pathlib import Path

import pytest

from .fixture_keys import (
    KEYS_OF,
    NOT_COMPARED,
    OPTIONAL,
    READ_BY,
    expanded,
    keys_of_file,
    listed,
    matches,
)

FILES = sorted({*READ_BY, *NOT_COMPARED})


def test_every_file_is_listed(fixtures_dir):
    names = {
        path.name.removesuffix(".gz")
        for path in fixtures_dir.iterdir()
        if path.name.endswith((".npz", ".json", ".json.gz"))
    }
    assert names == set(FILES)


@pytest.mark.parametrize("file", FILES)
def test_keys_are_those_listed(fixtures_dir, file):
    keys, patterns = keys_of_file(fixtures_dir, file), listed(file)
    assert not [key for key in keys if not any(matches(key, pattern) for pattern in patterns)]
    assert not [
        pattern
        for pattern in patterns
        if (file, pattern) not in OPTIONAL and not any(matches(key, pattern) for key in keys)
    ]
    # what one test reads and what none compares are not the same
    uncompared = {one for pattern in NOT_COMPARED.get(file, ()) for one in expanded(pattern)}
    read = [one for one in patterns if one not in uncompared]
    assert not [
        key
        for key in keys
        if any(matches(key, one) for one in uncompared) and any(matches(key, one) for one in read)
    ]


def test_listed_tests_exist():
    for test in KEYS_OF:
        module, _, name = test.partition("::")
        source = (Path(__file__).parent / f"{module}.py").read_text(encoding="utf8")
        found = {node.name for node in ast.parse(source).body if hasattr(node, "name")}
        assert name.partition("[")[0] in found, test
