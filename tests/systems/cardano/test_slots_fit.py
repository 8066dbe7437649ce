"""Test the warning about a genesis of another run: leadership checks are not in their slots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.oracle.instants import SECOND, format_instant
from tests.support.cases import CASES, Case, format_options
from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import Laboratory
from tests.support.runs import TINY_START, change_json, change_log, copy_run, format_line

HINT = (
    "  hint: check that the genesis is that of the run. Slots of several lengths (mainnet had slots of 20 s "
    "before Shelley) are not supported\n"
)


def build_later_start(seconds: int) -> dict[str, str]:
    """Change a genesis so that the system began some seconds later."""
    return {"systemStart": format_instant(TINY_START + seconds * SECOND, "%Y-%m-%dT%H:%M:%SZ")}


def query_metric(run: Path, metric: str, cache: Path) -> CommandResult:
    """Run `assay query` for a metric."""
    return run_assay("query", metric, "--run", f"run={run}", "--cache", cache)


@pytest.mark.parametrize("metric", ["cdfForgerStart", "cdfPeerRequest", "CentiCpu"])
@pytest.mark.parametrize(
    ("message", "outside", "slot", "implied", "distance"),
    [
        (build_later_start(10 * 365 * 86400), 6, 2, "before slot 0", "315360000.0 s before"),
        (build_later_start(1), 6, 2, "in slot 1", "1.0 s before"),
        ({"slotLength": 2}, 6, 2, "in slot 1", "17.0 s before"),
        ({"slotLength": 0.3333}, 6, 2, "in slot 6", "1.3 s after"),
    ],
)
def test_most_checks_outside_their_slots_are_an_error(
    tmp_path: Path,
    cache: Path,
    metric: str,
    message: dict[str, Any],
    outside: int,
    slot: int,
    implied: str,
    distance: str,
) -> None:
    run = copy_run("tiny/plain", tmp_path / "run")
    change_json(run / "genesis-shelley.json", lambda document: document.update(message))
    result = query_metric(run, metric, cache)
    assert (result.status, result.out) == (1, "")
    first, *others = result.err.splitlines(keepends=True)
    assert first.startswith(
        f"error[slots-unfit]: run run: {outside} of 6 leadership checks are outside the slot that they name"
    )
    assert f" for slot {slot} at 2026-02-05 18:5" in first
    assert f", which is {implied} by systemStart and slotLength; the timestamps of " in first
    assert first.endswith(f" are {distance} the slots of the genesis\n")
    assert others[-1] == HINT


@pytest.mark.parametrize("metric", ["cdfForgerStart", "CentiCpu"])
def test_system_start_too_early_is_reported_with_evidence(tmp_path: Path, cache: Path, metric: str) -> None:
    run = copy_run("tiny/plain", tmp_path / "run")
    change_json(run / "genesis-shelley.json", lambda document: document.update(build_later_start(-10 * 365 * 86400)))
    result = query_metric(run, metric, cache)
    assert result.status == 1
    assert "systemStart" in result.err
    assert "slotLength" in result.err


def test_few_checks_outside_their_slots_are_a_warning(tmp_path: Path, cache: Path) -> None:
    """Reports with both kinds of metrics query twice and warn once."""
    run = copy_run("tiny/plain", tmp_path / "run")
    change_log(
        run / "node-2", lambda lines: [*lines, format_line(30.001, "Forge.Loop.StartLeadershipCheck", {"slot": 31})]
    )
    message = "warning: run: 1 of 7 leadership checks are outside the slot that they name, first on "
    for metrics in (["cdfForgerStart"], ["CentiCpu"], ["cdfForgerStart", "CentiCpu"]):
        result = run_assay("query", *metrics, "--run", f"run={run}", "--no-filters", "--cache", cache)
        assert result.status == 0
        assert result.err.count(message) == 1
        assert result.err.count("leadership checks") == 1


@pytest.mark.parametrize("case", CASES, ids=str)
def test_reference_runs_cause_no_warning(lab: Laboratory, case: Case) -> None:
    examined = lab.examine(case.run, format_options(case.conditions))
    with examined.connection:
        assert [text for text in examined.results.warnings if "leadership" in text] == []
