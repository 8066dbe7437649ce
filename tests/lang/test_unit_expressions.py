"""Test how units are parsed, printed and converted: exact factors, and no other dimension for one."""

from __future__ import annotations

from fractions import Fraction

import pytest

from assay.lang.expression_types import UnitError
from assay.lang.units import UnitLibrary, UnknownUnitError

LIBRARY = UnitLibrary(("slot", "block"), (("kiloblock", "1000", "block"), ("pace", "2.5", "block / slot")))


@pytest.mark.parametrize(
    ("actual", "expected", "factor"),
    [
        ("year", "day", Fraction(365)),
        ("MiB / s", "kilobyte / second", Fraction(131072, 125)),
        ("1 / (second / byte)", "byte / s", Fraction(1)),
        ("kiloblock / pace", "slot", Fraction(400)),
        ("second ** 2 / millisecond", "second", Fraction(1000)),
        ("(minute / hour) ** -1", "percent", Fraction(6000)),
        ("count * Hz", "dimensionless / second", Fraction(1)),
        ("event / second / second", "event / second**2", Fraction(1)),
    ],
)
def test_factors_are_exact(actual: str, expected: str, factor: Fraction) -> None:
    assert LIBRARY.compute_factor(actual, expected) == factor


@pytest.mark.parametrize(("actual", "expected"), [("slot", "block"), ("byte", "count"), ("byte", "byte / second")])
def test_other_dimensions_do_not_convert(actual: str, expected: str) -> None:
    with pytest.raises(UnitError):
        LIBRARY.compute_factor(actual, expected)


@pytest.mark.parametrize(
    ("op", "left", "right", "unit"),
    [
        ("times", "s", "byte / s", "byte"),
        ("over", "slot / block", "second", "slot / block / second"),
        ("over", "second", "second", "dimensionless"),
        ("over", "dimensionless", "ms ** 2", "1 / millisecond ** 2"),
        ("times", "mebibyte", "second * byte", "byte * mebibyte * second"),
    ],
)
def test_products_are_printed_in_the_order_of_names(op: str, left: str, right: str, unit: str) -> None:
    assert LIBRARY.combine(op, left, right) == unit


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("byte / secnd", "secnd"),
        ("byte second", "byte second"),
        ("byte /", "byte /"),
        ("(byte", "(byte"),
        ("byte ** second", "byte ** second"),
        ("2 * byte", "2 * byte"),
        ("byte ** 99 ** 99", "byte ** 99 ** 99"),
        ("(byte ** 99) ** 99", "(byte ** 99) ** 99"),
        ("", ""),
    ],
)
def test_other_texts_are_unknown_units(text: str, name: str) -> None:
    with pytest.raises(UnknownUnitError) as error:
        LIBRARY.check_unit(text)
    assert error.value.name == name
