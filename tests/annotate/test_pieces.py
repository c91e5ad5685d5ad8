"""Where long texts are cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spacy_lal.annotate.texts import pieces


@given(st.text(alphabet="ab .!\n\t。é", max_size=60), st.integers(1, 20), st.integers(0, 9))
def test_put_together_they_are_the_text(text: str, max_chars: int, offset: int) -> None:
    record = {"id": "a", "lang": "en", "text": text, "offset": offset}
    found = list(pieces(record, max_chars))
    assert "".join(piece["text"] for piece in found) == text
    assert all(len(piece["text"]) <= max_chars for piece in found)
    assert [piece["offset"] for piece in found] == [
        offset + sum(len(piece["text"]) for piece in found[:k]) for k in range(len(found))
    ]
    assert all(piece["id"] == "a" and piece["lang"] == "en" for piece in found)
    assert all(piece["text"] for piece in found) or text == ""


def test_the_best_place() -> None:
    def texts(text: str, max_chars: int) -> list[str]:
        return [piece["text"] for piece in pieces({"text": text}, max_chars)]

    assert texts("One. Two two\n \nThree. Four\n", 22) == ["One. Two two\n \n", "Three. Four\n"]
    assert texts("One. Two three\nFour. Five", 20) == ["One. Two three\n", "Four. Five"]
    assert texts("One two. “Three.” four five six", 27) == ["One two. “Three.” ", "four five six"]
    assert texts("一二三四。五六七八九十", 8) == ["一二三四。", "五六七八九十"]
    assert texts("One two three", 12) == ["One two ", "three"]
    assert texts("Onetwothree", 4) == ["Onet", "woth", "ree"]
    assert texts("short", 5) == ["short"]
