"""Test statements that run in parallel: same results, ordered ends, common stop."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from assay.engine.executor import open_connections
from assay.engine.graph import Node
from assay.engine.parallel import Rows, SideBySide
from assay.util.diagnostics import AssayError
from tests.compare_reference import CARDANO
from tests.support.execution import worked_out
from tests.support.laboratory import Examined, Laboratory


@pytest.fixture(scope="module")
def kept(lab: Laboratory) -> Examined:
    return lab.examine(CARDANO / "tiny/plain" / "run")


@pytest.mark.parametrize("others", [1, 2, 5])
def test_parallel_results_equal_sequential_ones(lab: Laboratory, kept: Examined, tmp_path: Path, others: int) -> None:
    assert worked_out(lab, kept, kept.graph, tmp_path, others) == kept.results


def test_first_of_several_failures_is_reported(lab: Laboratory, kept: Examined, tmp_path: Path) -> None:
    metrics = [node for node in kept.graph if node.statement.kind == "metric"]

    def broken(node: Node) -> Node:
        fails = node in metrics[3:6]
        return replace(node, text=f"SELECT error('of {node.name}')", places=()) if fails else node

    graph = tuple(map(broken, kept.graph))
    for others in (0, 3):
        with pytest.raises(AssayError) as refused:
            worked_out(lab, kept, graph, tmp_path / str(others), others)
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
            time.sleep(0.2)  # the engine has to be at it
            raise ZeroDivisionError

    started = time.monotonic()
    with duckdb.connect() as connection, pytest.raises(ZeroDivisionError):
        fail(connection)
    assert time.monotonic() - started < 60


def test_without_connections_nothing_runs_in_parallel(kept: Examined) -> None:
    metrics = [node for node in kept.graph if node.statement.kind == "metric"]
    with SideBySide([]) as ahead:
        assert not any(map(ahead.takes, kept.graph))
    with duckdb.connect() as connection, SideBySide(open_connections(connection, 1)) as ahead:
        assert [node for node in kept.graph if ahead.takes(node)] == metrics
