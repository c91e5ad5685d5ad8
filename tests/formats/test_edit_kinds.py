"""Kinds of corrections, by hand, from ERRANT's categories; M2 and parallel files."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc

from spacy_lal.annotations.grammar_errors import get_errors, set_errors
from spacy_lal.formats.edit_kinds import kind_of
from spacy_lal.formats.m2 import M2, ErrorTypes
from spacy_lal.formats.parallel import ParallelSentences
from spacy_lal.formats.treebank_format import Losses

KNOWN = {"go", "received", "advice", "children", "eat"}
EDITS = """
go/VBP -> goes/VBZ VERB:SVA
was/VBD -> were/VBD VERB:SVA
went/VBD -> gone/VBN VERB:FORM
swim/VB -> swimming/VBG VERB:FORM
to/TO swim/VB -> swimming/VBG VERB:FORM
go/VBP -> went/VBD VERB:TENSE
will/MD rain/VB -> rains/VBZ VERB:TENSE
say/VBP -> tell/VBP VERB
advices/NNS -> advice/NN NOUN:NUM
book/NN -> books/NNS NOUN:NUM
quick/JJ -> quickly/RB MORPH
more/RBR big/JJ -> bigger/JJR ADJ:FORM
in/IN -> on/IN PREP
a/DT -> an/DT DET
-> the/DT DET
about/IN -> PREP
-> is/VBZ VERB
he/PRP -> PRON
which/WDT -> who/WP PRON
you/PRP are/VBP -> are/VBP you/PRP WO
english/JJ -> English/NNP ORTH
every/DT day/NN -> everyday/JJ ORTH
,/, -> PUNCT
brother/NN -> brother/NN 's/POS NOUN:POSS
"""


@pytest.mark.parametrize("line", EDITS.strip().splitlines())
def test_kinds(line: str) -> None:
    *edit, kind = line.split(" ")
    at = edit.index("->")
    old, new = ([word.rsplit("/", 1) for word in side] for side in (edit[:at], edit[at + 1 :]))
    words = [[word for word, _ in side] for side in (old, new)]
    tags = [[tag for _, tag in side] for side in (old, new)]
    assert kind_of(*words, *tags) == kind


def test_words_that_do_not_exist() -> None:
    found = [
        kind_of([old], [new], [""], [tag], KNOWN)
        for old, new, tag in (
            ("recieved", "received", "VBD"),
            ("eated", "ate", "VBD"),
            ("childs", "children", "NNS"),
            ("go", "goes", "VBZ"),
        )
    ]
    assert found == ["SPELL", "VERB:INFL", "NOUN:INFL", "VERB:SVA"]


def test_m2_is_written_and_read(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    doc = Doc(nlp.vocab, words=["He", "go", " ", "at", "home", "Sun", "sets"])
    doc = Doc(nlp.vocab, words=[t.text for t in doc], sent_starts=[i in (0, 5) for i in range(7)])
    labels = ["", "R:VERB:SVA", "", "U:PREP", "", "M:DET", ""]
    set_errors(doc, labels)
    text = M2().write(doc)
    assert text == (
        "S He go at home\n"
        "A 1 2|||R:VERB:SVA|||-NONE-|||REQUIRED|||-NONE-|||0\n"
        "A 2 3|||U:PREP|||-NONE-|||REQUIRED|||-NONE-|||0\n\n"
        "S Sun sets\nA 0 0|||M:DET|||-NONE-|||REQUIRED|||-NONE-|||0\n\n"
    )
    read = [
        label
        for sentence in M2(types=ErrorTypes.full).parse(text, "x.m2", Losses())
        for label in sentence.errors or ()
    ]
    assert read == [label for label, token in zip(labels, doc, strict=True) if not token.is_space]
    assert get_errors(doc) == labels


def test_kinds_of_parallel_files(tmp_path: Path) -> None:
    """With tags by a list; the second annotator's edits have places of their own."""
    nlp = spacy.blank("en")

    @spacy.Language.component("list_tagger")
    def tag(doc: Doc) -> Doc:
        tags = {"goes": "VBZ", "go": "VBP", "to": "TO", "school": "NN", "a": "DT"}
        for token in doc:
            token.tag_ = tags.get(token.lower_, "NNP")
        return doc

    nlp.add_pipe("list_tagger")
    nlp.to_disk(tmp_path / "tagger")
    corrected = [tmp_path / name for name in ("one.txt", "two.txt")]
    corrected[0].write_text("Ann goes to school .\n")
    corrected[1].write_text("A Ann goes to a school .\n")
    options = {"corrected": corrected, "tagger": str(tmp_path / "tagger")}
    files = ParallelSentences(types=ErrorTypes.full, **options)
    (found,) = files.edited("Ann go to school .\n", "x")
    assert [(edit.start, edit.type, edit.annotator) for edit in found.edits] == [
        (1, "R:VERB:SVA", 0),
        (0, "M:DET", 1),
        (1, "R:VERB:SVA", 1),
        (3, "M:DET", 1),
    ]
