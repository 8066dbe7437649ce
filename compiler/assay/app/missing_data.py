"""What a run's logs do not tell: metrics without samples because an event that they need never stands in the logs, or a
field that may be missing never has a value."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from sqlglot import exp

from assay.app.prepare import IngestedRun
from assay.engine.results import RunResults
from assay.engine.small_engine import small_engine
from assay.lang.model.package import Event, Metric, Package
from assay.lang.normal_form import CheckedPackage
from assay.plan.planner import Plan, plan
from assay.sql import dialect
from assay.sql.dialect import column
from assay.sql.events import scan

NAMED = 3


def missing_data_warnings(
    checked: CheckedPackage, made: Plan, results: RunResults, prepared: IngestedRun
) -> tuple[str, ...]:
    """A sentence for each event, and for each field, that a run tells nothing of where metrics want it that have no
    samples."""
    return (
        *absent_events(checked, made, results, prepared.counts),
        *absent_fields(checked, made, results, prepared),
    )


def absent_events(
    checked: CheckedPackage, made: Plan, results: RunResults, counts: Mapping[str, int]
) -> tuple[str, ...]:
    """A sentence for each event that no log line of a run is, where metrics have no sample for want of it."""
    empty = [metric for metric in made.metrics if not results.metrics[metric.id].size]
    without: dict[str, list[str]] = {}
    for metric in empty:
        for event in _measured_events(checked.package, metric):
            if not counts.get(event):
                without.setdefault(event, []).append(metric.id)
    return tuple(
        f"no log line is a `{event}` event, so there are no samples of {_listed(names)}."
        for event, names in sorted(without.items())
    )


def absent_fields(checked: CheckedPackage, made: Plan, results: RunResults, prepared: IngestedRun) -> tuple[str, ...]:
    """A sentence for each field without a value in any row of its event, where metrics that read it have no sample."""
    without: dict[tuple[str, str], list[str]] = {}
    for metric in made.metrics:
        if not results.metrics[metric.id].size:
            for name, fields in plan(checked.package, [metric], ()).wanted.items():
                for field in fields:
                    without.setdefault((name, field), []).append(metric.id)
    return tuple(
        f"no `{event.name}` event has a value of `{field}`{_read_from(event, field)}; there are no samples of "
        f"{_listed(without[event.name, field])}, which read{'s' if len(without[event.name, field]) == 1 else ''} it."
        for event in checked.package.events
        if prepared.counts.get(event.name)
        for field in _without_value(prepared, event, [field for name, field in without if name == event.name])
    )


def _without_value(prepared: IngestedRun, event: Event, fields: Sequence[str]) -> Iterator[str]:
    """Those of the fields that may be missing and have no value in any row, in order of their names."""
    may = {field.name for form in event.forms for field in form.fields if field.paths and not field.required}
    asked = sorted(may & set(fields))
    files = [path for folder in prepared.folders for path in sorted((folder / "events" / event.name).glob("*.parquet"))]
    if not asked or not files:
        return
    with small_engine() as connection:
        rows = [connection.execute(dialect.text(_values(path, asked))).fetchone() for path in files]
    for index, name in enumerate(asked):
        if not any(row and row[index] for row in rows):
            yield name


def _values(path: Path, fields: Sequence[str]) -> exp.Select:
    """How many rows of a file have a value of each field."""
    query = dialect.select(*(exp.Count(this=column(name)) for name in fields))
    return query.from_(scan(glob.escape(str(path)))).where(column("whole"))


def _read_from(event: Event, name: str) -> str:
    """Where a field is read, in words; empty where that is called as it is."""
    found = (
        ".".join(path) for form in event.forms for field in form.fields if field.name == name for path in field.paths
    )
    paths = list(dict.fromkeys(found))
    return "" if paths == [name] else f", which is read from {' or '.join(f'`{path}`' for path in paths)}"


def _measured_events(package: Package, metric: Metric) -> set[str]:
    """The events that the instants of a metric's measure are bound to."""
    grain = next(item for item in package.grains if item.name == metric.grain)
    named = {node.text if node.op == "taken" else node.name for node in metric.measure.walk()}
    events = {event.name for event in package.events}
    return {item.of for item in grain.instants if item.name in named and item.of in events}


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
