"""The x axis of a chart: what is shown, on which scale, with which ticks."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.report.charts.axis import BODY, BODY_SHARE, Scale, choose, tick_format
from assay.report.document import Series
from tests.report_sample import published, published_chart

CENTILES = (0.0, 0.01, 0.05, 0.5, 0.95, 0.99, 0.999, 1.0)


def run(*values: float, hosts: float | None = None) -> Series:
    """A run whose listed centiles have these values; every host within `hosts` of them."""
    points = zip(values, CENTILES, strict=True)
    if hosts is None:
        return Series("a", tuple((x, centile, None, None) for x, centile in points))
    return Series("a", tuple((x, centile, x - hosts, x + hosts) for x, centile in points))


def listed(values: dict[float, float]) -> Series:
    """A run with these values at these centiles."""
    return Series("a", tuple((x, centile, None, None) for centile, x in values.items()))


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


def test_without_room_for_the_bands_all_values_are_shown_still() -> None:
    """Before the greatest of them is cut off."""
    scale = choose([run(60, 60, 61, 70, 79, 80, 80, 85, hosts=90)])
    assert (scale.low, scale.high) == (55, 90)


def test_three_tenths_of_the_axis_are_room_enough() -> None:
    """30 of 100."""
    assert choose([run(0, 0, 30, 45, 60, 60, 60, 100)]).high == 100


@pytest.mark.parametrize("cut", [0.999, 0.995, 0.99, 0.97, 0.95])
def test_the_axis_is_cut_at_each_of_five_centiles(cut: float) -> None:
    """At the value there, 95, and 4 % beyond, where nothing less than that leaves room."""
    centiles = (0.0, 0.05, 0.5, 0.95, 0.97, 0.98, 0.99, 0.995, 0.997, 0.999, 0.9995, 1.0)
    below = {centile: 60 * centile for centile in centiles if centile < cut}
    above = {centile: 1e6 for centile in centiles if centile > cut}
    assert choose([listed({**below, cut: 95, **above})]).high == 100


def test_the_upper_end_is_cut_before_both() -> None:
    """What is least stays where there is room for it."""
    upper = {0.95: 54.0, 0.99: 55.0, 0.995: 93000.0, 0.999: 93000.0, 1.0: 93669.0}
    scale = choose([listed({0.0: 0.0, 0.01: 30.0, 0.05: 31.0, 0.5: 42.0, **upper})])
    assert (scale.low, scale.high) == (0, 60)


def test_the_lower_end_is_cut_before_both_and_the_axis_goes_on_beyond() -> None:
    """From 130, and 2 (4 % of 50) less, to the greatest value."""
    scale = choose([run(-9000, 130, 131, 142, 154, 155, 156, 180)])
    assert scale == Scale("linear", 120, 180, (120, 130, 140, 150, 160, 170, 180))


def test_the_lower_end_is_that_of_the_run_that_reaches_furthest() -> None:
    far, near = run(-9000, 130, 131, 142, 154, 155, 156, 180), run(-9000, 150, 151, 152, 154, 155, 156, 180)
    assert choose([far, near]) == choose([near, far]) == choose([far])


def test_a_run_whose_first_centile_is_listed_late_begins_at_its_first_value() -> None:
    """50 times that value is no two decades."""
    assert choose([listed({0.06: 1.0, 0.5: 30.0, 0.95: 50.0, 1.0: 60.0})]).kind == "linear"


@pytest.mark.parametrize(("top", "kind"), [(60, "linear"), (99, "linear"), (100, "log")])
def test_where_both_scales_have_room_the_logarithmic_one_is_for_two_decades(top: float, kind: str) -> None:
    """Two decades of the middle 90 %, that is; the whole spans more than one here."""
    assert choose([run(1, 1, 1, 30, top, top + 1, top + 2, top + 3)]).kind == kind


@pytest.mark.parametrize(
    ("greatest", "scale"),
    [
        (100, Scale("log", 10, 100, (10, 20, 50, 100))),
        (95, Scale("linear", 0, 80, (0, 20, 40, 60, 80))),
    ],
)
def test_a_logarithmic_scale_has_a_decade_at_least(greatest: float, scale: Scale) -> None:
    """Else the axis is cut: here at 60."""
    assert choose([run(10, 11, 12, 20, 36, 50, 60, greatest)]) == scale


def test_a_logarithmic_axis_that_is_cut_ends_where_it_is_cut() -> None:
    scale = choose([run(2, 2, 2, 10, 40, 80, 200, 1e12)])
    assert scale == Scale("log", 2, 200, (2, 5, 10, 20, 50, 100, 200))


@pytest.mark.parametrize(("least", "low"), [(35, 0), (35.2, 20)])
def test_the_least_value_is_near_zero_up_to_35_percent_of_the_greatest(least: float, low: float) -> None:
    assert choose([run(least, 40, 45, 60, 80, 90, 95, 100)]).low == low


@pytest.mark.parametrize(
    ("greatest", "ticks"), [(160, (100, 110, 120, 130, 140, 150, 160)), (160.5, (100, 120, 140, 160, 180))]
)
def test_an_axis_has_six_parts_at_most(greatest: float, ticks: tuple[float, ...]) -> None:
    assert choose([run(100, 100, 110, 130, 150, 155, 160, greatest)]).ticks == ticks


def test_one_value_alone_stands_in_the_middle() -> None:
    """A tenth of it is shown on both sides, whatever its sign and the scale that is asked for."""
    assert choose([run(*[50.5] * 8)]) == Scale("linear", 44, 56, (44, 46, 48, 50, 52, 54, 56))
    assert choose([run(*[50.0] * 8)], "log") == Scale("linear", 44, 56, (44, 46, 48, 50, 52, 54, 56))
    assert choose([run(*[-50.0] * 8)]) == Scale("linear", -56, -44, (-56, -54, -52, -50, -48, -46, -44))
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
    assert choose([run(0.5, 0.6, 0.6, 0.7, 0.8, 0.8, 0.8, 0.9)], "log").kind == "log"


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


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=8, max_size=8))
@example([5e-324] * 7 + [1e-323])
@example([-1.7e308, *[0.0] * 6, 1.7e308])
@example([1e-320, *[1.0] * 6, 1e308])
@example([1.0] * 7 + [1.0000000000000002])
def test_every_axis_has_ends_and_ticks_between_them(values: list[float]) -> None:
    """No number that a double can hold ends in an error."""
    for asked in ("auto", "linear", "log"):
        scale = choose([run(*sorted(values))], asked)
        assert scale.low < scale.high
        assert all(scale.low <= tick <= scale.high for tick in scale.ticks)
        assert list(scale.ticks) == sorted(set(scale.ticks))
        assert tick_format(scale.ticks)
