"""Hosts without records for a long time, while other hosts wrote some."""

from __future__ import annotations

import duckdb
import pytest

from assay.quality.finding import LOG_GAP, Finding, RunQuality
from assay.quality.gaps import excuse_usual_gaps, find_gaps, is_uneven, read_silences
from assay.sql import dialect
from assay.sql.gaps import measure_gaps

SECOND = 10**9
FULL = list(range(600))
PAUSED = [*range(300), *range(400, 600)]

#: case -> seconds of the records of each host, and the hosts with a gap
HOSTS: dict[str, tuple[list[list[int]], tuple[str, ...]]] = {
    "no gaps": ([FULL, FULL, FULL], ()),
    "one host pauses": ([FULL, PAUSED, FULL], ("h2",)),
    "one of two hosts pauses": ([FULL, PAUSED], ("h2",)),
    "most hosts pause": ([PAUSED, PAUSED, FULL], ()),
    "a pause of 50 seconds": ([FULL, [*range(300), *range(350, 600)]], ()),
    "hosts work in turn": ([[*range(200), *range(400, 600)], [*range(300), *range(450, 600)], PAUSED], ()),
    "few records of all hosts at the end": (
        [[*range(300), 345, 395, 399], [*range(300), 340, 399], [*range(300), 399]],
        (),
    ),
    "few records": ([FULL, [*range(4), *range(500, 504)]], ()),
    "rare records": ([FULL, list(range(0, 600, 30))], ()),
    "one host is alone": ([PAUSED], ()),
    "one host ends early": ([FULL, list(range(300))], ()),
    "one record": ([FULL, [7]], ()),
}


@pytest.mark.parametrize("case", HOSTS)
def test_hosts_with_a_gap(case: str) -> None:
    seconds, expected = HOSTS[case]
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE wrote (host TEXT, seq BIGINT, t_ns BIGINT)")
        rows = [(f"h{number}", time, time * SECOND) for number, times in enumerate(seconds, start=1) for time in times]
        connection.executemany("INSERT INTO wrote VALUES (?, ?, ?)", [*rows, ("h1", -1, None)])
        connection.execute("CREATE TABLE ended AS SELECT host, seq, t_ns + 1 AS t_ns FROM wrote")
        answer = connection.execute(dialect.to_sql(measure_gaps(["wrote", "ended"])))
        names = [item[0] for item in answer.description or ()]
        silences = read_silences([dict(zip(names, row, strict=True)) for row in answer.fetchall()])
    findings = list(find_gaps(silences, ["wait"]))
    assert [item.hosts for item in findings] == ([expected] if expected else [])
    if expected:
        assert findings[0].message == "host h2 wrote no record for 101 s, unlike the others (wait)."


def test_only_uneven_events_are_measured() -> None:
    assert not is_uneven({"a": 100, "b": 96})
    assert not is_uneven({"a": 100, "b": 0})
    assert is_uneven({"a": 100, "b": 90})


def test_gaps_of_all_runs_are_notes() -> None:
    paused = RunQuality(findings=(Finding(LOG_GAP, "gap"), Finding("rare-event", "few")))
    (note, other) = excuse_usual_gaps([paused, paused])
    assert (note.codes, [item.code for item in note.notes]) == (("rare-event",), [LOG_GAP])
    assert other == note
    assert excuse_usual_gaps([paused, RunQuality()]) == (paused, RunQuality())
