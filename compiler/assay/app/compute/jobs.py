"""Execute the statements of runs, of several at a time if they are not large."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from assay.app.compute.raw_data_notes import add_silent_host_notes
from assay.app.session.phases import Bounds
from assay.app.session.prepare import collect_results
from assay.app.session.session import Session
from assay.app.session.stages import log_stage
from assay.engine import table_cache
from assay.engine.executor import SQL, connect, execute, open_connections
from assay.engine.graph import Node
from assay.engine.job import Job
from assay.engine.mount import enumerate_hosts, mount_folders
from assay.engine.results import RunResults
from assay.lang.checked_package import CheckedPackage
from assay.plan.planner import Plan
from assay.runs.model import IngestedRun
from assay.util.diagnostics import AssayError


def create_job(ingested_run: IngestedRun, metric_plan: Plan, graph: tuple[Node, ...], relations: Sequence[str]) -> Job:
    """Return the job of a run."""
    return Job(
        ingested_run.run.id,
        metric_plan,
        graph,
        ingested_run.constants,
        ingested_run.content_hash,
        ingested_run.recognition,
        tuple(relations),
    )


def create_phase_job(
    ingested_run: IngestedRun, bounds: Bounds, phase_plan: Plan, graph: tuple[Node, ...], relations: Sequence[str]
) -> Job:
    """Return the job of a phase of a run; its bounds are constants of the statements."""
    job = create_job(ingested_run, phase_plan, graph, relations)
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


def execute_jobs(
    session: Session,
    checked: CheckedPackage,
    run_jobs: Sequence[tuple[Job, IngestedRun]],
    on_work_start: Callable[[], None],
    stage_name: str = "results",
) -> list[RunResults]:
    """Execute jobs in parallel, one for each run, as the stage `stage_name`. Raises AssayError."""
    jobs, ingested_runs = [job for job, _ in run_jobs], [run for _, run in run_jobs]
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


LARGE = 2 * 2**30  # bytes of raw files from which a run counts as large
