"""Fewer spellings for tokenizers, where a test has no use for them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def fewer_spellings(request: pytest.FixtureRequest) -> Iterator[None]:
    """Of English exceptions those in small letters, of Indonesian ones none.

    spaCy has 1,347 and 15,963; a new pipeline reads them once, a stored one twice, which takes a
    third of the time of tests that make many. A module with `ALL_SPELLINGS` has all.
    """
    from spacy.lang.en import English  # which takes seconds: not in a process that runs no tests
    from spacy.lang.id import Indonesian

    if getattr(request.module, "ALL_SPELLINGS", False):
        yield
        return
    exceptions = English.Defaults.tokenizer_exceptions
    lower = {word: cut for word, cut in exceptions.items() if word.islower() and "’" not in word}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(English.Defaults, "tokenizer_exceptions", lower)
        patch.setattr(Indonesian.Defaults, "tokenizer_exceptions", {})
        yield
