"""Decimal text: shortest digits that read back, no exponent, cut and stripped as printed tables do."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from assay.number_styles.exact_decimal import (
    format_all_digits,
    format_decimal,
    format_exact,
    format_rounded,
    to_fraction,
    to_shortest_decimal,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(FINITE)
def test_decimal_text_reads_back_as_the_same_number(number: float) -> None:
    text = format_decimal(number)
    assert float(text) == number
    assert set(text) <= set("-.0123456789")
    assert text.count(".") == 1


@given(FINITE)
def test_decimal_text_has_the_fewest_digits(number: float) -> None:
    assert Decimal(format_decimal(number)) == Decimal(repr(number))


@given(FINITE, FINITE)
def test_decimal_text_keeps_the_order_of_numbers(one: float, other: float) -> None:
    assert (Fraction(format_decimal(one)) < Fraction(format_decimal(other))) == (one < other)


@given(st.integers(), st.integers(0, 20))
def test_exact_text_is_exact(count: int, digits: int) -> None:
    text = format_exact(count, digits)
    assert Fraction(text) == Fraction(count, 10**digits)
    assert "." not in text or not text.endswith(("0", "."))


@given(st.integers(-(10**15), 10**15))
def test_nanoseconds_survive_being_written_as_seconds(nanoseconds: int) -> None:
    assert to_shortest_decimal(float(format_exact(nanoseconds, 9))).scaleb(9) == nanoseconds


@given(FINITE, st.integers(0, 12))
def test_rounding_moves_by_half_a_step_at_most(number: float, decimals: int) -> None:
    rounding_error = abs(Fraction(format_rounded(number, decimals)) - Fraction(format_decimal(number)))
    assert rounding_error <= Fraction(1, 2 * 10**decimals)


@given(FINITE, FINITE, st.integers(0, 6))
def test_rounding_keeps_the_order_of_numbers(one: float, other: float, decimals: int) -> None:
    low, high = sorted((one, other))
    assert Fraction(format_rounded(low, decimals)) <= Fraction(format_rounded(high, decimals))


def test_product_of_decimal_texts_has_all_digits() -> None:
    pairs = [(3, 411523), (0.1, 3), (0.5, -0.25)]
    texts = [format_all_digits(to_fraction(one) * to_fraction(other)) for one, other in pairs]
    assert texts == ["1234569", "0.3", "-0.125"]
