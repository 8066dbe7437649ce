"""Trace an interval or a verdict back to the batches that it rests on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.app.audit.trace_values import BuiltReport, select_run_phases
from assay.app.compute.computation import RunResult
from assay.app.compute.compute import compute
from assay.app.compute.sql_files import PHASES, ROWS, get_file_name
from assay.app.judge.judging import build_run_cells
from assay.app.session.session import Session
from assay.judgement.batches import count_places
from assay.lang.formula import is_formula
from assay.lang.model.package import Metric
from assay.plan.planner import AppliedFilter, name_cells_statement
from assay.plan.request import Request
from assay.report.judged_cells import describe_change
from assay.report.printed_cells import Cell
from assay.runs.model import NamedRun
from assay.util.diagnostics import fail


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of a run: the number of its samples, and their mean in the metric's unit."""

    size: int
    mean: float


@dataclass(frozen=True, slots=True)
class TracedJudgement:
    """The judgement behind a cell.

    `change` is what `results.json` has of it, `sentences` the same in words. `file` is the SQL of its cells in the
    folder of the build; empty if it has none. `batches` are those of each run, in the order of time.
    """

    change: Mapping[str, Any]
    sentences: tuple[str, ...]
    file: str
    batches: Mapping[str, tuple[Batch, ...]]


@dataclass(frozen=True, slots=True)
class Rebuild:
    """A report that is computed again to trace a cell: its session, the build, and the filters of the build."""

    session: Session
    built_report: BuiltReport
    applied_filters: Sequence[AppliedFilter]

    def compute(self, run: NamedRun, request: Request, column: str) -> RunResult:
        """Return the results of a column, which is a run or a phase of one."""
        computation = compute(
            self.session,
            self.built_report.checked,
            [run],
            request,
            self.applied_filters,
            select_run_phases(self.built_report, run.id) if column != run.id else None,
        )
        return next(item for item in computation.columns if item.id == column)


def trace_judgement(rebuild: Rebuild, cell: Cell, metric: Metric, runs: Mapping[str, NamedRun]) -> TracedJudgement:
    """Trace the judgement of a cell that prints an interval or a verdict.

    `runs` has the run of each compared column, by the id of the column. Raises AssayError for results without it.
    """
    built_report = rebuild.built_report
    columns = [source.run for source in cell.sources]
    versions = {item.id: item.version for item in built_report.provenance.content.runs}
    other = versions.get(columns[-1]) or columns[-1]
    try:
        judgement = built_report.results["judgement"]
        change = judgement["metrics"][metric.id][other]
        sentences = describe_change(change, float(judgement["level"]), metric.unit.symbol)
        count = change["batches"] or 0
    except (KeyError, TypeError, ValueError):
        message = f"results.json has no judgement of `{metric.id}`: {built_report.folder}"
        raise fail("no-build", message, hint="build the report again") from None
    name = get_file_name(ROWS, name_cells_statement(metric))
    files = (f"{folder}/{name}" for folder in (f"sql/{PHASES}", "sql"))
    has_cells = not is_formula(metric)  # those of a formula are of its inputs
    file = next((item for item in files if has_cells and (built_report.folder / item).is_file()), "")
    batches = {
        column: _collect_batches(rebuild, metric, column, runs[column], count)
        for column in (columns if file and count else ())
    }
    return TracedJudgement(change, sentences, file, batches)


def _collect_batches(rebuild: Rebuild, metric: Metric, column: str, run: NamedRun, count: int) -> tuple[Batch, ...]:
    """Return the batches of a run or phase; those without samples are left out."""
    built_report = rebuild.built_report
    results = rebuild.compute(run, Request((metric,), judged=(metric,)), column).results
    cells = build_run_cells(built_report.checked, metric, results.cells[metric.id], built_report.summary)
    sums: defaultdict[int, int] = defaultdict(int)
    sizes: defaultdict[int, int] = defaultdict(int)
    for cell in cells.cells:
        batch = cell.place * count // count_places(cells.units)
        sums[batch] += cell.sum
        sizes[batch] += cell.count
    return tuple(Batch(sizes[batch], sums[batch] / (sizes[batch] * cells.scale)) for batch in sorted(sums))
