"""Render reports in each output form, cached by content, with details for interactive forms."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from assay.app.compute import Computation
from assay.app.outputs import write_specs
from assay.app.prose import write_texts_of
from assay.app.session import Session
from assay.app.sql_files import HEAD, PHASES, file_of, sql_texts, write_sql
from assay.app.stages import stage
from assay.engine.pruning import used
from assay.lang import dependencies
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import index_metrics, is_formula, list_measured
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.lineage.constants import declared, place
from assay.plan.planner import AppliedFilter, RowRequest, rows_of
from assay.provenance.record import form_tools, in_forms, templates_hash, versions
from assay.report.document import Document, to_json
from assay.report.glossary import of_row
from assay.report.output_forms import HTML, MARKDOWN, PDF, USUAL
from assay.report.prose import Prose
from assay.report.render import pdf
from assay.report.render.html import NOTHING, Behind, Detail
from assay.report.render.pdf import lay_out, write_data
from assay.report.results_json import lines_json
from assay.report.run_results import Choices, RunFigures
from assay.styles.exact_decimal import six_digits
from assay.styles.row import Distribution
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
class Assembled:
    """A report before it is laid out: its document, what that is made of (`provenance`), and the details `behind` its
    numbers.

    Reports over runs have `results` as plain data and what was computed; articles the texts of their prose by file.
    `findings` say what the data of runs lack.
    """

    checked: CheckedPackage
    document: Document
    provenance: Mapping[str, object]
    results: Mapping[str, object] | None = None
    computed: Computation | None = None
    behind: Behind = NOTHING
    prose: Mapping[str, Prose] | None = None
    findings: tuple[str, ...] = ()


def write_report(session: Session, made: Assembled, folder: Path, forms: Sequence[str]) -> tuple[str, ...]:
    """Write all files of a report of any kind into a folder; return what is to be known of it."""

    def write_data() -> None:
        if made.results is not None:
            (folder / "results.json").write_text(lines_json(made.results), "utf-8")
        (folder / "provenance.json").write_text(lines_json(in_forms(made.provenance, forms)), "utf-8")
        write_specs(made.checked, folder, session.store.folder)
        if made.prose is not None:
            write_texts_of(made.prose, folder)
        if made.computed:
            write_sql(folder / "sql", made.computed)

    warnings = rendered(made.document, folder, session, forms, made.behind, write_data)
    return (*warnings, *made.findings)


def behind_report(
    checked: CheckedPackage,
    report: Report,
    metrics: Iterable[Metric],
    applied: Sequence[AppliedFilter],
    found: Computation,
    runs: Runs,
    choices: Choices,
) -> Behind:
    """Of each metric its distributions in `runs`, what it is made of, and its statement; of formulas their values, and
    the statements of the metrics that they are over."""
    files = _files(found)
    details = {metric.id: _metric(checked, metric, applied, runs, choices.summary, files) for metric in metrics}
    return Behind(SAMPLES, details | dict(_parameters(checked, report, found)))


def behind_article(
    checked: CheckedPackage, rows: Sequence[RowRequest], found: Computation, runs: Runs, compared: Runs, summary: str
) -> Behind:
    """Of each metric and series how many rows it has, what it is made of, and the first statement that asks; of those
    that are `compared` (between runs or phases) what `behind_report` tells."""
    files = _files(found)
    details: dict[str, Detail] = {}
    for item in rows:
        for metric in (*item.metrics, *item.formulas):
            if metric.id not in details and ("rows", item.name) in files:
                made = list_inputs(checked, dependencies.collect_dependencies(checked.package, [metric], ()))
                file, sql = files["rows", item.name]
                details[metric.id] = Detail(_counts(runs, item.name, metric.id), made[0], file, sql, made[1])
    for step in found.compiled.plan.series:
        made = list_inputs(checked, dependencies.collect_dependencies(checked.package, [], (), [step.name]))
        file, sql = files["rows", rows_of(step.name)]
        details[step.name] = Detail(_counts(runs, rows_of(step.name), "value"), made[0], file, sql, made[1])
    results = next(iter(compared.values())).results
    known = index_metrics(checked.package)
    for name in (*results.metrics, *results.formulas):
        details[name] = _metric(checked, known[name], (), compared, summary, files)
    return Behind(ROWS, details)


def _files(found: Computation) -> Files:
    """The statements of a build that metrics and rows are asked by; those for phases stand for those for runs."""
    return {
        (node.statement.kind, node.name): (f"{folder}/{file_of(node)}", f"{node.text};")
        for folder, graph in (("sql", found.graph), (f"sql/{PHASES}", found.cut))
        for node in graph
        if node.statement.kind in ("metric", "rows")
    }


def _metric(
    checked: CheckedPackage, metric: Metric, applied: Sequence[AppliedFilter], runs: Runs, summary: str, files: Files
) -> Detail:
    """What stands behind a metric that has a distribution in each run, or behind a formula over such."""
    events, constants = list_inputs(
        checked, dependencies.collect_dependencies(checked.package, [metric], [item.filter for item in applied])
    )
    asked = [files["metric", one.id] for one in list_measured(index_metrics(checked.package), [metric])]
    header = VALUE if is_formula(metric) else SAMPLES
    rows = tuple((label, *_figures(run, metric, summary)) for label, run in runs.items())
    sql = f"{LINE_END}{LINE_END}".join(text for _, text in asked)
    return Detail(rows, events, ", ".join(file for file, _ in asked), sql, constants, header)


def _figures(run: RunFigures, metric: Metric, summary: str) -> tuple[str, ...]:
    """What a run has of a metric: the cells of its distribution; of a formula its value."""
    if is_formula(metric):
        return (_number(run.results.formulas[metric.id].averages[summary]),)
    return cells(run.results.metrics[metric.id], summary)


def _number(value: float | None) -> str:
    return NONE if value is None else six_digits(value)


def cells(found: Distribution, summary: str) -> tuple[str, ...]:
    """The cells behind a run's name; dashes where there are no samples to tell anything of."""
    if not found.size:
        return (str(found.size), *[NONE] * (len(SAMPLES) - 2))
    values = (
        found.averages[summary],
        found.median,
        found.stddevs[summary],
        found.least,
        found.greatest,
    )
    return (str(found.size), *(six_digits(value) for value in values))


def _counts(runs: Mapping[str, RunFigures], rows: str, column: str) -> tuple[tuple[str, str], ...]:
    return tuple(
        (label, str(sum(row[column] is not None for row in run.results.rows[rows]))) for label, run in runs.items()
    )


def list_inputs(
    checked: CheckedPackage, needed: dependencies.Dependencies
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Name and description of the events, and of the constants, that something is made of, filters included."""
    events = tuple((event.name, event.doc) for event in checked.package.events if event.name in needed.events)
    constants = tuple(
        (item.name, f"{item.doc} — {place(item.files, item.path)}")
        for item in declared(checked.package).values()
        if item.name in needed.constants
    )
    return events, constants


def _parameters(checked: CheckedPackage, report: Report, found: Computation) -> Iterator[tuple[str, Detail]]:
    """Of each row of the manifest that is a relation's, the events that it is made of, and its statement."""
    files = {text.removeprefix(HEAD): name for name, text in sql_texts(found.graph).items()}
    nodes = {node.name: node for node in found.graph}
    for row in report.manifest:
        if row.relation in nodes:
            text = f"{nodes[row.relation].text};"
            events, constants = list_inputs(
                checked, dependencies.collect_dependencies(checked.package, [], (), [row.relation])
            )
            yield of_row(row), Detail((), events, f"sql/{files[text + LINE_END]}", text, constants)


def rendered(
    document: Document,
    out: Path,
    session: Session,
    forms: Sequence[str] = USUAL,
    behind: Behind = NOTHING,
    write_others: Callable[[], None] = lambda: None,
) -> tuple[str, ...]:
    """Write a document with its charts, in some forms, into `out`: from the cache when the very same was made before.

    Returns what is to be known of it: the document's warnings, and what a form cannot show.  `behind` is what forms
    that are read on a screen tell of the metrics beside the document.  `write_others` writes what is no form; it runs
    beside the charts and the PDF, which other processes and Typst are busy with.
    """
    text = to_json(document)
    key = _key(text, session.templates(), forms, behind if HTML in forms else NOTHING)
    place = session.store.place("rendered", key)
    known = session.store.has("rendered", key)
    with ThreadPoolExecutor(max_workers=1) as pool, stage("report", forms=",".join(forms), cached=known):
        writing = pool.submit(write_others)
        if session.later is None and not known:  # what is edited is not asked for again
            with session.store.filling("rendered", key) as fresh:
                _render(document, text, fresh, session, forms, behind)
            known = True
        if known:
            used(place)
            without = shutil.ignore_patterns(checksums.FILE)
            shutil.copytree(place, out, dirs_exist_ok=True, copy_function=shutil.copyfile, ignore=without)
        else:
            _render(document, text, out, session, forms, behind)
        writing.result()
    return (*document.warnings, *pdf.missing_glyph_warnings(out))


def _render(document: Document, text: str, out: Path, session: Session, forms: Sequence[str], behind: Behind) -> None:
    templates = session.templates()
    with stage("charts", charts=len(document.charts)):
        write_data(document, out, templates, session.progress, kept=session.store.folder / "drawings", text=text)
    if MARKDOWN in forms:
        from assay.report.render.markdown import markdown

        with stage("markdown"):
            (out / "report.md").write_bytes(markdown(document).encode())
    if HTML in forms:
        from assay.report.render.html import bundle, page

        with stage("html"):
            shown = page(document, templates, bundle(session.store.folder / "drawings"), behind)
            (out / "report.html").write_bytes(shown.encode())
    if PDF in forms:
        with stage("pdf"):
            lay_out(document, out, templates, session.progress)


def _key(document: str, templates: Path, forms: Sequence[str], behind: Behind) -> str:
    digest = hashlib.sha256(document.encode())
    tools = {form: form_tools(form) for form in forms}
    told = dataclasses.asdict(behind)
    digest.update(json.dumps([versions(), tools, told], sort_keys=True).encode())
    digest.update(templates_hash(templates).encode())
    digest.update(hash_renderers())
    return digest.hexdigest()


@functools.cache
def hash_renderers() -> bytes:
    """The hash of what draws and lays out here: that which this process has loaded, whatever becomes of the files."""
    digest = hashlib.sha256()
    folder = Path(__file__).parent.parent / "report"
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        digest.update(file.relative_to(folder).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.digest()
