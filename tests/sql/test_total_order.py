"""Test that an order with ties is an error, and that a total order gives the same numbers everywhere."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.commands import run_assay, run_assay_process
from tests.support.workspaces import write_rows_of_requests


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Create a workspace with a run; the scanner leaves half of its lines to the engine."""
    folder = tmp_path / "workspace"
    assert run_assay("init", folder).status == 0
    shutil.rmtree(folder / "golden")
    log = folder / "runs" / "1.0" / "web-1" / "log.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    odd_lines = [line.replace('Z"', '+00:00"', 1) for line in lines[:30]]
    log.write_text("".join((*odd_lines, *lines[30:])), encoding="utf-8")
    return folder


def write_query(place: Path, order: str) -> None:
    sql = f"SELECT host, request FROM request_received ORDER BY {order} LIMIT 15\n"
    write_rows_of_requests(place, sql)


@pytest.mark.parametrize("command", [("check",), ("query", "wait", "--run", "runs/1.0")], ids=["check", "query"])
def test_order_by_a_constant_is_an_error_with_its_place(place: Path, command: tuple[str, ...]) -> None:
    write_query(place, "1+1")
    result = run_assay("--cache", place.parent / "cache", *command, cwd=place)
    assert (result.status, result.err) == (
        1,
        """\
error[sql-order]: the SQL of relation `request_keys` has a `LIMIT` with an order in which rows tie: \
its result may differ each time
  at queries/service/requests.sql:1:57
    1 | SELECT host, request FROM request_received ORDER BY 1+1 LIMIT 15
      |                                                         ^^^^^
  expected: ORDER BY with columns that distinguish all rows
  hint: add `host`, `seq` to its ORDER BY: rows that tie have no defined order
""",
    )


def test_numbers_are_the_same_without_the_scanner(place: Path) -> None:
    write_query(place, "host, seq")
    command = ("query", "wait", "--run", "runs/1.0", "--format", "json")
    runs = [
        run_assay_process("--cache", place.parent / mode, *command, cwd=place, environment={"ASSAY_SCANNER": mode})
        for mode in ("on", "off")
    ]
    assert runs[0].status == 0
    assert runs[0] == runs[1]
