"""Infer types and units of expressions, for the checker and for code generation.

A value's type is integer (exact), real, text, boolean or instant (exact, ns since 1970).  Units are unit expressions;
durations between instants are exact integers of `nanosecond`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction

from assay.lang.model.expression import Expression

NANOSECOND = "nanosecond"
NONE = "dimensionless"
COUNT = "count"

#: (from, to) -> exact factor; raises UnitError
Convert = Callable[[str, str], Fraction]
Combine = Callable[[str, str, str], str]


@dataclass(eq=False)
class UnitError(Exception):
    """`actual` cannot be converted to `expected`."""

    expected: str
    actual: str


@dataclass(eq=False)
class OtherUnitError(UnitError):
    """The units convert, but neither is a whole number of the other: a sum of both has no exact unit."""


@dataclass(eq=False)
class KindError(Exception):
    """A value of type `actual` where `expected` is required."""

    expected: str
    actual: str
    node: Expression

    @property
    def part(self) -> str:
        """Return the text of the expression for messages."""
        is_empty = self.node.op in _NOT_EMPTY and not self.node.operands
        return f"`{self.node.op}` of no values" if is_empty else str(self.node)


@dataclass(eq=False)
class UnknownNameError(Exception):
    """A leaf refers to a name that is not in its scope; `candidates` are the names in scope."""

    kind: str
    name: str
    candidates: tuple[str, ...]

    @property
    def noun(self) -> str:
        """Return the word for the kind in messages."""
        return "taken field" if self.kind == "taken" else self.kind


@dataclass(frozen=True, slots=True)
class ValueType:
    """Type and unit of a value."""

    type: str
    unit: str = NONE


INSTANT = ValueType("instant", NANOSECOND)
BOOLEAN = ValueType("boolean")


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression may refer to: leaf kind -> name -> type and unit.

    `taken` is keyed by `instant.field`.
    """

    leaves: Mapping[str, Mapping[str, ValueType]] = field(default_factory=dict)

    def get_type(self, node: Expression) -> ValueType:
        """Return type and unit of a reference.  Raises UnknownNameError."""
        names = self.leaves.get(node.op, {})
        name = f"{node.text}.{node.name}" if node.op == "taken" else node.name
        if name not in names:
            raise UnknownNameError(node.op, name, tuple(sorted(names)))
        return names[name]


@dataclass(frozen=True, slots=True)
class Units:
    """The functions of a unit library that the rules need: conversion factors, products and quotients."""

    compute_factor: Convert
    combine: Combine


_NOT_EMPTY = ("coalesce", "greatest", "and", "or")
COUNT = "count"


def infer_reduced(typed: ValueType, reduction: str) -> ValueType:
    """Return the type and unit of reduced samples.  A count of samples has the unit `count`."""
    return ValueType("integer", COUNT) if reduction == "count" else typed


def infer(node: Expression, scope: Scope, units: Units) -> ValueType:
    """Return type and unit of an expression.  Raises UnknownNameError, KindError, UnitError."""
    if node.op in _NOT_EMPTY and not node.operands:
        raise KindError("at least one value", "none", node)
    rule = _RULES.get(node.op)
    return rule(node, scope, units) if rule else scope.get_type(node)


def _infer_literal(node: Expression, _scope: Scope, _units: Units) -> ValueType:
    if node.op == "quantity":
        if node.unit and _is_time(node.unit, _units):
            return ValueType("integer", NANOSECOND)
        return ValueType("real", node.unit)
    return ValueType({"integer": "integer", "real": "real", "text": "text", "boolean": "boolean"}[node.op])


def _is_time(unit: str, units: Units) -> bool:
    try:
        units.compute_factor(unit, NANOSECOND)
    except UnitError:
        return False
    return True


def require_number(typed: ValueType, node: Expression) -> ValueType:
    """Return the type if it is a number.  Raises KindError."""
    if typed.type not in ("integer", "real"):
        raise KindError("a number", typed.type, node)
    return typed


def require_whole_number(typed: ValueType, node: Expression) -> ValueType:
    """Return the type if it is a whole number.  Raises KindError.  Engines round other quotients differently."""
    if require_number(typed, node).type != "integer":
        raise KindError("a whole number", typed.type, node)
    return typed


def _unify_types(left: ValueType, right: ValueType, node: Expression, units: Units) -> ValueType:
    """Return the common type of two operands: of numbers, in the finer of their units, which converts exactly."""
    if left.type == right.type == "instant":
        return left
    if {left.type, right.type} <= {"integer", "real"}:
        factor = units.compute_factor(right.unit, left.unit)
        if 1 not in (factor.numerator, factor.denominator):
            raise OtherUnitError(left.unit, right.unit)
        unit = left.unit if factor.denominator == 1 else right.unit
        return ValueType("real" if "real" in (left.type, right.type) else "integer", unit)
    if left.type != right.type:
        raise KindError(left.type, right.type, node)
    return left


def infer_sides(node: Expression, scope: Scope, units: Units) -> tuple[ValueType, ValueType]:
    """Return types and units of the two sides of a comparison or sum.

    A quantity beside a number in another unit is written in that unit, which does not change its value.
    """
    first, second = node.operands
    left, right = infer(first, scope, units), infer(second, scope, units)
    if (first.op == "quantity") == (second.op == "quantity"):
        return left, right
    if first.op == "quantity":
        return combine_quantities(left, right, units), right
    return left, combine_quantities(right, left, units)


def convert_operands(node: Expression, scope: Scope, units: Units) -> tuple[Expression, ...]:
    """Return the operands of a sum, comparison or choice, with the conversions to their common unit."""
    operands = node.operands
    kinds = infer_sides(node, scope, units) if node.op in SIDE_BY_SIDE else _infer_operands(node, scope, units)
    unit = NANOSECOND
    if all(kind.type in ("integer", "real") for kind in kinds):
        unit = _unify_all(operands, kinds, units).unit
    numbers = (kind.type in ("integer", "real") for kind in kinds)
    return tuple(
        _convert_number(operand, kind, unit, units) if is_number else operand
        for operand, kind, is_number in zip(operands, kinds, numbers, strict=True)
    )


def _convert_number(node: Expression, kind: ValueType, unit: str, units: Units) -> Expression:
    """Return an operand in a unit of which its own is a whole number; a quantity in any unit."""
    if node.op == "quantity":
        factor = units.compute_factor(node.unit, unit)
        return node if factor == Fraction(node.factor or 1) else replace(node, factor=str(factor))
    factor = units.compute_factor(kind.unit, unit)
    if factor == 1:
        return node
    if kind.type == "integer":
        return Expression("whole", (node,), unit=unit, factor=str(factor))
    multiple = Expression("times", (node, Expression("integer", number=Decimal(factor.numerator))))
    return Expression("as_unit", (multiple,), unit=unit)


def combine_quantities(kind: ValueType, other_type: ValueType, units: Units) -> ValueType:
    """Return type and unit of a quantity beside a value of the type `other_type`."""
    if other_type.type not in ("integer", "real") or units.compute_factor(kind.unit, other_type.unit) == 1:
        return kind
    return ValueType("real", other_type.unit)


def _infer_sum(node: Expression, scope: Scope, units: Units) -> ValueType:
    left, right = infer_sides(node, scope, units)
    if left.type == "instant" and right.type == "instant":
        if node.op == "plus":
            raise KindError("a duration", "instant", node.operands[1])
        return ValueType("integer", NANOSECOND)
    if left.type == "instant":
        duration = require_number(right, node.operands[1])
        factor = units.compute_factor(duration.unit, NANOSECOND)
        if factor.denominator != 1 or (factor != 1 and duration.type == "real"):
            raise UnitError(NANOSECOND, duration.unit)
        return INSTANT
    return require_number(_unify_types(left, right, node.operands[1], units), node)


def _infer_product(node: Expression, scope: Scope, units: Units) -> ValueType:
    left, right = (require_number(infer(operand, scope, units), operand) for operand in node.operands)
    if node.op == "div":
        require_whole_number(left, node.operands[0])
        require_whole_number(right, node.operands[1])
    kind = "real" if node.op == "over" or "real" in (left.type, right.type) else "integer"
    return ValueType(kind, units.combine(node.op, left.unit, right.unit))


def _infer_floor(node: Expression, scope: Scope, units: Units) -> ValueType:
    return ValueType("integer", require_number(infer(node.operands[0], scope, units), node).unit)


def _infer_whole(node: Expression, scope: Scope, units: Units) -> ValueType:
    operand = require_whole_number(infer(node.operands[0], scope, units), node.operands[0])
    units.compute_factor(operand.unit, node.unit)
    return ValueType("integer", node.unit)


def _infer_as_unit(node: Expression, scope: Scope, units: Units) -> ValueType:
    return ValueType(require_number(infer(node.operands[0], scope, units), node).type, node.unit)


def _infer_bound(node: Expression, scope: Scope, units: Units) -> ValueType:
    if (operand := infer(node.operands[0], scope, units)).type != "text":
        raise KindError("text", operand.type, node.operands[0])
    return ValueType("real", node.unit)


def _infer_operands(node: Expression, scope: Scope, units: Units) -> tuple[ValueType, ...]:
    return tuple(infer(operand, scope, units) for operand in node.operands)


def _infer_common(node: Expression, scope: Scope, units: Units) -> ValueType:
    return _unify_all(node.operands, _infer_operands(node, scope, units), units)


def _unify_all(operands: Sequence[Expression], kinds: Sequence[ValueType], units: Units) -> ValueType:
    common = kinds[0]
    for operand, kind in zip(operands[1:], kinds[1:], strict=True):
        common = _unify_types(common, kind, operand, units)
    return common


def _infer_comparison(node: Expression, scope: Scope, units: Units) -> ValueType:
    left, right = infer_sides(node, scope, units)
    _unify_types(left, right, node.operands[1], units)
    return BOOLEAN


def _infer_match(node: Expression, scope: Scope, units: Units) -> ValueType:
    for operand in node.operands:
        if (kind := infer(operand, scope, units)).type != "text":
            raise KindError("text", kind.type, operand)
    return BOOLEAN


def _infer_logic(node: Expression, scope: Scope, units: Units) -> ValueType:
    for operand in node.operands:
        kind = infer(operand, scope, units)
        if kind.type != "boolean":
            raise KindError("boolean", kind.type, operand)
    return BOOLEAN


def _infer_truth_value(node: Expression, scope: Scope, units: Units) -> ValueType:
    _infer_logic(node, scope, units)
    return ValueType("integer")


def _infer_choice(node: Expression, scope: Scope, units: Units) -> ValueType:
    value, condition = node.operands
    _infer_logic(Expression("and", (condition,)), scope, units)
    return infer(value, scope, units)


def _infer_presence(node: Expression, scope: Scope, units: Units) -> ValueType:
    infer(node.operands[0], scope, units)
    return BOOLEAN


COMPARISONS = ("at_least", "at_most", "above", "below", "equals")
SUMS = ("plus", "minus")
#: operators with two sides in one unit
SIDE_BY_SIDE = (*COMPARISONS, *SUMS)
#: operators whose operands are converted to one unit
IN_ONE_UNIT = (*SIDE_BY_SIDE, "coalesce", "greatest")

Rule = Callable[[Expression, Scope, Units], ValueType]

_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("integer", "real", "text", "boolean", "quantity"), _infer_literal),
    **dict.fromkeys(SUMS, _infer_sum),
    **dict.fromkeys(("times", "over", "div"), _infer_product),
    **dict.fromkeys(("coalesce", "greatest"), _infer_common),
    **dict.fromkeys(COMPARISONS, _infer_comparison),
    **dict.fromkeys(("and", "or", "not"), _infer_logic),
    **dict.fromkeys(("present", "absent"), _infer_presence),
    "one_if": _infer_truth_value,
    "when": _infer_choice,
    "matches": _infer_match,
    "floor": _infer_floor,
    "whole": _infer_whole,
    "as_unit": _infer_as_unit,
    "bound": _infer_bound,
}
