"""Test the SQL of expressions against plain Python, including absent values and zeros."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction

import duckdb
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from assay.lang.expression_types import NONE, KindError, Scope, ValueType, infer
from assay.lang.expression_wording import describe_expression
from assay.lang.model.expression import ARITY, LEAVES, Expression
from assay.lang.units import UnitLibrary
from assay.sql.expressions import Names, compile_expression
from tests.support.deep import scale_examples

Value = int | float | bool | str | None
Row = Mapping[str, Value]

COLUMNS = {"i": "integer", "j": "integer", "r": "real", "q": "real", "b": "boolean", "c": "boolean", "t": "text"}
TYPES = {"integer": "BIGINT", "real": "DOUBLE", "boolean": "BOOLEAN", "text": "VARCHAR"}
SCOPE = Scope({"column": {name: ValueType(kind) for name, kind in COLUMNS.items()}})
UNITS = UnitLibrary(()).get_units()
TEXTS = ("started", "ended", "")
FACTORS = ("1/8", "1000", "3/7")
COMPARED: Mapping[str, Callable[[float, float], bool]] = {
    "at_least": lambda a, b: a >= b,
    "at_most": lambda a, b: a <= b,
    "above": lambda a, b: a > b,
    "below": lambda a, b: a < b,
    "equals": lambda a, b: a == b,
}

small = st.integers(-60, 60)
rough = st.sampled_from([-2.5, -1.0, -0.0, 0.0, 0.1, 0.75, 3.0, 12.5])
rows = st.fixed_dictionaries(
    {
        "i": st.none() | small, "j": st.none() | small, "r": st.none() | rough, "q": st.none() | rough,
        "b": st.none() | st.booleans(), "c": st.none() | st.booleans(), "t": st.none() | st.sampled_from(TEXTS),
    }
)  # fmt: skip


def create_node(op: str, *operands: Expression) -> Expression:
    return Expression(op, operands)


def generate_columns(kind: str) -> st.SearchStrategy[Expression]:
    return st.sampled_from(
        [Expression("column", name=name) for name, column_type in COLUMNS.items() if column_type == kind]
    )


def generate_operations(ops: tuple[str, ...], *parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.tuples(st.sampled_from(ops), *parts).map(lambda actual_parts: create_node(*actual_parts))


integers: st.SearchStrategy[Expression] = st.deferred(
    lambda: st.one_of(
        generate_columns("integer"),
        small.map(lambda value: Expression("integer", number=Decimal(value))),
        generate_operations(("plus", "minus", "times", "div", "greatest", "coalesce"), integers, integers),
        generate_operations(("floor",), numbers),
        generate_operations(("one_if",), conditions),
        generate_operations(("when",), integers, conditions),
        st.tuples(integers, st.sampled_from(FACTORS)).map(
            lambda parts: Expression("whole", (parts[0],), unit=NONE, factor=parts[1])
        ),
    )
)
reals: st.SearchStrategy[Expression] = st.deferred(
    lambda: st.one_of(
        generate_columns("real"),
        rough.map(lambda value: Expression("real", number=Decimal(str(value)))),
        generate_operations(("over",), numbers, numbers),
        generate_operations(("plus", "minus", "times", "greatest", "coalesce"), reals, numbers),
        generate_operations(("when",), reals, conditions),
    )
)
numbers = integers | reals
conditions: st.SearchStrategy[Expression] = st.deferred(
    lambda: st.one_of(
        generate_columns("boolean"),
        generate_operations(tuple(COMPARED), numbers, numbers),
        generate_operations(("and", "or"), conditions, conditions),
        generate_operations(("not",), conditions),
        generate_operations(("present", "absent"), st.one_of(numbers, conditions, generate_columns("text"))),
        st.sampled_from(["start.*", "(started)?", "art"]).map(
            lambda pattern: create_node("matches", Expression("column", name="t"), Expression("text", text=pattern))
        ),
    )
)


def evaluate_plainly(expression: Expression, row: Row) -> Value:
    """Evaluate an expression for a row; None if it has no value."""
    if expression.op == "column":
        return row[expression.name]
    if expression.number is not None:
        return int(expression.number) if expression.op == "integer" else float(expression.number)
    if expression.op == "text":
        return expression.text
    values = [evaluate_plainly(operand, row) for operand in expression.operands]
    present_values = [value for value in values if value is not None]
    if expression.op in ("present", "absent"):
        return bool(present_values) == (expression.op == "present")
    if expression.op in ("and", "or"):
        deciding_value = expression.op == "or"
        return deciding_value if deciding_value in present_values else None if None in values else not deciding_value
    if expression.op == "when":
        return values[0] if values[1] else None
    if expression.op == "coalesce":
        return present_values[0] if present_values else None
    if expression.op == "greatest":
        return max(present_values, key=to_number) if present_values else None
    return None if None in values else apply_operator(expression, present_values)


def to_number(value: Value) -> float:
    assert isinstance(value, (int, float))
    return value


def apply_operator(expression: Expression, values: list[int | float | bool | str]) -> Value:
    """Apply an operator to present values."""
    if expression.op == "matches":
        return re.fullmatch(str(values[1]), str(values[0])) is not None
    if expression.op == "not":
        return not values[0]
    if expression.op == "one_if":
        return int(bool(values[0]))
    a, b = to_number(values[0]), to_number(values[-1])
    if expression.op in COMPARED:
        return COMPARED[expression.op](a, b)
    if expression.op == "floor":
        return math.floor(a)
    if expression.op == "whole":
        return math.trunc(Fraction(a) * Fraction(expression.factor))
    if expression.op in ("over", "div"):
        if b == 0:
            return None
        return a / b if expression.op == "over" else math.trunc(Fraction(a) / Fraction(b))
    return {"plus": a + b, "minus": a - b, "times": a * b}[expression.op]


@pytest.fixture(scope="module")
def engine() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


@given(tree=st.one_of(integers, reals, conditions), row=rows)
@settings(deadline=None, max_examples=scale_examples(400))
def test_sql_equals_plain_python(engine: duckdb.DuckDBPyConnection, tree: Expression, row: Row) -> None:
    assume(
        all(
            abs(to_number(evaluate_plainly(part, row) or 0)) < 2**53
            for part in tree.walk()
            if part.op not in ("column", "text")
        )
    )
    kind = infer(tree, SCOPE, UNITS).type
    given_row = ", ".join(f"CAST(${name} AS {TYPES[column_type]}) AS {name}" for name, column_type in COLUMNS.items())
    sql = compile_expression(tree, Names()).sql(dialect="duckdb")
    value, value_type = engine.execute(f"SELECT {sql} AS v, typeof(v) FROM (SELECT {given_row})", dict(row)).fetchall()[
        0
    ]
    assert value == evaluate_plainly(tree, row)
    assert value is None or (value_type == "DOUBLE") == (kind == "real")


ONE, OTHER, REAL = (Expression("column", name=name) for name in "ijr")


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (create_node("over", ONE, OTHER), "CAST(i AS DOUBLE) / NULLIF(j, 0)"),
        (create_node("over", ONE, Expression("integer", number=Decimal(2))), "CAST(i AS DOUBLE) / 2"),
        (create_node("div", ONE, create_node("minus", OTHER, ONE)), "i // NULLIF(j - i, 0)"),
    ],
)
def test_divisor_is_never_zero(tree: Expression, expected: str) -> None:
    assert compile_expression(tree, Names()).sql(dialect="duckdb") == expected


def create_literal(text: str, op: str = "integer", factor: str = "") -> Expression:
    """Return the value of a literal."""
    return Expression(op, number=Decimal(text), unit=NONE, factor=factor)


HALF = create_node("over", create_literal("1"), create_literal("2"))
FLOOR_OF_HALF_OF_SEVEN = create_node("floor", create_node("over", create_literal("7"), create_literal("2")))
SIX_BILLION = create_node("times", create_literal("2000000000"), create_literal("3"))


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (create_node("plus", HALF, create_literal("0")), 0.5),
        (create_node("minus", FLOOR_OF_HALF_OF_SEVEN, create_literal("0")), 3),
        (create_node("times", create_literal("0.5", "quantity"), create_literal("3")), 1.5),
        (create_node("times", create_literal("5", "quantity", "1/2"), create_literal("3")), 7.5),
        (create_node("plus", create_literal("2.5", "real"), create_literal("1")), 3.5),
        (SIX_BILLION, 6_000_000_000),
        (create_node("times", create_literal("2000000000", "quantity", "2"), create_literal("-3")), -12_000_000_000),
        (create_node("plus", SIX_BILLION, HALF), 6_000_000_000.5),
    ],
    ids=str,
)  # fmt: skip
def test_literals_equal_columns_of_their_types(
    engine: duckdb.DuckDBPyConnection, tree: Expression, expected: float
) -> None:
    """Small integer literals must not become 32-bit integers; reals stay reals."""
    (value,) = engine.execute(f"SELECT {compile_expression(tree, Names()).sql(dialect='duckdb')}").fetchall()
    assert value == (expected,)


@pytest.mark.parametrize(
    "tree", [create_node("div", ONE, REAL), create_node("div", REAL, OTHER), Expression("whole", (REAL,), unit=NONE)]
)
def test_integer_quotients_are_of_integers(tree: Expression) -> None:
    with pytest.raises(KindError) as error:
        infer(tree, SCOPE, UNITS)
    assert (error.value.expected, error.value.actual, error.value.node) == ("a whole number", "real", REAL)


def test_every_word_of_the_language_has_sql_and_wording() -> None:
    """Except `converted`, which no author writes, and metric values, which formulas evaluate."""
    leaf_expressions = [Expression(op, name="x", text="y", number=Decimal(1), unit="byte") for op in LEAVES]
    trees = [Expression(op, (ONE,) * (number or 2), unit="byte", factor="1") for op, number in ARITY.items()]
    for tree in (*leaf_expressions, *trees):
        assert describe_expression(tree)
        if tree.op not in ("metric", "converted"):
            assert compile_expression(tree, Names(constants={"x": 1}, argument="1")).sql(dialect="duckdb")
