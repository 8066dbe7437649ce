"""Locate the records in the text of a JSON document."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

MEMBERS = "*"  # the last key of a path to an object whose members are the records
EACH = "[]"  # a key of such a path: what follows is in each item of a list, or in each of the objects of a text
_BLANK = re.compile(r"[ \t\n\r]*")
_FOLD = re.compile(r"[ \t\r]*\n[ \t\n\r]*")  # never within a string, where JSON forbids line feeds
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)


@dataclass(frozen=True, slots=True)
class RecordText:
    """The text of a record on one line, and the line at which it begins; 0 if several records share a line."""

    line: int
    text: str


def find_record_offsets(content: bytes, path: Sequence[str]) -> list[int]:
    """Return the byte offset of each item of a list: that at a path of a document, or the document itself.

    Without a path, it may also be each of the objects of a text, with `MEMBERS` at the end of the path the value of
    each member of an object, and with `EACH` in it the items of several lists. Expects a text that was parsed without
    an error.
    """
    text = content.decode("utf-8-sig")
    begin = len(content) - len(text.encode("utf-8"))
    if has_members(path):
        places = [value for _, value in _iter_members(text, find_list_start(text, path[:-1]))]
    else:
        places = [start for start, _ in _find_record_spans(text, path)]
    return _convert_to_byte_offsets(text, begin, places)


def read_record_texts(content: bytes, path: Sequence[str], numbers: Collection[int]) -> dict[int, RecordText]:
    """Return the texts of some items of such a list (see `find_record_offsets`) by their numbers, from 1."""
    text = content.decode("utf-8-sig")
    spans = _find_record_spans(text, path)
    lines = _compute_line_numbers(text, [start for start, _ in spans])
    is_one_per_line = len(set(lines)) == len(lines)
    return {
        number: RecordText(lines[number - 1] if is_one_per_line else 0, _FOLD.sub(" ", text[slice(*spans[number - 1])]))
        for number in numbers
    }


def has_documents(text: str, path: Sequence[str]) -> bool:
    """Return whether the records of a text are objects one after another, since no path leads to a list in it."""
    return not path and text.startswith("{", skip_blanks(text, 0))


def has_members(path: Sequence[str]) -> bool:
    """Return whether records are the members of an object, since the path of a body ends in `*`."""
    return path[-1:] == (MEMBERS,)


def _find_record_spans(text: str, path: Sequence[str]) -> list[tuple[int, int]]:
    """Return where the records of a text begin and end; a member of an object begins with its key."""
    if has_members(path):
        members = _iter_members(text, find_list_start(text, path[:-1]))
        return [(key, _DECODER.raw_decode(text, value)[1]) for key, value in members]
    if EACH in path:
        return list(_iter_nested_spans(text, skip_blanks(text, 0), path))
    if not has_documents(text, path):
        return find_item_spans(text, find_list_start(text, path))
    return _find_document_spans(text)


def _iter_nested_spans(text: str, place: int, path: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where the items of the lists at a path begin and end, from the value at a place."""
    for index, key in enumerate(path):
        if key == EACH:
            is_text = not index and text[place] == "{"
            for start, _ in _find_document_spans(text) if is_text else _find_items(text, place):
                yield from _iter_nested_spans(text, start, path[index + 1 :])
            return
        start = find_value_start(text, place, key) if text[place] == "{" else place
        if start == place:
            return
        place = start
    yield from _find_items(text, place)


def _find_items(text: str, place: int) -> list[tuple[int, int]]:
    """Return where the items of a list begin and end; nothing for another value."""
    return find_item_spans(text, place) if text[place] == "[" else []


def _find_document_spans(text: str) -> list[tuple[int, int]]:
    """Return where the values of a text begin and end, one after another."""
    spans, place = [], skip_blanks(text, 0)
    while place < len(text):
        _, end = _DECODER.raw_decode(text, place)
        spans.append((place, end))
        place = skip_blanks(text, end)
    return spans


def find_list_start(text: str, path: Sequence[str]) -> int:
    """Return where the list begins."""
    place = skip_blanks(text, 0)
    for key in path if text[place] == "{" else ():
        place = find_value_start(text, place, key)
    return place


def _compute_line_numbers(text: str, places: Sequence[int]) -> list[int]:
    """Return the line numbers of ascending places, from 1."""
    numbers, line, last = [], 1, 0
    for place in places:
        line += text.count("\n", last, place)
        numbers.append(line)
        last = place
    return numbers


def skip_blanks(text: str, place: int) -> int:
    """Return where the next value begins, or the text ends."""
    match = _BLANK.match(text, place)
    return match.end() if match else place


def find_value_start(text: str, place: int, key: str) -> int:
    """Return where the value of a key of an object begins, the first value of a duplicate key."""
    for name, value in _iter_members(text, place):
        if _DECODER.raw_decode(text, name)[0] == key:
            return value
    return place


def _iter_members(text: str, place: int) -> Iterator[tuple[int, int]]:
    """Yield where the key and the value of each member of an object begin."""
    place = skip_blanks(text, place + 1)
    while text[place] == '"':
        _, end = _DECODER.raw_decode(text, place)
        value = skip_blanks(text, skip_blanks(text, end) + 1)
        yield place, value
        _, end = _DECODER.raw_decode(text, value)
        place = skip_blanks(text, end)
        if text[place] == ",":
            place = skip_blanks(text, place + 1)


def find_item_spans(text: str, place: int) -> list[tuple[int, int]]:
    """Return where the items of a list begin and end."""
    spans = []
    place = skip_blanks(text, place + 1)
    while text[place] != "]":
        _, end = _DECODER.raw_decode(text, place)
        spans.append((place, end))
        place = skip_blanks(text, end)
        if text[place] == ",":
            place = skip_blanks(text, place + 1)
    return spans


def _convert_to_byte_offsets(text: str, begin: int, places: Sequence[int]) -> list[int]:
    """Convert offsets in characters to offsets in bytes."""
    offsets, last = [], 0
    for place in places:
        begin += len(text[last:place].encode("utf-8"))
        offsets.append(begin)
        last = place
    return offsets
