"""What stands behind the metrics of a build, for those forms of a report that tell it: samples, source events, SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from assay.build.compute import Computation
from assay.build.sql_files import HEAD, file_of, sql_texts
from assay.compare.results import Distribution
from assay.engine.graph import Node
from assay.plan.steps import Applied, Listed, rows_of
from assay.report.figures import Choices, RunFigures
from assay.report.html_details import Behind, Detail
from assay.report.terms import of_row
from assay.spec import closure
from assay.spec.formula import is_formula
from assay.spec.model import Metric
from assay.spec.normal_form import Checked
from assay.spec.report_model import Report

SAMPLES = ("Run", "Samples", "Average", "Median", "Deviation", "Least", "Greatest")
LINE_END = "\n"
ROWS = ("Run", "Rows with a value")


def behind_report(
    checked: Checked,
    report: Report,
    metrics: Iterable[Metric],
    applied: Sequence[Applied],
    found: Computation,
    runs: Mapping[str, RunFigures],
    choices: Choices,
) -> Behind:
    """Of each metric its distributions in `runs` (by their labels), the events it is made of, and its statement."""
    nodes = {node.name: node for node in (*found.cut, *found.graph) if node.statement.kind == "metric"}
    details = {
        metric.id: Detail(
            tuple((label, *cells(run.results.metrics[metric.id], choices)) for label, run in runs.items()),
            _events(checked, applied, [metric]),
            *_statement(nodes[metric.id]),
        )
        for metric in metrics
        if not is_formula(metric)
    }
    return Behind(SAMPLES, details | dict(_parameters(checked, report, found)))


def behind_article(
    checked: Checked, rows: Sequence[Listed], found: Computation, runs: Mapping[str, RunFigures]
) -> Behind:
    """Of each metric and series how many rows it has, the events it is made of, and the first statement that asks."""
    nodes = {node.name: node for node in found.graph if node.statement.kind == "rows"}
    details: dict[str, Detail] = {}
    for item in rows:
        for metric in item.metrics:
            if metric.id not in details and item.name in nodes:
                samples = _counts(runs, item.name, metric.id)
                details[metric.id] = Detail(samples, _events(checked, (), [metric]), *_statement(nodes[item.name]))
    for step in found.plan.series:
        name = step.name
        events = _events(checked, (), [], [name])
        details[name] = Detail(_counts(runs, rows_of(name), "value"), events, *_statement(nodes[rows_of(name)]))
    return Behind(ROWS, details)


def cells(found: Distribution, choices: Choices) -> tuple[str, ...]:
    """The cells behind a run's name; dashes where there are no samples to tell anything of."""
    if not found.size:
        return (str(found.size), *["—"] * (len(SAMPLES) - 2))
    values = (
        found.averages[choices.summary],
        found.median,
        found.stddevs[choices.summary],
        found.least,
        found.greatest,
    )
    return (str(found.size), *(f"{value:.6g}" for value in values))


def _counts(runs: Mapping[str, RunFigures], rows: str, column: str) -> tuple[tuple[str, str], ...]:
    return tuple(
        (label, str(sum(row[column] is not None for row in run.results.rows[rows]))) for label, run in runs.items()
    )


def _events(
    checked: Checked, applied: Sequence[Applied], metrics: Sequence[Metric], tables: Sequence[str] = ()
) -> tuple[tuple[str, str], ...]:
    """Name and description of the events that something is made of, filters included."""
    needed = closure.needs(checked.package, metrics, [item.filter for item in applied], tables).events
    return tuple((event.name, event.doc) for event in checked.package.events if event.name in needed)


def _statement(node: Node) -> tuple[str, str]:
    return f"sql/{file_of(node)}", f"{node.text};"


def _parameters(checked: Checked, report: Report, found: Computation) -> Iterator[tuple[str, Detail]]:
    """Of each row of the manifest that is a relation's, the events that it is made of, and its statement."""
    files = {text.removeprefix(HEAD): name for name, text in sql_texts(found.graph).items()}
    nodes = {node.name: node for node in found.graph}
    for row in report.manifest:
        if row.relation in nodes:
            text = f"{nodes[row.relation].text};"
            events = _events(checked, (), [], [row.relation])
            yield of_row(row), Detail((), events, f"sql/{files[text + LINE_END]}", text)
