"""Compute the results of runs: ingest them, then execute the plan, several runs at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from assay.app.phases import Bounds, PhaseSelection, RunPhases, check_metrics, check_runs, check_samples, resolved
from assay.app.prepare import IngestedRun, Wanted, gathered, ignore_work, prepare
from assay.app.quality import Counter, QualityPlan, coverage_fields, missing_data_warnings, without_blank
from assay.app.raw_data_notes import with_silent
from assay.app.runs import NamedRun, here
from assay.app.session import Session
from assay.app.stages import stage
from assay.engine import result_cache
from assay.engine.compiled_plan import CompiledPlan, compile_plan
from assay.engine.executor import SQL, Job, connect, execute, open_connections
from assay.engine.graph import Node, nodes
from assay.engine.mount import enumerate_hosts, mount
from assay.engine.results import RunResults
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.plan.planner import AppliedFilter, Plan, RowRequest
from assay.report.data_quality import UNMEASURED, RunQuality
from assay.sql.codegen import Statement
from assay.util.diagnostics import AssayError

LARGE = 2 * 2**30  # bytes of raw files from which a run counts as large
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunResult:
    """The results of a run, or of a phase of one, with warnings about missing data (`absent`) and its data quality."""

    prepared: IngestedRun
    results: RunResults
    absent: tuple[str, ...] = ()
    phase: Bounds | None = None
    quality: RunQuality = UNMEASURED

    @property
    def id(self) -> str:
        """The id in results: that of the run, or of the run and the phase."""
        return f"{self.prepared.run.id}:{self.phase.name}" if self.phase else self.prepared.run.id


@dataclass(frozen=True, slots=True)
class Computation:
    """The results of runs, with the compiled plan.

    `graph` also has the statements that count missing data. `cut` is the graph of phases, `views` are the results of
    phases.
    """

    compiled: CompiledPlan
    graph: tuple[Node, ...]
    runs: tuple[RunResult, ...]
    cut: tuple[Node, ...] = ()
    phases: tuple[RunPhases, ...] = ()
    views: tuple[RunResult, ...] = ()

    @property
    def columns(self) -> tuple[RunResult, ...]:
        """The compared columns: the phases of every run, or the runs."""
        return self.views or self.runs


def compute(
    session: Session,
    checked: CheckedPackage,
    runs: Sequence[NamedRun],
    metrics: Sequence[Metric],
    applied: Sequence[AppliedFilter],
    relations: Sequence[str] = (),
    at_work: Callable[[], None] = ignore_work,
    listed: Sequence[RowRequest] = (),
    series: Sequence[str] = (),
    asked: PhaseSelection | None = None,
) -> Computation:
    """Compute the metrics, one-row relations, rows and series of runs.

    With `asked`, metrics and relations are computed for each phase of a run, rows and series for the run as a whole.
    `at_work` is called if anything is not cached.

    Raises AssayError with the problems of every run.
    """
    if asked:
        check_metrics(checked.package, metrics)
        check_runs(asked, (run.id for run in runs))
        run_compiled = compile_plan(checked, listed=listed, series=series, cuts=asked.cuts)
        phase_compiled = compile_plan(checked, metrics, applied, relations, cut=True)
    else:
        run_compiled = phase_compiled = compile_plan(checked, metrics, applied, relations, listed, series)
    run_quality, phase_quality = (
        QualityPlan(run_compiled),
        QualityPlan(phase_compiled, is_phase=True) if asked else None,
    )
    # Fetch in this thread: in the reading thread an interrupt would wait until all files are fetched.
    runs = here(session, runs, checked.package.sources)
    with ThreadPoolExecutor(max_workers=1) as reader:
        required_fields = _both(run_compiled.plan.required_fields, phase_compiled.plan.required_fields)
        required_fields = _both(required_fields, coverage_fields(checked.package, required_fields))
        reading = reader.submit(prepare, session, checked, runs, required_fields, metrics, at_work)
        graph = nodes((*run_quality.statements, *run_quality.counts))
        phase_graph = nodes((*phase_quality.statements, *phase_quality.counts)) if phase_quality else ()
        prepared = reading.result()
    jobs = [_job(item, run_compiled.plan, graph, () if asked else relations) for item in prepared]
    results = _execute(session, checked, jobs, prepared, at_work)
    count = partial(_count, session, checked)
    computed = tuple(
        _assessed(run_quality, item, result, partial(count, job, item))
        for job, item, result in zip(jobs, prepared, results, strict=True)
    )
    if not phase_quality or not asked:
        return Computation(run_compiled, graph, computed)
    phases = _each([partial(resolved, asked, item.prepared, item.results) for item in computed])
    views = [(item, bounds) for item, run_phases in zip(prepared, phases, strict=True) for bounds in run_phases.phases]
    jobs = [_phase_job(item, bounds, phase_compiled.plan, phase_graph, relations) for item, bounds in views]
    results = _execute(session, checked, jobs, [item for item, _ in views], at_work)
    if not asked.may_be_empty:
        _each([partial(check_samples, *view, result) for view, result in zip(views, results, strict=True)])
    seen = tuple(
        _assessed(phase_quality, item, result, partial(count, job, item), bounds)
        for job, (item, bounds), result in zip(jobs, views, results, strict=True)
    )
    return Computation(run_compiled, graph, computed, phase_graph, tuple(phases), seen)


def _assessed(
    quality_plan: QualityPlan, prepared: IngestedRun, results: RunResults, count: Counter, bounds: Bounds | None = None
) -> RunResult:
    """Return the result of a run or phase with its data quality.

    Metrics whose values all rest on fallbacks have no samples.
    """
    quality = quality_plan.assess(prepared, results, count)
    missing = missing_data_warnings(quality_plan.checked, quality_plan.plan, results, prepared)
    results = without_blank(quality_plan.checked, quality_plan.plan, prepared, results, quality.blank)
    return RunResult(prepared, results, missing, bounds, quality)


def _count(
    session: Session, checked: CheckedPackage, job: Job, prepared: IngestedRun, statements: Sequence[Statement]
) -> Mapping[str, Sequence[Mapping[str, object]]]:
    """Execute counting statements over a run; return their rows by name."""
    counting = replace(job, plan=replace(job.plan, metrics=(), listed=(), formulas=()), graph=nodes(statements))
    (results,) = _execute(session, checked, [replace(counting, relations=())], [prepared], ignore_work, "completeness")
    return results.counts


def _both(left: Wanted, right: Wanted) -> Wanted:
    """Return the union of the fields required of each event."""
    return {name: left.get(name, frozenset()) | right.get(name, frozenset()) for name in sorted({*left, *right})}


def _each(work: Sequence[Callable[[], T]]) -> list[T]:
    """Call all functions and return their results; raise one AssayError with the problems of all."""
    results, problems = [], []
    for item in work:
        try:
            results.append(item())
        except AssayError as error:
            problems.append(error)
    if problems:
        raise AssayError(tuple(item for error in problems for item in error.diagnostics), problems[0].status)
    return results


def report_metrics(checked: CheckedPackage, report: Report) -> tuple[Metric, ...]:
    """Return every metric that a report shows or lists, once, in the package's order."""
    names = {name for section in report.sections for name in section.metrics}
    names |= {chart.metric for chart in report.charts} | set(report.also)
    names |= {name for group in report.dictionary for name in group.metrics}
    return tuple(metric for metric in checked.package.metrics if metric.id in names)


def _job(prepared: IngestedRun, metric_plan: Plan, graph: tuple[Node, ...], relations: Sequence[str]) -> Job:
    return Job(
        prepared.run.id, metric_plan, graph, prepared.constants, prepared.raw, prepared.recognition, tuple(relations)
    )


def _phase_job(
    prepared: IngestedRun, bounds: Bounds, cut: Plan, graph: tuple[Node, ...], relations: Sequence[str]
) -> Job:
    job = _job(prepared, cut, graph, relations)
    constants = {**prepared.constants, **bounds.parameters}
    return replace(job, label=f"{prepared.run.id}, phase {bounds.name}", constants=constants)


def _is_large(prepared: Sequence[IngestedRun]) -> bool:
    """Return whether any run is so large that it needs all memory; beside other runs it would spill to disk."""
    return any(sum(part.files.size for part in run.parts) > LARGE for run in prepared)


def _execute(
    session: Session,
    checked: CheckedPackage,
    jobs: Sequence[Job],
    prepared: Sequence[IngestedRun],
    at_work: Callable[[], None],
    stage_name: str = "results",
) -> list[RunResults]:
    """Execute jobs in parallel, one for each run, as the stage `stage_name`. Raises AssayError."""
    cores = os.cpu_count() or 1
    side_by_side = 1 if _is_large(prepared) else min(len(jobs), cores)
    threads = session.threads or max(1, cores // side_by_side)
    done = 0
    total = sum(len(job.graph) for job in jobs)

    def report_progress(_name: str) -> None:
        nonlocal done
        if not done:
            at_work()
        done += 1
        session.progress("working out results", done, total)

    def attempt(index: int, enumerated: bool) -> RunResults:
        with connect(threads, session.store.room(), side_by_side) as connection:
            extra_connections = open_connections(connection, threads if threads > 1 else 0)
            mount(
                connection, prepared[index].folders, result_cache.list_table_folders(session.store), extra_connections
            )
            if enumerated:
                enumerate_hosts(connection, prepared[index].folders)
            edited = session.later is not None  # `assay watch`: specs will be edited, so keep intermediate tables
            return execute(
                jobs[index],
                checked,
                session.store,
                connection,
                report_progress,
                enumerated=enumerated,
                edited=edited,
                others=extra_connections,
                large=_is_large(prepared),
            )

    def execute_job(index: int) -> RunResults:
        with stage(stage_name, run=jobs[index].label, statements=len(jobs[index].graph)):
            try:
                return attempt(index, enumerated=True)
            except AssayError as error:
                if error.diagnostics[0].code != SQL:
                    raise with_silent(error, prepared[index]) from None
                # A few SQL functions reject enums where they take texts. Other errors will just occur again.
                return attempt(index, enumerated=False)

    with ThreadPoolExecutor(max_workers=side_by_side) as pool:
        pending = [pool.submit(execute_job, index) for index in range(len(jobs))]
    return gathered(pending)
