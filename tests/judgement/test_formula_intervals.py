"""Test the intervals of formulas over metrics: influences of their inputs, each with its slope."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from assay.judgement.batches import Cell, RunCells, RunInfluence, combine_influences, measure_run
from assay.judgement.interval import Version, compare
from assay.judgement.verdict import Direction, Margin, Verdict, judge

UNITS = 400
MARGIN = Margin(percent=2.0)


def draw_run(random: Random, factor: float = 1.0) -> tuple[RunInfluence, RunInfluence]:
    """Draw bytes and times of requests, which both grow with their size."""
    cells: tuple[list[Cell], list[Cell]] = ([], [])
    for unit in range(UNITS):
        size = random.lognormvariate(0, 0.5)
        values = 10_000 * size * random.lognormvariate(0, 0.1), factor * 1000 * size * random.lognormvariate(0, 0.1)
        for items, value in zip(cells, values, strict=True):
            items.append(Cell(unit * 63 // UNITS, "", round(value), 1))
    above, below = (measure_run(RunCells(tuple(items), UNITS)) for items in cells)
    return above, below


def divide(above: RunInfluence, below: RunInfluence) -> RunInfluence:
    ratio = above.mean / below.mean
    combined = combine_influences(ratio, [(1 / below.mean, above), (-ratio / below.mean, below)], is_signed=False)
    assert combined is not None
    return combined


def test_ratio_moves_as_if_a_batch_were_left_out() -> None:
    """The influence of a place is the change of the ratio without it, to first order and with the opposite sign."""
    random = Random(5)
    values = [(random.randrange(90, 110), random.randrange(40, 60)) for _ in range(50)]
    above, below = (
        measure_run(RunCells(tuple(Cell(place, "", row[side], 1) for place, row in enumerate(values)), 50))
        for side in (0, 1)
    )
    ratio = divide(above, below)
    assert ratio.mean == Fraction(sum(item[0] for item in values), sum(item[1] for item in values))
    for place in range(50):
        rest = [item for index, item in enumerate(values) if index != place]
        without = sum(item[0] for item in rest) / sum(item[1] for item in rest)
        influence = ratio.by_place[place] / ratio.denominator
        assert influence == pytest.approx(float(ratio.mean) - without, rel=0.1, abs=1e-5)


def test_ratio_of_a_metric_to_itself_is_exact() -> None:
    above, _ = draw_run(Random(1))
    assert not any(divide(above, above).by_place)


def test_what_both_metrics_share_cancels() -> None:
    """A request that is twice as large takes twice as long: the speed is known much better than the time."""
    random = Random(2)
    (above, below), (other_above, other_below) = draw_run(random), draw_run(random, 1.1)
    speed = judge(compare(*(Version.from_runs([divide(*run)]) for run in ((above, below), (other_above, other_below)))),
                  MARGIN, Direction.HIGHER)  # fmt: skip
    time = judge(compare(Version.from_runs([below]), Version.from_runs([other_below])), MARGIN, Direction.LOWER)
    assert speed.verdict is Verdict.WORSE
    assert speed.interval
    assert time.interval
    assert speed.interval.high - speed.interval.low < (time.interval.high - time.interval.low) / 3


def test_unchanged_ratios_are_seldom_judged() -> None:
    random = Random(3)
    excluded = 0
    for _ in range(150):
        judgement = judge(
            compare(*(Version.from_runs([divide(*draw_run(random))]) for _ in range(2))), MARGIN, Direction.HIGHER
        )
        assert judgement.interval
        excluded += judgement.interval.low > 0 or judgement.interval.high < 0
        assert judgement.verdict not in (Verdict.WORSE, Verdict.BETTER)
    assert 1 <= excluded <= 16  # 7.5 expected


def test_metrics_of_other_places_are_not_combined() -> None:
    above, _ = draw_run(Random(1))
    short = measure_run(RunCells(tuple(Cell(place, "", 5, 1) for place in range(30)), 30))
    assert combine_influences(Fraction(1), [(Fraction(1), above), (Fraction(1), short)], is_signed=False) is None
