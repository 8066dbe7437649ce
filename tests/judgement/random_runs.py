"""Draw runs as batch cells: any number of hosts, units of time and samples, with levels of their own for hosts."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from assay.judgement.batches import Cell, RunCells, Weighting, count_places

HOSTS = ("a", "b", "c", "d", "e")


def draw_run(
    seed: int,
    units: int,
    hosts: Sequence[str] = ("",),
    weighting: Weighting = Weighting.POOLED,
    scale: int = 1000,
    range_of_levels: float = 1.0,
) -> RunCells:
    """Draw a run whose values are around 10; each host has one to three samples at each place.

    Values have a standard deviation of 1, the levels of hosts differ by at most `range_of_levels`.
    """
    random = Random(seed)
    levels = {host: 10 + range_of_levels * random.random() for host in hosts}
    cells = []
    for place in range(count_places(units)):
        for host in hosts:
            count = random.randint(1, 3)
            total = sum(round(random.gauss(levels[host], 1) * scale) for _ in range(count))
            cells.append(Cell(place, host, total, count))
    return RunCells(tuple(cells), units, scale, weighting)
