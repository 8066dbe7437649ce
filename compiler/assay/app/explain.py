"""`assay explain`: what a metric or series means, and of a run what it came to and which records that rests on."""

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

LARGEST = 5  # samples that are shown


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a metric came to in a run: its figures (a series has none but its size), its spread, its largest samples,
    the constants that these are made of."""

    run: str
    figures: dict[str, object]
    spread: Spread | None
    largest: tuple[Sample, ...]
    warnings: tuple[str, ...]
    made: ConstantInputs = NOTHING


@dataclass(frozen=True, slots=True)
class Explained:
    """An explanation: of what; the report whose filters and summary count; what a run holds of it."""

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
    given: Sequence[str] = (),
    no_filters: bool = False,
) -> Explained:
    """Explain a metric or series, by its id; with a run, also what it came to there.

    Filters and summary are those of `report` (of that which shows the metric, when nothing is said).

    Raises AssayError: usage for what there is not; of a run what a build raises.
    """
    subject = _find_subject(session, name, system, report)
    chosen = _find_report(session, subject, report)
    # Filters do not decide on series; those named must be there.
    used = chosen if isinstance(chosen, Report) and subject.metrics else None
    applied = applied_filters(subject.checked.package, used, given, no_filters)
    found, _ = describe(subject, chosen, applied, subject.compile(applied))
    if not run:
        return found
    deciding = {rule.label for rule in found.facts.filters if rule.decides}
    result = _of_run(session, subject, applied, found.summary, run)
    filtered = _none([one for one in applied if one.label in deciding]) if result.figures.get("size") == 0 else ()
    return replace(found, run=replace(result, warnings=(*filtered, *result.warnings)))


def describe(
    subject: MetricSubject | SeriesSubject,
    chosen: Report | Article | History | None,
    applied: Sequence[AppliedFilter],
    compiled: CompiledPlan,
) -> tuple[Explained, Traced]:
    """Return what specs define of a subject under some filters and the summary of a report, and its lineage."""
    package = subject.checked.package
    summary = chosen.summary if isinstance(chosen, Report) else next((one.name for one in package.summaries), "")
    traced = trace_subject(subject, applied, compiled)
    shown = f"{package.system}/{chosen.name}" if chosen else ""
    known = facts(subject.checked, subject.item, traced.found, applied, summary)
    return Explained(subject, known, shown, summary, None), traced


def _find_subject(session: Session, name: str, system: str | None, report: str | None) -> MetricSubject | SeriesSubject:
    """Find the metric or series; a report names its system."""
    if system is None and report and "/" in report:
        session.find_report(report)
        system = report.partition("/")[0]
    return find_subject(session, name, system)


def _find_report(
    session: Session, subject: MetricSubject | SeriesSubject, report: str | None
) -> Report | Article | History | None:
    """Find the report that a user names (with or without its system), else that which shows the metric."""
    if not report:
        return subject.report
    package = subject.checked.package
    full = report if "/" in report else f"{package.system}/{report}"
    of, found = session.find_report(full)
    if of is not subject.checked:
        known = [f"{package.system}/{one.name}" for one in package.reports]
        raise fail("unknown-report", f"`{full}` is of another system", hint=did_you_mean(full, known), status=USAGE)
    return found


def _of_run(
    session: Session,
    subject: MetricSubject | SeriesSubject,
    applied: Sequence[AppliedFilter],
    summary: str,
    run: NamedRun,
) -> RunFacts:
    """Compute what a run holds."""
    found = compute(session, subject.checked, [run], subject.metrics, applied, series=subject.series)
    (computed,) = found.runs
    notes = (
        *raw_notes(computed.prepared), *computed.quality.messages, *computed.absent,
        *computed.results.warnings, *computed.results.notes,
    )  # fmt: skip
    if isinstance(subject, FormulaSubject):
        values: dict[str, float | None] = {one: of.averages[summary] for one, of in computed.results.metrics.items()}
        values |= {one: of.averages[summary] for one, of in computed.results.formulas.items()}
        over = {one: values[one] for one in formula.list_inputs(subject.metric.measure) if one in values}
        figures = of_formula(computed.results.formulas[subject.id], summary)
        return RunFacts(run.id, {**figures, "over": over}, None, (), notes)
    figures = distribution(computed.results.metrics[subject.id], summary) if subject.metrics else {}
    query = subject.sample_query(SampleRequest(found.compiled))
    with tracing(
        session, subject.checked.package, computed.prepared, found.compiled.statements, query, subject.factor
    ) as traced:
        size = traced.size()
        if not size:
            return RunFacts(run.id, {**figures, "size": 0}, None, (), notes)
        largest = traced.ranked(greatest=True, limit=LARGEST)
        return RunFacts(run.id, {**figures, "size": size}, traced.spread(), largest, notes, traced.made)


def _none(applied: Sequence[AppliedFilter]) -> tuple[str, ...]:
    """What may be why there is no sample."""
    labels = ", ".join(one.label for one in applied)
    return (
        (f"there is no sample under the filters {labels}; --no-filters shows what there is without them",)
        if labels
        else ()
    )
