"""Units of formulas: in which unit one comes out, and the exact conversions of all that it is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from assay.lang.formula import CLASS, OPERATORS
from assay.lang.model.expression import Expression
from assay.lang.typing_rules import NONE, KindError, Typed, UnknownNameError
from assay.lang.units import UnitLibrary


@dataclass(frozen=True, slots=True)
class FormulaScope:
    """What a formula may refer to: metrics by their units, constants of the run by type and unit, the unit of each
    class's amount (empty: it is over no classes)."""

    metrics: Mapping[str, str]
    constants: Mapping[str, Typed]
    amount: str = ""


def unit_of(node: Expression, scope: FormulaScope, library: UnitLibrary) -> str:
    """The unit in which a formula comes out.

    Operands of sums are converted to the first one's unit.  Raises UnknownNameError, KindError, UnitError,
    UnknownUnitError.
    """
    if node.op not in OPERATORS:
        known = node.op in ("column", "instant", "field", "taken")
        if known:
            raise UnknownNameError(node.op, node.name, ())
        raise KindError("arithmetic over values of metrics", node.op, node)
    units = [unit_of(operand, scope, library) for operand in node.operands]
    leaf = _LEAVES.get(node.op)
    if leaf:
        unit = leaf(node, scope)
        library.unit(unit)
        return unit
    if node.op in ("times", "over"):
        return library.combine(node.op, *units)
    for unit in units[1:]:
        library.factor(unit, units[0])
    return units[0]


def _metric(node: Expression, scope: FormulaScope) -> str:
    if node.name not in scope.metrics:
        raise UnknownNameError("metric", node.name, tuple(sorted(scope.metrics)))
    return scope.metrics[node.name]


def _constant(node: Expression, scope: FormulaScope) -> str:
    if node.name not in scope.constants:
        raise UnknownNameError("constant", node.name, tuple(sorted(scope.constants)))
    found = scope.constants[node.name]
    if found.type not in ("integer", "real"):
        raise KindError("a number", found.type, node)
    return found.unit


def _amount(node: Expression, scope: FormulaScope) -> str:
    if node.name != CLASS or not scope.amount:
        raise UnknownNameError("parameter", node.name, (CLASS,) if scope.amount else ())
    return scope.amount


_LEAVES: Mapping[str, Callable[[Expression, FormulaScope], str]] = {
    "integer": lambda _node, _scope: NONE,
    "real": lambda _node, _scope: NONE,
    "quantity": lambda node, _scope: node.unit,
    "as_unit": lambda node, _scope: node.unit,
    "metric": _metric,
    "constant": _constant,
    "parameter": _amount,
}


def resolved(node: Expression, unit: str, scope: FormulaScope, library: UnitLibrary) -> Expression:
    """A formula with its conversions written into it: of each leaf to base units, of the whole from them to `unit`.

    One that has them already, as a normal form tells it, has them once in what comes of it."""
    factor, base = library.base(unit)
    bare = node.operands[0] if node.op == "converted" else node
    return Expression("converted", (_based(bare, scope, library),), text=base, unit=unit, factor=str(1 / factor))


def _based(node: Expression, scope: FormulaScope, library: UnitLibrary) -> Expression:
    operands = tuple(_based(operand, scope, library) for operand in node.operands)
    if node.op in ("metric", "constant", "quantity"):
        unit = unit_of(node, scope, library)
        factor, base = library.base(unit)
        return replace(node, unit=unit, factor=str(factor), text=base)
    if node.op == "as_unit":
        found = unit_of(node.operands[0], scope, library)
        ratio: Fraction = library.base(node.unit)[0] / library.base(found)[0]
        return replace(node, operands=operands, factor=str(ratio))
    return replace(node, operands=operands)
