"""JSON documents that people hand in."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
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
