"""The registry of all treebank formats."""

from __future__ import annotations

from .character_edits import CharacterEdits
from .conll2005 import Conll2005
from .conll2012 import Conll2012
from .conllu import Conllu
from .ftb import FrenchTreebank
from .learner_tsv import LearnerTsv
from .m2 import M2
from .parallel import ParallelSentences
from .penn_brackets import Brackets
from .penn_treebanks import ChineseTreebank, PennTreebank
from .props import Props
from .treebank_format import Format
from .vtb import VietnameseTreebank

FORMATS: dict[str, type[Format]] = {
    "brackets": Brackets,
    "character-edits": CharacterEdits,
    "conll05": Conll2005,
    "conll12": Conll2012,
    "conllu": Conllu,
    "ctb": ChineseTreebank,
    "ftb": FrenchTreebank,
    "m2": M2,
    "parallel": ParallelSentences,
    "props": Props,
    "ptb": PennTreebank,
    "tsv": LearnerTsv,
    "vtb": VietnameseTreebank,
}
"""The formats by their names in `convert`."""
