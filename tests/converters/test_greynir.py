"""GreynirCorpus's files: what stands beside trees, and leaves with notes."""

from __future__ import annotations

from pathlib import Path

import pytest
from greynir import GreynirCorpus

from spacy_lal.formats.treebank_format import Losses
from spacy_lal.formats.treebank_sentence import TreebankSentence

# Made by hand. The name is one leaf of three words, over two lines; brackets are escaped.
TEXT = r"""( (META (ID-CORPUS 1)
        (URL http://example.org/a)
        (COMMENT ))
  (S0 (S-MAIN (IP (NP-SUBJ (person_nf_kvk
  Anna Rós Jónsdóttir
  (lemma Anna Rós Jónsdóttir)))
                  (VP (VP (so_0_fh_p3_et_þt_gm söng (lemma syngja)))
                      (ADVP (grm \( (lemma \()) (ao hátt (lemma hátt)
                                                          (exp_seg há-tt)) (grm \))))))
      (grm .)))

( (META (ID-CORPUS 2)
        (COMMENT ))
  (S0 (S-MAIN )))

( (META (ID-CORPUS 3)
        (COMMENT ))
  (S0 (NP-HEADING (no_et_nf_hk Veður (lemma veður)))))
"""


def read(path: Path, text: str = TEXT) -> tuple[list[TreebankSentence], Losses]:
    losses = Losses()
    path.write_text(text, encoding="utf8")
    return list(GreynirCorpus().read(path, losses)), losses


def test_words_tags_and_phrases(tmp_path: Path) -> None:
    (first, second), losses = read(tmp_path / "a.gld")
    assert first.words == ("Anna", "Rós", "Jónsdóttir", "söng", "(", "hátt", ")", ".")
    assert first.tags == ["person", "person", "person", "so", "grm", "ao", "grm", "grm"]
    assert list(first.constituents or ()) == [
        (0, 8, "S0"),
        (0, 7, "S"),
        (0, 7, "IP"),
        (0, 3, "NP"),
        (3, 7, "VP"),
        (3, 4, "VP"),
        (4, 7, "ADVP"),
    ]
    assert second.words == ("Veður",)
    assert [reason for _, reason in losses.left_out["dropped"]] == [
        "neither words nor phrases in (S-MAIN)"
    ]


def test_places_in_messages_are_those_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a\.gld:20:"):
        read(tmp_path / "a.gld", TEXT + "\n(S0 (S-MAIN (no x)) oops)\n")


def test_every_tenth_file_is_development(tmp_path: Path) -> None:
    for name, count in (("devset", 23), ("testset", 2)):
        (tmp_path / name / "psd").mkdir(parents=True)
        for number in range(count):
            (tmp_path / name / "psd" / f"greynir_{number:05}.gld").touch()
    files = GreynirCorpus().part_files(tmp_path)
    assert [path.stem[-2:] for path in files["dev"]] == ["09", "19"]
    assert (len(files["train"]), len(files["test"])) == (21, 2)
    assert not set(files["train"]) & set(files["dev"])


def test_folders_that_are_neither(tmp_path: Path) -> None:
    (tmp_path / "train.brackets").touch()
    with pytest.raises(FileNotFoundError, match=r"neither devset/psd .* nor one file of"):
        GreynirCorpus().part_files(tmp_path)
    (tmp_path / "devset" / "psd").mkdir(parents=True)
    (tmp_path / "devset" / "psd" / "a.gld").touch()
    with pytest.raises(FileNotFoundError, match=r"testset/psd with \.gld files"):
        GreynirCorpus().part_files(tmp_path)
