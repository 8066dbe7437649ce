"""Convert values to plain data: `dict`, `list`, `str`, `int`, `float`, `bool` and None.

* A record is a `dict` with sorted keys. A list of `{ mapKey : Text, mapValue : T }`, the result of `toMap`, is a
  `dict`, too, even if it is empty; of a duplicate key, the last value counts.
* `Some x` is `x`, `None T` is None. Natural and Integer are `int`, exact.
* An alternative of a union is its payload, or its name if it has none. With `tags`, an alternative with a payload is
  `{ name: payload }`.
* Bytes are `bytes`; dates and times are text. Functions and types are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay_dhall.budget import METER, Budget, apply_budget, find_budget_error
from assay_dhall.builtin_functions import show_temporal
from assay_dhall.errors import DhallError, Problem, build_problem, place_error
from assay_dhall.origin import Place, find_origin
from assay_dhall.printer import describe
from assay_dhall.values import (
    MISSING,
    VAlternative,
    Value,
    VInteger,
    VList,
    VNone,
    VRecord,
    VRecordType,
    VSome,
    VTemporal,
)

ENTRY = frozenset(("mapKey", "mapValue"))
_PLAIN = frozenset((str, int, bool, float, bytes))


def to_data(value: Value, *, tags: bool = False, budget: Budget | None = None) -> Any:
    """Return a value as plain data; raise `DhallError` at the origin of a function or type in it."""
    with apply_budget(budget or Budget()):
        return _Converter(value, tags).convert(value, ())


class _Converter:
    def __init__(self, root: Value, tags: bool) -> None:
        self.root = root
        self.tags = tags

    def convert(self, value: Value, path: Place) -> Any:
        """Return a value, at a path in the root, as plain data."""
        kind = type(value)
        if kind in _PLAIN:
            return value
        METER.steps -= 1
        METER.depth -= 1
        if METER.steps < 0 or METER.depth < 0:
            error, node = find_budget_error(), find_origin(self.root, path)
            raise place_error(error, node) if node else error
        convert = _CONVERSIONS.get(kind)
        if convert is None:
            self._refuse(value, path)
        assert convert is not None
        data = convert(self, value, path)
        METER.depth += 1
        return data

    def convert_record(self, value: VRecord, path: Place) -> Any:
        return {name: self.convert(value.fields[name], (*path, name)) for name in sorted(value.fields)}

    def convert_list(self, value: VList, path: Place) -> Any:
        """Return a list; a list of records with `mapKey` and `mapValue` becomes a dictionary."""
        if is_map(value):
            data: dict[str, Any] = {}
            for number, item in enumerate(value.items):
                key = item.fields["mapKey"]
                if type(key) is not str:
                    self._refuse_key(path, number)
                data[key] = self.convert(item.fields["mapValue"], (*path, key))
            return data
        return [self.convert(item, (*path, number)) for number, item in enumerate(value.items)]

    def convert_alternative(self, value: VAlternative, path: Place) -> Any:
        if value.payload is MISSING:
            return value.name
        return (
            {value.name: self.convert(value.payload, (*path, value.name))}
            if self.tags
            else self.convert(value.payload, path)
        )

    def _refuse(self, value: Value, path: Place) -> None:
        location = ".".join(map(str, path))
        message = f"`{location}` is a function or a type" if location else "the value is a function or a type"
        self._raise(path, message, describe(value), "plain data are records, lists, texts, numbers and Bools")

    def _refuse_key(self, path: Place, number: int) -> None:
        self._raise((*path, number, "mapKey"), "the keys of a map must be texts", "", "")

    def _raise(self, path: Place, message: str, actual: str, hint: str) -> None:
        node = find_origin(self.root, path)
        if node is None:
            raise DhallError([Problem("value", message, found=actual, hint=hint)])
        raise DhallError([build_problem("value", node.source, node.start, node.end, message, found=actual, hint=hint)])


def is_map(value: VList) -> bool:
    """Return whether the items of a list are entries of a map; for an empty list, see its type."""
    if value.items:
        return type(value.items[0]) is VRecord and value.items[0].fields.keys() == ENTRY
    return type(value.element) is VRecordType and value.element.fields.keys() == ENTRY


_CONVERSIONS: dict[type, Callable[[_Converter, Any, Place], Any]] = {
    VRecord: _Converter.convert_record,
    VList: _Converter.convert_list,
    VAlternative: _Converter.convert_alternative,
    VSome: lambda converter, value, path: converter.convert(value.value, path),
    VNone: lambda _converter, _value, _path: None,
    VInteger: lambda _converter, value, _path: value.number,
    VTemporal: lambda _converter, value, _path: show_temporal(value),
}
