"""The French Treebank, as in the SPMRL shared tasks.

Labels lose their ##features## and functions (NP-SUJ is NP); those of multiword expressions, such as
MWN or NPP+, stay. SENT stays a constituent below a root without a label: the shared tasks'
evalb_spmrl counts SENT, and ignores TOP, ROOT, S1 and VROOT.

D. Seddah et al. (2013), Overview of the SPMRL 2013 Shared Task.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from .files import OPENERS, read_text_as
from .penn_brackets import clean_sentences, clean_tree, parse_sentences
from .treebank_format import Lang, Losses, Treebank
from .treebank_sentence import TreebankSentence

ENCODINGS = ("utf-8-sig", "latin-1")
"""Encodings to try; the second fits any bytes, so it must be the last."""


@dataclass(frozen=True, kw_only=True)
class FrenchTreebank(Treebank):
    """The French Treebank in SPMRL's bracketed format; INPUT has train.French.gold.ptb …"""

    lang: Lang = "fr"
    train: Annotated[str, "Another training file in INPUT."] = ""
    dev: Annotated[str, "Another development file."] = ""
    test: Annotated[str, "Another test file."] = ""
    encoding: Annotated[str, "utf-8, latin-1, or auto to detect it."] = "auto"
    functions: Annotated[bool, "Keep functions: NP-SUJ."] = False

    def part_files(self, folder: Path) -> dict[str, list[Path]]:
        """Return the file of each part: the option's, or the one PART.French.gold.ptb in `folder`.
        Raises FileNotFoundError, or ValueError if there are several."""
        found: dict[str, list[Path]] = {}
        for part, given in self.given().items():
            name = given or f"{part}.French.gold.ptb"
            names = {f"{name}{suffix}".lower() for suffix in ("", *OPENERS)}
            there = [folder / given] if given else sorted(folder.rglob(f"{part}.*"))
            found[part] = [path for path in there if given or path.name.lower() in names]
            if not found[part] or not found[part][0].is_file():
                raise FileNotFoundError(f"{part}: no {name} in {folder}")
            if len(found[part]) > 1:
                both = " and ".join(map(str, found[part]))
                raise ValueError(f"{part}: both {both} are there: say which is meant")
        return found

    def read(self, path: Path, losses: Losses) -> Iterator[TreebankSentence]:
        text, used = read_text_as(path, self.encoding, ENCODINGS)
        if used != ENCODINGS[0] and self.encoding == "auto":
            losses.notes.append(f"{path} isn't UTF-8, read as {used}")
        clean = partial(clean_tree, functions=self.functions)
        return clean_sentences(parse_sentences(text, source=str(path)), losses, clean=clean)
