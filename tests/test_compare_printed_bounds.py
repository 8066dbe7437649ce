"""Printed cells of `typst-2026` bound what they hide: published reports are allowed, wrong ones are not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.styles.row import Row
from assay.styles.typst_2026 import (
    HalfPlane,
    Interval,
    Typst2026,
    has_common_point,
    number_text,
    percent_interval,
    printed_interval,
)
from tests.compare_reference import PUBLISHED, load, metric_ids, published_reports, width

STYLE = Typst2026()
REPORTS = published_reports("typst")
MACHINE_SECTION = "Resource Usage"
FINITE = st.floats(-1e12, 1e12)
NEAR_ZERO = st.floats(-0.002, 0.002)
NEAR_STEP = st.builds(
    lambda step, share: step * (1 + share), st.sampled_from([10, 100, 1000, 10000]), st.floats(-1e-4, 1e-4)
)


def interval(low: str, high: str) -> Interval:
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
        return STYLE.allows(self.base, self.value, self.delta, self.percent, self.width)


def published_rows(report: str) -> list[PublishedRow]:
    document = load(PUBLISHED / report)
    ids = metric_ids(
        [
            (group == "Cluster performance metrics", item["name"], item["id"])
            for group, items in document["dictionary"].items()
            for item in items
        ]
    )
    return [
        published_row(row, width(ids[section["title"] == MACHINE_SECTION, row["label"]]))
        for section in document["sections"]
        for row in section["rows"]
    ]


def published_row(row: dict[str, Any], field: int) -> PublishedRow:
    base, value = row["values"]
    [delta], [percent] = row["deltas"], row["delta_pcts"]
    return PublishedRow(row["label"], base, value, delta, percent, field)


def test_both_published_reports_of_this_style_are_checked() -> None:
    assert len(REPORTS) == 2


@pytest.mark.parametrize("report", REPORTS)
def test_every_published_delta_and_percent_is_allowed(report: str) -> None:
    rows = published_rows(report)
    assert len(rows) == 45
    assert [row for row in rows if not row.is_allowed()] == []


@pytest.mark.parametrize("report", REPORTS)
def test_a_published_delta_off_by_two_in_the_last_place_is_not_allowed(report: str) -> None:
    """A cell below 10 of a wide field has a decimal more than the delta: there the delta is known so well."""
    rows = [row for row in published_rows(report) if float(row.value) < 10 and row.width > 3]
    assert len(rows) > 30
    for row in rows:
        wrong = [f"{float(row.delta) + step:.3f}" for step in (-0.002, 0.002)]
        assert [text for text in wrong if replace(row, delta=text).is_allowed()] == [], row


@pytest.mark.parametrize(
    ("text", "decimals", "low", "high"),
    [
        ("0.235", 5, "0.234995", "0.235005"),
        ("6660.", 6, "6659.95", "6660.05"),
        ("100.", 6, "99.9995", "100.005"),
        ("10.", 6, "9.99995", "10.0005"),
        ("28153", 6, "28152.5", "28153.5"),
        ("10000.", 6, "9999.95", "10000"),
        ("10000", 6, "10000", "10000.5"),
        ("3.0e-5", 5, "0.0000295", "0.0000305"),
        ("1.0e-5", 5, "0.00001", "0.0000105"),
        ("1.0e-4", 5, "0.0000995", "0.0001"),
        ("0.0001", 6, "0.0001", "0.00015"),
        ("0.0", 5, "0", "0.00001"),
        ("-0.0", 5, "-0.00001", "0"),
        ("0.000", 3, "0", "0.0005"),
        ("-0.000", 3, "-0.0005", "0"),
        ("-235.542", 3, "-235.5425", "-235.5415"),
    ],
)
def test_a_printed_number_stands_for_an_interval(text: str, decimals: int, low: str, high: str) -> None:
    assert printed_interval(text, decimals) == interval(low, high)


@pytest.mark.parametrize(
    "text", ["0.2350", "1.234567", "6660.0", "6660", "1e3", "NaN", "inf", "abc", "", "--1.", " 1.", "3e-5"]
)
def test_a_text_that_no_number_prints_has_no_interval(text: str) -> None:
    assert printed_interval(text, 5) is None


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("18", "17.5", "18.5"),
        ("1", "1", "1.5"),
        ("-1", "-1.5", "-1"),
        ("1.0", "0.95", "1"),
        ("-0.0", "-0.05", "0"),
        ("0.4", "0.35", "0.45"),
    ],
)
def test_percents_under_one_have_a_decimal(text: str, low: str, high: str) -> None:
    assert percent_interval(text) == interval(low, high)


@pytest.mark.parametrize("text", ["1.5", "-1.5", "18.0", "0.45", "0", "-0", "x"])
def test_a_text_that_no_percent_prints_has_no_interval(text: str) -> None:
    assert percent_interval(text) is None


@pytest.mark.parametrize(
    ("base", "value", "delta", "percent", "allowed"),
    [
        ("0.001", "0.00118", "0.000", "18", True),
        ("0.001", "0.00118", "0.000", "20", False),
        ("0.001", "0.00118", "-0.000", "18", False),
        ("0.001", "0.00118", "0.000", "0", False),
        ("0.5", "0.5", "0.000", "0", True),
        ("0.5", "0.5", "-0.000", "0", True),
        ("0.5", "0.5", "0.000", "0.0", False),
        ("0.5", "0.51", "0.010", "2", True),
        ("0.5", "0.51", "0.010", "2.0", False),
        ("0.5", "0.51", "0.011", "2", False),
        ("0.0", "0.0", "0.000", "NaN", True),
        ("0.0", "0.0", "-0.000", "0", True),
        ("0.0", "0.5", "0.500", "NaN", True),
        ("0.0", "0.5", "0.600", "NaN", False),
        ("0.5", "0.6", "0.100", "NaN", False),
        ("0.5", "0.1", "0.100", "NaN", False),
        ("0.0001", "0.0", "-0.000", "-100", True),
        ("0.0001", "0.0", "-0.000", "-80", False),
        ("-2.", "-1.", "1.000", "-50", True),
        ("-2.", "-1.", "1.000", "50", False),
        ("-2.", "1.", "3.000", "-150", True),
        ("—", "0.5", "—", "—", True),
        ("0.5", "—", "0.000", "—", False),
        ("NaN", "0.5", "NaN", "NaN", True),
        ("x", "0.6", "0.100", "20", False),
        ("0.5", "6660", "0.100", "20", False),
        ("0.5", "0.6", "x", "20", False),
        ("0.5", "0.6", "0.100", "x", False),
    ],
)
def test_four_texts_are_allowed_when_some_values_print_them(
    base: str, value: str, delta: str, percent: str, allowed: bool
) -> None:
    assert STYLE.allows(base, value, delta, percent, 4) is allowed


def test_delta_and_percent_must_be_possible_together() -> None:
    """Each delta and each percent occurs with these cells, but a great percent needs a great delta."""
    base, value = "0.0008", "0.0013"
    assert STYLE.allows(base, value, "0.001", "79", 3)
    assert STYLE.allows(base, value, "0.000", "50", 3)
    assert not STYLE.allows(base, value, "0.000", "79", 3)
    assert not STYLE.allows(base, value, "0.001", "50", 3)


@given(FINITE | NEAR_ZERO | NEAR_STEP, st.integers(0, 10))
def test_a_number_lies_in_the_interval_of_its_own_text(number: float, decimals: int) -> None:
    found = printed_interval(number_text(number, decimals), decimals)
    assume(not (decimals < 4 and 0 < abs(number) < 0.0001))
    assert found is not None
    assert Fraction(repr(number)) in found


@given(st.floats(-1e6, 1e6) | NEAR_ZERO | NEAR_STEP, st.integers(4, 10), st.fractions(0, 1))
def test_every_number_inside_an_interval_prints_its_text(number: float, decimals: int, share: Fraction) -> None:
    text = number_text(number, decimals)
    found = printed_interval(text, decimals)
    assert found is not None
    inside = found.low + (found.high - found.low) * (share * 98 + 1) / 100
    assert number_text(float(inside), decimals) == text


@given(FINITE | NEAR_ZERO | NEAR_STEP, st.floats(-0.5, 0.5) | FINITE | NEAR_ZERO, st.integers(3, 9))
def test_what_the_style_prints_is_allowed(base: float, change: float, field: int) -> None:
    assume(base == 0 or abs(base) > 1e-200)
    row = STYLE.table_row([base, base + change], field)
    first, second = row.cells
    assert STYLE.allows(first, second, row.deltas[0], row.percents[0], field)


def test_a_delta_of_long_numbers_may_carry_the_error_of_doubles() -> None:
    row = STYLE.table_row([1e13 + 0.1, 1e13 + 0.3], 4)
    assert row == Row(("10000000000000.1", "10000000000000.3"), ("0.201",), ("0.0",))
    assert STYLE.allows(row.cells[0], row.cells[1], "0.201", "0.0", 4)
    assert not STYLE.allows(row.cells[0], row.cells[1], "0.401", "0.0", 4)


def test_half_planes_cut_a_rectangle() -> None:
    unit = interval("0", "1")
    above_diagonal = HalfPlane(Fraction(-1), Fraction(1), Fraction(0))
    assert has_common_point(unit, unit, [above_diagonal])
    beyond_corner = HalfPlane(Fraction(1), Fraction(-1), Fraction("-1.01"))
    assert not has_common_point(unit, unit, [beyond_corner])
    at_corner = HalfPlane(Fraction(1), Fraction(-1), Fraction(-1))
    assert has_common_point(unit, unit, [at_corner])
    assert not has_common_point(unit, unit, [at_corner, HalfPlane(Fraction(-1), Fraction(0), Fraction("0.5"))])


@pytest.mark.parametrize(("x", "y"), [(2, 3), (2, 7), (5, 3), (5, 7)])
def test_every_corner_of_a_rectangle_belongs_to_it(x: int, y: int) -> None:
    """What lies beyond it in one direction, or both, does not."""
    right, up = (1 if x == 5 else -1), (1 if y == 7 else -1)
    at_corner = HalfPlane(Fraction(right), Fraction(up), Fraction(-right * x - up * y))
    assert has_common_point(interval("2", "5"), interval("3", "7"), [at_corner])
    beyond = replace(at_corner, constant=at_corner.constant - Fraction(1, 100))
    assert not has_common_point(interval("2", "5"), interval("3", "7"), [beyond])


def test_an_empty_interval_cannot_be_built() -> None:
    with pytest.raises(ValueError, match="an interval from 1 to 0 is empty"):
        interval("1", "0")
