"""Test units and formulas on random input: exact conversions, unit algebra, plain fractions."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.lang import formula
from assay.lang.expression_types import NONE, UnitError
from assay.lang.formula import FormulaScope, infer_unit, write_conversions
from assay.lang.model.expression import Expression, format_expression, parse_expression
from assay.lang.units import UnitLibrary, UnknownUnitError
from tests.support.documentation import find_code_spans, parse_page

LIBRARY = UnitLibrary(["block"])
BYTES = {
    "byte": 1,
    **{name: 1000**power for power, name in enumerate(("kilobyte", "megabyte", "gigabyte", "terabyte"), start=1)},
    **{name: 1024**power for power, name in enumerate(("kibibyte", "mebibyte", "gibibyte", "tebibyte"), start=1)},
}
TIMES = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "year": 365 * 86400}
OTHERS = {"nanosecond": Fraction(1, 10**9), "millisecond": Fraction(1, 1000), "percent": Fraction(1, 100), "block": 1}
SIZES: Mapping[str, Fraction] = {name: Fraction(size) for name, size in {**BYTES, **TIMES, **OTHERS}.items()}

amounts = st.sampled_from(sorted(BYTES))
rates = st.tuples(amounts, st.sampled_from(sorted(TIMES))).map(" / ".join)
names = st.sampled_from(sorted(SIZES))
products = st.lists(st.tuples(names, st.integers(-2, 2).filter(bool)), min_size=1, max_size=3).map(
    lambda parts: " * ".join(f"{name} ** {power}" for name, power in parts)
)


@pytest.mark.parametrize("name", BYTES)
def test_prefixes_of_bytes_are_exact(name: str) -> None:
    assert LIBRARY.compute_factor(name, "byte") == BYTES[name]
    for time, seconds in TIMES.items():
        assert LIBRARY.compute_factor(f"{name} / {time}", "byte / second") == Fraction(BYTES[name], seconds)


@given(st.one_of(st.tuples(amounts, amounts), st.tuples(rates, rates)), st.fractions())
def test_conversion_there_and_back_is_identity(pair: tuple[str, str], value: Fraction) -> None:
    one, other = pair
    assert value * LIBRARY.compute_factor(one, other) * LIBRARY.compute_factor(other, one) == value


@given(amounts, amounts, amounts)
def test_conversions_in_two_steps_equal_one(one: str, two: str, three: str) -> None:
    assert LIBRARY.compute_factor(one, two) * LIBRARY.compute_factor(two, three) == LIBRARY.compute_factor(one, three)


@given(products, products, products)
@settings(deadline=None)
def test_unit_algebra_is_associative_and_commutative(one: str, two: str, three: str) -> None:
    def multiply_units(left: str, right: str) -> str:
        return LIBRARY.combine("times", left, right)

    assert multiply_units(one, two) == multiply_units(two, one)
    assert multiply_units(multiply_units(one, two), three) == multiply_units(one, multiply_units(two, three))


@given(products)
@settings(deadline=None)
def test_unit_over_itself_is_none_and_none_is_neutral(unit: str) -> None:
    assert LIBRARY.combine("over", unit, unit) == NONE
    assert LIBRARY.compute_factor(LIBRARY.combine("times", unit, NONE), unit) == 1


@given(products, products)
@settings(deadline=None)
def test_division_undoes_multiplication(one: str, two: str) -> None:
    product = LIBRARY.combine("times", one, two)
    assert LIBRARY.compute_factor(LIBRARY.combine("over", product, two), one) == 1
    assert LIBRARY.convert_to_base(product)[0] == LIBRARY.convert_to_base(one)[0] * LIBRARY.convert_to_base(two)[0]


@given(products)
@settings(deadline=None)
def test_missing_factor_makes_unit_convertible(unit: str) -> None:
    missing = LIBRARY.find_missing_factor(unit, "terabyte / year")
    assert LIBRARY.compute_factor(LIBRARY.combine("times", unit, missing), "terabyte / year") > 0


def test_inconvertible_units_are_refused_with_both_names() -> None:
    with pytest.raises(UnitError) as error_info:
        LIBRARY.compute_factor("megabyte / second", "terabyte")
    assert (error_info.value.expected, error_info.value.actual) == ("terabyte", "megabyte / second")


def test_root_of_unit_is_no_unit() -> None:
    with pytest.raises(UnknownUnitError):
        LIBRARY.compute_factor("byte ** 0.5", "byte")


def test_language_page_has_the_conversion_factors() -> None:
    table = next(item for item in parse_page("docs/spec-language/units.md").tables if item.header[:2] == ("unit", "is"))
    factors = {find_code_spans(row[0])[0]: Fraction(find_code_spans(row[1])[0].split()[0]) for row in table.rows}
    bases = {find_code_spans(row[0])[0]: find_code_spans(row[1])[0].split(maxsplit=1)[1] for row in table.rows}
    assert set(factors) == {*BYTES, *TIMES} - {"byte", "second"}
    assert factors == {name: LIBRARY.compute_factor(name, bases[name]) for name in factors}


# Formulas: random trees of amounts and numbers

METRICS = {"written": "megabyte", "read": "kibibyte", "rate": "tebibyte / day", "share": "percent", "zero": "byte"}
SCOPE = FormulaScope(METRICS, {})
FIGURES = {
    "written": Fraction(7, 2),
    "read": Fraction(-3),
    "rate": Fraction(1, 7),
    "share": Fraction(40),
    "zero": Fraction(0),
}
AMOUNTS = ("written", "read", "zero")


def create_leaf(name: str) -> Expression:
    return Expression("metric", name=name)


numbers = st.one_of(
    st.integers(-9, 9).map(lambda value: Expression("integer", number=Decimal(value))),
    st.sampled_from(["0.5", "2.25", "-0.1"]).map(lambda text: Expression("real", number=Decimal(text))),
    st.just(create_leaf("share")),
)
bytes_ = st.one_of(
    st.sampled_from(AMOUNTS).map(create_leaf),
    st.tuples(st.sampled_from(["1.5", "3.0"]), amounts).map(
        lambda pair: Expression("quantity", number=Decimal(pair[0]), unit=pair[1])
    ),
    st.sampled_from(["86400.0"]).map(
        lambda text: Expression(
            "times", (create_leaf("rate"), Expression("quantity", number=Decimal(text), unit="second"))
        )
    ),
)
trees = st.recursive(
    bytes_,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["plus", "minus", "greatest", "coalesce"]), inner, inner).map(
            lambda node: Expression(node[0], node[1:])
        ),
        st.tuples(inner, numbers).map(lambda pair: Expression("times", pair)),
        st.tuples(inner, numbers).map(lambda pair: Expression("over", pair)),
        st.tuples(inner, inner, inner).map(
            lambda operand_trees: Expression("times", (operand_trees[0], Expression("over", operand_trees[1:])))
        ),
    ),
    max_leaves=8,
)


def evaluate_plainly(node: Expression) -> Fraction | None:
    """Evaluate a tree in base units (bytes, seconds, numbers); None after a division by 0."""
    if node.op == "metric":
        amount, _, time = METRICS[node.name].partition(" / ")
        return FIGURES[node.name] * SIZES[amount] / (SIZES[time] if time else 1)
    if node.number is not None:
        return Fraction(node.number) * (SIZES[node.unit] if node.unit else 1)
    values = [evaluate_plainly(operand) for operand in node.operands]
    present_values = [value for value in values if value is not None]
    if node.op in ("greatest", "coalesce"):
        return (max(present_values) if node.op == "greatest" else present_values[0]) if present_values else None
    if len(present_values) < 2 or (node.op == "over" and present_values[1] == 0):
        return None
    return {
        "plus": lambda a, b: a + b, "minus": lambda a, b: a - b,
        "times": lambda a, b: a * b, "over": lambda a, b: a / b,
    }[node.op](*present_values)  # fmt: skip


@given(trees, amounts)
@settings(deadline=None)
def test_formula_equals_plain_fractions(tree: Expression, unit: str) -> None:
    assert LIBRARY.compute_factor(infer_unit(tree, SCOPE, LIBRARY), unit)
    node = write_conversions(tree, unit, SCOPE, LIBRARY)
    actual = formula.evaluate(node, FIGURES.__getitem__, {})
    expected = evaluate_plainly(tree)
    assert actual.value == (None if expected is None else expected / SIZES[unit])
    assert bool(actual.reason) == (expected is None)


@given(trees)
@settings(deadline=None)
def test_resolved_formula_round_trips_as_text(tree: Expression) -> None:
    node = write_conversions(tree, "terabyte", SCOPE, LIBRARY)
    assert parse_expression(format_expression(node)) == node


def test_metric_with_unusual_id_round_trips() -> None:
    node = Expression("metric", name="disk-writes.total", unit="byte", factor="1", text="byte")
    assert format_expression(node) == 'metric "disk-writes.total"[byte = 1 byte]'
    assert parse_expression(format_expression(node)) == node


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("over(metric a, times(metric b, metric c))", "a / (b × c)"),
        ("times(plus(metric a, metric b), 365.0 [day])", "(a + b) × 365 day"),
        ("over(metric a, 2.0 [count])", "a / 2"),
        ("minus(metric a, minus(metric b, metric c))", "a − (b − c)"),
        ("minus(minus(metric a, metric b), metric c)", "a − b − c"),
        ("times(over(metric a, metric b), 100)", "a / b × 100"),
        ("coalesce(metric a, greatest(metric b, 0.5))", "first of (a, greatest of (b, 0.5))"),
    ],
)
def test_formulas_are_printed_in_common_notation(text: str, expected: str) -> None:
    assert formula.format_formula(parse_expression(text)) == expected
