"""Describe a proposal in lines of text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from assay.util.escape import escape_text, truncate
from assay.util.numbers import format_count
from assay_propose.alternation import GUIDE
from assay_propose.model import OTHER_LINES, UNIT_OF, Proposal, RunConstant, SourceProposal
from assay_propose.quantities import lacks_unit

MAX_EVENTS = 10
MAX_NAMES, WIDTH = 3, 40
MAX_FILES = 6
MAX_RUNS = 2
KEEP_APART = "to compare each run by itself, delete the table `runs` of assay.toml"


def describe_proposal(proposal: Proposal, other_readings: Sequence[str] = ()) -> Iterator[str]:
    """Yield lines that say what the logs contain and what the specs measure; `other_readings` are lines, too."""
    logs = sum(len(run.files) for run in proposal.runs)
    if logs > 1:
        hosts = f" of {format_count(len(proposal.hosts), 'host')}" if proposal.hosts else ""
        yield f"{logs} logs are {format_count(len(proposal.runs), 'run')}{hosts}"
    yield from (f"  {line}" for line in other_readings)
    if proposal.runs[0].reason:
        word = "runs" if len(proposal.runs) > 1 else "run"
        yield f"{word} {', '.join(run.name for run in proposal.runs)}: {proposal.runs[0].reason}"
    if proposal.baseline_reason:
        yield f"baseline: {proposal.runs[0].version} ({proposal.baseline_reason})"
    yield from _describe_repeats(proposal)
    if proposal.hosts:
        yield f"hosts {', '.join(proposal.hosts)}: {proposal.hosts_reason}"
    for item in proposal.passed_over:
        yield (
            f"no logs: {item.count} files such as {item.first}: {item.reason}"
            if item.count > 1
            else (f"no log: {item.first}: {item.reason}")
        )
    for source in proposal.sources:
        yield from _describe_source(source)
    for grain in proposal.grains:
        yield f"{grain.name}: {grain.reason}"
        yield from (f"  {line}" for line in grain.describe_repeated())
        yield from (f"  {item.describe()}" for item in grain.excluded)
        yield f"  metrics {', '.join(metric.id for metric in grain.metrics)}"
        if grain.dimensions:
            yield f"  dimensions {', '.join(item.field for item in grain.dimensions)}"
    yield from _list_unknown_units(proposal)
    for pair in proposal.alternating:
        yield f"no metric of the time between: {pair.describe()}; `latest before` measures it: {GUIDE}"
    names_by_reason: dict[str, list[str]] = defaultdict(list)
    for name, reason in proposal.omitted:
        names_by_reason[reason].append(name)
    for reason, omitted in names_by_reason.items():
        yield f"no metrics of {', '.join(omitted)}: {reason}"
    if proposal.growing:
        yield f"no metrics of numbers that only grow: {_list_fields(proposal.growing)}"
    if proposal.constant:
        yield f"no metrics of fields that are always the same: {_list_fields(proposal.constant)}"
    if proposal.run_constants:
        facts = "; ".join(map(escape_text, _describe_run_constants(proposal.run_constants)))
        yield f"no metrics of constants of runs, which may be facts of their `meta.json`: {facts}"


def _describe_repeats(proposal: Proposal) -> Iterator[str]:
    for version, runs in proposal.repeats.items():
        reason = proposal.repeats_reason or f"their names are {version} with a number"
        yield f"repeats {', '.join(runs)}: {reason}, so they are runs of one version"
    if proposal.repeats:
        yield f"  {KEEP_APART}"


def _describe_source(source: SourceProposal) -> Iterator[str]:
    """Yield lines that say what a source reads, and what not."""
    word = f"{source.kind}, {source.format}" if source.format else source.kind
    part = "the first lines of " if source.is_cut else ""
    yield f"{source.name}: {word}, {source.records} records in {part}{_list_some(source.files)}"
    yield from (f"  {escape_text(note)}" for note in source.notes[:MAX_FILES])
    if len(source.notes) > MAX_FILES:
        yield f"  and {len(source.notes) - MAX_FILES} more such lines in the comments of the source"
    for event in sorted(source.events, key=lambda item: -item.count)[:MAX_EVENTS]:
        yield f"  event {event.name}: {event.count}, fields {', '.join(event.fields) or 'none'}"
        if event.doc.startswith(OTHER_LINES):
            yield f"    {event.doc[:1].lower()}{event.doc[1:]}"
    if len(source.events) > MAX_EVENTS:
        yield f"  and {len(source.events) - MAX_EVENTS} more events"
    yield from (f"  {name}: {reason}" for name, reason in source.reasons if name.startswith(UNIT_OF))
    yield from (f"  {reason}" for name, reason in source.reasons if name == "time" and "read as UTC" in reason)
    if source.malformed:
        yield f"  {source.malformed.describe()}"
    if source.left_out:
        yield f"  no event: {source.left_out_count} records, {_describe_left_out(source)}"
        if source.line and source.ignored:
            yield "    `ignored` of the source lists them, so that builds do not warn of them"


def _list_unknown_units(proposal: Proposal) -> Iterator[str]:
    """Yield a line that names the fields of times without a unit, and says where to write it."""
    sources = {source.name: source for source in proposal.sources}
    fields = {
        metric.field: None
        for grain in proposal.grains
        for metric in grain.metrics
        if lacks_unit(sources[grain.source], metric)
    }
    if fields:
        yield (
            f"unit unknown: {', '.join(fields)}: for milliseconds, write `E.inUnit S.unit.millisecond (...)` around it"
            " in events.dhall, and `unit = S.unit.millisecond` in metrics.dhall"
        )


def _describe_run_constants(constants: Sequence[RunConstant]) -> Iterator[str]:
    """Yield fields with the events that have the same values of it, and the values of the first runs."""
    events: dict[tuple[str, tuple[tuple[str, str], ...]], list[str]] = defaultdict(list)
    for item in constants:
        events[item.field, item.values].append(item.event)
    for (field, values), names in events.items():
        texts = [f"{run} {value}" for run, value in values[:MAX_RUNS]]
        more = [f"and {format_count(len(values) - MAX_RUNS, 'more run')}"] if len(values) > MAX_RUNS else []
        yield f"{field} of {_name_events(names)} ({', '.join([*texts, *more])})"


def _name_events(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} events"


def _list_fields(pairs: Sequence[tuple[str, str]]) -> str:
    """Return fields with their event, or the number of their events."""
    events_by_field: dict[str, list[str]] = defaultdict(list)
    for event_name, field in pairs:
        events_by_field[field].append(event_name)
    return ", ".join(f"{field} of {_name_events(events)}" for field, events in events_by_field.items())


def _list_some(files: Sequence[str]) -> str:
    more = f" and {len(files) - MAX_FILES} more files" if len(files) > MAX_FILES else ""
    return ", ".join(files[:MAX_FILES]) + more


def _describe_left_out(source: SourceProposal) -> str:
    if source.is_nameless:
        return "malformed without an instant"
    names = [
        (truncate(escape_text(" ".join(item.name.split())), WIDTH), item.reason) for item in source.left_out[:MAX_NAMES]
    ]
    texts = [f"`{name}` ({reason})" if name else "those without a name" for name, reason in names]
    return f"such as {', '.join(texts)}"
