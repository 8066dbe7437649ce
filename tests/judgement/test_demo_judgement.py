"""The two runs of the demo: their cells, as SQL sums them up, are judged as docs/judgement.md prints them.

cases/demo.csv has the cells of four metrics of golden/cardano/baseline and candidate; durations are in nanoseconds.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from assay.judgement.batches import Cell, RunCells, Weighting, measure_run
from assay.judgement.gate import assess_gate
from assay.judgement.interval import Comparison, Version, compare
from assay.judgement.verdict import Direction, Judgement, Margin, judge

CASE = Path(__file__).parent / "cases" / "demo.csv"


@cache
def read_runs() -> dict[tuple[str, str], RunCells]:
    """Read the cells of each metric and run."""
    cells: defaultdict[tuple[str, str, int], list[Cell]] = defaultdict(list)
    with CASE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            cell = Cell(int(row["place"]), row["cluster"], int(row["sum"]), int(row["count"]))
            cells[row["metric"], row["run"], int(row["units"])].append(cell)
    return {
        (metric, run): RunCells(
            tuple(items), units, 1, Weighting.PER_CLUSTER if metric == "CentiCpu" else Weighting.POOLED
        )
        for (metric, run, units), items in cells.items()
    }


def judged(metric: str) -> Judgement:
    base, other = (Version.from_runs([measure_run(read_runs()[metric, run])]) for run in ("baseline", "candidate"))
    return judge(compare(base, other), Margin(percent=2.0), Direction.LOWER)


@pytest.mark.parametrize(
    ("metric", "percent", "low", "high", "verdict", "p", "decided_by", "batches", "df"),
    [
        ("CentiCpu", 30.83, 12.3, 52.4, "worse", 0.0008, "time", 63, 62),
        ("cdfForgerTicked", 31.7, 6.0, 63.5, "worse", 0.0227, "time", 7, 6),
        ("cdfPeerFetch", -4.3, -37.6, 46.9, "cannot tell", 0.7901, "time and hosts", 17, 4),
        ("cdf0.80", 14.5, 8.0, 21.4, "worse", 0.0002, "time", 17, 16),
    ],
)
def test_judgement_of_the_demo_is_the_published_one(
    metric: str,
    percent: float,
    low: float,
    high: float,
    verdict: str,
    p: float,
    decided_by: str,
    batches: int,
    df: int,
) -> None:
    judgement = judged(metric)
    assert judgement.interval is not None
    assert isinstance(judgement.comparison, Comparison)
    change, spread = judgement.comparison.percent, judgement.comparison.spread
    assert change.value == pytest.approx(percent, abs=0.05)
    assert (judgement.interval.low, judgement.interval.high) == pytest.approx((low, high), abs=0.05)
    assert judgement.p == pytest.approx(p, abs=0.00005)
    assert (judgement.verdict, spread.decided_by, spread.batches, change.df) == (verdict, decided_by, batches, df)


def test_gate_of_the_demo_is_closed() -> None:
    gate = assess_gate({(metric, "10.6"): judged(metric) for metric in ("CentiCpu", "cdf0.80")})
    assert [(metric.key[0], round(metric.adjusted, 4)) for metric in gate] == [
        ("cdf0.80", 0.0007),
        ("CentiCpu", 0.0009),
    ]
    assert any(metric.is_worse for metric in gate)


def test_every_machine_computes_the_same_bits() -> None:
    judgement = judged("CentiCpu")
    assert judgement.interval is not None
    numbers = (judgement.interval.low, judgement.interval.high, judgement.p, judgement.p_worse)
    assert [number.hex() for number in numbers if number is not None] == [
        "0x1.88cfdb996dffcp+3",
        "0x1.a3987e80c4beap+5",
        "0x1.b5ecbc79b5c00p-11",
        "0x1.e443ac6fb4200p-11",
    ]
