"""Annotations of a Doc in span groups: constituents, heads, frames and errors, with their views."""

from .clauses import Clause as Clause
from .clauses import get_clauses as get_clauses
from .constituents import CONSTITUENTS_KEY as CONSTITUENTS_KEY
from .constituents import constituent_tree as constituent_tree
from .constituents import get_constituents as get_constituents
from .constituents import sentence_trees as sentence_trees
from .constituents import set_constituents as set_constituents
from .extensions import install_extensions as install_extensions
from .frames import Frame as Frame
from .frames import FrameSpans as FrameSpans
from .frames import get_frames as get_frames
from .frames import set_frames as set_frames
from .grammar_errors import CORRECT as CORRECT
from .grammar_errors import ERROR as ERROR
from .grammar_errors import ERRORS_KEY as ERRORS_KEY
from .grammar_errors import GrammarError as GrammarError
from .grammar_errors import get_errors as get_errors
from .grammar_errors import set_errors as set_errors
from .noun_chunks import install_noun_chunks as install_noun_chunks
from .phrases import get_phrases as get_phrases
from .span_doc import span_doc as span_doc
from .triples import Triple as Triple
from .triples import get_triples as get_triples
from .words import bare_doc as bare_doc
from .words import set_dependencies as set_dependencies
