"""Changes between two pieces of plain data, and how they are reported."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.explain.facts import Appearance

#: what tells the members of a list apart, tried in this order
KEYS = ("id", "name", "title", "metric")


@dataclass(frozen=True, slots=True)
class Change:
    """A place, outermost word first, and its values; None where there is none."""

    path: tuple[str, ...]
    before: Any
    after: Any


def changes(before: Any, after: Any, path: tuple[str, ...] = ()) -> Iterator[Change]:
    """The innermost places that differ; members of lists are those of the same name, where they have names."""
    if before == after:
        return
    before, after = _listed(before, after), _listed(after, before)
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            yield from changes(before.get(key), after.get(key), (*path, str(key)))
    elif isinstance(before, list) and isinstance(after, list) and _named(before) and _named(after):
        old, new = _by_name(before), _by_name(after)
        if list(old) != list(new) and sorted(old) == sorted(new):
            yield Change((*path, "order"), list(old), list(new))
        for key in dict.fromkeys((*old, *new)):
            yield from changes(old.get(key), new.get(key), (*path, key))
    elif _of_words(before) and _of_words(after):
        yield from _members(before, after, path)
    elif _alike(before, after):
        for number, (old, new) in enumerate(zip(before, after, strict=True), start=1):
            yield from changes(old, new, (*path, f"#{number}"))
    else:
        yield Change(path, before, after)


def _listed(value: Any, other: Any) -> Any:
    """A list where there is none, beside a list of records with names: all of its members are new, or gone."""
    return [] if value is None and isinstance(other, list) and other and _named(other) else value


def _of_words(value: Any) -> bool:
    """Whether something is a list of words, none twice."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value) and len(set(value)) == len(value)


def _members(before: Sequence[str], after: Sequence[str], path: tuple[str, ...]) -> Iterator[Change]:
    """The words that are gone and those that are new; where there are none, the order that differs."""
    gone = [item for item in before if item not in after]
    new = [item for item in after if item not in before]
    if gone or new:
        yield Change(path, ", ".join(gone) or None, ", ".join(new) or None)
    else:
        yield Change((*path, "order"), ", ".join(before), ", ".join(after))


def _alike(before: Any, after: Any) -> bool:
    """Whether both are lists of as many records, so that the members stand for each other."""
    if not (isinstance(before, list) and isinstance(after, list) and len(before) == len(after)):
        return False
    return all(isinstance(item, Mapping) for item in (*before, *after))


def _named(items: Sequence[Any]) -> bool:
    """Whether the members of a list are records that names tell apart."""
    names = [_name(item) for item in items]
    return all(names) and len(set(names)) == len(names)


def _by_name(items: Sequence[Any]) -> dict[str, Any]:
    return {_name(item): item for item in items}


def _name(item: Any) -> str:
    if not isinstance(item, Mapping):
        return ""
    if isinstance(item.get("column"), Mapping):  # what is worked out is called as the column that it fills
        return _name(item["column"])
    return next((str(item[key]) for key in KEYS if item.get(key)), "")


@dataclass(frozen=True, slots=True)
class ReportedChange:
    """A change: its aspect (unit, anchor, event, SQL ...), its place in words, what stood there and what stands there
    (empty: nothing); `lines` instead, for texts of many lines, as a unified difference; `touches` are the places that
    print what it shapes."""

    aspect: str
    place: str
    before: str = ""
    after: str = ""
    lines: tuple[str, ...] = ()
    touches: tuple[Appearance, ...] = ()


def describe_change(aspect: str, item: Change, skip: int) -> ReportedChange:
    """A change in words, its place without the first `skip` members."""
    place = " / ".join(item.path[skip:])
    if not place:
        return ReportedChange(aspect, "all of it", *(("", "new") if item.before is None else ("there", "")))
    before, after = _text(item.before), _text(item.after)
    if "\n" in before and "\n" in after:
        return ReportedChange(aspect, place, lines=unified(before, after))
    return ReportedChange(aspect, place, before, after)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def unified(before: str, after: str) -> tuple[str, ...]:
    """The lines that differ, as a unified difference."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2)
    return tuple(line for line in lines if not line.startswith(("---", "+++")))
