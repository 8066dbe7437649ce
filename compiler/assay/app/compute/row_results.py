"""Build what `results.json` has of rows: those that reports list, plot or print, and the groups of their runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from assay.app.compute.computation import Computation
from assay.app.compute.point_files import name_point_files
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.parts import get_group_name
from assay.lang.model.report import Report
from assay.plan.planner import FROM, TO, Plan, name_cut_statement, name_span_statement
from assay.plan.request import RowRequest, name_rows_statement
from assay.report.blocks.rows import Row
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


def build_run_group_data(
    report: Report, runs: Sequence[str], judgements: Mapping[str, object]
) -> list[dict[str, object]]:
    """Return the groups of a report with the ids of their runs, and the judgements of those that are judged."""
    return [
        {
            "name": group.name,
            "title": group.title,
            "runs": [run for run in runs if get_group_name(run) == group.name],
            **({"judgement": judgements[group.name]} if group.name in judgements else {}),
        }
        for group in report.groups
    ]


def _export_rows(rows: Sequence[Row]) -> list[dict[str, object]]:
    """Convert rows to JSON values."""
    return [{name: to_json_value(value) for name, value in row.items()} for row in rows]


def to_json_value(value: object) -> object:
    """Convert a value to JSON: an infinite number or NaN becomes the text that Prometheus writes for it."""
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"


def build_row_data(checked: CheckedPackage, computation: Computation, runs: Sequence[RunFigures]) -> dict[str, object]:
    """Return the rows of a report as measured, by run and statement, and the units of their columns.

    Of rows that are points it names the file. The result is empty for a report without rows and series.
    """
    files, plan = name_point_files(computation), computation.compiled_plan.plan
    if not plan.row_requests and not plan.series:
        return {}
    units = collect_units(checked, plan)
    rows = {
        run.id: {
            name: {"file": file, "rows": len(run_rows)}
            if (file := files.get((run.id, name)))
            else _export_rows(run_rows)
            for name, run_rows in sorted(run.results.rows.items())
            if name in units
        }
        for run in runs
    }
    return {"units": units, "rows": rows}
