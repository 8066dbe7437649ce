"""Compute the results of runs: ingest them, then execute the plan, several runs at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TypeVar

from assay.app.compute.raw_data_notes import add_silent_host_notes
from assay.app.session.phases import (
    Bounds,
    PhaseSelection,
    RunPhases,
    check_metrics,
    check_runs,
    check_samples,
    locate_phases,
)
from assay.app.session.prepare import collect_results, prepare
from assay.app.session.runs import fetch_runs
from assay.app.session.session import Session
from assay.app.session.stages import log_stage
from assay.engine import table_cache
from assay.engine.compiled_plan import CompiledPlan, compile_plan
from assay.engine.executor import SQL, connect, execute, open_connections
from assay.engine.graph import Node, build_nodes
from assay.engine.job import Job
from assay.engine.mount import enumerate_hosts, mount_folders
from assay.engine.results import RunResults
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.plan.planner import AppliedFilter, Plan
from assay.plan.request import Request
from assay.quality.empty_metrics import find_missing_events
from assay.quality.event_extents import find_ended_events
from assay.quality.extents import compute_run_extent, find_short_runs
from assay.quality.finding import LOST_RECORDS, UNMEASURED, RunQuality
from assay.quality.gaps import excuse_usual_gaps
from assay.quality.implausible_samples import find_unlike_zeros
from assay.quality.quality_plan import (
    Counter,
    QualityPlan,
    collect_coverage_fields,
    drop_blank_metrics,
    list_absent_field_warnings,
)
from assay.quality.unlike_values import find_unlike_values
from assay.runs.model import IngestedRun, NamedRun, RequiredFields
from assay.sql.codegen import Statement
from assay.util.diagnostics import AssayError
from assay.util.progress import ignore

LARGE = 2 * 2**30  # bytes of raw files from which a run counts as large
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunResult:
    """The results of a run or phase, with its data quality and warnings about missing data.

    `data_warnings` has the metrics without samples that each warning names.
    """

    ingested_run: IngestedRun
    results: RunResults
    data_warnings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    phase: Bounds | None = None
    quality: RunQuality = UNMEASURED

    @property
    def id(self) -> str:
        """Return the id in results: that of the run, or of the run and the phase."""
        return f"{self.ingested_run.run.id}:{self.phase.name}" if self.phase else self.ingested_run.run.id


@dataclass(frozen=True, slots=True)
class Computation:
    """The results of runs, with the compiled plan.

    `graph` also has the statements that count missing data. If runs are cut, `phase_graph` has the statements that are
    executed for each phase, `phases` the phases of each run, and `views` the results of all phases.
    """

    compiled_plan: CompiledPlan
    graph: tuple[Node, ...]
    runs: tuple[RunResult, ...]
    phase_graph: tuple[Node, ...] = ()
    phases: tuple[RunPhases, ...] = ()
    views: tuple[RunResult, ...] = ()

    @property
    def columns(self) -> tuple[RunResult, ...]:
        """Return the compared columns: the phases of every run, or the runs if they are not cut."""
        return self.views or self.runs

    def sort_runs(self, names: Sequence[str]) -> Computation:
        """Return the computation with the runs in the order of `names`, which are their ids."""
        order = sorted(range(len(self.runs)), key=lambda index: names.index(self.runs[index].id))
        return replace(
            self,
            runs=tuple(self.runs[index] for index in order),
            phases=tuple(self.phases[index] for index in order) if self.phases else (),
            views=tuple(sorted(self.views, key=lambda item: names.index(item.ingested_run.run.id))),
        )


def compute(
    session: Session,
    checked: CheckedPackage,
    runs: Sequence[NamedRun],
    request: Request,
    applied_filters: Sequence[AppliedFilter],
    phase_selection: PhaseSelection | None = None,
    on_work_start: Callable[[], None] = ignore,
) -> Computation:
    """Compute what is requested of runs.

    With `phase_selection`, metrics and relations are computed for each phase of a run, rows and series for the run as a
    whole. `on_work_start` is called before the first work that the cache does not save.

    Raises AssayError with the problems of every run.
    """
    if phase_selection:
        check_metrics(checked.package, request.metrics)
        check_runs(phase_selection, (run.id for run in runs))
    run_plan, phase_plan = _compile_plans(checked, request, applied_filters, phase_selection)
    run_quality = QualityPlan(run_plan)
    phase_quality = QualityPlan(phase_plan, is_phase=True) if phase_selection else None
    # Fetch in this thread: in the reading thread an interrupt would wait until all files are fetched.
    runs = fetch_runs(session, runs, checked.package.sources)
    with ThreadPoolExecutor(max_workers=1) as reader:
        required_fields = _merge_fields(run_plan.plan.required_fields, phase_plan.plan.required_fields)
        required_fields = _merge_fields(required_fields, collect_coverage_fields(checked.package, required_fields))
        ingestion = reader.submit(prepare, session, checked, runs, required_fields, request.metrics, on_work_start)
        graph = build_nodes((*run_quality.statements, *run_quality.counts))
        phase_graph = build_nodes((*phase_quality.statements, *phase_quality.counts)) if phase_quality else ()
        try:
            ingested_runs = ingestion.result()
        except KeyboardInterrupt:
            if session.filler:
                session.filler.cancel()
            raise
    jobs = [
        _create_job(item, run_plan.plan, graph, () if phase_selection else request.relations) for item in ingested_runs
    ]
    results = _execute(session, checked, jobs, ingested_runs, on_work_start)
    run_results = tuple(
        _assess_result(run_quality, item, result, partial(_count, session, checked, job, item))
        for job, item, result in zip(jobs, ingested_runs, results, strict=True)
    )
    if not phase_quality or not phase_selection:
        return Computation(run_plan, graph, _compare_data(run_quality, _compare_qualities(run_results), request.judged))
    phases, phase_results = _compute_phases(
        session, checked, phase_selection, run_results, phase_quality, phase_graph, request.relations, on_work_start
    )
    return Computation(run_plan, graph, run_results, phase_graph, phases, phase_results)


def _compile_plans(
    checked: CheckedPackage,
    request: Request,
    applied_filters: Sequence[AppliedFilter],
    phase_selection: PhaseSelection | None,
) -> tuple[CompiledPlan, CompiledPlan]:
    """Return the plan for runs as a whole and that for each phase, which is the same if runs are not cut."""
    if phase_selection is None:
        plan = compile_plan(checked, request, applied_filters)
        return plan, plan
    of_runs, of_phases = Request(rows=request.rows, series=request.series), replace(request, rows=(), series=())
    run_plan = compile_plan(checked, of_runs, cuts=phase_selection.cuts)
    return run_plan, compile_plan(checked, of_phases, applied_filters, cut=True)


def join_computations(
    checked: CheckedPackage,
    computations: Sequence[Computation],
    request: Request,
    phase_selection: PhaseSelection | None,
    applied_filters: Sequence[AppliedFilter] = (),
) -> Computation:
    """Join the computations of several groups of runs, with one plan of what is requested of all of them.

    The runs have the results of their own group only.
    """
    if len(computations) == 1:
        return computations[0]
    run_plan, phase_plan = _compile_plans(checked, request, applied_filters, phase_selection)
    run_quality, phase_quality = QualityPlan(run_plan), QualityPlan(phase_plan, is_phase=True)
    return Computation(
        run_plan,
        build_nodes((*run_quality.statements, *run_quality.counts)),
        tuple(run for item in computations for run in item.runs),
        build_nodes((*phase_quality.statements, *phase_quality.counts)) if phase_selection else (),
        tuple(phases for item in computations for phases in item.phases),
        tuple(view for item in computations for view in item.views),
    )


def _compute_phases(
    session: Session,
    checked: CheckedPackage,
    phase_selection: PhaseSelection,
    run_results: Sequence[RunResult],
    quality_plan: QualityPlan,
    graph: tuple[Node, ...],
    relations: Sequence[str],
    on_work_start: Callable[[], None],
) -> tuple[tuple[RunPhases, ...], tuple[RunResult, ...]]:
    """Return the phases of each run, and the results of all phases.

    Raises AssayError with the problems of every run.
    """
    phases = _call_each(
        [partial(locate_phases, phase_selection, item.ingested_run, item.results) for item in run_results]
    )
    views = [
        (item.ingested_run, bounds)
        for item, run_phases in zip(run_results, phases, strict=True)
        for bounds in run_phases.phases
    ]
    jobs = [_create_phase_job(item, bounds, quality_plan.plan, graph, relations) for item, bounds in views]
    results = _execute(session, checked, jobs, [item for item, _ in views], on_work_start)
    if not phase_selection.may_be_empty:
        _call_each([partial(check_samples, *view, result) for view, result in zip(views, results, strict=True)])
    phase_results = tuple(
        _assess_result(quality_plan, item, result, partial(_count, session, checked, job, item), bounds)
        for job, (item, bounds), result in zip(jobs, views, results, strict=True)
    )
    return tuple(phases), _compare_qualities(phase_results)


def _compare_qualities(results: Sequence[RunResult]) -> tuple[RunResult, ...]:
    """Return results of runs or phases with findings on events that only others of them have."""
    measured = [{name for name, item in result.results.metrics.items() if item.size} for result in results]
    qualities = find_missing_events([result.quality for result in results], measured)
    return tuple(
        _record_losses(replace(item, quality=quality)) for item, quality in zip(results, qualities, strict=True)
    )


def _record_losses(result: RunResult) -> RunResult:
    """Return a result that says of which metrics records are missing by the findings on its data."""
    losses = frozenset(
        (finding.code, name)
        for finding in result.quality.findings
        if finding.code in LOST_RECORDS
        for name in finding.metrics
    )
    return replace(result, results=replace(result.results, lost_records=losses))


def _compare_data(
    quality_plan: QualityPlan, results: tuple[RunResult, ...], judged: Sequence[Metric]
) -> tuple[RunResult, ...]:
    """Return results with findings on runs that cover far less than others, or have other samples, if any are judged.

    Calibration runs are not examined.
    """
    if not judged:
        return results
    compared = [item for item in results if not item.ingested_run.run.is_calibration]
    labels = [item.ingested_run.run.version or item.id for item in compared]
    ingested_runs = [item.ingested_run for item in compared]
    extents = [
        list(filter(None, (compute_run_extent(label, part.source.name, part.facts.logs) for part in item.parts)))
        for label, item in zip(labels, ingested_runs, strict=True)
    ]
    short = find_short_runs(extents, quality_plan.source_readers)
    ended = find_ended_events(ingested_runs, extents, quality_plan.checked.package.events, quality_plan.readers)
    distributions = [(label, item.results.metrics) for label, item in zip(labels, compared, strict=True)]
    unlike = find_unlike_values(distributions, quality_plan.metrics)
    zeros = find_unlike_zeros(distributions, quality_plan.metrics, quality_plan.quantities)
    qualities = {
        item.id: replace(quality, findings=(*quality.findings, *map(quality_plan.add_formulas, chain(*findings))))
        for item, quality, *findings in zip(
            compared, excuse_usual_gaps([item.quality for item in compared]), short, ended, unlike, zeros, strict=True
        )
    }
    impossible = {
        item.id: frozenset(name for finding in map(quality_plan.add_formulas, findings) for name in finding.metrics)
        for item, findings in zip(compared, zeros, strict=True)
    }
    return tuple(
        _record_losses(
            replace(
                item,
                quality=qualities.get(item.id, item.quality),
                results=replace(
                    item.results, impossible=item.results.impossible | impossible.get(item.id, frozenset())
                ),
            )
        )
        for item in results
    )


def _assess_result(
    quality_plan: QualityPlan,
    ingested_run: IngestedRun,
    results: RunResults,
    count: Counter,
    bounds: Bounds | None = None,
) -> RunResult:
    """Return the result of a run or phase with its data quality.

    Metrics whose samples are all computed from fallbacks lose them.
    """
    quality = quality_plan.assess(ingested_run, results, count)
    missing = list_absent_field_warnings(quality_plan.checked, quality_plan.plan, results, ingested_run)
    results = drop_blank_metrics(quality_plan.checked, quality_plan.plan, ingested_run, results, quality.blank_metrics)
    results = replace(results, impossible=quality.impossible_metrics)
    return RunResult(ingested_run, results, missing, bounds, quality)


def _count(
    session: Session, checked: CheckedPackage, job: Job, ingested_run: IngestedRun, statements: Sequence[Statement]
) -> Mapping[str, Sequence[Mapping[str, object]]]:
    """Execute counting statements over a run; return their rows by name."""
    plan = replace(job.plan, metrics=(), row_requests=(), formulas=(), judged=(), grouped=(), value_requests=())
    count_job = replace(job, plan=plan, graph=build_nodes(statements))
    (results,) = _execute(session, checked, [replace(count_job, relations=())], [ingested_run], ignore, "completeness")
    return results.counts


def _merge_fields(left: RequiredFields, right: RequiredFields) -> RequiredFields:
    """Return the union of the fields required of each event."""
    return {name: left.get(name, frozenset()) | right.get(name, frozenset()) for name in sorted({*left, *right})}


def _call_each(functions: Sequence[Callable[[], T]]) -> list[T]:
    """Call all functions and return their results; raise one AssayError with the problems of all."""
    results, problems = [], []
    for item in functions:
        try:
            results.append(item())
        except AssayError as error:
            problems.append(error)
    if problems:
        raise AssayError(tuple(item for error in problems for item in error.diagnostics), problems[0].status)
    return results


def list_report_metrics(checked: CheckedPackage, report: Report) -> tuple[Metric, ...]:
    """Return every metric of which a report needs averages or distributions, once, in the package's order."""
    names = {name for chart in report.charts for name in chart.metrics} | set(report.also)
    names |= {name for group in report.dictionary for name in group.metrics}
    names |= set(report.compared_metrics)
    names |= {name for block in report.blocks for name in block.read_averages()}
    return tuple(metric for metric in checked.package.metrics if metric.id in names)


def list_shown_metrics(checked: CheckedPackage, report: Report) -> tuple[Metric, ...]:
    """Return the metrics that a report compares, and those of its charts, in their order."""
    names = (*report.compared_metrics, *(chart.metric for chart in report.charts))
    return tuple(map(checked.get_metric, dict.fromkeys(names)))


def list_judged_metrics(checked: CheckedPackage, report: Report) -> tuple[Metric, ...]:
    """Return the metrics whose changes a report judges: those that it compares, and those that its gate names."""
    names = {*report.compared_metrics, *(report.judgement.gate if report.judgement else ())}
    return tuple(metric for metric in checked.package.metrics if metric.id in names)


def _create_job(ingested_run: IngestedRun, metric_plan: Plan, graph: tuple[Node, ...], relations: Sequence[str]) -> Job:
    return Job(
        ingested_run.run.id,
        metric_plan,
        graph,
        ingested_run.constants,
        ingested_run.content_hash,
        ingested_run.recognition,
        tuple(relations),
    )


def _create_phase_job(
    ingested_run: IngestedRun, bounds: Bounds, phase_plan: Plan, graph: tuple[Node, ...], relations: Sequence[str]
) -> Job:
    job = _create_job(ingested_run, phase_plan, graph, relations)
    constants = {**ingested_run.constants, **bounds.parameters}
    return replace(job, label=f"{ingested_run.run.id}, phase {bounds.name}", constants=constants)


def _is_large(ingested_runs: Sequence[IngestedRun]) -> bool:
    """Return whether a run is so large that it needs all memory: in parallel with others it would spill to disk."""
    return any(sum(part.files.size for part in run.parts) > LARGE for run in ingested_runs)


def _divide_cores(session: Session, job_count: int, ingested_runs: Sequence[IngestedRun]) -> tuple[int, int]:
    """Return how many jobs run in parallel, and the threads of each."""
    cores = os.cpu_count() or 1
    parallel_jobs = 1 if _is_large(ingested_runs) else min(job_count, cores)
    return parallel_jobs, session.threads or max(1, cores // parallel_jobs)


def _execute(
    session: Session,
    checked: CheckedPackage,
    jobs: Sequence[Job],
    ingested_runs: Sequence[IngestedRun],
    on_work_start: Callable[[], None],
    stage_name: str = "results",
) -> list[RunResults]:
    """Execute jobs in parallel, one for each run, as the stage `stage_name`. Raises AssayError."""
    if session.filler:
        session.filler.compute_results(session, checked, jobs, ingested_runs)
    parallel_jobs, threads = _divide_cores(session, len(jobs), ingested_runs)
    done = 0
    total = sum(len(job.graph) for job in jobs)

    def report_progress(_name: str) -> None:
        nonlocal done
        if not done:
            on_work_start()
        done += 1
        session.progress("computing results", done, total)

    def execute_once(index: int, is_enumerated: bool) -> RunResults:
        """Compute the results of a run by its index, on a connection of its own."""
        with connect(threads, session.store.create_folder(), parallel_jobs) as connection:
            extra_connections = open_connections(connection, threads if threads > 1 else 0)
            mount_folders(
                connection,
                ingested_runs[index].folders,
                table_cache.list_table_folders(session.store),
                extra_connections,
            )
            if is_enumerated:
                enumerate_hosts(connection, ingested_runs[index].folders)
            return execute(
                jobs[index],
                checked,
                session.store,
                connection,
                report_progress,
                has_host_type=is_enumerated,
                is_edited=session.deferred_work is not None,  # `assay watch`: keep tables for the next edit
                side_connections=extra_connections,
                is_large=_is_large(ingested_runs),
            )

    def execute_job(index: int) -> RunResults:
        with log_stage(stage_name, run=jobs[index].label, statements=len(jobs[index].graph)):
            try:
                return execute_once(index, is_enumerated=bool(ingested_runs[index].folders))
            except AssayError as error:
                if error.diagnostics[0].code != SQL:
                    raise add_silent_host_notes(error, ingested_runs[index]) from None
                # A few SQL functions accept texts but no enums. If the error has another cause, it occurs again.
                return execute_once(index, is_enumerated=False)

    with ThreadPoolExecutor(max_workers=parallel_jobs) as pool:
        futures = [pool.submit(execute_job, index) for index in range(len(jobs))]
    return collect_results(futures)
