"""Tokens of web treebanks."""

import random
import re

import pytest
import spacy

from spacy_lal.training.english_tokens import NO_INFIX, NO_SUFFIX, use_treebank_tokens

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
        ("I CAN'T, we DON'T, GONNA", "I CA N'T , we DO N'T , GON NA"),
        ("He left—I'm here. Don't...won't!", "He left — I 'm here . Do n't ... wo n't !"),
        ("They’re ours; it‘s Ann`s, isn´t it?", "They ’re ours ; it ‘s Ann `s , is n´t it ?"),
        ("See Fig. 2 (approx. 20) vs. et al., No.", "See Fig. 2 ( approx. 20 ) vs. et al. , No ."),
        ("I ate a fig. (b. 1901) (i.e. so)", "I ate a fig . ( b. 1901 ) ( i.e. so )"),
        ("So do I. So does AT&T. In the U.S..", "So do I . So does AT&T . In the U.S. ."),
        ("a U.S.-led, Pa.-based, tax-wise plan", "a U.S. - led , Pa. - based , tax-wise plan"),
        ("uh-huh, wi-fi, Covid-19, mid-1980s", "uh-huh , wi-fi , Covid - 19 , mid-1980s"),
        ("2024-05-06, SW1A, 02134-1000", "2024-05-06 , SW1A , 02134-1000"),
        ("9am-5pm, $5-$10, 24/7, 19/20", "9 am - 5 pm , $ 5 - $ 10 , 24 / 7 , 19 / 20"),
        ("5kg, 3.5GHz, $25bn, $1.5m. 350F", "5 kg , 3.5 GHz , $ 25 bn , $ 1.5 m . 350 F"),
        ("#tea, #milk! No. #1", "#tea , #milk ! No . # 1"),
        ("get 'em! ’cause ol' Bo's talkin'. 'Tis", "get 'em ! ’cause ol' Bo 's talkin' . 'T is"),
        ("(617)555-0199 --Sam 2)Go now- A++", "( 617 ) 555-0199 -- Sam 2 ) Go now - A ++"),
        ("so👍🏽! ❤️❤️ 🇫🇷🇩🇪 👩‍👩‍👧 ok😀😀 1️⃣", "so 👍🏽 ! ❤️ ❤️ 🇫🇷 🇩🇪 👩‍👩‍👧 ok 😀 😀 1️⃣"),
        (
            "tea?! tea.? 'tea' \"isn't\" rock 'n' roll",
            "tea ?! tea .? ' tea ' \" is n't \" rock 'n' roll",
        ),
        ("http://example.org/a/ or tea/ or w/out", "http://example.org/a/ or tea / or w/out"),
    ],
)
def test_tokens(nlp, text, tokens):
    assert [token.text for token in nlp(text)] == tokens.split()


def test_once_more_changes_nothing(nlp):
    """A trained pipeline keeps its user's words, and gets the rules of today."""
    nlp.tokenizer.add_special_case("teapot", [{"ORTH": "tea"}, {"ORTH": "pot"}])
    rules = nlp.tokenizer.to_bytes(exclude=["vocab"])
    assert use_treebank_tokens(nlp).tokenizer.to_bytes(exclude=["vocab"]) == rules


@pytest.mark.parametrize(("kind", "guard"), [("infix", NO_INFIX), ("suffix", NO_SUFFIX)])
def test_guards_save_time_and_matches(nlp, kind, guard):
    """Where an expression is not tried, it would not match."""
    name = {"infix": "infix_finditer", "suffix": "suffix_search"}[kind]
    guarded = getattr(nlp.tokenizer, name).__self__
    whole = re.compile(guarded.pattern.removeprefix(f"(?!{guard})"))
    assert whole.pattern != guarded.pattern
    source = random.Random(0)
    parts = [*"abmnpstBNPTé019.,-/'’$()[]!?&+#", "am", "pm", "n't", "'s", "kg", "etc", "Inc", "--"]
    found = 0
    for _ in range(20_000):
        text = "".join(source.choices(parts, k=source.randint(1, 6)))
        spans = [match.span() for match in whole.finditer(text)]
        assert spans == [match.span() for match in guarded.finditer(text)], text
        found += bool(spans)
    assert found > 2000


def test_other_languages_have_no_rules():
    with pytest.raises(ValueError, match="English, not 'de'"):
        use_treebank_tokens(spacy.blank("de"))
