"""Test the executor: parallel statements, failures, and tables dropped after their last reader."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from assay.engine.executor import connect, execute, open_connections
from assay.engine.graph import Node
from assay.engine.job import Job
from assay.engine.mount import mount_folders
from assay.engine.partitions import Rows, StatementPool
from assay.engine.result_cache import Store
from assay.util.diagnostics import AssayError
from tests.compare_reference import CARDANO
from tests.support.execution import compute_run
from tests.support.laboratory import ExaminedRun, Laboratory


@pytest.fixture(scope="module")
def examined_run(lab: Laboratory) -> ExaminedRun:
    return lab.examine(CARDANO / "tiny/plain" / "run")


@pytest.mark.parametrize("other_workers", [1, 2, 5])
def test_parallel_results_equal_sequential_ones(
    lab: Laboratory, examined_run: ExaminedRun, tmp_path: Path, other_workers: int
) -> None:
    assert compute_run(lab, examined_run, examined_run.graph, tmp_path, other_workers) == examined_run.results


def test_first_of_several_failures_is_reported(lab: Laboratory, examined_run: ExaminedRun, tmp_path: Path) -> None:
    metrics = [node for node in examined_run.graph if node.statement.kind == "metric"]

    def break_node(node: Node) -> Node:
        is_failing = node in metrics[3:6]
        return replace(node, text=f"SELECT error('of {node.name}')", placeholders=()) if is_failing else node

    graph = tuple(map(break_node, examined_run.graph))
    for other_workers in (0, 3):
        with pytest.raises(AssayError) as error_info:
            compute_run(lab, examined_run, graph, tmp_path / str(other_workers), other_workers)
        (problem,) = error_info.value.diagnostics
        assert f"of {metrics[3].name}" in problem.message


def test_statements_end_in_submission_order() -> None:
    ended_statements: list[int] = []
    with duckdb.connect() as connection, StatementPool(open_connections(connection, 3)) as ahead:
        for number in range(20):

            def run_query(cursor: duckdb.DuckDBPyConnection, number: int = number) -> Rows:
                time.sleep(0.01 * (number % 3 == 0))
                return [list(row) for row in cursor.execute(f"SELECT {number}").fetchall()]

            ahead.put(run_query, lambda rows: ended_statements.append(rows[0][0]))
        ahead.wait()
    assert ended_statements == list(range(20))


def test_failure_stops_all_statements() -> None:
    """A failed build must not wait for results that it does not need."""
    has_begun = threading.Event()

    def run_endless_query(cursor: duckdb.DuckDBPyConnection) -> Rows:
        has_begun.set()
        cursor.execute("SELECT max(a.range + b.range) FROM range(10000000) a, range(10000000) b").fetchall()
        return []

    def fail(connection: duckdb.DuckDBPyConnection) -> None:
        with StatementPool(open_connections(connection, 1)) as ahead:
            ahead.put(run_endless_query, lambda _: None)
            assert has_begun.wait(10)
            time.sleep(0.2)  # the engine must have started
            raise ZeroDivisionError

    start = time.monotonic()
    with duckdb.connect() as connection, pytest.raises(ZeroDivisionError):
        fail(connection)
    assert time.monotonic() - start < 60


def test_without_connections_statements_run_in_turn(examined_run: ExaminedRun) -> None:
    metrics = [node for node in examined_run.graph if node.statement.kind == "metric"]
    with StatementPool([]) as ahead:
        assert not any(map(ahead.can_take, examined_run.graph))
    with duckdb.connect() as connection, StatementPool(open_connections(connection, 1)) as ahead:
        assert [node for node in examined_run.graph if ahead.can_take(node)] == metrics


def test_tables_are_dropped_after_last_read(lab: Laboratory, tmp_path: Path) -> None:
    examined = lab.examine(CARDANO / "tiny/plain" / "run")
    tables_at: dict[str, set[str]] = {}
    with connect(1, tmp_path / "spill") as connection, examined.connection:
        mount_folders(connection, examined.prepared.folders)

        def list_tables() -> set[str]:
            return {str(name) for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}

        def record(statement: str) -> None:
            tables_at[statement] = list_tables()

        run = examined.prepared
        job = Job(
            "run", examined.plan, examined.graph, run.constants, run.content_hash, run.recognition, ("run_summary",)
        )
        actual = execute(job, lab.package, Store(tmp_path / "cache"), connection, record)
        assert list_tables() == set()
    assert actual == examined.results
    assert set(tables_at) == {node.name for node in examined.graph}
    assert any(tables_at.values())
    for place, node in enumerate(examined.graph):
        assert tables_at[node.name] <= {name for later_node in examined.graph[place:] for name in later_node.reads}
