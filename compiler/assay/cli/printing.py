"""Print the results of `assay query` and `assay verify` on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.cli import output
from assay.styles.exact_decimal import format_six_digits
from assay.util.numbers import format_count

if TYPE_CHECKING:
    from assay.app.query import Answer
    from assay.app.verify import Verification

SHOWN = ("size", "average", "median", "stddev", "min", "max")


def print_answer(answer: Answer, form: str) -> None:
    """Print the distributions of metrics, and the averages of formulas; those by a column if it is chosen."""
    if answer.by:
        _print_groups(answer, form)
        return
    from assay.report.results_json import build_distribution_data, build_formula_data
    from assay.styles.row import Distribution, FormulaResult

    def export_figures(result: Distribution | FormulaResult) -> dict[str, object]:
        if isinstance(result, FormulaResult):
            return build_formula_data(result, answer.summary)
        return build_distribution_data(result, answer.summary)

    if form == "json":
        data = [
            {"metric": metric.id, "name": metric.name, "unit": metric.unit.symbol, "run": run,
             "filters": list(answer.filters), "summary": answer.summary, **export_figures(result)}
            for metric, run, result in answer.rows
        ]  # fmt: skip
        output.print_data(data)
        return
    rows = []
    for metric, run, result in answer.rows:
        values = export_figures(result) if isinstance(result, FormulaResult) or result.size else {"size": 0}
        rows.append((metric.id, run, metric.unit.symbol, *(_format_number(values.get(name), form) for name in SHOWN)))
    output.print_rows(("metric", "run", "unit", *SHOWN), rows, form)
    if form == "table":
        filters_text = ", ".join(answer.filters) or "none"
        output.print_line(f"filters: {filters_text}; average: {answer.summary}", err=True)


def _print_groups(answer: Answer, form: str) -> None:
    """Print the distributions of metrics by a column: in each run by ascending median, outliers marked."""
    from assay.report.group_spreads import build_group_data

    metrics = {metric.id: metric for metric, _, _ in answer.rows}
    groups = [
        (metrics[name], item.run, build_group_data(group))
        for name, runs in answer.spreads.items()
        for item in runs
        for group in item.groups
    ]
    if form == "json":
        data = [
            {"metric": metric.id, "name": metric.name, "unit": metric.unit.symbol, "run": run,
             "filters": list(answer.filters), answer.by: values.pop("name"), **values}
            for metric, run, values in groups
        ]  # fmt: skip
        output.print_data(data)
        return
    rows = [
        (metric.id, run, str(values["name"]), metric.unit.symbol,
         *(_format_number(values[name], form) for name in (*SHOWN, "outlier")))
        for metric, run, values in groups
    ]  # fmt: skip
    output.print_rows(("metric", "run", answer.by, "unit", *SHOWN, "outlier"), rows, form)
    if form == "table":
        output.print_line(f"filters: {', '.join(answer.filters) or 'none'}", err=True)


def print_verification(verification: Verification) -> int:
    """Print each difference and the number of files; return the exit status."""
    from assay.util.diagnostics import DIFFERENCE

    for line in verification.differences:
        output.print_line(line)
    if verification.files:
        summary = (
            f"{verification.differing_count} with other bytes" if verification.differing_count else "all the same bytes"
        )
        output.print_line(f"{format_count(verification.files, 'file')}: {summary}")
    return DIFFERENCE if verification.differences else 0


def _format_number(value: object, form: str) -> str:
    if value is None:
        return "—" if form == "table" else ""
    if form == "table" and isinstance(value, float):
        return format_six_digits(value)
    return repr(value) if isinstance(value, float) else str(value)
