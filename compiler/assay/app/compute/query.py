"""Compute single metrics, and compile their SQL (`assay query`, `sql`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.app.compute.computation import Computation, RunResult
from assay.app.compute.compute import compute
from assay.app.compute.grouping import group_metrics
from assay.app.compute.raw_data_notes import list_raw_notes
from assay.app.compute.splitting import parse_dimensions, split_metrics
from assay.app.compute.subject import MetricSubject, find_metric
from assay.app.session.options import choose_summary
from assay.app.session.phases import select_phases
from assay.app.session.selection import EVERYTHING, Selection
from assay.app.session.session import Session
from assay.engine.results import Distribution, FormulaResult, RunResults
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import index_metrics, is_formula, list_measured
from assay.lang.model.package import Metric
from assay.lang.segments import join_segments
from assay.plan.request import Request
from assay.plan.value_request import ValueRequest
from assay.provenance.versions import get_versions
from assay.registry.tables import COLUMNS, build_statistics
from assay.report.group_spreads import Spreads, build_group_data, collect_spreads
from assay.report.results_json import build_distribution_data, build_formula_data
from assay.runs.model import NamedRun
from assay.util.diagnostics import USAGE, fail
from assay.util.numbers import split_numbers

Texts = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a query: rows of (metric, run, distribution), and the filters that were applied.

    `spreads` are the metrics by the values of a column; empty unless the query is `by` one.
    """

    checked: CheckedPackage
    rows: tuple[tuple[Metric, str, Distribution | FormulaResult], ...]
    filters: tuple[str, ...]
    summary: str
    warnings: tuple[str, ...] = ()
    by: str = ""
    spreads: Spreads = field(default_factory=dict)


def query_metrics(
    session: Session,
    names: Sequence[str],
    runs: Sequence[NamedRun],
    selection: Selection = EVERYTHING,
) -> Answer:
    """Return the distributions of metrics over runs or phases of runs, and those by the values of a selected column.

    With selected dimensions, the metrics are followed by their segments. The filters are the selected ones, else those
    of the report that shows the metrics. Raises AssayError.
    """
    by = selection.by
    subjects = [find_metric(session, name, selection.system) for name in names]
    checked = _join_packages(subjects)
    metrics = tuple({subject.id: subject.metric for subject in subjects}.values())
    report = subjects[0].report
    applied_filters = subjects[0].select_filters(selection.filters, selection.no_filters)
    summary_name = choose_summary(checked.package, report, selection.summary)
    phase_selection = select_phases(checked.package, (), selection.at, selection.phases)
    if dimensions := parse_dimensions(checked.package, metrics, by):
        unsplit = Request(tuple(metrics))

        def count_values(items: Sequence[ValueRequest]) -> Computation:
            request = unsplit | Request(values=tuple(items))
            return compute(session, package_of_report, runs, request, applied_filters, phase_selection)

        package_of_report = checked
        checked, metrics = split_metrics(checked, metrics, dimensions, count_values, report=report)
        by = ""
    grouped_metrics = group_metrics(checked, metrics, by, session.workspace)
    request = Request(tuple(metrics), grouped=tuple(grouped_metrics))
    computation = compute(session, checked, runs, request, applied_filters, phase_selection)
    rows = tuple(
        (metric, run.id, _get_result(run.results, metric)) for metric in metrics for run in computation.columns
    )
    warnings = list_run_messages(checked, computation, metrics)
    columns = [(run.id, run.id, run.results) for run in computation.columns]
    spreads = collect_spreads(checked, grouped_metrics, columns, None)
    return Answer(checked, rows, tuple(item.label for item in applied_filters), summary_name, warnings, by, spreads)


def export_answer(answer: Answer) -> list[dict[str, Any]]:
    """Return the distributions of metrics, and the averages of formulas, as plain data: a row for each metric and run.

    A query by a column has a row for each of its values, in the order of the numbers in them.
    """
    if answer.by:
        metrics = {metric.id: metric for metric, _, _ in answer.rows}
        return [
            {**_export_metric(answer, metrics[name], item.run), answer.by: values.pop("name"), **values}
            for name, runs in answer.spreads.items()
            for item in runs
            for values in map(build_group_data, sorted(item.groups, key=lambda group: split_numbers(group.name)))
        ]
    return [
        {
            **_export_metric(answer, metric, run),
            "summary": answer.summary,
            **(
                build_formula_data(result, answer.summary)
                if isinstance(result, FormulaResult)
                else build_distribution_data(result, answer.summary)
            ),
        }
        for metric, run, result in answer.rows
    ]


def build_answer_rows(answer: Answer) -> Iterator[dict[str, Any]]:
    """Yield the rows of `export_answer` with the columns of recorded results; those without a value are None."""
    for item in export_answer(answer):
        pairs = item.get("centiles", item.get("quantiles", ()))
        yield {
            **dict.fromkeys(COLUMNS),
            **{name: item[name] for name in ("run", "metric", "name", "unit", "filters")},
            "system": answer.checked.package.system,
            "definition": answer.checked.definitions[item["metric"]],
            "summary": answer.summary,
            "column": answer.by or None,
            "group": item[answer.by] if answer.by else None,
            **build_statistics(item.get("size"), item, pairs),
            "assay": get_versions()["assay"],
        }


def _export_metric(answer: Answer, metric: Metric, run: str) -> dict[str, Any]:
    return {
        "metric": metric.id,
        "name": metric.name,
        "unit": metric.unit.symbol,
        "run": run,
        "filters": list(answer.filters),
    }


def _join_packages(subjects: Sequence[MetricSubject]) -> CheckedPackage:
    """Return the package of metrics, with the segments among them. Raises AssayError if they have several."""
    checked = subjects[0].checked
    for subject in subjects:
        if subject.checked.sources != checked.sources or subject.checked.package.system != checked.package.system:
            raise fail("systems", "the metrics belong to different systems", status=USAGE, hint="query them one by one")
        checked = checked if subject.checked is checked else join_segments(checked, subject.checked)
    return checked


def list_run_messages(checked: CheckedPackage, computation: Computation, metrics: Sequence[Metric]) -> tuple[str, ...]:
    """Return the notes and warnings on the results of metrics, each after the id of its run or phase."""
    measured_metrics = list_measured(index_metrics(checked.package), metrics)
    measured_ids = [metric.id for metric in measured_metrics]
    columns = computation.columns
    texts_by_run = (
        *((run, list_raw_notes(run.ingested_run)) for run in computation.runs),
        *((run, run.quality.list_messages_about(measured_ids)) for run in columns),
        *((run, _list_notes(run)) for run in columns),
    )
    return tuple(f"{run.id}: {text}" for run, texts in texts_by_run for text in texts)


def _get_result(results: RunResults, metric: Metric) -> Distribution | FormulaResult:
    return results.formulas[metric.id] if is_formula(metric) else results.metrics[metric.id]


def _list_notes(run: RunResult) -> tuple[str, ...]:
    """Return the notes on a run's results: missing events, warnings of checks, formulas without a value."""
    return (*run.data_warnings, *run.results.warnings, *run.results.notes)
