"""Export what `results.json` has as plain data: results of an article, and the rows that reports list or plot."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from assay.app.compute import Computation
from assay.app.point_files import PointFiles, name_point_files
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import is_formula
from assay.lang.model.article import Article, get_group_name
from assay.lang.model.package import Metric
from assay.plan.planner import FROM, TO, Plan, RowRequest, name_cut_statement, name_rows_statement, name_span_statement
from assay.report.article import list_compared_metrics
from assay.report.blocks.rows import Row
from assay.report.data_quality import build_quality_data
from assay.report.results_json import build_distribution_data, build_formula_data, build_phase_data
from assay.report.run_results import RunFigures

#: The types of columns that have no unit, since they are not numbers.
UNITLESS_TYPES = ("text", "boolean")
NANOSECOND = "ns"

Units = Mapping[str, Mapping[str, str]]
"""Column -> `unit`, a symbol (empty for a number without a unit), and `factor`, which converts a value to that unit."""


def collect_units(checked: CheckedPackage, plan: Plan) -> dict[str, Units]:
    """Return the units of all rows that a plan yields, by the names of their statements.

    Columns of text and of truth values are left out.
    """
    instant_unit = _describe_unit(NANOSECOND)
    units_by_statement: dict[str, Units] = {
        item.name: dict(iter_column_units(checked, item)) for item in plan.row_requests
    }
    for step in plan.series:
        units_by_statement[name_rows_statement(step.name)] = {
            "t_ns": instant_unit,
            "value": _describe_unit(step.series.unit.symbol),
        }
        units_by_statement[name_span_statement(step.series.windows)] = {FROM: instant_unit, TO: instant_unit}
    units_by_statement |= {name_cut_statement(item.name): {"t_ns": instant_unit} for item in plan.cuts}
    return dict(sorted(units_by_statement.items()))


def iter_column_units(checked: CheckedPackage, item: RowRequest) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the columns of rows that are numbers, with their units."""
    columns_by_name = {column.name: column for column in item.grain.columns}
    for name in item.keys:
        if columns_by_name[name].type not in UNITLESS_TYPES:
            yield name, _describe_unit(columns_by_name[name].unit.symbol)
    for metric in item.metrics:
        yield metric.id, _describe_unit(metric.unit.symbol, str(checked.measured[metric.id].factor))
    for metric in item.formulas:
        yield metric.id, _describe_unit(metric.unit.symbol)


def _describe_unit(symbol: str, factor: str = "1") -> Mapping[str, str]:
    return {"unit": symbol, "factor": factor}


def export_comparison(checked: CheckedPackage, article: Article, columns: Sequence[RunFigures]) -> dict[str, object]:
    """Return the compared columns and the value of each metric in them as plain data.

    The result is empty if the article compares no metrics.
    """
    metrics = tuple(map(checked.get_metric, list_compared_metrics(article)))
    if not metrics:
        return {}
    summary = checked.package.summaries[0].name
    return {
        "columns": [{"id": run.id, **build_phase_data(run)} for run in columns],
        "metrics": {
            metric.id: {
                "name": metric.name,
                "unit": metric.unit.symbol,
                "definition": checked.definitions[metric.id],
                "columns": {
                    run.id: _export_metric(run, metric, summary)
                    for run in columns
                    if metric.id in run.results.metrics or metric.id in run.results.formulas
                },
            }
            for metric in metrics
        },
    }


def export_groups(article: Article, runs: Sequence[RunFigures]) -> dict[str, object]:
    """Return the groups of an article with the ids of their runs as plain data; empty without groups."""
    groups = [
        {
            "name": group.name,
            "title": group.title,
            "runs": [run.id for run in runs if get_group_name(run.id) == group.name],
        }
        for group in article.groups
    ]
    return {"groups": groups} if groups else {}


def _export_metric(run: RunFigures, metric: Metric, summary: str) -> dict[str, object]:
    """Return the distribution of a metric in a run or phase, or the value of a formula, as plain data."""
    if is_formula(metric):
        return build_formula_data(run.results.formulas[metric.id], summary)
    return build_distribution_data(run.results.metrics[metric.id], summary)


def export_results(
    checked: CheckedPackage,
    name: str,
    runs: Sequence[RunFigures],
    units_by_statement: Mapping[str, Units],
    point_files: PointFiles,
) -> dict[str, object]:
    """Return the rows behind an article as measured, by the names of their statements, with the units of columns.

    Of rows that are points it names the file. Averages are included if tables of the article print them.
    """
    averages = {run.id: _collect_averages(checked, run) for run in runs if run.results.metrics}
    return {
        "report": name,
        "runs": [{"id": run.id} for run in runs],
        "quality": {run.id: build_quality_data(run.quality) for run in runs},
        "units": units_by_statement,
        "rows": {
            run.id: {
                statement: {"file": file, "rows": len(sample_rows)}
                if (file := point_files.get((run.id, statement)))
                else _export_rows(sample_rows)
                for statement, sample_rows in sorted(run.results.rows.items())
            }
            for run in runs
        },
        **({"averages": averages} if averages else {}),
    }


def _collect_averages(checked: CheckedPackage, run: RunFigures) -> dict[str, float | None]:
    """Return the averages of metrics and the values of formulas in a run, by the first summary of the package.

    Tables against classes use the same summary.
    """
    summary = checked.package.summaries[0].name
    formulas = {name: result.averages[summary] for name, result in run.results.formulas.items()}
    return dict(
        sorted({**{name: result.averages[summary] for name, result in run.results.metrics.items()}, **formulas}.items())
    )


def _export_rows(rows: Sequence[Row]) -> list[dict[str, object]]:
    """Convert rows to JSON values."""
    return [{name: to_json_value(value) for name, value in row.items()} for row in rows]


def to_json_value(value: object) -> object:
    """Convert a value to JSON: an infinite number or NaN becomes the text that Prometheus writes for it."""
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"


def build_listing_data(
    checked: CheckedPackage, computation: Computation, runs: Sequence[RunFigures]
) -> dict[str, object]:
    """Return the files of a report's listings and timelines, by run and statement, and the units of their columns.

    The result is empty without any.
    """
    files, plan = name_point_files(computation), computation.compiled_plan.plan
    if not plan.row_requests and not plan.series:
        return {}
    units = {name: units for name, units in collect_units(checked, plan).items() if name in plan.point_names}
    rows = {
        run.id: {name: {"file": files[run.id, name], "rows": len(run.results.rows[name])} for name in sorted(units)}
        for run in runs
    }
    return {"units": dict(sorted(units.items())), "rows": rows}
