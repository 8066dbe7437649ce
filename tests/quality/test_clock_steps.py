"""Clocks that go back within a log, and logs that are out of order for other reasons."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest

from assay.ingest.chunks import FILE_STEP
from assay.quality.clock_steps import LEAST_NS, MOST_STEPS, Block, find_steps
from assay.sql import dialect
from assay.sql.backward_steps import select_blocks
from tests.quality.test_quality import FOLDER, PACKAGE
from tests.support.commands import run_assay
from tests.support.small import create_small_workspace, write_logs

SECOND = 10**9
RATE = 10  # records a second


def read_clock(*steps: tuple[float, float], seconds: int = 600) -> list[float]:
    """Return the instants of records at a steady rate, whose clock is set back at each `(instant, step)`."""
    truth = [number / RATE for number in range(seconds * RATE)]
    return [time - sum(step for begin, step in steps if time >= begin) for time in truth]


def shuffle(times: Sequence[float], seconds: float) -> list[float]:
    """Return records that are written up to so many seconds late."""
    rng = random.Random(1)
    keyed = sorted((number / RATE + rng.uniform(0, seconds), time) for number, time in enumerate(times))
    return [time for _, time in keyed]


def write_at_end(seconds: float, share: float = 0.02) -> list[float]:
    """Return the begins of requests in the order of their ends; some take so many seconds, the others little."""
    rng = random.Random(2)
    requests = [(time + (seconds if rng.random() < share else rng.uniform(0, 0.2)), time) for time in read_clock()]
    return [begin for _, begin in sorted(requests)]


def release(begin: float, end: float, share: float) -> list[float]:
    """Return begins of requests in the order of their ends: those of a share wait from `begin` to `end`."""
    rng = random.Random(3)
    requests = [(end if begin <= time < end and rng.random() < share else time, time) for time in read_clock()]
    return [time for _, time in sorted(requests)]


def alternate(seconds: float, rates: Sequence[int] = (RATE, RATE), total: int = 600) -> list[float]:
    """Return what writers write that hold back their records for so many seconds each, and then take turns."""
    times: list[float] = []
    for part in range(int(total / seconds)):
        for rate in rates:
            times += [part * seconds + item / rate for item in range(int(seconds * rate))]
    return times


#: case -> instants of the records of a file, in seconds, and the steps back
FILES: dict[str, tuple[list[float], tuple[int, ...]]] = {
    "in order": (read_clock(), ()),
    "30 seconds": (read_clock((300, 30)), (30,)),
    "soon after the beginning": (read_clock((100, 30)), (30,)),
    "10 seconds": (read_clock((300, 10)), (10,)),
    "whole seconds": ([float(int(item)) for item in read_clock((300, 30)) for _ in range(5)], (30,)),
    "two steps": (read_clock((200, 30), (400, 50)), (30, 50)),
    "lines are a little late": (shuffle(read_clock((300, 30)), 1), (30,)),
    "five minutes of an hour": (read_clock((1800, 300), seconds=3600), (300,)),
    "records are written late": (shuffle(read_clock(), 1), ()),
    "records are written up to a minute late": (shuffle(read_clock(), 60), ()),
    "requests are written at their end": (write_at_end(30), ()),
    "most requests take long": (write_at_end(30, 0.9), ()),
    "half of the requests wait": (release(200, 260, 0.5), ()),
    "most requests wait": (release(200, 260, 0.9), ()),
    "two writers take turns": (alternate(10), ()),
    "two writers take turns three times": (alternate(200), ()),
    "two writers take turns twice": (alternate(300), ()),
    "three writers": (alternate(150, (RATE,) * 3), ()),
    "a rare writer": (alternate(60, (RATE, 1)), ()),
    "a writer ends with what it held back": (read_clock() + [590 + item / RATE for item in range(100)], ()),
    "a rare writer once": (read_clock(seconds=400) + [300 + x for x in range(100)] + read_clock()[4000:], ()),
    "joined files": (read_clock() + read_clock(), ()),
    "many steps": (read_clock(*((100 * item, 10) for item in range(1, 6))), ()),
    "few records": ([*range(10), *range(5, 15)], ()),
    "sparse records": ([float(item) for item in range(0, 600, 30)], ()),
}


def list_steps(times: Sequence[float], *, lines: int = 1) -> tuple[int, ...]:
    """Return the steps in a file with these instants, each some `lines` after the one before."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE wrote (host TEXT, seq BIGINT, t_ns BIGINT)")
        rows = [("a", FILE_STEP + 1 + place * lines, int(time * SECOND)) for place, time in enumerate(times)]
        names, numbers, instants = zip(*rows, strict=True)
        connection.execute(
            "INSERT INTO wrote SELECT unnest($1), unnest($2), unnest($3)",
            [list(names), list(numbers), list(instants)],
        )
        connection.execute("INSERT INTO wrote VALUES ('a', 5, NULL), ('b', 6, 7)")
        query = select_blocks(["wrote"], FILE_STEP, LEAST_NS, 2 * MOST_STEPS)
        blocks = connection.execute(dialect.to_sql(query)).fetchall()
    assert {row[:2] for row in blocks} <= {("a", 1)}
    return find_steps([Block(*row[3:]) for row in blocks])


@pytest.mark.parametrize("lines", [1, 40])
@pytest.mark.parametrize("case", FILES)
def test_steps_of_a_file(case: str, lines: int) -> None:
    times, expected = FILES[case]
    steps = list_steps(times, lines=lines)
    assert [step / SECOND for step in steps] == pytest.approx(list(expected), abs=1.5)


#: case -> steps by host, in seconds; the finding on them; and whether durations are judged
RUNS: dict[str, tuple[dict[str, float], str, bool]] = {
    "in-order": (dict.fromkeys("abcdefghij", 0), "", True),
    "one-of-ten": (
        {**dict.fromkeys("abcdefghij", 0), "c": 5.1},
        "the clock of host h-c went back by 5 s (duration): times across it are too short.",
        True,
    ),
    "all": (
        {"a": 8, "b": 9},
        "the clock of hosts h-a, h-b went back by up to 9 s, 2 times in all (duration): times across it are too short.",
        False,
    ),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with a run for each case: requests of 50 ms, one after the other."""
    text = (FOLDER / "system.dhall").read_text("utf-8")
    place = create_small_workspace(tmp_path_factory.mktemp("clocks"), text, PACKAGE)
    for run, (hosts, *_) in RUNS.items():
        for host, step in hosts.items():
            rng, log = random.Random(run + host), []
            for number in range(1100):
                time = number / 20 + rng.uniform(0, 0.02) - (step if number >= 600 else 0)
                data = {"level": rng.randint(5, 12)} if number % 2 else {"id": f"{host}{number // 4}"}
                log.append((time, ("began", "load", "ended", "load")[number % 4], data))
            write_logs(place, run, {f"h-{host}/log.jsonl": log})
    return place


@pytest.mark.parametrize("run", RUNS)
def test_step_is_named_and_durations_are_not_judged(place: Path, cache: Path, run: str) -> None:
    _, message, is_judged = RUNS[run]
    runs = ("one=runs/in-order", f"two=runs/{run}")
    options = ("--metric", "duration", "--metric", "loads", "--format", "json", "--cache", cache)
    result = run_assay("compare", *runs, *options, cwd=place)
    assert result.status == 0, result.err
    assert [line.removeprefix("warning: two: ") for line in result.err.splitlines() if "the clock of" in line] == (
        [message] if message else []
    )
    reasons = {item["metric"]: item["reason"] for item in result.parse_json()["changes"]}
    assert ("cannot be" in reasons["duration"]) != is_judged, reasons
    assert "cannot be" not in reasons["loads"], reasons


def test_step_that_no_time_crosses_is_a_note(place: Path, cache: Path) -> None:
    result = run_assay("query", "loads", "--run", "x=runs/all", "--cache", cache, cwd=place)
    assert "went back by up to 9 s, 2 times in all (loads): no time is measured across it." in result.err
