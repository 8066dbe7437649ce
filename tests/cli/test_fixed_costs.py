"""Test costs of every command: threads and processes."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest

from assay.app.build import build as build_module
from assay.engine.connection import Limits, apply_limits
from tests.support.commands import build
from tests.support.laboratory import ROOT

#: a statement that takes hours
ENDLESS = "SELECT count(*) FROM range(1000000000000) AS a, range(1000000000000) AS b"


def run_python(code: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a program and return its output."""
    command = [sys.executable, *options, "-c", code]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)


def test_statements_share_one_timeout_thread() -> None:
    with duckdb.connect() as connection, apply_limits(connection, Limits(seconds=3600)):
        before = threading.active_count()
        with apply_limits(connection, Limits(seconds=3600)), apply_limits(connection, Limits(seconds=1800)):
            assert threading.active_count() == before


def test_statement_with_shorter_limit_is_ended_first() -> None:
    with duckdb.connect() as patient, duckdb.connect() as other:
        with (
            apply_limits(patient, Limits(seconds=3600)),
            apply_limits(other, Limits(seconds=0.2)),
            pytest.raises(duckdb.InterruptException),
        ):
            other.execute(ENDLESS)
        assert patient.execute("SELECT 1").fetchall() == [(1,)]
        with apply_limits(other, Limits(seconds=3600)):
            assert other.execute("SELECT 2").fetchall() == [(2,)]


def test_command_waits_for_its_threads() -> None:
    code = """
import sys, threading, time
threading.Thread(target=lambda: (time.sleep(0.5), print("done"))).start()
sys.argv = ["assay", "--version"]
from assay.__main__ import main
main()
"""
    assert "done" in run_python(code).stdout.splitlines()


def test_converters_start_first_in_empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started_processes: list[Path] = []
    monkeypatch.setattr(build_module, "start_converters", started_processes.append)
    runs, cache = [f"run={ROOT}/golden/cardano/tiny/plain/run"], tmp_path / "cache"
    assert build(runs, tmp_path / "out", cache, "--filter", "none").status == 2
    assert started_processes == [ROOT / "templates" / "fonts"]
    (cache / "drawings").mkdir(parents=True)
    assert build(runs, tmp_path / "out", cache, "--filter", "none").status == 2
    assert len(started_processes) == 1
