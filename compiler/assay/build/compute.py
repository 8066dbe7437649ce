"""From runs to results: ingest, then execution of the plan, runs side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from assay.build.absent import absent_events
from assay.build.prepare import Prepared, gathered, nothing, prepare
from assay.build.runs import NamedRun
from assay.build.session import Session
from assay.engine.execute import Job, connect, execute
from assay.engine.graph import Node, nodes
from assay.engine.mount import mount
from assay.engine.results import RunResults
from assay.plan.steps import Applied, Listed, Plan, plan
from assay.spec.model import Metric
from assay.spec.report_model import Report
from assay.spec.normal_form import Checked
from assay.sql.events import event_table, scan
from assay.sql.expressions import places
from assay.sql.program import Statement, compile_plan


@dataclass(frozen=True, slots=True)
class Computed:
    """A run with its results, and what its logs do not tell."""

    prepared: Prepared
    results: RunResults
    absent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Computation:
    """What was worked out: the plan, its statements in order, and every run's results."""

    plan: Plan
    graph: tuple[Node, ...]
    runs: tuple[Computed, ...]


def compute(
    session: Session,
    checked: Checked,
    runs: Sequence[NamedRun],
    metrics: Sequence[Metric],
    applied: Sequence[Applied],
    relations: Sequence[str] = (),
    at_work: Callable[[], None] = nothing,
    listed: Sequence[Listed] = (),
    series: Sequence[str] = (),
) -> Computation:
    """The results of runs: metrics, one-row relations, rows and series that are asked for.

    `at_work` is called when anything is not in the cache.
    Raises AssayError with the problems of every run.
    """
    made = plan(checked.package, metrics, applied, relations, listed, series)
    with ThreadPoolExecutor(max_workers=1) as reader:
        reading = reader.submit(prepare, session, checked, runs, made.wanted, metrics, at_work)
        graph = nodes(compiled(checked, made))
        prepared = reading.result()
    jobs = [_job(item, made, graph, relations) for item in prepared]
    results = _execute(session, checked, jobs, prepared, at_work)
    computed = (
        Computed(item, found, absent_events(checked, made, found, item.counts))
        for item, found in zip(prepared, results, strict=True)
    )
    return Computation(made, graph, tuple(computed))


def compiled(checked: Checked, made: Plan) -> tuple[Statement, ...]:
    """The statements of a plan, with places (`$name`) for constants; files are relative to an ingested folder."""
    names = [item.name for source in checked.package.sources for item in source.constants]
    tables = {name: event_table(scan(f"events/{name}/*.parquet"), fields) for name, fields in made.wanted.items()}
    return compile_plan(made, checked, places(names), tables)


def report_metrics(checked: Checked, report: Report) -> tuple[Metric, ...]:
    """Every metric that a report shows or lists, each once, in the package's order."""
    named = {name for section in report.sections for name in section.metrics}
    named |= {chart.metric for chart in report.charts} | set(report.also)
    named |= {name for group in report.dictionary for name in group.metrics}
    return tuple(metric for metric in checked.package.metrics if metric.id in named)


def _job(prepared: Prepared, made: Plan, graph: tuple[Node, ...], relations: Sequence[str]) -> Job:
    return Job(prepared.run.id, made, graph, prepared.constants, prepared.raw, prepared.recognition, tuple(relations))


def _execute(
    session: Session, checked: Checked, jobs: Sequence[Job], prepared: Sequence[Prepared], at_work: Callable[[], None]
) -> list[RunResults]:
    cores = os.cpu_count() or 1
    side_by_side = min(len(jobs), cores)
    threads = session.threads or max(1, cores // side_by_side)
    spill = session.store.folder / "spill"
    done = 0
    total = sum(len(job.graph) for job in jobs)

    def tell(_name: str) -> None:
        nonlocal done
        if not done:
            at_work()
        done += 1
        session.progress("working out results", done, total)

    def one(index: int) -> RunResults:
        with connect(threads, spill, side_by_side) as connection:
            mount(connection, prepared[index].folders)
            return execute(jobs[index], checked, session.store, connection, tell)

    with ThreadPoolExecutor(max_workers=side_by_side) as pool:
        pending = [pool.submit(one, index) for index in range(len(jobs))]
    return gathered(pending)
