"""Convert the texts of a document, and list the members of its parts."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable
from typing import Any, cast

from assay.util.escape import normalize_text

#: types of most members of a document, since charts have thousands of points: they need no conversion and hold no text
_TEXTLESS_TYPES = frozenset((int, float, bool, type(None)))
PLAIN_TYPES = _TEXTLESS_TYPES | {str}


def normalize_texts(value: Any) -> Any:
    """Return a part of a document with escapes for characters that are invisible or that affect the page."""
    return map_texts(value, normalize_text)


def map_texts(value: Any, convert: Callable[[str], str]) -> Any:
    """Return a part of a document with converted texts; a part without changes is the same object."""
    if isinstance(value, str):
        new = convert(value)
        return value if new == value else new
    if isinstance(value, tuple):
        converted_items = tuple([item if type(item) in _TEXTLESS_TYPES else map_texts(item, convert) for item in value])
        return value if all(new is old for new, old in zip(converted_items, value, strict=True)) else converted_items
    parts = {name: getattr(value, name) for name in list_members(cast(Hashable, type(value)))}
    changed = {name: new for name, old in parts.items() if (new := map_texts(old, convert)) is not old}
    return dataclasses.replace(value, **changed) if changed else value


@functools.cache
def list_members(kind: Any) -> tuple[str, ...]:
    """Return the members of a class of parts, in their order; empty for other classes."""
    return tuple(item.name for item in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else ()
