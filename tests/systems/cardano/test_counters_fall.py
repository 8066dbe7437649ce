"""Test warnings about resource counters that decrease: increases are computed modulo 2^64, so they are huge."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.cases import CASES, Case, format_options
from tests.support.commands import run_assay
from tests.support.laboratory import Laboratory
from tests.support.runs import change_log, copy_run, format_reading, read_lines

COUNTERS = (
    "CentiCpu", "CentiGC", "CentiMut", "CentiBlkIO", "GcsMajor", "GcsMinor", "Alloc", "NetRd", "NetWr", "FsRd", "FsWr",
)  # fmt: skip
END = "Increases are computed modulo 2^64, so they are huge there, and so are averages over them"


def list_counter_warnings(run: Path, cache: Path, metric: str = "CentiCpu") -> list[str]:
    """Return the warnings of a query about counters."""
    result = run_assay("query", metric, "--run", f"run={run}", "--no-filters", "--cache", cache)
    assert result.status == 0, result.err
    return [text for text in result.err.splitlines() if "resource counters" in text]


def replace_readings(host: Path, readings: list[str]) -> None:
    """Put other readings into a host's log."""
    change_log(host, lambda lines: [*(text for text in lines if '"Resources"' not in text), *readings])


def test_falling_counter_is_a_warning_with_its_place(tmp_path: Path, cache: Path) -> None:
    run = copy_run("tiny/plain", tmp_path / "run")
    assert list_counter_warnings(run, cache) == []
    replace_readings(
        run / "node-2", [format_reading(20 + number, Alloc=100 - number, NetRd=number) for number in range(2)]
    )
    expected_warning = (
        "warning: run: resource counters decrease in one event of one host, first on node-2 at "
        f"2026-02-05 18:52:37.000000000 (Alloc). {END}"
    )
    assert list_counter_warnings(run, cache) == [expected_warning]
    assert list_counter_warnings(run, cache, "cdfForgerStart") == []
    replace_readings(run / "node-10", [format_reading(20 + number, FsWr=9 * (number % 2)) for number in range(4)])
    (text,) = list_counter_warnings(run, cache)
    assert "decrease in 2 events of 2 hosts, first on node-10 at 2026-02-05 18:52:38.000000000 (FsWr). " in text


def count_falling_events(run: Path) -> int:
    """Count in plain Python the events of a run whose counter is less than that of the event before on the host."""
    count = 0
    for host in run.glob("node-*"):
        records = [json.loads(text) for text in read_lines(host) if '"Resources"' in text and text.endswith("}")]
        readings = [item["data"].get("val", item["data"]) for item in records]
        count += sum(any(one.get(name, 0) > two.get(name, 0) for name in COUNTERS) for one, two in pairwise(readings))
    return count


@pytest.mark.parametrize("case", CASES, ids=str)
def test_reference_runs_warn_of_falling_counters(lab: Laboratory, case: Case) -> None:
    events = count_falling_events(case.run)
    examined = lab.examine(case.run, format_options(case.conditions))
    with examined.connection:
        warnings = [text for text in examined.results.warnings if "resource counters" in text]
    assert len(warnings) == bool(events)
    if events:
        assert f"decrease in {'one event' if events == 1 else f'{events} events'} of " in warnings[0]
