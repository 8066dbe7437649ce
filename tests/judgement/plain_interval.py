"""Compute the variance of a change as docs/judgement-method.md has it: in plain floats, over batches and hosts."""

from __future__ import annotations

import math

from scipy import stats

from assay.judgement.batches import RunCells, Weighting

Key = tuple[int, str]


def average(run: RunCells) -> float:
    """Return the average of a run."""
    if run.weighting is Weighting.PER_CLUSTER:
        return math.fsum(_mean(run, host) for host in hosts_of(run)) / len(hosts_of(run))
    return sum(cell.sum for cell in run.cells) / sum(cell.count for cell in run.cells) / run.scale


def hosts_of(run: RunCells) -> list[str]:
    """Return the hosts of a run."""
    return sorted({cell.cluster for cell in run.cells})


def influences(run: RunCells, batches: int) -> dict[Key, float]:
    """Return the influences of batches and hosts."""
    places = 63 if run.units >= 189 else run.units
    sums: dict[Key, float] = {(batch, host): 0.0 for batch in range(batches) for host in hosts_of(run)}
    for cell in run.cells:
        if run.weighting is Weighting.PER_CLUSTER:
            weight, centre = 1 / (len(hosts_of(run)) * _count(run, cell.cluster)), _mean(run, cell.cluster)
        else:
            weight, centre = 1 / sum(each.count for each in run.cells), average(run)
        sums[cell.place * batches // places, cell.cluster] += weight * (cell.sum / run.scale - cell.count * centre)
    return sums


def levels(run: RunCells) -> dict[str, float]:
    """Return the influences of hosts."""
    total = sum(cell.count for cell in run.cells)
    is_pooled = run.weighting is Weighting.POOLED
    return {
        host: (_mean(run, host) - average(run)) * (_count(run, host) / total if is_pooled else 1 / len(hosts_of(run)))
        for host in hosts_of(run)
    }


def variance(base: RunCells, other: RunCells, ratio: float) -> tuple[float, float, int]:
    """Return the variance of `other - ratio * base`, its degrees of freedom before the cut, and the batches."""
    correlations = []
    for batches in _ladder(min(base.units, other.units)):
        before, after = influences(base, batches), influences(other, batches)
        cells = {key: after.get(key, 0.0) - ratio * before.get(key, 0.0) for key in {**before, **after}}
        d = [sum(cell for (batch, _), cell in cells.items() if batch == each) for each in range(batches)]
        squares = sum(item**2 for item in d)
        correlations.append(sum(d[k] * d[k + 1] for k in range(batches - 1)) / squares)
        if correlations[-1] + 1 / batches < 1 / math.sqrt(batches):
            rest = min(0.6, max(0, correlations[-2] / 2)) if len(correlations) > 1 else 0
            widening = (1 + rest) / (1 - rest)
            break
    else:
        widening = 9 if correlations[0] > 0.75 else 4
    of_time = widening * batches / (batches - 1) * squares
    hosts = sorted({*hosts_of(base), *hosts_of(other)})
    if len({*hosts_of(base)} & {*hosts_of(other)}) < 2:
        return of_time, batches - 1, batches
    one, two = levels(base), levels(other)
    of_hosts = len(hosts) / (len(hosts) - 1) * sum((two.get(h, 0.0) - ratio * one.get(h, 0.0)) ** 2 for h in hosts)
    of_cells = sum(cell**2 for cell in cells.values())
    if of_hosts <= stats.chi2.ppf(0.9, len(hosts) - 1) / (len(hosts) - 1) * of_cells:
        return of_time, batches - 1, batches
    df = (of_time + of_hosts) ** 2 / (of_time**2 / (batches - 1) + of_hosts**2 / (len(hosts) - 1))
    return max(of_time, of_time + of_hosts - of_cells), df, batches


def _ladder(units: int) -> list[int]:
    if units < 21:
        return [units - 1 + units % 2]
    rung, rungs = min(63, units // 3), []
    while (rung := rung - 1 + rung % 2) > 7:
        rungs.append(rung)
        rung //= 3
    return [*rungs, 7]


def _count(run: RunCells, host: str) -> int:
    return sum(cell.count for cell in run.cells if cell.cluster == host)


def _mean(run: RunCells, host: str) -> float:
    return sum(cell.sum for cell in run.cells if cell.cluster == host) / _count(run, host) / run.scale
