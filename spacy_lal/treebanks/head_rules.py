"""Heads for treebanks that have none: in every phrase, a table of its category picks a child.

collins   phrases of the Penn Treebank, syntactic heads: M. Collins (1999), Head-Driven Statistical
          Models for Natural Language Parsing, appendix A, with his treatment of coordination.
semantic  the same phrases with lexical heads, near to Universal Dependencies: not the preposition,
          auxiliary, copula or conjunction, and the first conjunct. In the manner of the
          SemanticHeadFinder of M.-C. de Marneffe, B. MacCartney and C. Manning (2006), Generating
          Typed Dependency Parses from Phrase Structure Parses.
ctb       phrases of the Penn Chinese Treebank: Y. Zhang and S. Clark (2008), A Tale of Two Parsers,
          after H. Sun and D. Jurafsky (2004), Shallow Semantic Parsing of Chinese.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..trees import ConstituentTree
from .brackets import TRACE, clean_label

# What to look for, in this order, from the left (>) or from the right (<); A|B: whichever comes
# first. If nothing is there, the last direction's first child is it.
_COLLINS = {
    "ADJP": "> NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB",
    "ADVP": "< RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN",
    "CONJP": "< CC RB IN",
    "FRAG": "<",
    "INTJ": ">",
    "LST": "< LS :",
    "NAC": "> NN|NNS NNP|NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW",
    "NP": "< NN|NNP|NNPS|NNS|NX|NML|POS|JJR > NP < $|ADJP|PRN CD JJ|JJS|RB|QP",
    "PP": "< IN TO VBG VBN RP FW",
    "PRN": ">",
    "PRT": "< RP",
    "QP": "> $ IN NNS NN JJ RB DT CD NCD QP JJR JJS",
    "RRC": "< VP NP ADVP ADJP PP",
    "S": "> TO IN VP S SBAR ADJP UCP NP",
    "SBAR": "> WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG",
    "SBARQ": "> SQ S SINV SBARQ FRAG",
    "SINV": "> VBZ VBD VBP VB MD VP S SINV ADJP NP",
    "SQ": "> VBZ VBD VBP VB MD VP SQ",
    "UCP": "<",
    "VP": "> TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP",
    "WHADJP": "> CC WRB JJ ADJP",
    "WHADVP": "< CC WRB",
    "WHNP": "> WDT WP WP$ WHADJP WHPP WHNP",
    "WHPP": "< IN TO FW",
    "X": "<",
}
_COLLINS["NX"] = _COLLINS["NML"] = _COLLINS["NP"]

_VERB = "VB|VBD|VBG|VBN|VBP|VBZ"
_PREDICATE = "ADJP|JJ NP|WHNP PP ADVP|RB SBAR|S|UCP"
_SEMANTIC = _COLLINS | {
    "ADJP": "< JJ|JJR|JJS|VBN|VBG ADJP NN|NNS $ QP > RB NP",
    "ADVP": "< RB|RBR|RBS|WRB ADVP NN|NNS|NP JJ|JJR",
    "CONJP": "> RB IN CC",
    "FRAG": "> VP S NP ADJP PP",
    "INTJ": ">",
    "NP": "< NN|NNP|NNPS|NNS|NX|NML > NP < PRP $ ADJP|JJ|JJR|JJS CD|QP VBG PRN RB",
    "PP": "> NP|NML|WHNP S|SBAR|VP PP ADJP ADVP NN|NNS|NNP < VBG IN|TO",
    "PRN": "> S|SINV VP NP SBAR",
    "QP": "> $ < CD",
    "S": "> VP S|SINV|SQ ADJP NP PP SBAR UCP",
    "SBAR": "> S SQ SINV SBAR FRAG VP NP",
    "SBARQ": "> SQ S SINV SBARQ FRAG",
    "SINV": f"> VP S SINV {_VERB} ADJP NP",
    "SQ": f"> VP SQ ADJP {_VERB} NP",
    "UCP": ">",
    "VP": f"> VP {_VERB} ADJP NP S MD TO",
    "WHADJP": "< JJ|RB|ADJP WRB",
    "WHNP": "< NN|NNS|NNP|NML > WHNP NP < WP|WDT WHADJP",
    "WHPP": "> WHNP WHADVP",
}
_SEMANTIC["NX"] = _SEMANTIC["NML"] = _SEMANTIC["NAC"] = _SEMANTIC["NP"]

_CTB = {
    "ADJP": "< ADJP JJ AD",
    "ADVP": "< ADVP AD CS JJ NP PP P VA VV",
    "CLP": "< CLP M NN NP",
    "CP": "< CP IP VP",
    "DNP": "< DEG DNP DEC QP",
    "DP": "< M > DP DT OD",
    "DVP": "< DEV AD VP",
    "FRAG": "< VV NR NN NT",
    "IP": "< VP IP NP",
    "LCP": "< LCP LC",
    "LST": "< CD NP QP",
    "NP": "< NP NN IP NR NT",
    "PP": "> P PP",
    "PRN": ">",
    "QP": "< QP CLP CD",
    "UCP": "> IP NP VP",
    "VCD": "> VV VA VE",
    "VP": "> VE VC VV VNV VPT VRD VSB VCD VP",
    "VPT": "> VA VV",
    "VRD": "> VV VA",
    "VSB": "< VV VE",
}

_TABLES = {"collins": _COLLINS, "semantic": _SEMANTIC, "ctb": _CTB}
_OTHERWISE = {"collins": ">", "semantic": ">", "ctb": "<"}
# Chosen only where there is nothing else.
_PUNCTUATION = frozenset([*". , : `` '' \" -LRB- -RRB- HYPH NFP PU".split(), TRACE])
_BE = frozenset("be am is are was were been being 's 'm 're m s re ai ’s ’m ’re".split())
