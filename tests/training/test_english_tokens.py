"""Tokens of web treebanks."""

import pytest
import spacy

from spacy_lal.training.english_tokens import use_treebank_tokens

ALL_SPELLINGS = True


@pytest.fixture(scope="module")
def nlp(tmp_path_factory):
    """Saved and loaded, so that the rules are those of the files."""
    path = tmp_path_factory.mktemp("tokens")
    use_treebank_tokens(spacy.blank("en")).to_disk(path)
    return spacy.load(path)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Great!!! Why?? No?!", "Great !!! Why ?? No ?!"),
        ("e-mail co-workers, non-smokers", "e-mail co-workers , non-smokers"),
        ("A well-known 15-year-old.", "A well - known 15 - year - old ."),
        ("tea and/or milk", "tea and / or milk"),
        ("Call 713-555-0199 or 555-0199.", "Call 713-555-0199 or 555-0199 ."),
        ("9pm, 7:30PM, '07, the 1960's", "9 pm , 7:30 PM , '07 , the 1960's"),
        ("an F-16 -for 10k", "an F - 16 - for 10 k"),
        ("child(ren) -$5 *** ----- ====", "child ( ren ) - $ 5 *** ----- ===="),
        ("tea@example.org sent tea-3.doc.", "tea@example.org sent tea-3.doc ."),
        ("see http://example.org/a-b/c.html", "see http://example.org/a-b/c.html"),
        ("I wanna, I'm gonna, I cannot", "I wan na , I 'm gon na , I can not"),
        ("he's, they don't, the cat's", "he 's , they do n't , the cat 's"),
        ("well... :-) No ;) Wed. it is", "well ... :-) No ;) Wed. it is"),
        ("1/2 a cup on 9/11", "1 / 2 a cup on 9/11"),
    ],
)
def test_tokens(nlp, text, tokens):
    assert [token.text for token in nlp(text)] == tokens.split()


def test_other_languages_have_no_rules():
    with pytest.raises(ValueError, match="English, not 'de'"):
        use_treebank_tokens(spacy.blank("de"))
