"""Find the hosts whose clock went back within a log: times between records before and after it are wrong."""

from __future__ import annotations

import glob
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import duckdb
from sqlglot import exp

from assay.engine.connection import open_shared_cursor
from assay.engine.mount import EVENTS
from assay.ingest.chunks import FILE_STEP
from assay.lang.model.package import Metric
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.quality.extents import format_seconds, list_extents
from assay.quality.finding import CLOCK_STEP, Finding, format_metric_list, list_hosts
from assay.quality.value_events import ValueEvents
from assay.runs.model import IngestedRun, Part
from assay.sql import backward_steps, dialect
from assay.sql.dialect import build_scan
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


def find_clock_steps(
    ingested_run: IngestedRun,
    metrics: Sequence[Metric],
    value_events: ValueEvents,
    readers: Mapping[str, Sequence[str]],
) -> tuple[tuple[Finding, ...], tuple[Finding, ...], frozenset[str]]:
    """Return findings on clocks that went back, notes on those that no time depends on, and metrics not to judge.

    `readers` are the ids of the metrics that read each event.
    """
    findings: list[Finding] = []
    notes: list[Finding] = []
    impossible: set[str] = set()
    for part in ingested_run.parts:
        events = [name for name in readers if name in part.facts.by_host]
        steps = _measure_steps(part, events)
        if not steps:
            continue
        reading = {metric for name in events for metric in readers[name]}
        timed = tuple(item.id for item in metrics if value_events.list_timed_events(item) & {*events})
        named = timed or tuple(item.id for item in metrics if item.id in reading)
        (findings if timed else notes).append(_describe_steps(steps, named, are_timed=bool(timed)))
        if _is_much(steps, part):
            impossible.update(timed)
    return tuple(findings), tuple(notes), frozenset(impossible)


def _describe_steps(steps: Sequence[ClockSteps], metrics: tuple[str, ...], *, are_timed: bool) -> Finding:
    hosts = tuple(dict.fromkeys(item.host for item in steps))
    sizes = [size for item in steps for size in item.sizes]
    whose = f"the clock of {list_hosts(hosts)}" if any(hosts) else "the clock of the log"
    size = f"{'' if len(sizes) == 1 else 'up to '}{format_seconds(max(sizes))}"
    times = "" if len(sizes) == 1 else f", {len(sizes)} times in all"
    effect = "times across it are too short" if are_timed else "no time is measured across it"
    message = f"{whose} went back by {size}{times}{format_metric_list(metrics)}: {effect}."
    return Finding(CLOCK_STEP, message, metrics, hosts if any(hosts) else ())


def _is_much(steps: Sequence[ClockSteps], part: Part) -> bool:
    """Return whether times are too short on average: by the share of all time that passed twice."""
    lost = sum(size for item in steps for size in item.sizes)
    covered = sum(item.duration_ns for item in list_extents(part.facts.logs))
    return lost > MOST_OF_TIME * (covered + lost)


def _measure_steps(part: Part, events: Sequence[str]) -> list[ClockSteps]:
    """Return the steps back in the files of a source; none if it is no log with instants."""
    patterns = [f"{glob.escape(str(part.events / EVENTS / name))}/*.parquet" for name in events]
    if not patterns or not SOURCE_KINDS[part.source.kind].is_log or not part.source.time_paths:
        return []
    # a step is between two blocks, or within one: then up to two pairs of blocks show it
    records = [dialect.select(exp.Star()).from_(build_scan(pattern)) for pattern in patterns]
    query = backward_steps.select_blocks(records, FILE_STEP, LEAST_NS, 2 * MOST_STEPS)
    try:
        with open_shared_cursor() as connection:
            rows = connection.execute(dialect.to_sql(query)).fetchall()
    except duckdb.Error:  # events are not needed, and may be gone, if their tables are cached
        return []
    steps: list[ClockSteps] = []
    for (host, _), items in itertools.groupby(rows, key=lambda row: row[:2]):
        sizes = find_steps([Block(records, first, last) for *_, records, first, last in items])
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
