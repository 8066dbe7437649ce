"""Read the log lines of a typical row and of the worst row of a metric in each version (`assay why`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assay.app.audit.change_explanation import CauseRows, Explanation
from assay.app.audit.trace_runs import TracedQuery, open_run_samples
from assay.app.compute.compute import compute
from assay.app.compute.subject import MetricSubject, SampleRequest, find_subject
from assay.app.session.session import Session
from assay.judgement.verdict import Direction
from assay.runs.model import NamedRun
from assay.util.diagnostics import AssayError

_MOST_RECORDS = 6  # of a row


def add_cause_rows(session: Session, explanation: Explanation, runs: Sequence[NamedRun]) -> Explanation:
    """Return an explanation with rows of what is named as the cause of a certain change; first runs of versions only.

    Raises AssayError.
    """
    rows: dict[str, tuple[CauseRows, ...]] = {}
    firsts = {run.version or run.id: run for run in reversed(runs)}
    for version, metric in explanation.causes.items():
        try:
            subject = find_subject(session, metric, explanation.system)
        except AssayError:  # a step that no metric measures, or the sum of steps
            continue
        if isinstance(subject, MetricSubject):
            pair = (firsts[explanation.base], firsts[version])
            rows[version] = tuple(item for run in pair if (item := _read_rows(session, subject, explanation, run)))
    return replace(explanation, rows=rows)


def _read_rows(session: Session, subject: MetricSubject, explanation: Explanation, run: NamedRun) -> CauseRows | None:
    """Return the rows of a metric in a run; None without samples."""
    computation = compute(session, subject.checked, [run], subject.request, explanation.applied_filters)
    query = subject.build_sample_query(SampleRequest(computation.compiled_plan))
    traced = TracedQuery(computation.compiled_plan.statements, query, subject.factor)
    (result,) = computation.runs
    with open_run_samples(session, subject.checked.package, result.ingested_run, traced) as samples:
        size = samples.count_samples()
        if not size:
            return None
        is_greatest = subject.metric.better != Direction.HIGHER
        (typical,) = samples.list_ranked(greatest=False, limit=1, record_limit=_MOST_RECORDS, skip=size // 2)
        (worst,) = samples.list_ranked(greatest=is_greatest, limit=1, record_limit=_MOST_RECORDS)
    version = run.version or run.id
    return CauseRows(version, subject.id, subject.metric.name, subject.metric.unit.symbol, typical, worst)
