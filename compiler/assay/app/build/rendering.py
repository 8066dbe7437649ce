"""Render reports in each output form, cached by content, with details for interactive forms."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from assay.app.build.metric_details import NO_COURSES, Courses
from assay.app.compute.compute import Computation
from assay.app.compute.point_files import write_point_files
from assay.app.compute.sql_files import HEAD, PHASES, get_sql_file_name, render_sql_files, write_sql
from assay.app.judge.judging import build_change_data
from assay.app.session.outputs import write_specs
from assay.app.session.prose import write_prose_texts
from assay.app.session.session import Session
from assay.app.session.stages import log_stage
from assay.engine.point_rows import get_column
from assay.engine.pruning import mark_used
from assay.judgement.report_judgements import ReportJudgements
from assay.lang import dependencies
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import index_metrics, is_formula, list_measured
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.lineage.constants import format_place, index_constants
from assay.number_styles.exact_decimal import format_six_digits
from assay.number_styles.row import Distribution
from assay.plan.planner import AppliedFilter, name_cells_statement, name_quantiles_statement
from assay.plan.request import RowRequest, name_rows_statement
from assay.provenance.record import add_forms, hash_templates
from assay.provenance.versions import get_form_tools, get_versions
from assay.report.document import Document, to_json
from assay.report.glossary import get_row_id
from assay.report.judged_cells import describe_change
from assay.report.metric_details import build_metric_details
from assay.report.output_forms import DEFAULT_FORMS, FILES, HTML, MARKDOWN, MARKDOWN_SINGLE, PDF
from assay.report.prose import Prose
from assay.report.render import pdf
from assay.report.render.html import NO_DETAILS, Detail, ReportDetails
from assay.report.render.pdf import lay_out, write_data
from assay.report.results_json import dump_json_by_member
from assay.report.row_units import NO_UNITS, ReportUnits
from assay.report.run_results import Choices, RunFigures, has_result
from assay.sql import dialect
from assay.sql.codegen import build_cells_statements
from assay.sql.expressions import build_placeholders
from assay.util import checksums

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
class AssembledReport:
    """A report before it is laid out: its document, provenance, and details on its numbers.

    Reports over runs have `results` as plain data and their `computation`; reports have their `prose` by file.
    `findings` are warnings about gaps in the data of runs.
    """

    checked: CheckedPackage
    document: Document
    provenance: Mapping[str, object]
    results: Mapping[str, object] | None = None
    computation: Computation | None = None
    details: ReportDetails = NO_DETAILS
    prose: Mapping[str, Prose] | None = None
    findings: tuple[str, ...] = ()


def write_report(session: Session, report: AssembledReport, folder: Path, forms: Sequence[str]) -> tuple[str, ...]:
    """Write all files of a report of any kind into a folder; return warnings."""

    def write_data_files() -> None:
        """Write all files that do not depend on the output forms."""
        if report.results is not None:
            (folder / "results.json").write_text(dump_json_by_member(report.results), "utf-8")
        (folder / "provenance.json").write_text(dump_json_by_member(add_forms(report.provenance, forms)), "utf-8")
        write_specs(report.checked, folder, session.store.folder)
        if report.prose is not None:
            write_prose_texts(report.prose, folder)
        if report.computation:
            write_sql(folder / "sql", report.computation)
            write_point_files(folder, report.computation)

    warnings = render_document(report.document, folder, session, forms, report.details, write_data_files)
    return (*warnings, *report.findings)


def collect_report_details(
    checked: CheckedPackage,
    report: Report,
    metrics: Iterable[Metric],
    applied_filters: Sequence[AppliedFilter],
    computation: Computation,
    runs: Runs,
    choices: Choices,
    judgements: ReportJudgements | None = None,
    courses: Courses = NO_COURSES,
    units: ReportUnits = NO_UNITS,
    rows: Sequence[RowRequest] = (),
    whole_runs: Runs = MappingProxyType({}),
) -> ReportDetails:
    """Return the details on the metrics of a report: distributions in `runs`, events, constants and statement.

    Metrics that are only in `rows`, of `whole_runs`, have the number of rows instead.
    Formulas have values instead of distributions, and the statements of the metrics that they depend on.
    """
    files = _index_files(computation)
    details: dict[str, Detail] = {}
    for name, detail in _iter_row_details(checked, rows, whole_runs, files):
        details.setdefault(name, detail)
    for metric in metrics:
        detail = _create_metric_detail(checked, metric, applied_filters, runs, choices.summary, files)
        detail = _add_changes(checked, detail, metric, runs, files, judgements) if judgements else detail
        details[metric.id] = _add_figures(detail, metric, courses, files, units)
    details |= dict(_iter_series_details(checked, computation, whole_runs or runs, files))
    return ReportDetails(SAMPLES, details | dict(_iter_parameter_details(checked, report, computation)))


def _add_changes(
    checked: CheckedPackage, detail: Detail, metric: Metric, runs: Runs, files: Files, judgements: ReportJudgements
) -> Detail:
    """Return the details with the judged changes of a metric, and with that part of a statement that has its cells."""
    changes = []
    labels = {run.version or run.id: run.version or label for label, run in runs.items()}
    for version, label in labels.items():
        if change := judgements.changes.get((metric.id, version)):
            data = build_change_data(metric.id, change, judgements.level)
            changes.append((label, *describe_change(data, judgements.level, metric.unit.symbol)))
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


def _add_figures(detail: Detail, metric: Metric, courses: Courses, files: Files, units: ReportUnits) -> Detail:
    """Return the details with sentences, figures and quantiles of a metric that has a course."""
    if metric.id not in courses:
        return detail
    more = build_metric_details(metric, courses[metric.id], unit_of_report=units.get(metric.id))
    quantiles = (more.table.header, *more.table.rows) if more.table else ()
    detail = replace(detail, remarks=more.text, figures=more.plots, quantiles=quantiles)
    return _add_sql(detail, *files["rows", name_quantiles_statement(metric.id)])


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


def _create_metric_detail(
    checked: CheckedPackage,
    metric: Metric,
    applied_filters: Sequence[AppliedFilter],
    runs: Runs,
    summary: str,
    files: Files,
) -> Detail:
    """Return the details on a metric with a distribution in each run, or on a formula over such metrics."""
    events, constants = list_inputs(
        checked, dependencies.collect_dependencies(checked.package, [metric], [item.filter for item in applied_filters])
    )
    statement_files = [
        files["metric", measured_metric.id]
        for measured_metric in list_measured(index_metrics(checked.package), [metric])
    ]
    header = VALUE if is_formula(metric) else SAMPLES
    rows = tuple(
        (label, *_format_figures(run, metric, summary)) for label, run in runs.items() if has_result(run, metric)
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


def render_document(
    document: Document,
    out: Path,
    session: Session,
    forms: Sequence[str] = DEFAULT_FORMS,
    details: ReportDetails = NO_DETAILS,
    write_others: Callable[[], None] = lambda: None,
) -> tuple[str, ...]:
    """Write a document with its charts, in some forms, into `out`, from the cache if it was rendered before.

    Returns the warnings of the document and those about missing glyphs. `details` are shown by the HTML form only.
    `write_others` writes the other files; it runs concurrently with charts and PDF, which use other processes.
    """
    text = to_json(document)
    key = _compute_key(text, session.get_templates(), forms, details if HTML in forms else NO_DETAILS)
    place = session.store.get_path("rendered", key)
    is_cached = session.store.has("rendered", key)
    with ThreadPoolExecutor(max_workers=1) as pool, log_stage("report", forms=",".join(forms), cached=is_cached):
        write_future = pool.submit(write_others)
        if session.deferred_work is None and not is_cached:  # `assay watch` rarely renders the same again
            with session.store.fill_entry("rendered", key) as new_folder:
                _render_forms(document, text, new_folder, session, forms, details)
            is_cached = True
        if not (is_cached and _copy_rendered(place, out)):
            _render_forms(document, text, out, session, forms, details)
        write_future.result()
    return (*document.warnings, *pdf.list_missing_glyph_warnings(out))


def _copy_rendered(place: Path, out: Path) -> bool:
    """Copy a rendered report from the cache into `out`; return whether all of it was still there.

    Errors of writing into `out` occur again when the caller renders into it, and are reported then.
    """
    mark_used(place)
    ignore_checksums = shutil.ignore_patterns(checksums.FILE)
    try:
        shutil.copytree(place, out, dirs_exist_ok=True, copy_function=shutil.copyfile, ignore=ignore_checksums)
    except OSError:
        return False
    return checksums.is_copied(place, out)


def _render_forms(
    document: Document, text: str, out: Path, session: Session, forms: Sequence[str], details: ReportDetails
) -> None:
    templates = session.get_templates()
    with log_stage("charts", charts=len(document.charts)):
        write_data(
            document,
            out,
            templates,
            session.progress,
            cache_folder=session.store.folder / "drawings",
            document_json=text,
        )
    if MARKDOWN in forms or MARKDOWN_SINGLE in forms:
        from assay.report.render.markdown import read_pictures, render_markdown

        with log_stage("markdown"):
            if MARKDOWN in forms:
                (out / FILES[MARKDOWN][0]).write_bytes(render_markdown(document).encode())
            if MARKDOWN_SINGLE in forms:
                text = render_markdown(document, read_pictures(document, out))
                (out / FILES[MARKDOWN_SINGLE][0]).write_bytes(text.encode())
    if HTML in forms:
        from assay.report.render.chart_images import build_stills
        from assay.report.render.html import build_chart_bundle, build_page

        with log_stage("html"):
            drawings = session.store.folder / "drawings"
            stills = build_stills(document.drawn_figures, out / "charts", templates / "fonts", drawings)
            html_text = build_page(document, templates, build_chart_bundle(drawings), details, stills)
            (out / "report.html").write_bytes(html_text.encode())
    if PDF in forms:
        with log_stage("pdf"):
            lay_out(document, out, templates, session.progress)


def _compute_key(document: str, templates: Path, forms: Sequence[str], details: ReportDetails) -> str:
    digest = hashlib.sha256(document.encode())
    tools = {form: get_form_tools(form) for form in forms}
    details_data = dataclasses.asdict(details)
    digest.update(json.dumps([get_versions(), tools, details_data], sort_keys=True).encode())
    digest.update(hash_templates(templates).encode())
    digest.update(hash_renderers())
    return digest.hexdigest()


@functools.cache
def hash_renderers() -> bytes:
    """Return the hash of the source files of the renderers, read once, as this process has loaded them."""
    digest = hashlib.sha256()
    folder = Path(__file__).parents[2] / "report"
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        digest.update(file.relative_to(folder).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.digest()
