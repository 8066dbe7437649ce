"""Equality of values up to the names of bound variables (`===` of the standard, on normal forms)."""

from __future__ import annotations

import struct
from typing import Any

from assay.dhall.meter import METER
from assay.dhall.values import (
    ABSENT,
    FRESH,
    NApp,
    NEmptyList,
    NFree,
    NIf,
    NMerge,
    NOp,
    NProject,
    NProjectType,
    NSelect,
    NShow,
    NToMap,
    NVar,
    NWith,
    Value,
    VAssert,
    VBuiltin,
    VConst,
    VConstructor,
    VEquivalence,
    VInject,
    VLam,
    VList,
    VNone,
    VPi,
    VRec,
    VRecType,
    VSome,
    VText,
    VUnion,
)


def are_equal(a: Value, b: Value, level: int = FRESH) -> bool:
    """Tell whether two values are equal; `level` is that of the next variable."""
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b):
        return False
    compare = _COMPARERS.get(kind)
    if compare is None:
        return bool(a == b)
    METER.steps -= 1
    if METER.steps < 0:
        METER.spend()
    return bool(compare(a, b, level))


def _compare_fields(a: Any, b: Any, level: int) -> bool:
    fields = b.fields
    if len(a.fields) != len(fields):
        return False
    for name, x in a.fields.items():
        y = fields.get(name, ABSENT)
        if y is not x and (y is ABSENT or not are_equal(x, y, level)):
            return False
    return True


def _compare_all(a: Any, b: Any, level: int) -> bool:
    if len(a) != len(b):
        return False
    return all(x is y or are_equal(x, y, level) for x, y in zip(a, b, strict=True))


def _compare_lists(a: VList, b: VList, level: int) -> bool:
    if not a.items and not b.items:
        return a.element is None or b.element is None or are_equal(a.element, b.element, level)
    return _compare_all(a.items, b.items, level)


def _compare_functions(a: VLam, b: VLam, level: int) -> bool:
    variable = NVar(level, "_")
    return are_equal(a.domain, b.domain, level) and are_equal(a.call(variable), b.call(variable), level + 1)


def _compare_function_types(a: VPi, b: VPi, level: int) -> bool:
    variable = NVar(level, "_", a.domain)
    return are_equal(a.domain, b.domain, level) and are_equal(a.call(variable), b.call(variable), level + 1)


def _compare_injections(a: VInject, b: VInject, level: int) -> bool:
    return a.name == b.name and are_equal(a.payload, b.payload, level) and are_equal(a.union, b.union, level)


def _compare_builtins(a: VBuiltin, b: VBuiltin, level: int) -> bool:
    return a.name == b.name and _compare_all(a.arguments, b.arguments, level)


def _compare_doubles(a: float, b: float, _: int) -> bool:
    return (a != a and b != b) or struct.pack("d", a) == struct.pack("d", b)


def _compare_slots(a: Any, b: Any, level: int) -> bool:
    """Compare the parts of neutral values: names and paths as such, values as values."""
    for slot in type(a).__slots__:
        x, y = getattr(a, slot), getattr(b, slot)
        if type(x) is list or type(x) is str:
            if x != y:
                return False
        elif not are_equal(x, y, level):
            return False
    return True


_COMPARERS: dict[type, Any] = {
    float: _compare_doubles,
    VRec: _compare_fields,
    VRecType: _compare_fields,
    VUnion: _compare_fields,
    VList: _compare_lists,
    VLam: _compare_functions,
    VPi: _compare_function_types,
    VInject: _compare_injections,
    VBuiltin: _compare_builtins,
    VText: lambda a, b, level: _compare_all(a.parts, b.parts, level),
    VConst: lambda a, b, _: a.name == b.name,
    NVar: lambda a, b, _: a.level == b.level,
    NFree: lambda a, b, _: (a.name, a.index) == (b.name, b.index),
    **dict.fromkeys((VSome, VNone, VConstructor, VEquivalence, VAssert, NApp, NOp, NIf, NSelect), _compare_slots),
    **dict.fromkeys((NProject, NProjectType, NMerge, NToMap, NWith, NShow, NEmptyList), _compare_slots),
}
