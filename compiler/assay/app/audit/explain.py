"""Explain a metric or series, and its result in a run with the records behind it (`assay explain`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.app.audit.lineage import LineageResult, trace_subject
from assay.app.audit.trace_runs import NOTHING, ConstantInputs, Sample, Spread, TracedQuery, open_run_samples
from assay.app.compute.compute import compute
from assay.app.compute.raw_data_notes import list_raw_notes
from assay.app.compute.subject import FormulaSubject, MetricSubject, SampleRequest, SeriesSubject, find_subject
from assay.app.session.filters import parse_filters
from assay.app.session.selection import EVERYTHING, Selection
from assay.app.session.session import Session
from assay.engine.compiled_plan import CompiledPlan
from assay.explain.facts import Facts, collect_facts
from assay.lang import formula
from assay.lang.model.report import Report
from assay.plan.planner import AppliedFilter
from assay.report.results_json import build_distribution_data, build_formula_data
from assay.runs.model import NamedRun
from assay.util.diagnostics import USAGE, fail, suggest_names

MAX_LARGEST = 5  # largest samples that are shown


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The result of a metric or series in a run.

    `figures` are the size and averages of a distribution, the value of a formula, or the size of a series. `spread` is
    the histogram of the samples, None if there are none. `constant_inputs` are the constants behind the largest
    samples.
    """

    run: str
    figures: dict[str, object]
    spread: Spread | None
    largest: tuple[Sample, ...]
    warnings: tuple[str, ...]
    constant_inputs: ConstantInputs = NOTHING


@dataclass(frozen=True, slots=True)
class Explanation:
    """An explanation of a subject: its facts, the report whose filters and summary apply, and the result in a run.

    `report` is empty if no report shows the subject; `run` is None if no run was named.
    """

    subject: MetricSubject | SeriesSubject
    facts: Facts
    report: str
    summary: str
    run: RunFacts | None


def explain_subject(
    session: Session,
    name: str,
    selection: Selection = EVERYTHING,
    run: NamedRun | None = None,
) -> Explanation:
    """Explain a metric or series by its id; with a run, also its result there.

    Filters and summary are those of the selected report, by default of the report that shows the metric.

    Raises AssayError: usage for unknown names; with a run, the errors of a build.
    """
    subject = _find_subject(session, name, selection.system, selection.report)
    chosen_report = _find_report(session, subject, selection.report)
    # Filters do not apply to series. They are parsed nevertheless, to report unknown filters.
    filtering_report = chosen_report if subject.metrics else None
    applied_filters = parse_filters(subject.checked.package, filtering_report, selection.filters, selection.no_filters)
    explanation, _ = describe_subject(subject, chosen_report, applied_filters, subject.compile(applied_filters))
    if not run:
        return explanation
    return replace(explanation, run=_compute_run_facts(session, subject, applied_filters, explanation.summary, run))


def describe_subject(
    subject: MetricSubject | SeriesSubject,
    chosen_report: Report | None,
    applied_filters: Sequence[AppliedFilter],
    compiled_plan: CompiledPlan,
) -> tuple[Explanation, LineageResult]:
    """Return the explanation of a subject without a run, and its lineage.

    The explanation takes `applied_filters` and the summary of `chosen_report` into account.
    """
    package = subject.checked.package
    summary = chosen_report.summary if chosen_report else next((item.name for item in package.summaries), "")
    lineage_result = trace_subject(subject, applied_filters, compiled_plan)
    report_name = f"{package.system}/{chosen_report.name}" if chosen_report else ""
    subject_facts = collect_facts(
        subject.checked, subject.item, lineage_result.column_lineage, applied_filters, summary
    )
    return Explanation(subject, subject_facts, report_name, summary, None), lineage_result


def _find_subject(session: Session, name: str, system: str | None, report: str | None) -> MetricSubject | SeriesSubject:
    """Find the metric or series; without `system`, search in the system of the report if its name contains one."""
    if system is None and report and "/" in report:
        session.find_report(report)
        system = report.partition("/")[0]
    return find_subject(session, name, system)


def _find_report(session: Session, subject: MetricSubject | SeriesSubject, report: str | None) -> Report | None:
    """Find the report that the user names (with or without its system), or else the one that shows the subject."""
    if not report:
        return subject.report
    package = subject.checked.package
    full_name = report if "/" in report else f"{package.system}/{report}"
    checked, chosen_report = session.find_report(full_name)
    if checked is not subject.checked:
        report_names = [f"{package.system}/{item.name}" for item in package.reports]
        raise fail(
            "unknown-report",
            f"report `{full_name}` belongs to another system than `{subject.id}`",
            hint=suggest_names(full_name, report_names),
            status=USAGE,
        )
    return chosen_report


def _compute_run_facts(
    session: Session,
    subject: MetricSubject | SeriesSubject,
    applied_filters: Sequence[AppliedFilter],
    summary: str,
    run: NamedRun,
) -> RunFacts:
    """Compute the result of a subject in a run."""
    computation = compute(session, subject.checked, [run], subject.request, applied_filters)
    (run_result,) = computation.runs
    notes = (
        *list_raw_notes(run_result.ingested_run),
        *run_result.quality.list_messages_about(metric.id for metric in subject.metrics), *run_result.data_warnings,
        *run_result.results.warnings, *run_result.results.notes,
    )  # fmt: skip
    if isinstance(subject, FormulaSubject):
        values: dict[str, float | None] = {
            name: result.averages[summary] for name, result in run_result.results.metrics.items()
        }
        values |= {name: result.averages[summary] for name, result in run_result.results.formulas.items()}
        input_values = {name: values[name] for name in formula.list_inputs(subject.metric.measure) if name in values}
        figures = build_formula_data(run_result.results.formulas[subject.id], summary)
        return RunFacts(run.id, {**figures, "over": input_values}, None, (), notes)
    figures = build_distribution_data(run_result.results.metrics[subject.id], summary) if subject.metrics else {}
    query = subject.build_sample_query(SampleRequest(computation.compiled_plan))
    with open_run_samples(
        session,
        subject.checked.package,
        run_result.ingested_run,
        TracedQuery(computation.compiled_plan.statements, query, subject.factor),
    ) as run_samples:
        size = run_samples.count_samples()
        if not size:
            return RunFacts(run.id, {**figures, "size": 0}, None, (), notes)
        largest = run_samples.list_ranked(greatest=True, limit=MAX_LARGEST)
        return RunFacts(
            run.id, {**figures, "size": size}, run_samples.compute_spread(), largest, notes, run_samples.constant_inputs
        )
