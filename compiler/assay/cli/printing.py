"""What `assay query` and `assay verify` found, on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.cli import output
from assay.styles.exact_decimal import six_digits
from assay.util.numbers import format_count

if TYPE_CHECKING:
    from assay.app.check_and_query import Answer
    from assay.app.verify import Verified

SHOWN = ("size", "average", "median", "stddev", "min", "max")


def print_answer(answer: Answer, form: str) -> None:
    """Distributions of metrics; of formulas the average alone."""
    from assay.report.results_json import distribution, of_formula
    from assay.styles.row import Distribution, FormulaResult

    def figures(found: Distribution | FormulaResult) -> dict[str, object]:
        if isinstance(found, FormulaResult):
            return of_formula(found, answer.summary)
        return distribution(found, answer.summary)

    if form == "json":
        data = [
            {"metric": metric.id, "name": metric.name, "unit": metric.unit.symbol, "run": run,
             "filters": list(answer.filters), "summary": answer.summary, **figures(found)}
            for metric, run, found in answer.rows
        ]  # fmt: skip
        output.data(data)
        return
    rows = []
    for metric, run, found in answer.rows:
        said = figures(found) if isinstance(found, FormulaResult) or found.size else {"size": 0}
        rows.append((metric.id, run, metric.unit.symbol, *(_number(said.get(name), form) for name in SHOWN)))
    output.rows(("metric", "run", "unit", *SHOWN), rows, form)
    if form == "table":
        applied = ", ".join(answer.filters) or "none"
        output.line(f"filters: {applied}; average: {answer.summary}", err=True)


def print_verified(found: Verified) -> int:
    """What differs, a line each, and the number of files; the exit status that belongs to it."""
    from assay.util.diagnostics import DIFFERENCE

    for line in found.differences:
        output.line(line)
    if found.files:
        what = f"{found.differing} with other bytes" if found.differing else "all the same bytes"
        output.line(f"{format_count(found.files, 'file')}: {what}")
    return DIFFERENCE if found.differences else 0


def _number(value: object, form: str) -> str:
    if value is None:
        return "—" if form == "table" else ""
    if form == "table" and isinstance(value, float):
        return six_digits(value)
    return repr(value) if isinstance(value, float) else str(value)
