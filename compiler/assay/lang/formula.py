"""Formulas: metrics over the values of other metrics; their inputs, grain and units.

Which they are over, in which grain, and what they come to.

A formula is worked out in base units, in exact fractions; `resolved` has written the conversions into it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from assay.lang.model.expression import Expression
from assay.lang.model.package import Metric, Package
from assay.lang.typing_rules import NONE, KindError, Typed, UnknownNameError
from assay.lang.units import UnitLibrary

#: the leaf that a table over declared classes puts the amount of each class in the place of
CLASS = "class"


class NoValueError(Exception):
    """A formula has no value; the message says why."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What a formula comes to; `reason` says why there is no value where there is none."""

    value: Fraction | None
    reason: str = ""


#: the value of a metric in its unit; NoValueError when it has none
Figures = Callable[[str], Fraction]


def is_formula(metric: Metric) -> bool:
    """Whether a metric is a formula over others."""
    return any(node.op == "metric" for node in metric.measure.walk())


def over(node: Expression) -> tuple[str, ...]:
    """The ids of the metrics that a formula is over, each once."""
    return tuple(dict.fromkeys(item.name for item in node.walk() if item.op == "metric"))


def by_id(package: Package) -> dict[str, Metric]:
    """The metrics of a package by their ids."""
    return {metric.id: metric for metric in package.metrics}


def measured(known: Mapping[str, Metric], metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    """The metrics that are measured for some: themselves, or those that formulas are over in the end; each once."""
    found: dict[str, Metric] = {}
    for metric in metrics:
        found.update((item.id, item) for item in _measured(known, metric, ()))
    return tuple(found.values())


def _measured(known: Mapping[str, Metric], metric: Metric, trail: tuple[str, ...]) -> Iterator[Metric]:
    if not is_formula(metric):
        yield metric
        return
    for name in over(metric.measure):
        if name in known and name not in trail:
            yield from _measured(known, known[name], (*trail, metric.id))


def constants_of(known: Mapping[str, Metric], metric: Metric) -> tuple[str, ...]:
    """The names of the constants that a formula is over, itself or through other formulas, in order."""
    found: set[str] = set()
    queue, done = [metric], set[str]()
    while queue:
        item = queue.pop()
        if item.id not in done and is_formula(item):
            done.add(item.id)
            found |= {node.name for node in item.measure.walk() if node.op == "constant"}
            queue += [known[name] for name in over(item.measure) if name in known]
    return tuple(sorted(found))


def grain(known: Mapping[str, Metric], metric: Metric) -> str:
    """The grain on whose rows a metric has a value; empty for a formula over metrics of several grains."""
    grains = {item.grain for item in measured(known, [metric])}
    return grains.pop() if len(grains) == 1 else ""


def evaluate(node: Expression, figures: Figures, constants: Mapping[str, object]) -> Figure:
    """What a resolved formula comes to, exact, in its own unit."""
    try:
        return Figure(_value(node, figures, constants))
    except NoValueError as why:
        return Figure(None, str(why))


def _value(node: Expression, figures: Figures, constants: Mapping[str, object]) -> Fraction:
    rule = _RULES.get(node.op)
    if rule:
        return rule(node, figures, constants)
    values = [_value(operand, figures, constants) for operand in node.operands]
    if node.op == "over":
        if values[1] == 0:
            raise NoValueError(f"division by zero: {format_formula(node.operands[1])} is 0")
        return values[0] / values[1]
    return _OPERATORS[node.op](values)


_OPERATORS: Mapping[str, Callable[[list[Fraction]], Fraction]] = {
    "plus": lambda values: values[0] + values[1],
    "minus": lambda values: values[0] - values[1],
    "times": lambda values: values[0] * values[1],
}


def _number(node: Expression, _figures: Figures, _constants: Mapping[str, object]) -> Fraction:
    assert node.number is not None
    return Fraction(node.number) * Fraction(node.factor or 1)


def _metric_value(node: Expression, figures: Figures, _constants: Mapping[str, object]) -> Fraction:
    return figures(node.name) * Fraction(node.factor)


def _constant_value(node: Expression, _figures: Figures, constants: Mapping[str, object]) -> Fraction:
    value = constants[node.name]
    if value is None:
        raise NoValueError(f"the run does not tell {node.name}")
    return Fraction(str(value)) * Fraction(node.factor)


def _scaled(node: Expression, figures: Figures, constants: Mapping[str, object]) -> Fraction:
    return _value(node.operands[0], figures, constants) * Fraction(node.factor)


def _first(node: Expression, figures: Figures, constants: Mapping[str, object]) -> Fraction:
    return present_operands(node, figures, constants)[0]


def _greatest(node: Expression, figures: Figures, constants: Mapping[str, object]) -> Fraction:
    return max(present_operands(node, figures, constants))


def present_operands(node: Expression, figures: Figures, constants: Mapping[str, object]) -> list[Fraction]:
    """The operands that have a value; NoValueError of the last one when none has."""
    found = [evaluate(operand, figures, constants) for operand in node.operands]
    values = [item.value for item in found if item.value is not None]
    if not values:
        raise NoValueError(found[-1].reason)
    return values


_RULES: Mapping[str, Callable[[Expression, Figures, Mapping[str, object]], Fraction]] = {
    **dict.fromkeys(("integer", "real", "quantity"), _number),
    **dict.fromkeys(("as_unit", "converted"), _scaled),
    "metric": _metric_value,
    "constant": _constant_value,
    "coalesce": _first,
    "greatest": _greatest,
}

#: what may stand in a formula
OPERATORS = (*_RULES, *_OPERATORS, "over", "parameter")


def number_text(text: str) -> str:
    """A decimal number without the zeros at its end: `4.0` is `4`."""
    return f"{Decimal(text).normalize():f}"


_SIGNS = {"plus": "+", "minus": "−", "times": "×", "over": "/"}


def format_formula(node: Expression) -> str:
    """A formula as people write it, with the ids of metrics and the names of units."""
    if node.op in ("converted", "as_unit"):
        return format_formula(node.operands[0])
    if node.op in _SIGNS:
        left, right = (_operand(operand, node.op, index) for index, operand in enumerate(node.operands))
        return f"{left} {_SIGNS[node.op]} {right}"
    if node.op in ("coalesce", "greatest"):
        said = ", ".join(format_formula(operand) for operand in node.operands)
        return f"{'first of' if node.op == 'coalesce' else 'greatest of'} ({said})"
    if node.number is not None:
        return f"{number_text(str(node.number))} {node.unit}".strip()
    return node.name


def _operand(node: Expression, op: str, index: int) -> str:
    """An operand, in parentheses where they are needed to read it right."""
    inner = node.operands[0] if node.op in ("converted", "as_unit") else node
    product = op in ("times", "over")
    needed = (inner.op in ("plus", "minus") and (product or (op == "minus" and index == 1))) or (
        op == "over" and index == 1 and inner.op in ("times", "over")
    )
    return f"({format_formula(node)})" if needed else format_formula(node)


def units_of(node: Expression) -> Sequence[tuple[str, Fraction, str]]:
    """The conversions of a resolved formula: (unit, its exact factor, base unit), each unit once, the formula's own
    last, those that convert nothing left out."""
    found: dict[str, tuple[str, Fraction, str]] = {}
    for item in sorted(node.walk(), key=lambda item: item.op == "converted"):
        if item.unit and item.factor and item.op != "as_unit":
            factor = Fraction(item.factor)
            found[item.unit] = (item.unit, 1 / factor if item.op == "converted" else factor, item.text)
    return [item for item in found.values() if item[0] != item[2]]


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


def _metric_unit(node: Expression, scope: FormulaScope) -> str:
    if node.name not in scope.metrics:
        raise UnknownNameError("metric", node.name, tuple(sorted(scope.metrics)))
    return scope.metrics[node.name]


def _constant_unit(node: Expression, scope: FormulaScope) -> str:
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
    "metric": _metric_unit,
    "constant": _constant_unit,
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
