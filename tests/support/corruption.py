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


def _cut_line(random: Random, line: bytes) -> bytes:
    offset = random.randrange(len(line))
    return line[:offset] if random.random() < 0.5 else line[offset:]


def _flip_bit(random: Random, line: bytes) -> bytes:
    offset = random.randrange(len(line))
    byte = line[offset] ^ (1 << random.randrange(8))
    return line[:offset] + (bytes([byte]) if byte != 0x0A else b"") + line[offset + 1 :]


def _build_insertion(pieces: Sequence[bytes]) -> Callable[[Random, bytes], bytes]:
    def insert_piece(random: Random, line: bytes) -> bytes:
        offset = random.randrange(len(line) + 1)
        return line[:offset] + random.choice(pieces) + line[offset:]

    return insert_piece


def _remove_braces(random: Random, line: bytes) -> bytes:
    offsets = [index for index, byte in enumerate(line) if byte in b"{}[]"]
    removed = set(random.sample(offsets, random.randint(1, min(2, len(offsets))))) if offsets else set()
    return bytes(byte for index, byte in enumerate(line) if index not in removed)


def _collect_objects(value: Any) -> list[dict[str, Any]]:
    objects = [value] if isinstance(value, dict) else []
    children = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return objects + [item for member in children for item in _collect_objects(member)]


class _RawText(str):
    """A text that is inserted into the document without quotes."""

    __slots__ = ()


def _format_json(value: Any) -> str:
    """Write JSON with raw texts; an object may be a list of pairs."""
    if isinstance(value, _RawText):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{_format_json(member)}" for key, member in value.items()) + "}"
    if isinstance(value, tuple):
        return "{" + ",".join(f"{json.dumps(key)}:{_format_json(member)}" for key, member in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_format_json, value)) + "]"
    return json.dumps(value)


def _build_object_change(change: Callable[[Random, dict[str, Any]], None]) -> Callable[[Random, bytes], bytes]:
    """Change one object of a line; leave other lines alone."""

    def change_object(random: Random, line: bytes) -> bytes:
        try:
            record = json.loads(line)
        except ValueError:
            return line
        if objects := [item for item in _collect_objects(record) if item]:
            change(random, random.choice(objects))
        return _format_json(record).encode()

    return change_object


def _replace_value(random: Random, item: dict[str, Any]) -> None:
    item[random.choice(list(item))] = _RawText(random.choice(VALUES))


def _insert_huge_number(random: Random, item: dict[str, Any]) -> None:
    number = random.choice([2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**30])
    item[random.choice(list(item))] = _RawText(str(number))


def _remove_key(random: Random, item: dict[str, Any]) -> None:
    del item[random.choice(list(item))]


def _repeat_key(random: Random, item: dict[str, Any]) -> None:
    key = random.choice(list(item))
    quoted_key, other = json.dumps(key), random.choice(VALUES)
    first, last = (other, _format_json(item[key])) if random.random() < 0.5 else (_format_json(item[key]), other)
    item[key] = _RawText(f"{first},{quoted_key}:{last}")


def _replace_time(random: Random, line: bytes) -> bytes:
    try:
        record = json.loads(line)
    except ValueError:
        return line
    record["at"] = random.choice(TIMES)
    return _format_json(record).encode()


KINDS: dict[str, Callable[[Random, bytes], bytes]] = {
    "cut": _cut_line,
    "a bit flipped": _flip_bit,
    "NUL": _build_insertion([b"\0"]),
    "NULs ahead": lambda random, line: b"\0" * random.randint(1, 300) + line,
    "no UTF-8": _build_insertion(INVALID),
    "carriage returns": _build_insertion([b"\r", b"\r\r"]),
    "order marks": _build_insertion([b"\xef\xbb\xbf"]),
    "braces gone": _remove_braces,
    "another value": _build_object_change(_replace_value),
    "beyond 64 bits": _build_object_change(_insert_huge_number),
    "a key gone": _build_object_change(_remove_key),
    "a key twice": _build_object_change(_repeat_key),
    "another time": _replace_time,
    "twice": lambda _, line: line + b"\n" + line,
    "both ends": lambda _, line: line + b"\r",
}
