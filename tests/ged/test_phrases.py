"""Wrong phrases against hand-written pairs."""

import re

import pytest
import spacy

from spacy_lal.ged.phrases import english_phrases, wrong_phrases

NLP = spacy.blank("en")
PAIRS = """
She has [went|gone] home.
They had never [saw|seen] it, and we have n't [wrote|written].
Have you ever [drove|driven] a bus?
He enjoys [to cook|cooking], but would you mind [to wait|waiting]?
I look forward to [meet|meeting] you.
He left without [listen|listening].
They are good at [teach|teaching], and he is responsible [of|for] it.
He is married [with|to] a nurse and afraid [from|of] mice.
It depends [of|on] the price.
She is interested [for|in] art and keen [in|on] opera, keen in mind.
We participate [to|in] races, but do not participate to the best of our strength.
[In|On] the other hand, I leave [in|on] Friday.
We have lived here [since|for] two years.
We met him since two years had passed.
We discussed [about|] it.
Explain [him|to him] the rules, but explain him away.
I listen [music|to music].
She gave [an|] advice about it; it is an information desk.
I [have seen|saw] it two weeks ago. I could have seen it last week.
I [have cooked|cooked] fish yesterday.
If she [will|?] come, we leave.
There is [much|many] people. How much people earn matters.
He is good [in|at] tennis and angry [on|with] us.
That is different [of|from] what we do, superior [than|to] it, according [with|to] him.
[By|On] the other hand and [in|at] the same time, they leave.
[At|In] my opinion they study [in|] abroad, despite [of|] the rain.
He went [to|] home and asked [to|] me.
I [am|] agree with you. He [said|?] me that she [has|?] six years old.
There [have|?] many cats. I [am|was] born here.
Everybody [are|is] here, and someone [want|wants] it.
I would like [meet|to meet] them.
[According to me|In my opinion] it is [an other|another] thing, so congratulate her [for|on] it.
They think about [to leave|leaving] without [to pay|paying].
This is [more better|better], the [most best|best].
"""
RIGHT = """
She has gone home, and what she had comes from him.
We are kind of have to go.
He avoids tomatoes, and they enjoyed to the full what they had.
The practice to follow is this. It depends in part on you.
People say he wrote in Go, and they go for Go.
He has Went as a name. I look forward to work.
She relies on us, and he was here a week ago.
"""


@pytest.mark.parametrize("text", PAIRS.strip().split("\n"))
def test_wrong_phrases(text):
    wrong = re.sub(r"\[(.*?)\|.*?\]", r"\1", text)
    doc = NLP(wrong)
    pairs = re.findall(r"\[(.*?)\|(.*?)\]", text)
    found = sorted(wrong_phrases(doc))
    # where words are missing, those before the phrase
    made = [
        (doc[p.start : p.end].text, f"{p.right} {doc[p.start]}" if p.type[0] == "M" else p.right)
        for p in found
    ]
    assert made == [(old, None if new == "?" else new) for old, new in pairs]


@pytest.mark.parametrize("text", RIGHT.strip().split("\n"))
def test_right_sentences(text):
    assert list(wrong_phrases(NLP(text))) == []


def test_sentences_are_apart():
    doc = spacy.tokens.Doc(NLP.vocab, ["I", "have", "went", "on"], sent_starts=[1, 0, 1, 0])
    assert list(wrong_phrases(doc)) == []


def test_every_pattern_has_a_pair():
    text = re.sub(r"\[(.*?)\|.*?\]", r"\1", PAIRS)
    words = "\n".join(
        "".join(f"{token.lower_} " for token in NLP(line)) for line in text.strip().split("\n")
    )
    patterns = [pattern for pattern, _, _ in english_phrases().patterns]
    assert [pattern.pattern for pattern in patterns if not pattern.search(words)] == []
