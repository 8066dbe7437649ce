"""Test texts of chart points of every reference case, for all values of a centile."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.number_styles.chart_points import (
    HostSpread,
    PointKind,
    format_centile,
    format_host_point,
    format_point,
    invert_picoseconds_twice,
    invert_twice,
)
from assay.number_styles.exact_decimal import to_shortest_decimal
from tests.compare_reference import (
    CARDANO,
    CASES,
    COUNTS,
    PUBLISHED,
    RATIOS,
    SIGNED,
    get_width,
    load_block_metrics,
    load_host_metrics,
    load_json,
)

PLOTTED = ("release-10.5.4.plutus.cdf.json", "release-10.5.4.value-only.cdf.json")
NANOSECONDS = st.integers(0, 10**15)


def get_kind(metric: str) -> PointKind:
    if metric in RATIOS:
        return PointKind.RATIO
    if metric in SIGNED:
        return PointKind.INTEGER
    return PointKind.COUNT if metric in COUNTS else PointKind.DURATION


def convert_sample(metric: str, number: float) -> float:
    """Return a reference number in the unit of its kind: durations are written in seconds, to the nanosecond."""
    return int(to_shortest_decimal(number).scaleb(9)) if get_kind(metric) is PointKind.DURATION else number


def create_host_spread(metric: str, item: dict[str, Any]) -> HostSpread:
    median, least, greatest = (convert_sample(metric, item) for item in (item["cdfMedian"], *item["cdfRange"]))
    return HostSpread(median, least, greatest, item["cdfStddev"])


def format_host_points(metric: str, item: dict[str, Any], reciprocal_points: bool) -> list[list[str]]:
    return [
        [
            format_centile(centile),
            *format_host_point(
                get_kind(metric),
                create_host_spread(metric, hosts),
                get_width(metric),
                reciprocal_points=reciprocal_points,
            ),
        ]
        for centile, hosts in item["cdfSamples"]
    ]


def format_block_points(metric: str, item: dict[str, Any]) -> list[list[str]]:
    return [
        [format_centile(centile), format_point(get_kind(metric), convert_sample(metric, number), get_width(metric))]
        for centile, number in item["cdfSamples"]
    ]


@pytest.mark.parametrize("case", CASES)
def test_every_point_of_the_reference_charts_is_printed(case: str) -> None:
    expected = load_json(CARDANO / case / "cdf.json.gz")
    printed_blocks = {metric: format_block_points(metric, item) for metric, item in load_block_metrics(case).items()}
    printed_blocks |= {
        metric: format_host_points(metric, item, True) for metric, item in load_host_metrics(case).items()
    }
    assert len(expected) == 55
    for metric, points in expected.items():
        assert (metric, printed_blocks[metric]) == (metric, points)


def test_reference_charts_need_the_median_inverted_twice() -> None:
    changed_metrics = set()
    for case in CASES:
        expected = load_json(CARDANO / case / "cdf.json.gz")
        plain_texts = {
            metric: format_host_points(metric, item, False) for metric, item in load_host_metrics(case).items()
        }
        changed_metrics |= {
            get_kind(metric)
            for metric in plain_texts.keys() & expected.keys()
            if plain_texts[metric] != expected[metric]
        }
    assert changed_metrics == {PointKind.RATIO}


@pytest.mark.parametrize("file", PLOTTED)
def test_points_of_published_charts_are_printed_texts(file: str) -> None:
    charts = load_json(PUBLISHED / file)
    assert len(charts) == 29
    for metric, runs in charts.items():
        for points in runs.values():
            printed_points = [
                format_point(get_kind(metric), convert_sample(metric, value), get_width(metric)) for value, _ in points
            ]
            assert [float(text) for text in printed_points] == [float(value) for value, _ in points], metric


def test_inverting_twice_changes_last_digits() -> None:
    assert invert_twice(49.0) == 49.00000000000001
    assert invert_twice(0.0) == 0.0
    assert invert_picoseconds_twice(3.0) == 3_000_000_000_003
    assert invert_picoseconds_twice(0.001000003) == 1_000_003_000
    assert invert_picoseconds_twice(0.5) == 500_000_000_000
    assert invert_picoseconds_twice(0.0) == 0
    assert invert_picoseconds_twice(4e12) == 4 * 10**24


def test_median_inverted_twice_shows_its_digits() -> None:
    spread = HostSpread(3_000_000_000, 3_000_000_000, 3_000_000_000, 0.0)
    assert format_host_point(PointKind.DURATION, spread, 4) == ("3",) * 5
    inverted = format_host_point(PointKind.DURATION, spread, 4, reciprocal_points=True)
    assert inverted == ("3.00", "3", "3", "3.00", "3.00")


@pytest.mark.parametrize(
    ("of_kind", "deviation", "field", "plain", "inverted"),
    [(PointKind.RATIO, 0.013, 5, ".013", ".0130"), (PointKind.DURATION, 0.009, 4, ".008", ".009")],
)
def test_the_deviation_is_inverted_twice_with_the_median(
    of_kind: PointKind, deviation: float, field: int, plain: str, inverted: str
) -> None:
    spread = HostSpread(0, 0, 0, deviation)
    assert format_host_point(of_kind, spread, field)[4] == plain
    assert format_host_point(of_kind, spread, field, reciprocal_points=True)[4] == inverted


@given(NANOSECONDS)
def test_a_duration_is_cut_not_rounded(nanoseconds: int) -> None:
    text = format_point(PointKind.DURATION, nanoseconds, 4)
    assert len(text) <= 4
    if nanoseconds < 1000 * 10**9:
        rounding_error = Decimal(nanoseconds).scaleb(-9) - Decimal(text)
        assert 0 <= rounding_error < Decimal(1).scaleb(-len(text.partition(".")[2]))


@given(NANOSECONDS, NANOSECONDS)
def test_durations_below_a_thousand_seconds_keep_their_order(one: int, other: int) -> None:
    low, high = sorted((one % 10**12, other % 10**12))
    assert Decimal(format_point(PointKind.DURATION, low, 4)) <= Decimal(format_point(PointKind.DURATION, high, 4))


@given(st.integers(0, 2**64 - 1), st.integers(2, 9))
def test_a_marked_integer_is_longer_than_the_field(count: int, field: int) -> None:
    text = format_point(PointKind.COUNT, count, field)
    assert len(text) <= field
    assert text.endswith(">") == (count >= 10**field)


@given(st.integers(1, 10**13))
def test_inverting_twice_keeps_short_durations_to_a_nanosecond(nanoseconds: int) -> None:
    seconds = nanoseconds % 10**10 / 10**9
    assert abs(invert_picoseconds_twice(seconds) - round(seconds * 10**12)) < 1000


@given(st.integers(0, 2**52))
def test_inverting_a_count_twice_does_not_change_it(count: int) -> None:
    spread = HostSpread(count, count, count, 0.0)
    assert len(set(format_host_point(PointKind.COUNT, spread, 16, reciprocal_points=True))) == 1
