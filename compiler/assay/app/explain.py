"""Explain a metric or series, and its result in a run with the records behind it (`assay explain`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.app.compute import compute
from assay.app.filters import applied as applied_filters
from assay.app.lineage import Traced, trace_subject
from assay.app.raw_data_notes import raw_notes
from assay.app.runs import NamedRun
from assay.app.session import Session
from assay.app.subject import FormulaSubject, MetricSubject, SampleRequest, SeriesSubject, find_subject
from assay.app.trace_runs import NOTHING, ConstantInputs, Sample, Spread, tracing
from assay.engine.compiled_plan import CompiledPlan
from assay.explain.facts import Facts, facts
from assay.lang import formula
from assay.lang.model.article import Article
from assay.lang.model.report import History, Report
from assay.plan.planner import AppliedFilter
from assay.report.results_json import distribution, of_formula
from assay.util.diagnostics import USAGE, did_you_mean, fail

LARGEST = 5  # samples shown


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The result of a metric in a run.

    `figures` of a series are only its size; `made` are the constants behind the largest samples.
    """

    run: str
    figures: dict[str, object]
    spread: Spread | None
    largest: tuple[Sample, ...]
    warnings: tuple[str, ...]
    made: ConstantInputs = NOTHING


@dataclass(frozen=True, slots=True)
class Explained:
    """An explanation of a subject: its facts, the report whose filters and summary apply, and the result in a run."""

    subject: MetricSubject | SeriesSubject
    facts: Facts
    report: str
    summary: str
    run: RunFacts | None


def explain(
    session: Session,
    name: str,
    system: str | None = None,
    run: NamedRun | None = None,
    report: str | None = None,
    filter_texts: Sequence[str] = (),
    no_filters: bool = False,
) -> Explained:
    """Explain a metric or series by its id; with a run, also its result there.

    Filters and summary are those of `report`, by default of the report that shows the metric.

    Raises AssayError: usage for unknown names; with a run, the errors of a build.
    """
    subject = _find_subject(session, name, system, report)
    chosen = _find_report(session, subject, report)
    # Filters do not apply to series, but those that the user names must exist.
    filtering_report = chosen if isinstance(chosen, Report) and subject.metrics else None
    applied = applied_filters(subject.checked.package, filtering_report, filter_texts, no_filters)
    explained, _ = describe(subject, chosen, applied, subject.compile(applied))
    if not run:
        return explained
    deciding = {rule.label for rule in explained.facts.filters if rule.decides}
    result = _of_run(session, subject, applied, explained.summary, run)
    filtered = _none([item for item in applied if item.label in deciding]) if result.figures.get("size") == 0 else ()
    return replace(explained, run=replace(result, warnings=(*filtered, *result.warnings)))


def describe(
    subject: MetricSubject | SeriesSubject,
    chosen: Report | Article | History | None,
    applied: Sequence[AppliedFilter],
    compiled: CompiledPlan,
) -> tuple[Explained, Traced]:
    """Return what specs define of a subject under filters and the summary of a report, and its lineage."""
    package = subject.checked.package
    summary = chosen.summary if isinstance(chosen, Report) else next((item.name for item in package.summaries), "")
    traced = trace_subject(subject, applied, compiled)
    report_name = f"{package.system}/{chosen.name}" if chosen else ""
    subject_facts = facts(subject.checked, subject.item, traced.found, applied, summary)
    return Explained(subject, subject_facts, report_name, summary, None), traced


def _find_subject(session: Session, name: str, system: str | None, report: str | None) -> MetricSubject | SeriesSubject:
    """Find the metric or series; the report's system is searched if no system is named."""
    if system is None and report and "/" in report:
        session.find_report(report)
        system = report.partition("/")[0]
    return find_subject(session, name, system)


def _find_report(
    session: Session, subject: MetricSubject | SeriesSubject, report: str | None
) -> Report | Article | History | None:
    """Find the report that the user names (with or without its system), or else the one that shows the metric."""
    if not report:
        return subject.report
    package = subject.checked.package
    full = report if "/" in report else f"{package.system}/{report}"
    checked, chosen = session.find_report(full)
    if checked is not subject.checked:
        report_names = [f"{package.system}/{item.name}" for item in package.reports]
        raise fail(
            "unknown-report", f"`{full}` is of another system", hint=did_you_mean(full, report_names), status=USAGE
        )
    return chosen


def _of_run(
    session: Session,
    subject: MetricSubject | SeriesSubject,
    applied: Sequence[AppliedFilter],
    summary: str,
    run: NamedRun,
) -> RunFacts:
    """Compute the result of a subject in a run."""
    computation = compute(session, subject.checked, [run], subject.metrics, applied, series=subject.series)
    (computed,) = computation.runs
    notes = (
        *raw_notes(computed.prepared), *computed.quality.messages, *computed.absent,
        *computed.results.warnings, *computed.results.notes,
    )  # fmt: skip
    if isinstance(subject, FormulaSubject):
        values: dict[str, float | None] = {
            name: result.averages[summary] for name, result in computed.results.metrics.items()
        }
        values |= {name: result.averages[summary] for name, result in computed.results.formulas.items()}
        over = {name: values[name] for name in formula.list_inputs(subject.metric.measure) if name in values}
        figures = of_formula(computed.results.formulas[subject.id], summary)
        return RunFacts(run.id, {**figures, "over": over}, None, (), notes)
    figures = distribution(computed.results.metrics[subject.id], summary) if subject.metrics else {}
    query = subject.sample_query(SampleRequest(computation.compiled))
    with tracing(
        session, subject.checked.package, computed.prepared, computation.compiled.statements, query, subject.factor
    ) as traced:
        size = traced.size()
        if not size:
            return RunFacts(run.id, {**figures, "size": 0}, None, (), notes)
        largest = traced.ranked(greatest=True, limit=LARGEST)
        return RunFacts(run.id, {**figures, "size": size}, traced.spread(), largest, notes, traced.made)


def _none(applied: Sequence[AppliedFilter]) -> tuple[str, ...]:
    """Return a warning that filters may be the reason why there are no samples."""
    labels = ", ".join(item.label for item in applied)
    return (
        (f"there is no sample under the filters {labels}; --no-filters shows what there is without them",)
        if labels
        else ()
    )
