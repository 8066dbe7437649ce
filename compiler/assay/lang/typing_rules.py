"""Types and units of expressions: what the checker finds, and what the back end needs to know.

A value's type is integer (exact), real, text, boolean or instant (exact, ns since 1970).  Units are pint expressions;
durations between instants are exact integers of `nanosecond`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from assay.lang.model.expression import Expression

NANOSECOND = "nanosecond"
NONE = "dimensionless"

#: (from, to) -> exact factor; raises UnitError
Convert = Callable[[str, str], Fraction]
Combine = Callable[[str, str, str], str]


@dataclass(eq=False)
class UnitError(Exception):
    """`found` cannot be converted to `expected`."""

    expected: str
    found: str


@dataclass(eq=False)
class OtherUnitError(UnitError):
    """The units convert, but nothing here converts them."""


@dataclass(eq=False)
class KindError(Exception):
    """A value of type `found` stands where `expected` is needed."""

    expected: str
    found: str
    node: Expression


@dataclass(eq=False)
class UnknownNameError(Exception):
    """A leaf names nothing that its scope has; `known` is what there is."""

    kind: str
    name: str
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Typed:
    """Type and unit of a value."""

    type: str
    unit: str = NONE


INSTANT = Typed("instant", NANOSECOND)
BOOLEAN = Typed("boolean")


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression may refer to: leaf kind -> name -> type and unit.

    `taken` is keyed by `instant.field`.
    """

    leaves: Mapping[str, Mapping[str, Typed]] = field(default_factory=dict)

    def leaf(self, node: Expression) -> Typed:
        """Type and unit of a reference; UnknownNameError when there is none."""
        known = self.leaves.get(node.op, {})
        name = f"{node.text}.{node.name}" if node.op == "taken" else node.name
        if name not in known:
            raise UnknownNameError(node.op, name, tuple(sorted(known)))
        return known[name]


@dataclass(frozen=True, slots=True)
class Units:
    """What the rules need of a unit library: exact conversion factors, products and quotients of units."""

    factor: Convert
    combine: Combine


_NOT_EMPTY = ("coalesce", "greatest", "and", "or")
COUNT = "count"


def reduced(found: Typed, reduction: str) -> Typed:
    """The type and unit of what samples are reduced to: their number counts, whatever they are of."""
    return Typed("integer", COUNT) if reduction == "count" else found


def infer(node: Expression, scope: Scope, units: Units) -> Typed:
    """Type and unit of an expression.  Raises UnknownNameError, KindError, UnitError."""
    if node.op in _NOT_EMPTY and not node.operands:
        raise KindError("at least one value", "none", node)
    rule = _RULES.get(node.op)
    return rule(node, scope, units) if rule else scope.leaf(node)


def _literal(node: Expression, _scope: Scope, _units: Units) -> Typed:
    if node.op == "quantity":
        if node.unit and _is_time(node.unit, _units):
            return Typed("integer", NANOSECOND)
        return Typed("real", node.unit)
    return Typed({"integer": "integer", "real": "real", "text": "text", "boolean": "boolean"}[node.op])


def _is_time(unit: str, units: Units) -> bool:
    try:
        units.factor(unit, NANOSECOND)
    except UnitError:
        return False
    return True


def number(typed: Typed, node: Expression) -> Typed:
    """The type, when it is a number's; KindError otherwise."""
    if typed.type not in ("integer", "real"):
        raise KindError("a number", typed.type, node)
    return typed


def whole_number(typed: Typed, node: Expression) -> Typed:
    """The type, when it is a whole number's; KindError otherwise (engines do not agree on cutting other quotients)."""
    if number(typed, node).type != "integer":
        raise KindError("a whole number", typed.type, node)
    return typed


def _same(left: Typed, right: Typed, node: Expression, units: Units) -> Typed:
    """The common type of two operands; units must convert one into the other without a factor."""
    if left.type == right.type == "instant":
        return left
    if {left.type, right.type} <= {"integer", "real"}:
        if units.factor(right.unit, left.unit) != 1:
            raise OtherUnitError(left.unit, right.unit)
        return Typed("real" if "real" in (left.type, right.type) else "integer", left.unit)
    if left.type != right.type:
        raise KindError(left.type, right.type, node)
    return left


def side_by_side(node: Expression, scope: Scope, units: Units) -> tuple[Typed, Typed]:
    """Types and units of the two sides of a comparison or sum: a quantity beside a number of another unit is written in
    that unit, which changes nothing but how it is written."""
    one, other = node.operands
    left, right = infer(one, scope, units), infer(other, scope, units)
    if (one.op == "quantity") == (other.op == "quantity"):
        return left, right
    if one.op == "quantity":
        return combine_quantities(left, right, units), right
    return left, combine_quantities(right, left, units)


def convert_operands(operands: Sequence[Expression], kinds: Sequence[Typed], units: Units) -> tuple[Expression, ...]:
    """Operands of these types and units, quantities with the factors by which they are in these units."""
    return tuple(
        replace(node, factor=str(factor))
        if node.op == "quantity" and (factor := units.factor(node.unit, kind.unit)) != Fraction(node.factor or 1)
        else node
        for node, kind in zip(operands, kinds, strict=True)
    )


def combine_quantities(kind: Typed, other: Typed, units: Units) -> Typed:
    """The type and unit of a quantity beside something else."""
    if other.type not in ("integer", "real") or units.factor(kind.unit, other.unit) == 1:
        return kind
    return Typed("real", other.unit)


def _sum(node: Expression, scope: Scope, units: Units) -> Typed:
    left, right = side_by_side(node, scope, units)
    if left.type == "instant" and right.type == "instant":
        if node.op == "plus":
            raise KindError("a duration", "instant", node.operands[1])
        return Typed("integer", NANOSECOND)
    if left.type == "instant":
        duration = number(right, node.operands[1])
        if units.factor(duration.unit, NANOSECOND) != 1:
            raise UnitError(NANOSECOND, duration.unit)
        return INSTANT
    return number(_same(left, right, node.operands[1], units), node)


def _product(node: Expression, scope: Scope, units: Units) -> Typed:
    left, right = (number(infer(operand, scope, units), operand) for operand in node.operands)
    if node.op == "div":
        whole_number(left, node.operands[0])
        whole_number(right, node.operands[1])
    kind = "real" if node.op == "over" or "real" in (left.type, right.type) else "integer"
    return Typed(kind, units.combine(node.op, left.unit, right.unit))


def _floor(node: Expression, scope: Scope, units: Units) -> Typed:
    return Typed("integer", number(infer(node.operands[0], scope, units), node).unit)


def _whole(node: Expression, scope: Scope, units: Units) -> Typed:
    operand = whole_number(infer(node.operands[0], scope, units), node.operands[0])
    units.factor(operand.unit, node.unit)
    return Typed("integer", node.unit)


def _as_unit(node: Expression, scope: Scope, units: Units) -> Typed:
    return Typed(number(infer(node.operands[0], scope, units), node).type, node.unit)


def _first(node: Expression, scope: Scope, units: Units) -> Typed:
    kinds = [infer(operand, scope, units) for operand in node.operands]
    common = kinds[0]
    for operand, kind in zip(node.operands[1:], kinds[1:], strict=True):
        common = _same(common, kind, operand, units)
    return common


def _compare(node: Expression, scope: Scope, units: Units) -> Typed:
    left, right = side_by_side(node, scope, units)
    _same(left, right, node.operands[1], units)
    return BOOLEAN


def _matches(node: Expression, scope: Scope, units: Units) -> Typed:
    for operand in node.operands:
        if (kind := infer(operand, scope, units)).type != "text":
            raise KindError("text", kind.type, operand)
    return BOOLEAN


def _logic(node: Expression, scope: Scope, units: Units) -> Typed:
    for operand in node.operands:
        kind = infer(operand, scope, units)
        if kind.type != "boolean":
            raise KindError("boolean", kind.type, operand)
    return BOOLEAN


def _presence(node: Expression, scope: Scope, units: Units) -> Typed:
    infer(node.operands[0], scope, units)
    return BOOLEAN


COMPARISONS = ("at_least", "at_most", "above", "below", "equals")
SUMS = ("plus", "minus")
#: what has two sides, each in the unit of the other
SIDE_BY_SIDE = (*COMPARISONS, *SUMS)

Rule = Callable[[Expression, Scope, Units], Typed]

_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("integer", "real", "text", "boolean", "quantity"), _literal),
    **dict.fromkeys(SUMS, _sum),
    **dict.fromkeys(("times", "over", "div"), _product),
    **dict.fromkeys(("coalesce", "greatest"), _first),
    **dict.fromkeys(COMPARISONS, _compare),
    **dict.fromkeys(("and", "or", "not"), _logic),
    **dict.fromkeys(("present", "absent"), _presence),
    "matches": _matches,
    "floor": _floor,
    "whole": _whole,
    "as_unit": _as_unit,
}
