"""CoNLL-U and CoNLL-X on invented sentences."""

import pickle

import pytest

from spacy_lal.formats.conllu import TagColumn, parse_conllu, to_sentence
from spacy_lal.formats.files import FormatError
from spacy_lal.formats.treebank_sentence import language_vocab, to_doc


def rows(*lines):
    """Columns between spaces here, for legibility; fewer than ten are filled with _."""
    table = []
    for line in lines:
        columns = line.split()
        filled = [*columns, *["_"] * (10 - len(columns))] if columns else []
        table.append(line if line.startswith("#") else "\t".join(filled))
    return "\n".join([*table, ""])


TEXT = rows(
    "# newdoc id = tea-one",
    "# sent_id = tea-one-1",
    "# text = I don't (_) know.",
    "1 I I PRON PRP Case=Nom|Number=Sing 6 nsubj",
    "2-3 don't",
    "2 do do AUX VBP _ 6 aux",
    "3 n't not PART RB _ 6 advmod",
    "4 ( ( PUNCT -LRB- _ 5 punct _ SpaceAfter=No",
    "5 _ _ X LS _ 6 dep _ CorrectForm=x|SpaceAfter=No",
    "6 ) ) PUNCT -RRB- _ 0 root",
    "6.1 ghost ghost VERB VB _ _ _ 6:conj",
    "",
    "",
    "# sent_id = tea-one-2",
    "1-2 Dunno _ _ _ _ _ _ _ SpaceAfter=No",
    "1 Dun do VERB VB _ 0 root",
    "2 no know VERB VB _ 1 dep",
    "3 . . PUNCT . _ 1 punct",
)


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("\n", "\r\n"), TEXT.rstrip()])
def test_words_and_columns(text):
    first, second = parse_conllu(text)
    assert first.words == ["I", "do", "n't", "(", "_", ")"]
    assert first.lemmas == ["I", "do", "not", "(", "_", ")"]
    assert first.upos == ["PRON", "AUX", "PART", "PUNCT", "X", "PUNCT"]
    assert first.xpos == ["PRP", "VBP", "RB", "-LRB-", "LS", "-RRB-"]
    assert first.feats == ["Case=Nom|Number=Sing", "", "", "", "", ""]
    assert first.heads == [6, 6, 6, 5, 6, 0]
    assert first.deprels == ["nsubj", "aux", "advmod", "punct", "dep", "root"]
    assert first.spaces == [True, False, True, False, False, True]
    assert (first.id, first.document, first.line) == ("tea-one-1", "tea-one", 4)
    assert second.words == ["Dun", "no", "."]
    assert second.spaces == [False, False, True]
    assert (second.id, second.document) == ("tea-one-2", "tea-one")


def test_docs():
    doc, _ = (to_doc(to_sentence(read)[0], language_vocab("en")) for read in parse_conllu(TEXT))
    assert doc.text == "I don't (_) "
    assert [token.head.i for token in doc] == [5, 5, 5, 4, 5, 5]
    assert [token.dep_ for token in doc] == ["nsubj", "aux", "advmod", "punct", "dep", "ROOT"]
    assert doc[0].morph.get("Case") == ["Nom"]
    assert doc[1].lemma_ == "do"
    assert doc[4].lemma_ == "_"
    assert [token.is_sent_start for token in doc] == [True, *[False] * 5]
    assert doc.user_data == {"sent_id": "tea-one-1", "paragraph": "tea-one:1"}
    assert not doc.spans


def test_tags_of_either_column_or_of_none():
    first, _ = parse_conllu(TEXT)
    assert to_sentence(first)[0].tags == ["PRP", "VBP", "RB", "-LRB-", "LS", "-RRB-"]
    universal = ["PRON", "AUX", "PART", "PUNCT", "X", "PUNCT"]
    sentence, _ = to_sentence(first, TagColumn.upos)
    assert sentence.tags == sentence.pos == universal
    sentence, _ = to_sentence(first, TagColumn.none)
    assert sentence.tags is None
    assert sentence.pos == universal


def test_conll_x():
    """Coarse tags that aren't universal, features that aren't pairs."""
    text = "1\tTea\t_\tN\tNN\tsg\t2\tSB\t_\t_\n2\tcools\t_\tV\tVBZ\t_\t0\tROOT\t_\t_\n"
    (read,) = parse_conllu(text)
    sentence, fault = to_sentence(read)
    assert fault == ""
    assert sentence.tags == ["NN", "VBZ"]
    assert sentence.pos is None
    assert sentence.morphs is None
    assert sentence.lemmas is None
    assert sentence.heads == [1, 1]
    doc = to_doc(sentence, language_vocab("xx"))
    assert [token.dep_ for token in doc] == ["SB", "ROOT"]


def test_no_heads():
    (read,) = parse_conllu(rows("1 Tea tea NOUN NN", "2 cools cool VERB VBZ _ 0 root"))
    assert read.heads is None
    sentence, fault = to_sentence(read)
    assert fault == "a word has a relation, and a word has no head"
    (bare,) = parse_conllu(rows("1 Tea tea NOUN NN", "2 cools cool VERB VBZ"))
    assert to_sentence(bare)[1] == ""
    assert sentence.deps is None
    doc = to_doc(sentence, language_vocab("xx"))
    assert not doc.has_annotation("DEP")
    assert [token.is_sent_start for token in doc] == [True, False]


@pytest.mark.parametrize(
    ("heads", "reason"),
    [
        ((0, 0, 1), "2 roots in the dependency tree"),
        ((2, 1, 0), "a cycle in the dependency tree at word 1"),
        ((2, 3, 1), "0 roots in the dependency tree"),
    ],
)
def test_heads_that_are_no_tree_are_left_out(heads, reason):
    (read,) = parse_conllu(rows(*(f"{i} w w X X _ {head} dep" for i, head in enumerate(heads, 1))))
    sentence, fault = to_sentence(read)
    assert fault == reason
    assert sentence.heads is None
    assert sentence.words == ["w", "w", "w"]


@pytest.mark.parametrize(
    ("bad", "line", "message"),
    [
        ("1 Tea tea NOUN\n", 2, "expected 10 columns, found 1"),
        ("1\tMilk milk\tNOUN\tNN\t_\t2\tnsubj\t_\t_\n", 2, "expected 10 columns, found 9"),
        ("1\tTea\t_\t_\t_\t_\t0\troot\n", 2, "expected 10 columns, found 8"),
        ("1\tTea\t_\t_\t_\t_\t0\troot\t_ SpaceAfter=No\n", 2, "expected 10 columns, found 9"),
        ("1\tTea\t_\t_\t_\t_\t0\troot\t_\t_\t\n", 2, "expected 10 columns, found 11"),
        ("1-2\tTea\t_\t_\t_\t_\t_\t_\t_\n", 2, "expected 10 columns, found 9"),
        ("0.1\tTea\t_\t_\t_\t_\t_\t_\t_\n", 2, "expected 10 columns, found 9"),
        ("1\tTea\t_\t_\t_\t_\t0\troot _\t_\t_\n", 2, "a space in column 8, 'root _'"),
        ("1\tTea\t_\tX Y\t_\t_\t0\troot\t_\t_\n", 2, "a space in column 4, 'X Y'"),
        ("1 Tea\tTea\t_\t_\t_\t_\t0\troot\t_\t_\n", 2, "a space in column 1, '1 Tea'"),
        ("Tea.\tTea\t_\t_\t_\t_\t0\troot\t_\t_\n", 2, "bad empty node 'Tea.'"),
        ("2\tTea\t_\t_\t_\t_\t0\troot\t_\t_\n", 2, "expected word 1, found '2'"),
        ("1\tTea\t_\t_\t_\t_\tx\troot\t_\t_\n", 2, "head 'x' isn't a number"),
        ("1\tTea\t_\t_\t_\t_\t2\tdep\t_\t_\n", 2, "word 1 has head 2"),
        ("1\tTea\t_\t_\t_\t_\t1\tdep\t_\t_\n", 2, "word 1 has head 1"),
        ("1\t\t_\t_\t_\t_\t0\troot\t_\t_\n", 2, "empty word"),
        ("1-x\tTea\t_\t_\t_\t_\t_\t_\t_\t_\n", 2, "bad word range '1-x'"),
    ],
)
def test_bad_rows_are_located(bad, line, message):
    with pytest.raises(FormatError) as caught:
        list(parse_conllu(f"# comment\n{bad}", source="tea.conllu"))
    assert str(caught.value).startswith(f"tea.conllu:{line}: {message}")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_sentences_know_their_paragraph():
    text = "\n".join(
        f"{comments}{rows('1 Tea tea NOUN NN _ 0 root')}"
        for comments in (
            "",
            "# newdoc id = a\n# newpar id = a-1\n",
            "",
            "# newpar\n",
            "",
            "# newdoc id = b\n",
            "# newdoc id = c\n# newpar id = a-1\n",
            "# newdoc\n",
        )
    )
    names = [sentence.paragraph for sentence in parse_conllu(text)]
    assert names[:3] == ["", "a:a-1", "a:a-1"]
    assert names[3] == names[4]
    assert len(set(names)) == 6
    assert [s.document for s in parse_conllu(text)] == ["", *"aaaa", "b", "c", ""]
    doc = to_doc(to_sentence(list(parse_conllu(text))[1])[0], language_vocab("en"))
    assert doc.user_data["paragraph"] == "a:a-1"


@pytest.mark.parametrize(
    ("ranges", "said"),
    [
        (["3-2"], "bad word range '3-2': expected one such as 3-4"),
        (["1-2"], "bad word range '1-2'"),
        (["3-4", "3-3"], "word range '3-3' overlaps the one before"),
        (["3-9"], "a range ends at word 9 of a sentence of 3"),
    ],
)
def test_ranges_that_can_not_be(ranges, said):
    text = rows("1 a a DET DT _ 2 det", "2 b b NOUN NN _ 0 root")
    text = text.rstrip("\n") + "".join(f"\n{r}\tof the" + "\t_" * 8 for r in ranges)
    text += "\n" + rows("3 c c NOUN NN _ 2 dep")
    with pytest.raises(FormatError, match=said):
        list(parse_conllu(text))


def test_heads_without_relations():
    """They stay heads: the relation is spaCy's for one that isn't known."""
    text = rows("1 a a DET DT _ 2 _", "2 b b NOUN NN _ 0 _", "3 c c NOUN NN _ 2 _")
    doc = to_doc(to_sentence(next(parse_conllu(text)))[0], language_vocab("en"))
    assert [token.head.i for token in doc] == [1, 1, 1]
    assert [token.dep_ for token in doc] == ["dep", "ROOT", "dep"]
