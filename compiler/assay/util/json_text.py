"""JSON in and out: documents that people write, and stable text of plain data.

The encoder of the standard library that is written in C writes on one line only.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

_HALF = re.compile(r"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|[c-fC-F][0-9a-fA-F]{2})")


class Ambiguous(dict[str, Any]):
    """An object in which keys stand more than once: the first of each counts.  `twice` are those with other values."""

    def __init__(self, pairs: Sequence[tuple[str, Any]]) -> None:
        super().__init__(reversed(pairs))
        self.twice = frozenset(key for key, value in pairs if self[key] != value)


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, as `object_pairs_hook` of a reader of JSON: of a key that stands in it twice the first counts."""
    found = dict(pairs)
    return found if len(found) == len(pairs) else Ambiguous(pairs)


def told_twice(document: object, path: Sequence[str]) -> bool:
    """Whether a key on a path of a document stands there twice, with different values."""
    for key in path:
        if isinstance(document, Ambiguous) and key in document.twice:
            return True
        document = document.get(key) if isinstance(document, dict) else None
    return False


def parsed(text: str, **how: Any) -> Any:
    """What a document says; `how` is as of `json.loads`.  Of a key that stands twice the first counts.

    Raises json.JSONDecodeError, also for half of a surrogate pair, which JSON may write and no text may hold;
    ValueError and RecursionError for numbers beyond what can be meant and documents that nest too deep.
    """
    try:
        found = json.loads(text, object_pairs_hook=object_of, **how)
    except ArithmeticError:
        raise ValueError("it has a number beyond all numbers") from None
    half = _HALF.search(text)
    if half and not _is_text(found):
        raise json.JSONDecodeError("half of a surrogate pair, which is no character", text, half.start())
    return found


def _is_text(found: Any) -> bool:
    try:
        json.dumps(found, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return False
    return True


_text = json.encoder.encode_basestring  # the one in C, where there is one


def indented(value: Any, *, allow_nan: bool = True, default: Callable[[Any], Any] | None = None) -> str:
    """What `json.dumps(value, ensure_ascii=False, indent=1, allow_nan=allow_nan, default=default)` gives.

    Raises its errors, but that of circles, which is a RecursionError.
    """

    def other(item: Any, line: str) -> str:
        """What has no members, and what JSON has no form for: that becomes `default`."""
        if type(item) is int or (type(item) is float and math.isfinite(item)):
            return repr(item)
        if item is None or isinstance(item, (bool, int, float)) or default is None:
            return json.dumps(item, ensure_ascii=False, allow_nan=allow_nan)
        return written(default(item), line)

    def written(item: Any, line: str) -> str:
        """A value; `line` is the line end and the indent of what it is in."""
        if isinstance(item, str):
            return _text(item)
        inner = f"{line} "
        if isinstance(item, dict):
            members = [f"{_key(key)}: {written(part, inner)}" for key, part in item.items()]
            return f"{{{inner}{f',{inner}'.join(members)}{line}}}" if members else "{}"
        if isinstance(item, (list, tuple)):
            parts = [
                repr(part) if type(part) is float and math.isfinite(part) else written(part, inner) for part in item
            ]
            return f"[{inner}{f',{inner}'.join(parts)}{line}]" if parts else "[]"
        return other(item, line)

    return written(value, "\n")


def _key(key: Any) -> str:
    """The name of a member; numbers and truths become texts."""
    if isinstance(key, str):
        return _text(key)
    (text,) = json.loads(json.dumps({key: 0}))
    return _text(text)
