"""Compare values up to the names of bound variables; search a value for a variable."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from itertools import count

from assay_dhall.budget import METER, build_budget_error, find_budget_error
from assay_dhall.hooks import HOOKS
from assay_dhall.values import (
    MISSING,
    NApply,
    NFree,
    NIf,
    NMerge,
    NOperation,
    NProject,
    NSelect,
    NShow,
    NToMap,
    NVar,
    NWith,
    VAlternative,
    Value,
    VAssert,
    VBuiltin,
    VConst,
    VConstructor,
    VEquivalence,
    VInteger,
    VLambda,
    VList,
    VNone,
    VPi,
    VRecord,
    VRecordType,
    VSome,
    VTemporal,
    VText,
    VUnionType,
)

_LEVELS = count(1 << 40)
_SCALARS = frozenset((int, bool, str, bytes))


def create_variable() -> NVar:
    """Return a variable that is in no other value."""
    return NVar(next(_LEVELS), "_")


def are_equal(left: Value, right: Value) -> bool:
    """Return whether two well-typed values of one type, or two types, are equal."""
    if left is right:
        return True
    kind = type(left)
    if kind is not type(right):
        return _are_functions_equal(left, right)
    if kind in _SCALARS:
        return bool(left == right)
    METER.steps -= 1
    METER.depth -= 1
    if METER.steps < 0 or METER.depth < 0:
        raise find_budget_error()
    result = _COMPARISONS[kind](left, right)
    METER.depth += 1
    return bool(result)


def _are_functions_equal(left: Value, right: Value) -> bool:
    if type(left) is VLambda or type(right) is VLambda:
        variable = create_variable()
        return are_equal(HOOKS.apply(left, variable), HOOKS.apply(right, variable))
    return False


def _are_all_equal(left: list[Value] | tuple[Value, ...], right: list[Value] | tuple[Value, ...]) -> bool:
    if len(left) != len(right):
        return False
    for number, item in enumerate(left):  # noqa: SIM110 - `all` would call through C, which deep values overflow
        if not are_equal(item, right[number]):
            return False
    return True


def _are_fields_equal(left: Value, right: Value) -> bool:
    if len(left.fields) != len(right.fields):
        return False
    for name, value in left.fields.items():
        other = right.fields.get(name, MISSING)
        if value is not other and (other is MISSING or not are_equal(value, other)):
            return False
    return True


def _are_unions_equal(left: VUnionType, right: VUnionType) -> bool:
    if left.fields.keys() != right.fields.keys():
        return False
    for name, value in left.fields.items():
        other = right.fields[name]
        if (value is None) is not (other is None) or (value is not None and not are_equal(value, other)):
            return False
    return True


def _are_lists_equal(left: VList, right: VList) -> bool:
    if left.items or right.items:
        return _are_all_equal(left.items, right.items)
    return are_equal(left.element, right.element)


def _are_alternatives_equal(left: VAlternative, right: VAlternative) -> bool:
    if left.name != right.name or not are_equal(left.union, right.union):
        return False
    if left.payload is MISSING or right.payload is MISSING:
        return left.payload is right.payload
    return are_equal(left.payload, right.payload)


def _are_pis_equal(left: VPi, right: VPi) -> bool:
    if not are_equal(left.domain, right.domain):
        return False
    variable = create_variable()
    return are_equal(HOOKS.instantiate(left.closure, variable), HOOKS.instantiate(right.closure, variable))


def _are_doubles_equal(left: float, right: float) -> bool:
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    return struct.pack(">d", left) == struct.pack(">d", right)


def _are_optionals_equal(left: Value, right: Value) -> bool:
    if left is None or right is None:
        return left is right
    return are_equal(left, right)


_COMPARISONS: dict[type, Callable[..., bool]] = {
    float: _are_doubles_equal,
    VInteger: lambda a, b: a.number == b.number,
    VTemporal: lambda a, b: a.kind == b.kind and a.parts == b.parts,
    VConst: lambda a, b: a.name == b.name,
    VBuiltin: lambda a, b: a.name == b.name and _are_all_equal(a.arguments, b.arguments),
    VRecord: _are_fields_equal,
    VRecordType: _are_fields_equal,
    VUnionType: _are_unions_equal,
    VList: _are_lists_equal,
    VSome: lambda a, b: are_equal(a.value, b.value),
    VNone: lambda a, b: are_equal(a.type, b.type),
    VAlternative: _are_alternatives_equal,
    VConstructor: lambda a, b: a.name == b.name and are_equal(a.union, b.union),
    VLambda: _are_functions_equal,
    VPi: _are_pis_equal,
    VText: lambda a, b: _are_all_equal(a.parts, b.parts),
    VEquivalence: lambda a, b: are_equal(a.left, b.left) and are_equal(a.right, b.right),
    VAssert: lambda a, b: are_equal(a.type, b.type),
    NVar: lambda a, b: a.level == b.level,
    NFree: lambda a, b: a.name == b.name and a.index == b.index,
    NApply: lambda a, b: are_equal(a.function, b.function) and are_equal(a.argument, b.argument),
    NOperation: lambda a, b: a.operator == b.operator and are_equal(a.left, b.left) and are_equal(a.right, b.right),
    NIf: lambda a, b: _are_all_equal((a.condition, a.positive, a.negative), (b.condition, b.positive, b.negative)),
    NSelect: lambda a, b: a.name == b.name and are_equal(a.value, b.value),
    NProject: lambda a, b: a.names == b.names and are_equal(a.value, b.value),
    NMerge: lambda a, b: are_equal(a.handlers, b.handlers) and are_equal(a.union, b.union),
    NToMap: lambda a, b: are_equal(a.value, b.value) and _are_optionals_equal(a.annotation, b.annotation),
    NWith: lambda a, b: a.path == b.path and are_equal(a.value, b.value) and are_equal(a.update, b.update),
    NShow: lambda a, b: are_equal(a.value, b.value),
}


def has_variable(value: Value, level: int) -> bool:
    """Return whether the variable of a level occurs in a value; shared parts are visited once."""
    pending: list[Value] = [value]
    seen: set[int] = set()
    alive: list[Value] = []
    while pending:
        item = pending.pop()
        if id(item) in seen:
            continue
        if type(item) is NVar:
            if item.level == level:
                return True
            continue
        children = _CHILDREN.get(type(item))
        if children is None:
            continue
        METER.steps -= 1
        if METER.steps < 0:
            raise build_budget_error("steps")
        seen.add(id(item))
        alive.append(item)
        pending.extend(children(item))
    return False


def _apply_to_variable(function: VLambda) -> list[Value]:
    return [HOOKS.apply(function, create_variable())]


_CHILDREN: dict[type, Callable[..., list[Value]]] = {
    VBuiltin: lambda value: list(value.arguments),
    VRecord: lambda value: list(value.fields.values()),
    VRecordType: lambda value: list(value.fields.values()),
    VUnionType: lambda value: [item for item in value.fields.values() if item is not None],
    VList: lambda value: value.items or [value.element],
    VSome: lambda value: [value.value],
    VNone: lambda value: [value.type],
    VAlternative: lambda value: [value.union, value.payload],
    VConstructor: lambda value: [value.union],
    VLambda: _apply_to_variable,
    VPi: lambda value: [value.domain, HOOKS.instantiate(value.closure, create_variable())],
    VText: lambda value: value.parts,
    VEquivalence: lambda value: [value.left, value.right],
    VAssert: lambda value: [value.type],
    NApply: lambda value: [value.function, value.argument],
    NOperation: lambda value: [value.left, value.right],
    NIf: lambda value: [value.condition, value.positive, value.negative],
    NSelect: lambda value: [value.value],
    NProject: lambda value: [value.value],
    NMerge: lambda value: [value.handlers, value.union, value.annotation],
    NToMap: lambda value: [value.value, value.annotation],
    NWith: lambda value: [value.value, value.update],
    NShow: lambda value: [value.value],
}
