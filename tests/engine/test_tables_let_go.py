"""Test that the executor drops tables after their last reader."""

from __future__ import annotations

from pathlib import Path

from assay.engine.executor import Job, connect, execute
from assay.engine.mount import mount
from assay.engine.result_cache import Store
from tests.compare_reference import CARDANO
from tests.support.laboratory import Laboratory


def test_tables_are_dropped_after_last_read(lab: Laboratory, tmp_path: Path) -> None:
    examined = lab.examine(CARDANO / "tiny/plain" / "run")
    tables_at: dict[str, set[str]] = {}
    with connect(1, tmp_path / "spill") as connection, examined.connection:
        mount(connection, examined.prepared.folders)

        def tables() -> set[str]:
            return {str(name) for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}

        def told(statement: str) -> None:
            tables_at[statement] = tables()

        run = examined.prepared
        job = Job("run", examined.plan, examined.graph, run.constants, run.raw, run.recognition, ("run_summary",))
        actual = execute(job, lab.package, Store(tmp_path / "cache"), connection, told)
        assert tables() == set()
    assert actual == examined.results
    assert set(tables_at) == {node.name for node in examined.graph}
    assert any(tables_at.values())
    for place, node in enumerate(examined.graph):
        assert tables_at[node.name] <= {name for later in examined.graph[place:] for name in later.reads}
