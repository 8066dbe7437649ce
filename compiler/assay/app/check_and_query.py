"""Check specs, list them and compute single values (`assay check`, `list`, `query`, `sql`)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sqlglot import exp

from assay.app import filters
from assay.app.article import compared
from assay.app.compute import RunResult, compute, report_metrics
from assay.app.export_run import handed_out
from assay.app.outputs import replacing
from assay.app.phases import PhaseSelection, select_phases
from assay.app.prepare import prepare
from assay.app.prose import read_prose
from assay.app.raw_data_notes import raw_notes
from assay.app.report_check import report_problems
from assay.app.runs import NamedRun
from assay.app.session import Session
from assay.app.sql_files import PHASES, headed, sql_texts, write_texts
from assay.app.subject import find_metric
from assay.engine.compiled_plan import compile_plan
from assay.engine.dry_run import dry_run
from assay.engine.mount import located, raw_tables
from assay.engine.results import Distribution, FormulaResult, RunResults
from assay.explain.wording import window_said
from assay.lang import labels, normal_form, workspace
from assay.lang.blocks.timeline import Timeline
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import index_metrics, is_formula, list_measured
from assay.lang.model.package import Metric, Package, Series
from assay.lang.model.report import Report
from assay.lang.reserved_names import CONSTANTS
from assay.plan.planner import AppliedFilter
from assay.report.article import metrics_of
from assay.report.assemble import no_samples, rejected
from assay.report.blocks.rows import listed, series_of
from assay.sql import dialect, formulas
from assay.sql.codegen import Statement, standalone
from assay.sql.expressions import literal, places
from assay.util.diagnostics import USAGE, AssayError, Diagnostic, Span, did_you_mean, fail, raise_all
from assay.util.paths import resolve_path

Texts = Mapping[str, Mapping[str, str]]


def write_accepted_files(session: Session, checked: CheckedPackage, texts: Texts) -> None:
    """Write the SQL of every report (`texts`) and the normal form, each atomically.

    The normal form is written last: if it matches the specs, the SQL does too.

    Raises AssayError: `accept` if a link leads out of the workspace; `output` if nothing can be written.
    """
    normal_form_path = session.workspace.normal_form(checked.package.system)
    sql = session.workspace.root / "golden" / "sql" / checked.package.system
    for path in (normal_form_path, sql):
        if not session.workspace.holds(path):
            raise fail("accept", "a link points outside the workspace", span=Span(str(path)))
    if texts:
        with _fresh(session, sql.parent) as folder:
            (folder / sql.name).mkdir()
            for name, statements in texts.items():
                write_texts(folder / sql.name / name, statements)
    else:
        shutil.rmtree(sql, ignore_errors=True)
    with _fresh(session, normal_form_path.parent) as folder:
        (folder / normal_form_path.name).write_text(normal_form.dump(checked), encoding="utf-8")


@contextmanager
def _fresh(session: Session, within: Path) -> Iterator[Path]:
    """Yield a temporary folder whose entries replace those of `within`."""
    with replacing(within, session.waits_for(within), hint="is the workspace yours to write into?") as folder:
        yield folder


Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SystemCheck:
    """The result of checking a system.

    `counts` is the number of definitions of each kind. `committed` is set if there is a normal form, `current` if it
    matches the specs.
    """

    system: str
    counts: Mapping[str, int]
    committed: bool
    current: bool


def check_system(session: Session, system: str, accept: bool) -> SystemCheck:
    """Check all specs of a system, run its SQL on empty tables and check its prose.

    With `accept`, also write the normal form. Raises AssayError with every problem, and (usage) if `accept` is set and
    the workspace is the shipped one.
    """
    if accept:
        _own_workspace(session)
    checked = session.package(system)
    package = checked.package
    filters_applied = [AppliedFilter(item, "1" if item.parameter else None) for item in package.filters]
    relations = [item.name for item in package.relations]
    series_names = [item.name for item in package.series]
    graph = compile_plan(
        checked, package.metrics, filters_applied, relations, series=series_names, cuts=package.cuts
    ).graph
    constants = [item for source in package.sources for item in source.constants]
    problems = [
        *dry_run(graph, constants),
        *report_problems(package, session.templates(), workspace.positions(session.workspace, system)),
    ]
    problems += _prose_problems(session, checked)
    if not problems and can_be_cut(package):
        cut = compile_plan(checked, package.metrics, filters_applied, relations, series=series_names, cut=True)
        problems += dry_run(cut.graph, constants, passed=graph)
    raise_all(problems)
    place = session.workspace.normal_form(system)
    if accept:
        write_accepted_files(session, checked, system_sql(session, checked))
    accepted_sources = normal_form.read_header(place.read_text(encoding="utf-8")) if place.is_file() else ""
    names = ("sources", "events", "relations", "grains", "metrics", "filters", "summaries", "reports")
    more = ("histories", "series", "articles", "examples")
    counts = {name: len(getattr(package, name)) for name in (*names, *more)}
    return SystemCheck(
        system,
        {name: number for name, number in counts.items() if number or name in names},
        place.is_file(),
        accepted_sources == checked.sources,
    )


def _own_workspace(session: Session) -> None:
    """Raise AssayError (usage) if the workspace is the shipped one and is used from outside of its folder."""
    root = resolve_path(session.workspace.root)
    if root == resolve_path(workspace.shipped().root) and not resolve_path(Path.cwd()).is_relative_to(root):
        raise fail(
            "no-workspace",
            "there is no workspace to write normal forms into",
            notes=session.elsewhere(),
            hint="`assay init DIR` makes one",
            status=USAGE,
        )


def _prose_problems(session: Session, checked: CheckedPackage) -> tuple[Diagnostic, ...]:
    """Return the distinct problems of the prose of articles."""
    problems: list[Diagnostic] = []
    for article in checked.package.articles:
        try:
            read_prose(session.workspace, checked, article)
        except AssayError as error:
            problems += error.diagnostics
    return tuple(dict.fromkeys(problems))


def can_be_cut(package: Package) -> bool:
    """Return whether phases can cut anything of a package."""
    return bool(package.series) or any(grain.at for grain in package.grains)


def system_sql(session: Session, checked: CheckedPackage) -> Mapping[str, Mapping[str, str]]:
    """Return the SQL of each report and article over runs: name -> file name -> text of the statement."""
    by_report = {report.name: report_sql(checked, report) for report in checked.package.reports}
    for article in checked.package.articles:
        prose = read_prose(session.workspace, checked, article)
        rows, metrics = listed(checked, article, prose.values()), compared(checked, article)
        ends = {name for phase in article.phases for name in (phase.since, phase.until)}
        cuts = [cut for cut in checked.package.cuts if cut.name in ends]
        unphased_metrics = () if article.phases else metrics
        compiled = compile_plan(checked, unphased_metrics, listed=rows, series=series_of(article), cuts=cuts)
        texts = dict(sql_texts(compiled.graph))
        if article.phases:
            cut = sql_texts(compile_plan(checked, metrics, cut=True).graph)
            texts |= {f"{PHASES}/{name}": text for name, text in cut.items()}
        by_report[article.name] = texts
    return by_report


def report_sql(checked: CheckedPackage, report: Report) -> Mapping[str, str]:
    """Return the SQL of a report under its own filters: file name -> text of the statement."""
    applied = filters.applied(checked.package, report, (), False)
    relations = sorted({row.relation for row in report.manifest if row.relation})
    return sql_texts(compile_plan(checked, report_metrics(checked, report), applied, relations).graph)


def catalogue(session: Session, kind: str, systems: Sequence[str]) -> tuple[Row, list[Row]]:
    """Return the header and rows of a list of metrics, events, grains, filters, series or reports.

    For several systems a column names the system, except for reports, whose names contain it.
    """
    header, rows_of = _CATALOGUES[kind]
    rows = [(system, row) for system in systems for row in rows_of(session.package(system).package, system)]
    if kind == "reports" or len(systems) == 1:
        return header, [row for _, row in rows]
    return (header[0], "system", *header[1:]), [(row[0], system, *row[1:]) for system, row in rows]


def _metrics(package: Package, _system: str) -> list[Row]:
    return [(m.id, m.name, m.unit.symbol, m.grain, m.better, m.doc) for m in package.metrics]


def _events(package: Package, _system: str) -> list[Row]:
    return [
        (
            e.name,
            ", ".join(f.name for f in e.fields),
            ", ".join(dict.fromkeys(n.name for f in e.forms for n in f.names)),
            e.doc,
        )
        for e in package.events
    ]


def _grains(package: Package, _system: str) -> list[Row]:
    return [(g.name, ", ".join(g.key), ", ".join(i.name for i in g.instants), g.doc) for g in package.grains]


def _filters(package: Package, _system: str) -> list[Row]:
    return [
        (
            f.name + (f"={f.parameter.name.upper()}" if f.parameter else ""),
            ", ".join(c.grain for c in f.conditions),
            f.doc,
        )
        for f in package.filters
    ]


def _reports(package: Package, system: str) -> list[Row]:
    reports = [
        (f"{system}/{r.name}", str(sum(len(s.metrics) for s in r.sections)), str(len(r.charts)), r.doc)
        for r in package.reports
    ]
    histories = [(h, str(sum(len(s.metrics) for s in h.sections))) for h in package.histories]
    articles = [
        (a, str(len(metrics_of(a))), str(sum(len(p.select(Timeline)) for p in a.parts))) for a in package.articles
    ]
    return [
        *reports,
        *((f"{system}/{h.name}", count, count, h.doc) for h, count in histories),
        *((f"{system}/{a.name}", metrics, lines, a.doc) for a, metrics, lines in articles),
    ]


def _series(package: Package, _system: str) -> list[Row]:
    return [
        (
            item.name,
            item.unit.symbol,
            _reading(item),
            "; else ".join(labels.describe_sample_filter(package, sampled) for sampled in item.samples)
            or ", ".join(dict.fromkeys(term.series for term in item.terms)),
            item.doc,
        )
        for item in package.series
    ]


def _reading(item: Series) -> str:
    """Say how a series gets its values: read from samples, or computed from other series."""
    if item.terms:
        return "worked out"
    return item.reading if item.reading == "latest" else f"{item.reading} over {window_said(item)}"


_CATALOGUES = {
    "metrics": (("id", "name", "unit", "grain", "better", "what it is"), _metrics),
    "events": (("event", "fields", "names in logs", "what it is"), _events),
    "grains": (("grain", "key", "instants", "what one row is"), _grains),
    "filters": (("filter", "on", "holds when"), _filters),
    "series": (("series", "unit", "reading", "samples", "what it is"), _series),
    "reports": (("report", "metrics", "charts", "what it is"), _reports),
}
KINDS = tuple(_CATALOGUES)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a query: rows of (metric, run, distribution), and the filters that were applied."""

    checked: CheckedPackage
    rows: tuple[tuple[Metric, str, Distribution | FormulaResult], ...]
    filters: tuple[str, ...]
    summary: str
    warnings: tuple[str, ...] = ()


def query(
    session: Session,
    names: Sequence[str],
    runs: Sequence[NamedRun],
    filter_texts: Sequence[str],
    no_filters: bool,
    system: str | None,
    summary: str,
    at: Sequence[str] = (),
    phases: Sequence[str] = (),
) -> Answer:
    """Return the distributions of metrics over runs or phases of runs.

    The filters are those of `filter_texts`, else those of the report that shows the metrics. Raises AssayError.
    """
    subjects = [find_metric(session, name, system) for name in names]
    checked = subjects[0].checked
    if any(subject.checked is not checked for subject in subjects):
        raise fail("systems", "the metrics are of different systems", status=USAGE, hint="query them one by one")
    metrics = tuple({subject.id: subject.metric for subject in subjects}.values())
    report = subjects[0].report
    applied = subjects[0].select_filters(filter_texts, no_filters)
    summaries = [item.name for item in checked.package.summaries]
    chosen = summary or (report.summary if report else summaries[0])
    if chosen not in summaries:
        raise fail(
            "unknown-summary",
            f"there is no summary `{chosen}`",
            hint=did_you_mean(chosen, summaries),
            status=USAGE,
        )
    selection = select_phases(checked.package, (), at, phases)
    computed = compute(session, checked, runs, metrics, applied, asked=selection)
    rows = tuple((metric, run.id, _result(run.results, metric)) for metric in metrics for run in computed.columns)
    measured_metrics = list_measured(index_metrics(checked.package), metrics)
    warnings = (
        *(f"{run.id}: {text}" for run in computed.runs for text in raw_notes(run.prepared)),
        *(
            f"{run.id}: {text}"
            for run in computed.columns
            for text in run.quality.about(metric.id for metric in measured_metrics)
        ),
        *(f"{run.id}: {text}" for run in computed.columns for text in _notes(run)),
        *(f"{run.id}: {text}" for run in computed.columns for text in _emptied(checked, run.results, metrics)),
    )
    return Answer(checked, rows, tuple(item.label for item in applied), chosen, warnings)


def _result(results: RunResults, metric: Metric) -> Distribution | FormulaResult:
    return results.formulas[metric.id] if is_formula(metric) else results.metrics[metric.id]


def _emptied(checked: CheckedPackage, results: RunResults, metrics: Sequence[Metric]) -> Iterator[str]:
    """Yield a warning that names the metrics without samples if filters rejected rows."""
    measured = [metric for metric in metrics if not is_formula(metric)]
    empty = [metric for metric in measured if not results.metrics[metric.id].size]
    if empty and (why := rejected(checked, results, empty)):
        yield no_samples([metric.id for metric in empty], why)


def _notes(run: RunResult) -> tuple[str, ...]:
    """Return the notes on a run's results: absent events, warnings of checks, formulas without a value."""
    return (*run.absent, *run.results.warnings, *run.results.notes)


def metric_sql(
    session: Session,
    name: str,
    filter_texts: Sequence[str],
    no_filters: bool,
    system: str | None,
    run: NamedRun | None,
    phase: str = "",
    at: Sequence[str] = (),
) -> str:
    """Return the SQL of a metric as one statement.

    It reads the Parquet files of the current folder, or of an ingested run. With `phase`, it covers that part of the
    run; a run is then required, as the text contains the bounds as literals.

    Raises AssayError.
    """
    subject = find_metric(session, name, system)
    checked, metric, report = subject.checked, subject.metric, subject.report
    applied = subject.select_filters(filter_texts, no_filters)
    selection = select_phases(checked.package, (), at, (phase,) if phase else ())
    if selection:
        return _phase_sql(session, checked, metric, report, applied, run, selection)
    compiled = subject.compile(applied)
    query = standing_alone(checked, metric, report, compiled.statements)
    if run:
        (prepared,) = prepare(session, checked, [run], compiled.plan.required_fields)
        query = located(query, handed_out(session, prepared))
    return headed(checked, metric, dialect.printable(dialect.text(query)) + ";")


def _phase_sql(
    session: Session,
    checked: CheckedPackage,
    metric: Metric,
    report: Report | None,
    applied: Sequence[AppliedFilter],
    run: NamedRun | None,
    selection: PhaseSelection,
) -> str:
    """Return the SQL of a metric over a phase of a run."""
    if run is None:
        raise fail("no-run", "a phase begins and ends at instants of a run", hint="name it with --run", status=USAGE)
    computation = compute(session, checked, [run], [metric], applied, asked=selection)
    ((bounds,),) = (phases.phases for phases in computation.phases)
    compiled = compile_plan(checked, [metric], applied, cut=True)
    statements = [replace(item, query=_bound(item.query, bounds.parameters)) for item in compiled.statements]
    prepared = computation.runs[0].prepared
    query = standing_alone(checked, metric, report, statements)
    located_query = located(query, handed_out(session, prepared))
    return headed(checked, metric, dialect.printable(dialect.text(located_query)) + ";")


def _bound(query: exp.Expr, values: Mapping[str, int]) -> exp.Expr:
    """Return a copy of a query with the bounds of a phase as literals instead of placeholders."""
    bound_query = query.copy()
    for placeholder in list(bound_query.find_all(exp.Placeholder)):
        if str(placeholder.this) in values:
            placeholder.replace(literal(values[str(placeholder.this)]))
    return bound_query


def standing_alone(
    checked: CheckedPackage, metric: Metric, report: Report | None, statements: Sequence[Statement]
) -> exp.Expr:
    """Return one statement that computes a metric, from the statements of its plan.

    `report` is the report that shows the metric; its summary provides the averages of a formula.
    """
    if is_formula(metric):
        statements = (*statements, _formula_statement(checked, metric, report))
    return standalone(statements, metric.id, raw_tables(), CONSTANTS)


def _formula_statement(checked: CheckedPackage, metric: Metric, report: Report | None) -> Statement:
    """Return the query of a formula over averages by the summary of the report that shows it."""
    summaries = {item.name: item for item in checked.package.summaries}
    summary = summaries[report.summary] if report else checked.package.summaries[0]
    names = [item.name for source in checked.package.sources for item in source.constants]
    return Statement("metric", metric.id, formulas.query(checked, metric, summary, places(names)))


def all_systems(session: Session, system: str | None) -> tuple[str, ...]:
    """Return the systems of the workspace, or the named one. Raises AssayError if there is no such system."""
    return session.systems(system)


__all__ = [
    "KINDS",
    "Answer",
    "all_systems",
    "catalogue",
    "check_system",
    "metric_sql",
    "query",
    "workspace",
]
