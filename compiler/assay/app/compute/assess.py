"""Assess how complete the data of computed runs are, and record what was lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from assay.app.compute.computation import RunResult
from assay.app.compute.jobs import execute_jobs
from assay.app.session.phases import Bounds
from assay.app.session.session import Session
from assay.engine.graph import build_nodes
from assay.engine.job import Job
from assay.engine.results import RunResults
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.quality.absent_fields import list_absent_field_warnings
from assay.quality.absent_values import find_absent_values
from assay.quality.empty_metrics import find_missing_events
from assay.quality.event_extents import find_ended_events
from assay.quality.extents import create_run_extent, find_short_runs
from assay.quality.finding import LOST_RECORDS, UNMEASURED
from assay.quality.gaps import excuse_usual_gaps
from assay.quality.implausible_samples import find_unlike_zeros
from assay.quality.quality_plan import Counter, QualityPlan, drop_blank_metrics
from assay.quality.unit_steps import find_unit_steps
from assay.quality.unlike_values import find_unlike_values
from assay.runs.model import IngestedRun
from assay.sql.codegen import Statement
from assay.util.progress import ignore


def compare_qualities(results: Sequence[RunResult]) -> tuple[RunResult, ...]:
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


def compare_data(
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
        list(filter(None, (create_run_extent(label, *extents) for extents in item.quality.extents.items())))
        for label, item in zip(labels, compared, strict=True)
    ]
    short = find_short_runs(extents, quality_plan.source_readers)
    ended = find_ended_events(ingested_runs, extents, quality_plan.checked.package.events, quality_plan.readers)
    distributions = [(label, item.results.metrics) for label, item in zip(labels, compared, strict=True)]
    unlike = find_unlike_values(distributions, quality_plan.metrics)
    steps = [find_unit_steps(item.results.cells, quality_plan.metrics) for item in compared]
    zeros = find_unlike_zeros(distributions, quality_plan.metrics, quality_plan.quantities, quality_plan.readers)
    excused = excuse_usual_gaps([item.quality for item in compared])
    counted = [
        (label, quality, item.results.counts) for label, quality, item in zip(labels, excused, compared, strict=True)
    ]
    grains = {item.name: item for item in quality_plan.checked.package.grains}
    absent = find_absent_values(counted, quality_plan.metrics, grains)
    qualities = {
        item.id: quality.add_findings(map(quality_plan.add_formulas, chain(*findings)))
        for item, quality, *findings in zip(compared, excused, short, ended, unlike, steps, zeros, absent, strict=True)
    }
    impossible = {
        item.id: frozenset(
            name for finding in map(quality_plan.add_formulas, chain(*findings)) for name in finding.metrics
        )
        for item, *findings in zip(compared, unlike, steps, zeros, strict=True)
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


def assess_result(
    quality_plan: QualityPlan,
    ingested_run: IngestedRun,
    results: RunResults,
    count: Counter,
    bounds: Bounds | None = None,
) -> RunResult:
    """Return the result of a run or phase with its data quality.

    Metrics whose samples are all computed from fallbacks lose them.
    """
    quality = quality_plan.assess(ingested_run, results, count) if quality_plan.is_assessed else UNMEASURED
    missing = list_absent_field_warnings(quality_plan.checked, quality_plan.plan, results, ingested_run)
    results = drop_blank_metrics(quality_plan.checked, quality_plan.plan, ingested_run, results, quality.blank_metrics)
    results = replace(results, impossible=quality.impossible_metrics, bounded=quality.bounded_metrics)
    return RunResult(ingested_run, results, missing, bounds, quality)


def count_completeness(
    session: Session, checked: CheckedPackage, job: Job, ingested_run: IngestedRun, statements: Sequence[Statement]
) -> Mapping[str, Sequence[Mapping[str, object]]]:
    """Execute counting statements over a run; return their rows by name."""
    plan = replace(
        job.plan,
        metrics=(),
        row_requests=(),
        formulas=(),
        judged=(),
        detailed=(),
        grouped=(),
        value_requests=(),
        divided=(),
    )
    count_job = replace(job, plan=plan, graph=build_nodes(statements))
    (results,) = execute_jobs(
        session, checked, [(replace(count_job, relations=()), ingested_run)], ignore, "completeness"
    )
    return results.counts
