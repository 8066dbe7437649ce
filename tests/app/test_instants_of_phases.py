"""Instants of phases out of the facts of a run: missing, replaced by `--at`, or with a margin that leaves nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.support.commands import Done, assay
from tests.support.laboratory import ROOT

UPGRADE = ROOT / "golden" / "antelope" / "upgrade" / "run"


def upgraded(tmp_path: Path, cache: Path, changed: dict[str, object], *more: str) -> Done:
    """The upgrade report of the recorded run with other facts."""
    run = tmp_path / "run"
    shutil.copytree(UPGRADE, run)
    facts = json.loads((run / "meta.json").read_text(encoding="utf-8")) | changed
    kept = {name: value for name, value in facts.items() if value is not None}
    (run / "meta.json").write_text(json.dumps(kept), encoding="utf-8")
    return assay("build", "antelope/upgrade", "--run", run, *more, "-o", tmp_path / "out", "--cache", cache)


def test_instant_that_is_not_known_is_refused(tmp_path: Path, cache: Path) -> None:
    done = upgraded(tmp_path, cache, {"upgrade": None})
    assert (done.status, done.err) == (
        1,
        "error[no-instant-given]: run run: the instant `upgrade` is not known\n"
        "  hint: --at upgrade=TIME tells it, or the run's constant `upgrade`\n",
    )
    assert not (tmp_path / "out").exists()


def test_option_at_goes_before_the_constant(tmp_path: Path, cache: Path) -> None:
    when = json.loads((UPGRADE / "meta.json").read_text(encoding="utf-8"))["upgrade"]
    done = upgraded(tmp_path, cache, {"upgrade": "2020-01-01T00:00:00Z"}, "--at", f"upgrade={when}")
    assert done.status == 0
    assert done.err.endswith("(--at), and not at 2020-01-01T00:00:00Z, which its constant upgrade tells.\n")


def test_margin_that_leaves_no_samples_is_refused(tmp_path: Path, cache: Path) -> None:
    done = upgraded(tmp_path, cache, {"rate_window_seconds": 60})
    assert done.status == 1
    assert done.err.startswith("error[empty-phase]: run run: there are no samples of cpu_usage, disk_write_rate, ")
