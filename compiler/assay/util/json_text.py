"""Parse JSON documents that people write; write plain data as stable JSON text.

The C encoder of the standard library writes on one line only, so `dump_indented` adds the line ends itself.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
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
