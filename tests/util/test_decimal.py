"""Test exact decimal numbers within a usual magnitude, counted nouns, and the order of names with numbers."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.util.numbers import MAGNITUDE, differ_in_numbers, format_count, parse_decimal, split_numbers


@pytest.mark.parametrize(
    "names",
    [
        ("4k", "8k", "64k"),
        ("v2", "v10"),
        ("512", "1000", "1k", "4KiB", "1.5M", "2GB"),
        ("us-500ns", "us-20us", "us-1.5ms", "us-1s"),
        ("1.9", "1.10"),
        ("1.9b", "1.10b"),
        ("node", "node-2", "node-10", "node-10a"),
    ],
    ids=" ".join,
)
def test_names_are_ordered_by_their_numbers(names: tuple[str, ...]) -> None:
    backwards = names[::-1]
    assert sorted(backwards, key=split_numbers) == [*names]


@pytest.mark.parametrize(
    ("names", "holds"),
    [(("4k", "64k", "512"), True), (("read", "write"), False), (("a1", "b2"), False), (("4k",), False)],
)
def test_names_that_differ_in_numbers_are_recognized(names: tuple[str, ...], holds: bool) -> None:
    assert differ_in_numbers(names) is holds


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
