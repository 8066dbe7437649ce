"""Test the executor: parallel statements, failures, and tables dropped after their last reader."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from assay.engine.executor import Job, connect, execute, open_connections
from assay.engine.graph import Node
from assay.engine.mount import mount
from assay.engine.partitions import Rows, SideBySide
from assay.engine.result_cache import Store
from assay.util.diagnostics import AssayError
from tests.compare_reference import CARDANO
from tests.support.execution import worked_out
from tests.support.laboratory import Examined, Laboratory


@pytest.fixture(scope="module")
def examined(lab: Laboratory) -> Examined:
    return lab.examine(CARDANO / "tiny/plain" / "run")


@pytest.mark.parametrize("others", [1, 2, 5])
def test_parallel_results_equal_sequential_ones(
    lab: Laboratory, examined: Examined, tmp_path: Path, others: int
) -> None:
    assert worked_out(lab, examined, examined.graph, tmp_path, others) == examined.results


def test_first_of_several_failures_is_reported(lab: Laboratory, examined: Examined, tmp_path: Path) -> None:
    metrics = [node for node in examined.graph if node.statement.kind == "metric"]

    def broken(node: Node) -> Node:
        fails = node in metrics[3:6]
        return replace(node, text=f"SELECT error('of {node.name}')", places=()) if fails else node

    graph = tuple(map(broken, examined.graph))
    for others in (0, 3):
        with pytest.raises(AssayError) as refused:
            worked_out(lab, examined, graph, tmp_path / str(others), others)
        (problem,) = refused.value.diagnostics
        assert f"of {metrics[3].name}" in problem.message


def test_statements_end_in_submission_order() -> None:
    ended: list[int] = []
    with duckdb.connect() as connection, SideBySide(open_connections(connection, 3)) as ahead:
        for number in range(20):

            def ask(own: duckdb.DuckDBPyConnection, number: int = number) -> Rows:
                time.sleep(0.01 * (number % 3 == 0))
                return [list(row) for row in own.execute(f"SELECT {number}").fetchall()]

            ahead.put(ask, lambda rows: ended.append(rows[0][0]))
        ahead.wait()
    assert ended == list(range(20))


def test_failure_stops_all_statements() -> None:
    """A failed build must not wait for results that nobody needs."""
    begun = threading.Event()

    def endless(own: duckdb.DuckDBPyConnection) -> Rows:
        begun.set()
        own.execute("SELECT max(a.range + b.range) FROM range(10000000) a, range(10000000) b").fetchall()
        return []

    def fail(connection: duckdb.DuckDBPyConnection) -> None:
        with SideBySide(open_connections(connection, 1)) as ahead:
            ahead.put(endless, lambda _: None)
            assert begun.wait(10)
            time.sleep(0.2)  # the engine must have started
            raise ZeroDivisionError

    started = time.monotonic()
    with duckdb.connect() as connection, pytest.raises(ZeroDivisionError):
        fail(connection)
    assert time.monotonic() - started < 60


def test_without_connections_nothing_runs_in_parallel(examined: Examined) -> None:
    metrics = [node for node in examined.graph if node.statement.kind == "metric"]
    with SideBySide([]) as ahead:
        assert not any(map(ahead.takes, examined.graph))
    with duckdb.connect() as connection, SideBySide(open_connections(connection, 1)) as ahead:
        assert [node for node in examined.graph if ahead.takes(node)] == metrics


def test_tables_are_dropped_after_last_read(lab: Laboratory, tmp_path: Path) -> None:
    examined = lab.examine(CARDANO / "tiny/plain" / "run")
    tables_at: dict[str, set[str]] = {}
    with connect(1, tmp_path / "spill") as connection, examined.connection:
        mount(connection, examined.prepared.folders)

        def tables() -> set[str]:
            return {str(name) for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}

        def record(statement: str) -> None:
            tables_at[statement] = tables()

        run = examined.prepared
        job = Job("run", examined.plan, examined.graph, run.constants, run.raw, run.recognition, ("run_summary",))
        actual = execute(job, lab.package, Store(tmp_path / "cache"), connection, record)
        assert tables() == set()
    assert actual == examined.results
    assert set(tables_at) == {node.name for node in examined.graph}
    assert any(tables_at.values())
    for place, node in enumerate(examined.graph):
        assert tables_at[node.name] <= {name for later in examined.graph[place:] for name in later.reads}
