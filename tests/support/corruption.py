"""Corrupt lines of logs in realistic ways."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

VALUES = ('"x"', "1.5", "true", "null", "[]", "{}", '"7"', "7.0", "1e3", "1e15", "-1", "NaN", "18446744073709551616")
TIMES = (
    "0000-01-01T00:00:00Z", "99999-01-01T00:00:00Z", "2026-02-05T23:59:60Z", "2026-02-30T00:00:00Z", "", "soon",
    "2026-02-05T18:52:16", "2026-02-05T18:52:16+01:00", "2026-02-05 18:52:16Z", "2026-02-05T24:00:00Z",
    "1969-12-31T23:59:59.999Z", "2026-02-05T18:52:16.123456789123Z", "2026-02-05T18:52Z", "9999-12-31T23:59:59Z",
)  # fmt: skip
INVALID = (b"\xff", b"\xfe\xff", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\x80")


def _cut(random: Random, line: bytes) -> bytes:
    place = random.randrange(len(line))
    return line[:place] if random.random() < 0.5 else line[place:]


def _flipped(random: Random, line: bytes) -> bytes:
    place = random.randrange(len(line))
    byte = line[place] ^ (1 << random.randrange(8))
    return line[:place] + (bytes([byte]) if byte != 0x0A else b"") + line[place + 1 :]


def _inserted(pieces: Sequence[bytes]) -> Callable[[Random, bytes], bytes]:
    def change(random: Random, line: bytes) -> bytes:
        place = random.randrange(len(line) + 1)
        return line[:place] + random.choice(pieces) + line[place:]

    return change


def _without_braces(random: Random, line: bytes) -> bytes:
    places = [index for index, byte in enumerate(line) if byte in b"{}[]"]
    gone = set(random.sample(places, random.randint(1, min(2, len(places))))) if places else set()
    return bytes(byte for index, byte in enumerate(line) if index not in gone)


def _objects(value: Any) -> list[dict[str, Any]]:
    objects = [value] if isinstance(value, dict) else []
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return objects + [item for member in inner for item in _objects(member)]


class _Raw(str):
    """A text that is part of the document without quotes."""

    __slots__ = ()


def _written(value: Any) -> str:
    """Write JSON with raw texts; an object may be a list of pairs."""
    if isinstance(value, _Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{_written(of)}" for key, of in value.items()) + "}"
    if isinstance(value, tuple):
        return "{" + ",".join(f"{json.dumps(key)}:{_written(of)}" for key, of in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_written, value)) + "]"
    return json.dumps(value)


def _changed(change: Callable[[Random, dict[str, Any]], None]) -> Callable[[Random, bytes], bytes]:
    """Change one object of a line; leave other lines alone."""

    def changed(random: Random, line: bytes) -> bytes:
        try:
            record = json.loads(line)
        except ValueError:
            return line
        if objects := [item for item in _objects(record) if item]:
            change(random, random.choice(objects))
        return _written(record).encode()

    return changed


def _another_value(random: Random, item: dict[str, Any]) -> None:
    item[random.choice(list(item))] = _Raw(random.choice(VALUES))


def _beyond(random: Random, item: dict[str, Any]) -> None:
    number = random.choice([2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**30])
    item[random.choice(list(item))] = _Raw(str(number))


def _without_key(random: Random, item: dict[str, Any]) -> None:
    del item[random.choice(list(item))]


def _key_twice(random: Random, item: dict[str, Any]) -> None:
    key = random.choice(list(item))
    twice, other = json.dumps(key), random.choice(VALUES)
    first, last = (other, _written(item[key])) if random.random() < 0.5 else (_written(item[key]), other)
    item[key] = _Raw(f"{first},{twice}:{last}")


def _another_time(random: Random, line: bytes) -> bytes:
    try:
        record = json.loads(line)
    except ValueError:
        return line
    record["at"] = random.choice(TIMES)
    return _written(record).encode()


KINDS: dict[str, Callable[[Random, bytes], bytes]] = {
    "cut": _cut,
    "a bit flipped": _flipped,
    "NUL": _inserted([b"\0"]),
    "NULs ahead": lambda random, line: b"\0" * random.randint(1, 300) + line,
    "no UTF-8": _inserted(INVALID),
    "carriage returns": _inserted([b"\r", b"\r\r"]),
    "order marks": _inserted([b"\xef\xbb\xbf"]),
    "braces gone": _without_braces,
    "another value": _changed(_another_value),
    "beyond 64 bits": _changed(_beyond),
    "a key gone": _changed(_without_key),
    "a key twice": _changed(_key_twice),
    "another time": _another_time,
    "twice": lambda _, line: line + b"\n" + line,
    "both ends": lambda _, line: line + b"\r",
}
