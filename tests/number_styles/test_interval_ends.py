"""Printed ends of intervals: as many digits as show on which side of the margin they are."""

from __future__ import annotations

import pytest

from assay.number_styles.prefixed import format_change_within, format_interval, format_percent_interval


@pytest.mark.parametrize(
    ("low", "high", "margin", "text"),
    [
        (1.96, 5.3, None, "+2 … +5"),
        (1.96, 5.3, 2.0, "+1.96 … +5"),
        (2.04, 5.3, 2.0, "+2.04 … +5"),
        (2.0, 5.3, 2.0, "+2 … +5"),
        (1.4, 5.3, 2.0, "+1 … +5"),
        (1.9996, 5.3, 2.0, "+1.9996 … +5"),
        (-5.3, -1.96, 2.0, "-5 … -1.96"),
        (-2.04, 1.96, 2.0, "-2.04 … +1.96"),
        (-0.31, 0.12, 2.0, "-0.3 … +0.1"),
        (11.7, 51.2, 12.0, "+11.7 … +51"),
        (2.0000000000000004, 5.3, 2.0, "+2 … +5"),
        (1.96, 5.3, 0.0, "+2 … +5"),
        (199.99999999999997, 200.00000000000003, 2.0, "+200 … +200"),
        (200.0, 200.0, None, "+200 … +200"),
        (-33.33333333333334, -33.33333333333333, 2.0, "-33 … -33"),
        (1.9999999999999998, 2.0000000000000004, 2.0, "+2.0 … +2.0"),
        (0.1 + 0.2, 0.3, None, "+0.30 … +0.30"),
        (123456.0, 123456.00001, None, "+123456 … +123456"),
        (0.0, 0.0, 2.0, "0 … 0"),
        (5.00001, 5.00003, 2.0, "+5.00001 … +5.00003"),
    ],
)
def test_end_is_printed_on_its_side_of_the_margin(low: float, high: float, margin: float | None, text: str) -> None:
    assert format_interval(low, high, margin) == text


@pytest.mark.parametrize(("low", "high"), [(-1.4e-14, 1.4e-14), (0.0, 2e-14), (-1e-12, 0.0)])
def test_percentage_within_rounding_errors_is_no_change(low: float, high: float) -> None:
    assert format_percent_interval(low, high, 2.0) == "0 … 0"


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (-99.3, 43931.0, "over 1000 %"),
        (-1200.0, 900.0, "over 1000 %"),
        (0.0, 1000.5, "over 1000 %"),
        (-90.0, 1000.0, "-90 … +1000"),
        (12.0, 43931.0, "+12 … +43931"),
    ],
)
def test_interval_that_tells_nothing_is_words(low: float, high: float, text: str) -> None:
    assert format_percent_interval(low, high, 2.0) == text


@pytest.mark.parametrize(
    ("percent", "low", "high", "text"),
    [
        (20.53, 20.13, 20.93, "+20.5"),
        (20.53, 18.0, 23.0, "+21"),
        (-0.4953, -0.49536, -0.49524, "-0.4953"),
        (199.6, 199.52, 199.68, "+199.6"),
        (-99.97, -99.98, -99.96, "-99.97"),
        (0.0, -0.1, 0.1, "0"),
    ],
)
def test_change_lies_within_its_printed_interval(percent: float, low: float, high: float, text: str) -> None:
    assert format_change_within(percent, low, high) == text
