"""What stands behind the metrics of a build, for those forms of a report that tell it: samples, source events,
constants, SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from assay.app.compute import Computation
from assay.app.sql_files import HEAD, PHASES, file_of, sql_texts
from assay.lang import dependencies
from assay.lang.formula import by_id, is_formula, measured
from assay.lang.model.package import Metric
from assay.lang.model.report import Report
from assay.lang.normal_form import CheckedPackage
from assay.lineage.constants import declared, place
from assay.plan.planner import Applied, Listed, rows_of
from assay.report.glossary import of_row
from assay.report.render.html_details import Behind, Detail
from assay.report.run_results import Choices, RunFigures
from assay.styles.exact_decimal import six_digits
from assay.styles.results import Distribution

SAMPLES = ("Run", "Samples", "Average", "Median", "Deviation", "Least", "Greatest")
LINE_END = "\n"
ROWS = ("Run", "Rows with a value")
VALUE = ("Run", "Value")
NONE = "—"
Runs = Mapping[str, RunFigures]
"""Runs, or phases of them, by their labels."""
Files = Mapping[tuple[str, str], tuple[str, str]]
"""Kind and name of a statement -> its file in the folder of the report, and its text."""


def behind_report(
    checked: CheckedPackage,
    report: Report,
    metrics: Iterable[Metric],
    applied: Sequence[Applied],
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
    checked: CheckedPackage, rows: Sequence[Listed], found: Computation, runs: Runs, compared: Runs, summary: str
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
    for step in found.plan.series:
        made = list_inputs(checked, dependencies.collect_dependencies(checked.package, [], (), [step.name]))
        file, sql = files["rows", rows_of(step.name)]
        details[step.name] = Detail(_counts(runs, rows_of(step.name), "value"), made[0], file, sql, made[1])
    results = next(iter(compared.values())).results
    known = by_id(checked.package)
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
    checked: CheckedPackage, metric: Metric, applied: Sequence[Applied], runs: Runs, summary: str, files: Files
) -> Detail:
    """What stands behind a metric that has a distribution in each run, or behind a formula over such."""
    events, constants = list_inputs(
        checked, dependencies.collect_dependencies(checked.package, [metric], [item.filter for item in applied])
    )
    asked = [files["metric", one.id] for one in measured(by_id(checked.package), [metric])]
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
