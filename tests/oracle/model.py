"""Inputs and outputs of the oracle: plain data, no behaviour.

Times are integers: instants in nanoseconds since 1970-01-01 UTC, durations in nanoseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

Number = int | float


class RefusalError(Exception):
    """The run cannot be analysed; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One filter condition: its name in filter files and its argument (None for those without)."""

    name: str
    argument: int | float | None = None


@dataclass(frozen=True, slots=True)
class Genesis:
    """Parameters of genesis: start and slot length (ns), slots an epoch, k, f, block size limit (bytes)."""

    system_start: int
    slot_length: int
    epoch_length: int
    security_param: int
    active_slots_coeff: float
    max_block_body_size: int


class Event(NamedTuple):
    """A recognised log object: the event's name, its instant (ns) and its fields under our names."""

    name: str
    instant: int
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HostLog:
    """One host's log: its recognised events in log order and the counts over all its lines.

    `first_instant` and `last_instant` are the instants (ns) of its first and last log object, recognised or not.
    """

    host: str
    events: tuple[Event, ...]
    lines: int
    objects: int
    quarantined: int
    first_instant: int
    last_instant: int


@dataclass(frozen=True, slots=True)
class Run:
    """A run directory, read: genesis, the `.meta` object, the logs ordered by host name as text."""

    genesis: Genesis
    meta: Mapping[str, Any]
    logs: tuple[HostLog, ...]


class Centile(NamedTuple):
    """The value at centile `share`; over a cluster the hosts' median, with the least and greatest host."""

    share: float
    value: Number
    low: Number | None
    high: Number | None


@dataclass(frozen=True, slots=True)
class Spread:
    """Of a cluster's centile: mean, deviation and order statistics (centile, value) over the hosts."""

    mean: float
    stddev: float
    samples: tuple[tuple[float, Number], ...]


@dataclass(frozen=True, slots=True)
class Distribution:
    """One metric of one run, in the metric's unit (durations: seconds).

    `average_published` is the summary named `published`, `average_hosts` the mean of hosts; both are the
    plain mean for block level metrics. `spreads` (cluster only) goes with `centiles`, one for each.
    """

    size: int
    average_published: float
    average_hosts: float
    median: Number
    stddev: float
    min: Number
    max: Number
    centiles: tuple[Centile, ...]
    is_cluster: bool
    spreads: tuple[Spread, ...] = ()


@dataclass(frozen=True, slots=True)
class Observation:
    """A host's view of another's block; durations in ns, from the document's "from" of each."""

    host: str
    noticed: int
    requested: int
    fetched: int
    announced: int | None
    sending: int | None
    adopted: int | None
    chain_delta: int
    valid: bool


@dataclass(frozen=True, slots=True)
class BlockRow:
    """One block of the main chain.

    `durations`: forger metric id -> ns (None: an end is missing). `adoption_delays`: ns from the slot's
    start, ascending. `acceptance`: every condition with its verdict, in the order of the filter.
    """

    block_no: int
    block: str
    previous: str
    slot: int
    epoch: int
    safe_interval: int
    forger: str
    size: int
    chain_delta: int
    durations: Mapping[str, int | None]
    other_blocks: tuple[str, ...]
    observations: tuple[Observation, ...]
    adoption_delays: tuple[int, ...]
    acceptance: tuple[tuple[Condition, bool], ...] = ()

    @property
    def is_accepted(self) -> bool:
        """All conditions hold."""
        return all(verdict for _, verdict in self.acceptance)


@dataclass(frozen=True, slots=True)
class HostRow:
    """Counts of one host: lines, log objects, recognised and quarantined ones, blocks, analysed slots."""

    host: str
    lines: int
    objects: int
    recognised: int
    quarantined: int
    first: int
    last: int
    blocks_forged: int
    blocks_chained: int
    blocks_accepted: int
    slots: int
    first_slot: int
    last_slot: int


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything computed from a run under a filter.

    `metrics`: id -> distribution (block level, and machine level over the hosts); `host_metrics`: host ->
    id -> the host's own distribution; `rejections`: condition -> blocks that failed it; `manifest`: cell
    label -> uncut value; `chart_points`: id -> rows of texts (centile, value; machine metrics also lowest,
    highest, value - and + deviation).
    """

    metrics: Mapping[str, Distribution]
    chain: tuple[BlockRow, ...]
    manifest: Mapping[str, Any]
    chart_points: Mapping[str, list[list[str]]]
    hosts: tuple[HostRow, ...]
    host_metrics: Mapping[str, Mapping[str, Distribution]]
    rejections: Mapping[Condition, int]
