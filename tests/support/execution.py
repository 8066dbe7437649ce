"""Execute the statements of an examined run again."""

from __future__ import annotations

from pathlib import Path

from assay.engine.executor import Job, connect, execute, open_connections
from assay.engine.graph import Node
from assay.engine.mount import enumerate_hosts, mount
from assay.engine.result_cache import Store
from assay.engine.results import RunResults
from tests.support.laboratory import Examined, Laboratory


def worked_out(
    lab: Laboratory,
    kept: Examined,
    graph: tuple[Node, ...],
    folder: Path,
    others: int,
    *,
    enumerated: bool = False,
    large: bool = False,
) -> RunResults:
    """Compute a run with additional connections, and check that no table or temporary view remains."""
    run = kept.prepared
    job = Job("run", kept.plan, graph, run.constants, run.raw, run.recognition, ("run_summary",))
    with connect(2, folder / "spill") as connection:
        more = open_connections(connection, others)
        mount(connection, run.folders, beside=more)
        if enumerated:
            enumerate_hosts(connection, run.folders)
        store = Store(folder / "cache")
        results = execute(job, lab.package, store, connection, others=more, enumerated=enumerated, large=large)
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == []
        own = connection.execute("SELECT view_name FROM duckdb_views() WHERE temporary AND NOT internal").fetchall()
        assert not (others and own)
    return results
