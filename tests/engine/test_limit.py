"""SQL that outlives its time or takes the machine's memory ends the command, and so does an output that cannot be."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import run_assay
from tests.support.laboratory import ROOT
from tests.support.workspaces import write_rows_of_requests

QUERY = ("query", "wait", "--run", "runs/1.0")
LONG = "levenshtein(repeat('a', 400000), repeat('b', 400000)) > 0"
#: name, SQL of the relation, error over a run
CASES = {
    "one function computes for hours": (
        f"SELECT host, request FROM request_received WHERE {LONG} GROUP BY ALL",
        "time",
    ),
    "a function of each row computes for hours": (
        "SELECT host, request FROM request_received "
        "WHERE levenshtein(repeat(request, 60000), repeat(host, 60000)) > 0 GROUP BY ALL",
        "time",
    ),
    "a recursion has no end": (
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT (i + 1) % 7 FROM n) "
        "SELECT 'h' AS host, max(i)::TEXT AS request FROM n",
        "time",
    ),
    "rows are multiplied": (
        "SELECT 'h' AS host, count(*)::TEXT AS request FROM range(1000000) AS a(x), range(1000000) AS b(y) "
        "WHERE (x * y) % 7 = 3",
        "time",
    ),
    "a text of 4 GB": ("SELECT 'h' AS host, 'r' || len(repeat('xxxxxxxxxx', 400000000)) AS request", "memory"),
    "a list of 8 GB": ("SELECT 'h' AS host, 'r' || len(range(1000000000)) AS request", "memory"),
    "a text of a long list": (
        "SELECT 'h' AS host, 'r' || len(array_to_string(range(1000000000), ',')) AS request",
        "memory",
    ),
}
#: runs a command and appends its peak memory, in KiB, to its stderr
MEASURING_SCRIPT = """
import os, subprocess, sys
done = subprocess.Popen([sys.executable, "-m", "assay", *sys.argv[1:]])
_, status, used = os.wait4(done.pid, 0)
print(used.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Create a workspace without golden files."""
    folder = tmp_path / "workspace"
    assert run_assay("init", folder).status == 0
    return folder


def run_measured(place: Path, *arguments: str, **environment: str) -> tuple[int, list[str], int]:
    """Return the status of a command in a workspace, the lines that it writes on stderr, and its peak memory in MiB."""
    process_environment = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), **environment}
    command = [sys.executable, "-c", MEASURING_SCRIPT, "--cache", str(place.parent / "cache"), *arguments]
    result = subprocess.run(
        command, cwd=place, env=process_environment, capture_output=True, text=True, timeout=60, check=False
    )
    *lines, peak = result.stderr.splitlines()
    return result.returncode, lines, int(peak) // 1024


def write_query(place: Path, sql: str) -> None:
    write_rows_of_requests(place, sql)


@pytest.mark.parametrize(("sql", "kind"), CASES.values(), ids=CASES)
def test_statement_that_exceeds_its_limits_ends_the_command(place: Path, sql: str, kind: str) -> None:
    write_query(place, sql)
    limits = {"ASSAY_SQL_SECONDS": "1"} if kind == "time" else {"ASSAY_SQL_SECONDS": "60", "ASSAY_SQL_MIB": "500"}
    status, lines, peak = run_measured(place, *QUERY, **limits)
    limit = "1 seconds" if kind == "time" else "500 MiB of memory"
    assert (status, lines[0]) == (1, f"error[sql-{kind}]: run 1.0: the SQL of `request_keys` takes more than {limit}")
    assert peak < (3300 if kind == "time" else 1300)
    scratch = place.parent / "cache" / "scratch"
    assert not scratch.exists() or not any(scratch.iterdir())


def test_error_of_an_ended_command_is_json_on_request(place: Path) -> None:
    write_query(place, CASES["a text of 4 GB"][0])
    status, lines, peak = run_measured(place, "--errors", "json", *QUERY)
    (error,) = json.loads("\n".join(lines))
    assert (status, error["code"]) == (1, "sql-memory")
    assert "takes more than 2500 MiB of memory" in error["message"]
    assert peak < 3300


def test_check_ends_with_a_statement_that_takes_memory(place: Path) -> None:
    write_query(place, CASES["a text of 4 GB"][0])
    status, lines, peak = run_measured(place, "check")
    message = "error[sql-memory]: the SQL of `request_keys` on empty tables takes more than 1500 MiB of memory"
    assert (status, lines[0]) == (1, message)
    assert peak < 2500


def test_check_ends_with_a_statement_that_outlives_its_time(place: Path) -> None:
    write_query(place, CASES["one function computes for hours"][0])
    code = "from assay.engine import dry_run\ndry_run.SECONDS = 1\nfrom assay.__main__ import main\nmain()"
    process_environment = {**os.environ, "PYTHONPATH": str(ROOT / "compiler")}
    command = [sys.executable, "-c", code, "--cache", str(place.parent / "cache"), "check"]
    result = subprocess.run(
        command, cwd=place, env=process_environment, capture_output=True, text=True, timeout=60, check=False
    )
    message = (
        "error[sql-time]: the SQL of `request_keys` on empty tables takes more than 1 seconds\n"
        "  hint: check that it ends\n"
    )
    assert (result.returncode, result.stderr) == (1, message)


@pytest.fixture(scope="module")
def shared_workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a workspace that tests do not change, its cache, and places beside it that cannot hold an output."""
    folder = tmp_path_factory.mktemp("unchanged") / "workspace"
    assert run_assay("init", folder).status == 0
    (folder / "file").write_text("", encoding="utf-8")
    (folder / "read-only").mkdir(mode=0o555)
    return folder


@pytest.mark.parametrize("arguments", [("build", "service/comparison", "--run", "runs/1.0"), ("catalogue",)])
@pytest.mark.parametrize("out", ["/proc", "/sys", "/dev/null", "/dev/null/x", "file", "file/x", "read-only/x"])
def test_output_that_cannot_be_written_is_an_error(
    shared_workspace: Path, arguments: tuple[str, ...], out: str
) -> None:
    if out.startswith("/") and not Path(out).exists() and not Path(out).parent.exists():
        pytest.skip("this system has no such place")
    if out.startswith("read-only") and os.access(shared_workspace / "read-only", os.W_OK):
        pytest.skip("whoever may do anything writes there, too")
    result = run_assay("--cache", shared_workspace.parent / "cache", *arguments, "-o", out, cwd=shared_workspace)
    if out in ("/proc", "/sys"):
        assert (result.status, result.err.splitlines()[0]) == (
            2, f"error[output]: the output folder has files that no build wrote: {out}",
        )  # fmt: skip
    else:
        assert result.status == 1
        assert result.err.splitlines()[0].startswith("error[output]: the output folder cannot be written: ")
    assert (shared_workspace / "file").read_bytes() == b""
