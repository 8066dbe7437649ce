"""Instants of phases out of the facts of a run: missing, replaced by `--at`, or with a margin that leaves nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.support.commands import CommandResult, run_assay
from tests.support.laboratory import ROOT

UPGRADE = ROOT / "golden" / "antelope" / "upgrade" / "run"


def build_upgrade_report(tmp_path: Path, cache: Path, changed_facts: dict[str, object], *options: str) -> CommandResult:
    """Build the upgrade report of the recorded run with other facts."""
    run = tmp_path / "run"
    shutil.copytree(UPGRADE, run)
    facts = json.loads((run / "meta.json").read_text(encoding="utf-8")) | changed_facts
    present_facts = {name: value for name, value in facts.items() if value is not None}
    (run / "meta.json").write_text(json.dumps(present_facts), encoding="utf-8")
    return run_assay("build", "antelope/upgrade", "--run", run, *options, "-o", tmp_path / "out", "--cache", cache)


def test_unknown_instant_is_refused(tmp_path: Path, cache: Path) -> None:
    result = build_upgrade_report(tmp_path, cache, {"upgrade": None})
    assert (result.status, result.err) == (
        1,
        "error[no-instant-given]: run run: the instant `upgrade` has no time\n"
        "  hint: pass --at upgrade=TIME, or define the run's constant `upgrade`\n",
    )
    assert not (tmp_path / "out").exists()


def test_option_at_takes_precedence_over_the_constant(tmp_path: Path, cache: Path) -> None:
    upgrade_instant = json.loads((UPGRADE / "meta.json").read_text(encoding="utf-8"))["upgrade"]
    result = build_upgrade_report(
        tmp_path, cache, {"upgrade": "2020-01-01T00:00:00Z"}, "--at", f"upgrade={upgrade_instant}"
    )
    assert result.status == 0
    assert result.err.endswith("(--at) instead of 2020-01-01T00:00:00Z, the value of its constant upgrade.\n")


def test_margin_that_leaves_no_samples_is_refused(tmp_path: Path, cache: Path) -> None:
    result = build_upgrade_report(tmp_path, cache, {"rate_window_seconds": 60})
    assert result.status == 1
    assert result.err.startswith("error[empty-phase]: run run: there are no samples of cpu_usage, disk_write_rate, ")
