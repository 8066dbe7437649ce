"""Simulate runs in process, and reduce them to the batch cells that SQL supplies: `bench/simulation` without logs.

A run of 6 hosts and 1800 slots has about 85 blocks. Draws are those of the simulator, but a host draws nothing for what
only its log has.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from random import Random

from assay.judgement.batches import MOST_BATCHES, Cell, RunCells, Weighting, count_places
from tests.support.laboratory import ROOT

sys.path.append(str(ROOT / "bench"))

from simulation.chain import Block, Chain, Fetch
from simulation.resources import Resources
from simulation.shape import SLOT_LENGTH, Shape

HOSTS, SLOTS = 6, 1800
#: what of a resources line is a metric: its unit in the line; counters are differences of consecutive lines
GAUGES = {"heap": 2**20}
COUNTERS = {"cpu": 1, "gc": 1, "mut": 1, "alloc": 2**20, "minor": 1, "net_rd": 2**10}
MISSED_LINES = 0.007
LONGEST_LATENCY = 60_000_000  # nanoseconds
Row = tuple[int, str, int]
"""Time, cluster, value."""


class SlowChain(Chain):
    """A chain of which all delays are longer by a factor."""

    def __init__(self, shape: Shape, factor: float) -> None:
        super().__init__(shape)
        self.factor = factor

    def sample_span(self, least: float, most: float) -> int:
        return int(super().sample_span(least, most) * self.factor)


class DistantChain(Chain):
    """A chain over links of which each has a latency of its own, the same during a run."""

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        random = Random(f"{shape.seed}/links")
        pairs = [(one, other) for one in range(shape.hosts) for other in range(shape.hosts)]
        self.latencies = {pair: int(random.random() * LONGEST_LATENCY) for pair in pairs}

    def send_header(self, block: Block, sender: int, host: int) -> int:
        noticed = super().send_header(block, sender, host) + self.latencies[sender, host]
        block.headers[host][-1] = (noticed, sender)
        return noticed

    def fetch(self, block: Block, sender: int, host: int, noticed: int) -> None:
        super().fetch(block, sender, host, noticed)
        one = block.fetches[host]
        if one.peer != sender or noticed > min(block.headers[host])[0]:
            return
        delay = 2 * self.latencies[sender, host]
        block.fetches[host] = Fetch(sender, one.requested, one.fetched + delay, one.adopted + delay, one.length)
        block.announced[host] += delay


def simulate_metrics(seed: int) -> dict[str, RunCells]:
    """Simulate a run; return its 21 metrics."""
    return simulate_propagation(seed) | simulate_resources(seed)


def simulate_propagation(seed: int, factor: float = 1.0, is_distant: bool = False) -> dict[str, RunCells]:
    """Simulate the blocks of a run; return the 14 metrics of these."""
    shape = Shape(HOSTS, SLOTS, seed)
    chain = DistantChain(shape) if is_distant else SlowChain(shape, factor)
    chain.simulate_slots()
    rows: defaultdict[str, list[Row]] = defaultdict(list)
    for block in list_main_chain(chain):
        for metric, host, value in [*measure_forging(block), *measure_peers(block), *measure_adoption(block)]:
            rows[metric].append((block.slot, host, value))
    return {metric: rank_cells(items) for metric, items in rows.items()}


def simulate_resources(seed: int) -> dict[str, RunCells]:
    """Simulate the processes of a run; return the 7 metrics of these."""
    shape = Shape(HOSTS, SLOTS, seed)
    return {metric: time_cells(items, 0, SLOTS - 1) for metric, items in measure_resources(shape).items()}


def list_main_chain(chain: Chain) -> Iterator[Block]:
    """Yield the blocks from the tip down."""
    block = chain.tip
    while block:
        yield block
        block = block.parent


def measure_forging(block: Block) -> Iterator[tuple[str, str, int]]:
    """Yield the forging metrics of a block, whose grain has no cluster."""
    forging, announced = block.forging, block.announced[block.forger]
    yield "ticked", "", forging.ticked - forging.leading
    yield "snapshot", "", forging.snapshot - forging.ticked
    yield "forge", "", forging.forged - forging.snapshot
    yield "announce", "", announced - forging.forged
    yield "self_adoption", "", forging.adopted - forging.forged
    yield "announce_cum", "", announced - block.slot * SLOT_LENGTH


def measure_peers(block: Block) -> Iterator[tuple[str, str, int]]:
    """Yield the metrics of all observers of a block, and of the first."""
    valid = {host: fetch for host, fetch in block.fetches.items() if fetch.length == 1}
    noticed = {host: min(block.headers[host])[0] for host in valid}
    if noticed:
        yield "first_notice", "", min(noticed.values()) - block.slot * SLOT_LENGTH
    for host, fetch in valid.items():
        yield "request", str(host), fetch.requested - noticed[host]
        yield "fetch", str(host), fetch.fetched - fetch.requested
        yield "announce_peer", str(host), block.announced[host] - fetch.fetched
        yield "adoption", str(host), fetch.adopted - fetch.fetched


def measure_adoption(block: Block) -> Iterator[tuple[str, str, int]]:
    """Yield until when a block was adopted by a share of the hosts."""
    adopted = [at for host in range(HOSTS) if (at := block.find_adoption(host)) is not None]
    delays = sorted(at - block.slot * SLOT_LENGTH for at in adopted)
    for percent in (50, 80, 100):
        yield f"adoption_{percent}", "", delays[min(len(delays) * percent // 100, len(delays) - 1)]


def measure_resources(shape: Shape) -> dict[str, list[Row]]:
    """Return the resource metrics of all hosts, one sample for each slot with a line."""
    rows: dict[str, list[Row]] = {metric: [] for metric in (*GAUGES, *COUNTERS)}
    for host in range(shape.hosts):
        random = Random(f"{shape.seed}/{host}")
        resources = Resources(random)
        last = dict(resources.counters)
        for slot in range(shape.slots):
            if random.random() < MISSED_LINES:
                continue
            line = resources.advance(slot)
            for metric, unit in GAUGES.items():
                rows[metric].append((slot, str(host), line[metric] // unit))
            for metric, unit in COUNTERS.items():
                rows[metric].append((slot, str(host), (line[metric] - last[metric]) // unit))
            last = line
    return rows


def rank_cells(rows: Iterable[Row], scale: int = 1) -> RunCells:
    """Return the cells of pooled samples: places have equal numbers of distinct times."""
    items = list(rows)
    ranks = {time: rank for rank, time in enumerate(sorted({time for time, _, _ in items}))}
    places = count_places(len(ranks))
    return collect_cells(((ranks[time] * places // len(ranks), *rest) for time, *rest in items), len(ranks), scale)


def time_cells(rows: Iterable[Row], first: int, last: int) -> RunCells:
    """Return the cells of hosts with samples of their own: places have equal spans of time."""
    items = list(rows)
    units = len({time for time, _, _ in items})
    span = last + 1 - first
    placed = ((min((time - first) * MOST_BATCHES // span, MOST_BATCHES - 1), *rest) for time, *rest in items)
    return collect_cells(placed, units, 1, Weighting.PER_CLUSTER)


def collect_cells(
    rows: Iterable[tuple[int, str, int]], units: int, scale: int, weighting: Weighting = Weighting.POOLED
) -> RunCells:
    """Return the cells of samples with their places."""
    sums: defaultdict[tuple[int, str], list[int]] = defaultdict(lambda: [0, 0])
    for place, cluster, value in rows:
        cell = sums[place, cluster]
        cell[0] += value
        cell[1] += 1
    cells = tuple(Cell(place, cluster, *cell) for (place, cluster), cell in sums.items())
    return RunCells(cells, units, scale, weighting)
