"""Trace an interval or a verdict back to the batches that it rests on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.app.audit.trace_values import BuiltReport, select_run_phases
from assay.app.compute.compute import compute
from assay.app.compute.sql_files import PHASES, ROWS, get_file_name
from assay.app.judge.judging import build_run_cells
from assay.app.session.session import Session
from assay.judgement.batches import count_places
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


def trace_judgement(
    session: Session,
    built_report: BuiltReport,
    cell: Cell,
    metric: Metric,
    applied_filters: Sequence[AppliedFilter],
    runs: Mapping[str, NamedRun],
) -> TracedJudgement:
    """Trace the judgement of a cell that prints an interval or a verdict.

    `runs` has the run of each compared column, by the id of the column. Raises AssayError for results without it.
    """
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
    file = next((item for item in files if (built_report.folder / item).is_file()), "")
    batches = {
        column: _collect_batches(session, built_report, metric, applied_filters, column, runs[column], count)
        for column in (columns if file and count else ())
    }
    return TracedJudgement(change, sentences, file, batches)


def _collect_batches(
    session: Session,
    built_report: BuiltReport,
    metric: Metric,
    applied_filters: Sequence[AppliedFilter],
    column: str,
    run: NamedRun,
    count: int,
) -> tuple[Batch, ...]:
    """Return the batches of a run or phase; those without samples are left out."""
    computation = compute(
        session,
        built_report.checked,
        [run],
        Request((metric,), judged=(metric,)),
        applied_filters,
        select_run_phases(built_report, run.id) if column != run.id else None,
    )
    results = next(item.results for item in computation.columns if item.id == column)
    cells = build_run_cells(built_report.checked, metric, results.cells[metric.id], built_report.summary)
    sums: defaultdict[int, int] = defaultdict(int)
    sizes: defaultdict[int, int] = defaultdict(int)
    for cell in cells.cells:
        batch = cell.place * count // count_places(cells.units)
        sums[batch] += cell.sum
        sizes[batch] += cell.count
    return tuple(Batch(sizes[batch], sums[batch] / (sizes[batch] * cells.scale)) for batch in sorted(sums))
