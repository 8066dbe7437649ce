"""Statements of a run that was examined, executed anew."""

from __future__ import annotations

from pathlib import Path

from assay.engine.execute import Job, beside, connect, execute
from assay.engine.graph import Node
from assay.engine.mount import mount
from assay.engine.results import RunResults
from assay.engine.store import Store
from tests.support.laboratory import Examined, Laboratory


def worked_out(lab: Laboratory, kept: Examined, graph: tuple[Node, ...], folder: Path, others: int) -> RunResults:
    """What a run comes to with so many connections beside the first; no table is left over."""
    run = kept.prepared
    job = Job("run", kept.plan, graph, run.constants, run.raw, run.recognition, ("run_summary",))
    with connect(2, folder / "spill") as connection:
        more = beside(connection, others)
        mount(connection, run.folders, beside=more)
        found = execute(job, lab.package, Store(folder / "cache"), connection, others=more)
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == []
    return found
