"""Constituency trees as values: building, reading, writing and comparing them."""

from .tree import ROOT_LABELS as ROOT_LABELS
from .tree import BracketError as BracketError
from .tree import ConstituentTree as ConstituentTree
from .tree import LabelledSpan as LabelledSpan
from .tree import escape as escape
from .tree import parse_brackets as parse_brackets
from .tree import ptb_escape as ptb_escape
from .tree import ptb_unescape as ptb_unescape
from .tree import unescape_brackets as unescape_brackets
