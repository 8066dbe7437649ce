"""Find changes between two values of plain data, and describe them."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.explain.facts import Appearance

#: keys that identify the members of a list, tried in this order
KEYS = ("id", "name", "title", "metric")


@dataclass(frozen=True, slots=True)
class Change:
    """A path, outermost key first, and its values before and after; None where it does not exist."""

    path: tuple[str, ...]
    before: Any
    after: Any


def find_changes(before: Any, after: Any, path: tuple[str, ...] = ()) -> Iterator[Change]:
    """Yield the innermost paths that differ; members of lists are matched by name if they have names."""
    if before == after:
        return
    before, after = _convert_to_list(before, after), _convert_to_list(after, before)
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            yield from find_changes(before.get(key), after.get(key), (*path, str(key)))
    elif isinstance(before, list) and isinstance(after, list) and _has_names(before) and _has_names(after):
        old, new = _index_by_name(before), _index_by_name(after)
        if list(old) != list(new) and sorted(old) == sorted(new):
            yield Change((*path, "order"), list(old), list(new))
        for key in dict.fromkeys((*old, *new)):
            yield from find_changes(old.get(key), new.get(key), (*path, key))
    elif _is_word_set(before) and _is_word_set(after):
        yield from _compare_words(before, after, path)
    elif _can_pair(before, after):
        for number, (old, new) in enumerate(zip(before, after, strict=True), start=1):
            yield from find_changes(old, new, (*path, f"#{number}"))
    else:
        yield Change(path, before, after)


def _convert_to_list(value: Any, other: Any) -> Any:
    """Replace a missing list by an empty one if the other side is a list of named records: all are new or gone."""
    return [] if value is None and isinstance(other, list) and other and _has_names(other) else value


def _is_word_set(value: Any) -> bool:
    """Return whether a value is a list of words without duplicates."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value) and len(set(value)) == len(value)


def _compare_words(before: Sequence[str], after: Sequence[str], path: tuple[str, ...]) -> Iterator[Change]:
    """Yield the words that are gone and new, or the changed order if the words are the same."""
    gone = [item for item in before if item not in after]
    new = [item for item in after if item not in before]
    if gone or new:
        yield Change(path, ", ".join(gone) or None, ", ".join(new) or None)
    else:
        yield Change((*path, "order"), ", ".join(before), ", ".join(after))


def _can_pair(before: Any, after: Any) -> bool:
    """Return whether both are lists of records of the same length, so that members can be paired by position."""
    if not (isinstance(before, list) and isinstance(after, list) and len(before) == len(after)):
        return False
    return all(isinstance(item, Mapping) for item in (*before, *after))


def _has_names(items: Sequence[Any]) -> bool:
    """Return whether the members of a list are records with unique names."""
    names = [_get_name(item) for item in items]
    return all(names) and len(set(names)) == len(names)


def _index_by_name(items: Sequence[Any]) -> dict[str, Any]:
    return {_get_name(item): next(iter(item.values())) if _is_alternative(item) else item for item in items}


def _is_alternative(item: Mapping[str, Any]) -> bool:
    """Return whether a record is an alternative of a union: its name, which has a capital, and its value."""
    return len(item) == 1 and next(iter(item))[:1].isupper()


def _get_name(item: Any) -> str:
    if not isinstance(item, Mapping):
        return ""
    if _is_alternative(item):
        ((kind, value),) = item.items()
        return f"{kind} {value if isinstance(value, str) else _get_name(value)}".rstrip()
    if isinstance(item.get("column"), Mapping):  # a computed column is named by the column that it fills
        return _get_name(item["column"])
    return next((str(item[key]) for key in KEYS if item.get(key)), "")


@dataclass(frozen=True, slots=True)
class ReportedChange:
    """A change for the output: its aspect (unit, anchor, event, SQL ...), its place in words, values before and after.

    An empty value does not exist. For texts of many lines, `lines` holds a unified diff instead. `touches` are the
    places that print values which the change affects.
    """

    aspect: str
    place: str
    before: str = ""
    after: str = ""
    lines: tuple[str, ...] = ()
    touches: tuple[Appearance, ...] = ()


def describe_change(aspect: str, item: Change, skip: int) -> ReportedChange:
    """Describe a change; its place omits the first `skip` members of the path."""
    place = " / ".join(item.path[skip:])
    if not place:
        return ReportedChange(aspect, "all of it", *(("", "new") if item.before is None else ("there", "")))
    before, after = _format_value(item.before), _format_value(item.after)
    if "\n" in before and "\n" in after:
        return ReportedChange(aspect, place, lines=format_unified_diff(before, after))
    return ReportedChange(aspect, place, before, after)


def _format_value(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def format_unified_diff(before: str, after: str) -> tuple[str, ...]:
    """Return the lines that differ as a unified diff."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2)
    return tuple(line for line in lines if not line.startswith(("---", "+++")))
