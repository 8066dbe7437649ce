"""Measure how often the step that became slower is named as the cause, and how often another one, on simulated runs.

A total has four steps of 10, 40, 15 and 35 % of its time; each varies by itself, lognormal with sigma 0.5. The runs go
through the functions that judge reports, at a margin of 2 %. It prints a Markdown table, in percent of pairs of runs:

* named: pairs whose cause is the step that became slower, so that the total is 20 % longer
* other: pairs in which another step is named; without any slower step, pairs in which one is named at all

A second table is on where a change comes from (`bench/foci.py`).

Use: python bench/causes.py [--pairs 400]
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.random import Generator, default_rng

import foci
from assay.app.judge.judging import mark_changes_by_chance
from assay.judgement.batches import Cell, RunCells, Weighting, count_places, measure_run
from assay.judgement.interval import Version, compare
from assay.judgement.report_judgements import JudgedChange
from assay.judgement.steps import StepChange, StepTable
from assay.judgement.verdict import Direction, Margin, judge

SHARES = (0.1, 0.4, 0.15, 0.35)
NAMES = tuple("abcd")
SIGMA = 0.5
MEAN = 100_000_000  # ns
MARGIN = Margin(percent=2)
LEVEL = 0.95
ROWS = (60, 200, 1000)
CASES: dict[str, tuple[float, ...]] = {
    "none": (1.0, 1.0, 1.0, 1.0),
    **{f"step of {share:.0%}": tuple(1 + 0.2 / item if item == share else 1.0 for item in SHARES) for share in SHARES},
    "all steps alike": (1.2, 1.2, 1.2, 1.2),
}
"""The factors of the steps in the other version, by what became slower."""


def draw_samples(random: Generator, rows: int, factors: Sequence[float]) -> np.ndarray:
    """Draw the steps of rows in whole nanoseconds, a column each."""
    noise = np.exp(SIGMA * random.standard_normal((rows, len(SHARES))) - SIGMA**2 / 2)
    return np.rint(MEAN * np.array(SHARES) * np.array(factors) * noise).astype(np.int64)


def build_version(samples: np.ndarray) -> Version:
    """Return the version of one run, in which each row has a time of its own."""
    places = count_places(len(samples))
    sums, sizes = [0] * places, [0] * places
    for index, value in enumerate(samples.tolist()):
        place = index * places // len(samples)
        sums[place] += value
        sizes[place] += 1
    cells = tuple(Cell(place, "", sums[place], sizes[place]) for place in range(places))
    return Version.from_runs([measure_run(RunCells(cells, len(samples), 1, Weighting.POOLED))])


def find_cause(base: np.ndarray, other: np.ndarray) -> str:
    """Return the name of the step that is the cause; empty if there is none."""
    pairs = {"total": (base.sum(axis=1), other.sum(axis=1))}
    pairs |= {name: (base[:, number], other[:, number]) for number, name in enumerate(NAMES)}
    versions = {name: tuple(map(build_version, pair)) for name, pair in pairs.items()}
    judged = {
        (name, "new"): JudgedChange(judge(compare(*pair), MARGIN, Direction.LOWER, LEVEL), MARGIN)
        for name, pair in versions.items()
    }
    marked = mark_changes_by_chance(judged, LEVEL)
    changes = {
        name: StepChange(name, name, name, ("", ""), (pair[0].mean, pair[1].mean), ((), ()), marked[name, "new"])
        for name, pair in versions.items()
    }
    steps = tuple(changes[name] for name in NAMES)
    table = StepTable("new", changes["total"], steps, (Fraction(0), Fraction(0)), ((1, 1), (1, 1)))
    return table.cause.name if table.cause else ""


def iter_rows(pairs: int) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table."""
    for rows in ROWS:
        for case, factors in CASES.items():
            random = default_rng(rows)
            unchanged = CASES["none"]
            causes = Counter(
                find_cause(draw_samples(random, rows, unchanged), draw_samples(random, rows, factors))
                for _ in range(pairs)
            )
            slower = {name for name, factor in zip(NAMES, factors, strict=True) if factor > 1}
            right = sum(causes[name] for name in slower) if len(slower) == 1 else None
            wrong = pairs - causes[""] - (right or 0)
            named = "–" if right is None else f"{100 * right / pairs:.1f}"
            yield str(rows), case, named, f"{100 * wrong / pairs:.1f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=400)
    pairs = parser.parse_args().pairs
    for rows in (iter_rows(pairs), foci.iter_rows(pairs)):
        print("| rows | slower | named | other |\n|---:|---|---:|---:|")
        for row in rows:
            print(f"| {' | '.join(row)} |", flush=True)
        print()


if __name__ == "__main__":
    main()
