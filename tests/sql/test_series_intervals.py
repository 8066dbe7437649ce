"""Test series of intervals, and records at one instant, against plain Python on random records."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.lang.model.expression import Expression, parse_expression
from assay.lang.model.package import Unit
from assay.lang.model.series import INCREASE, INTERVAL_READINGS, ZERO_READINGS, Sampled, Series
from assay.sql import dialect, series
from tests.support.deep import scale_examples

CONNECTION = duckdb.connect()
ONE = Unit("dimensionless", "")
Values = dict[tuple[str, str, int], float]


@dataclass(frozen=True)
class Record:
    """A line of a host's log; its place in the log is that in a list of records."""

    host: str
    t_ns: int
    size: int | None


def parse(text: str) -> Expression:
    expression = parse_expression(text)
    assert expression is not None
    return expression


def create_series(reading: str, by: tuple[str, ...], every_ns: int, **members: object) -> Series:
    """Create a series of field `size` of table `records`, in the time windows of a table."""
    value = None if reading == "count" else parse("field size")
    item = Series(
        "s", (Sampled("records", None),), by, "windows", every_ns, reading, 0, None, ONE, "", value=value
    )  # fmt: skip
    return replace(item, **members)  # type: ignore[arg-type]


def fill_tables(records: Sequence[Record], windows: Sequence[tuple[str, int, int]]) -> None:
    CONNECTION.execute("CREATE OR REPLACE TABLE records (host TEXT, seq BIGINT, t_ns BIGINT, size BIGINT)")
    rows = [(record.host, seq, record.t_ns, record.size) for seq, record in enumerate(records)]
    if rows:
        CONNECTION.executemany("INSERT INTO records VALUES (?, ?, ?, ?)", rows)
    CONNECTION.execute("CREATE OR REPLACE TABLE windows (id TEXT, from_ns BIGINT, to_ns BIGINT)")
    CONNECTION.executemany("INSERT INTO windows VALUES (?, ?, ?)", windows)


def compute(definition: Series) -> Values:
    """Return the values of a series by window, host (empty: of all) and instant."""
    query = dialect.to_sql(series.compile_series(definition, ["id"], {}, logged=["records"]))
    rows = CONNECTION.execute(query).fetchall()
    values = {(row[0], row[1] if definition.by else "", row[-2]): row[-1] for row in rows}
    assert len(values) == len(rows)
    return values


def combine(reading: str, sizes: Sequence[int | None]) -> float | None:
    """Combine the records of an interval; those without a size only count."""
    numbers = [size for size in sizes if size is not None]
    if reading == "count":
        return len(sizes)
    if reading == "sum":
        return sum(numbers)
    if not numbers:
        return None
    mean = float(Fraction(sum(numbers), len(numbers)))
    return {"mean": mean, "least": min(numbers), "greatest": max(numbers)}[reading]


def iter_expected(
    definition: Series, records: Sequence[Record], windows: Sequence[tuple[str, int, int]]
) -> Iterator[tuple[tuple[str, str, int], float]]:
    hosts = {record.host for record in records} if definition.by else {""}
    for name, first, last in windows:
        for begin in range(first, last + 1, definition.every_ns):
            end = begin + definition.every_ns
            if definition.covered and end > last + 1:
                continue
            for host in hosts:
                inside = [
                    record.size
                    for record in records
                    if begin <= record.t_ns < end and record.t_ns <= last and host in ("", record.host)
                ]
                value = combine(definition.reading, inside) if inside or definition.reading in ZERO_READINGS else None
                if value is not None:
                    yield (name, host, begin), value


RECORDS = st.lists(
    st.builds(Record, st.sampled_from("ab"), st.integers(0, 40), st.none() | st.integers(-9, 9)), max_size=25
)
WINDOWS = st.tuples(st.integers(-5, 20), st.integers(0, 45)).map(lambda ends: [("w", *ends), ("whole", 0, 40)])


@pytest.mark.parametrize("reading", [reading for reading in INTERVAL_READINGS if reading != INCREASE])
@settings(max_examples=scale_examples(60), deadline=None)
@given(records=RECORDS, windows=WINDOWS, every=st.integers(1, 15), by=st.booleans(), covered=st.booleans())
@example(records=[], windows=[("w", 0, 9)], every=5, by=False, covered=False)
@example(records=[Record("a", 10, 1)] * 3, windows=[("w", 0, 20)], every=5, by=True, covered=True)
def test_intervals_combine_their_records(
    reading: str, records: list[Record], windows: list[tuple[str, int, int]], every: int, by: bool, covered: bool
) -> None:
    definition = create_series(reading, ("host",) if by else (), every, covered=covered)
    fill_tables(records, windows)
    expected = dict(iter_expected(definition, records, windows))
    assert compute(definition) == pytest.approx(expected, rel=1e-15, abs=0)


def iter_increases(
    definition: Series, records: Sequence[Record], windows: Sequence[tuple[str, int, int]]
) -> Iterator[tuple[tuple[str, str, int], int]]:
    """Yield the rises of the counter of each host; each ends in an interval that excludes its begin."""
    before: dict[str, int] = {}
    for record in records:
        if record.size is None:
            continue
        if record.host in before:
            old = before[record.host]
            rise = record.size if record.size < old else record.size - old
            for name, first, last in windows:
                if first < record.t_ns <= last:
                    begin = first + (record.t_ns - first - 1) // definition.every_ns * definition.every_ns
                    if not (definition.covered and begin + definition.every_ns > last + 1):
                        yield (name, record.host if definition.by else "", begin), rise
        before[record.host] = record.size


@settings(max_examples=scale_examples(60), deadline=None)
@given(records=RECORDS, windows=WINDOWS, every=st.integers(1, 15), by=st.booleans(), covered=st.booleans())
@example(records=[Record("a", 0, 5), Record("a", 5, 2), Record("b", 5, 9), Record("a", 9, 2)],
         windows=[("w", 0, 9)], every=5, by=True, covered=False)  # fmt: skip
def test_increases_are_those_of_each_counter(
    records: list[Record], windows: list[tuple[str, int, int]], every: int, by: bool, covered: bool
) -> None:
    definition = create_series(INCREASE, ("host",) if by else (), every, covered=covered)
    fill_tables(records, windows)
    expected: dict[tuple[str, str, int], int] = defaultdict(int)
    for key, rise in iter_increases(definition, records, windows):
        expected[key] += rise
    assert compute(definition) == expected


def test_totals_are_divided_by_seconds() -> None:
    """Intervals that the window cuts have no value: a total of less time would be too low."""
    every = 2 * 10**9
    fill_tables([Record("a", 0, 6), Record("a", every - 1, 12), Record("a", 2 * every, 1)], [("w", 0, 2 * every)])
    definition = create_series("sum", (), every, per_second=True, factor="1/1000")
    assert compute(definition) == {("w", "", 0): 18 / 2 / 1000, ("w", "", every): 0.0}


def test_means_do_not_depend_on_the_order_of_records() -> None:
    values = [0.1, 1e9, 0.3, -7e8, 0.2, 1e-9]
    results = set()
    for turn in range(len(values)):
        CONNECTION.execute("CREATE OR REPLACE TABLE records (host TEXT, seq BIGINT, t_ns BIGINT, size DOUBLE)")
        rows = [("a", seq, 5, value) for seq, value in enumerate(values[turn:] + values[:turn])]
        CONNECTION.executemany("INSERT INTO records VALUES (?, ?, ?, ?)", rows)
        CONNECTION.execute("CREATE OR REPLACE TABLE windows AS SELECT 'w' AS id, 0 AS from_ns, 9 AS to_ns")
        results |= set(compute(create_series("mean", (), 10)).values())
    assert results == {math.fsum(values) / len(values)}


@settings(max_examples=scale_examples(60), deadline=None)
@given(records=RECORDS, window=st.integers(1, 20))
@example(records=[Record("a", 7, 1), Record("a", 7, 2), Record("b", 7, 3)], window=3)
def test_of_records_at_one_instant_the_last_line_counts(records: list[Record], window: int) -> None:
    fill_tables(records, [("w", 0, 45)])
    last_sizes: dict[str, dict[int, int | None]] = defaultdict(dict)
    for record in records:
        last_sizes[record.host][record.t_ns] = record.size
    expected = {}
    for host, sizes in last_sizes.items():
        for t_ns in range(46):
            latest = max((time for time in sizes if time <= t_ns), default=None)
            if latest is not None and latest >= t_ns - window and sizes[latest] is not None:
                expected["w", host, t_ns] = sizes[latest]
    assert compute(create_series("latest", ("host",), 1, window_ns=window)) == expected


@pytest.mark.parametrize(("by", "lines"), [("host", []), ("size", ["4"])])
def test_only_hosts_make_an_instant_ambiguous(by: str, lines: list[str]) -> None:
    """Lines of one host have an order, those of two hosts have none."""
    fill_tables([Record("a", 7, 3), Record("a", 7, 3), Record("a", 9, 4), Record("b", 9, 4)], [("w", 0, 45)])
    definition = create_series("latest", (by,), 1, window_ns=5)
    query = dialect.to_sql(series.select_ambiguous_lines(definition, {}, ["records"]))
    assert [line for line, _ in CONNECTION.execute(query).fetchall()] == lines
