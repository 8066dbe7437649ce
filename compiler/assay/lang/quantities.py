"""Tell what kind of quantity a metric measures, and so which values are possible."""

from __future__ import annotations

from collections.abc import Set

from assay.lang.expression_types import UnitError
from assay.lang.model.expression import Expression
from assay.lang.model.package import Grain, Metric
from assay.lang.units import UnitLibrary, UnknownUnitError

DURATION, SIZE, COUNT, RATE, SHARE, SIGNED = "duration", "size", "count", "rate", "share", "signed"
QUANTITIES = (DURATION, SIZE, COUNT, RATE, SHARE, SIGNED)
#: quantities of which no value is below 0
UNSIGNED = (DURATION, SIZE, COUNT, RATE, SHARE)
#: base units by which quantities are recognized
_QUANTITIES_BY_UNIT = {"second": DURATION, "byte": SIZE, "count": COUNT, "event": COUNT}
#: operators around a measure that keep its sign
_TRANSPARENT = ("whole", "as_unit", "converted", "floor")


def find_quantity(library: UnitLibrary, metric: Metric, grain: Grain) -> str:
    """Return the quantity that a metric declares, or that its unit and measure show; empty if they show none.

    A difference of instants is a duration. Other differences may have any sign.
    """
    if metric.quantity:
        return metric.quantity
    measure = unwrap_measure(metric.measure)
    if measure.op == "minus":
        instants = {item.name for item in grain.all_columns if item.type == "instant"}
        return DURATION if all(_is_instant(operand, instants) for operand in measure.operands) else ""
    try:
        return _QUANTITIES_BY_UNIT.get(library.convert_to_base(metric.unit.name)[1], "")
    except (UnitError, UnknownUnitError):
        return ""


def find_contradicted_unit(library: UnitLibrary, metric: Metric) -> str:
    """Return the base unit of a metric whose declared quantity has another one; empty if they agree, or may."""
    if metric.quantity not in (DURATION, SIZE, SHARE):
        return ""
    try:
        base = library.convert_to_base(metric.unit.name)[1]
    except (UnitError, UnknownUnitError):
        return ""
    return base if _QUANTITIES_BY_UNIT.get(base, metric.quantity) != metric.quantity else ""


def unwrap_measure(measure: Expression) -> Expression:
    """Return a measure without the conversions around it."""
    while measure.op in _TRANSPARENT:
        (measure,) = measure.operands
    return measure


def _is_instant(operand: Expression, columns: Set[str]) -> bool:
    """Return whether an operand is an instant, a column of instants, or one of several."""
    if operand.op in ("coalesce", "greatest"):
        return all(_is_instant(item, columns) for item in operand.operands)
    return operand.op == "instant" or (operand.op == "column" and operand.name in columns)
