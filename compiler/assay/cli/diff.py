"""Define `assay spec-diff`: compare two states of the specs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import click

from assay.app.audit.diff import compare_states, read_states
from assay.cli import output
from assay.cli.options import add_system_option, open_command_session
from assay.diff.changes import ReportedChange
from assay.diff.specs import KINDS, MetricChange, SystemDiff
from assay.explain.facts import Appearance
from assay.util.diagnostics import DIFFERENCE, AssayError
from assay.util.escape import escape_text
from assay.util.numbers import format_count

WIDEST = 160  # characters printed of a value
PLACES = 6  # places printed that a change touches


@click.command(name="spec-diff")
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@add_system_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
def spec_diff(before: str, after: str, system: str | None, form: str) -> int:
    """Compare the specs of A and B, and the options and data of two builds.

    A and B are folders with specs/, builds (their folders, or their provenance.json), or git revisions. The exit
    status is 3 if specs or options differ, and 1 if a system cannot be read.
    """

    with open_command_session() as session:
        comparison = compare_states(*read_states(session, before, after, system))
    output.print_warnings(comparison.warnings)
    if form == "json":
        output.print_data([_export_diff(item) for item in comparison.systems])
    else:
        for line in _format_lines(comparison.systems):
            output.print_line(line)
    if comparison.read_problems:
        raise AssayError(comparison.read_problems)
    return DIFFERENCE if any(item.differs for item in comparison.systems) else 0


def _export_diff(system_diff: SystemDiff) -> dict[str, Any]:
    """Return the differences of a system as plain data."""
    return dataclasses.asdict(system_diff)


def _format_lines(systems: Sequence[SystemDiff]) -> Iterator[str]:

    printed_changes: set[ReportedChange] = set()
    for system in systems:
        if system.state == "unread":
            yield f"{system.system}: not compared, as it cannot be read: {escape_text(system.unread)}"
            continue
        if system.state != "both":
            yield f"{system.system}: the system is {system.state}"
            continue
        yield system.system
        for kind in KINDS:
            metrics_of_kind = [item for item in system.metrics if item.kind == kind]
            if metrics_of_kind:
                yield f"  {kind}"
                for metric in metrics_of_kind:
                    yield from _format_metric(metric, printed_changes)
        for name, changes in system.reports.items():
            yield f"  report {name}"
            yield from (line for item in changes for line in format_change(item, 4))
        if system.elsewhere:
            yield "  elsewhere"
            yield from (line for item in system.elsewhere for line in format_change(item, 4))
        for name, changes in (("choices of the builds", system.choices), ("other data or tools", system.data)):
            if changes:
                yield f"  {name}"
                yield from (line for item in changes for line in format_change(item, 4))
    yield _format_summary(systems)


def _format_metric(metric: MetricChange, printed_changes: set[ReportedChange]) -> Iterator[str]:
    """Yield the lines of a changed metric; long changes that were printed for another metric are not repeated."""
    former_text = f" (was {metric.was})" if metric.was else ""
    yield f"    {metric.metric}{former_text}" + (f": {escape_text(metric.name)}" if metric.name else "")
    for item in metric.changes:
        if item.lines and item in printed_changes:
            yield f"      {item.aspect}: {escape_text(item.place)}: as above"
        else:
            yield from format_change(item, 6)
        printed_changes.add(item)
    yield from _format_touches(metric.touches, 6)


def _format_touches(places: Sequence[Appearance], indent: int) -> Iterator[str]:
    blank = " " * indent
    for place in places[:PLACES]:
        location = " / ".join(part for part in (place.report, place.section or f"{place.kind}s", place.label) if part)
        yield f"{blank}touches {escape_text(location)}"
    if len(places) > PLACES:
        yield f"{blank}and {format_count(len(places) - PLACES, 'more place')}"


def format_change(item: ReportedChange, indent: int) -> Iterator[str]:
    """Yield the lines of a change."""
    blank = " " * indent
    if item.lines:
        yield f"{blank}{item.aspect}: {escape_text(item.place)}"
        yield from (f"{blank}  {escape_text(line)}" for line in item.lines)
    else:
        before, after = (_shorten(text) if text else "nothing" for text in (item.before, item.after))
        head = item.aspect if item.place == item.aspect else f"{item.aspect}: {escape_text(item.place)}"
        yield f"{blank}{head}: {before} -> {after}"
    yield from _format_touches(item.touches, indent + 2)


def _shorten(text: str) -> str:
    escaped = escape_text(text)
    return escaped if len(escaped) <= WIDEST else escaped[: WIDEST - 1] + "…"


def _format_summary(systems: Sequence[SystemDiff]) -> str:
    """Return the numbers of changed metrics by kind, and of printed numbers that changes of reports touch."""

    metrics = [item for system in systems for item in system.metrics]
    counts = [(sum(item.kind == kind for item in metrics), kind) for kind in KINDS]
    kind_counts = ", ".join(f"{number} {kind}" for number, kind in counts if number)
    readable_systems = [system for system in systems if system.state != "unread"]
    restriction = "" if len(readable_systems) == len(systems) else " in the readable systems"
    no_change = f"no metric differs{restriction}" if readable_systems else f"nothing differs{restriction}"
    places = {place for system in systems for item in _iter_report_changes(system) for place in item.touches}
    choices = [item.aspect for system in systems for item in system.choices]
    parts = [f"metrics{restriction}: {kind_counts}" if kind_counts else no_change]
    parts += [f"printed numbers that reports themselves change: {len(places)}"] if places else []
    parts += [f"choices that differ: {', '.join(choices)}"] if choices else []
    return "; ".join(parts)


def _iter_report_changes(system: SystemDiff) -> Iterator[ReportedChange]:
    """Yield the changes of a system that belong to no metric."""
    yield from system.elsewhere
    yield from (item for changes in system.reports.values() for item in changes)
