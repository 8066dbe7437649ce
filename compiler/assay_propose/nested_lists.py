"""Find the lists of objects that are in the items of other lists, such as the spans of each trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from assay.ingest.readers.json_record_positions import EACH
from assay_propose.model import KeyPath

_MAX_KEYS = 8  # of a path to a list


def list_nested(document: object) -> list[tuple[KeyPath, list[dict[str, Any]]]]:
    """Return the objects in lists of lists by the path of these, the most first."""
    lists: dict[KeyPath, list[dict[str, Any]]] = defaultdict(list)
    for path, items in _find_nested(document, ()):
        lists[path] += items
    return sorted(lists.items(), key=lambda item: -len(item[1]))


def _find_nested(value: object, path: KeyPath) -> Iterator[tuple[KeyPath, list[dict[str, Any]]]]:
    if isinstance(value, list):
        if EACH in path and value and all(isinstance(item, dict) for item in value):
            yield path, value
        for item in value if len(path) < _MAX_KEYS else ():
            yield from _find_nested(item, (*path, EACH))
    elif isinstance(value, dict) and len(path) < _MAX_KEYS:
        for key, member in value.items():
            if isinstance(member, dict | list):
                yield from _find_nested(member, (*path, key))
