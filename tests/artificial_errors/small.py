"""A small error model, and sentences of its words."""

from random import Random

from spacy_lal.artificial_errors.error_model import ErrorKind, ErrorModel, Insertion, Noise


def split(text: str) -> list[str]:
    return text.split()


WORDS = split("house tree garden water letter people walk sing London quickly morning river")
CLOSED = split("the a of in on and its")

MODEL = ErrorModel(
    "en",
    {
        "function": ErrorKind(
            1.0,
            {
                "the": {"": 1.0, "a": 0.5},
                "a": {"": 1.0, "the": 0.5},
                "in": {"on": 1.0},
                "its": {"it 's": 1.0},
                ",": {"": 1.0},
                "a house": {"ahouse": 0.5},
            },
            {
                "the": Insertion({"*": 0.3}, {"water": 1.0, "people": 0.5}),
                ",": Insertion({"*": 0.2, "": 0.0}, {"and": 1.0}),
            },
        ),
        "form": ErrorKind(0.5, {"house": {"houses": 1.0}, "walk": {"walked": 1.0}}),
    },
    noise=dict.fromkeys(Noise, 0.1) | {Noise.LOWER: 0.5, Noise.CAPITAL: 0.05},
    words=frozenset([*WORDS, *CLOSED]),
    closed=frozenset(CLOSED),
    letters={"e": {"a": 1.0}, "tt": {"t": 1.0}, "o": {"u": 1.0}},
)


def made_up(count: int, seed: int = 0) -> list[tuple[list[str], list[bool]]]:
    """Sentences of 3 to 30 words: capital, words, commas, a full stop."""
    random = Random(seed)
    sentences = []
    for _ in range(count):
        words = random.choices(WORDS + CLOSED * 2 + [","], k=random.randint(3, 30))
        if words[0] == ",":
            words[0] = "the"
        words = [words[0][0].upper() + words[0][1:], *words[1:], "."]
        spaces = [after not in (",", ".") for after in words[1:]] + [False]
        sentences.append((words, spaces))
    return sentences
