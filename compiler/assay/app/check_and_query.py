"""Check specs, list them and compute single values (`assay check`, `list`, `query`, `sql`)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sqlglot import exp

from assay.app import filters
from assay.app.article import resolve_compared_metrics
from assay.app.compute import Computation, RunResult, compute, list_report_metrics
from assay.app.export_run import link_run_folders
from assay.app.options import choose_summary
from assay.app.outputs import replace_folder
from assay.app.phases import PhaseSelection, select_phases
from assay.app.prepare import prepare
from assay.app.prose import read_prose
from assay.app.raw_data_notes import list_raw_notes
from assay.app.report_check import iter_report_problems
from assay.app.runs import NamedRun
from assay.app.session import Session
from assay.app.sql_files import PHASES, add_header, render_sql_files, write_texts
from assay.app.subject import find_metric
from assay.engine.compiled_plan import compile_plan
from assay.engine.dry_run import run_on_empty_tables
from assay.engine.mount import list_raw_tables, resolve_scan_paths
from assay.engine.results import Distribution, FormulaResult, RunResults
from assay.explain.wording import describe_window
from assay.lang import normal_form, series_wording, workspace
from assay.lang.blocks.timeline import Timeline
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import index_metrics, is_formula, list_measured
from assay.lang.model.article import Article
from assay.lang.model.package import Metric, Package, Series
from assay.lang.model.report import History, Report
from assay.lang.reserved_names import CONSTANTS
from assay.plan.planner import AppliedFilter
from assay.report.article import list_article_metrics
from assay.report.assemble import format_missing_samples, list_rejections
from assay.report.blocks.rows import list_row_requests, list_shown_series
from assay.sql import dialect, formulas
from assay.sql.codegen import Statement, build_standalone_query
from assay.sql.expressions import build_literal, build_placeholders
from assay.util.diagnostics import USAGE, AssayError, Diagnostic, Span, fail, raise_all
from assay.util.paths import resolve_path

Texts = Mapping[str, Mapping[str, str]]


def write_accepted_files(session: Session, checked: CheckedPackage, texts: Texts) -> None:
    """Write the SQL of every report (`texts`) and the normal form, each atomically.

    The normal form is written last: if it matches the specs, the SQL does too.

    Raises AssayError: `accept` if a link leads out of the workspace; `output` if nothing can be written.
    """
    normal_form_path = session.workspace.get_normal_form_path(checked.package.system)
    sql = session.workspace.root / "golden" / "sql" / checked.package.system
    for path in (normal_form_path, sql):
        if not session.workspace.contains_path(path):
            raise fail("accept", "a link points outside the workspace", span=Span(str(path)))
    if texts:
        with _replace_entries(session, sql.parent) as folder:
            (folder / sql.name).mkdir()
            for name, statements in texts.items():
                write_texts(folder / sql.name / name, statements)
    else:
        shutil.rmtree(sql, ignore_errors=True)
    with _replace_entries(session, normal_form_path.parent) as folder:
        (folder / normal_form_path.name).write_text(normal_form.format_normal_form(checked), encoding="utf-8")


@contextmanager
def _replace_entries(session: Session, parent_folder: Path) -> Iterator[Path]:
    """Yield a temporary folder whose entries replace those of `parent_folder`."""
    with replace_folder(
        parent_folder, session.get_wait_notice(parent_folder), hint="check that you may write into the workspace"
    ) as folder:
        yield folder


Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SystemCheck:
    """The result of checking a system.

    `counts` is the number of definitions of each kind. `is_committed` is set if there is a normal form, `is_current` if
    it matches the specs.
    """

    system: str
    counts: Mapping[str, int]
    is_committed: bool
    is_current: bool


def check_system(session: Session, system: str, accept: bool) -> SystemCheck:
    """Check all specs of a system, run its SQL on empty tables and check its prose.

    With `accept`, also write the normal form. Raises AssayError with every problem, and (usage) if `accept` is set and
    the workspace is the shipped one.
    """
    if accept:
        _refuse_shipped_workspace(session)
    checked = session.load_package(system)
    package = checked.package
    applied_filters = [AppliedFilter(item, "1" if item.parameter else None) for item in package.filters]
    relations = [item.name for item in package.relations]
    series_names = [item.name for item in package.series]
    graph = compile_plan(
        checked, package.metrics, applied_filters, relations, series=series_names, cuts=package.cuts
    ).graph
    constants = [item for source in package.sources for item in source.constants]
    problems = [
        *run_on_empty_tables(graph, constants),
        *iter_report_problems(package, session.get_templates(), workspace.get_positions(session.workspace, system)),
    ]
    problems += _list_prose_problems(session, checked)
    if not problems and can_be_split(package):
        phase_plan = compile_plan(checked, package.metrics, applied_filters, relations, series=series_names, cut=True)
        problems += run_on_empty_tables(phase_plan.graph, constants, passed_nodes=graph)
    raise_all(problems)
    normal_form_path = session.workspace.get_normal_form_path(system)
    if accept:
        write_accepted_files(session, checked, compile_system_sql(session, checked))
    is_committed = normal_form_path.is_file()
    accepted_sources = normal_form.read_header(normal_form_path.read_text(encoding="utf-8")) if is_committed else ""
    kinds = ("sources", "events", "relations", "grains", "metrics", "filters", "summaries", "reports")
    optional_kinds = ("histories", "series", "articles", "examples")  # counted only if a system has any
    counts = {kind: len(getattr(package, kind)) for kind in (*kinds, *optional_kinds)}
    return SystemCheck(
        system,
        {kind: number for kind, number in counts.items() if number or kind in kinds},
        is_committed,
        accepted_sources == checked.sources,
    )


def _refuse_shipped_workspace(session: Session) -> None:
    """Raise AssayError (usage) if the workspace is the shipped one and is used from outside of its folder."""
    root = resolve_path(session.workspace.root)
    is_shipped = root == resolve_path(workspace.get_shipped_workspace().root)
    if is_shipped and not resolve_path(Path.cwd()).is_relative_to(root):
        raise fail(
            "no-workspace",
            "there is no workspace to write normal forms into",
            notes=session.list_workspace_notes(),
            hint="create a workspace with `assay init DIR`",
            status=USAGE,
        )


def _list_prose_problems(session: Session, checked: CheckedPackage) -> tuple[Diagnostic, ...]:
    """Return the distinct problems of the prose of articles."""
    problems: list[Diagnostic] = []
    for article in checked.package.articles:
        try:
            read_prose(session.workspace, checked, article)
        except AssayError as error:
            problems += error.diagnostics
    return tuple(dict.fromkeys(problems))


def can_be_split(package: Package) -> bool:
    """Return whether phases can cut any data of a package: series, or the rows of a grain."""
    return bool(package.series) or any(grain.at for grain in package.grains)


def compile_system_sql(session: Session, checked: CheckedPackage) -> Mapping[str, Mapping[str, str]]:
    """Return the SQL of each report and article over runs: report -> file name -> text of the statement."""
    sql_by_report = {report.name: compile_report_sql(checked, report) for report in checked.package.reports}
    for article in checked.package.articles:
        prose = read_prose(session.workspace, checked, article)
        rows, metrics = list_row_requests(checked, article, prose.values()), resolve_compared_metrics(checked, article)
        ends = {name for phase in article.phases for name in (phase.since, phase.until)}
        cuts = [cut for cut in checked.package.cuts if cut.name in ends]
        unphased_metrics = () if article.phases else metrics
        compiled_plan = compile_plan(
            checked, unphased_metrics, row_requests=rows, series=list_shown_series(article), cuts=cuts
        )
        texts = dict(render_sql_files(compiled_plan.graph))
        if article.phases:
            phase_texts = render_sql_files(compile_plan(checked, metrics, cut=True).graph)
            texts |= {f"{PHASES}/{name}": text for name, text in phase_texts.items()}
        sql_by_report[article.name] = texts
    return sql_by_report


def compile_report_sql(checked: CheckedPackage, report: Report) -> Mapping[str, str]:
    """Return the SQL of a report under its own filters: file name -> text of the statement."""
    applied_filters = filters.parse_filters(checked.package, report, (), False)
    relations = sorted({row.relation for row in report.manifest if row.relation})
    return render_sql_files(
        compile_plan(checked, list_report_metrics(checked, report), applied_filters, relations).graph
    )


def list_definitions(session: Session, kind: str, systems: Sequence[str]) -> tuple[Row, list[Row]]:
    """Return the header and rows of the list of a kind of definitions; `kind` is one of `KINDS`.

    For several systems, a column names the system; the names of reports contain it anyway.
    """
    header, list_rows = _CATALOGUES[kind]
    rows = [(system, row) for system in systems for row in list_rows(session.load_package(system).package, system)]
    if kind == "reports" or len(systems) == 1:
        return header, [row for _, row in rows]
    return (header[0], "system", *header[1:]), [(row[0], system, *row[1:]) for system, row in rows]


def _list_metric_rows(package: Package, _system: str) -> list[Row]:
    return [(item.id, item.name, item.unit.symbol, item.grain, item.better, item.doc) for item in package.metrics]


def _list_event_rows(package: Package, _system: str) -> list[Row]:
    return [
        (
            event.name,
            ", ".join(field.name for field in event.fields),
            ", ".join(dict.fromkeys(name.name for form in event.forms for name in form.names)),
            event.doc,
        )
        for event in package.events
    ]


def _list_grain_rows(package: Package, _system: str) -> list[Row]:
    return [
        (grain.name, ", ".join(grain.key), ", ".join(instant.name for instant in grain.instants), grain.doc)
        for grain in package.grains
    ]


def _list_filter_rows(package: Package, _system: str) -> list[Row]:
    return [
        (
            item.name + (f"={item.parameter.name.upper()}" if item.parameter else ""),
            ", ".join(condition.grain for condition in item.conditions),
            item.doc,
        )
        for item in package.filters
    ]


def _list_report_rows(package: Package, system: str) -> list[Row]:
    counts: list[tuple[Report | History | Article, int, int]] = [
        *((report, _count_metrics(report), len(report.charts)) for report in package.reports),
        *((history, _count_metrics(history), _count_metrics(history)) for history in package.histories),
        *(
            (article, len(list_article_metrics(article)), sum(len(part.select(Timeline)) for part in article.parts))
            for article in package.articles
        ),
    ]
    return [(f"{system}/{report.name}", str(metrics), str(charts), report.doc) for report, metrics, charts in counts]


def _count_metrics(report: Report | History) -> int:
    """Count the metrics in the sections of a report or history."""
    return sum(len(section.metrics) for section in report.sections)


def _list_series_rows(package: Package, _system: str) -> list[Row]:
    return [
        (
            item.name,
            item.unit.symbol,
            _describe_reading(item),
            "; else ".join(series_wording.describe_sample_filter(package, sampled) for sampled in item.samples)
            or ", ".join(dict.fromkeys(term.series for term in item.terms)),
            item.doc,
        )
        for item in package.series
    ]


def _describe_reading(item: Series) -> str:
    """Say how a series gets its values: read from samples, or computed from other series."""
    if item.terms:
        return "computed"
    return item.reading if item.reading == "latest" else f"{item.reading} over {describe_window(item)}"


_CATALOGUES = {
    "metrics": (("id", "name", "unit", "grain", "better", "what it is"), _list_metric_rows),
    "events": (("event", "fields", "names in logs", "what it is"), _list_event_rows),
    "grains": (("grain", "key", "instants", "what one row is"), _list_grain_rows),
    "filters": (("filter", "on", "holds when"), _list_filter_rows),
    "series": (("series", "unit", "reading", "samples", "what it is"), _list_series_rows),
    "reports": (("report", "metrics", "charts", "what it is"), _list_report_rows),
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


def query_metrics(
    session: Session,
    names: Sequence[str],
    runs: Sequence[NamedRun],
    filter_texts: Sequence[str],
    no_filters: bool,
    system: str | None,
    summary: str,
    time_texts: Sequence[str] = (),
    phases: Sequence[str] = (),
) -> Answer:
    """Return the distributions of metrics over runs or phases of runs.

    The filters are those of `filter_texts`, else those of the report that shows the metrics. Raises AssayError.
    """
    subjects = [find_metric(session, name, system) for name in names]
    checked = subjects[0].checked
    if any(subject.checked is not checked for subject in subjects):
        raise fail("systems", "the metrics belong to different systems", status=USAGE, hint="query them one by one")
    metrics = tuple({subject.id: subject.metric for subject in subjects}.values())
    report = subjects[0].report
    applied_filters = subjects[0].select_filters(filter_texts, no_filters)
    summary_name = choose_summary(checked.package, report, summary)
    phase_selection = select_phases(checked.package, (), time_texts, phases)
    computation = compute(session, checked, runs, metrics, applied_filters, phase_selection=phase_selection)
    rows = tuple(
        (metric, run.id, _get_result(run.results, metric)) for metric in metrics for run in computation.columns
    )
    warnings = list_run_messages(checked, computation, metrics)
    return Answer(checked, rows, tuple(item.label for item in applied_filters), summary_name, warnings)


def list_run_messages(checked: CheckedPackage, computation: Computation, metrics: Sequence[Metric]) -> tuple[str, ...]:
    """Return the notes and warnings on the results of metrics, each after the id of its run or phase."""
    measured_metrics = list_measured(index_metrics(checked.package), metrics)
    measured_ids = [metric.id for metric in measured_metrics]
    columns = computation.columns
    texts_by_run = (
        *((run, list_raw_notes(run.ingested_run)) for run in computation.runs),
        *((run, run.quality.list_messages_about(measured_ids)) for run in columns),
        *((run, _list_notes(run)) for run in columns),
        *((run, _iter_rejection_warnings(checked, run.results, metrics)) for run in columns),
    )
    return tuple(f"{run.id}: {text}" for run, texts in texts_by_run for text in texts)


def _get_result(results: RunResults, metric: Metric) -> Distribution | FormulaResult:
    return results.formulas[metric.id] if is_formula(metric) else results.metrics[metric.id]


def _iter_rejection_warnings(checked: CheckedPackage, results: RunResults, metrics: Sequence[Metric]) -> Iterator[str]:
    """Yield a warning about the metrics without samples if filters rejected rows of theirs."""
    measured_metrics = [metric for metric in metrics if not is_formula(metric)]
    empty_metrics = [metric for metric in measured_metrics if not results.metrics[metric.id].size]
    if empty_metrics and (reason := list_rejections(checked, results, empty_metrics)):
        yield format_missing_samples([metric.id for metric in empty_metrics], reason)


def _list_notes(run: RunResult) -> tuple[str, ...]:
    """Return the notes on a run's results: missing events, warnings of checks, formulas without a value."""
    return (*run.data_warnings, *run.results.warnings, *run.results.notes)


def compile_metric_sql(
    session: Session,
    name: str,
    filter_texts: Sequence[str],
    no_filters: bool,
    system: str | None,
    run: NamedRun | None,
    phase: str = "",
    time_texts: Sequence[str] = (),
) -> str:
    """Return the SQL of a metric as one statement.

    The statement reads the Parquet files of the current folder, or of `run`, which is then ingested. With `phase` it
    covers that part of the run; this requires a run, since the statement contains the bounds as literals.

    Raises AssayError.
    """
    subject = find_metric(session, name, system)
    checked, metric, report = subject.checked, subject.metric, subject.report
    applied_filters = subject.select_filters(filter_texts, no_filters)
    phase_selection = select_phases(checked.package, (), time_texts, (phase,) if phase else ())
    if phase_selection:
        return _compile_phase_sql(session, checked, metric, report, applied_filters, run, phase_selection)
    compiled_plan = subject.compile(applied_filters)
    query = build_metric_query(checked, metric, report, compiled_plan.statements)
    if run:
        (ingested_run,) = prepare(session, checked, [run], compiled_plan.plan.required_fields)
        query = resolve_scan_paths(query, link_run_folders(session, ingested_run))
    return add_header(checked, metric, dialect.escape_statement(dialect.to_sql(query)) + ";")


def _compile_phase_sql(
    session: Session,
    checked: CheckedPackage,
    metric: Metric,
    report: Report | None,
    applied_filters: Sequence[AppliedFilter],
    run: NamedRun | None,
    phase_selection: PhaseSelection,
) -> str:
    """Return the SQL of a metric over a phase of a run."""
    if run is None:
        raise fail("no-run", "--phase needs a run", hint="pass --run DIR", status=USAGE)
    computation = compute(session, checked, [run], [metric], applied_filters, phase_selection=phase_selection)
    ((bounds,),) = (phases.phases for phases in computation.phases)
    compiled_plan = compile_plan(checked, [metric], applied_filters, cut=True)
    statements = [replace(item, query=_bind_values(item.query, bounds.parameters)) for item in compiled_plan.statements]
    ingested_run = computation.runs[0].ingested_run
    query = build_metric_query(checked, metric, report, statements)
    located_query = resolve_scan_paths(query, link_run_folders(session, ingested_run))
    return add_header(checked, metric, dialect.escape_statement(dialect.to_sql(located_query)) + ";")


def _bind_values(query: exp.Expr, values: Mapping[str, int]) -> exp.Expr:
    """Return a copy of a query with the bounds of a phase as literals instead of placeholders."""
    bound_query = query.copy()
    for placeholder in list(bound_query.find_all(exp.Placeholder)):
        if str(placeholder.this) in values:
            placeholder.replace(build_literal(values[str(placeholder.this)]))
    return bound_query


def build_metric_query(
    checked: CheckedPackage, metric: Metric, report: Report | None, statements: Sequence[Statement]
) -> exp.Expr:
    """Return one statement that computes a metric, from the statements of its plan.

    `report` is the report that shows the metric; its summary provides the averages of a formula.
    """
    if is_formula(metric):
        statements = (*statements, _build_formula_statement(checked, metric, report))
    return build_standalone_query(statements, metric.id, list_raw_tables(), CONSTANTS)


def _build_formula_statement(checked: CheckedPackage, metric: Metric, report: Report | None) -> Statement:
    """Return the query of a formula over averages by the summary of the report that shows it."""
    summaries = {item.name: item for item in checked.package.summaries}
    summary = summaries[report.summary] if report else checked.package.summaries[0]
    names = [item.name for source in checked.package.sources for item in source.constants]
    return Statement(
        "metric", metric.id, formulas.build_formula_query(checked, metric, summary, build_placeholders(names))
    )


def list_systems(session: Session, system: str | None) -> tuple[str, ...]:
    """Return the systems of the workspace, or the named one. Raises AssayError if there is no such system."""
    return session.list_systems(system)
