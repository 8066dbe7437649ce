"""Compute runs with the compiler, and keep all tables open for queries."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.app.session import filters
from assay.app.session.prepare import prepare
from assay.app.session.session import Session, open_session
from assay.engine.compiled_plan import compile_statements
from assay.engine.executor import connect, execute
from assay.engine.graph import Node, build_nodes
from assay.engine.job import Job
from assay.engine.mount import mount_folders
from assay.engine.result_cache import Store
from assay.engine.results import RunResults
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.report import Report
from assay.plan.planner import Plan, build_plan
from assay.plan.request import Request
from assay.report.results_json import build_results_data
from assay.report.run_results import Choices, RunFigures, format_run_parameter
from assay.runs.model import IngestedRun, NamedRun
from tests.compare_reference import CARDANO

if TYPE_CHECKING:
    import duckdb

ROOT = CARDANO.parent.parent
DATE = "2026-11-21"
_STORES = itertools.count()


@dataclass(frozen=True, slots=True)
class ExaminedRun:
    """A run with its results, and a connection to the tables behind them."""

    checked: CheckedPackage
    report: Report
    prepared: IngestedRun
    plan: Plan
    graph: tuple[Node, ...]
    results: RunResults
    connection: duckdb.DuckDBPyConnection

    def query_rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        """Return the rows of a query over the tables of the plan."""
        cursor = self.connection.execute(query, values or None)
        names = [item[0] for item in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def query_metric_rows(self, name: str) -> list[tuple[Any, ...]]:
        """Return the rows of a metric's own statement; rows of hosts begin with the host."""
        node = next(item for item in self.graph if item.name == name and item.statement.kind == "metric")
        values = {place: self.prepared.constants[place] for place in node.placeholders}
        rows: list[tuple[Any, ...]] = self.connection.execute(node.text, values or None).fetchall()
        return rows

    def build_choices(self, summary: str = "published") -> Choices:
        """Return the choices of a report of this run alone."""
        return Choices("typst-2026", summary, tuple(item.label for item in self.plan.applied), DATE)

    def build_results_json(self, summary: str = "published") -> dict[str, Any]:
        """Return `results.json` of a report of this run alone."""
        names = [metric.id for metric in self.plan.metrics]
        return build_results_data(self.checked, self.report, names, [self.figures], self.build_choices(summary))

    @property
    def figures(self) -> RunFigures:
        """Return the run as input of reports."""
        return RunFigures(self.prepared.run.id, self.prepared.constants, self.results, len(self.prepared.logs))

    @property
    def manifest_cells(self) -> dict[str, str]:
        """Return the cells of the manifest by label."""
        return {
            row.label: format_run_parameter(row, self.figures, self.build_choices()) for row in self.report.manifest
        }


@dataclass(frozen=True, slots=True)
class Laboratory:
    """Computes runs. Ingested data is shared, results are not, so that every table exists."""

    session: Session
    folder: Path

    @property
    def package(self) -> CheckedPackage:
        """Return the package under test."""
        return self.session.load_package("cardano")

    def build_graph(self, input_filters: Sequence[str]) -> tuple[Plan, tuple[Node, ...]]:
        """Return the plan of all metrics under the filters, and its statements."""
        applied = filters.parse_filters(self.package.package, None, input_filters, no_filters=not input_filters)
        full_plan = build_plan(self.package.package, Request(self.package.package.metrics, ("run_summary",)), applied)
        return full_plan, build_nodes(compile_statements(self.package, full_plan))

    def examine(
        self, run: Path, input_filters: Sequence[str] = (), *, name: str = "run", threads: int = 2
    ) -> ExaminedRun:
        """Compute all metrics of a run under the filters. Raise AssayError like a build."""
        full_plan, graph = self.build_graph(input_filters)
        (prepared,) = prepare(self.session, self.package, [NamedRun(name, run)], full_plan.required_fields)
        connection = connect(threads, self.folder / "spill")
        mount_folders(connection, prepared.folders)
        job = Job(
            name, full_plan, graph, prepared.constants, prepared.content_hash, prepared.recognition, ("run_summary",)
        )
        store = Store(self.folder / f"results-{next(_STORES)}")
        results = execute(job, self.package, store, connection, keep_tables=True)
        report = next(item for item in self.package.package.reports if item.name == "comparison")
        return ExaminedRun(self.package, report, prepared, full_plan, graph, results, connection)


def create_laboratory(folder: Path) -> Laboratory:
    """Create a laboratory in this repository's workspace, with its caches in a folder."""
    return Laboratory(open_session(ROOT, folder / "cache"), folder)
