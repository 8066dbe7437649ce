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

from assay.explain.wording import describe_expression
from assay.lang.model.expression import ARITY, LEAVES, Expression
from assay.lang.typing_rules import NONE, KindError, Scope, Typed, infer
from assay.lang.units import UnitLibrary
from assay.sql.expressions import Names, compile_expression
from tests.support.deep import examples

Value = int | float | bool | str | None
Row = Mapping[str, Value]

COLUMNS = {"i": "integer", "j": "integer", "r": "real", "q": "real", "b": "boolean", "c": "boolean", "t": "text"}
TYPES = {"integer": "BIGINT", "real": "DOUBLE", "boolean": "BOOLEAN", "text": "VARCHAR"}
SCOPE = Scope({"column": {name: Typed(kind) for name, kind in COLUMNS.items()}})
UNITS = UnitLibrary(()).units()
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


def node(op: str, *operands: Expression) -> Expression:
    return Expression(op, operands)


def columns(kind: str) -> st.SearchStrategy[Expression]:
    return st.sampled_from([Expression("column", name=name) for name, of in COLUMNS.items() if of == kind])


def operations(ops: tuple[str, ...], *parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.tuples(st.sampled_from(ops), *parts).map(lambda actual_parts: node(*actual_parts))


integers: st.SearchStrategy[Expression] = st.deferred(
    lambda: st.one_of(
        columns("integer"),
        small.map(lambda value: Expression("integer", number=Decimal(value))),
        operations(("plus", "minus", "times", "div", "greatest", "coalesce"), integers, integers),
        operations(("floor",), numbers),
        st.tuples(integers, st.sampled_from(FACTORS)).map(
            lambda found: Expression("whole", (found[0],), unit=NONE, factor=found[1])
        ),
    )
)
reals: st.SearchStrategy[Expression] = st.deferred(
    lambda: st.one_of(
        columns("real"),
        rough.map(lambda value: Expression("real", number=Decimal(str(value)))),
        operations(("over",), numbers, numbers),
        operations(("plus", "minus", "times", "greatest", "coalesce"), reals, numbers),
    )
)
numbers = integers | reals
conditions: st.SearchStrategy[Expression] = st.deferred(
    lambda: st.one_of(
        columns("boolean"),
        operations(tuple(COMPARED), numbers, numbers),
        operations(("and", "or"), conditions, conditions),
        operations(("not",), conditions),
        operations(("present", "absent"), st.one_of(numbers, conditions, columns("text"))),
        st.sampled_from(["start.*", "(started)?", "art"]).map(
            lambda pattern: node("matches", Expression("column", name="t"), Expression("text", text=pattern))
        ),
    )
)


def evaluate_plainly(at: Expression, row: Row) -> Value:
    """Evaluate an expression for a row; None if it has no value."""
    if at.op == "column":
        return row[at.name]
    if at.number is not None:
        return int(at.number) if at.op == "integer" else float(at.number)
    if at.op == "text":
        return at.text
    values = [evaluate_plainly(operand, row) for operand in at.operands]
    there = [value for value in values if value is not None]
    if at.op in ("present", "absent"):
        return bool(there) == (at.op == "present")
    if at.op in ("and", "or"):
        decides = at.op == "or"
        return decides if decides in there else None if None in values else not decides
    if at.op == "coalesce":
        return there[0] if there else None
    if at.op == "greatest":
        return max(there, key=number) if there else None
    return None if None in values else apply_operator(at, there)


def number(value: Value) -> float:
    assert isinstance(value, (int, float))
    return value


def apply_operator(at: Expression, values: list[int | float | bool | str]) -> Value:
    """Apply an operator to present values."""
    if at.op == "matches":
        return re.fullmatch(str(values[1]), str(values[0])) is not None
    if at.op == "not":
        return not values[0]
    a, b = number(values[0]), number(values[-1])
    if at.op in COMPARED:
        return COMPARED[at.op](a, b)
    if at.op == "floor":
        return math.floor(a)
    if at.op == "whole":
        return math.trunc(Fraction(a) * Fraction(at.factor))
    if at.op in ("over", "div"):
        if b == 0:
            return None
        return a / b if at.op == "over" else math.trunc(Fraction(a) / Fraction(b))
    return {"plus": a + b, "minus": a - b, "times": a * b}[at.op]


@pytest.fixture(scope="module")
def engine() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


@given(tree=st.one_of(integers, reals, conditions), row=rows)
@settings(deadline=None, max_examples=examples(400))
def test_sql_equals_plain_python(engine: duckdb.DuckDBPyConnection, tree: Expression, row: Row) -> None:
    assume(
        all(
            abs(number(evaluate_plainly(part, row) or 0)) < 2**53
            for part in tree.walk()
            if part.op not in ("column", "text")
        )
    )
    kind = infer(tree, SCOPE, UNITS).type
    given_row = ", ".join(f"CAST(${name} AS {TYPES[of]}) AS {name}" for name, of in COLUMNS.items())
    sql = compile_expression(tree, Names()).sql(dialect="duckdb")
    value, of = engine.execute(f"SELECT {sql} AS v, typeof(v) FROM (SELECT {given_row})", dict(row)).fetchall()[0]
    assert value == evaluate_plainly(tree, row)
    assert value is None or (of == "DOUBLE") == (kind == "real")


ONE, OTHER, REAL = (Expression("column", name=name) for name in "ijr")


@pytest.mark.parametrize(
    ("tree", "due"),
    [
        (node("over", ONE, OTHER), "CAST(i AS DOUBLE) / NULLIF(j, 0)"),
        (node("over", ONE, Expression("integer", number=Decimal(2))), "CAST(i AS DOUBLE) / 2"),
        (node("div", ONE, node("minus", OTHER, ONE)), "i // NULLIF(j - i, 0)"),
    ],
)
def test_divisor_is_never_zero(tree: Expression, due: str) -> None:
    assert compile_expression(tree, Names()).sql(dialect="duckdb") == due


def literal_value(text: str, op: str = "integer", factor: str = "") -> Expression:
    """Return the value of a literal."""
    return Expression(op, number=Decimal(text), unit=NONE, factor=factor)


HALF = node("over", literal_value("1"), literal_value("2"))


@pytest.mark.parametrize(
    ("tree", "due"),
    [
        (node("plus", HALF, literal_value("0")), 0.5),
        (node("minus", node("floor", node("over", literal_value("7"), literal_value("2"))), literal_value("0")), 3),
        (node("times", literal_value("0.5", "quantity"), literal_value("3")), 1.5),
        (node("times", literal_value("5", "quantity", "1/2"), literal_value("3")), 7.5),
        (node("plus", literal_value("2.5", "real"), literal_value("1")), 3.5),
        (node("times", literal_value("2000000000"), literal_value("3")), 6_000_000_000),
        (node("times", literal_value("2000000000", "quantity", "2"), literal_value("-3")), -12_000_000_000),
        (node("plus", node("times", literal_value("2000000000"), literal_value("3")), HALF), 6_000_000_000.5),
    ],
    ids=str,
)  # fmt: skip
def test_literals_equal_columns_of_their_types(engine: duckdb.DuckDBPyConnection, tree: Expression, due: float) -> None:
    """Small integer literals must not become 32-bit integers; reals stay reals."""
    (value,) = engine.execute(f"SELECT {compile_expression(tree, Names()).sql(dialect='duckdb')}").fetchall()
    assert value == (due,)


@pytest.mark.parametrize(
    "tree", [node("div", ONE, REAL), node("div", REAL, OTHER), Expression("whole", (REAL,), unit=NONE)]
)
def test_integer_quotients_are_of_integers(tree: Expression) -> None:
    with pytest.raises(KindError) as error:
        infer(tree, SCOPE, UNITS)
    assert (error.value.expected, error.value.found, error.value.node) == ("a whole number", "real", REAL)


def test_every_word_of_the_language_has_sql_and_wording() -> None:
    """Except `converted`, which no author writes, and metric values, which formulas evaluate."""
    leaves = [Expression(op, name="x", text="y", number=Decimal(1), unit="byte") for op in LEAVES]
    trees = [Expression(op, (ONE,) * (number or 2), unit="byte", factor="1") for op, number in ARITY.items()]
    for tree in (*leaves, *trees):
        assert describe_expression(tree)
        if tree.op not in ("metric", "converted"):
            assert compile_expression(tree, Names(constants={"x": 1}, argument="1")).sql(dialect="duckdb")
