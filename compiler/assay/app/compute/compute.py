"""Compute the results of runs: ingest them, then execute the plan, several runs at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from assay.app.compute.assess import assess_result, compare_data, compare_qualities, count_completeness
from assay.app.compute.computation import Computation, RunResult, compile_plans
from assay.app.compute.jobs import create_job, create_phase_job, execute_jobs
from assay.app.session.phases import PhaseSelection, RunPhases, check_metrics, check_runs, check_samples, locate_phases
from assay.app.session.prepare import prepare
from assay.app.session.runs import fetch_runs
from assay.app.session.session import Session
from assay.engine.graph import Node, build_nodes
from assay.lang.checked_package import CheckedPackage
from assay.plan.planner import AppliedFilter
from assay.plan.request import Request
from assay.quality.quality_plan import QualityPlan, collect_coverage_fields
from assay.runs.model import NamedRun, RequiredFields
from assay.util.diagnostics import AssayError
from assay.util.progress import ignore

T = TypeVar("T")


def compute(
    session: Session,
    checked: CheckedPackage,
    runs: Sequence[NamedRun],
    request: Request,
    applied_filters: Sequence[AppliedFilter],
    phase_selection: PhaseSelection | None = None,
    on_work_start: Callable[[], None] = ignore,
    *,
    is_assessed: bool = True,
) -> Computation:
    """Compute what is requested of runs.

    With `phase_selection`, metrics and relations are computed for each phase of a run, rows and series for the run as a
    whole. `on_work_start` is called before the first work that the cache does not save. Unless the data are assessed,
    nothing is known of what they lack, as for parts of metrics whose data are.

    Raises AssayError with the problems of every run.
    """
    if phase_selection:
        check_metrics(checked.package, request.metrics)
        check_runs(phase_selection, (run.id for run in runs))
    run_plan, phase_plan = compile_plans(checked, request, applied_filters, phase_selection)
    run_quality = QualityPlan(run_plan, is_assessed=is_assessed)
    phase_quality = QualityPlan(phase_plan, is_phase=True, is_assessed=is_assessed) if phase_selection else None
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
        create_job(item, run_plan.plan, graph, () if phase_selection else request.relations) for item in ingested_runs
    ]
    results = execute_jobs(session, checked, list(zip(jobs, ingested_runs, strict=True)), on_work_start)
    run_results = tuple(
        assess_result(run_quality, item, result, partial(count_completeness, session, checked, job, item))
        for job, item, result in zip(jobs, ingested_runs, results, strict=True)
    )
    if not phase_quality or not phase_selection:
        judged = request.judged if is_assessed else ()
        return Computation(run_plan, graph, compare_data(run_quality, compare_qualities(run_results), judged))
    phases, phase_results = _compute_phases(
        session, checked, phase_selection, run_results, phase_quality, phase_graph, request.relations, on_work_start
    )
    return Computation(run_plan, graph, run_results, phase_graph, phases, phase_results)


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
    jobs = [create_phase_job(item, bounds, quality_plan.plan, graph, relations) for item, bounds in views]
    results = execute_jobs(
        session, checked, [(job, item) for job, (item, _) in zip(jobs, views, strict=True)], on_work_start
    )
    if not phase_selection.may_be_empty:
        _call_each([partial(check_samples, *view, result) for view, result in zip(views, results, strict=True)])
    phase_results = tuple(
        assess_result(quality_plan, item, result, partial(count_completeness, session, checked, job, item), bounds)
        for job, (item, bounds), result in zip(jobs, views, results, strict=True)
    )
    return tuple(phases), compare_qualities(phase_results)


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
