"""Reading of queries from left to right, by recursive descent."""

import re
from collections.abc import Callable
from typing import TypeVar

from .errors import QueryError

T = TypeVar("T")

DEEPEST = 100
"""Brackets and conditions in each other at most: recursion stays below Python's limit."""
SIGN = re.compile(r"__|_ROOT_|&&|==|\S")
"""A sign of either language that isn't a name, a string or a regular expression."""
_SPACE = re.compile(r"\s*")


class Scanner:
    """A query, read up to the place `at`. Its methods raise QueryError."""

    def __init__(self, query: str, at: int = 0) -> None:
        self.query, self.at = query, at
        self.depth = 0

    def error(self, message: str, at: int | None = None) -> QueryError:
        return QueryError(message, self.query, self.start() if at is None else at)

    def unexpected(self, wanted: str) -> QueryError:
        return self.error(f"{wanted} expected, not {self.peek(SIGN) or 'the end'}")

    def start(self) -> int:
        """Return the place of the next sign."""
        if space := _SPACE.match(self.query, self.at):
            self.at = space.end()
        return self.at

    def peek(self, signs: re.Pattern[str]) -> str:
        found = signs.match(self.query, self.start())
        return found[0] if found else ""

    def take(self, signs: re.Pattern[str], wanted: str = "") -> str:
        found = self.peek(signs)
        if wanted and not found:
            raise self.unexpected(wanted)
        self.at += len(found)
        return found

    def taken(self, sign: str) -> bool:
        """Take a sign if it comes next."""
        found = self.peek(SIGN) == sign
        self.at += len(sign) * found
        return found

    def expect(self, sign: str) -> None:
        if not self.taken(sign):
            raise self.unexpected(sign)

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.error(f"more than {DEEPEST} brackets and conditions in each other")

    def bracketed(self, inner: Callable[[], T], *brackets: str) -> T | None:
        """Return what stands in brackets, None if none comes next."""
        for pair in brackets:
            if self.taken(pair[0]):
                self.deeper()
                found = inner()
                self.depth -= 1
                self.expect(pair[1])
                return found
        return None
