"""Traces while other processes build: each prints cells of the build that it is asked for."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from assay.app.audit import trace
from tests.support.commands import CommandResult, run_assay, run_assay_process

RUNS = ("1.0", "1.1")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create the workspace of `assay init`, whose example has two runs; here both have the label of the first."""
    folder = tmp_path_factory.mktemp("concurrent") / "place"
    assert run_assay("init", folder).status == 0
    first, second = (folder / "runs" / name / "meta.json" for name in RUNS)
    shutil.copyfile(first, second)
    return folder


def build_run(place: Path, run: str, out: str, cache: str, *, in_process: bool = True) -> None:
    """Build the report of one run into a folder of the workspace."""
    words = ("--cache", cache, "build", "service/comparison", "--to", "md", "--run", f"runs/{run}", "-o", out)
    result = (run_assay if in_process else run_assay_process)(*words, cwd=place)
    assert result.status == 0, result.err


def trace_run(place: Path, out: str, cache: str, *, in_process: bool = True) -> CommandResult:
    """Trace the average of the first metric in a build."""
    words = ("--cache", cache, "trace", out, "Times/Waiting time, ms/1.0")
    return (run_assay if in_process else run_assay_process)(*words, cwd=place)


def test_builds_and_traces_at_once_print_what_they_print_alone(place: Path) -> None:
    def build_and_trace(run: str) -> list[CommandResult]:
        build_run(place, run, f"at-once-{run}", "shared", in_process=False)
        return [trace_run(place, f"at-once-{run}", "shared", in_process=False) for _ in range(2)]

    alone = []
    for run in RUNS:
        build_run(place, run, f"alone-{run}", f"cache-{run}")
        alone.append(trace_run(place, f"alone-{run}", f"cache-{run}"))
    assert alone[0].status == alone[1].status == 0, alone
    assert alone[0].out != alone[1].out
    with ThreadPoolExecutor(len(RUNS)) as pool:
        results = list(pool.map(build_and_trace, RUNS))
    texts = [[item.out.replace("at-once", "alone") for item in items] for items in results]
    assert texts == [[item.out] * 2 for item in alone]


def test_trace_of_a_folder_that_is_rebuilt_prints_one_build(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_provenance, rebuilt = trace.read_provenance, []

    def read_and_rebuild(folder: Path) -> Any:
        record = read_provenance(folder)
        if not rebuilt:
            rebuilt.append(folder)
            build_run(place, RUNS[1], "same", "cache")
        return record

    build_run(place, RUNS[1], "same", "cache")
    expected = trace_run(place, "same", "cache")
    build_run(place, RUNS[0], "same", "cache")
    assert expected.status == 0, expected
    monkeypatch.setattr(trace, "read_provenance", read_and_rebuild)
    assert trace_run(place, "same", "cache") == expected
    assert rebuilt
