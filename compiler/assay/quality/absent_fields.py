"""Warn of fields that are null in every row of their event, so that metrics have no samples."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from pathlib import Path

from sqlglot import exp

from assay.engine.connection import open_shared_cursor
from assay.engine.results import RunResults
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Event
from assay.lang.segments import is_segment
from assay.plan.planner import Plan, build_plan
from assay.plan.request import Request
from assay.runs.model import IngestedRun
from assay.sql import dialect
from assay.sql.dialect import build_column, build_scan

NAMED = 3  # metrics that a warning names


def list_absent_field_warnings(
    checked: CheckedPackage, metric_plan: Plan, results: RunResults, ingested_run: IngestedRun
) -> dict[str, tuple[str, ...]]:
    """Return the warnings on fields that are null in every row of their event, and the metrics without samples of each.

    The metrics are those that the warning names.
    """
    readers: dict[tuple[str, str], list[str]] = {}
    for metric in metric_plan.metrics:
        if not results.metrics[metric.id].size and not is_segment(metric.id):
            for name, fields in build_plan(checked.package, Request((metric,))).required_fields.items():
                for field in fields:
                    readers.setdefault((name, field), []).append(metric.id)
    return {
        f"no `{event.name}` event has a value of `{field}`{_describe_paths(event, field)}; there are no samples of "
        f"{_format_names(readers[event.name, field])}, which "
        f"read{'s' if len(readers[event.name, field]) == 1 else ''} it.": tuple(readers[event.name, field][:NAMED])
        for event in checked.package.events
        if ingested_run.counts.get(event.name)
        for field in _iter_null_fields(ingested_run, event, [field for name, field in readers if name == event.name])
    }


def _iter_null_fields(ingested_run: IngestedRun, event: Event, fields: Sequence[str]) -> Iterator[str]:
    """Yield, in order of their names, the optional fields that are null in every row of an event."""
    optional_names = {field.name for form in event.forms for field in form.fields if field.paths and not field.required}
    names = sorted(optional_names & set(fields))
    files = [
        path for folder in ingested_run.folders for path in sorted((folder / "events" / event.name).glob("*.parquet"))
    ]
    if not names or not files:
        return
    with open_shared_cursor() as connection:
        rows = [connection.execute(dialect.to_sql(_build_value_count(path, names))).fetchone() for path in files]
    for index, name in enumerate(names):
        if not any(row and row[index] for row in rows):
            yield name


def _build_value_count(path: Path, fields: Sequence[str]) -> exp.Select:
    """Return a query that counts the non-null values of each field in the complete records of a file."""
    query = dialect.select(*(exp.Count(this=build_column(name)) for name in fields))
    return query.from_(build_scan(glob.escape(str(path)))).where(build_column("whole"))


def _describe_paths(event: Event, name: str) -> str:
    """Return a clause that names the paths a field is read from; empty if the only path is its name."""
    all_paths = (
        ".".join(path) for form in event.forms for field in form.fields if field.name == name for path in field.paths
    )
    paths = list(dict.fromkeys(all_paths))
    return "" if paths == [name] else f", which is read from {' or '.join(f'`{path}`' for path in paths)}"


def _format_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
