"""Random changes of bytes: of single ones, of pieces, of the words that a form is made of, of depth."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

WORDS: tuple[bytes, ...] = (
    b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\", b"\n", b"\r\n", b"\r", b"\t", b"\x00", b"\x1a", b"\xff",
    b"\xc3(", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xf4\x8f\xbf\xbf", b"null", b"true", b"NaN", b"-Infinity",
    b"0", b"-0", b"-1", b"1e400", b"1e-400", b"1E999999999", b"9223372036854775808", b"18446744073709551616",
    b"9" * 5000, b"0.1", b".5", b'""', b'"\\ud800"', b'"\\u0000"', b'"1"', b"{}", b"[]",
    b"0000-01-01T00:00:00Z", b"99999-12-31T23:59:60Z", b"#", b"--", b"(", b")", b"=", b"->", b"\xce\xbb",
    b"./x.dhall", b"env:HOME", b"https://localhost/x", b"\xd9\xa3", b"\xe2\x80\xa8",
)  # fmt: skip
MOST = 6  # changes of a case


def mutated(random: Random, seeds: Sequence[bytes]) -> bytes:
    """One of some texts, changed."""
    data = random.choice(seeds)
    for _ in range(random.randint(1, MOST)):
        data = random.choice(CHANGES)(random, data, seeds)
    return data


def _place(random: Random, data: bytes) -> int:
    return random.randrange(len(data) + 1)


def _flip(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    place = _place(random, data)
    return (
        data[:place] + bytes([data[place] ^ (1 << random.randrange(8))]) + data[place + 1 :] if data[place:] else data
    )


def _cut(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    place = _place(random, data)
    return data[:place] if random.random() < 0.5 else data[place:]


def _gone(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    place = _place(random, data)
    return data[:place] + data[place + random.randint(1, 40) :]


def _twice(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    place = _place(random, data)
    piece = data[place : place + random.randint(1, 200)]
    return data[:place] + piece * random.randint(1, 4) + data[place:]


def _word(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    place = _place(random, data)
    return data[:place] + random.choice(WORDS) + data[place + random.choice([0, 0, 1, 4]) :]


def _value(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Another word after a colon."""
    places = [index for index, byte in enumerate(data[:20_000]) if byte == ord(":")]
    if not places:
        return data
    place = random.choice(places) + 1
    ends = [end for mark in b",}\n" if (end := data.find(bytes([mark]), place)) >= 0]
    return data[:place] + random.choice(WORDS) + data[min(ends, default=place) :]


def _deep(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    place, depth = _place(random, data), random.choice([10, 300, 600, 1000, 100_000])
    opened, closed = random.choice([(b"[", b"]"), (b'{"a":', b"}"), (b"(", b")")])
    return data[:place] + opened * depth + closed * random.choice([depth, 0]) + data[place:]


def _other(random: Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    other = random.choice(seeds)
    begin = _place(random, other)
    place = _place(random, data)
    return data[:place] + other[begin : begin + random.randint(1, 2000)] + data[place:]


CHANGES = (_flip, _flip, _cut, _gone, _twice, _word, _word, _value, _value, _deep, _other)
