"""Counters of resources that fall are told: what follows of them is taken modulo 2^64, and is huge."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.cases import CASES, Case, as_options
from tests.support.commands import assay
from tests.support.laboratory import Laboratory
from tests.support.runs import changed_log, copied, lines_of, reading

COUNTERS = (
    "CentiCpu", "CentiGC", "CentiMut", "CentiBlkIO", "GcsMajor", "GcsMinor", "Alloc", "NetRd", "NetWr", "FsRd", "FsWr",
)  # fmt: skip
END = "as increases are taken modulo 2^64, theirs are huge there, and so are averages over them"


def warned(run: Path, cache: Path, metric: str = "CentiCpu") -> list[str]:
    """What a query warns of counters."""
    done = assay("query", metric, "--run", f"run={run}", "--no-filters", "--cache", cache)
    assert done.status == 0, done.err
    return [text for text in done.err.splitlines() if "counters of resources" in text]


def told(host: Path, readings: list[str]) -> None:
    """Put other readings into a host's log."""
    changed_log(host, lambda lines: [*(text for text in lines if '"Resources"' not in text), *readings])


def test_falling_counter_is_a_warning_with_its_place(tmp_path: Path, cache: Path) -> None:
    run = copied("tiny/plain", tmp_path / "run")
    assert warned(run, cache) == []
    told(run / "node-2", [reading(20 + number, Alloc=100 - number, NetRd=number) for number in range(2)])
    said = (
        "warning: run: counters of resources fall in one event of one host, first of node-2 at "
        f"2026-02-05 18:52:37.000000000 (Alloc); {END}"
    )
    assert warned(run, cache) == [said]
    assert warned(run, cache, "cdfForgerStart") == []
    told(run / "node-10", [reading(20 + number, FsWr=9 * (number % 2)) for number in range(4)])
    (text,) = warned(run, cache)
    assert "fall in 2 events of 2 hosts, first of node-10 at 2026-02-05 18:52:38.000000000 (FsWr); " in text


def falling(run: Path) -> int:
    """How many events of a run tell less of a counter than the one before on their host; plain Python."""
    count = 0
    for host in run.glob("node-*"):
        found = [json.loads(text) for text in lines_of(host) if '"Resources"' in text and text.endswith("}")]
        kept = [item["data"].get("val", item["data"]) for item in found]
        count += sum(any(one.get(name, 0) > two.get(name, 0) for name in COUNTERS) for one, two in pairwise(kept))
    return count


@pytest.mark.parametrize("case", CASES, ids=str)
def test_reference_runs_warn_of_falling_counters(lab: Laboratory, case: Case) -> None:
    events = falling(case.run)
    examined = lab.examine(case.run, as_options(case.conditions))
    with examined.connection:
        said = [text for text in examined.results.warnings if "counters of resources" in text]
    assert len(said) == bool(events)
    if events:
        assert f"fall in {'one event' if events == 1 else f'{events} events'} of " in said[0]
