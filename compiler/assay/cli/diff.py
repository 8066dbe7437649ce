"""`assay diff`: what differs between two states of the specs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from assay.cli import output
from assay.cli.options import system_option, working
from assay.util.escape import escape_text
from assay.util.numbers import format_count

if TYPE_CHECKING:
    from assay.diff.changes import ReportedChange
    from assay.diff.specs import MetricChange, SystemDiff
    from assay.explain.facts import Appearance

#: so many characters of a value are printed, and so many places that a change touches
WIDEST, PLACES = 160, 6


@click.command()
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@system_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@click.pass_context
def diff(context: click.Context, before: str, after: str, system: str | None, form: str) -> int:
    """Compare the specs of A and B, and the options and data of two builds.

    A and B are folders with specs/, builds (their folders, or their provenance.json), or git revisions. Exits with
    status 3 if specs or options differ, and 1 if a system could not be read.
    """
    from assay.app.diff import compare, states
    from assay.util.diagnostics import DIFFERENCE, AssayError

    with working(context) as session:
        found = compare(*states(session, before, after, system))
    output.warnings(found.warnings)
    if form == "json":
        output.data([_data(item) for item in found.systems])
    else:
        for line in _lines(found.systems):
            output.line(line)
    if found.unread:
        raise AssayError(found.unread)
    return DIFFERENCE if any(item.differs for item in found.systems) else 0


def _data(found: SystemDiff) -> dict[str, Any]:
    """As plain data."""
    return dataclasses.asdict(found)


def _lines(found: Sequence[SystemDiff]) -> Iterator[str]:
    from assay.diff.specs import KINDS

    told_before: set[ReportedChange] = set()
    for system in found:
        if system.state == "unread":
            yield f"{system.system}: not compared, for it could not be read: {escape_text(system.unread)}"
            continue
        if system.state != "both":
            yield f"{system.system}: the system is {system.state}"
            continue
        yield system.system
        for kind in KINDS:
            of_kind = [item for item in system.metrics if item.kind == kind]
            if of_kind:
                yield f"  {kind}"
                for metric in of_kind:
                    yield from _metric(metric, told_before)
        for name, told in system.reports.items():
            yield f"  report {name}"
            yield from (line for item in told for line in format_change(item, 4))
        if system.elsewhere:
            yield "  elsewhere"
            yield from (line for item in system.elsewhere for line in format_change(item, 4))
        for name, told in (("choices of the builds", system.choices), ("made of other data or tools", system.data)):
            if told:
                yield f"  {name}"
                yield from (line for item in told for line in format_change(item, 4))
    yield _summary(found)


def _metric(metric: MetricChange, told_before: set[ReportedChange]) -> Iterator[str]:
    """A metric; long changes that were told of another metric are told once."""
    was = f" (was {metric.was})" if metric.was else ""
    yield f"    {metric.metric}{was}" + (f": {escape_text(metric.name)}" if metric.name else "")
    for item in metric.told:
        if item.lines and item in told_before:
            yield f"      {item.aspect}: {escape_text(item.place)}: as above"
        else:
            yield from format_change(item, 6)
        told_before.add(item)
    yield from _touches(metric.touches, 6)


def _touches(places: Sequence[Appearance], indent: int) -> Iterator[str]:
    blank = " " * indent
    for place in places[:PLACES]:
        where = " / ".join(part for part in (place.report, place.section or f"{place.kind}s", place.label) if part)
        yield f"{blank}touches {escape_text(where)}"
    if len(places) > PLACES:
        yield f"{blank}and {format_count(len(places) - PLACES, 'more place')}"


def format_change(item: ReportedChange, indent: int) -> Iterator[str]:
    blank = " " * indent
    if item.lines:
        yield f"{blank}{item.aspect}: {escape_text(item.place)}"
        yield from (f"{blank}  {escape_text(line)}" for line in item.lines)
    else:
        before, after = (_short(text) if text else "nothing" for text in (item.before, item.after))
        head = item.aspect if item.place == item.aspect else f"{item.aspect}: {escape_text(item.place)}"
        yield f"{blank}{head}: {before} -> {after}"
    yield from _touches(item.touches, indent + 2)


def _short(text: str) -> str:
    shown = escape_text(text)
    return shown if len(shown) <= WIDEST else shown[: WIDEST - 1] + "…"


def _summary(found: Sequence[SystemDiff]) -> str:
    """How many metrics of each kind, and how many printed numbers are touched by what reports themselves say."""
    from assay.diff.specs import KINDS

    metrics = [item for system in found for item in system.metrics]
    counts = [(sum(item.kind == kind for item in metrics), kind) for kind in KINDS]
    told = ", ".join(f"{number} {kind}" for number, kind in counts if number)
    read = [system for system in found if system.state != "unread"]
    of = "" if len(read) == len(found) else " of what could be read"
    none = f"no metric differs{of}" if read else f"nothing differs{of}"
    places = {place for system in found for item in _of_reports(system) for place in item.touches}
    choices = [item.aspect for system in found for item in system.choices]
    parts = [f"metrics{of}: {told}" if told else none]
    parts += [f"printed numbers that reports themselves change: {len(places)}"] if places else []
    parts += [f"choices that differ: {', '.join(choices)}"] if choices else []
    return "; ".join(parts)


def _of_reports(system: SystemDiff) -> Iterator[ReportedChange]:
    """The changes of a system that are of no metric."""
    yield from system.elsewhere
    yield from (item for of in system.reports.values() for item in of)
