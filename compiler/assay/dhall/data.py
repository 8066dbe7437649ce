"""Values as plain data, and where each part of it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.dhall.errors import DhallError, Diagnostic, Span
from assay.dhall.evaluate import evaluate, extend_by_let
from assay.dhall.evaluator import Evaluated, run_deep
from assay.dhall.meter import Budget
from assay.dhall.printing import show
from assay.dhall.syntax import Ann, If, Import, IntegerValue, Let, ListLit, Node, Rec, Select, SomeLit, Var
from assay.dhall.values import (
    ABSENT,
    Environment,
    Thunk,
    Value,
    VInject,
    VList,
    VNone,
    VRec,
    VRecType,
    VSome,
)

MAX_DEPTH = 200
MAX_PARTS = 500_000
_PLAIN = (str, bool, int, float, bytes)
_MAP = {"mapKey", "mapValue"}


def to_data(value: Value, keep_tags: bool = False) -> Any:
    """Turn a value into dictionaries, lists, texts, numbers, booleans and None.

    Fields are sorted by name. A list of `mapKey` and `mapValue` becomes a dictionary. An alternative becomes its
    payload, or its name where it has none; with `keep_tags`, one with a payload becomes `{name: payload}`. Raises
    `DhallError` for functions, types and whatever else is no data.
    """
    return _Converter(keep_tags).convert(value, "")


class _Converter:
    def __init__(self, keep_tags: bool) -> None:
        self.keep_tags = keep_tags
        self.depth = self.count = 0

    def convert(self, value: Value, path: str) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return value
        self.count += 1
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _refuse(f"the value is nested more than {MAX_DEPTH} deep", path)
        if self.count > MAX_PARTS:
            raise _refuse(f"the value has more than {MAX_PARTS} parts", "")
        converted = self._convert(value, kind, path)
        self.depth -= 1
        return converted

    def _convert(self, value: Value, kind: type, path: str) -> Any:
        if kind is VRec:
            fields = value.fields
            return {name: self.convert(fields[name], f"{path}.{name}") for name in sorted(fields)}
        if kind is VList:
            if _is_map(value):
                return self._convert_map(value, path)
            self.count += len(value.items)
            return [self.convert(item, f"{path}[{index}]") for index, item in enumerate(value.items)]
        if kind is VSome:
            return self.convert(value.value, path)
        if kind is VNone:
            return None
        if kind is IntegerValue:
            return value.number
        if kind is VInject:
            if value.payload is ABSENT:
                return value.name
            payload = self.convert(value.payload, path)
            return {value.name: payload} if self.keep_tags else payload
        place = f"`{path[1:]}`" if path.startswith(".") else f"`{path}`" if path else "it"
        raise _refuse(f"the value is not plain data: {place} is a function, a type or a proof", "", _show(value))

    def _convert_map(self, value: VList, path: str) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        for item in value.items:
            key = item.fields["mapKey"]
            if type(key) is not str:
                message = "the value holds a list of records whose `mapKey` is not a Text"
                raise _refuse(message, path, hint="the keys of a map are texts")
            entries[key] = self.convert(item.fields["mapValue"], f"{path}.{key}")
        return entries


def _show(value: Value) -> str | None:
    try:
        return show(value)
    except (DhallError, RecursionError):
        return None


def _is_map(value: VList) -> bool:
    if value.items:
        return type(value.items[0]) is VRec and value.items[0].fields.keys() == _MAP
    return type(value.element) is VRecType and value.element.fields.keys() == _MAP


def _refuse(message: str, path: str, found: str | None = None, hint: str = "") -> DhallError:
    notes = (f"at `{path.removeprefix('.')[:200]}`",) if path else ()
    return DhallError(Diagnostic("value", message, found=found, notes=notes, hint=hint))


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a part of a value is written, and where the name of the field that it is in."""

    value: Span
    name: Span | None = None


@dataclass(frozen=True, slots=True)
class _Written:
    """An expression with its environment."""

    node: Node
    environment: Environment
    name: Span | None = None


def find_origin(evaluated: Evaluated, path: Sequence[str | int]) -> Origin | None:
    """Tell where the part of the data at a path is written; of what a function computes, where it is applied.

    The path leads through the plain data: names of fields, keys of maps, indices of lists. Nothing is there for it
    when the data has no such part.
    """
    return run_deep(lambda: _find_origin(evaluated, path), Budget())


def _find_origin(evaluated: Evaluated, path: Sequence[str | int]) -> Origin | None:
    value, written = evaluated.value, _Written(evaluated.node, ())
    for key in path:
        value = _unwrap(value)
        step = _descend(value, key)
        if step is None:
            return None
        value, part = step
        written = part or written
    node = _follow(_unwrap(value), written).node
    return Origin(node.span, written.name)


def _unwrap(value: Value) -> Value:
    while True:
        if type(value) is VSome:
            value = value.value
        elif type(value) is VInject and value.payload is not ABSENT:
            value = value.payload
        else:
            return value


def _descend(value: Value, key: str | int) -> tuple[Value, _Written | None] | None:
    if type(value) is VRec and key in value.fields:
        return value.fields[key], _find_field(value, str(key))
    if type(value) is not VList:
        return None
    if isinstance(key, int):
        return (value.items[key], _find_item(value, key)) if 0 <= key < len(value.items) else None
    for index, item in enumerate(value.items):
        if type(item) is VRec and item.fields.get("mapKey", ABSENT) == key:
            return item.fields.get("mapValue"), _find_field(item, "mapValue") or _find_item(value, index)
    return None


def _find_field(record: VRec, name: str) -> _Written | None:
    """Find the expression of a field through the records that were joined."""
    while type(record) is VRec and record.source is not None:
        first, second = record.source
        if isinstance(first, Rec):
            node = first.fields.get(name)
            if node is None:
                return None
            place = first.places.get(name, node.start)
            return _Written(node, second, first.file.make_span(place, place + len(name)))
        if type(second) is str:
            if name != "mapValue":
                return None
            record, name = first, second
        else:
            record = second if name in second.fields else first
    return None


def _find_item(items: VList, index: int) -> _Written | None:
    while type(items) is VList and items.source is not None:
        first, second = items.source
        if isinstance(first, ListLit):
            return _Written(first.items[index], second)
        if index < len(first.items):
            items = first
        else:
            items, index = second, index - len(first.items)
    return None


def _follow(value: Value, written: _Written) -> _Written:
    """Follow names to where a value is written: containers know it, of the rest the expression tells."""
    source = getattr(value, "source", None)
    if source is not None and isinstance(source[0], Node):
        return _Written(*source)
    for _ in range(1_000):
        following = _step(written.node, written.environment)
        if following is None:
            break
        written = following
    return written


def _step(node: Node, environment: Environment) -> _Written | None:
    """Give the expression that one which only names or wraps another stands for."""
    if isinstance(node, (Ann, SomeLit)):
        return _Written(node.value, environment)
    if isinstance(node, Let):
        return _Written(node.body, extend_by_let(node, environment))
    if isinstance(node, Var) and node.level is not None:
        value = environment[node.level]
        return _Written(value.node, value.environment) if isinstance(value, Thunk) else None
    if isinstance(node, Import):
        return _Written(node.resolved[2], ()) if node.resolved[2] is not None else None
    if isinstance(node, If):
        return _Written(node.then if evaluate(node.condition, environment) is True else node.other, environment)
    if isinstance(node, Select):
        value = evaluate(node.value, environment)
        return _find_field(value, node.name) if type(value) is VRec else None
    return None
