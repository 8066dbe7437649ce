"""Single changes as readers are told of them."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from typing import Any

from assay.diff.tree import Change
from assay.explain.appearances import Appearance


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
