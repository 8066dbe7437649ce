"""Test distributions of large tables, computed in portions: same results in bounded memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb
import pytest
from sqlglot import exp

from assay.app.compute import jobs
from assay.engine import partitions as module
from assay.engine.graph import Node
from assay.engine.partitions import (
    Fetch,
    Partition,
    Partitioner,
    iter_partitions,
    partition_metrics,
    restrict_to_hosts,
)
from assay.lang.model.package import Metric
from assay.sql import dialect
from assay.sql.distributions import build_distribution, get_domain
from tests.compare_reference import CARDANO
from tests.support.commands import run_assay
from tests.support.execution import compute_run
from tests.support.laboratory import Laboratory


@pytest.mark.parametrize(
    ("rows", "cut"),
    [
        ([], []),
        ([4], ["a"]),
        ([11], ["a"]),  # a single value is not partitioned
        ([4, 6, 1], ["ab", "c"]),
        ([11, 1, 9], ["a", "bc"]),
        ([0, 0, 10, 0], ["abcd"]),
        ([5, 6, 5, 6], ["a", "b", "c", "d"]),
    ],
)
def test_values_are_partitioned_in_order(rows: list[int], cut: list[str]) -> None:
    assert ["".join(map(str, part)) for part in iter_partitions(list(zip("abcd", rows, strict=False)), 10)] == cut


@pytest.mark.parametrize(
    ("run", "limit", "other_workers"), [("tiny/plain", 0, 0), ("many-hosts", 25, 0), ("baseline", 40, 2)]
)
def test_results_by_portion_equal_results_at_once(
    lab: Laboratory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: str, limit: int, other_workers: int
) -> None:
    examined = lab.examine(CARDANO / run / "run")
    counts: list[int] = []

    class CountingPortions(Partitioner):
        def list_texts(self, *arguments: object) -> list[str]:
            texts = super().list_texts(*arguments)  # type: ignore[arg-type]
            counts.append(len(texts))
            return texts

    monkeypatch.setattr(module, "MOST", limit)
    monkeypatch.setattr("assay.engine.executor.Partitioner", CountingPortions)
    assert compute_run(lab, examined, examined.graph, tmp_path, other_workers) == examined.results
    assert max(counts) > 1
    assert min(counts) == 1  # a metric with one distribution is a single query


@pytest.mark.parametrize(
    ("run", "enumerated", "joined"), [("baseline", True, 400), ("tiny/plain", False, 0), ("many-hosts", True, 400)]
)
def test_tables_by_portion_equal_whole_tables(
    lab: Laboratory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: str, enumerated: bool, joined: int
) -> None:
    examined = lab.examine(CARDANO / run / "run")
    counts: dict[str, int] = {}

    class CountingPortions(Partitioner):
        def partition_table(self, node: Node, fetch: Fetch) -> tuple[Partition, ...]:
            rows = super().partition_table(node, fetch)
            counts[node.name] = len(rows)
            return rows

    monkeypatch.setattr(module, "JOINED", joined)
    monkeypatch.setattr("assay.engine.executor.Partitioner", CountingPortions)
    assert (
        compute_run(lab, examined, examined.graph, tmp_path, 2, enumerated=enumerated, large=True) == examined.results
    )
    assert min(counts[name] for name in ("slots", "slot_rows", "resource_usage", "block_gaps")) > 1
    assert counts["openings"] == counts["block_rows"] == 0  # one reads logs; one joins rows of several hosts


def test_report_by_portion_equals_whole_report(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All bytes are equal, whatever counts as large."""

    def build_report(name: str, saved_run: Path) -> dict[str, bytes]:
        out = tmp_path / name
        run = CARDANO / "baseline" / "run"
        result = run_assay("--cache", saved_run, "build", "cardano/comparison", "--run", run, "--out", out)
        assert (result.status, result.err) == (0, "")
        return {path.name: path.read_bytes() for path in out.glob("re*") if path.is_file()}

    small_files = build_report("small", cache)
    requested_tables: list[str] = []
    numbers_of_groups: list[int] = []

    def record_groups(metrics: Sequence[Metric], fetch: Fetch) -> Sequence[Sequence[Metric]]:
        groups = partition_metrics(metrics, fetch)
        numbers_of_groups.append(len(groups))
        return groups

    def record_tables(
        connection: duckdb.DuckDBPyConnection, tables: Mapping[str, exp.Select], hosts: Partition
    ) -> object:
        requested_tables.extend(tables)
        return restrict_to_hosts(connection, tables, hosts)

    monkeypatch.setattr(jobs, "LARGE", 0)
    monkeypatch.setattr(module, "JOINED", 400)
    monkeypatch.setattr(module, "MOST", 40)
    monkeypatch.setattr(module, "TOGETHER", 40)
    monkeypatch.setattr("assay.engine.executor.restrict_to_hosts", record_tables)
    monkeypatch.setattr("assay.engine.executor.partition_metrics", record_groups)
    assert build_report("large", tmp_path / "empty cache") == small_files
    assert {"report.pdf", "results.json"} <= small_files.keys()
    assert {"slots", "leadership_check_started"} <= set(requested_tables)
    assert max(numbers_of_groups) > 1  # quantiles


@pytest.mark.parametrize(
    ("columns", "number"),
    [("'a' AS node", 0), ("'a' AS host", 0), ("['a', 'b', 'c'][1 + i % 3] AS host", 3), ("NULL AS host", 0)],
)
def test_table_without_hosts_is_computed_at_once(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch, columns: str, number: int
) -> None:
    """Partitions are sets of hosts, so rows without a host would be lost."""
    examined = lab.examine(CARDANO / "tiny/plain" / "run")
    (node,) = (item for item in examined.graph if item.name == "resource_usage")
    monkeypatch.setattr(module, "JOINED", 2)
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE resources AS SELECT {columns} FROM range(6) AS numbers(i)")
        rows = Partitioner(lab.package).partition_table(node, lambda text: connection.execute(text).fetchall())
    assert len(rows) == number


def test_samples_beyond_memory_are_computed(lab: Laboratory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine has memory for some of the hosts, but not for all."""
    metric = lab.package.get_metric("RSS")
    grain = next(item for item in lab.package.package.grains if item.name == metric.grain)
    query = build_distribution(metric, get_domain(grain), True, {})
    text = dialect.to_sql(query)
    config = {"threads": "2", "memory_limit": "80MiB", "temp_directory": str(tmp_path)}
    with duckdb.connect(config=config) as connection:
        connection.execute("CREATE TYPE hosts AS ENUM (SELECT 'host ' || i FROM range(10, 40) AS numbers(i))")
        connection.execute(
            "CREATE TABLE slot AS SELECT ('host ' || (10 + i // 100000))::hosts AS host, hash(i) // 2 AS rss, "
            "TRUE AS accepted FROM range(3000000) AS numbers(i)"
        )

        def run_query(requested_text: str) -> Sequence[Sequence[object]]:
            return connection.execute(requested_text).fetchall()

        with pytest.raises(duckdb.OutOfMemoryException):
            run_query(text)
        monkeypatch.setattr(module, "MOST", 250_000)
        rows = [
            row
            for part in Partitioner(lab.package).list_texts(metric, query, text, run_query)
            for row in run_query(part)
        ]
        assert [row[:2] for row in rows] == [(f"host {number}", 100_000) for number in range(10, 40)]
