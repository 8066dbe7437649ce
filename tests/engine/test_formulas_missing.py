"""Test formulas over missing figures: values that remain, and reasons for absent ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import cast

import pytest

from assay.engine.results import Formulas, HostRow, build_average_lookup, build_row_lookup, summarize_pooled
from assay.lang import formula
from assay.lang.checked_package import CheckedPackage, MeasureResult
from assay.lang.formula import Figure, NoValueError
from assay.lang.model.expression import Expression, parse_expression
from assay.lang.model.package import Package
from assay.lang.model.vocabulary import Summary
from assay.lang.workspace import get_shipped_workspace, load_package
from assay.util.centiles import CENTILES

ALL = Summary("all", 0, "mean", False, "")


def evaluate(text: str, figures: Mapping[str, Fraction | int | None], **constants: object) -> Figure:
    """Evaluate a formula; metrics with None have no samples."""

    def get_value(name: str) -> Fraction:
        figure = figures[name]
        if figure is None:
            raise NoValueError(f"{name} has no samples")
        return Fraction(figure)

    return formula.evaluate(_set_factors_to_one(parse_expression(text)), get_value, constants)


def _set_factors_to_one(node: Expression) -> Expression:
    """Return the formula with all factors 1, as `resolve` writes them."""
    operands = tuple(map(_set_factors_to_one, node.operands))
    return replace(node, operands=operands, factor="1" if node.op in ("metric", "constant") else node.factor)


@pytest.mark.parametrize(
    ("text", "figures", "expected"),
    [
        ("coalesce(metric a, metric b)", {"a": None, "b": 2}, 2),
        ("coalesce(metric a, metric b)", {"a": 1, "b": None}, 1),
        ("coalesce(metric a, metric b)", {"a": 1, "b": 2}, 1),
        ("coalesce(over(metric a, metric b), metric a)", {"a": 3, "b": 0}, 3),
        ("greatest(metric a, metric b, metric c)", {"a": 3, "b": None, "c": 5}, 5),
        ("greatest(metric a, metric b)", {"a": -3, "b": None}, -3),
    ],
)
def test_first_and_greatest_ignore_missing_values(text: str, figures: Mapping[str, int | None], expected: int) -> None:
    assert evaluate(text, figures) == Figure(Fraction(expected))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("coalesce(metric a, metric b)", "b has no samples"),
        ("greatest(metric b, metric a)", "a has no samples"),
        ("plus(metric c, metric a)", "a has no samples"),
        ("over(metric c, minus(metric c, metric c))", "division by zero: c − c is 0"),
        ("times(metric c, constant rate)", "the run has no constant rate"),
    ],
)
def test_formula_without_value_has_a_reason(text: str, reason: str) -> None:
    """It names the last of several missing operands."""
    assert evaluate(text, {"a": None, "b": None, "c": 7}, rate=None) == Figure(None, reason)


def test_constant_equals_its_decimal_text() -> None:
    assert evaluate("times(metric c, constant rate)", {"c": 7}, rate=0.1) == Figure(Fraction(7, 10))


@pytest.fixture(scope="module")
def checked(cache: Path) -> CheckedPackage:
    """Return a package with two measured metrics, their quotient, and twice the quotient."""
    package = load_package(get_shipped_workspace(), "cardano", cache)
    base_metric = next(metric for metric in package.package.metrics if metric.reduction is None)
    texts = {"quotient": "over(metric a, metric b)", "twice": "times(metric quotient, 2)"}
    formulas = (
        replace(base_metric, id=name, grain="", measure=_set_factors_to_one(parse_expression(text)))
        for name, text in texts.items()
    )
    metrics = (replace(base_metric, id="a"), replace(base_metric, id="b"), *formulas)
    return replace(package, package=replace(package.package, metrics=metrics))


def test_nested_formula_has_value_or_reason(checked: CheckedPackage) -> None:
    formulas = Formulas(checked, {}, {})
    (doubled_metric,) = (metric for metric in checked.package.metrics if metric.id == "twice")
    assert formulas.evaluate_number(doubled_metric, {"a": Fraction(3), "b": Fraction(4)}.__getitem__) == 1.5
    assert formulas.notes == {}
    for _ in range(2):
        assert formulas.evaluate_number(doubled_metric, {"a": Fraction(3), "b": Fraction(0)}.__getitem__) is None
    assert list(formulas.notes) == ["twice has no value: division by zero: b is 0."]


def test_averages_are_exact_or_missing() -> None:
    def compute_average(size: int, mean: float) -> Fraction:
        row = HostRow(size, mean, 0.0, (0,) * len(CENTILES))
        return build_average_lookup({"a": summarize_pooled(row, [ALL], Fraction(1, 3), integral=False)}, "all")("a")

    assert compute_average(2, 0.1) == Fraction(0.1) / 3
    for size, mean, reason in ((0, 0.0, "a has no samples"), (1, math.inf, "a is not a finite number")):
        with pytest.raises(NoValueError, match=f"^{reason}$"):
            compute_average(size, mean)


def test_row_values_are_exact_or_missing() -> None:
    """The grain has nanoseconds, the formula 1.5 s."""
    package = CheckedPackage(
        cast(Package, None), {"a": MeasureResult("integer", "nanosecond", Fraction(1, 10**9))}, {}, ""
    )
    assert build_row_lookup(package, {"a": 1_500_000_000})("a") == Fraction(3, 2)
    for value in (None, math.nan, math.inf, "12"):
        with pytest.raises(NoValueError, match=r"^a has no value$"):
            build_row_lookup(package, {"a": value})("a")
