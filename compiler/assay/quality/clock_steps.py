"""Find the hosts whose clock went back within a log: times between records before and after it are wrong."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from assay.ingest.chunks import FILE_STEP
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.quality.extents import LogExtent, format_seconds
from assay.quality.finding import CLOCK_STEP, Finding, format_metric_list, list_hosts
from assay.runs.model import IngestedRun
from assay.sql import backward_steps
from assay.sql.backward_steps import FILE, FIRST, HOST, LAST, RECORDS
from assay.sql.codegen import Statement
from assay.util.time_units import SECOND

#: records may be out of order by this without any step: writers hold them back
LEAST_NS = 2 * SECOND
MOST_STEPS = 3  # in a file; one with more is out of order as a rule
#: a step is less than this share of the time since the step before: writers that hold back records alternate, each as
#: far back as the other came, and joined files begin anew
MOST_SHARE = 0.4
#: time that passes twice has about as many records both times
LEAST_RATIO = 1 / 3
#: and about twice as many in all as other time: where records were held back, all of them are as many as usual
LEAST_RECORDS, MOST_RECORDS = 1.5, 2.5
#: share of the time of all hosts from which on the steps change averages too much to judge them
MOST_OF_TIME = Fraction(1, 100)


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive records of a log: their number, and their least and greatest instant."""

    records: int
    first_ns: int
    last_ns: int


@dataclass(frozen=True, slots=True)
class ClockSteps:
    """The sizes of the steps back in the logs of a host."""

    host: str
    sizes: tuple[int, ...]


def list_clock_events(ingested_run: IngestedRun, events: Collection[str]) -> dict[str, list[str]]:
    """Return those of some events that a run has, by source; sources are logs with instants."""
    logs = [part for part in ingested_run.parts if SOURCE_KINDS[part.source.kind].is_log and part.source.time_paths]
    names = {part.source.name: [name for name in part.facts.by_host if name in events] for part in logs}
    return {source: items for source, items in names.items() if items}


def build_clock_statement(source: str, events: Sequence[str]) -> Statement:
    """Return the statement that finds the blocks of records of a source between which its clocks went back."""
    # a step is between two blocks, or within one: then up to two pairs of blocks show it
    query = backward_steps.select_blocks(events, FILE_STEP, LEAST_NS, 2 * MOST_STEPS)
    return Statement("count", get_clock_statement_name(source), query)


def get_clock_statement_name(source: str) -> str:
    """Return the name of the statement on the clocks of a source."""
    return f"clocks {source}"


def find_clock_steps(
    extents: Sequence[LogExtent],
    rows: Sequence[Mapping[str, Any]],
    timed: tuple[str, ...],
    reading: tuple[str, ...],
) -> tuple[Finding | None, bool]:
    """Return the finding on clocks of a source that went back, and whether times across it are too short to judge.

    `rows` are those of its statement, `timed` the metrics that measure times of its records, `reading` all that read
    them. Without a finding, the first is None.
    """
    steps = _read_steps(rows)
    if not steps:
        return None, False
    return _describe_steps(steps, timed or reading, are_timed=bool(timed)), bool(timed) and _is_much(steps, extents)


def _describe_steps(steps: Sequence[ClockSteps], metrics: tuple[str, ...], *, are_timed: bool) -> Finding:
    hosts = tuple(dict.fromkeys(item.host for item in steps))
    sizes = [size for item in steps for size in item.sizes]
    whose = f"the clock of {list_hosts(hosts)}" if any(hosts) else "the clock of the log"
    size = f"{'' if len(sizes) == 1 else 'up to '}{format_seconds(max(sizes))}"
    times = "" if len(sizes) == 1 else f", {len(sizes)} times in all"
    effect = "times across it are too short" if are_timed else "no time is measured across it"
    message = f"{whose} went back by {size}{times}{format_metric_list(metrics)}: {effect}."
    return Finding(CLOCK_STEP, message, metrics, hosts if any(hosts) else ())


def _is_much(steps: Sequence[ClockSteps], extents: Sequence[LogExtent]) -> bool:
    """Return whether times are too short on average: by the share of all time that passed twice."""
    lost = sum(size for item in steps for size in item.sizes)
    covered = sum(item.duration_ns for item in extents)
    return lost > MOST_OF_TIME * (covered + lost)


def _read_steps(rows: Sequence[Mapping[str, Any]]) -> list[ClockSteps]:
    """Return the steps back in the files of a source, by host."""
    steps: list[ClockSteps] = []
    for (host, _), items in itertools.groupby(rows, key=lambda row: (row[HOST], row[FILE])):
        sizes = find_steps([Block(int(row[RECORDS]), int(row[FIRST]), int(row[LAST])) for row in items])
        steps += [ClockSteps(str(host or ""), sizes)] if sizes else []
    return steps


def find_steps(blocks: Sequence[Block]) -> tuple[int, ...]:
    """Return the sizes of the steps back in the blocks of a file, in order; none if its disorder has other causes."""
    places = [
        index
        for index, (block, after) in enumerate(zip(blocks, blocks[2:], strict=False))
        if block.first_ns - after.last_ns > LEAST_NS
    ]
    spans: list[tuple[int, int]] = []  # the last block before each step, and the first one after it
    for index in places:
        if spans and index < spans[-1][1]:
            spans[-1] = spans[-1][0], index + 2
        else:
            spans.append((index, index + 2))
    if len(spans) > MOST_STEPS:
        return ()
    starts, ends = [0, *(after for _, after in spans)], [*(before + 1 for before, _ in spans[1:]), len(blocks)]
    parts = zip(spans, starts, ends, strict=False)
    sizes = [_measure_step(blocks[start : before + 1], blocks[before + 1 : after], blocks[after:end])
             for (before, after), start, end in parts]  # fmt: skip
    return tuple(sizes) if all(sizes) else ()


def _measure_step(before: Sequence[Block], between: Sequence[Block], after: Sequence[Block]) -> int:
    """Return by how much a clock went back `between` blocks; 0 if it did not.

    A clock that was set back goes on from there: until it comes to where it was, it passes the same time again, without
    a gap and with as many records as before. Records that a writer held back end with a gap, or were missing before.
    """
    latest = max(item.last_ns for item in (*before, *between))
    size = latest - min(item.first_ns for item in (*between, *after[:1]))
    begin = min(item.first_ns for item in before)
    if size >= MOST_SHARE * (latest - begin) or max(item.last_ns for item in after) < latest + size / 2:
        return 0
    now = after[0].first_ns
    for item in after:
        if item.last_ns - now > size / 2:
            return 0
        now = max(now, item.last_ns)
        if now >= latest:
            break
    once, again = (_count_records(items, latest - size, latest) for items in (before, after))
    total = once + again + sum(item.records for item in between)
    usual = max(_count_records(before, latest - 2 * size, latest - size),
                2 * _count_records(after, latest, latest + size // 2))  # fmt: skip
    is_doubled = LEAST_RECORDS * usual < total < MOST_RECORDS * usual
    return size if is_doubled and once > LEAST_RATIO * again and again > LEAST_RATIO * once else 0


def _count_records(blocks: Sequence[Block], begin_ns: int, end_ns: int) -> float:
    """Return the number of records between instants; those of a block are spread evenly."""
    return sum(
        item.records
        * max(0, min(item.last_ns + 1, end_ns) - max(item.first_ns, begin_ns))
        / (item.last_ns + 1 - item.first_ns)
        for item in blocks
    )
