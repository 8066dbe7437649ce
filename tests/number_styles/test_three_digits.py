"""Test number style `three-digits`: at least three digits and one decimal; deltas are computed from printed values."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.number_styles.row import Row
from assay.number_styles.three_digits import ThreeDigits, format_value
from assay.util.diagnostics import AssayError

numbers = st.floats(-1e15, 1e15, allow_nan=False).filter(lambda value: value == 0 or abs(value) > 1e-9)


@given(numbers)
def test_a_value_is_rounded_to_the_nearest_of_its_decimals(value: float) -> None:
    text = format_value(value)
    decimals = len(text.partition(".")[2])
    assert abs(Decimal(text) - Decimal(repr(value))) <= Decimal(5).scaleb(-decimals - 1)
    digits = text.lstrip("-0.").replace(".", "")
    assert decimals >= 1
    assert value == 0 or len(digits) == max(3, len(digits) - decimals + 1)


def test_deltas_and_percents_follow_from_the_printed_cells() -> None:
    row = ThreeDigits().format_table_row([126.144, 132.27, 0.378432, None], 4)
    assert row == Row(("126.1", "132.3", "0.378", "—"), ("6.2", "-125.722", "—"), ("4.9", "-99.7", "—"))


def test_a_base_of_zero_has_no_percent() -> None:
    assert ThreeDigits().format_table_row([0.0, 4.0], 4) == Row(("0.0", "4.00"), ("4.00",), ("—",))


@pytest.mark.parametrize(
    ("base", "value", "cells"),
    [
        (float("nan"), 4.0, ("—", "4.00")),
        (4.0, float("nan"), ("4.00", "—")),
        (4.0, float("-inf"), ("4.00", "-inf")),
    ],
)
def test_infinite_and_missing_values_have_no_delta(base: float, value: float, cells: tuple[str, str]) -> None:
    assert ThreeDigits().format_table_row([base, value], 4) == Row(cells, ("—",), ("—",))


def test_percents_are_of_the_amount_of_the_base() -> None:
    row = ThreeDigits().format_table_row([-0.5, 0.1, -0.6], 4)
    assert row.percents == ("120.0", "-20.0")


@given(numbers, numbers)
def test_style_allows_exactly_the_cells_that_it_prints(base: float, value: float) -> None:
    number_style = ThreeDigits()
    row = number_style.format_table_row([base, value], 4)
    assert number_style.can_print(*row.cells, *row.deltas, *row.percents, 4)
    assert not number_style.can_print(*row.cells, row.deltas[0] + "1", *row.percents, 4)


def test_the_style_has_no_sample_counts() -> None:
    with pytest.raises(AssayError, match="no sample counts"):
        ThreeDigits().format_sample_count(52)
