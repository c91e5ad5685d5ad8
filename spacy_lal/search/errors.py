"""Errors in queries."""


class QueryError(ValueError):
    """A query is not in the query language.

    Its text is a line with the message and the column, then the query's line with a caret below
    the column. `position`: the character of `query`, from 0, at which the error is.
    """

    def __init__(self, message: str, query: str, position: int) -> None:
        super().__init__(message, query, position)
        self.message, self.query, self.position = message, query, position

    def __str__(self) -> str:
        before = self.query[: self.position]
        start = before.rfind("\n") + 1
        column = self.position - start
        line = self.query[start:].split("\n", 1)[0]
        place = f"column {column + 1}"
        if "\n" in self.query:
            place = f"line {before.count(chr(10)) + 1}, {place}"
        # tabs stay tabs, so that the caret stands right
        margin = "".join("\t" if c == "\t" else " " for c in line[:column])
        return f"{place}: {self.message}\n  {line}\n  {margin}^"
