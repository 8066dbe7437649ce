"""Where the records of a JSON document begin."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

_BLANK = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)


def record_offsets(content: bytes, path: Sequence[str]) -> list[int]:
    """The place of the first byte of each member of the list that a document is, or that stands at a path in it.

    The document is one that was read without an error; places count from 0.
    """
    text = content.decode("utf-8-sig")
    begin = len(content) - len(text.encode("utf-8"))
    place = _after_blanks(text, 0)
    for key in path if text[place] == "{" else ():
        place = _value_of(text, place, key)
    return _in_bytes(text, begin, _members(text, place))


def _after_blanks(text: str, place: int) -> int:
    found = _BLANK.match(text, place)
    return found.end() if found else place


def _value_of(text: str, place: int, key: str) -> int:
    """Where the value of a key of an object begins; of one that stands twice the last, which is what is read."""
    found = place
    place = _after_blanks(text, place + 1)
    while text[place] == '"':
        name, end = _DECODER.raw_decode(text, place)
        value = _after_blanks(text, _after_blanks(text, end) + 1)
        if name == key:
            found = value
        _, end = _DECODER.raw_decode(text, value)
        place = _after_blanks(text, _after_blanks(text, end) + 1)
    return found


def _members(text: str, place: int) -> list[int]:
    """Where the members of a list begin."""
    found = []
    place = _after_blanks(text, place + 1)
    while text[place] != "]":
        found.append(place)
        _, end = _DECODER.raw_decode(text, place)
        place = _after_blanks(text, end)
        if text[place] == ",":
            place = _after_blanks(text, place + 1)
    return found


def _in_bytes(text: str, begin: int, places: Sequence[int]) -> list[int]:
    """Places of characters as places of bytes."""
    found, last = [], 0
    for place in places:
        begin += len(text[last:place].encode("utf-8"))
        found.append(begin)
        last = place
    return found
