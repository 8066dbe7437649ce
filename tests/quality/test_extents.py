"""Hosts whose logs end long before the others', and runs that cover far less than others."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import pytest

from assay.engine.mount import HostLog
from assay.quality.extents import (
    create_run_extent,
    find_short_logs,
    find_short_runs,
    list_extents,
    widen_extents,
)
from assay.sql import dialect
from assay.sql.gaps import measure_extents

SECOND = 10**9

#: case -> (first second, last second, records) of each host, and the hosts that end early
LOGS: dict[str, tuple[list[tuple[int, int, int]], tuple[str, ...]]] = {
    "one host": ([(0, 300, 300)], ()),
    "the same ends": ([(0, 600, 300), (0, 595, 298)], ()),
    "one of two ends half-way": ([(0, 600, 300), (0, 300, 150)], ("h2",)),
    "two of four end half-way": ([(0, 300, 150), (0, 600, 300), (0, 250, 120), (0, 600, 300)], ("h1", "h3")),
    "less than a tenth before": ([(0, 600, 300), (0, 545, 200)], ()),
    "all records, a little faster": ([(0, 600, 300), (0, 450, 300)], ()),
    "all records, but half of the time": ([(0, 600, 300), (0, 300, 600)], ("h2",)),
    "twenty usual gaps": ([(0, 600, 300), (0, 400, 41)], ()),
    "a few records": ([(0, 600, 300), (0, 5, 6)], ()),
    "a host that joins": ([(0, 600, 300), (300, 600, 150)], ()),
    "one host goes on alone": ([(0, 600, 300), (0, 600, 300), (0, 1200, 600)], ()),
}

#: case -> last second and records of each run, and the runs that end early
RUNS: dict[str, tuple[list[tuple[int, int]], tuple[int, ...]]] = {
    "alike": ([(600, 1000), (580, 980)], ()),
    "the candidate ends half-way": ([(600, 1000), (300, 500)], (1,)),
    "the base ends half-way": ([(300, 500), (600, 1000)], (0,)),
    "one repeat ends half-way": ([(600, 1000), (600, 1000), (600, 1000), (300, 500)], (3,)),
    "all records in half of the time": ([(600, 1000), (300, 1000)], ()),
    "half of the records in all of the time": ([(600, 1000), (600, 500)], ()),
    "two thirds": ([(600, 1000), (400, 660)], ()),
}

FULL = [(600, 300)] * 4
#: case -> last second and records of each host of two runs, and the hosts that end early in either, unlike the other
HOSTS: dict[str, tuple[list[tuple[int, int]], list[tuple[int, int]], tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "most hosts end early": (FULL, [(30, 15), (600, 300), (40, 20), (35, 18)], ((), ("h1", "h3", "h4"))),
    "most hosts of the base": ([(30, 15), (600, 300), (40, 20), (35, 18)], FULL, (("h1", "h3", "h4"), ())),
    "a part that the run itself shows": (FULL, [(30, 30), (600, 300), (600, 300), (600, 300)], ((), ())),
    "the same hosts in both": ([(30, 30)] * 2 + [(600, 300)] * 3, [(30, 30)] * 2 + [(600, 300)], ((), ())),
    "all records in less time": (FULL, [(200, 300), (600, 300), (200, 300), (200, 300)], ((), ())),
    "fewer records in all of the time": (FULL, [(600, 30), (600, 300), (600, 30), (600, 30)], ((), ())),
}


def create_log(host: str, first: int, last: int, records: int) -> HostLog:
    return HostLog(host, records, records, 0, last * SECOND, first * SECOND, records)


@pytest.mark.parametrize("case", LOGS)
def test_hosts_that_end_early(case: str) -> None:
    extents, expected = LOGS[case]
    logs = [create_log(f"h{number}", *extent) for number, extent in enumerate(extents, start=1)]
    findings = list(find_short_logs(list_extents(logs), ("wait",)))
    assert [item.hosts for item in findings] == ([expected] if expected else [])
    assert all(item.metrics == ("wait",) and item.code == "short-log" for item in findings)


@pytest.mark.parametrize("case", RUNS)
def test_runs_that_end_early(case: str) -> None:
    runs, expected = RUNS[case]
    extents = [
        create_run_extent(f"r{number}", "log", list_extents([create_log("h", 0, *item)]))
        for number, item in enumerate(runs)
    ]
    findings = find_short_runs([[item] if item else [] for item in extents], {"log": ("wait",)})
    assert tuple(number for number, items in enumerate(findings) if items) == expected


@pytest.mark.parametrize("case", HOSTS)
def test_hosts_that_end_early_unlike_those_of_another_run(case: str) -> None:
    *runs, expected = HOSTS[case]
    extents = [
        create_run_extent(
            f"r{number}", "log", list_extents([create_log(f"h{host}", 0, *item) for host, item in enumerate(run, 1)])
        )
        for number, run in enumerate(runs, start=1)
    ]
    findings = find_short_runs([[item] if item else [] for item in extents], {"log": ("wait",)})
    assert tuple(finding.hosts for items in findings for finding in items) == tuple(filter(None, expected))
    assert all(finding.code == "short-log" for items in findings for finding in items)


def test_message_has_times_and_records() -> None:
    logs = [create_log("a", 0, 600, 300), create_log("b", 0, 300, 104), create_log("c", 0, 600, 300)]
    (finding,) = find_short_logs(list_extents(logs), ("wait",))
    assert finding.message == "host b ends 300 s before the others (104 records, the others 300) (wait)."


@pytest.mark.parametrize(
    ("name", "instants", "expected"),
    [
        ("in order", range(200), (0, 199)),
        ("sorted by another field", [100, *range(200), 120], (0, 199)),
        ("one wrong instant", [0, -(10**9), *range(1, 200)], (0, 199)),
        ("no record between the ends", [7, *range(200), 7], (0, 199)),
    ],
)
def test_extent_covers_a_log_that_is_not_in_the_order_of_time(
    name: str, instants: Sequence[int], expected: tuple[int, int]
) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE request (host TEXT, seq BIGINT, t_ns BIGINT)")
        rows = [("h", place, instant * SECOND) for place, instant in enumerate(instants)]
        rows += [("timeless", 0, None)]
        connection.executemany("INSERT INTO request VALUES (?, ?, ?)", rows)
        cursor = connection.execute(dialect.to_sql(measure_extents(["request"])))
        names = [item[0] for item in cursor.description or ()]
        counts = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    (extent,) = widen_extents(list_extents([create_log("h", instants[0], instants[-1], len(instants))]), counts)
    assert (extent.first_ns // SECOND, extent.last_ns // SECOND) == expected, name
