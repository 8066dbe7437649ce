"""Test exact decimal numbers within a usual magnitude, and counted nouns."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.util.numbers import MAGNITUDE, format_count, parse_decimal


@pytest.mark.parametrize("text", ["0", "-0", "1.50", "+2", ".5", "5.", "1e3", "1E-3", "1e36", "-1e-36", "0e999"])
def test_numbers_are_exact(text: str) -> None:
    assert str(parse_decimal(text)) == str(Decimal(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 1",
        "1 ",
        "1_0",
        "0x10",
        "nan",
        "inf",
        "1e37",
        "1e-37",
        "1e1000",
        "9" * 101,
        "0." + "3" * 37,
        "\u0663",
        "e5",
        ".",
    ],
)
def test_invalid_or_extreme_number_is_none(text: str) -> None:
    assert parse_decimal(text) is None


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**18), max_value=10**18, places=9))
def test_every_usual_number_is_accepted(number: Decimal) -> None:
    assert parse_decimal(str(number)) == number


@given(st.text(alphabet="0123456789.eE+-_ ", max_size=12))
def test_accepted_text_is_a_number_within_bounds(text: str) -> None:
    number = parse_decimal(text)
    assert number is None or not number or abs(number.adjusted()) <= MAGNITUDE


def test_count_of_one_is_singular() -> None:
    assert [format_count(number, "file") for number in (0, 1, 2)] == ["0 files", "1 file", "2 files"]
    assert [format_count(number, "series", "series") for number in (1, 2)] == ["1 series", "2 series"]
