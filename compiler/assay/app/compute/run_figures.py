"""Convert the results of runs for reports and their provenance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from assay.app.compute.computation import Computation, RunResult
from assay.app.compute.raw_data_notes import iter_shared_file_notes, list_raw_notes
from assay.app.compute.report_dates import get_last_day, list_break_warnings
from assay.app.session.phases import iter_overrule_notes
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Package
from assay.plan.planner import FilterStep
from assay.provenance.record import CutRuns, Inputs, list_documents
from assay.report.run_results import RunFigures, RunPhase


def create_run_figures(run: RunResult) -> RunFigures:
    """Return the results, constants and notes of a run or phase for a report.

    Notes on raw data belong to the run; its phases do not repeat them.
    """
    notes = [*(() if run.phase else list_raw_notes(run.ingested_run)), *run.data_warnings]
    bounds = run.phase
    phase = RunPhase(run.ingested_run.run.id, bounds.name, bounds.since, bounds.until) if bounds else None
    ingested_run = run.ingested_run
    return RunFigures(
        run.id,
        ingested_run.constants,
        run.results,
        ingested_run.hosts,
        tuple(notes),
        get_last_day(run),
        phase,
        run.quality,
        ingested_run.run.version,
        frozenset(chain.from_iterable(run.data_warnings.values())),
        min((item.first_ns for item in ingested_run.logs if item.first_ns is not None), default=None),
        max((item.last_ns for item in ingested_run.logs if item.last_ns is not None), default=None),
        ingested_run.run.is_named,
    )


def iter_findings(run_labels: Sequence[str], columns: Sequence[RunFigures]) -> Iterator[str]:
    """Yield the findings on the data of runs or phases, each after the label of its column."""
    for label, run in zip(run_labels, columns, strict=True):
        yield from (f"{label}: {item.message}" for item in run.quality.findings)


def collect_cut_runs(computation: Computation) -> CutRuns | None:
    """Return the phases of runs for the provenance; None if runs are not cut."""
    if not computation.views:
        return None
    grains = {step.grain.name: step.grain.at for node in computation.phase_graph for step in [node.statement.step]
              if isinstance(step, FilterStep) and step.grain.at}  # fmt: skip
    views = iter(create_run_figures(view) for view in computation.views)
    runs = {
        run.ingested_run.run.id: (
            tuple((item.name, item.t_ns, item.time_source) for item in phases.instants),
            tuple(next(views) for _ in phases.phases),
        )
        for run, phases in zip(computation.runs, computation.phases, strict=True)
    }
    return CutRuns(grains, runs)


def collect_inputs(checked: CheckedPackage, run: RunResult) -> Inputs:
    """Return the raw files, documents and record counts of a run for the provenance."""
    ingested_run = run.ingested_run
    quarantined_by_host = tuple((item.host, item.quarantined) for item in ingested_run.logs if item.quarantined)
    files = tuple((item.name, item.size, item.sha256) for item in ingested_run.hashes)
    read_documents = list_documents(
        checked.package, ingested_run.constants, ingested_run.run.directory, {name for name, *_ in files}
    )
    return Inputs(
        ingested_run.run.id, ingested_run.run.place, files, read_documents, quarantined_by_host, _count_resources(run)
    )


def _count_resources(run: RunResult) -> dict[str, int]:
    """Count the files, bytes and lines of a run; the counts do not depend on what the cache had.

    Each line is recognised as an event, belongs to no event (`other`) or is quarantined.
    """
    logs = run.ingested_run.logs
    line_count, quarantined_count = sum(log.lines for log in logs), sum(log.quarantined for log in logs)
    recognised_count = sum(log.recognised for log in logs)
    return {
        "files": len(run.ingested_run.hashes),
        "bytes": sum(item.size for item in run.ingested_run.hashes),
        "lines": line_count,
        "recognised": recognised_count,
        "other": line_count - recognised_count - quarantined_count,
        "quarantined": quarantined_count,
    }


def list_run_warnings(package: Package, computation: Computation, run_labels: Sequence[str]) -> tuple[str, ...]:
    """Return the warnings about shared files and overruled instants of runs, and about breaks between their days.

    `run_labels` are the labels of the runs in the report, in the same order.
    """
    runs = [item.ingested_run for item in computation.runs]
    cuts = zip(run_labels, runs, computation.phases, strict=False)  # `phases` is empty if runs are not cut
    return (
        *iter_shared_file_notes(runs, run_labels),
        *iter_overrule_notes(package, cuts),
        *list_break_warnings(computation),
    )
