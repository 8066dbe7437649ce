"""Test that the output of `assay sql` runs in plain DuckDB, about as fast as `assay query`, with the same result."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from assay.app.compute.metric_sql import compile_metric_sql
from assay.app.compute.query import query_metrics
from assay.app.session.selection import Selection
from assay.engine.results import (
    NO_SAMPLES,
    Distribution,
    FormulaResult,
    read_host_row,
    summarize_hosts,
    summarize_pooled,
)
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import is_formula
from assay.lang.model.package import Metric
from assay.runs.model import NamedRun
from tests.compare_reference import CARDANO
from tests.support.commands import run_assay
from tests.support.laboratory import ROOT, Laboratory

#: time limit of a statement in seconds: the longest takes about one; badly planned ones take minutes
PATIENCE = 20
SHARES = 4
SENT = [
    "aa,2022-09-30T16:48:13.100,NA,-1,12,767,25,2022-09-30T16:48:13.500Z",
    "dd,2022-09-30T16:48:13.968,2022-09-30T16:48:14.000,150,13,20,25,2022-09-30T16:48:14.500Z",
]


def run_query(text: str) -> list[tuple[Any, ...]]:
    """Return the rows of a statement; fail after the time limit."""
    with duckdb.connect() as connection:
        timer = threading.Timer(PATIENCE, connection.interrupt)
        timer.start()
        try:
            return connection.execute(text).fetchall()
        finally:
            timer.cancel()


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a run that has records of every source of a system."""
    run = tmp_path_factory.mktemp("node") / "run"
    golden = ROOT / "golden" / "antelope"
    shutil.copytree(golden / "harness", run)
    shutil.copyfile(golden / "rrd" / "rrddata.json", run / "rrddata.json")
    shutil.copytree(golden / "upgrade" / "run", run, dirs_exist_ok=True)
    (run / "trxGenLogs").mkdir()
    (run / "trxGenLogs" / "trx_data_output_1.txt").write_text("\n".join(SENT) + "\n", encoding="utf-8")
    return run


def find_run_folder(system: str, node: Path) -> Path:
    """Return the run for queries of metrics of a system."""
    runs = {"cardano": CARDANO / "candidate" / "run", "cometbft": ROOT / "golden" / "cometbft" / "run"}
    return runs.get(system, node)


def read_result(checked: CheckedPackage, metric: Metric, rows: list[tuple[Any, ...]]) -> Distribution | FormulaResult:
    """Return the result in the rows of a metric's statement, as the comments above the statement describe it."""
    summaries = checked.package.summaries
    if is_formula(metric):
        return FormulaResult({item.name: rows[0][0] for item in summaries})
    result = checked.measured[metric.id]
    if not metric.per:
        return summarize_pooled(read_host_row(rows[0]), summaries, result.factor, result.integral)
    host_rows = [read_host_row(row[1:]) for row in rows] or [NO_SAMPLES]
    sampled = [row for row in host_rows if row.size]
    counted_rows = sampled if metric.sampled_only and sampled else host_rows
    return summarize_hosts(counted_rows, summaries, result.factor, result.integral)


def select_share(metrics: tuple[Metric, ...], place: int) -> Iterator[Metric]:
    """Select every n-th metric."""
    yield from metrics[place::SHARES]


@pytest.mark.parametrize("place", range(SHARES))
@pytest.mark.parametrize("system", ["cardano", "cometbft", "antelope"])
def test_printed_sql_yields_the_values_of_query(lab: Laboratory, node: Path, system: str, place: int) -> None:
    checked = lab.session.load_package(system)
    run = NamedRun("run", find_run_folder(system, node))
    differing_metrics = []
    for metric in select_share(checked.package.metrics, place):
        rows = run_query(compile_metric_sql(lab.session, metric.id, Selection(system=system), run))
        queried = query_metrics(lab.session, [metric.id], [run], Selection(system=system))
        ((_, _, expected),) = queried.rows
        result = read_result(checked, metric, rows)
        if isinstance(expected, FormulaResult) and isinstance(result, FormulaResult):
            result, expected = (
                FormulaResult({queried.summary: item.averages[queried.summary]}) for item in (result, expected)
            )
        if result != expected:
            differing_metrics.append((metric.id, result, expected))
    assert differing_metrics == []


def test_table_with_several_readers_is_created_once(cache: Path) -> None:
    """Regression: this table took minutes, because the engine inlined everything it reads into one join."""
    run = CARDANO / "candidate" / "run"
    result = run_assay("sql", "cdfPeerRequest", "--run", run, "--cache", cache)
    ((size, *_),) = run_query(result.out)
    queried = run_assay("query", "cdfPeerRequest", "--run", run, "--cache", cache, "--format", "json")
    assert size == queried.parse_json()[0]["size"] > 0
