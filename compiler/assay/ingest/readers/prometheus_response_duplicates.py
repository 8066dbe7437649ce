"""Keys that stand twice in a saved answer: of two lists of samples, or of two values of a label, one would be lost."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from assay.util.json_document import Ambiguous, object_of, told_twice

_ESCAPED = re.compile(rb'\\u[0-9a-fA-F]{4}[^"]*"\s*:')  # in a key, most likely
OF_ALL = (("data",), ("data", "result"))
OF_SERIES = ("metric", "values")


def find_duplicate_keys(text: bytes, series: int, before: int = 0) -> str:
    """What stands twice in the text of an answer with so many series, `before` others being read; empty: nothing.

    Within texts quotes are escaped, so as long as each key stands as often as there are series, nothing does.
    """
    number = {"data": 1, "result": 1} | dict.fromkeys(OF_SERIES, series)
    if all(text.count(f'"{key}"'.encode()) <= most for key, most in number.items()) and not _ESCAPED.search(text):
        return ""
    return next(iterate_duplicates(text, before), "")


def label_twice(text: bytes, place: int) -> bool:
    """Whether a label of the series at a place, from 1, stands twice."""
    found = _series(_document(text))
    return place <= len(found) and isinstance(found[place - 1].get("metric"), Ambiguous)


def iterate_duplicates(text: bytes, before: int) -> Iterator[str]:
    document = _document(text)
    yield from (f"`{'.'.join(path)}` with two values" for path in OF_ALL if told_twice(document, path))
    for place, item in enumerate(_series(document), before + 1):
        yield from (f"`{key}` with two values in series {place}" for key in OF_SERIES if told_twice(item, (key,)))


def _document(text: bytes) -> object:
    """What the engine has read; numbers are texts."""
    return json.loads(text, object_pairs_hook=object_of, parse_float=str, parse_int=str)


def _series(document: object) -> list[dict[str, object]]:
    for key in ("data", "result"):
        document = document.get(key) if isinstance(document, dict) else None
    return [item if isinstance(item, dict) else {} for item in document] if isinstance(document, list) else []
