"""Proposals: what sample files contain, and what to measure in them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.util.numbers import format_count
from assay_propose.names import is_actor
from assay_propose.units import RATE

KeyPath = tuple[str, ...]
#: of grains, which the data of a proposal have only if they are not empty
_OPTIONAL_MEMBERS = (
    "query", "is_split_by_two", "elsewhere", "origin", "excluded", "counter", "labels", "every_ns", "windows_of",
    "terms", "numbered_by", "partial", "buckets", "is_spread", "is_native",
)  # fmt: skip

HOST = "host"
"""The column of every event with the host of a record, which no field is called."""

UNIT_OF = "unit of "
"""How reasons of a source for the unit of a field begin, which its name does not tell."""

OTHER_LINES = "Lines that begin like those of an event but do not match it"
"""How the description of an event for such lines begins."""


@dataclass(frozen=True, slots=True)
class SampleFile:
    """A sample file: where it is, its folders below the one of all, its name, its first lines, whether it has more.

    `is_listed` is false for a file of a folder, which the user did not name. `run` is the run that the file belongs to,
    and `host` its host there. Its copy matches `glob`, and has its name or the neutral one.
    """

    path: Path
    folders: tuple[str, ...]
    name: str
    lines: tuple[str, ...]
    is_cut: bool
    is_listed: bool = True
    run: str = ""
    host: str = ""
    glob: str = ""
    neutral_name: str = ""

    @property
    def place(self) -> str:
        """Return its host and name."""
        return f"{self.host}/{self.name}" if self.host else self.name

    @property
    def copy_name(self) -> str:
        """Return the name of its copy."""
        return self.neutral_name or self.name


@dataclass(frozen=True, slots=True)
class RunProposal:
    """A run: its name, its files, and why these are the run if other runs could have them.

    Runs of one `version` are repeats.
    """

    name: str
    files: tuple[str, ...]
    reason: str
    version: str


@dataclass(frozen=True, slots=True)
class PassedOver:
    """Files of a folder that are no logs: their number, the first, and why."""

    count: int
    first: str
    reason: str


@dataclass(frozen=True, slots=True)
class Record:
    """A record: its host, its position in the log of the host, its name, its values by path."""

    host: str
    position: int
    name: str
    values: dict[KeyPath, object]

    @property
    def run(self) -> str:
        """Return its run, with which its host begins."""
        return self.host.partition("/")[0]


@dataclass(frozen=True, slots=True)
class FieldProposal:
    """A field of events: its name, paths and type, its unit as a word of the schema, and why it has this unit.

    `unit_of` is the field that names the unit of a record. If there is a field for each of several quantities, the path
    begins with its `quantity`.
    """

    name: str
    path: KeyPath
    type: str
    unit: str = "none"
    transform: str = ""
    reason: str = ""
    is_quantity: bool = False  # a number that is worth a metric
    unit_of: str = ""
    quantity: str = ""
    better: str = ""  # the direction that a unit such as `B/op` tells
    no_values: tuple[str, ...] = ()  # texts that records have in place of a number
    kind: str = ""  # the word for a number that is a total or an average since a start

    @property
    def place(self) -> KeyPath:
        """Return where records have it."""
        return self.path[1:] if self.quantity else self.path


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Records of an event that no metric counts: those with one of some texts in a field, or a text like a pattern."""

    field: str
    texts: tuple[str, ...]
    pattern: str
    count: int
    reason: str

    def has(self, value: object) -> bool:
        """Return whether records with a value are excluded."""
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return text in self.texts or bool(self.pattern and re.fullmatch(self.pattern, text))

    def describe(self) -> str:
        """Return a sentence about them."""
        texts = f"`{self.pattern}`" if self.pattern else ", ".join(f"`{text}`" for text in self.texts)
        verb = "is" if self.count == 1 else "are"
        return f"{format_count(self.count, 'record')} with {texts} in `{self.field}` {verb} left out: {self.reason}"


@dataclass(frozen=True, slots=True)
class EventProposal:
    """An event: its name, the names of its records, how many there are, its fields and the optional ones of these."""

    name: str
    names: tuple[str, ...]
    count: int
    fields: tuple[str, ...]
    optional: tuple[str, ...]
    ruled_out: KeyPath = ()  # records with anything at this path are not of the event
    doc: str = ""
    excluded: tuple[Exclusion, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Records of one name, or lines of one pattern, that no event has: how many, and why."""

    name: str
    count: int
    reason: str


@dataclass(frozen=True, slots=True)
class MalformedInstants:
    """Values that cannot be parsed as instants: the path, how many of how many values, the place of the first."""

    path: KeyPath
    count: int
    size: int
    first: str

    def describe(self) -> str:
        """Return a sentence about them."""
        return (
            f"`{'.'.join(self.path)}`: {self.size - self.count} of {self.size} are instants; first other: {self.first}"
        )


@dataclass(frozen=True, slots=True)
class SourceProposal:
    """A source: the files that it reads, how it reads a record, its fields and events."""

    name: str
    kind: str
    files: tuple[str, ...]
    hosts: str
    logs: tuple[str, ...]
    format: str  # the known format, or empty
    time: KeyPath
    or_time: tuple[KeyPath, ...]
    time_form: str
    zone: str
    line: str
    body: KeyPath
    lookup: KeyPath
    records: int
    fields: tuple[FieldProposal, ...]
    events: tuple[EventProposal, ...]
    left_out: tuple[LeftOut, ...]  # records that no event has, the most frequent first
    is_cut: bool  # whether a file has more lines than the proposal counts
    reasons: tuple[tuple[str, str], ...]  # member of the source, why it has its value
    subject: str = ""  # what events without names are about: the name of the logs, or of the workspace
    malformed: MalformedInstants | None = None
    ignored: tuple[
        str, ...
    ] = ()  # names of no interest: declared ones without records, or those of lines without an event
    notes: tuple[str, ...] = ()  # what of the files is not read
    begins: str = ""  # the first column of a header below other lines
    broken: Fraction = Fraction(0)  # share of the records of a host that are malformed, which a build tolerates

    @property
    def left_out_count(self) -> int:
        """Return how many records no event has."""
        return sum(item.count for item in self.left_out)

    @property
    def is_nameless(self) -> bool:
        """Return whether each line is of one event. Those that are left out lack an instant, and are malformed."""
        return SOURCE_KINDS[self.kind].has_lookups and not self.lookup

    def find_field(self, name: str) -> FieldProposal:
        """Return a field by its name."""
        return next(item for item in self.fields if item.name == name)

    def find_event(self, name: str) -> EventProposal:
        """Return an event by its name."""
        return next(item for item in self.events if item.name == name)


@dataclass(frozen=True, slots=True)
class MetricProposal:
    """A metric of a grain: the time between two events, a field of one, or how many records a second has."""

    id: str
    name: str
    unit: str
    doc: str
    start: str = ""
    end: str = ""
    event: str = ""
    field: str = ""
    where: tuple[str, str] = ("", "")  # a field of the event and the text that it has, of failures if it `is_failure`
    better: str = "neither"
    from_start: str = ""  # a field with the duration of the step that ends at `start`: the time begins at its beginning
    is_failure: bool = False  # whether it is the share of failures: by `where`, else by statuses of HTTP in the field
    since: str = ""  # the field with the instant from which on the time to that in `field` is measured
    centile: float = 0.0  # of the histogram of the grain, or the share of hosts that have the event
    per: str = ""  # a field with the number of pieces of work that the field is the total of

    @property
    def is_error(self) -> bool:
        """Whether failures have any text but those of the pattern in `where`, of which the first is empty."""
        return self.is_failure and bool(self.where[0]) and self.where[1][:1] in ("", "|")

    @property
    def is_rate(self) -> bool:
        """Whether it is how many records of the grain a second has."""
        return self.unit.startswith(RATE) and not self.event


@dataclass(frozen=True, slots=True)
class DimensionProposal:
    """A field with few texts, by which metrics of a grain may be split, and the event whose record it is read from.

    `value` is its most frequent value, as text, `limit` the number of values of a parameter that has more than a
    section shows by itself.
    """

    field: str
    event: str
    value: str
    limit: int = 0
    is_same_work: bool = False  # whether it only numbers repetitions


@dataclass(frozen=True, slots=True)
class RepeatedEvent:
    """An event with more records than keys: the numbers of both, and which record of a key counts.

    Times end at the one that `pick` names: `first` or `last`. They begin at the first of copies, else at the last
    before their end.
    """

    event: str
    records: int
    keys: int
    pick: str
    has_copies: bool

    def describe(self, key: str) -> str:
        """Return a sentence about it."""
        counting = (
            "the first record of each counts"
            if self.has_copies
            else f"times begin at the last before their end, and end at the {self.pick} of each"
        )
        return f"`{self.event}`: {self.records} records, {self.keys} values of `{key}`; {counting}"


@dataclass(frozen=True, slots=True)
class GrainProposal:
    """A grain: a row for each value of the key field on a host, in any of its events, or for each record without a key.

    Rows of hosts lack the events `elsewhere`, of which other hosts have the records; many rows lack those in `partial`.
    The event `origin` is that of any host, and has no rows of its own.
    """

    name: str
    source: str
    key: str
    events: tuple[str, ...]
    metrics: tuple[MetricProposal, ...]
    reason: str
    is_timeless: bool = False  # its records have no instants
    title: str = ""
    is_main: bool = True  # whether it has a section of its own
    dimensions: tuple[DimensionProposal, ...] = ()
    repeated: tuple[RepeatedEvent, ...] = ()
    step_column: str = ""  # the column with the name of the event, if it has the records of several
    query: str = ""  # the SQL of its rows, if they are no records
    numbered_by: str = ""  # the column that numbers its rows of one record
    is_split_by_two: bool = False  # whether its section is split by its first two dimensions
    elsewhere: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    origin: str = ""
    excluded: tuple[Exclusion, ...] = ()  # records of its event that its metrics leave out
    counter: str = ""  # the field whose increase per second it measures, of each series of these labels
    is_spread: bool = False  # whether it has the delays of its event on each host, since the first one
    buckets: str = ""  # the field with the bounds of a histogram, of which it has percentiles in each step
    is_native: bool = False  # whether the bounds of the histogram are powers
    labels: tuple[str, ...] = ()
    every_ns: int = 0  # from sample to sample of a series, or from step to step of a histogram
    windows_of: str = ""  # the grain of the same steps whose relation it has
    terms: tuple[str, ...] = ()  # the grains of rates of which it has the quotient

    @property
    def events_of_rows(self) -> tuple[str, ...]:
        """Return the events that its rows are made from."""
        return tuple(name for name in self.events if name != self.origin)

    def describe_repeated(self) -> tuple[str, ...]:
        """Return a sentence about each event of which not all records of a key count."""
        return tuple(item.describe(self.key) for item in self.repeated)

    @property
    def split(self) -> tuple[DimensionProposal, ...]:
        """Return the dimensions that a section of its own splits the metrics by: the first that names no process.

        Those that only number repetitions are none of them.
        """
        named = [item for item in self.dimensions
                 if item.field == HOST or not (item.is_same_work or is_actor((item.field,)))]  # fmt: skip
        return tuple(named[: 2 if self.is_split_by_two else 1])

    def find_attempts(self) -> frozenset[str]:
        """Return the events of which times begin at the last record before their end."""
        return frozenset(item.event for item in self.repeated if not item.has_copies)

    @property
    def is_of_key(self) -> bool:
        """Whether it has a row for each value of its key, with the first record of each event."""
        is_other = self.is_timeless or self.origin or self.numbered_by or self.query or self.step_column
        return bool(self.key) and not (is_other or any(item.pick == "last" for item in self.repeated))

    @property
    def is_of_records(self) -> bool:
        """Whether it has a row for each record of one event, at the instant of the record."""
        return not self.key and not self.is_timeless and not self.is_of_seconds

    @property
    def is_of_seconds(self) -> bool:
        """Whether it has a row for each second or step of a run."""
        return bool(self.terms or self.buckets) or any(metric.is_rate for metric in self.metrics)


@dataclass(frozen=True, slots=True)
class AlternatingPair:
    """Two events without a common key that take turns: how often the first, and how often the second follows it."""

    start: str
    end: str
    count: int
    starts: int

    def describe(self) -> str:
        """Return a sentence about them."""
        pairs = (
            f"{self.count} pairs" if self.count == self.starts else f"{self.count} of {self.starts} starts have an end"
        )
        return f"`{self.start}` and `{self.end}` take turns ({pairs}), without a common key"


@dataclass(frozen=True, slots=True)
class RunConstant:
    """A field of an event that has one value in each run, but not the same in all: no result, but a fact of the run."""

    event: str
    field: str
    values: tuple[tuple[str, str], ...]  # the run and the value


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed system: its name, sources and grains."""

    system: str
    sources: tuple[SourceProposal, ...]
    grains: tuple[GrainProposal, ...]
    growing: tuple[tuple[str, str], ...]  # events and their numbers that only grow, which no metric measures
    runs: tuple[RunProposal, ...] = ()  # the baseline first
    baseline_reason: str = ""  # why it is the baseline, if not by its version
    repeats_reason: str = ""  # why runs are repeats, if it is not their names alone
    omitted: tuple[tuple[str, str], ...] = ()  # numbers that no metric measures, and why
    hosts: tuple[str, ...] = ()
    hosts_reason: str = ""  # where their names come from
    passed_over: tuple[PassedOver, ...] = ()
    alternating: tuple[AlternatingPair, ...] = ()
    constant: tuple[tuple[str, str], ...] = ()  # events and their fields that are always the same, without a metric
    run_constants: tuple[RunConstant, ...] = ()

    @property
    def metrics(self) -> Iterator[MetricProposal]:
        """Return the metrics of all grains."""
        return (metric for grain in self.grains for metric in grain.metrics)

    @property
    def repeats(self) -> dict[str, list[str]]:
        """Return the runs of each version; empty if each version has one."""
        names: dict[str, list[str]] = {}
        for run in self.runs:
            names.setdefault(run.version, []).append(run.name)
        return names if len(names) < len(self.runs) else {}

    @property
    def has_instants(self) -> bool:
        """Return whether any record has an instant."""
        return any(source.time or source.kind == "samples" for source in self.sources)

    @property
    def has_percentiles(self) -> bool:
        """Whether a grain has so many records of an event that their 99th percentile is not the greatest."""
        counts = {(source.name, event.name): event.count for source in self.sources for event in source.events}
        return any(counts.get((grain.source, name), 0) >= 100 for grain in self.grains for name in grain.events)

    def to_json(self) -> dict[str, Any]:
        """Return the proposal as data."""
        data = asdict(self)
        for grain in data["grains"]:
            for name in _OPTIONAL_MEMBERS:
                if not grain[name]:
                    del grain[name]
            for metric in grain["metrics"]:
                for name in ("since", "per", "centile"):
                    if not metric[name]:
                        del metric[name]
            for dimension, name in itertools.product(grain["dimensions"], ("limit", "is_same_work")):
                if not dimension[name]:
                    del dimension[name]
        for source in data["sources"]:
            del source["broken"]
            if not source["notes"]:
                del source["notes"]
            for event in source["events"]:
                if not event["excluded"]:
                    del event["excluded"]
            for field, name in itertools.product(
                source["fields"], ("unit_of", "quantity", "better", "no_values", "kind")
            ):
                if not field[name]:
                    del field[name]
        return {key: data[key] for key in data if data[key] or key not in ("baseline_reason", "repeats_reason")}
