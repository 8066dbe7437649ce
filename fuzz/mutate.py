"""Mutate bytes at random: single bits, pieces, tokens of the formats, nesting depth."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

TOKENS: tuple[bytes, ...] = (
    b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\", b"\n", b"\r\n", b"\r", b"\t", b"\x00", b"\x1a", b"\xff",
    b"\xc3(", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xf4\x8f\xbf\xbf", b"null", b"true", b"NaN", b"-Infinity",
    b"0", b"-0", b"-1", b"1e400", b"1e-400", b"1E999999999", b"9223372036854775808", b"18446744073709551616",
    b"9" * 5000, b"0.1", b".5", b'""', b'"\\ud800"', b'"\\u0000"', b'"1"', b"{}", b"[]",
    b"0000-01-01T00:00:00Z", b"99999-12-31T23:59:60Z", b"#", b"--", b"(", b")", b"=", b"->", b"\xce\xbb",
    b"./x.dhall", b"env:HOME", b"https://localhost/x", b"\xd9\xa3", b"\xe2\x80\xa8",
)  # fmt: skip
MOST_CHANGES = 6


def mutate(random: Random, seeds: Sequence[bytes]) -> bytes:
    """Choose one of the seeds and change it up to `MOST_CHANGES` times."""
    data = random.choice(seeds)
    for _ in range(random.randint(1, MOST_CHANGES)):
        data = random.choice(CHANGES)(random, data, seeds)
    return data


def _choose_offset(random: Random, data: bytes) -> int:
    return random.randrange(len(data) + 1)


def _flip_bit(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    offset = _choose_offset(random, data)
    return (
        data[:offset] + bytes([data[offset] ^ (1 << random.randrange(8))]) + data[offset + 1 :]
        if data[offset:]
        else data
    )


def _cut(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    offset = _choose_offset(random, data)
    return data[:offset] if random.random() < 0.5 else data[offset:]


def _remove_piece(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    offset = _choose_offset(random, data)
    return data[:offset] + data[offset + random.randint(1, 40) :]


def _repeat_piece(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    offset = _choose_offset(random, data)
    piece = data[offset : offset + random.randint(1, 200)]
    return data[:offset] + piece * random.randint(1, 4) + data[offset:]


def _overwrite_with_token(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    offset = _choose_offset(random, data)
    return data[:offset] + random.choice(TOKENS) + data[offset + random.choice([0, 0, 1, 4]) :]


def _replace_value(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Replace the value after a colon by a token."""
    colons = [index for index, byte in enumerate(data[:20_000]) if byte == ord(":")]
    if not colons:
        return data
    offset = random.choice(colons) + 1
    ends = [end for mark in b",}\n" if (end := data.find(bytes([mark]), offset)) >= 0]
    return data[:offset] + random.choice(TOKENS) + data[min(ends, default=offset) :]


def _nest(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    offset, depth = _choose_offset(random, data), random.choice([10, 300, 600, 1000, 100_000])
    opening, closing = random.choice([(b"[", b"]"), (b'{"a":', b"}"), (b"(", b")")])
    return data[:offset] + opening * depth + closing * random.choice([depth, 0]) + data[offset:]


def _splice_other_seed(random: Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    other = random.choice(seeds)
    begin = _choose_offset(random, other)
    offset = _choose_offset(random, data)
    return data[:offset] + other[begin : begin + random.randint(1, 2000)] + data[offset:]


#: an entry listed twice is chosen twice as often
CHANGES = (
    _flip_bit, _flip_bit, _cut, _remove_piece, _repeat_piece, _overwrite_with_token, _overwrite_with_token,
    _replace_value, _replace_value, _nest, _splice_other_seed,
)  # fmt: skip
