"""Test stage logs, the progress bar, and the counts of records in provenance."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compare_reference import CARDANO, load_json
from tests.support.commands import build, run_assay
from tests.support.runs import change_log, copy_run

# The rows of all metrics are counted, then the steps of those without samples, and the times of records.
COUNTS = ["completeness"] * 3
STAGES = ["specs", "hash", "read", "results", *COUNTS, "charts", "pdf", "report", "command"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = copy_run("tiny/plain", tmp_path_factory.mktemp("log") / "run")
    change_log(folder / "node-2", lambda lines: [*lines, '{"at": "2026', "a text"])
    return folder


@pytest.fixture(scope="module")
def verbose(run: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, object]], list[str]]:
    """Build twice; return the folder, the first log as JSON, and the second (all cached) as text."""
    folder = tmp_path_factory.mktemp("verbose")
    first = build([f"run={run}"], folder / "out", folder / "cache", "--no-filters", "--log-format", "json")
    second_build = build([f"run={run}"], folder / "out", folder / "cache", "--no-filters", "-v")
    assert first.status == second_build.status == 0
    return (
        folder / "out",
        [json.loads(line) for line in first.err.splitlines() if line[0] == "{"],
        second_build.err.splitlines(),
    )


def test_every_stage_is_a_line_of_json(verbose: tuple[Path, list[dict[str, object]], list[str]], run: Path) -> None:
    _, stages, _ = verbose
    assert [item["stage"] for item in stages] == STAGES
    stages_by_name = {str(item["stage"]): item for item in stages}
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", str(item["at"])) for item in stages)
    assert all(item["level"] == "info" for item in stages)
    size = sum(path.stat().st_size for path in run.glob("node-*/*"))
    read_stage = stages_by_name["read"]
    assert (read_stage["run"], read_stage["source"], read_stage["bytes"], read_stage["cached"]) == (
        "run",
        "workbench_logs",
        size,
        False,
    )
    command_stage = stages_by_name["command"]
    assert command_stage["command"] == "build"
    for item in stages:
        assert 0 <= item["seconds"] <= command_stage["seconds"]  # type: ignore[operator]
        assert item["processor_seconds"] >= 0  # type: ignore[operator]
        # The kernel counts pages per processor, so that a later peak may be a little smaller.
        assert 10 < item["peak_mib"] <= command_stage["peak_mib"] + 5  # type: ignore[operator]


def test_stages_as_text_name_cache_hits(verbose: tuple[Path, list[dict[str, object]], list[str]]) -> None:
    names = [line.split(" ")[1] for line in verbose[2] if re.match(r"\d\d:\d\d:\d\d\.\d{3} ", line)]
    assert names == [item for item in STAGES if item not in ("charts", "pdf")]
    assert any(" read run=run source=workbench_logs " in line and " cached=True " in line for line in verbose[2])


def test_quiet_command_after_verbose_one_logs_nothing() -> None:
    assert run_assay("-v", "list", "reports", "--system", "cardano").err
    assert run_assay("list", "reports", "--system", "cardano").err == ""


def test_provenance_accounts_for_every_line(
    verbose: tuple[Path, list[dict[str, object]], list[str]], run: Path
) -> None:
    resources = load_json(verbose[0] / "provenance.json")["resources"]["run"]
    paths = list(run.glob("node-*/*"))
    assert resources["files"] == len(paths)
    assert resources["bytes"] == sum(path.stat().st_size for path in paths)
    assert resources["quarantined"] == 1
    assert resources["recognised"] + resources["other"] + resources["quarantined"] == resources["lines"]
    manifest = load_json(verbose[0] / "results.json")["manifest"]["run"]
    assert resources["recognised"] == manifest["recognised_total"]


ESCAPE_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.mark.parametrize(
    ("cases", "expected"), [(["plain"], "reading run, 3 files"), (["plain", "tie-hosts"], "reading 2 runs, 6 files")]
)
def test_terminal_shows_files_bytes_and_time_left(tmp_path: Path, cases: list[str], expected: str) -> None:
    runs = [f"{name}={CARDANO / 'tiny' / name / 'run'}" if len(cases) > 1 else str(CARDANO / "tiny" / name / "run")
            for name in cases]  # fmt: skip
    main_descriptor, terminal_descriptor = pty.openpty()
    command = [sys.executable, "-m", "assay", "ingest", "--system", "cardano", *runs, "--cache", str(tmp_path)]
    env = {**os.environ, "COLUMNS": "110", "TERM": "xterm"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=terminal_descriptor, env=env) as process:
        os.close(terminal_descriptor)
        output = b""
        while True:
            try:
                part = os.read(main_descriptor, 65536)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            output += part
    os.close(main_descriptor)
    assert process.returncode == 0
    lines = [line for line in re.split(r"[\r\n]+", ESCAPE_SEQUENCE.sub("", output.decode())) if "reading" in line]
    assert {re.sub(r" *[━╸╺].*", "", line).strip() for line in lines} == {expected}
    assert re.search(r"(\d+)/\1 MB(, \d+ MB/s)? +\d:\d\d:\d\d", lines[-1])
