"""The x axis of a chart: what is shown, on which scale, with which ticks."""

from __future__ import annotations

import pytest

from assay.report.document import Series
from assay.report.scale import BODY, BODY_SHARE, Scale, choose, tick_format
from tests.report_sample import published, published_chart

CENTILES = (0.0, 0.01, 0.05, 0.5, 0.95, 0.99, 0.999, 1.0)


def run(*values: float, hosts: float | None = None) -> Series:
    """A run whose listed centiles have these values; every host within `hosts` of them."""
    points = zip(values, CENTILES, strict=True)
    if hosts is None:
        return Series("a", tuple((x, centile, None, None) for x, centile in points))
    return Series("a", tuple((x, centile, x - hosts, x + hosts) for x, centile in points))


def test_values_near_each_other_are_all_shown_on_a_linear_scale() -> None:
    assert choose([run(2.1, 2.2, 2.4, 3, 3.6, 3.8, 3.9, 4)]) == Scale("linear", 2.0, 4.0, (2, 2.5, 3, 3.5, 4))


def test_the_axis_starts_at_zero_when_the_least_value_is_near_it() -> None:
    assert choose([run(1, 1, 1.5, 3, 3.5, 3.8, 4, 4)]).low == 0.0


def test_a_long_tail_of_positive_values_goes_on_a_logarithmic_scale() -> None:
    scale = choose([run(2, 2, 3, 10, 40, 80, 100, 400)])
    assert scale == Scale("log", 2.0, 500.0, (2, 5, 10, 20, 50, 100, 200, 500))


def test_a_tail_that_no_scale_can_hold_is_cut_at_the_widest_centile_that_leaves_room() -> None:
    scale = choose([run(0, 30, 31, 42, 54, 55, 60, 93669)])
    assert scale == Scale("linear", 0.0, 80.0, (0, 20, 40, 60, 80))


def test_both_ends_are_cut_when_both_have_tails() -> None:
    scale = choose([run(-9000, 29, 30, 42, 54, 55, 56, 93669)])
    assert (scale.kind, scale.low, scale.high) == ("linear", 25.0, 60.0)


def test_a_value_of_zero_keeps_the_scale_linear() -> None:
    assert choose([run(0, 2, 3, 10, 40, 80, 100, 400)]).kind == "linear"


def test_positive_values_over_two_decades_are_logarithmic_at_once() -> None:
    assert choose([run(1, 1, 1, 50, 200, 300, 350, 400)]) == Scale("log", 1.0, 500.0, (1, 10, 100))


def test_the_body_of_the_run_that_reaches_furthest_counts() -> None:
    near, far = run(1, 1, 1, 1.5, 2, 2, 2, 2), run(1, 1, 5, 7, 9, 9, 9, 9)
    assert choose([near, far]).high == 10.0


def test_the_bands_of_the_hosts_are_shown_when_there_is_room() -> None:
    values = (60, 60, 61, 70, 79, 80, 80, 80)
    assert choose([run(*values, hosts=9)]) == Scale("linear", 50, 90, (50, 60, 70, 80, 90))
    assert choose([run(*values, hosts=90)]).high == 85


def test_one_value_alone_stands_in_the_middle() -> None:
    scale = choose([run(*[50.5] * 8)])
    assert scale.low < 50.5 < scale.high
    assert choose([run(*[0.0] * 8)]) == Scale("linear", 0.0, 1.0, (0, 1))


def test_without_points_there_is_still_an_axis() -> None:
    assert choose([]) == choose([Series("a", ())]) == Scale("linear", 0.0, 1.0, (0, 1))


def test_whole_numbers_have_whole_ticks() -> None:
    assert choose([run(0, 0, 0, 1, 2, 2, 2, 2)]).ticks == (0, 1, 2)


def test_a_template_may_ask_for_a_scale() -> None:
    values = run(2, 2, 3, 10, 40, 80, 100, 400)
    assert choose([values], "linear").kind == "linear"
    assert choose([run(2.5, 3, 3, 3, 3, 3, 3, 3.5)], "log").kind == "log"
    assert choose([run(0, 0, 1, 1, 1, 1, 1, 1)], "log").kind == "linear"


@pytest.mark.parametrize("metric", [item["id"] for item in published()["charts"]])
def test_the_body_of_every_published_chart_has_its_room(metric: str) -> None:
    series = published_chart(metric).series
    scale = choose(series)
    values = [(x, centile) for item in series for x, centile, _, _ in item.points]
    low = min(x for x, centile in values if centile == BODY[0])
    high = max(x for x, centile in values if centile == BODY[1])
    if scale.kind == "linear" and low < high:
        # The ends are rounded outwards to whole steps, which may take a little of the room.
        assert (high - low) / (scale.high - scale.low) > 0.7 * BODY_SHARE


@pytest.mark.parametrize("metric", [item["id"] for item in published()["charts"]])
def test_ticks_ascend_within_the_axis(metric: str) -> None:
    scale = choose(published_chart(metric).series)
    assert list(scale.ticks) == sorted(set(scale.ticks))
    assert scale.low <= scale.ticks[0]
    assert scale.ticks[-1] <= scale.high
    assert 2 <= len(scale.ticks) <= 9


@pytest.mark.parametrize(
    ("ticks", "expected"),
    [
        ((0.0, 20.0, 40.0), ".0f"),
        ((0.0, 0.05, 0.1), ".2f"),
        ((0.0, 0.0005, 0.001), ".4f"),
        ((1.0, 10.0, 100.0), "~r"),
        ((0.0, 50000.0, 100000.0), "~s"),
    ],
)
def test_tick_labels_have_the_decimals_that_the_finest_needs(ticks: tuple[float, ...], expected: str) -> None:
    assert tick_format(ticks) == expected
