"""Compile a metric to one standalone SQL statement: assay sql."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from assay.app.compute.compute import compute
from assay.app.compute.export_run import link_run_folders
from assay.app.compute.sql_files import add_header
from assay.app.compute.subject import MetricSubject, find_metric
from assay.app.session.phases import PhaseSelection, select_phases
from assay.app.session.prepare import prepare
from assay.app.session.selection import Selection
from assay.app.session.session import Session
from assay.engine.compiled_plan import compile_plan
from assay.engine.mount import list_raw_tables, resolve_scan_paths
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import is_formula
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.lang.reserved_names import CONSTANTS
from assay.plan.planner import AppliedFilter
from assay.plan.request import Request
from assay.runs.model import NamedRun
from assay.sql import dialect, formulas
from assay.sql.codegen import Statement, build_standalone_query
from assay.sql.expressions import build_literal, build_placeholders
from assay.util.diagnostics import USAGE, fail


def compile_metric_sql(
    session: Session,
    name: str,
    selection: Selection,
    run: NamedRun | None,
    phase: str = "",
) -> str:
    """Return the SQL of a metric as one statement.

    The statement reads the Parquet files of the current folder, or of `run`, which is then ingested. With `phase` it
    covers that part of the run; this requires a run, since the statement contains the bounds as literals.

    Raises AssayError.
    """
    subject = find_metric(session, name, selection.system)
    checked, metric, report = subject.checked, subject.metric, subject.report
    applied_filters = subject.select_filters(selection.filters, selection.no_filters)
    phase_selection = select_phases(checked.package, (), selection.at, (phase,) if phase else ())
    if phase_selection:
        return _compile_phase_sql(session, subject, applied_filters, run, phase_selection)
    compiled_plan = subject.compile(applied_filters)
    query = build_metric_query(checked, metric, report, compiled_plan.statements)
    if run:
        (ingested_run,) = prepare(session, checked, [run], compiled_plan.plan.required_fields)
        query = resolve_scan_paths(query, link_run_folders(session, ingested_run), is_confined=False)
    return add_header(checked, metric, dialect.escape_statement(dialect.to_sql(query)) + ";")


def _compile_phase_sql(
    session: Session,
    subject: MetricSubject,
    applied_filters: Sequence[AppliedFilter],
    run: NamedRun | None,
    phase_selection: PhaseSelection,
) -> str:
    """Return the SQL of a metric over a phase of a run."""
    checked, metric, report = subject.checked, subject.metric, subject.report
    if run is None:
        raise fail("no-run", "--phase needs a run", hint="pass --run DIR", status=USAGE)
    computation = compute(session, checked, [run], Request((metric,)), applied_filters, phase_selection)
    ((bounds,),) = (phases.phases for phases in computation.phases)
    compiled_plan = compile_plan(checked, Request((metric,)), applied_filters, cut=True)
    statements = [replace(item, query=_bind_values(item.query, bounds.parameters)) for item in compiled_plan.statements]
    ingested_run = computation.runs[0].ingested_run
    query = build_metric_query(checked, metric, report, statements)
    located_query = resolve_scan_paths(query, link_run_folders(session, ingested_run), is_confined=False)
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
