"""Bytes made wrong in ways in which files become wrong, and in ways in which people make them."""

from __future__ import annotations

import random

NASTY = [
    *(b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x85", b"\xe2\x80\xa8", b"\r", b"\x0c"),
    *(b"(", b")", b"*", b"(S*", b"*)", b"()", b"( x)", b"-", b"_", b"#", b"\t", b"\n", b"\n\n"),
    *(b"|||", b"||", b"-1", b"0", b"1-2", b"1.1", b"9" * 12, b"9" * 5000, "٣".encode(), b"1e999"),
    *(b'"', b"\\", b'\\"', b"[", b"{", b"]", b"}", b"null", b"[" * 3000, b'{"a":' * 2000, b"NaN"),
    *(b"\\ud800", b"\xcc\x81" * 50, b"x" * 3000, b"( " * 2000, b"<s>", b"</s>", b"S ", b"A "),
    *(b"../../x", b"##", b"=", b"-NONE-", b"\xc2\xa0", b"\xe3\x80\x80", b"%s%n", b"True"),
]


def damaged(data: bytes, rng: random.Random) -> bytes:
    """The data with one to three things wrong."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        data = rng.choice(_WAYS)(data, rng)
    return data


def _place(data: bytes, rng: random.Random) -> int:
    return rng.randrange(len(data) + 1)


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: _place(data, rng)]


def _flip(data: bytes, rng: random.Random) -> bytes:
    at = _place(data, rng)
    return (
        data[:at]
        + bytes(byte ^ 1 << rng.randrange(8) for byte in data[at : at + 1])
        + (data[at + 1 :])
    )


def _insert(data: bytes, rng: random.Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + rng.choice(NASTY) + data[at:]


def _drop(data: bytes, rng: random.Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + data[at + rng.choice((1, 1, 2, 10, 100)) :]


def _again(data: bytes, rng: random.Random) -> bytes:
    start, at = _place(data, rng), _place(data, rng)
    return data[:at] + data[start : start + rng.choice((1, 5, 50))] + data[at:]


def _cell(data: bytes, rng: random.Random) -> bytes:
    """Another field between tabs and blanks, the same length or not."""
    cells = data.split(rng.choice((b" ", b"\t")))
    cells[rng.randrange(len(cells))] = rng.choice((*NASTY, b"", rng.choice(cells)))
    return rng.choice((b" ", b"\t")).join(cells) if rng.random() < 0.1 else _joined(data, cells)


def _joined(data: bytes, cells: list[bytes]) -> bytes:
    return (b"\t" if data.count(b"\t") >= len(cells) - 1 else b" ").join(cells)


def _rows(data: bytes, rng: random.Random) -> bytes:
    rows = data.split(b"\n")
    i, j = rng.randrange(len(rows)), rng.randrange(len(rows))
    rows[i], rows[j] = rows[j], rows[i]
    if rng.random() < 0.5:
        del rows[i]
    return b"\n".join(rows)


_WAYS = (_cut, _flip, _flip, _insert, _insert, _drop, _again, _cell, _rows)
