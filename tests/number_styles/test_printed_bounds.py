"""Test the bounds that cells of `typst-2026` imply: published reports are accepted, wrong ones are not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.number_styles.row import Row
from assay.number_styles.typst_2026 import (
    HalfPlane,
    Interval,
    Typst2026,
    format_number,
    has_common_point,
    parse_printed_interval,
)
from tests.compare_reference import PUBLISHED, get_width, list_published_reports, load_json, map_metric_ids

STYLE = Typst2026()
REPORTS = list_published_reports("typst")
MACHINE_SECTION = "Resource Usage"
FINITE = st.floats(-1e12, 1e12)
NEAR_ZERO = st.floats(-0.002, 0.002)
NEAR_STEP = st.builds(
    lambda step, share: step * (1 + share), st.sampled_from([10, 100, 1000, 10000]), st.floats(-1e-4, 1e-4)
)


def create_interval(low: str, high: str) -> Interval:
    return Interval(Fraction(low), Fraction(high))


@dataclass(frozen=True, slots=True)
class PublishedRow:
    label: str
    base: str
    value: str
    delta: str
    percent: str
    width: int

    def is_allowed(self) -> bool:
        return STYLE.can_print(self.base, self.value, self.delta, self.percent, self.width)


def load_published_rows(report: str) -> list[PublishedRow]:
    document = load_json(PUBLISHED / report)
    ids = map_metric_ids(
        [
            (group == "Cluster performance metrics", item["name"], item["id"])
            for group, items in document["dictionary"].items()
            for item in items
        ]
    )
    return [
        decode_published_row(row, get_width(ids[section["title"] == MACHINE_SECTION, row["label"]]))
        for section in document["sections"]
        for row in section["rows"]
    ]


def decode_published_row(row: dict[str, Any], field: int) -> PublishedRow:
    base, value = row["values"]
    [delta], [percent] = row["deltas"], row["delta_pcts"]
    return PublishedRow(row["label"], base, value, delta, percent, field)


def test_both_published_reports_of_this_style_are_checked() -> None:
    assert len(REPORTS) == 2


@pytest.mark.parametrize("report", REPORTS)
def test_every_published_delta_and_percent_is_allowed(report: str) -> None:
    rows = load_published_rows(report)
    assert len(rows) == 45
    assert [row for row in rows if not row.is_allowed()] == []


@pytest.mark.parametrize("report", REPORTS)
def test_published_delta_off_by_two_is_not_allowed(report: str) -> None:
    """A cell below 10 in a wide field has one decimal more than the delta, so it bounds the delta closely."""
    rows = [row for row in load_published_rows(report) if float(row.value) < 10 and row.width > 3]
    assert len(rows) > 30
    for row in rows:
        wrong = [f"{float(row.delta) + step:.3f}" for step in (-0.002, 0.002)]
        assert [text for text in wrong if replace(row, delta=text).is_allowed()] == [], row


@given(FINITE | NEAR_ZERO | NEAR_STEP, st.integers(0, 10))
def test_a_number_lies_in_the_interval_of_its_own_text(number: float, decimals: int) -> None:
    bounds = parse_printed_interval(format_number(number, decimals), decimals)
    assume(not (decimals < 4 and 0 < abs(number) < 0.0001))
    assert bounds is not None
    assert Fraction(repr(number)) in bounds


@given(st.floats(-1e6, 1e6) | NEAR_ZERO | NEAR_STEP, st.integers(4, 10), st.fractions(0, 1))
def test_every_number_inside_an_interval_prints_its_text(number: float, decimals: int, share: Fraction) -> None:
    text = format_number(number, decimals)
    bounds = parse_printed_interval(text, decimals)
    assert bounds is not None
    inside = bounds.low + (bounds.high - bounds.low) * (share * 98 + 1) / 100
    assert format_number(float(inside), decimals) == text


@given(FINITE | NEAR_ZERO | NEAR_STEP, st.floats(-0.5, 0.5) | FINITE | NEAR_ZERO, st.integers(3, 9))
def test_printed_cells_are_allowed(base: float, change: float, field: int) -> None:
    assume(base == 0 or abs(base) > 1e-200)
    row = STYLE.format_table_row([base, base + change], field)
    first, second = row.cells
    assert STYLE.can_print(first, second, row.deltas[0], row.percents[0], field)


def test_a_delta_of_long_numbers_may_carry_the_error_of_doubles() -> None:
    row = STYLE.format_table_row([1e13 + 0.1, 1e13 + 0.3], 4)
    assert row == Row(("10000000000000.1", "10000000000000.3"), ("0.201",), ("0.0",))
    assert STYLE.can_print(row.cells[0], row.cells[1], "0.201", "0.0", 4)
    assert not STYLE.can_print(row.cells[0], row.cells[1], "0.401", "0.0", 4)


def test_half_planes_cut_a_rectangle() -> None:
    unit = create_interval("0", "1")
    above_diagonal = HalfPlane(Fraction(-1), Fraction(1), Fraction(0))
    assert has_common_point(unit, unit, [above_diagonal])
    beyond_corner = HalfPlane(Fraction(1), Fraction(-1), Fraction("-1.01"))
    assert not has_common_point(unit, unit, [beyond_corner])
    corner_half_plane = HalfPlane(Fraction(1), Fraction(-1), Fraction(-1))
    assert has_common_point(unit, unit, [corner_half_plane])
    assert not has_common_point(unit, unit, [corner_half_plane, HalfPlane(Fraction(-1), Fraction(0), Fraction("0.5"))])


@pytest.mark.parametrize(("x", "y"), [(2, 3), (2, 7), (5, 3), (5, 7)])
def test_every_corner_of_a_rectangle_belongs_to_it(x: int, y: int) -> None:
    """Points beyond it in one direction or both do not belong to it."""
    right, up = (1 if x == 5 else -1), (1 if y == 7 else -1)
    corner_half_plane = HalfPlane(Fraction(right), Fraction(up), Fraction(-right * x - up * y))
    assert has_common_point(create_interval("2", "5"), create_interval("3", "7"), [corner_half_plane])
    beyond = replace(corner_half_plane, constant=corner_half_plane.constant - Fraction(1, 100))
    assert not has_common_point(create_interval("2", "5"), create_interval("3", "7"), [beyond])


def test_an_empty_interval_cannot_be_built() -> None:
    with pytest.raises(ValueError, match="an interval from 1 to 0 is empty"):
        create_interval("1", "0")
