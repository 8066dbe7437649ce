"""Report failed checks: the first offending row, and the number of further rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from assay.engine.declared import fill_message
from assay.plan.planner import CheckStep
from assay.util.diagnostics import Diagnostic

if TYPE_CHECKING:
    import duckdb

BATCH_SIZE = 10_000  # rows that are fetched at a time


def fetch_offenders(cursor: duckdb.DuckDBPyConnection) -> tuple[dict[str, object] | None, int]:
    """Return the first of the rows that a check selects, as column -> value, and the number of further rows."""
    names = [str(item[0]) for item in cursor.description or ()]
    first = cursor.fetchone()
    further_count = 0
    while batch := cursor.fetchmany(BATCH_SIZE):
        further_count += len(batch)
    return (dict(zip(names, first, strict=True)) if first else None), further_count


def build_check_problem(
    step: CheckStep, row: Mapping[str, object], further_count: int, label: str, notes: Sequence[str] = ()
) -> Diagnostic:
    """Return the problem that a check reports for its first offending row.

    `further_count` is the number of further rows, `label` the name of the run.
    """
    check = step.check
    message = fill_message(check.message, row)
    if check.severity == "error":  # warnings are printed next to the run's label anyway
        message = f"run {label}: {message}"
    count_notes = (f"{further_count} more like it",) if further_count > 0 else ()
    hint = fill_message(check.hint, row)
    return Diagnostic(check.code, message, notes=(*count_notes, *notes), hint=hint, severity=check.severity)
