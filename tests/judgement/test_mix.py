"""Samples of other things in two versions: when they count, and how the common ones are compared."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.judgement.batches import Cell, RunCells, count_places, measure_run, merge_places
from assay.judgement.interval import Comparison, Version, compare
from assay.judgement.mix import Mix, add_influences, compare_mix, standardize
from assay.judgement.verdict import Direction, Margin, Verdict, judge
from tests.judgement.random_runs import HOSTS, draw_run
from tests.support.deep import scale_examples

Counts = dict[str, int]


def mixed(base: Counts, other: Counts, runs: tuple[int, int] = (1, 1)) -> Mix | None:
    counts = [{(name,): count for name, count in items.items()} for items in (base, other)]
    return compare_mix(("name",), counts[0], counts[1], runs)


@pytest.mark.parametrize(
    ("base", "other", "runs", "expected"),
    [
        ({"a": 40, "b": 40}, {"a": 40}, (1, 1), (["b"], [], 0.0)),
        ({"a": 1, "b": 1}, {"a": 1, "c": 1}, (1, 1), (["b"], ["c"], 0.0)),
        ({"a": 3, "b": 3}, {"a": 2}, (3, 2), (["b"], [], 0.0)),
        ({"a": 10}, {"b": 10}, (1, 1), (["a"], ["b"], 0.0)),
        ({"ok": 1000}, {"ok": 500, "failed": 500}, (1, 1), ([], ["failed"], 0.0)),
        ({"a": 500, "b": 500}, {"a": 200, "b": 800}, (1, 1), ([], [], 0.3)),
        # chance
        ({"a": 40, "b": 40}, {"a": 40, "b": 40}, (1, 1), None),
        ({"a": 40, "b": 40}, {"a": 80, "b": 80}, (1, 1), None),
        ({"a": 990, "odd": 4}, {"a": 1005}, (1, 1), None),
        ({"a": 510, "b": 490}, {"a": 480, "b": 520}, (1, 1), None),
        ({"a": 50_000, "b": 50_000}, {"a": 50_900, "b": 49_100}, (1, 1), None),
    ],
)
def test_other_values_and_shares_count_beyond_chance(
    base: Counts, other: Counts, runs: tuple[int, int], expected: tuple[list[str], list[str], float] | None
) -> None:
    mix = mixed(base, other, runs)
    if expected is None:
        assert mix is None
        return
    assert mix
    assert ([name for (name,) in mix.base_only], [name for (name,) in mix.other_only]) == expected[:2]
    assert mix.shift == pytest.approx(expected[2])


def test_random_shares_seldom_count() -> None:
    random = Random(1)
    alarms = 0
    for _ in range(1000):
        base, other = (dict.fromkeys("abc", 0) for _ in range(2))
        for counts in (base, other):
            for _ in range(1000):
                counts[random.choices("abc", (5, 4, 1))[0]] += 1
        alarms += mixed(base, other) is not None
    assert alarms <= 6


@settings(derandomize=True, deadline=None, max_examples=scale_examples(40))
@given(st.integers(0, 2**32), st.sampled_from([21, 100, 189, 500]), st.sampled_from([("",), HOSTS]))
def test_parts_of_a_run_add_up_to_it(seed: int, units: int, hosts: tuple[str, ...]) -> None:
    """With the shares of samples as weights, the averages of parts that are at all times are the average of all."""
    parts = [draw_run(seed + number, units, hosts) for number in range(2)]
    totals = [sum(cell.count for cell in part.cells) for part in parts]
    whole = measure_run(RunCells(tuple(cell for part in parts for cell in part.cells), units, parts[0].scale))
    added = add_influences(
        [(Fraction(total, sum(totals)), measure_run(part)) for total, part in zip(totals, parts, strict=True)]
    )
    assert added.mean == whole.mean
    assert (added.units, added.samples, len(added.by_place)) == (units, sum(totals), count_places(units))
    assert sum(added.by_place) == 0


def test_parts_of_different_lengths_have_the_places_of_the_shortest() -> None:
    runs = [measure_run(draw_run(1, 2250)), measure_run(draw_run(2, 30))]
    added = add_influences([(Fraction(1, 2), run) for run in runs])
    assert (added.units, len(added.by_place)) == (30, 30)
    expected = [sum(column) / 2 for column in zip(*(merge_places(run, 30) for run in runs), strict=True)]
    assert merge_places(added, 30) == pytest.approx(expected)


def draw_kind(random: Random, mean: float, count: int) -> Version:
    values = [round(mean * random.lognormvariate(0, 0.2)) for _ in range(count)]
    places = count_places(count)
    cells = tuple(Cell(at * places // count, "", value, 1) for at, value in enumerate(values))
    return Version.from_runs([measure_run(RunCells(cells, count))])


@pytest.mark.parametrize(("factor", "worse"), [(1.0, (0, 2)), (1.1, (58, 60))])
def test_slower_kinds_are_worse_whatever_their_shares(factor: float, worse: tuple[int, int]) -> None:
    """The share of the fast kind rises from 50 to 80 %: the average of all falls by half."""
    random = Random(7)
    verdicts = []
    for _ in range(60):
        base = [draw_kind(random, mean, 500) for mean in (1000, 5000)]
        other = [draw_kind(random, factor * mean, count) for mean, count in ((1000, 800), (5000, 200))]
        weights = [Fraction(1, 2)] * 2
        one, two = standardize([(weight, pair) for weight, *pair in zip(weights, base, other, strict=True)])
        change = compare(one, two)
        assert isinstance(change, Comparison)
        verdicts.append(judge(change, Margin(2.0), Direction.LOWER).verdict)
    assert worse[0] <= verdicts.count(Verdict.WORSE) <= worse[1]
    assert verdicts.count(Verdict.BETTER) <= 3


def test_part_without_samples_in_a_run_is_left_out() -> None:
    whole, empty = Version((Fraction(3),)), Version(())
    assert standardize([(Fraction(1, 4), (whole, whole)), (Fraction(3, 4), (whole, empty))])[1].estimates == (3,)
