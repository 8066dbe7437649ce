"""Parse JSON documents that people write; write plain data as stable JSON text.

The C encoder of the standard library writes on one line only, so `dump_indented` adds the line ends itself.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

_HALF = re.compile(r"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|[c-fC-F][0-9a-fA-F]{2})")


class AmbiguousObject(dict[str, Any]):
    """An object with duplicate keys: the first of each counts.  `conflicting_keys` are keys with different values."""

    def __init__(self, pairs: Sequence[tuple[str, Any]]) -> None:
        super().__init__(reversed(pairs))
        self.conflicting_keys = frozenset(key for key, value in pairs if self[key] != value)


def build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object (`object_pairs_hook` of a JSON parser); the first of duplicate keys counts."""
    members = dict(pairs)
    return members if len(members) == len(pairs) else AmbiguousObject(pairs)


def has_conflicting_key(document: object, path: Sequence[str]) -> bool:
    """Return whether a key on a path of a document has duplicates with different values."""
    for key in path:
        if isinstance(document, AmbiguousObject) and key in document.conflicting_keys:
            return True
        document = document.get(key) if isinstance(document, dict) else None
    return False


def parse_json(text: str, **options: Any) -> Any:
    """Parse a document; `options` as in `json.loads`.  The first of duplicate keys counts.

    Raises json.JSONDecodeError, also for half of a surrogate pair, which JSON may write but text cannot hold;
    ValueError for numbers that are too large, and RecursionError for documents that are nested too deeply.
    """
    try:
        document = json.loads(text, object_pairs_hook=build_object, **options)
    except ArithmeticError:
        raise ValueError("it has a number that is too large") from None
    half = _HALF.search(text)
    if half and not _has_valid_text(document):
        raise json.JSONDecodeError("half of a surrogate pair, which is not a character", text, half.start())
    return document


def _has_valid_text(document: Any) -> bool:
    try:
        json.dumps(document, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return False
    return True


def locate_value(text: str, path: Sequence[str | int]) -> tuple[int, int]:
    """Return line and column (from 1) of a value of a valid document, by the keys and indexes that lead to it.

    The place of a value that does not exist is that of the innermost one that does.
    """
    offset = _skip_space(text, 0)
    for step in path:
        inner = next((start for key, start in _iter_members(text, offset) if key == step), None)
        if inner is None:
            break
        offset = inner
    line_start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, offset - line_start + 1


def _iter_members(text: str, offset: int) -> Iterator[tuple[str | int, int]]:
    """Yield the keys of an object or the indexes of a list at an offset, each with the offset of its value."""
    decoder = json.JSONDecoder()
    is_object = text[offset] == "{"
    position = _skip_space(text, offset + 1)
    for index in itertools.count():
        if text[offset] not in "{[" or text[position] in "}]":
            return
        key: str | int = index
        if is_object:
            key, position = decoder.raw_decode(text, position)
            position = _skip_space(text, _skip_space(text, position) + 1)
        yield key, position
        _, position = decoder.raw_decode(text, position)
        position = _skip_space(text, position)
        if text[position] == ",":
            position = _skip_space(text, position + 1)


def _skip_space(text: str, position: int) -> int:
    return position + len(text[position:]) - len(text[position:].lstrip(" \t\r\n"))


_encode_text = json.encoder.encode_basestring  # in C, if the Python has it


def dump_indented(value: Any, *, allow_nan: bool = True, default: Callable[[Any], Any] | None = None) -> str:
    """Return `json.dumps(value, ensure_ascii=False, indent=1, allow_nan=allow_nan, default=default)`, faster.

    Raises the same errors, but RecursionError for circular data.
    """

    def encode_scalar(item: Any, line: str) -> str:
        """Encode a value without members; a value that JSON has no form for is passed to `default`."""
        if type(item) is int or (type(item) is float and math.isfinite(item)):
            return repr(item)
        if item is None or isinstance(item, (bool, int, float)) or default is None:
            return json.dumps(item, ensure_ascii=False, allow_nan=allow_nan)
        return encode(default(item), line)

    def encode(item: Any, line: str) -> str:
        """Encode a value; `line` is the line end and indent of its parent."""
        if isinstance(item, str):
            return _encode_text(item)
        inner = f"{line} "
        if isinstance(item, dict):
            members = [f"{_encode_key(key)}: {encode(part, inner)}" for key, part in item.items()]
            return f"{{{inner}{f',{inner}'.join(members)}{line}}}" if members else "{}"
        if isinstance(item, (list, tuple)):
            items = [
                repr(part) if type(part) is float and math.isfinite(part) else encode(part, inner) for part in item
            ]
            return f"[{inner}{f',{inner}'.join(items)}{line}]" if items else "[]"
        return encode_scalar(item, line)

    return encode(value, "\n")


def _encode_key(key: Any) -> str:
    """Encode the name of a member; numbers and booleans become text."""
    if isinstance(key, str):
        return _encode_text(key)
    (text,) = json.loads(json.dumps({key: 0}))
    return _encode_text(text)
