"""English contractions without their apostrophe: "didnt", "Im", "theyre"."""

import re

from spacy.tokens import Doc

_FORMS = (
    # no "ill", "were", "well", "its", "id": these are words, too
    r"(?:(?:do|does|did|is|are|was|were|has|have|had|ca|could|would|should|wo)(?P<not>nt)"
    r"|i(?P<m>m)|(?:i|you|we|they|could|would|should)(?P<ve>ve)|(?:you|they)(?P<re>re)"
    r"|(?:you|they|it)(?P<ll>ll)|(?:that|what|there|here|he|she|who|where|how)(?P<s>s))"
)
_CONTRACTION = re.compile(_FORMS, re.IGNORECASE)
_SOMEWHERE = re.compile(rf"(?<![^\W\d_]){_FORMS}(?![^\W\d_])", re.IGNORECASE)


def without_apostrophe(doc: Doc) -> dict[int, str]:
    """Return what should stand in the place of tokens that lack an apostrophe, as tokens: of the
    whole word ("didnt": "did n't"), or of its end where the tokenizer cut it ("nt": "n't")."""
    found: dict[int, str] = {}
    # few texts have one, and to look at each token takes long
    for token in doc if _SOMEWHERE.search(doc.text) else ():
        joined = token.i - 1 if token.i and not doc[token.i - 1].whitespace_ else token.i
        for start in {joined, token.i}:
            match = _CONTRACTION.fullmatch(word := doc[start : token.i + 1].text)
            if match and match.lastgroup is not None:
                cut = match.start(match.lastgroup)
                begin, end = word[:cut], word[cut:]
                end = f"{end[:-1]}'{end[-1]}" if match.lastgroup == "not" else f"'{end}"
                whole = f"{'I' if begin == 'i' else begin} {end}"
                found[token.i] = whole if start == token.i else end
    return found
