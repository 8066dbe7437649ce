"""Batches: which there are, and what their influences are."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.judgement.batches import (
    Cell,
    RunCells,
    Weighting,
    average_columns,
    build_ladder,
    count_places,
    keep_clusters,
    keep_lowest_clusters,
    measure_run,
    merge_cells,
    merge_places,
)
from tests.judgement.random_runs import HOSTS, draw_run
from tests.support.deep import scale_examples

SEEDS = st.integers(0, 2**32)
UNITS = st.sampled_from([21, 56, 100, 188, 189, 2250])
WEIGHTINGS = st.sampled_from(Weighting)
SOME = settings(derandomize=True, deadline=None, max_examples=scale_examples(60))
#: one host has three samples of 4 on average, the other has one of 20
SMALL = (Cell(0, "a", 2, 1), Cell(1, "a", 4, 1), Cell(2, "a", 6, 1), Cell(2, "b", 20, 1))


@pytest.mark.parametrize(
    ("units", "ladder"),
    [
        (4, ()),
        (5, (5,)),
        (20, (19,)),
        (21, (7,)),
        (27, (9, 7)),
        (56, (17, 7)),
        (150, (49, 15, 7)),
        (188, (61, 19, 7)),
        (189, (63, 21, 7)),
        (2250, (63, 21, 7)),
    ],
)
def test_ladder_is_that_of_its_units(units: int, ladder: tuple[int, ...]) -> None:
    assert build_ladder(units) == ladder


@given(st.integers(21, 5000))
def test_rungs_are_odd_and_have_three_units_a_batch(units: int) -> None:
    ladder = build_ladder(units)
    assert all(rung % 2 for rung in ladder)
    assert list(ladder) == sorted(set(ladder), reverse=True)
    assert 3 * ladder[0] <= units
    assert ladder[0] <= count_places(units)


@pytest.mark.parametrize(("units", "places"), [(1, 1), (188, 188), (189, 63), (10**6, 63)])
def test_short_runs_have_a_place_for_each_unit(units: int, places: int) -> None:
    assert count_places(units) == places


def test_pooled_samples_count_alike() -> None:
    run = measure_run(RunCells(SMALL, 3))
    assert run.mean == 8
    assert run.by_cluster == {"a": -3.0, "b": 3.0}
    assert [Fraction(number, run.denominator) for number in run.by_place] == [-1.5, -1, 2.5]


def test_clusters_of_their_own_count_alike() -> None:
    run = measure_run(RunCells(SMALL, 3, 1, Weighting.PER_CLUSTER))
    assert run.mean == 12
    assert run.by_cluster == {"a": -4.0, "b": 4.0}
    assert [Fraction(number, run.denominator) for number in run.by_place] == [Fraction(-1, 3), 0, Fraction(1, 3)]


def test_scale_divides_values() -> None:
    run = measure_run(RunCells(SMALL, 3, 10))
    assert run.mean == Fraction(8, 10)
    assert merge_places(run, 3) == (-0.15, -0.1, 0.25)


@SOME
@given(SEEDS, UNITS, WEIGHTINGS, st.sampled_from([1, 10**9]))
def test_influences_of_batches_sum_up_to_0(seed: int, units: int, weighting: Weighting, scale: int) -> None:
    run = measure_run(draw_run(seed, units, HOSTS, weighting, scale))
    assert sum(run.by_place) == 0
    assert sum(run.by_cell.values()) == 0
    assert math.fsum(run.by_cluster.values()) == pytest.approx(0, abs=1e-14)
    for batches in build_ladder(units):
        assert math.fsum(merge_places(run, batches)) == pytest.approx(0, abs=1e-14)


@SOME
@given(SEEDS, UNITS, WEIGHTINGS)
def test_cells_of_a_batch_sum_up_to_it(seed: int, units: int, weighting: Weighting) -> None:
    run = measure_run(draw_run(seed, units, HOSTS, weighting))
    for batches in build_ladder(units):
        cells = merge_cells(run, batches)
        sums = [math.fsum(value for (batch, _), value in cells.items() if batch == each) for each in range(batches)]
        assert sums == pytest.approx(merge_places(run, batches), abs=1e-14)


@SOME
@given(SEEDS, UNITS)
def test_cells_of_a_pooled_host_sum_up_to_it(seed: int, units: int) -> None:
    run = measure_run(draw_run(seed, units, HOSTS))
    for host in HOSTS:
        cells = [value for (_, cluster), value in merge_cells(run, 7).items() if cluster == host]
        assert math.fsum(cells) == pytest.approx(run.by_cluster[host], abs=1e-13)


@SOME
@given(SEEDS, UNITS, WEIGHTINGS)
def test_order_of_cells_changes_no_bit(seed: int, units: int, weighting: Weighting) -> None:
    run = draw_run(seed, units, HOSTS, weighting)
    cells = list(run.cells)
    Random(seed).shuffle(cells)
    one, other = measure_run(run), measure_run(RunCells(tuple(cells), run.units, run.scale, weighting))
    assert one == other
    assert merge_cells(one, 7) == merge_cells(other, 7)


@SOME
@given(SEEDS, WEIGHTINGS)
def test_divided_cells_change_no_bit(seed: int, weighting: Weighting) -> None:
    run = draw_run(seed, 100, HOSTS, weighting)
    parts = [part for cell in run.cells for part in divide(cell)]
    assert measure_run(RunCells(tuple(parts), run.units, run.scale, weighting)) == measure_run(run)


def divide(cell: Cell) -> list[Cell]:
    """Divide a cell, as SQL over portions of rows does."""
    if cell.count == 1:
        return [cell]
    first = cell.sum // 3
    return [Cell(cell.place, cell.cluster, first, 1), Cell(cell.place, cell.cluster, cell.sum - first, cell.count - 1)]


def test_only_cells_of_named_clusters_are_kept() -> None:
    assert keep_clusters(RunCells(SMALL, 3), {"b"}).cells == (Cell(2, "b", 20, 1),)


def test_clusters_of_the_lowest_averages_are_kept() -> None:
    cells = (Cell(0, "c", 4, 1), Cell(0, "b", 8, 2), Cell(0, "a", 100, 100), Cell(0, "d", 90, 10))
    names = {
        number: [cell.cluster for cell in keep_lowest_clusters(RunCells(cells, 21), number).cells]
        for number in (1, 2, 9)
    }
    assert names == {1: ["a"], 2: ["b", "a"], 9: ["c", "b", "a", "d"]}


@pytest.mark.parametrize(
    ("cells", "scale"),
    [((), 1), (SMALL, 0), ((Cell(0, "a", 1, 0),), 1), ((Cell(3, "a", 1, 1),), 1), ((Cell(-1, "a", 1, 1),), 1)],
)
def test_impossible_cells_are_refused(cells: tuple[Cell, ...], scale: int) -> None:
    with pytest.raises(ValueError, match=r"a run needs at least one cell|has no samples"):
        RunCells(cells, 3, scale)


def test_columns_are_averaged_in_any_order() -> None:
    rows = [(1e16, 1.0), (1.0, 2.0), (-1e16, 3.0)]
    assert average_columns(rows) == average_columns(rows[::-1]) == (1 / 3, 2.0)
