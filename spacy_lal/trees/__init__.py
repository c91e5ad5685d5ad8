"""Constituency trees as values: building, reading, writing and comparing them."""

from .brackets import BracketError as BracketError
from .brackets import escape as escape
from .brackets import ptb_escape as ptb_escape
from .brackets import ptb_unescape as ptb_unescape
from .brackets import unescape_brackets as unescape_brackets
from .tree import ROOT_LABELS as ROOT_LABELS
from .tree import ConstituentTree as ConstituentTree
from .tree import LabelledSpan as LabelledSpan
from .tree import parse_brackets as parse_brackets
