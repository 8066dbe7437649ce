"""Decimal text: shortest digits that read back, no exponent, cut and stripped as printed tables do."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.styles.exact_decimal import (
    cut,
    decimal_text,
    decimal_value,
    exact_text,
    on_its_side,
    rounded_fraction,
    rounded_text,
    shortest_decimal,
    six_digits,
    whole_text,
    without_leading_zero,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (18764, "18764.0"),
        (0.1, "0.1"),
        (5e-05, "0.00005"),
        (1e22, "10000000000000000000000.0"),
        (-0.001, "-0.001"),
        (0.0, "0.0"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
    ],
)
def test_decimal_text_has_a_point_and_no_exponent(number: float, text: str) -> None:
    assert decimal_text(number) == text


@given(FINITE)
def test_decimal_text_reads_back_as_the_same_number(number: float) -> None:
    text = decimal_text(number)
    assert float(text) == number
    assert set(text) <= set("-.0123456789")
    assert text.count(".") == 1


@given(FINITE)
def test_decimal_text_has_the_fewest_digits(number: float) -> None:
    assert Decimal(decimal_text(number)) == Decimal(repr(number))


@given(FINITE, FINITE)
def test_decimal_text_keeps_the_order_of_numbers(one: float, other: float) -> None:
    assert (Fraction(decimal_text(one)) < Fraction(decimal_text(other))) == (one < other)


@pytest.mark.parametrize(
    ("count", "digits", "text"),
    [
        (874_208, 9, "0.000874208"),
        (874_200, 9, "0.0008742"),
        (4_000_000_000, 9, "4"),
        (0, 9, "0"),
        (-17_881, 6, "-0.017881"),
        (7, 0, "7"),
    ],
)
def test_exact_text_has_no_trailing_zeros(count: int, digits: int, text: str) -> None:
    assert exact_text(count, digits) == text


@given(st.integers(), st.integers(0, 20))
def test_exact_text_is_exact(count: int, digits: int) -> None:
    text = exact_text(count, digits)
    assert Fraction(text) == Fraction(count, 10**digits)
    assert "." not in text or not text.endswith(("0", "."))


@given(st.integers(-(10**15), 10**15))
def test_nanoseconds_survive_being_written_as_seconds(nanoseconds: int) -> None:
    assert shortest_decimal(float(exact_text(nanoseconds, 9))).scaleb(9) == nanoseconds


@pytest.mark.parametrize(
    ("number", "decimals", "text"),
    [
        (0.15, 1, "0.2"),
        (0.25, 1, "0.2"),
        (0.35, 1, "0.4"),
        (2.5, 0, "2"),
        (-3.5, 0, "-4"),
        (1e300, 1, "1" + "0" * 300 + ".0"),
        (-0.01, 1, "-0.0"),
    ],
)
def test_rounding_takes_ties_of_the_decimal_text_to_even(number: float, decimals: int, text: str) -> None:
    assert rounded_text(number, decimals) == text


@given(FINITE, st.integers(0, 12))
def test_rounding_moves_by_half_a_step_at_most(number: float, decimals: int) -> None:
    moved = abs(Fraction(rounded_text(number, decimals)) - Fraction(decimal_text(number)))
    assert moved <= Fraction(1, 2 * 10**decimals)


@given(FINITE, FINITE, st.integers(0, 6))
def test_rounding_keeps_the_order_of_numbers(one: float, other: float, decimals: int) -> None:
    low, high = sorted((one, other))
    assert Fraction(rounded_text(low, decimals)) <= Fraction(rounded_text(high, decimals))


def test_cutting_drops_digits_unrounded() -> None:
    assert cut("0.99999", 4) == "0.99"
    assert cut("0.9", 4) == "0.9"


def test_only_a_zero_at_the_start_goes() -> None:
    assert without_leading_zero("0.05") == ".05"
    assert without_leading_zero("10.05") == "10.05"
    assert without_leading_zero("-0.05") == "-0.05"
    assert without_leading_zero("0") == "0"


@pytest.mark.parametrize(
    ("number", "decimals", "text"),
    [("1/80", 3, "0.012"), ("3/80", 3, "0.038"), ("-1/30", 1, "-0.0"), ("5/2", 0, "2"), ("-25/2", 1, "-12.5")],
)
def test_a_fraction_is_rounded_half_to_even(number: str, decimals: int, text: str) -> None:
    assert rounded_fraction(Fraction(number), decimals) == text


@pytest.mark.parametrize(("number", "text"), [("10", "10.0"), ("10.04", "10.04"), ("10.0000001", "10.0000001")])
def test_a_number_above_a_limit_is_seen_to_be_above_it(number: str, text: str) -> None:
    above = Fraction(number) > 10
    assert on_its_side(Fraction(number), 1, lambda shown: (shown > 10) == above) == text


@pytest.mark.parametrize(
    ("number", "text"), [("10.000000000001", "10.000000000001"), ("10.0000000000001", "10.000000000000")]
)
def test_a_number_above_a_limit_has_twelve_decimals_at_most(number: str, text: str) -> None:
    assert on_its_side(Fraction(number), 1, lambda shown: shown > 10) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.1 + 0.2, "0.3"), (-1234.5678, "-1234.57"), (999_999.4, "999999"), (999_999.5, "1000000"),
        (1_234_567.8, "1234568"), (-16_519_000_064.0, "-16519000064"), (1.5e-7, "1.5e-07"), (0.0, "0"),
        (math.inf, "inf"), (-math.inf, "-inf"), (math.nan, "nan"),
    ],
)  # fmt: skip
def test_people_read_six_digits_and_all_before_the_point(number: float, text: str) -> None:
    assert six_digits(number) == text


def test_a_fraction_of_zero_has_no_sign() -> None:
    assert rounded_fraction(Fraction(0), 1) == "0.0"


def test_products_of_decimal_texts_are_told_with_all_their_digits() -> None:
    pairs = [(3, 411523), (0.1, 3), (0.5, -0.25)]
    texts = [whole_text(decimal_value(one) * decimal_value(other)) for one, other in pairs]
    assert texts == ["1234569", "0.3", "-0.125"]
