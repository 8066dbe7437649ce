"""`assay explain`: what a metric or series means, and of a run what it came to and which records that rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from assay.app.check_and_query import report_of
from assay.app.compute import Computation, compiled, compute
from assay.app.filters import applied as applied_filters
from assay.app.lineage import Traced, of_item, planned
from assay.app.raw_data_notes import raw_notes
from assay.app.runs import NamedRun
from assay.app.session import Session
from assay.app.subject_names import Item, named
from assay.app.trace_runs import NOTHING, ConstantInputs, Sample, Spread, tracing
from assay.explain.facts import Facts, facts
from assay.lang import formula
from assay.lang.model.article import Article
from assay.lang.model.package import Metric
from assay.lang.model.report import History, Report
from assay.lang.normal_form import CheckedPackage
from assay.lineage import sample_query
from assay.plan.planner import Applied
from assay.report.results_json import distribution, of_formula
from assay.sql.codegen import Statement
from assay.sql.expressions import places
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

    checked: CheckedPackage
    item: Item
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
    checked, item = _named(session, name, system, report)
    chosen = _report(session, checked, item, report)
    used = chosen if isinstance(chosen, Report) else None
    of_report = used if isinstance(item, Metric) else None  # filters do not decide on series; those named must be there
    applied = applied_filters(checked.package, of_report, given, no_filters)
    found, _ = describe(checked, item, chosen, applied)
    if not run:
        return found
    deciding = {rule.label for rule in found.facts.filters if rule.decides}
    result = _of_run(session, checked, item, applied, found.summary, run)
    filtered = _none([one for one in applied if one.label in deciding]) if result.figures.get("size") == 0 else ()
    return replace(found, run=replace(result, warnings=(*filtered, *result.warnings)))


def describe(
    checked: CheckedPackage,
    item: Item,
    chosen: Report | Article | History | None,
    applied: Sequence[Applied],
    statements: Sequence[Statement] | None = None,
) -> tuple[Explained, Traced]:
    """What specs say of a metric or series under some filters and the summary of a report, and its lineage.

    `statements` are those of its plan, if they are compiled already.
    """
    used = chosen if isinstance(chosen, Report) else None
    summary = used.summary if used else next((one.name for one in checked.package.summaries), "")
    found = of_item(checked, item, applied, statements)
    shown = f"{checked.package.system}/{chosen.name}" if chosen else ""
    return Explained(checked, item, facts(checked, item, found.found, applied, summary), shown, summary, None), found


def _named(session: Session, name: str, system: str | None, report: str | None) -> tuple[CheckedPackage, Item]:
    """The metric; a report names its system."""
    if system is None and report and "/" in report:
        session.find_report(report)
        system = report.partition("/")[0]
    return named(session, name, system)


def _report(
    session: Session, checked: CheckedPackage, item: Item, report: str | None
) -> Report | Article | History | None:
    """The report that a user names (with or without its system), else that which shows the metric."""
    if not report:
        return report_of(checked.package, item) if isinstance(item, Metric) else None
    full = report if "/" in report else f"{checked.package.system}/{report}"
    of, found = session.find_report(full)
    if of is not checked:
        known = [f"{checked.package.system}/{one.name}" for one in checked.package.reports]
        raise fail("unknown-report", f"`{full}` is of another system", hint=did_you_mean(full, known), status=USAGE)
    return found


def _of_run(
    session: Session, checked: CheckedPackage, item: Item, applied: Sequence[Applied], summary: str, run: NamedRun
) -> RunFacts:
    """What a run holds."""
    metrics = [item] if isinstance(item, Metric) else []
    series = [] if isinstance(item, Metric) else [item.name]
    found = compute(session, checked, [run], metrics, applied, series=series)
    (computed,) = found.runs
    notes = (
        *raw_notes(computed.prepared), *computed.quality.messages, *computed.absent,
        *computed.results.warnings, *computed.results.notes,
    )  # fmt: skip
    if isinstance(item, Metric) and formula.is_formula(item):
        values: dict[str, float | None] = {one: of.averages[summary] for one, of in computed.results.metrics.items()}
        values |= {one: of.averages[summary] for one, of in computed.results.formulas.items()}
        over = {one: values[one] for one in formula.list_inputs(item.measure) if one in values}
        told_of = of_formula(computed.results.formulas[item.id], summary)
        return RunFacts(run.id, {**told_of, "over": over}, None, (), notes)
    figures: dict[str, object] = {}
    if isinstance(item, Metric):
        figures = distribution(computed.results.metrics[item.id], summary)
    asked, factor = sampling(checked, item, found)
    statements = compiled(checked, planned(checked, item, applied))
    with tracing(session, checked.package, computed.prepared, statements, asked, factor) as traced:
        size = traced.size()
        if not size:
            return RunFacts(run.id, {**figures, "size": 0}, None, (), notes)
        largest = traced.ranked(greatest=True, limit=LARGEST)
        return RunFacts(run.id, {**figures, "size": size}, traced.spread(), largest, notes, traced.made)


def sampling(checked: CheckedPackage, item: Item, found: Computation) -> tuple[sample_query.SampleQuery, Fraction]:
    """The query of the samples of a metric, or of the rows of a series, and what converts them to its unit."""
    if isinstance(item, Metric):
        grain = next(one for one in checked.package.grains if one.name == item.grain)
        names = [one.name for source in checked.package.sources for one in source.constants]
        measured = checked.measured[item.id]
        return sample_query.of_metric(item, grain, measured.integral, places(names)), Fraction(measured.factor)
    step = next(one for one in found.plan.series if one.name == item.name)
    return sample_query.of_series(step), Fraction(1)


def _none(applied: Sequence[Applied]) -> tuple[str, ...]:
    """What may be why there is no sample."""
    labels = ", ".join(one.label for one in applied)
    return (
        (f"there is no sample under the filters {labels}; --no-filters shows what there is without them",)
        if labels
        else ()
    )
