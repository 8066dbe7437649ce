"""Execute the statements of an examined run again."""

from __future__ import annotations

from pathlib import Path

from assay.engine.executor import connect, execute, open_connections
from assay.engine.graph import Node
from assay.engine.job import Job
from assay.engine.mount import enumerate_hosts, mount_folders
from assay.engine.result_cache import Store
from assay.engine.results import RunResults
from tests.support.laboratory import ExaminedRun, Laboratory


def compute_run(
    lab: Laboratory,
    examined: ExaminedRun,
    graph: tuple[Node, ...],
    folder: Path,
    connection_count: int,
    *,
    enumerated: bool = False,
    large: bool = False,
) -> RunResults:
    """Compute a run with additional connections, and check that no table or temporary view remains."""
    run = examined.prepared
    job = Job("run", examined.plan, graph, run.constants, run.content_hash, run.recognition, ("run_summary",))
    with connect(2, folder / "spill") as connection:
        connections = open_connections(connection, connection_count)
        mount_folders(connection, run.folders, other_connections=connections)
        if enumerated:
            enumerate_hosts(connection, run.folders)
        store = Store(folder / "cache")
        results = execute(
            job, lab.package, store, connection, side_connections=connections, has_host_type=enumerated, is_large=large
        )
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == []
        temporary_views = connection.execute(
            "SELECT view_name FROM duckdb_views() WHERE temporary AND NOT internal"
        ).fetchall()
        assert not (connection_count and temporary_views)
    return results
