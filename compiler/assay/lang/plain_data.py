"""Convert the objects of a package to plain data, for normal forms and hashes."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, cast

from assay.lang.model.expression import Expression, format_expression
from assay.lang.model.package import Metric
from assay.lang.model.parts import Block, Part

_PROSE = ("doc", "message", "hint", "better", "width", "examples", "quantity", "exact", "breaks", "steps")


#: limits on inputs: a run that exceeds them is rejected, and the numbers of other runs do not depend on them
_BOUNDS = ("positive",)


@dataclass(frozen=True, slots=True)
class SerializationMemo:
    """Plain data of objects that were converted before.

    `objects` are by identity (and kept alive, so that no new object gets the same one), `tables` by name and selected
    members, `texts` (JSON) by identity of the plain data.
    """

    objects: dict[int, tuple[object, Any]] = field(default_factory=dict)
    tables: dict[tuple[str, frozenset[str]], Any] = field(default_factory=dict)
    texts: dict[int, tuple[object, str]] = field(default_factory=dict)

    def serialize(self, plain: Any) -> str:
        """Return the JSON text of plain data; each part is serialized once."""
        if isinstance(plain, list):
            return f"[{','.join(map(self.serialize, plain))}]"
        if id(plain) not in self.texts:
            self.texts[id(plain)] = plain, dump_compact(plain)
        return self.texts[id(plain)][1]

    def get_table(self, name: str, members: set[str], compute: Callable[[], Any]) -> Any:
        """Return the plain data of some members of a table; it is computed once."""
        key = name, frozenset(members)
        if key not in self.tables:
            self.tables[key] = compute()
        return self.tables[key]


def to_plain_data(value: Any, *, prose: bool = True, memo: SerializationMemo | None = None) -> Any:
    """Convert a dataclass to plain data: expressions as text, empty values left out.

    Without `prose`, the fields that do not affect numbers are left out too, such as `doc`.  `memo` caches results.
    """
    if _is_object(cast(Hashable, type(value))):
        if memo is None:
            return _convert_object(value, prose, None)
        if id(value) not in memo.objects:
            memo.objects[id(value)] = (value, _convert_object(value, prose, memo))
        return memo.objects[id(value)][1]
    if isinstance(value, (list, tuple)):
        return [to_plain_data(item, prose=prose, memo=memo) for item in value]
    return value


@functools.cache
def _is_object(kind: Any) -> bool:
    """Return whether values of a class are converted field by field."""
    return dataclasses.is_dataclass(kind)


def _convert_object(value: Any, prose: bool, memo: SerializationMemo | None) -> Any:
    if isinstance(value, Expression):
        return format_expression(value)
    items = {}
    for name in _list_field_names(cast(Hashable, type(value)), prose):  # mypy does not see that a class is hashable
        item = to_plain_data(getattr(value, name), prose=prose, memo=memo)
        if is_non_default(name, item):
            items[name] = item
    if isinstance(value, Part):
        tags = (type(block).__name__ for block in value.blocks)
        if value.blocks:
            items["blocks"] = [{tag: item} for tag, item in zip(tags, items["blocks"], strict=True)]
    return next(iter(items.values()), "") if isinstance(value, Block) and value.is_bare else items


def is_non_default(name: str, value: Any) -> bool:
    """Return whether a field has a value that is written.  A `default` is written even if it is empty."""
    return value is not None if name == "default" else value not in ("", None, [], {}, False)


@functools.cache
def _list_field_names(kind: Any, prose: bool) -> tuple[str, ...]:
    """Return the fields of a class that are written; without `prose`, those that affect numbers."""
    skipped = () if prose else (*_PROSE, *_BOUNDS, *(("name", "margin") if issubclass(kind, Metric) else ()))
    return tuple(item.name for item in dataclasses.fields(kind) if item.name not in skipped)


def dump_compact(plain: Any) -> str:
    """Return plain data as canonical JSON."""
    return json.dumps(plain, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
