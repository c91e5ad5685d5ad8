"""Rows of tables as pandas DataFrames."""

from collections.abc import Iterable, Sequence
from typing import Any

from spacy.tokens import Doc

from . import rows

_TYPES = dict.fromkeys(("doc", "sentence", "token", "start", "end", "depth"), "int64") | {
    **dict.fromkeys(("frame", "predicate"), "int64"),
    "head": "Int64",
    "score": "float64",
}
"""Types of columns of numbers; `Int64` has a place for missing ones."""


def tokens(docs: Doc | Iterable[Doc]) -> Any:
    """Return a DataFrame of `token_rows`. Raises ImportError, with advice, without pandas."""
    return _data_frame(rows.token_rows(docs), rows.TOKEN_COLUMNS)


def constituents(docs: Doc | Iterable[Doc]) -> Any:
    """Return a DataFrame of `constituent_rows`. Raises ImportError, with advice, without pandas."""
    return _data_frame(rows.constituent_rows(docs), rows.CONSTITUENT_COLUMNS)


def frames(docs: Doc | Iterable[Doc]) -> Any:
    """Return a DataFrame of `frame_rows`. Raises ImportError, with advice, without pandas."""
    return _data_frame(rows.frame_rows(docs), rows.FRAME_COLUMNS)


def errors(docs: Doc | Iterable[Doc]) -> Any:
    """Return a DataFrame of `error_rows`. Raises ImportError, with advice, without pandas."""
    return _data_frame(rows.error_rows(docs), rows.ERROR_COLUMNS)


def _data_frame(found: Iterable[rows.Row], columns: Sequence[str]) -> Any:
    """Return the rows as a DataFrame, which has all columns also if there are no rows."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("tables need pandas: pip install 'spacy-lal[pandas]'") from error
    values: dict[str, list[Any]] = {name: [] for name in columns}
    for row in found:
        for name, value in row.items():
            values[name].append(value)
    return pandas.DataFrame(
        {name: pandas.Series(column, dtype=_TYPES.get(name)) for name, column in values.items()}
    )
