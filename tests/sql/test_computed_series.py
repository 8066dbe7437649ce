"""Test series that are computed from others: on random values, they equal those of plain Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.lang.model.expression import Expression, parse_expression
from assay.lang.model.package import Unit
from assay.lang.model.series import Series, Term
from assay.lang.model.vocabulary import SINCE, UNTIL
from assay.sql import dialect, series
from tests.support.deep import scale_examples

ONE = Unit("dimensionless", "")
CONNECTION = duckdb.connect()
CONNECTION.execute("SET threads = 1")

Key = tuple[str, str, int]
"""Window, job, instant (ns)."""
Rows = Sequence[tuple[str, str, str, int, float]]
"""The same with an instance behind the job, and a value."""

ROWS = st.lists(
    st.tuples(st.sampled_from("vw"), st.sampled_from("ab"), st.sampled_from("12"), st.integers(0, 3)),
    unique=True,
    max_size=20,
).flatmap(
    lambda keys: st.lists(st.integers(-40, 40), min_size=len(keys), max_size=len(keys)).map(
        lambda values: [(*key, value / 4) for key, value in zip(keys, values, strict=True)]
    )
)
OVER: dict[str, Callable[[Sequence[float]], float]] = {
    "least": min,
    "greatest": max,
    "sum": sum,
    "mean": lambda values: float(sum(map(Fraction, values)) / len(values)),
}


def compute(terms: Mapping[str, tuple[str, Rows]], value: str, factor: str = "1", cut: bool = False) -> Any:
    """Compute a series of terms (name -> reduction of its lines, rows) with the one label `job`, by its keys."""
    inputs = tuple(Term(name, f"of_{name}", reduction) for name, (reduction, _) in terms.items())
    definition = Series("s", (), ("job",), "windows", 1, "", 0, None, ONE, "", factor, inputs, _parse_value(value))
    for name, (_, rows) in terms.items():
        CONNECTION.execute(
            f"CREATE OR REPLACE TABLE of_{name} (id TEXT, job TEXT, instance TEXT, t_ns BIGINT, value DOUBLE)"
        )
        if rows:
            CONNECTION.executemany(f"INSERT INTO of_{name} VALUES (?, ?, ?, ?, ?)", [list(row) for row in rows])
    bounds = {SINCE: 1, UNTIL: 3} if cut else None
    result = CONNECTION.execute(dialect.to_sql(series.compile_series(definition, ["id"], {}, cut)), bounds).fetchall()
    assert len({row[:3] for row in result}) == len(result)
    return {row[:3]: row[3] for row in result}


def _parse_value(text: str) -> Expression:
    definition = parse_expression(text)
    assert definition is not None
    return definition


def reduce_lines(reduction: str, rows: Rows) -> dict[Key, float]:
    """Reduce the lines of a job at each step."""
    values_by_key: dict[Key, list[float]] = {}
    for window, job, _, t_ns, value in rows:
        values_by_key.setdefault((window, job, t_ns), []).append(value)
    return {key: OVER[reduction](values) for key, values in values_by_key.items()}


@pytest.mark.parametrize("reduction", OVER)
@settings(max_examples=scale_examples(25), deadline=None)
@given(rows=ROWS)
@example(rows=[("w", "a", "1", 0, 1.0), ("w", "a", "2", 0, 4.0), ("w", "b", "1", 0, 9.0)])
def test_lines_that_agree_in_the_labels_become_one(reduction: str, rows: Rows) -> None:
    assert compute({"a": (reduction, rows)}, "column a") == reduce_lines(reduction, rows)


@settings(max_examples=scale_examples(40), deadline=None)
@given(first=ROWS, second=ROWS, third=ROWS)
def test_value_exists_where_all_terms_have_one(first: Rows, second: Rows, third: Rows) -> None:
    """All terms need a value at the same step of the same window, with the same labels."""
    terms = {"a": ("sum", first), "b": ("greatest", second), "c": ("least", third)}
    a, b, c = (reduce_lines(reduction, rows) for reduction, rows in terms.values())
    expected = {key: a[key] - b[key] * c[key] for key in a.keys() & b.keys() & c.keys()}
    assert compute(terms, "minus(column a, times(column b, column c))") == expected


def test_term_with_equal_labels_is_not_reduced() -> None:
    rows = [("w", "a", "1", 0, 1.5), ("w", "b", "1", 0, 4.0)]
    assert compute({"a": ("", rows)}, "column a") == {("w", "a", 0): 1.5, ("w", "b", 0): 4.0}


@pytest.mark.parametrize(("factor", "value"), [("3", 15.0), ("1/4", 1.25), ("3/4", 3.75)])
def test_values_are_in_the_unit_of_the_series(factor: str, value: float) -> None:
    definition = compute({"a": ("", [("w", "a", "1", 0, 5.0)])}, "column a", factor=factor)
    assert definition == {("w", "a", 0): value}


def test_phase_has_the_steps_from_its_start_to_before_its_end() -> None:
    rows = [("w", "a", "1", step, float(step)) for step in range(5)]
    assert compute({"a": ("", rows)}, "column a", cut=True) == {("w", "a", 1): 1.0, ("w", "a", 2): 2.0}


@pytest.mark.parametrize(("reduction", "expected"), [("sum", 1.0), ("mean", 0.1)])
def test_values_of_lines_are_added_up_with_compensation(reduction: str, expected: float) -> None:
    """Added without compensation, ten times 0.1 is less than 1."""
    rows = [("w", "a", str(line), 0, 0.1) for line in range(10)]
    assert compute({"a": (reduction, rows)}, "column a") == {("w", "a", 0): expected}
