"""Intervals of changes: those of the plain formulas, and what must not move them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.judgement.batches import Cell, RunCells, Weighting, measure_run
from assay.judgement.change import Change, Interval, RatioChange
from assay.judgement.interval import (
    Comparison,
    Component,
    Note,
    Reason,
    Spread,
    Version,
    combine_with_noise,
    compare,
    estimate_reach,
)
from assay.judgement.repeats import RunNoise
from assay.judgement.verdict import Direction, Margin, Verdict, judge
from tests.judgement import plain_interval
from tests.judgement.random_runs import HOSTS, draw_run
from tests.support.deep import scale_examples

SEEDS = st.integers(0, 2**32)
UNITS = st.sampled_from([5, 20, 21, 56, 100, 189, 2250])
WEIGHTINGS = st.sampled_from(Weighting)
HOST_LISTS = st.sampled_from([("",), HOSTS[:2], HOSTS])
SOME = settings(derandomize=True, deadline=None, max_examples=scale_examples(60))
ALIKE = {"rel": 1e-9, "abs": 1e-10}
ENDS = (-1, 1)


def version(*runs: RunCells) -> Version:
    return Version.from_runs(measure_run(run) for run in runs)


def compared(base: RunCells, other: RunCells, noise: RunNoise | None = None) -> Comparison:
    comparison = compare(version(base), version(other), noise)
    assert isinstance(comparison, Comparison)
    return comparison


def moved(run: RunCells, cells: Sequence[Cell]) -> RunCells:
    return replace(run, cells=tuple(cells))


def shuffled(run: RunCells, seed: int) -> RunCells:
    """The run with its cells in another order and its hosts under names that sort the other way."""
    cells = [replace(cell, cluster="".join(chr(255 - ord(letter)) for letter in cell.cluster)) for cell in run.cells]
    Random(seed).shuffle(cells)
    return moved(run, cells)


def find_reach(df: float) -> float:
    return float(stats.t.ppf(0.975, cut_to_even(df)))


def cut_to_even(df: float) -> int:
    return max(2, 2 * math.floor(df / 2))


def assert_is_change(change: Change, value: float, error: float, df: float, interval: Interval) -> None:
    assert change.df == cut_to_even(df)
    assert change.value == pytest.approx(value, **ALIKE)
    assert change.error == pytest.approx(error, **ALIKE)
    ends = change.compute_interval()
    assert (ends.low, ends.high) == pytest.approx((interval.low, interval.high), **ALIKE)


@SOME
@given(SEEDS, UNITS, UNITS, WEIGHTINGS, HOST_LISTS, HOST_LISTS)
def test_interval_is_that_of_the_plain_formulas(
    seed: int, units: int, others: int, weighting: Weighting, hosts: Sequence[str], other_hosts: Sequence[str]
) -> None:
    base, other = draw_run(seed, units, hosts, weighting), draw_run(seed + 1, others, other_hosts, weighting)
    comparison = compared(base, other)
    before, after = plain_interval.average(base), plain_interval.average(other)
    ratio = after / before
    variance, df, _ = plain_interval.variance(base, other, 1.0)
    error, reach = math.sqrt(variance), find_reach(df) * math.sqrt(variance)
    assert_is_change(
        comparison.difference, after - before, error, df, Interval(*(after - before + end * reach for end in ENDS))
    )
    variance, df, _ = plain_interval.variance(base, other, ratio)
    error = math.sqrt(variance) / after
    ends = Interval(*(100 * (ratio * math.exp(end * find_reach(df) * error) - 1) for end in ENDS))
    assert_is_change(comparison.percent, 100 * (ratio - 1), error, df, ends)
    assert comparison.spread.batches == plain_interval.variance(base, other, ratio)[2]
    assert comparison.units == min(units, others)


@pytest.mark.parametrize("hosts", [HOSTS[:2], HOSTS])
def test_hosts_of_equal_levels_seldom_decide(hosts: Sequence[str]) -> None:
    """Of hosts without a level of their own, the test at 10 % lets some decide: those of the plain formulas."""
    deciding = 0
    for seed in range(0, 600, 2):
        base, other = (draw_run(seed + index, 30, hosts, range_of_levels=0) for index in (0, 1))
        comparison = compared(base, other)
        variance, df, batches = plain_interval.variance(base, other, 1.0)
        assert comparison.difference.error == pytest.approx(math.sqrt(variance), rel=1e-9)
        deciding += df != batches - 1
    assert 0.05 < deciding / 300 < 0.2


@SOME
@given(SEEDS, UNITS, WEIGHTINGS)
def test_order_of_cells_and_hosts_changes_no_bit(seed: int, units: int, weighting: Weighting) -> None:
    base, other = draw_run(seed, units, HOSTS, weighting), draw_run(seed + 1, units, HOSTS, weighting)
    assert compared(shuffled(base, seed), shuffled(other, seed + 1)) == compared(base, other)


@SOME
@given(SEEDS, UNITS, WEIGHTINGS, st.sampled_from([3, 1000, 2**40]))
def test_interval_scales_with_the_values(seed: int, units: int, weighting: Weighting, factor: int) -> None:
    runs = [draw_run(seed + index, units, HOSTS, weighting) for index in (0, 1)]
    large = [moved(run, [replace(cell, sum=factor * cell.sum) for cell in run.cells]) for run in runs]
    one, other = compared(*runs), compared(*large)
    assert other.percent.value == one.percent.value
    assert other.percent.error == pytest.approx(one.percent.error, rel=1e-12)
    assert other.difference.error == pytest.approx(factor * one.difference.error, rel=1e-12)
    assert other.difference.compute_p() == pytest.approx(one.difference.compute_p(), rel=1e-9)


@SOME
@given(SEEDS, UNITS, WEIGHTINGS)
def test_another_scale_of_equal_values_changes_no_bit(seed: int, units: int, weighting: Weighting) -> None:
    runs = [draw_run(seed + index, units, HOSTS, weighting) for index in (0, 1)]
    fine = [
        RunCells(tuple(replace(cell, sum=10**6 * cell.sum) for cell in run.cells), units, 10**6 * run.scale, weighting)
        for run in runs
    ]
    assert compared(*fine) == compared(*runs)


@SOME
@given(SEEDS, UNITS, WEIGHTINGS)
def test_exchanged_runs_mirror_the_difference(seed: int, units: int, weighting: Weighting) -> None:
    base, other = draw_run(seed, units, HOSTS, weighting), draw_run(seed + 1, units, HOSTS, weighting)
    forward, back = compared(base, other).difference, compared(other, base).difference
    interval = forward.compute_interval()
    assert back == replace(forward, value=-forward.value)
    assert back.compute_interval() == Interval(-interval.high, -interval.low)
    assert back.compute_p() == forward.compute_p()


@SOME
@given(SEEDS, UNITS, WEIGHTINGS)
def test_exchanged_runs_have_the_inverse_ratio(seed: int, units: int, weighting: Weighting) -> None:
    base, other = draw_run(seed, units, HOSTS, weighting), draw_run(seed + 1, units, HOSTS, weighting)
    forward, back = compared(base, other).percent, compared(other, base).percent
    one, two = forward.compute_interval(), back.compute_interval()
    for percent, inverse in ((forward.value, back.value), (one.low, two.high), (one.high, two.low)):
        assert (1 + percent / 100) * (1 + inverse / 100) == pytest.approx(1)
    assert forward.compute_p() == pytest.approx(back.compute_p())


def steady_run(seed: int, drift: int) -> RunCells:
    """A run with one sample at each of 100 places, which rises by a drift from place to place."""
    random = Random(seed)
    return RunCells(tuple(Cell(at, "", 10**4 + random.randrange(10**4) + at * drift, 1) for at in range(100)), 100)


def test_common_course_of_both_runs_cancels() -> None:
    still, drifting = ([steady_run(seed, drift) for seed in (1, 2)] for drift in (0, 10**6))
    assert compared(*drifting).difference.error == pytest.approx(compared(*still).difference.error, rel=1e-9)


def test_runs_of_the_same_course_differ_exactly() -> None:
    run = draw_run(1, 100)
    other = moved(run, [replace(cell, sum=2 * cell.sum) for cell in run.cells])
    unchanged, changed = compared(run, run), compared(run, other)
    assert {item.spread.decided_by for item in (unchanged, changed)} == {Component.EXACT}
    assert [item.percent.compute_interval() for item in (unchanged, changed)] == [
        Interval(0, 0),
        Interval(100, 100),
    ]
    assert changed.difference.error > 0


def test_sums_in_one_batch_are_no_exact_change() -> None:
    """Only the first request needs time to connect, so both runs have the same course whatever this time is."""
    runs = [RunCells(tuple(Cell(at, "", 0 if at else value, 1) for at in range(63)), 63) for value in (100, 150)]
    assert compared(*runs).spread.reason is Reason.FEW_BATCHES


def constants(*averages: int) -> Version:
    return Version(tuple(map(Fraction, averages)), is_constant=True)


@pytest.mark.parametrize(
    ("base", "other", "arguments", "is_exact"),
    [
        (constants(20), constants(20), {}, True),
        (constants(20), constants(40), {}, False),
        (constants(20), constants(40), {"is_exact": True}, True),
        (constants(20, 20), constants(40, 40), {}, False),
        (constants(20, 20, 20), constants(40, 40), {}, False),
        (constants(20, 20, 20), constants(40, 40, 40), {}, True),
        (constants(*[20] * 6), constants(40), {}, False),
        (constants(*[20] * 7), constants(40), {}, True),
        (constants(20, 21), constants(40, 40), {"is_exact": True}, False),
        (constants(20, 20, 21), constants(40, 40, 40), {}, False),
        (constants(0), constants(100), {}, False),
        (constants(0), constants(100), {"whole": 100.0}, True),
        (constants(100), constants(0), {"whole": 100.0}, True),
        (constants(0), constants(50), {"whole": 100.0}, False),
        (Version((Fraction(3),)), Version((Fraction(3),)), {}, False),
    ],
)  # fmt: skip
def test_constants_differ_exactly_if_further_runs_would(
    base: Version, other: Version, arguments: dict[str, Any], is_exact: bool
) -> None:
    change = compare(base, other, **arguments)
    assert (isinstance(change, Comparison) and change.spread.decided_by is Component.EXACT) == is_exact


@pytest.mark.parametrize(("base", "other"), [(3, 3), (2, 4), (1, 7), (5, 3)])
def test_values_that_switch_seldom_divide_runs_by_version(base: int, other: int) -> None:
    """A size that is 8 or 9 in a run by chance: of all probabilities of the 9, none divides more than 5.1 %."""
    runs = constants(*[8] * base), constants(*[9] * other)
    assert isinstance(compare(*runs), Comparison)
    shares = [share / 1000 for share in range(1001)]
    divided = [p**base * (1 - p) ** other + (1 - p) ** base * p**other for p in shares]
    assert max(divided) < 0.051


def test_declared_metric_whose_runs_differ_has_a_note() -> None:
    change = compare(constants(20, 21, 20), constants(40, 41, 40), RunNoise(1.0, 4), is_exact=True)
    assert isinstance(change, Comparison)
    assert (change.spread.decided_by, Note.NOT_EXACT in change.spread.notes) == (Component.RUNS, True)


def test_equal_constants_of_hosts_are_the_same() -> None:
    base = constant_hosts((7, 9))
    assert compared(base, base).spread.decided_by is Component.EXACT
    exchanged = compare(version(base), version(constant_hosts((9, 7))))
    assert isinstance(exchanged, Comparison)
    assert exchanged.spread.decided_by is Component.HOSTS


def test_constant_of_calibration_runs_that_differ_is_not_exact() -> None:
    change = compare(constants(20), constants(20), RunNoise(4.0, 2))
    assert isinstance(change, Comparison)
    assert change.spread.decided_by is Component.RUNS


def test_fall_to_zero_is_not_taken_for_an_equal_course() -> None:
    zero = RunCells(tuple(Cell(place, "", 0, 1) for place in range(100)), 100)
    change = compared(draw_run(1, 100), zero).percent
    assert change
    assert (change.value, change.compute_interval().low) == (-100, -100)
    assert change.compute_interval().high < 0


def test_two_equal_runs_of_a_version_are_as_one() -> None:
    base, other = draw_run(1, 100, HOSTS), draw_run(2, 100, HOSTS)
    assert compare(version(base, base), version(other, other)) == compared(base, other)


def test_runs_of_a_version_narrow_the_interval() -> None:
    base, other = [draw_run(seed, 2250) for seed in range(4)], [draw_run(seed, 2250) for seed in range(4, 8)]
    one, four = compared(base[0], other[0]), compare(version(*base), version(*other))
    assert isinstance(four, Comparison)
    assert four.base == pytest.approx(math.fsum(plain_interval.average(run) for run in base) / 4)
    assert four.difference.error == pytest.approx(one.difference.error / 2, rel=0.3)


def test_order_of_a_versions_runs_changes_no_bit() -> None:
    base, other = [draw_run(seed, 200, HOSTS) for seed in range(3)], draw_run(9, 200, HOSTS)
    assert compare(version(*base), version(other)) == compare(version(*base[::-1]), version(other))


def constant_hosts(levels: Sequence[int], names: Sequence[str] = HOSTS) -> RunCells:
    """A run of 100 units whose hosts always have the same value."""
    cells = [Cell(place, name, level, 1) for place in range(100) for name, level in zip(names, levels, strict=False)]
    return RunCells(tuple(cells), 100, 1, Weighting.PER_CLUSTER)


def test_levels_of_hosts_decide_where_time_varies_not() -> None:
    base, other = (100, 102, 98, 101, 99), (103, 101, 102, 105, 99)
    comparison = compared(constant_hosts(base), constant_hosts(other))
    paired = stats.ttest_rel(other, base)
    assert (comparison.spread.decided_by, comparison.difference.df) == (Component.HOSTS, 4)
    assert comparison.spread.reason is None
    assert comparison.difference.compute_p() == pytest.approx(paired.pvalue)
    assert comparison.difference.error == pytest.approx((102 - 100) / paired.statistic)


def test_hosts_with_other_names_leave_time_alone() -> None:
    base, other = draw_run(1, 100, HOSTS[:3]), draw_run(2, 100, ("x", "y", "z"))
    spread = compared(base, other).spread
    assert (spread.decided_by, spread.notes) == (Component.TIME, (Note.OTHER_HOSTS,))


@pytest.mark.parametrize("hosts", [HOSTS[:1], ("x", "y"), (HOSTS[0], "x")])
def test_change_is_open_if_missing_hosts_may_be_the_cause(hosts: tuple[str, ...]) -> None:
    """Fewer than two hosts are the same, so nothing shows how much hosts differ."""
    comparison = compared(draw_run(1, 100, HOSTS[:3]), draw_run(2, 100, hosts))
    assert comparison.spread.reason is Reason.FEWER_HOSTS
    assert judge(comparison, Margin(0.0), Direction.LOWER).verdict is Verdict.CANNOT_TELL


def test_hosts_of_one_run_alone_are_noted() -> None:
    spread = compared(draw_run(1, 100, HOSTS), draw_run(2, 100, HOSTS[1:])).spread
    assert spread.notes == (Note.SOME_OTHER_HOSTS,)


def test_level_of_an_unpaired_host_widens_the_interval() -> None:
    base = constant_hosts((100, 102, 98, 101, 150))
    same, other = (
        constant_hosts((101, 102, 99, 101, 151)),
        constant_hosts((101, 102, 99, 101, 151), ("a", "b", "c", "d", "x")),
    )
    assert compared(base, other).difference.error > 5 * compared(base, same).difference.error


@pytest.mark.parametrize(
    ("base", "other", "reason"),
    [
        (Version(()), version(draw_run(1, 100)), Reason.LOST_SAMPLES),
        (version(draw_run(1, 100)), Version(()), Reason.LOST_SAMPLES),
        (Version(()), Version(()), Reason.NO_SAMPLES),
        (version(draw_run(1, 4)), version(draw_run(2, 100)), Reason.TOO_FEW_UNITS),
        (
            version(RunCells(tuple(Cell(n, "", n, 1) for n in range(4)), 4)),
            version(draw_run(2, 100)),
            Reason.FEW_SAMPLES,
        ),
        (version(draw_run(1, 100)), version(draw_run(2, 1, ("a", "b"))), Reason.ONE_UNIT),
        (version(draw_run(1, 1)), version(RunCells((Cell(0, "", 7, 1),), 1)), Reason.ONE_VALUE),
        (Version((Fraction(0),)), Version((Fraction(1),)), Reason.NO_TIME),
        (Version((Fraction(2),)), Version((Fraction(1),)), Reason.NO_TIME),
        (Version((Fraction(2),), reason=Reason.FORMULA), Version((Fraction(1),)), Reason.FORMULA),
        (version(constant_hosts((7,))), version(constant_hosts((8,))), Reason.CONSTANT),
    ],
)
def test_reason_is_that_of_what_cannot_be_judged(base: Version, other: Version, reason: Reason) -> None:
    assert compare(base, other) is reason


@pytest.mark.parametrize(
    ("base", "other"),
    [
        (Version((Fraction(2),)), Version((Fraction(3),))),
        (Version((Fraction(2),), reason=Reason.FORMULA), Version((Fraction(3),), reason=Reason.FORMULA)),
        (version(constant_hosts((2,))), version(constant_hosts((3,)))),
    ],
)
def test_repeats_judge_what_time_cannot(base: Version, other: Version) -> None:
    comparison = compare(base, other, RunNoise(0.02, 4))
    assert isinstance(comparison, Comparison)
    assert comparison.spread.decided_by is Component.RUNS
    assert comparison.difference == Change(1.0, 0.2, 4)
    assert comparison.percent.value == 50.0
    assert comparison.percent.compute_p() == pytest.approx(comparison.difference.compute_p())


def test_difference_of_signed_values_is_in_percent_of_the_base() -> None:
    """There is no ratio of values that may be below 0: they are far from it here, but for one cell."""
    base, other = draw_run(1, 100), draw_run(2, 100)
    first = base.cells[0]
    signed = moved(base, [replace(first, sum=-1), *base.cells[1:]])
    assert isinstance(compared(base, other).percent, RatioChange)
    for runs in ((signed, other), (other, signed)):
        comparison = compared(*runs)
        percent, difference = comparison.percent.compute_interval(), comparison.difference.compute_interval()
        expected = [100 * end / comparison.base for end in (difference.low, difference.high)]
        assert (percent.low, percent.high) == pytest.approx(expected)


def test_change_of_a_base_below_zero_has_the_sign_of_the_difference() -> None:
    comparison = compare(Version((Fraction(-2),)), Version((Fraction(-3),)), RunNoise(0.02, 4))
    assert isinstance(comparison, Comparison)
    assert (comparison.percent.value, comparison.difference.value) == (-50.0, -1.0)
    assert comparison.percent.compute_interval().high == pytest.approx(-50 + 2.776 * 10, abs=0.01)


def test_fall_to_zero_ends_at_minus_100_percent() -> None:
    comparison = compare(Version((Fraction(2),) * 3), Version((Fraction(0),) * 3), RunNoise(0.15, 4))
    assert isinstance(comparison, Comparison)
    interval = comparison.percent.compute_interval()
    assert (comparison.percent.value, interval.low) == (-100.0, -100.0)
    assert interval.high == pytest.approx(-100 + 2.776 * math.sqrt(0.15 * 2 / 3) / 2 * 100, abs=0.01)


def test_noise_far_above_the_averages_leaves_a_finite_interval() -> None:
    comparison = compare(Version((Fraction(2),)), Version((Fraction(3),)), RunNoise(1e12, 4))
    assert isinstance(comparison, Comparison)
    interval = comparison.percent.compute_interval()
    assert interval.low >= -100
    assert 1e20 < interval.high < math.inf


def test_wider_of_two_intervals_decides() -> None:
    within = Spread(4.0, 62, Component.TIME, 63)
    # t is 2.00 with 62 degrees of freedom and 2.78 with 4: 2.00^2 * 4 = 2.78^2 * 2.07
    for variance, expected in ((1.0, within), (1.1, replace(within, variance=2.2, df=4, decided_by=Component.RUNS))):
        assert combine_with_noise(within, RunNoise(variance, 5), 1, 1) == expected


def test_repeats_count_by_the_number_of_runs() -> None:
    total = combine_with_noise(None, RunNoise(6.0, 4), 3, 2)
    assert total is not None
    assert total.variance == pytest.approx(6.0 / 3 + 6.0 / 2)


def test_one_degree_of_freedom_of_repeats_is_ignored() -> None:
    within = Spread(4.0, 62, Component.TIME, 63)
    assert combine_with_noise(within, RunNoise(100.0, 1), 1, 1) == within
    assert combine_with_noise(None, RunNoise(100.0, 1), 1, 1) is None


def test_slowly_varying_run_has_a_wider_interval() -> None:
    slow = RunCells(tuple(Cell(place, "", 1000 + place, 1) for place in range(100)), 100)
    steady = RunCells(tuple(Cell(place, "", 1000, 1) for place in range(100)), 100)
    spread = compared(slow, steady).spread
    assert (spread.reason, spread.batches) == (Reason.TOO_SHORT, 7)
    with_repeats = compared(slow, steady, RunNoise(1000.0, 4)).spread
    assert (with_repeats.reason, with_repeats.decided_by) == (None, Component.RUNS)


def draw_burst(seed: int, hosts: Sequence[str] = ("",), spread: int = 100) -> RunCells:
    """A run of 300 samples a host that are 0, but for ten at its start, which vary by `spread`."""
    random = Random(seed)
    cells = []
    for host in hosts:
        burst = sum(random.randint(300 - spread, 300 + spread) for _ in range(10))
        cells += [Cell(0, host, burst, 15), *(Cell(place, host, 0, 5) for place in range(1, 63))]
    return RunCells(tuple(cells), 300, 1, Weighting.PER_CLUSTER)


def test_burst_in_one_batch_decides_nothing() -> None:
    comparison = compared(draw_burst(1), draw_burst(2))
    assert comparison.spread.reason is Reason.FEW_BATCHES
    assert judge(comparison, Margin(2.0), Direction.LOWER).verdict is Verdict.CANNOT_TELL


@pytest.mark.parametrize(("bursts", "expected"), [(2, Reason.FEW_BATCHES), (3, Reason.FEW_BATCHES), (6, None)])
def test_bursts_in_several_batches_are_judged(bursts: int, expected: Reason | None) -> None:
    randoms = Random(1), Random(2)
    cells = (
        tuple(Cell(place, "", random.randint(2900, 3100) if place < bursts else 0, 5) for place in range(63))
        for random in randoms
    )
    assert compared(*(RunCells(item, 300) for item in cells)).spread.reason is expected


@pytest.mark.parametrize(("spread", "expected"), [(0, None), (100, Reason.FEW_BATCHES)])
def test_hosts_show_how_much_a_burst_varies(spread: int, expected: Reason | None) -> None:
    runs = [draw_burst(seed, HOSTS, spread) for seed in (1, 2)]
    noisy = [replace(run, cells=tuple(_add_noise(run.cells, seed))) for seed, run in enumerate(runs)]
    assert compared(*noisy).spread.reason is expected


def _add_noise(cells: Sequence[Cell], seed: int) -> Iterator[Cell]:
    """Add a little to all cells but the first of each host."""
    random = Random(seed)
    return (replace(cell, sum=cell.sum + random.randint(0, 20)) if cell.place else cell for cell in cells)


@pytest.mark.parametrize("bound", [-120.0, -100.0, -50.0, 0.0, 80.0])
def test_p_of_a_ratio_is_that_of_its_logarithm(bound: float) -> None:
    change = RatioChange(50.0, 0.3, 6)
    expected = stats.t.cdf((math.log1p(bound / 100) - math.log(1.5)) / 0.3, 6) if bound > -100 else 0.0
    assert change.compute_p_above(bound) == pytest.approx(expected, abs=1e-12)
    assert change.compute_p_below(bound) == pytest.approx(1 - expected, abs=1e-12)
    assert change.compute_p() == pytest.approx(2 * stats.t.sf(math.log(1.5) / 0.3, 6), abs=1e-12)


@pytest.mark.parametrize("bound", [-3.0, 0.0, 1.0, 10.0])
def test_p_of_a_bound_is_that_of_scipy(bound: float) -> None:
    change = Change(2.0, 1.5, 6)
    expected = stats.t.cdf((bound - 2.0) / 1.5, 6)
    assert change.compute_p_above(bound) == pytest.approx(expected, abs=1e-12)
    assert change.compute_p_below(bound) == pytest.approx(1 - expected, abs=1e-12)
    assert change.compute_p() == pytest.approx(2 * stats.t.sf(2.0 / 1.5, 6), abs=1e-12)


def test_interval_excludes_0_where_p_is_small() -> None:
    for value in (2.0, 2.4, 2.5, 3.0):
        change = Change(value, 1.0, 6)
        assert (change.compute_interval().low > 0) == (change.compute_p() < 0.05)


def test_reach_of_an_average_is_that_of_its_batches() -> None:
    """With one sample in each unit of time, batches vary by as much as independent samples."""
    random = Random(1)
    cells = tuple(Cell(place, "", round(random.gauss(100, 10) * 1000), 1) for place in range(63))
    measured = version(RunCells(cells, 189, 1000))
    deviation = stats.tstd([cell.sum / 1000 for cell in cells])
    expected = 100 * stats.t.ppf(0.975, 62) * deviation / math.sqrt(63) / float(measured.mean)
    assert estimate_reach(measured) == pytest.approx(expected, rel=1e-9)


def test_reach_of_an_average_covers_what_runs_differ_by() -> None:
    measured = version(*(draw_run(seed, 189) for seed in (1, 2, 3)))
    expected = 100 * stats.t.ppf(0.975, 4) * math.sqrt(25 / 3) / float(measured.mean)
    assert estimate_reach(measured, RunNoise(25.0, 4)) == pytest.approx(expected, rel=1e-9)


def test_reach_is_unknown_without_variation() -> None:
    constant = RunCells(tuple(Cell(place, "", 5, 1) for place in range(63)), 189)
    assert [estimate_reach(item) for item in (version(constant), Version(()), Version((Fraction(3),)))] == [None] * 3
