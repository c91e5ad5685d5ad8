"""GreynirCorpus, gold trees of Icelandic, as its authors publish them.

Files have ten sentences, whose trees stand beside a node META and whose leaves carry notes:
`(no_et_nf_kvk Frétt (lemma frétt))`. A leaf of several words becomes as many leaves. Tags are
strings of features; only the first, the part of speech, is kept. Labels lose their functions
(NP-SUBJ is NP).

V. Þorsteinsson, H. Óladóttir and H. Loftsson (2019), A Wide-Coverage Context-Free Grammar for
Icelandic and an Accompanying Parsing System.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from spacy_lal.cli.convert import command
from spacy_lal.formats.penn_brackets import clean_sentences, closed_up, parse_sentences
from spacy_lal.formats.treebank_format import PARTS, Lang, Losses, Treebank
from spacy_lal.formats.treebank_sentence import TreebankSentence

DEVELOPMENT = 10
"""Every tenth file of `devset` is development data, the others are training data. Sentences grow
longer from file to file, so both have all lengths."""
CLOSING = {*".,;:?!)]%“"}
"""Words that are written without a space before them, which the trees don't say."""
OPENING = {*"([„"}
"""Words that are written without a space behind them."""

_META = re.compile(r"\(META\b.*?\)\)(?=\s*\()", re.DOTALL)
_NOTES = re.compile(r"\s*\((?:lemma|exp_seg|exp_abbrev) [^()]*\)")
_WORDS = re.compile(r"\((?P<tag>[^\s()]+)\s+(?P<words>[^\s()]+(?:\s+[^\s()]+)+)\s*\)")


@dataclass(frozen=True, kw_only=True)
class GreynirCorpus(Treebank):
    """GreynirCorpus: its devset, every tenth file for development, and its testset; INPUT is a
    checkout, or a folder of train.*, dev.* and test.*"""

    lang: Lang = "is"

    def part_files(self, folder: Path) -> Mapping[str, Sequence[Path]]:
        devset, testset = (
            sorted((folder / n / "psd").glob("*.gld")) for n in ("devset", "testset")
        )
        if devset and testset:
            held_out = devset[DEVELOPMENT - 1 :: DEVELOPMENT]
            training = [path for path in devset if path not in set(held_out)]
            return {"train": training, "dev": held_out, "test": testset}
        found = {part: sorted(folder.glob(f"{part}.*")) for part in PARTS}
        if any(len(files) != 1 for files in found.values()):
            raise FileNotFoundError(
                f"{folder} has neither devset/psd and testset/psd with .gld files nor one file of "
                "train.*, dev.* and test.*"
            )
        return found

    def parse(self, text: str, source: str, losses: Losses) -> Iterator[TreebankSentence]:
        if source.endswith(".gld"):  # elsewhere a backslash is a word
            text = text.replace("\\(", "-LRB-").replace("\\)", "-RRB-")
        text = _META.sub(_lines, text)
        text = _WORDS.sub(_apart, _NOTES.sub(_lines, text))
        trees = parse_sentences(text, source=source, strict=False)
        for sentence in clean_sentences(trees, losses, drop_malformed=True):
            tags = [tag.partition("_")[0] for tag in sentence.tags or ()]
            yield closed_up(replace(sentence, tags=tags), CLOSING, OPENING)


def _lines(left_out: re.Match[str]) -> str:
    """Return as many line ends, which keep places in messages right."""
    return "\n" * left_out[0].count("\n")


def _apart(leaf: re.Match[str]) -> str:
    return " ".join(f"({leaf['tag']} {word})" for word in leaf["words"].split()) + _lines(leaf)


if __name__ == "__main__":
    typer.run(command(GreynirCorpus))
