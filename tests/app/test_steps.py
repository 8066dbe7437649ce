"""Steps of generated rows: their sums are those of plain Python, and add up to the total to the last nanosecond."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

import assay
from assay.api import Workspace
from assay.util.diagnostics import AssayError
from tests.support.commands import run_assay
from tests.support.workspaces import edit_file

EVENTS = ("request.received", "work.started", "response.sent")
START = datetime.fromisoformat("2026-01-05T09:00:00")
ASSUMED = 10_000_000  # ns, of a response without a record
TOTAL = """\
    , total =
        duration::{
        , id = "total"
        , name = "Response time"
        , measure = S.orElse (request.between e.received e.sent) (S.x.quantity 0.01 S.unit.second)
        , doc = "Time from receiving the request to the response, 10 ms without one"
        }
    , size ="""

Rows = list[dict[str, int]]
"""The instants of requests in ns since the start, by event."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create the workspace of `assay init` with a total that counts requests without a response."""
    folder = tmp_path_factory.mktemp("steps") / "place"
    assert run_assay("init", folder).status == 0
    edit_file(folder / "specs" / "service" / "metrics.dhall", "    , size =", TOTAL)
    edit_file(folder / "specs" / "service" / "reports.dhall", "[ m.wait, m.work ]", "[ m.wait, m.work, m.total ]")
    return folder


@pytest.fixture(scope="module")
def workspace(place: Path, cache: Path) -> Iterator[Workspace]:
    with assay.open(place, cache) as opened:
        yield opened


def draw_rows(random: Random, count: int, work: int, lost: float = 0.1) -> Rows:
    """Return requests that lack records, some of which end before they start."""
    rows = []
    for number in range(count):
        received = number * 1_000_000_000 + random.randrange(10**9)
        started = received + random.randrange(-(10**5), 10**7)
        row = {EVENTS[0]: received, EVENTS[1]: started, EVENTS[2]: started + random.randrange(work)}
        rows.append({name: instant for name, instant in row.items() if random.random() >= lost})
    return rows


def write_run(folder: Path, rows: Rows, hosts: int = 2) -> Path:
    folder.mkdir(parents=True)
    (folder / "meta.json").write_text(json.dumps({"version": folder.name}), encoding="utf-8")
    for host in range(hosts):
        lines = [
            (instant, {"time": _format_time(instant), "event": name, "data": {"request": f"r{number}"}})
            for number, row in enumerate(rows) if number % hosts == host
            for name, instant in row.items()
        ]  # fmt: skip
        log = folder / f"web-{host}" / "log.jsonl"
        log.parent.mkdir()
        lines.sort(key=lambda line: line[0])
        log.write_text("".join(f"{_write_line(data)}\n" for _, data in lines), encoding="utf-8")
    return folder


def _write_line(data: Mapping[str, object]) -> str:
    name = data["event"]
    body = {**data["data"], "bytes": 1} if name == EVENTS[2] else data["data"]  # type: ignore[dict-item]
    return json.dumps({**data, "data": body})


def _format_time(instant: int) -> str:
    seconds, nanoseconds = divmod(instant, 10**9)
    return f"{(START + timedelta(seconds=seconds)).isoformat()}.{nanoseconds:09d}Z"


def list_complete(rows: Rows) -> Rows:
    return [row for row in rows if len(row) == len(EVENTS)]


def sum_times(rows: Rows, start: str, end: str) -> int:
    return sum(row[end] - row[start] for row in rows)


def sum_total(rows: Rows) -> int:
    """Return the sum of the total: rows without a beginning or an end count 10 ms."""
    ends = (EVENTS[0], EVENTS[2])
    return sum(row[ends[1]] - row[ends[0]] if all(item in row for item in ends) else ASSUMED for row in rows if row)


@pytest.mark.parametrize("seed", range(3))
def test_steps_of_random_rows_add_up(seed: int, workspace: Workspace, tmp_path: Path) -> None:
    random = Random(seed)
    runs = {f"{number}": draw_rows(random, random.randrange(20, 90), random.randrange(10**6, 10**8)) for number in "12"}
    folders = [write_run(tmp_path / name, rows) for name, rows in runs.items()]
    explanation = workspace.explain_change("total", folders)
    (table,) = explanation.tables
    assert [step.metric for step in table.steps] == ["wait", "work"]
    assert table.has_rest
    for side, rows in enumerate(runs.values()):
        complete, present = list_complete(rows), [row for row in rows if row]
        assert table.rows[side] == (len(present), len(complete))
        sums = [sum(step.sums[side]) for step in table.steps]
        assert sums == [sum_times(complete, *EVENTS[:2]), sum_times(complete, *EVENTS[1:])]
        assert sum(sums) == sum_times(complete, EVENTS[0], EVENTS[2])
        averages = [step.averages[side] for step in table.steps]
        assert averages == [Fraction(item, len(complete) * 10**6) for item in sums]
        assert table.total.averages[side] == Fraction(sum_total(rows), len(present) * 10**6)
        assert sum(averages) + table.rest[side] == table.total.averages[side]


def test_steps_of_repeats_add_up(workspace: Workspace, tmp_path: Path) -> None:
    random = Random(7)
    runs = [f"{name}={write_run(tmp_path / f'{name}{number}', draw_rows(random, 30 + number, 10**7))}"
            for name in ("old", "new") for number in range(3)]  # fmt: skip
    (table,) = workspace.explain_change("total", runs).tables
    assert [len(items) for items in table.steps[0].sums] == [3, 3]
    for side in (0, 1):
        assert sum(step.averages[side] for step in table.steps) + table.rest[side] == table.total.averages[side]


def test_complete_rows_leave_no_rest(workspace: Workspace, tmp_path: Path) -> None:
    folders = [write_run(tmp_path / name, draw_rows(Random(int(name)), 40, 10**7, lost=0)) for name in "12"]
    (table,) = workspace.explain_change("total", folders).tables
    assert not table.has_rest
    assert not any(table.rest)


def test_slower_step_is_the_cause(workspace: Workspace, tmp_path: Path) -> None:
    rows = draw_rows(Random(1), 200, 10**8, lost=0)
    slower = [{**row, EVENTS[2]: row[EVENTS[2]] + 40_000_000} for row in rows]
    folders = [write_run(tmp_path / name, items) for name, items in (("old", rows), ("new", slower))]
    (table,) = workspace.explain_change("total", folders).tables
    assert table.cause
    assert table.cause.metric == "work"
    assert table.cause.difference == table.total.difference == 40
    (table,) = workspace.explain_change("total", [f"a={folders[0]}", f"b={folders[0]}"]).tables
    assert table.cause is None


@pytest.mark.parametrize(
    ("lost", "slower", "expected"),
    [
        (0.0, 40_000_000, r"Response time \+40\.0 ms .*, worse\): 100 % of it is Working time \(.* ms, worse\)\."),
        (0.0, -40_000_000, r"Response time -40\.0 ms .*, better\): 100 % of it is Working time \(.* ms, better\)\."),
        (0.05, 80_000_000, r"Response time \+.* 1?\d\d % of it is Working time, in rows that have all steps\."),
        (0.0, 0, ""),
    ],
)
def test_page_names_the_cause(
    lost: float, slower: int, expected: str, place: Path, cache: Path, tmp_path: Path
) -> None:
    rows = [{**row, **({EVENTS[2]: row[EVENTS[2]] + 50_000_000} if EVENTS[2] in row else {})}
            for row in draw_rows(Random(5), 200, 10**7, lost)]  # fmt: skip
    changed = [{**row, **({EVENTS[2]: row[EVENTS[2]] + slower} if EVENTS[2] in row else {})} for row in rows]
    runs = [f"--run={write_run(tmp_path / name, items)}" for name, items in (("1", rows), ("2", changed))]
    words = ("build", "service/comparison", *runs, "-o", tmp_path / "out", "--to", "md", "--cache", cache)
    assert run_assay(*words, cwd=place).status == 0
    document = json.loads((tmp_path / "out" / "document.json").read_text(encoding="utf-8"))
    (answer,) = document["answers"]
    # Changes of the whole that come from no host, kind or time have no sentence of their own.
    assert re.fullmatch(expected, " ".join(answer.get("causes", ()))), answer
    drawn = [plot for part in document["parts"] for plot in part["plots"] if plot and plot["template"] == "steps"]
    assert bool(drawn) is bool(expected)
    for plot in drawn:
        assert_bars_add_up(plot, "Working time")


def assert_bars_add_up(plot: Mapping[str, Any], cause: str) -> None:
    """Check that each bar of a waterfall begins where the one before it ends, and the last one is their sum."""
    rows = [dict(zip(plot["columns"], row, strict=True)) for row in plot["rows"]]
    *steps, total = rows
    assert [row["mark"] for row in rows] == [*["step"] * len(steps), "total"]
    ends = [0.0, *(row["x2"] for row in steps)]
    assert [row["x"] for row in steps] == pytest.approx(ends[:-1], abs=1e-4)
    assert (total["x"], total["x2"]) == (0.0, pytest.approx(ends[-1], rel=1e-4))
    longest = max(steps, key=lambda row: abs(row["x2"] - row["x"]))
    assert (longest["step"], longest["metric"], total["metric"]) == (cause, "work", "total")
    assert plot["panels"] == [row["step"] for row in rows]


def test_rest_is_what_no_metric_measures_and_never_below_0(place: Path, cache: Path, tmp_path: Path) -> None:
    specs = shutil.copytree(place, tmp_path / "place") / "specs" / "service" / "metrics.dhall"
    edit_file(specs, "request.between e.started e.sent", "request.between e.received e.sent")
    rows = draw_rows(Random(1), 40, 10**7, lost=0)
    folders = [write_run(tmp_path / name, rows) for name in "12"]
    early = [{**row, EVENTS[2]: row[EVENTS[1]] - 1} if row is rows[3] else row for row in rows]
    folders.append(write_run(tmp_path / "early", early))
    with assay.open(tmp_path / "place", cache) as opened:
        (table,) = opened.explain_change("total", folders[:2]).tables
        with pytest.raises(AssayError) as error_info:
            opened.explain_change("total", folders[1:])
    assert [(step.name, step.metric) for step in table.steps] == [
        ("Waiting time", "wait"), ("rest: work started to response sent", "")
    ]  # fmt: skip
    assert sum(step.sums[0][0] for step in table.steps) == sum_times(rows, EVENTS[0], EVENTS[2])
    (problem,) = error_info.value.diagnostics
    assert (problem.code, problem.found) == ("no-steps", "-1e-06 ms in early")
    assert "`at_response_sent` is not always after `at_work_started`" in problem.message


def test_run_without_complete_rows_has_no_steps(workspace: Workspace, tmp_path: Path) -> None:
    rows = draw_rows(Random(1), 40, 10**7, lost=0)
    lost = [{name: instant for name, instant in row.items() if name != EVENTS[1]} for row in rows]
    folders = [write_run(tmp_path / name, items) for name, items in (("old", rows), ("new", lost))]
    with pytest.raises(AssayError) as error_info:
        workspace.explain_change("total", folders)
    (problem,) = error_info.value.diagnostics
    assert problem.message == "no row of new has all instants of the steps of Response time"
