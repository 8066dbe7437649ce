"""Measure how often the host, kind, mix or time that a change comes from is named, and how often another one.

A run has 8 hosts and 4 kinds of requests, of 50, 25, 15 and 10 % of the rows, which last 0.7, 1, 1.4 and 2 times as
long; times are lognormal with sigma 0.5. The runs go through the functions that judge reports, at a margin of 2 %. The
columns of the table are in percent of pairs of runs:

* named: pairs in which what changed is named; the change makes the average 20 % greater
* other: pairs in which something else is named, too or instead; without such a cause, anything

`bench/causes.py` prints it.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
from numpy.random import Generator, default_rng

from assay.judgement.batches import Cell, RunCells, Weighting, count_places, measure_run
from assay.judgement.focus import Column, FocusTable, Rules, find_foci
from assay.judgement.interval import Version
from assay.judgement.split_change import SplitRun, split_by_cluster
from assay.judgement.verdict import Direction, Margin

HOSTS = 8
SHARES = np.array([0.5, 0.25, 0.15, 0.1])
MEANS = np.array([0.7, 1.0, 1.4, 2.0])
SIGMA = 0.5
MEAN = 100_000_000  # ns
GROWTH = 0.2
ROWS = (200, 1000, 5000)
RULES = Rules(Margin(percent=2), Direction.LOWER, 0.95)

Change = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Returns by which factors rows become slower: of their hosts, kinds and times from 0 to 1."""


def slow_values(column: int, value: int) -> Change:
    """Slow down one host (column 0) or kind (column 1), so that the average grows by `GROWTH`."""
    weight = 1 / HOSTS if column == 0 else SHARES[value] * MEANS[value] / (SHARES @ MEANS)
    return lambda *columns: 1 + GROWTH / weight * (columns[column] == value)


def slow_hosts_apart() -> Change:
    """Slow down each host by a factor of its own, another one in each run."""
    random = default_rng(1)
    return lambda *columns: np.maximum(0.3, 1 + GROWTH * random.standard_normal(HOSTS))[columns[0]]


CASES: dict[str, tuple[str, Change]] = {
    "nothing": ("", lambda *columns: np.ones(len(columns[0]))),
    "everything": ("", lambda *columns: np.full(len(columns[0]), 1 + GROWTH)),
    "everything by an amount": ("", lambda *columns: 1 + GROWTH * (SHARES @ MEANS) / MEANS[columns[1]]),
    "each host by another factor": ("", lambda *columns: 1 + GROWTH + 0.1 * np.cos(3 * columns[0])),
    "each host by a random factor": ("", slow_hosts_apart()),
    "a host": ("host 3", slow_values(0, 3)),
    "the most frequent kind": ("kind 0", slow_values(1, 0)),
    "the rarest kind": ("kind 3", slow_values(1, 3)),
    "the last third": ("time", lambda *columns: 1 + 3 * GROWTH * (columns[2] >= 2 / 3)),
    "a fifth in the middle": ("time", lambda *columns: 1 + 5 * GROWTH * (abs(columns[2] - 0.5) < 0.1)),
    "only the mix of kinds": ("mix", lambda *columns: np.ones(len(columns[0]))),
}
"""What is named, and the factors, by what becomes slower."""


def draw_run(random: Generator, rows: int, change: Change, shares: np.ndarray) -> tuple[SplitRun, SplitRun]:
    """Return the samples of a run by hosts and by kinds; each row has a time of its own."""
    hosts, kinds = random.integers(0, HOSTS, rows), random.choice(len(SHARES), rows, p=shares)
    noise = np.exp(SIGMA * random.standard_normal(rows) - SIGMA**2 / 2)
    factors = change(hosts, kinds, np.arange(rows) / rows)
    times = np.rint(MEAN * MEANS[kinds] * factors * noise).astype(np.int64)
    places = np.arange(rows) * count_places(rows) // rows

    def sum_cells(chosen: np.ndarray) -> tuple[Cell, ...]:
        keys, inverse = np.unique(np.stack([places[chosen], hosts[chosen]]), axis=1, return_inverse=True)
        sums, sizes = np.zeros(keys.shape[1], np.int64), np.bincount(inverse, minlength=keys.shape[1])
        np.add.at(sums, inverse, times[chosen])
        return tuple(
            Cell(int(place), str(host), int(total), int(size))
            for place, host, total, size in zip(*keys, sums, sizes, strict=True)
        )

    whole = RunCells(sum_cells(np.full(rows, True)), rows, 1, Weighting.POOLED)
    by_kind = {str(kind): sum_cells(kinds == kind) for kind in range(len(SHARES)) if (kinds == kind).any()}
    return split_by_cluster(whole), SplitRun(whole, by_kind)


def compare_runs(random: Generator, rows: int, case: str) -> FocusTable:
    """Return where the change of a pair of runs comes from."""
    shares = np.array([0.2, 0.25, 0.25, 0.3]) if CASES[case][0] == "mix" else SHARES
    pair = draw_run(random, rows, CASES["nothing"][1], SHARES), draw_run(random, rows, CASES[case][1], shares)
    columns = [
        Column(name, (pair[0][index],), (pair[1][index],), is_cluster=not index)
        for index, name in enumerate(("host", "kind"))
    ]
    versions = [Version.from_runs([measure_run(run[0].whole)]) for run in pair]
    averages: tuple[Fraction, Fraction] = (versions[0].mean, versions[1].mean)
    return find_foci("new", averages, RULES.judge(*versions), columns, RULES)


def name_foci(table: FocusTable) -> set[str]:
    """Return what is named."""
    names = {f"{item.column} {item.value}" for item in table.values}
    return names | ({"mix"} if table.mix else set()) | ({"time"} if table.time else set())


def iter_rows(pairs: int) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table."""
    for rows in ROWS:
        for case, (name, _) in CASES.items():
            random = default_rng(rows)
            listed = [name_foci(compare_runs(random, rows, case)) for _ in range(pairs)]
            right = f"{100 * sum(name in names for names in listed) / pairs:.1f}" if name else "–"
            other = sum(bool(names - {name}) for names in listed)
            yield str(rows), case, right, f"{100 * other / pairs:.1f}"
