"""False alarms and power: what is judged of runs between which nothing changed, and of runs that are slower.

All seeds are fixed. A deep run has the numbers of pairs that docs/judgement-method.md has its figures from, others
have fewer and wider bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random

import pytest

from assay.judgement.batches import RunCells, RunInfluence, measure_run
from assay.judgement.gate import assess_gate
from assay.judgement.interval import Comparison, Component, Spread, Version, combine_with_noise, compare
from assay.judgement.repeats import RunNoise, pool_variances
from assay.judgement.student_t import compute_quantile
from assay.judgement.verdict import Direction, Judgement, Margin, Verdict, judge
from tests.support.deep import is_deep
from tests.support.random_series import LEVEL, draw_series, series_cells
from tests.support.simulated_metrics import simulate_metrics, simulate_propagation

IS_DEEP = is_deep()
PAIRS = 200 if IS_DEEP else 30
SERIES = 1500 if IS_DEEP else 200
SLOW_PAIRS = 50 if IS_DEEP else 15
DRAWS = 20_000 if IS_DEEP else 2000
LINKED_RUNS = 80
MARGIN = Margin(percent=2.0)
SCALED = ("ticked", "snapshot", "forge", "announce", "self_adoption", "request", "fetch", "adoption")
END_TO_END = ("adoption_50", "adoption_80", "adoption_100")
Judgements = dict[str, Judgement]
Influences = dict[str, RunInfluence]


def measured(metrics: Mapping[str, RunCells]) -> Influences:
    return {metric: measure_run(cells) for metric, cells in metrics.items()}


def judged(base: Influences, other: Influences) -> Judgements:
    """Judge all metrics of two runs at a margin of 2 %."""
    versions = {metric: (Version.from_runs([base[metric]]), Version.from_runs([other[metric]])) for metric in base}
    return {metric: judge(compare(*pair), MARGIN, Direction.LOWER) for metric, pair in versions.items()}


def is_closed(judgements: Judgements) -> bool:
    gate = assess_gate({(metric, "b"): item for metric, item in judgements.items()})
    return any(metric.is_worse for metric in gate)


def is_alarm(judgement: Judgement) -> bool:
    return judgement.p is not None and judgement.p < 0.05


def rate_of(events: Sequence[bool]) -> float:
    """Return how many of them are true, in percent."""
    return 100 * sum(events) / len(events)


def find_sampling_error(percent: float, count: int) -> float:
    """Return the standard deviation of a rate in percent."""
    return math.sqrt(percent * (100 - percent) / count)


# Two runs of the simulator, between which nothing changed


@pytest.fixture(scope="module")
def unchanged() -> list[Judgements]:
    return [
        judged(*(measured(simulate_metrics(seed)) for seed in (2 * pair + 1, 2 * pair + 2))) for pair in range(PAIRS)
    ]


def test_one_in_twenty_intervals_excludes_0(unchanged: list[Judgements]) -> None:
    """Published: 3.8 %; measured over 200 pairs: 4.1 %."""
    alarms = [is_alarm(judgement) for judgements in unchanged for judgement in judgements.values()]
    assert 2.5 <= rate_of(alarms) <= 6


def test_no_metric_raises_many_false_alarms(unchanged: list[Judgements]) -> None:
    """Published: 6.0 % for the worst metric; measured over 200 pairs: 7.5 %."""
    rates = {metric: rate_of([is_alarm(judgements[metric]) for judgements in unchanged]) for metric in unchanged[0]}
    assert len(rates) == 21
    assert "heap" in rates
    bound = 10 if IS_DEEP else 20
    assert {metric: rate for metric, rate in rates.items() if rate > bound} == {}


def test_gate_is_open_where_nothing_changed(unchanged: list[Judgements]) -> None:
    """Published: closed in 1.0 %; measured over 200 pairs: 0 %."""
    assert rate_of([is_closed(judgements) for judgements in unchanged]) <= 3


def test_few_metrics_are_worse_where_nothing_changed(unchanged: list[Judgements]) -> None:
    """Published: less than 1 % worse or better, 19 to 20 % the same; measured over 200 pairs: 0.4 and 12.8 %."""
    verdicts = [judgement.verdict for judgements in unchanged for judgement in judgements.values()]
    assert rate_of([verdict in (Verdict.WORSE, Verdict.BETTER) for verdict in verdicts]) < 1
    assert rate_of([verdict is Verdict.SAME for verdict in verdicts]) > 10


def test_levels_of_hosts_decide_on_the_heap(unchanged: list[Judgements]) -> None:
    """The heap is constant within a host and run, so that only hosts are witnesses."""
    comparisons = [judgements["heap"].comparison for judgements in unchanged]
    assert {item.spread.decided_by for item in comparisons if item} == {Component.HOSTS}


# A run that is slower


def simulate_pairs(factor: float) -> list[tuple[Influences, Influences]]:
    seeds = [(1000 + pair, 2000 + pair) for pair in range(SLOW_PAIRS)]
    return [
        (measured(simulate_propagation(one)), measured(simulate_propagation(other, factor))) for one, other in seeds
    ]


@pytest.fixture(scope="module")
def slowed() -> list[Judgements]:
    """Judge runs of which all delays are longer by 20 %."""
    return [judged(*pair) for pair in simulate_pairs(1.2)]


def test_slowdown_of_a_fifth_closes_the_gate(slowed: list[Judgements]) -> None:
    """Published: 100 %; measured over 50 pairs: 100 %."""
    assert rate_of([is_closed(judgements) for judgements in slowed]) >= 95


def test_equal_speed_leaves_the_gate_open() -> None:
    """Published: closed in 1.2 %; measured over 50 pairs: 0 %."""
    assert rate_of([is_closed(judged(*pair)) for pair in simulate_pairs(1.0)]) <= 2


def test_interval_holds_the_true_percentage(slowed: list[Judgements]) -> None:
    """Published: 95.5 to 96.5 % of intervals hold 20 %; measured over 50 pairs and 8 metrics: 96.5 %."""
    intervals = [judgements[metric].interval for judgements in slowed for metric in SCALED]
    holds = [interval.low <= 20 <= interval.high for interval in intervals if interval]
    assert len(holds) == len(slowed) * len(SCALED)
    assert 90 <= rate_of(holds) <= 99


# Series in which values depend on those before


@pytest.mark.parametrize(
    ("length", "correlation", "published"),
    [(57, 0.0, 4.6), (100, 0.6, 4.5), (300, 0.9, 4.7), (1000, 0.6, 5.3), (1000, 0.9, 4.9)],
)
def test_correlated_series_raise_published_false_alarms(length: int, correlation: float, published: float) -> None:
    """Both rates have a sampling error, that of a rate by itself; 3.5 times both together are allowed.

    Those published are of 1500 other pairs.
    """
    random = Random(f"{length}/{correlation}/1")
    series = [[draw_series(random, length, correlation) for _ in range(2)] for _ in range(SERIES)]
    rate = rate_of([is_detected(*pair) for pair in series])
    error = math.hypot(find_sampling_error(published, 1500), find_sampling_error(published, SERIES))
    assert rate == pytest.approx(published, abs=3.5 * error)


def is_detected(one: Sequence[float], other: Sequence[float], change: float = 0.0) -> bool:
    """Return whether a change is detected that is added to the other series."""
    versions = [
        Version.from_runs([measure_run(series_cells(*item))]) for item in ((one, LEVEL), (other, LEVEL + change))
    ]
    comparison = compare(*versions)
    assert isinstance(comparison, Comparison)
    return comparison.percent.compute_p() < 0.05


@pytest.mark.parametrize("drift", [0, 10])
def test_common_drift_costs_no_power(drift: int) -> None:
    """A change of 3 standard errors is detected; published: 80 to 84 %, without a drift 83 to 85 %.

    Measured over 500 pairs: 79 and 82 %. Unpaired, a drift of 10 standard deviations would leave no power.
    """
    random, length = Random(f"drift/{drift}"), 1000
    change = 3 * math.sqrt(2 / length)
    course = [drift * time / length for time in range(length)]
    detected = []
    for _ in range(SERIES // 3):
        pair = [[sum(values) for values in zip(draw_series(random, length, 0), course, strict=True)] for _ in range(2)]
        detected.append(is_detected(*pair, change))
    assert rate_of(detected) >= 70


# Runs that differ from each other by more than they vary


@pytest.fixture(scope="module")
def linked() -> list[Influences]:
    """Measure runs of which each has a network of its own."""
    return [measured(simulate_propagation(3000 + run, is_distant=True)) for run in range(LINKED_RUNS)]


def find_alarms(runs: Sequence[Influences], metric: str, calibration: int) -> float:
    """Return the false alarms of pairs of neighbours in a ring, in percent, calibrated with the runs after them."""
    alarms = []
    for first in range(len(runs)):
        one, other, *others = (runs[(first + step) % len(runs)][metric] for step in range(2 + calibration))
        comparison = compare(
            Version.from_runs([one]), Version.from_runs([other]), pool_variances([[run.mean for run in others]])
        )
        alarms.append(isinstance(comparison, Comparison) and comparison.percent.compute_p() < 0.05)
    return rate_of(alarms)


@pytest.mark.parametrize("metric", END_TO_END)
def test_five_calibration_runs_hold_what_runs_vary_by(linked: list[Influences], metric: str) -> None:
    """Published: 6.2 and 8.8 % instead of 59 and 56 %; measured: 2.5 to 5.0 % instead of 56 to 66 %."""
    assert find_alarms(linked, metric, 0) >= 40
    assert find_alarms(linked, metric, 5) <= 10


@pytest.mark.parametrize("calibration", [3, 5, 8])
@pytest.mark.parametrize("run_to_run", [0.0, 0.5, 1.0, 2.0, 4.0])
def test_calibrated_intervals_hold_the_truth(run_to_run: float, calibration: int) -> None:
    """A run varies by 0.5 % within, and from run to run by as much as `run_to_run`, both normally distributed.

    With 200 000 draws: 95.0 to 98.7 %, more where runs do not differ.
    """
    holds = measure_coverage(run_to_run, calibration, 1)
    assert 95 - 3.5 * find_sampling_error(95, DRAWS) <= holds <= 99.5


@pytest.mark.parametrize("run_to_run", [0.5, 2.0])
def test_three_runs_a_version_hold_the_truth(run_to_run: float) -> None:
    assert measure_coverage(run_to_run, 0, 3) >= 95 - 3.5 * find_sampling_error(95, DRAWS)


@pytest.mark.parametrize(("run_to_run", "published"), [(0.0, 94.4), (0.5, 83.0), (2.0, 37.0), (4.0, 19.0)])
def test_intervals_without_repeats_miss_what_runs_vary_by(run_to_run: float, published: float) -> None:
    error = math.hypot(find_sampling_error(published, 20_000), find_sampling_error(published, DRAWS))
    assert measure_coverage(run_to_run, 0, 1) == pytest.approx(published, abs=3.5 * error + 0.5)


def measure_coverage(run_to_run: float, calibration: int, runs: int) -> float:
    """Return how many intervals of random versions without a change hold 0, in percent."""
    random = Random(f"{run_to_run}/{calibration}/{runs}")
    return rate_of([draw_coverage(random, run_to_run, calibration, runs) for _ in range(DRAWS)])


def draw_coverage(random: Random, run_to_run: float, calibration: int, runs: int) -> bool:
    """Draw two versions without a change; return whether the interval holds 0."""
    within, df = 0.5, 62
    groups = [
        [random.gauss(0, math.hypot(within, run_to_run)) for _ in range(size)] for size in (runs, runs, calibration)
    ]
    change = sum(groups[1]) / runs - sum(groups[0]) / runs
    variance = 2 * within**2 / runs * random.gammavariate(df / 2, 2) / df
    spread = combine_with_noise(Spread(variance, df, Component.TIME, df + 1), pool_floats(groups), runs, runs)
    assert spread is not None
    return abs(change) <= compute_quantile(0.975, spread.df) * math.sqrt(spread.variance)


def pool_floats(groups: Sequence[Sequence[float]]) -> RunNoise | None:
    """Pool variances as `pool_variances` does, but in floats: fractions would take minutes."""
    several = [group for group in groups if len(group) > 1]
    df = sum(len(group) - 1 for group in several)
    squares = math.fsum((value - sum(group) / len(group)) ** 2 for group in several for value in group)
    return RunNoise(squares / df, df) if df >= 2 else None
