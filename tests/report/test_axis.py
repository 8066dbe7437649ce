"""Test the x axis of a chart: its range, its scale, and its labels, which are distinct and fit."""

from __future__ import annotations

import csv
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.report.charts.axis import (
    BODY,
    BODY_SHARE,
    Room,
    Scale,
    choose_scale,
    choose_tick_format,
    keep_fitting_labels,
)
from assay.report.charts.render import draw, load_template
from assay.report.charts.vega_spec import build_chart_spec
from assay.report.document import Chart, Series
from tests.report_sample import TEMPLATES, build_published_chart, load_published

CASES = Path(__file__).parent / "cases" / "scales.csv"
CENTILES = (0.0, 0.01, 0.05, 0.5, 0.95, 0.99, 0.999, 1.0)


def run(*values: float, hosts: float | None = None) -> Series:
    """Create a run whose listed centiles have these values; every host is within `hosts` of them."""
    points = zip(values, CENTILES, strict=True)
    if hosts is None:
        return Series("a", tuple((x, centile, None, None) for x, centile in points))
    return Series("a", tuple((x, centile, x - hosts, x + hosts) for x, centile in points))


def create_series(values: dict[float, float]) -> Series:
    """Create a run with these values at these centiles."""
    return Series("a", tuple((x, centile, None, None) for centile, x in values.items()))


def read_scales() -> list[object]:
    """Read the cases of scales: runs, the scale that a template requests, and the statement about the axis."""
    with CASES.open(encoding="utf-8", newline="") as file:
        return [pytest.param(row, id=row["title"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize("case", read_scales())
def test_axis_has_the_scale_of_its_case(case: dict[str, str]) -> None:
    """An empty cell states nothing."""
    hosts = float(case["hosts"]) if case["hosts"] else None
    runs = [run(*map(float, values.split()), hosts=hosts) for values in case["runs"].split("|")]
    scale = choose_scale(runs, case["asked"])
    assert scale.kind == (case["kind"] or scale.kind)
    assert scale.low == float(case["low"] or scale.low)
    assert scale.high == float(case["high"] or scale.high)
    assert scale.ticks == (tuple(map(float, case["ticks"].split())) or scale.ticks)


@pytest.mark.parametrize("cut", [0.999, 0.995, 0.99, 0.97, 0.95])
def test_the_axis_is_cut_at_each_of_five_centiles(cut: float) -> None:
    """It ends 4 % beyond the value at the centile, 95, if an earlier end leaves too little room."""
    centiles = (0.0, 0.05, 0.5, 0.95, 0.97, 0.98, 0.99, 0.995, 0.997, 0.999, 0.9995, 1.0)
    below = {centile: 60 * centile for centile in centiles if centile < cut}
    high_values = {centile: 1e6 for centile in centiles if centile > cut}
    assert choose_scale([create_series({**below, cut: 95, **high_values})]).high == 100


def test_the_upper_end_is_cut_before_both() -> None:
    """The smallest values stay on the axis where there is room for them."""
    upper = {0.95: 54.0, 0.99: 55.0, 0.995: 93000.0, 0.999: 93000.0, 1.0: 93669.0}
    scale = choose_scale([create_series({0.0: 0.0, 0.01: 30.0, 0.05: 31.0, 0.5: 42.0, **upper})])
    assert (scale.low, scale.high) == (0, 60)


def test_lower_end_is_set_by_the_run_that_reaches_furthest() -> None:
    far_run, near_run = run(-9000, 130, 131, 142, 154, 155, 156, 180), run(-9000, 150, 151, 152, 154, 155, 156, 180)
    assert choose_scale([far_run, near_run]) == choose_scale([near_run, far_run]) == choose_scale([far_run])


def test_run_begins_at_its_first_listed_value() -> None:
    """The range from there to 50 times the value is less than two decades."""
    assert choose_scale([create_series({0.06: 1.0, 0.5: 30.0, 0.95: 50.0, 1.0: 60.0})]).kind == "linear"


def test_without_points_there_is_still_an_axis() -> None:
    assert choose_scale([]) == choose_scale([Series("a", ())]) == Scale("linear", 0.0, 1.0, (0, 1))


@pytest.mark.parametrize("metric", [item["id"] for item in load_published()["charts"]])
def test_the_body_of_every_published_chart_has_its_room(metric: str) -> None:
    series = build_published_chart(metric).series
    scale = choose_scale(series)
    values = [(x, centile) for item in series for x, centile, _, _ in item.points]
    low = min(x for x, centile in values if centile == BODY[0])
    high = max(x for x, centile in values if centile == BODY[1])
    if scale.kind == "linear" and low < high:
        # The ends are rounded outwards to whole steps, which may take a little of the room.
        assert (high - low) / (scale.high - scale.low) > 0.7 * BODY_SHARE


@pytest.mark.parametrize("metric", [item["id"] for item in load_published()["charts"]])
def test_ticks_ascend_within_the_axis(metric: str) -> None:
    scale = choose_scale(build_published_chart(metric).series)
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
    assert choose_tick_format(ticks) == expected


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=8, max_size=8))
@example([5e-324] * 7 + [1e-323])
@example([-1.7e308, *[0.0] * 6, 1.7e308])
@example([1e-320, *[1.0] * 6, 1e308])
@example([1.0] * 7 + [1.0000000000000002])
def test_every_axis_has_ends_and_ticks_between_them(values: list[float]) -> None:
    """Every finite double has an axis."""
    for kind in ("auto", "linear", "log"):
        scale = choose_scale([run(*sorted(values))], kind)
        assert scale.low < scale.high
        assert all(scale.low <= tick <= scale.high for tick in scale.ticks)
        assert list(scale.ticks) == sorted(set(scale.ticks))
        assert choose_tick_format(scale.ticks)


# Labels


ROOM = Room(256, 40, 14)
#: x and text of the labels below an axis, in a drawing
LABELS = re.compile(
    r'text-anchor="middle" transform="translate\(([\d.]+),[\d.]+\)"[^>]*font-size="9.5px"[^>]*>([^<]+)<'
)


def create_chart(least: float, greatest: float) -> Chart:
    """Create a chart of eleven values at equal distances."""
    step = (greatest - least) / 10
    points = tuple((least + step * place, place / 10, None, None) for place in range(11))
    return Chart("m", 1, "Time", "Time, s", "s", "cdf", (Series("run", points),))


def read_labels(least: float, greatest: float) -> list[tuple[float, str]]:
    """Return the labels below the axis of such a chart, each with its distance from the drawing's left edge."""
    (drawing,) = draw([create_chart(least, greatest)], TEMPLATES)
    return [(float(x) + 40, text) for x, text in LABELS.findall(drawing.svg) if text != "Time, s"]


@pytest.mark.parametrize(
    ("least", "greatest", "expected"),
    [
        (0.0, 3.0, ["0.0", "0.5", "1.0", "1.5", "2.0", "2.5", "3.0"]),
        (0.0, 2.5e-12, ["0", "5e-13", "1e-12", "1.5e-12", "2e-12"]),  # not only 0
        (1e-13, 1.2e-13, ["1e-13", "1.05e-13", "1.1e-13", "1.15e-13"]),
        (0.1, 0.1000002, ["0.10000000", "0.10000005", "0.10000010", "0.10000015"]),
        (1.7e9, 1.7e9 + 2, ["1.7G", "1.7000000005G", "1.700000001G", "1.7000000015G"]),
        (1e18, 2e18, ["1E", "1.2E", "1.4E", "1.6E", "1.8E", "2E"]),
    ],
)
def test_labels_tell_values_of_any_size_apart(least: float, greatest: float, expected: list[str]) -> None:
    placed = read_labels(least, greatest)
    assert [text for _, text in placed] == expected
    widths = [4.6 * len(text) for _, text in placed]
    edges = [(x - width / 2, x + width / 2) for (x, _), width in zip(placed, widths, strict=True)]
    assert edges[0][0] >= 0
    assert edges[-1][1] <= 40 + 256 + 14
    assert all(right < left for (_, right), (left, _) in pairwise(edges))


def test_a_logarithmic_axis_of_many_decades_has_labels_at_some() -> None:
    powers = tuple(10.0**power for power in range(-12, 13))
    axis = keep_fitting_labels(Scale("log", 1e-12, 1e12, powers), ROOM)
    assert axis.ticks == powers[::2]
    assert choose_tick_format(axis.ticks) == "~s"
    assert choose_tick_format(powers[:12]) == "~g"


def test_only_the_first_tick_may_lack_room_for_its_label() -> None:
    ticks = (1.0, 1.0000000000000002)
    assert keep_fitting_labels(Scale("linear", *ticks, ticks), ROOM).ticks == ticks[:1]


@pytest.mark.parametrize(
    ("offset", "title"), [(0.0, "axis cut: values up to 10000"), (0.1, "axis cut: values up to 0.100001")]
)
def test_cut_axis_states_the_largest_value(offset: float, title: str) -> None:
    step = 1e-10 if offset else 1.0
    values = [offset + step * (place if place < 1000 else 10_000) for place in range(1001)]
    points = tuple((value, place / 1000, None, None) for place, value in enumerate(values))
    spec = build_chart_spec(
        Chart("m", 1, "Time", "Time, s", "s", "cdf", (Series("run", points),)), load_template(TEMPLATES, "cdf")
    )
    assert spec["encoding"]["x"]["axis"]["title"][1:] == [title]
