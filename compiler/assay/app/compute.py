"""From runs to results: ingest, then execution of the plan, runs side by side."""

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
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.lang.normal_form import CheckedPackage
from assay.plan.planner import AppliedFilter, Plan, RowRequest
from assay.report.data_quality import UNMEASURED, RunQuality
from assay.sql.codegen import Statement
from assay.util.diagnostics import AssayError

LARGE = 2 * 2**30  # bytes of raw files of a run
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run, or a phase of one, with its results, and what its logs do not tell."""

    prepared: IngestedRun
    results: RunResults
    absent: tuple[str, ...] = ()
    phase: Bounds | None = None
    quality: RunQuality = UNMEASURED

    @property
    def id(self) -> str:
        """Its id in results: the run's, or that of the run and the phase."""
        return f"{self.prepared.run.id}:{self.phase.name}" if self.phase else self.prepared.run.id


@dataclass(frozen=True, slots=True)
class Computation:
    """The results of runs, with the compiled plan; `graph` also has the statements that count missing data."""

    compiled: CompiledPlan
    graph: tuple[Node, ...]
    runs: tuple[RunResult, ...]
    cut: tuple[Node, ...] = ()
    phases: tuple[RunPhases, ...] = ()
    views: tuple[RunResult, ...] = ()

    @property
    def columns(self) -> tuple[RunResult, ...]:
        """What is compared: the phases of every run, or the runs."""
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
    """The results of runs: metrics, one-row relations, rows and series that are asked for.

    With `asked`, metrics and relations are worked out for each phase of a run, rows and series for the run as a whole.
    `at_work` is called when anything is not in the cache.
    Raises AssayError with the problems of every run.
    """
    if asked:
        check_metrics(checked.package, metrics)
        check_runs(asked, (run.id for run in runs))
        whole = compile_plan(checked, listed=listed, series=series, cuts=asked.cuts)
        cut = compile_plan(checked, metrics, applied, relations, cut=True)
    else:
        whole = cut = compile_plan(checked, metrics, applied, relations, listed, series)
    own, of_phases = QualityPlan(whole), QualityPlan(cut, is_phase=True) if asked else None
    # Not within the thread that reads: an interruption would wait until all was fetched.
    runs = here(session, runs, checked.package.sources)
    with ThreadPoolExecutor(max_workers=1) as reader:
        wanted = _both(whole.plan.required_fields, cut.plan.required_fields)
        wanted = _both(wanted, coverage_fields(checked.package, wanted))
        reading = reader.submit(prepare, session, checked, runs, wanted, metrics, at_work)
        graph = nodes((*own.statements, *own.counts))
        phase_graph = nodes((*of_phases.statements, *of_phases.counts)) if of_phases else ()
        prepared = reading.result()
    jobs = [_job(item, whole.plan, graph, () if asked else relations) for item in prepared]
    results = _execute(session, checked, jobs, prepared, at_work)
    count = partial(_count, session, checked)
    computed = tuple(
        _assessed(own, item, found, partial(count, job, item))
        for job, item, found in zip(jobs, prepared, results, strict=True)
    )
    if not of_phases or not asked:
        return Computation(whole, graph, computed)
    phases = _each([partial(resolved, asked, item.prepared, item.results) for item in computed])
    views = [(item, bounds) for item, found in zip(prepared, phases, strict=True) for bounds in found.phases]
    jobs = [_phase_job(item, bounds, cut.plan, phase_graph, relations) for item, bounds in views]
    results = _execute(session, checked, jobs, [item for item, _ in views], at_work)
    if not asked.may_be_empty:
        _each([partial(check_samples, *view, found) for view, found in zip(views, results, strict=True)])
    seen = tuple(
        _assessed(of_phases, item, found, partial(count, job, item), bounds)
        for job, (item, bounds), found in zip(jobs, views, results, strict=True)
    )
    return Computation(whole, graph, computed, phase_graph, tuple(phases), seen)


def _assessed(
    own: QualityPlan, prepared: IngestedRun, results: RunResults, count: Counter, bounds: Bounds | None = None
) -> RunResult:
    """Return a run, or a phase of one, with what is missing in it; metrics that only fallbacks give have no samples."""
    quality = own.assess(prepared, results, count)
    missing = missing_data_warnings(own.checked, own.plan, results, prepared)
    results = without_blank(own.checked, own.plan, prepared, results, quality.blank)
    return RunResult(prepared, results, missing, bounds, quality)


def _count(
    session: Session, checked: CheckedPackage, job: Job, prepared: IngestedRun, statements: Sequence[Statement]
) -> Mapping[str, Sequence[Mapping[str, object]]]:
    """Work out statements that count, over a run: their rows by name."""
    counting = replace(job, plan=replace(job.plan, metrics=(), listed=(), formulas=()), graph=nodes(statements))
    (results,) = _execute(session, checked, [replace(counting, relations=())], [prepared], ignore_work, "completeness")
    return results.counts


def _both(one: Wanted, other: Wanted) -> Wanted:
    """Events with the fields that either wants."""
    return {name: one.get(name, frozenset()) | other.get(name, frozenset()) for name in sorted({*one, *other})}


def _each(work: Sequence[Callable[[], T]]) -> list[T]:
    """What all come to, or one error with the problems of all."""
    found, problems = [], []
    for item in work:
        try:
            found.append(item())
        except AssayError as error:
            problems.append(error)
    if problems:
        raise AssayError(tuple(item for error in problems for item in error.diagnostics), problems[0].status)
    return found


def report_metrics(checked: CheckedPackage, report: Report) -> tuple[Metric, ...]:
    """Every metric that a report shows or lists, each once, in the package's order."""
    named = {name for section in report.sections for name in section.metrics}
    named |= {chart.metric for chart in report.charts} | set(report.also)
    named |= {name for group in report.dictionary for name in group.metrics}
    return tuple(metric for metric in checked.package.metrics if metric.id in named)


def _job(prepared: IngestedRun, made: Plan, graph: tuple[Node, ...], relations: Sequence[str]) -> Job:
    return Job(prepared.run.id, made, graph, prepared.constants, prepared.raw, prepared.recognition, tuple(relations))


def _phase_job(
    prepared: IngestedRun, bounds: Bounds, cut: Plan, graph: tuple[Node, ...], relations: Sequence[str]
) -> Job:
    job = _job(prepared, cut, graph, relations)
    constants = {**prepared.constants, **bounds.parameters}
    return replace(job, label=f"{prepared.run.id}, phase {bounds.name}", constants=constants)


def _is_large(prepared: Sequence[IngestedRun]) -> bool:
    """Whether a run is so large that it needs all memory for itself, else it would spill much."""
    return any(sum(part.files.size for part in item.parts) > LARGE for item in prepared)


def _execute(
    session: Session,
    checked: CheckedPackage,
    jobs: Sequence[Job],
    prepared: Sequence[IngestedRun],
    at_work: Callable[[], None],
    called: str = "results",
) -> list[RunResults]:
    """Execute jobs side by side, one for each run, as the stage `called`.  Raises AssayError."""
    cores = os.cpu_count() or 1
    side_by_side = 1 if _is_large(prepared) else min(len(jobs), cores)
    threads = session.threads or max(1, cores // side_by_side)
    done = 0
    total = sum(len(job.graph) for job in jobs)

    def tell(_name: str) -> None:
        nonlocal done
        if not done:
            at_work()
        done += 1
        session.progress("working out results", done, total)

    def attempt(index: int, enumerated: bool) -> RunResults:
        with connect(threads, session.store.room(), side_by_side) as connection:
            others = open_connections(connection, threads if threads > 1 else 0)
            mount(connection, prepared[index].folders, result_cache.list_table_folders(session.store), others)
            if enumerated:
                enumerate_hosts(connection, prepared[index].folders)
            edited = session.later is not None  # who waits for edits will make some
            return execute(
                jobs[index],
                checked,
                session.store,
                connection,
                tell,
                enumerated=enumerated,
                edited=edited,
                others=others,
                large=_is_large(prepared),
            )

    def one(index: int) -> RunResults:
        with stage(called, run=jobs[index].label, statements=len(jobs[index].graph)):
            try:
                return attempt(index, enumerated=True)
            except AssayError as error:
                if error.diagnostics[0].code != SQL:
                    raise with_silent(error, prepared[index]) from None
                # The few functions that take no enumeration for a text, and what is wrong in any case.
                return attempt(index, enumerated=False)

    with ThreadPoolExecutor(max_workers=side_by_side) as pool:
        pending = [pool.submit(one, index) for index in range(len(jobs))]
    return gathered(pending)
