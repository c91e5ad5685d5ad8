"""GreynirCorpus, gold trees of Icelandic, as its authors publish them.

Files of ten sentences, whose tree stands beside a node META and whose leaves carry notes:
`(no_et_nf_kvk Frétt (lemma frétt))`. A leaf of several words is as many leaves, which have its tag.
Tags are strings of features, of which the first is the part of speech; it alone is kept. Labels
lose their functions (NP-SUBJ is NP).

V. Þorsteinsson, H. Óladóttir and H. Loftsson (2019), A Wide-Coverage Context-Free Grammar for
Icelandic and an Accompanying Parsing System.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from .brackets import parse_sentences
from .cleaning import Losses, clean_sentences
from .docs import TreebankSentence
from .files import read_text
from .splits import PARTS

DEVELOPMENT = 10
"""Every so many files of the corpus's `devset` are development data, the others training data:
sentences grow longer from file to file, so that all lengths are in both."""

_META = re.compile(r"\(META\b.*?\)\)(?=\s*\()", re.DOTALL)
_NOTES = re.compile(r"\s*\((?:lemma|exp_seg|exp_abbrev) [^()]*\)")
_WORDS = re.compile(r"\((?P<tag>[^\s()]+)\s+(?P<words>[^\s()]+(?:\s+[^\s()]+)+)\s*\)")


def part_files(folder: Path) -> dict[str, Sequence[Path]]:
    """The files of each part: of a checkout, devset/psd and testset/psd, or else, of any folder,
    what begins with "train.", "dev." and "test.". Raises FileNotFoundError."""
    sets = {name: sorted((folder / name / "psd").glob("*.gld")) for name in ("devset", "testset")}
    if any(sets.values()):
        for name, files in sets.items():
            if not files:
                raise FileNotFoundError(f"no .gld files in {folder / name / 'psd'}")
        number = {path: n for n, path in enumerate(sets["devset"], start=1)}
        return {
            "train": [path for path in number if number[path] % DEVELOPMENT],
            "dev": [path for path in number if not number[path] % DEVELOPMENT],
            "test": sets["testset"],
        }
    found: dict[str, Sequence[Path]] = {part: sorted(folder.glob(f"{part}.*")) for part in PARTS}
    for part in PARTS:
        if len(found[part]) != 1:
            raise FileNotFoundError(
                f"{folder} has neither devset/psd and testset/psd nor one file {part}.*"
            )
    return found


def read_sentences(path: Path, losses: Losses) -> Iterator[TreebankSentence]:
    """Sentences with parts of speech and constituents. Raises BracketError, ValueError."""
    text = read_text(path)
    if path.suffix == ".gld":  # elsewhere a backslash is a word
        text = text.replace("\\(", "-LRB-").replace("\\)", "-RRB-")
    text = _META.sub(_lines, text)
    text = _WORDS.sub(_apart, _NOTES.sub(_lines, text))
    trees = parse_sentences(text, source=str(path))
    for sentence in clean_sentences(trees, losses, drop_malformed=True):
        tags = [tag.partition("_")[0] for tag in sentence.tags or ()]
        yield replace(sentence, tags=tags)


def _lines(left_out: re.Match[str]) -> str:
    """As many line ends: places in messages stay right."""
    return "\n" * left_out[0].count("\n")


def _apart(leaf: re.Match[str]) -> str:
    """A leaf a word."""
    return " ".join(f"({leaf['tag']} {word})" for word in leaf["words"].split()) + _lines(leaf)
