"""Search in trees, heads and roles."""

from .errors import QueryError as QueryError
from .queries import Match as Match
from .queries import Query as Query
from .queries import compile_query as compile_query
from .queries import search as search
