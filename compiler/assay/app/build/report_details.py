"""Collect the details of numbers that interactive forms of a report show: distributions, events, SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.app.build.metric_details import Courses
from assay.app.compute.computation import Computation
from assay.app.compute.sql_files import HEAD, PHASES, get_sql_file_name, render_sql_files
from assay.engine.point_rows import get_column
from assay.judgement.report_judgements import ReportJudgements
from assay.lang import dependencies
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import index_metrics, is_formula, list_measured
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.lineage.constants import format_place, index_constants
from assay.number_styles.exact_decimal import format_six_digits
from assay.number_styles.row import Distribution
from assay.plan.planner import name_cells_statement, name_quantiles_statement
from assay.plan.request import RowRequest, name_rows_statement
from assay.report.causes import describe_change_with_causes
from assay.report.glossary import get_row_id
from assay.report.metric_details import RunCourse, build_metric_details
from assay.report.render.html import Detail, ReportDetails
from assay.report.row_units import ReportUnits
from assay.report.run_results import RunFigures, has_result
from assay.report.verdicts.recorded_change import build_change_data
from assay.sql import dialect
from assay.sql.codegen import build_cells_statements, build_quantiles_statement
from assay.sql.expressions import build_placeholders

SAMPLES = ("Run", "Samples", "Average", "Median", "Deviation", "Least", "Greatest")
LINE_END = "\n"
ROWS = ("Run", "Rows with a value")
VALUE = ("Run", "Value")
NONE = "—"
Runs = Mapping[str, RunFigures]
"""Runs, or phases of them, by their labels."""
Files = Mapping[tuple[str, str], tuple[str, str]]
"""Kind and name of a statement -> its file in the folder of the report, and its text."""


@dataclass(frozen=True, slots=True)
class ComputedReport:
    """A report and what was computed for it, from which details are collected.

    `runs` have the distributions of its metrics; metrics that are only in `rows`, of `whole_runs`, have numbers of rows
    instead.
    """

    checked: CheckedPackage
    report: Report
    metrics: Sequence[Metric]
    computation: Computation
    runs: Runs
    summary: str
    judgements: ReportJudgements | None
    courses: Courses
    units: ReportUnits
    rows: Sequence[RowRequest]
    whole_runs: Runs

    @property
    def files(self) -> Files:
        """The files of its statements."""
        return _index_files(self.computation)


def collect_report_details(computed: ComputedReport) -> ReportDetails:
    """Return the details on the metrics of a report: distributions, events, constants and statement.

    Formulas have values instead of distributions, and the statements of the metrics that they depend on.
    """
    checked, files = computed.checked, computed.files
    details: dict[str, Detail] = {}
    for name, detail in _iter_row_details(checked, computed.rows, computed.whole_runs, files):
        details.setdefault(name, detail)
    for metric in computed.metrics:
        detail = _create_metric_detail(computed, metric, files)
        detail = _add_changes(computed, detail, metric, files)
        if metric.id in computed.courses:
            file, _ = files["rows", name_quantiles_statement(metric)]
            detail = _add_figures(detail, metric, computed.courses[metric.id], computed.units)
            detail = _add_sql(detail, file, f"{dialect.to_sql(build_quantiles_statement([metric], checked).query)};")
        details[metric.id] = detail
    details |= dict(_iter_series_details(checked, computed.computation, computed.whole_runs or computed.runs, files))
    parameters = _iter_parameter_details(checked, computed.report, computed.computation)
    return ReportDetails(SAMPLES, details | dict(parameters))


def _add_changes(computed: ComputedReport, detail: Detail, metric: Metric, files: Files) -> Detail:
    """Return the details with the judged changes of a metric, and with that part of a statement that has its cells."""
    checked, judgements = computed.checked, computed.judgements
    if judgements is None:
        return detail
    changes = []
    labels = {run.version or run.id: run.version or label for label, run in computed.runs.items()}
    for version, label in labels.items():
        if change := judgements.changes.get((metric.id, version)):
            data = build_change_data(metric.id, change, judgements.level)
            changes.append((label, *describe_change_with_causes(checked, judgements, (metric.id, version), data)))
    detail = replace(detail, changes=tuple(changes))
    name = name_cells_statement(metric)
    if ("rows", name) not in files or is_formula(metric):
        return detail
    names = [constant.name for source in checked.package.sources for constant in source.constants]
    (cells,) = build_cells_statements([metric], checked, build_placeholders(names))
    return _add_sql(detail, files["rows", name][0], f"{dialect.to_sql(cells.query)};")


def _add_sql(detail: Detail, file: str, sql: str) -> Detail:
    """Return the details with another statement and its file."""
    return replace(detail, file=f"{detail.file}, {file}", sql=f"{detail.sql}{LINE_END}{LINE_END}{sql}")


def _add_figures(detail: Detail, metric: Metric, course: Sequence[RunCourse], units: ReportUnits) -> Detail:
    """Return the details with sentences, figures and quantiles of a metric."""
    more = build_metric_details(metric, course, unit_of_report=units.get(metric.id))
    quantiles = (more.table.header, *more.table.rows) if more.table else ()
    return replace(detail, remarks=more.text, figures=more.plots, quantiles=quantiles)


def _iter_row_details(
    checked: CheckedPackage, rows: Sequence[RowRequest], runs: Runs, files: Files
) -> Iterator[tuple[str, Detail]]:
    """Yield the metrics of rows, each with its number of values, events, constants and statement."""
    for item in rows:
        for metric in (*item.metrics, *item.formulas):
            if ("rows", item.name) in files:
                inputs = list_inputs(checked, dependencies.collect_dependencies(checked.package, [metric], ()))
                file, sql = files["rows", item.name]
                counts = _count_values(runs, item.name, metric.id)
                yield metric.id, Detail(counts, inputs[0], file, sql, inputs[1], ROWS)


def _iter_series_details(
    checked: CheckedPackage, computation: Computation, runs: Runs, files: Files
) -> Iterator[tuple[str, Detail]]:
    """Yield the series that are shown, each with its details."""
    for step in computation.compiled_plan.plan.series:
        events, constants = list_inputs(
            checked, dependencies.collect_dependencies(checked.package, [], (), [step.name])
        )
        statement = name_rows_statement(step.name)
        file, sql = files["rows", statement]
        yield step.name, Detail(_count_values(runs, statement, "value"), events, file, sql, constants, ROWS)


def _index_files(computation: Computation) -> Files:
    """Return the files of the statements for metrics and rows; those for phases take precedence over those for runs."""
    return {
        (node.statement.kind, node.name): (f"{folder}/{get_sql_file_name(node)}", f"{node.text};")
        for folder, graph in (("sql", computation.graph), (f"sql/{PHASES}", computation.phase_graph))
        for node in graph
        if node.statement.kind in ("metric", "rows")
    }


def _create_metric_detail(computed: ComputedReport, metric: Metric, files: Files) -> Detail:
    """Return the details on a metric with a distribution in each run, or on a formula over such metrics."""
    checked = computed.checked
    applied = [item.filter for item in computed.computation.compiled_plan.plan.applied]
    events, constants = list_inputs(checked, dependencies.collect_dependencies(checked.package, [metric], applied))
    statement_files = [
        files["metric", measured_metric.id]
        for measured_metric in list_measured(index_metrics(checked.package), [metric])
    ]
    header = VALUE if is_formula(metric) else SAMPLES
    rows = tuple(
        (label, *_format_figures(run, metric, computed.summary))
        for label, run in computed.runs.items()
        if has_result(run, metric)
    )
    sql = f"{LINE_END}{LINE_END}".join(text for _, text in statement_files)
    return Detail(rows, events, ", ".join(file for file, _ in statement_files), sql, constants, header)


def _format_figures(run: RunFigures, metric: Metric, summary: str) -> tuple[str, ...]:
    """Return the cells of a metric's distribution in a run, or of a formula's value."""
    if is_formula(metric):
        return (_format_number(run.results.formulas[metric.id].averages[summary]),)
    return format_cells(run.results.metrics[metric.id], summary)


def _format_number(value: float | None) -> str:
    return NONE if value is None else format_six_digits(value)


def format_cells(distribution: Distribution, summary: str) -> tuple[str, ...]:
    """Return the cells of a distribution after the run's name; dashes if it has no samples."""
    if not distribution.size:
        return (str(distribution.size), *[NONE] * (len(SAMPLES) - 2))
    values = (
        distribution.averages[summary],
        distribution.median,
        distribution.stddevs[summary],
        distribution.least,
        distribution.greatest,
    )
    return (str(distribution.size), *(format_six_digits(value) for value in values))


def _count_values(runs: Mapping[str, RunFigures], rows: str, column: str) -> tuple[tuple[str, str], ...]:
    return tuple(
        (label, str(sum(value is not None for value in get_column(run.results.rows[rows], column))))
        for label, run in runs.items()
        if rows in run.results.rows
    )


def list_inputs(
    checked: CheckedPackage, needed: dependencies.Dependencies
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Return the names and descriptions of the events and of the constants among some dependencies."""
    events = tuple((event.name, event.doc) for event in checked.package.events if event.name in needed.events)
    constants = tuple(
        (item.name, f"{item.doc} — {format_place(item)}")
        for item in index_constants(checked.package).values()
        if item.name in needed.constants
    )
    return events, constants


def _iter_parameter_details(
    checked: CheckedPackage, report: Report, computation: Computation
) -> Iterator[tuple[str, Detail]]:
    """Yield the id and details of each row of the manifest that shows a relation: its events and statement."""
    files = {text.removeprefix(HEAD): name for name, text in render_sql_files(computation.graph).items()}
    nodes = {node.name: node for node in computation.graph}
    for row in report.manifest:
        if row.relation in nodes:
            text = f"{nodes[row.relation].text};"
            events, constants = list_inputs(
                checked, dependencies.collect_dependencies(checked.package, [], (), [row.relation])
            )
            yield get_row_id(row), Detail((), events, f"sql/{files[text + LINE_END]}", text, constants)
