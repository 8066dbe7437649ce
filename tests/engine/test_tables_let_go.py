"""Tables of a run are let go of when the last statement that reads them is done."""

from __future__ import annotations

from pathlib import Path

from assay.engine.executor import Job, connect, execute
from assay.engine.mount import mount
from assay.engine.result_cache import Store
from tests.compare_reference import CARDANO
from tests.support.laboratory import Laboratory


def test_only_tables_that_are_still_read_are_there(lab: Laboratory, tmp_path: Path) -> None:
    kept = lab.examine(CARDANO / "tiny/plain" / "run")
    held: dict[str, set[str]] = {}
    with connect(1, tmp_path / "spill") as connection, kept.connection:
        mount(connection, kept.prepared.folders)

        def tables() -> set[str]:
            return {str(name) for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}

        def told(statement: str) -> None:
            held[statement] = tables()

        run = kept.prepared
        job = Job("run", kept.plan, kept.graph, run.constants, run.raw, run.recognition, ("run_summary",))
        found = execute(job, lab.package, Store(tmp_path / "cache"), connection, told)
        assert tables() == set()
    assert found == kept.results
    assert set(held) == {node.name for node in kept.graph}
    assert any(held.values())
    for place, node in enumerate(kept.graph):
        assert held[node.name] <= {name for later in kept.graph[place:] for name in later.reads}
