"""Annotations of Docs as tables: a row a word, phrase, argument or error; DataFrames of pandas."""

from .data_frames import constituents as constituents
from .data_frames import errors as errors
from .data_frames import frames as frames
from .data_frames import tokens as tokens
from .rows import constituent_rows as constituent_rows
from .rows import error_rows as error_rows
from .rows import frame_rows as frame_rows
from .rows import token_rows as token_rows
