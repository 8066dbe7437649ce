"""Where the records of a JSON document begin, and how they are written there."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

_BLANK = re.compile(r"[ \t\n\r]*")
_FOLD = re.compile(r"[ \t\r]*\n[ \t\n\r]*")  # never within a text, since JSON forbids line feeds there
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)


@dataclass(frozen=True, slots=True)
class RecordText:
    """A record as its document writes it, in one line: the line where it begins, 0 where one line has several."""

    line: int
    text: str


def record_offsets(content: bytes, path: Sequence[str]) -> list[int]:
    """The place of the first byte of each member of the list that a document is, or that stands at a path in it.

    The document is one that was read without an error; places count from 0.
    """
    text = content.decode("utf-8-sig")
    begin = len(content) - len(text.encode("utf-8"))
    return _in_bytes(text, begin, [start for start, _ in members(text, list_of(text, path))])


def written_records(content: bytes, path: Sequence[str], numbers: Collection[int]) -> dict[int, RecordText]:
    """Some members of such a list by their numbers, which count from 1."""
    text = content.decode("utf-8-sig")
    found = members(text, list_of(text, path))
    lines = _lines(text, [start for start, _ in found])
    told = len(set(lines)) == len(lines)
    return {
        number: RecordText(lines[number - 1] if told else 0, _FOLD.sub(" ", text[slice(*found[number - 1])]))
        for number in numbers
    }


def list_of(text: str, path: Sequence[str]) -> int:
    """Where the list begins."""
    place = _after_blanks(text, 0)
    for key in path if text[place] == "{" else ():
        place = value_of(text, place, key)
    return place


def _lines(text: str, places: Sequence[int]) -> list[int]:
    """The lines that places are in, counted from 1."""
    found, line, last = [], 1, 0
    for place in places:
        line += text.count("\n", last, place)
        found.append(line)
        last = place
    return found


def _after_blanks(text: str, place: int) -> int:
    found = _BLANK.match(text, place)
    return found.end() if found else place


def value_of(text: str, place: int, key: str) -> int:
    """Where the value of a key of an object begins; of one that stands twice the first, which is what is read."""
    place = _after_blanks(text, place + 1)
    while text[place] == '"':
        name, end = _DECODER.raw_decode(text, place)
        value = _after_blanks(text, _after_blanks(text, end) + 1)
        if name == key:
            return value
        _, end = _DECODER.raw_decode(text, value)
        place = _after_blanks(text, end)
        if text[place] == ",":
            place = _after_blanks(text, place + 1)
    return place


def members(text: str, place: int) -> list[tuple[int, int]]:
    """Where the members of a list begin and end."""
    found = []
    place = _after_blanks(text, place + 1)
    while text[place] != "]":
        _, end = _DECODER.raw_decode(text, place)
        found.append((place, end))
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
