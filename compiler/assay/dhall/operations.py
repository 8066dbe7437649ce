"""What operators, selections and `with` do with values; each gives a neutral value where it is stuck."""

from __future__ import annotations

from typing import Any

from assay.dhall.convert import are_equal
from assay.dhall.meter import METER
from assay.dhall.values import (
    ABSENT,
    NOp,
    NProject,
    NSelect,
    NWith,
    Value,
    VConstructor,
    VInject,
    VList,
    VNone,
    VRec,
    VRecType,
    VSome,
    VText,
    VUnion,
)


def add(a: Value, b: Value) -> Value:
    """Add two Naturals."""
    if type(a) is int:
        if type(b) is int:
            total = a + b
            if total > 1 << 1000:
                METER.check_bits(total.bit_length())
            return total
        if a == 0:
            return b
    return a if type(b) is int and b == 0 else NOp("+", a, b)


def multiply(a: Value, b: Value) -> Value:
    """Multiply two Naturals."""
    if type(a) is int and type(b) is int:
        METER.check_bits(a.bit_length() + b.bit_length())
        return a * b
    for one, other in ((a, b), (b, a)):
        if type(one) is int and one < 2:
            return other if one else 0
    return NOp("*", a, b)


def append(a: Value, b: Value) -> Value:
    """Join two lists."""
    if type(a) is VList:
        if not a.items:
            return b
        if type(b) is VList:
            if not b.items:
                return a
            METER.spend_items(len(a.items) + len(b.items))
            source = (a, b) if a.source is not None or b.source is not None else None
            return VList(a.items + b.items, a.element, source)
    return a if type(b) is VList and not b.items else NOp("#", a, b)


def join_texts(parts: list[Value]) -> Value:
    """Join texts, some of which may be neutral."""
    joined: list[Value] = []
    run: list[str] = []
    size = 0
    for part in _flatten(parts):
        if type(part) is str:
            run.append(part)
            size += len(part)
            continue
        if size:
            joined.append("".join(run))
        METER.spend_characters(size)
        run, size = [], 0
        joined.append(part)
    METER.spend_characters(size)
    if not joined:
        return "".join(run)
    if size:
        joined.append("".join(run))
    return joined[0] if len(joined) == 1 else VText(joined)


def _flatten(parts: list[Value]) -> list[Value]:
    if not any(type(part) is VText for part in parts):
        return parts
    flat: list[Value] = []
    for part in parts:
        flat += part.parts if type(part) is VText else [part]
    METER.spend_items(len(flat))
    return flat


def prefer(a: Value, b: Value) -> Value:
    """Join two records, the fields of the right one first (`//`)."""
    if type(a) is VRec:
        if not a.fields:
            return b
        if type(b) is VRec:
            METER.spend(1 + (len(a.fields) + len(b.fields)) // 4)
            return VRec(a.fields | b.fields, (a, b))
    if type(b) is VRec and not b.fields:
        return a
    return a if are_equal(a, b) else NOp("//", a, b)


def combine(a: Value, b: Value, op: str = "/\\") -> Value:
    """Join two records, or types of records, and those in fields that both have."""
    kind = VRec if op == "/\\" else VRecType
    if type(a) is kind and type(b) is kind:
        METER.spend(1 + (len(a.fields) + len(b.fields)) // 4)
        fields: dict[str, Value] = dict(a.fields)
        for name, value in b.fields.items():
            fields[name] = combine(fields[name], value, op) if name in fields else value
        return VRec(fields, (a, b)) if kind is VRec else VRecType(fields)
    if type(a) is kind and not a.fields:
        return b
    if type(b) is kind and not b.fields:
        return a
    return NOp(op, a, b)


def select(value: Value, name: str) -> Value:
    """Give a field of a record, or an alternative of a union."""
    kind = type(value)
    if kind is VRec:
        return value.fields[name]
    if kind is VUnion:
        return VInject(value, name, ABSENT) if value.fields[name] is None else VConstructor(value, name)
    if kind is NProject:
        return select(value.value, name)
    if kind is NOp and value.op == "//":
        return _select_preferred(value, name)
    if kind is NOp and value.op == "/\\":
        return _select_combined(value, name)
    return NSelect(value, name)


def _select_preferred(value: NOp, name: str) -> Value:
    left, right = value.left, value.right
    if type(right) is VRec:
        return right.fields[name] if name in right.fields else select(left, name)
    if type(left) is VRec and name not in left.fields:
        return select(right, name)
    if type(left) is VRec and len(left.fields) > 1:
        return NSelect(NOp("//", VRec({name: left.fields[name]}), right), name)
    return NSelect(value, name)


def _select_combined(value: NOp, name: str) -> Value:
    left, right = value.left, value.right
    if type(left) is VRec:
        if name not in left.fields:
            return select(right, name)
        return NSelect(NOp("/\\", VRec({name: left.fields[name]}), right), name)
    if type(right) is VRec:
        if name not in right.fields:
            return select(left, name)
        return NSelect(NOp("/\\", left, VRec({name: right.fields[name]})), name)
    return NSelect(value, name)


def project(value: Value, names: list[str]) -> Value:
    """Give a record of some fields only."""
    names = sorted(set(names))
    kind = type(value)
    if not names:
        return VRec({})
    if kind is VRec:
        METER.spend(1 + len(names) // 4)
        return VRec({name: value.fields[name] for name in names}, (value, value))
    if kind is NProject:
        return project(value.value, names)
    if kind is NOp and value.op == "//" and type(value.right) is VRec:
        fields = value.right.fields
        left = project(value.left, [name for name in names if name not in fields])
        return prefer(left, project(value.right, [name for name in names if name in fields]))
    return NProject(value, names)


def change(value: Value, path: list[str | None], new: Value) -> Value:
    """Give a record with the field at a path changed (`with`)."""
    name = path[0]
    if name is None:
        if type(value) is VSome:
            return VSome(new if len(path) == 1 else change(value.value, path[1:], new))
        return value if type(value) is VNone else NWith(value, path, new)
    if type(value) is not VRec:
        return NWith(value, path, new)
    METER.spend(1 + len(value.fields) // 4)
    fields = dict(value.fields)
    fields[name] = new if len(path) == 1 else change(fields.get(name, VRec({})), path[1:], new)
    return VRec(fields, (value, VRec({name: fields[name]})))


def decide(op: str, a: Value, b: Value) -> Value:
    """Apply `&&`, `||`, `==` or `!=`."""
    rules: dict[str, Any] = {"&&": _conjoin, "||": _disjoin, "==": _equate, "!=": _distinguish}
    decided = rules[op](a, b)
    if decided is not None:
        return decided
    if are_equal(a, b):
        return {"==": True, "!=": False}.get(op, a)
    return NOp(op, a, b)


def _conjoin(a: Value, b: Value) -> Value:
    if type(a) is bool:
        return b if a else False
    return (a if b else False) if type(b) is bool else None


def _disjoin(a: Value, b: Value) -> Value:
    if type(a) is bool:
        return True if a else b
    return (True if b else a) if type(b) is bool else None


def _equate(a: Value, b: Value) -> Value:
    if type(a) is bool and type(b) is bool:
        return a == b
    return b if a is True else a if b is True else None


def _distinguish(a: Value, b: Value) -> Value:
    if type(a) is bool and type(b) is bool:
        return a != b
    return b if a is False else a if b is False else None
