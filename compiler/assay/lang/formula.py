"""Evaluate formulas, metrics over the values of other metrics, and infer their inputs, grain and unit.

A formula is evaluated in base units, in exact fractions; `write_conversions` writes the conversions into it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from assay.lang.expression_types import COUNT, NONE, KindError, UnknownNameError, ValueType
from assay.lang.model.expression import Expression
from assay.lang.model.package import Metric, Package
from assay.lang.units import UnitLibrary

#: parameter of formulas in a table over classes; its value is the amount of a class
CLASS = "class"


class NoValueError(Exception):
    """A formula has no value; the message says why."""


@dataclass(frozen=True, slots=True)
class Figure:
    """The value of a formula, or the `reason` why there is none."""

    value: Fraction | None
    reason: str = ""


#: the value of a metric in its unit; NoValueError when it has none
Figures = Callable[[str], Fraction]


def is_formula(metric: Metric) -> bool:
    """Return whether a metric is a formula over others."""
    return any(node.op == "metric" for node in metric.measure.walk())


def list_inputs(node: Expression) -> tuple[str, ...]:
    """Return the distinct ids of the metrics that a formula refers to."""
    return tuple(dict.fromkeys(item.name for item in node.walk() if item.op == "metric"))


def index_metrics(package: Package) -> dict[str, Metric]:
    """Return the metrics of a package by id."""
    return {metric.id: metric for metric in package.metrics}


def list_measured(metrics_by_id: Mapping[str, Metric], metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    """Return the distinct measured metrics that some metrics depend on.

    These are the metrics themselves, or the measured metrics behind a formula.  `metrics_by_id` may lack inputs.
    """
    measured_by_id: dict[str, Metric] = {}
    for metric in metrics:
        measured_by_id.update((item.id, item) for item in _iter_measured(metrics_by_id, metric, ()))
    return tuple(measured_by_id.values())


def _iter_measured(metrics_by_id: Mapping[str, Metric], metric: Metric, trail: tuple[str, ...]) -> Iterator[Metric]:
    if not is_formula(metric):
        yield metric
        return
    for name in list_inputs(metric.measure):
        if name in metrics_by_id and name not in trail:
            yield from _iter_measured(metrics_by_id, metrics_by_id[name], (*trail, metric.id))


def is_smooth(metrics_by_id: Mapping[str, Metric], metric: Metric) -> bool:
    """Return whether a small change of an input changes a formula in proportion, also through other formulas."""
    if any(node.op == "greatest" for node in metric.measure.walk()):
        return False
    inputs = (metrics_by_id[name] for name in list_inputs(metric.measure) if name in metrics_by_id)
    return all(is_smooth(metrics_by_id, item) for item in inputs if is_formula(item))


def list_constants(metrics_by_id: Mapping[str, Metric], metric: Metric) -> tuple[str, ...]:
    """Return the sorted names of the constants that a formula refers to, itself or through other formulas."""
    names: set[str] = set()
    queue, visited = [metric], set[str]()
    while queue:
        item = queue.pop()
        if item.id not in visited and is_formula(item):
            visited.add(item.id)
            names |= {node.name for node in item.measure.walk() if node.op == "constant"}
            queue += [metrics_by_id[input_id] for input_id in list_inputs(item.measure) if input_id in metrics_by_id]
    return tuple(sorted(names))


def find_grain(metrics_by_id: Mapping[str, Metric], metric: Metric) -> str:
    """Return the grain on whose rows a metric has a value; empty for a formula over several grains."""
    grains = {item.grain for item in list_measured(metrics_by_id, [metric])}
    return grains.pop() if len(grains) == 1 else ""


def evaluate(node: Expression, figures: Figures, constants: Mapping[str, object]) -> Figure:
    """Return the exact value of a resolved formula, in its own unit."""
    try:
        return Figure(_evaluate(node, figures, constants))
    except NoValueError as error:
        return Figure(None, str(error))


def _evaluate(node: Expression, figures: Figures, constants: Mapping[str, object]) -> Fraction:
    rule = _RULES.get(node.op)
    if rule:
        return rule(node, figures, constants)
    values = [_evaluate(operand, figures, constants) for operand in node.operands]
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


def _evaluate_number(node: Expression, _figures: Figures, _constants: Mapping[str, object]) -> Fraction:
    assert node.number is not None
    return Fraction(node.number) * Fraction(node.factor or 1)


def _evaluate_metric(node: Expression, figures: Figures, _constants: Mapping[str, object]) -> Fraction:
    return figures(node.name) * Fraction(node.factor)


def _evaluate_constant(node: Expression, _figures: Figures, constants: Mapping[str, object]) -> Fraction:
    value = constants[node.name]
    if value is None:
        raise NoValueError(f"the run has no constant {node.name}")
    return Fraction(str(value)) * Fraction(node.factor)


def _scale(node: Expression, figures: Figures, constants: Mapping[str, object]) -> Fraction:
    return _evaluate(node.operands[0], figures, constants) * Fraction(node.factor)


def _evaluate_coalesce(node: Expression, figures: Figures, constants: Mapping[str, object]) -> Fraction:
    return evaluate_present(node, figures, constants)[0]


def _evaluate_greatest(node: Expression, figures: Figures, constants: Mapping[str, object]) -> Fraction:
    return max(evaluate_present(node, figures, constants))


def evaluate_present(node: Expression, figures: Figures, constants: Mapping[str, object]) -> list[Fraction]:
    """Return the values of the operands that have one.  Raises NoValueError, of the last operand, if none has."""
    results = [evaluate(operand, figures, constants) for operand in node.operands]
    values = [item.value for item in results if item.value is not None]
    if not values:
        raise NoValueError(results[-1].reason)
    return values


_RULES: Mapping[str, Callable[[Expression, Figures, Mapping[str, object]], Fraction]] = {
    **dict.fromkeys(("integer", "real", "quantity"), _evaluate_number),
    **dict.fromkeys(("as_unit", "converted"), _scale),
    "metric": _evaluate_metric,
    "constant": _evaluate_constant,
    "coalesce": _evaluate_coalesce,
    "greatest": _evaluate_greatest,
}

#: operators that a formula may use
OPERATORS = (*_RULES, *_OPERATORS, "over", "parameter")


def format_number(text: str) -> str:
    """Return a decimal number without trailing zeros: `4.0` is `4`."""
    return f"{Decimal(text).normalize():f}"


def format_quantity(number: str, unit: str) -> str:
    """Return a number with the name of its unit; counts and plain numbers are written without."""
    return number if unit in ("", NONE, COUNT) else f"{number} {unit}"


_SIGNS = {"plus": "+", "minus": "−", "times": "×", "over": "/"}


def format_formula(node: Expression) -> str:
    """Return a formula in infix notation, with ids of metrics and names of units."""
    if node.op in ("converted", "as_unit"):
        return format_formula(node.operands[0])
    if node.op in _SIGNS:
        left, right = (_format_operand(operand, node.op, index) for index, operand in enumerate(node.operands))
        return f"{left} {_SIGNS[node.op]} {right}"
    if node.op in ("coalesce", "greatest"):
        operands = ", ".join(format_formula(operand) for operand in node.operands)
        return f"{'first of' if node.op == 'coalesce' else 'greatest of'} ({operands})"
    if node.number is not None:
        return format_quantity(format_number(str(node.number)), node.unit)
    return node.name


def _format_operand(node: Expression, op: str, index: int) -> str:
    """Return an operand, in parentheses where precedence requires them."""
    inner = node.operands[0] if node.op in ("converted", "as_unit") else node
    is_product = op in ("times", "over")
    needs_parentheses = (inner.op in ("plus", "minus") and (is_product or (op == "minus" and index == 1))) or (
        op == "over" and index == 1 and inner.op in ("times", "over")
    )
    return f"({format_formula(node)})" if needs_parentheses else format_formula(node)


def list_conversions(node: Expression) -> Sequence[tuple[str, Fraction, str]]:
    """Return the distinct conversions of a resolved formula as (unit, exact factor, base unit).

    The formula's own unit is last.  Units that are their own base unit are left out.
    """
    conversions: dict[str, tuple[str, Fraction, str]] = {}
    for item in sorted(node.walk(), key=lambda item: item.op == "converted"):
        if item.unit and item.factor and item.op != "as_unit":
            factor = Fraction(item.factor)
            conversions[item.unit] = (item.unit, 1 / factor if item.op == "converted" else factor, item.text)
    return [item for item in conversions.values() if item[0] != item[2]]


@dataclass(frozen=True, slots=True)
class FormulaScope:
    """What a formula may refer to: metrics with their units, and constants of the run.

    `amount` is the unit of the amounts of classes; empty for a formula that is not over classes.
    """

    metrics: Mapping[str, str]
    constants: Mapping[str, ValueType]
    amount: str = ""


def infer_unit(node: Expression, scope: FormulaScope, library: UnitLibrary) -> str:
    """Return the unit of a formula.

    Operands of sums are converted to the unit of the first.  Raises UnknownNameError, KindError, UnitError,
    UnknownUnitError.
    """
    if node.op not in OPERATORS:
        if node.op in ("column", "instant", "field", "taken"):
            raise UnknownNameError(node.op, node.name, ())
        raise KindError("arithmetic over values of metrics", node.op, node)
    units = [infer_unit(operand, scope, library) for operand in node.operands]
    leaf = _LEAVES.get(node.op)
    if leaf:
        unit = leaf(node, scope)
        library.check_unit(unit)
        return unit
    if node.op in ("times", "over"):
        return library.combine(node.op, *units)
    for unit in units[1:]:
        library.compute_factor(unit, units[0])
    return units[0]


def _get_metric_unit(node: Expression, scope: FormulaScope) -> str:
    if node.name not in scope.metrics:
        raise UnknownNameError("metric", node.name, tuple(sorted(scope.metrics)))
    return scope.metrics[node.name]


def _get_constant_unit(node: Expression, scope: FormulaScope) -> str:
    if node.name not in scope.constants:
        raise UnknownNameError("constant", node.name, tuple(sorted(scope.constants)))
    constant = scope.constants[node.name]
    if constant.type not in ("integer", "real"):
        raise KindError("a number", constant.type, node)
    return constant.unit


def _get_class_unit(node: Expression, scope: FormulaScope) -> str:
    if node.name != CLASS or not scope.amount:
        raise UnknownNameError("parameter", node.name, (CLASS,) if scope.amount else ())
    return scope.amount


_LEAVES: Mapping[str, Callable[[Expression, FormulaScope], str]] = {
    "integer": lambda _node, _scope: NONE,
    "real": lambda _node, _scope: NONE,
    "quantity": lambda node, _scope: node.unit,
    "as_unit": lambda node, _scope: node.unit,
    "metric": _get_metric_unit,
    "constant": _get_constant_unit,
    "parameter": _get_class_unit,
}


def write_conversions(node: Expression, unit: str, scope: FormulaScope, library: UnitLibrary) -> Expression:
    """Return a formula with its conversions: each leaf to base units, the result from these to `unit`.

    A formula that has conversions already, from a normal form, gets them once.
    """
    factor, base = library.convert_to_base(unit)
    bare = node.operands[0] if node.op == "converted" else node
    return Expression(
        "converted", (_convert_to_base(bare, scope, library),), text=base, unit=unit, factor=str(1 / factor)
    )


def _convert_to_base(node: Expression, scope: FormulaScope, library: UnitLibrary) -> Expression:
    operands = tuple(_convert_to_base(operand, scope, library) for operand in node.operands)
    if node.op in ("metric", "constant", "quantity"):
        unit = infer_unit(node, scope, library)
        factor, base = library.convert_to_base(unit)
        return replace(node, unit=unit, factor=str(factor), text=base)
    if node.op == "as_unit":
        operand_unit = infer_unit(node.operands[0], scope, library)
        ratio: Fraction = library.convert_to_base(node.unit)[0] / library.convert_to_base(operand_unit)[0]
        return replace(node, operands=operands, factor=str(ratio))
    return replace(node, operands=operands)
