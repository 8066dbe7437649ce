"""Test which prefix of a unit suits numbers."""

from __future__ import annotations

import math

import pytest

from assay.number_styles.prefixed import format_value
from assay.number_styles.unit_prefix import choose_prefix


@pytest.mark.parametrize(
    ("values", "symbol", "texts", "unit"),
    [
        ((0.0000294, 0.0000436), "s", ("29.4", "43.6"), "µs"),
        ((0.0004, 0.0012), "s", ("0.400", "1.20"), "ms"),
        ((0.9997,), "ms", ("1.00",), "ms"),
        ((1234.5,), "s", ("1234",), "s"),
        ((0.5,), "ns", ("0.500",), "ns"),
        ((6600.0, 6700.0), "MiB", ("6.45", "6.54"), "GiB"),
        ((0.25,), "MiB/s", ("256",), "KiB/s"),
        # a size is in no smaller unit than its own, which its samples may be rounded to
        ((0.167,), "MB", ("0.167",), "MB"),
        ((0.167, 12.0), "MiB", ("0.167", "12.0"), "MiB"),
        ((2000.0, 0.2), "MB", ("2000", "0.200"), "MB"),
        ((7.5343, 9.8571), "%", ("7.53", "9.86"), "%"),
        ((0.001,), "slots", ("0.00100",), "slots"),
        ((0.0, 0.0), "s", ("0", "0"), "s"),
        ((-0.0294,), "s", ("-29.4",), "ms"),
        ((None,), "s", ("—",), "s"),
        ((math.inf, 0.001), "s", ("inf", "1.00"), "ms"),
        # a value that would need more than three decimals decides, if the greatest then has at most five digits
        ((3855.6, 11.5289), "KiB/s", ("3856", "11.5"), "KiB/s"),
        ((4194304.0, 12288.0), "B/s", ("4194", "12.3"), "kB/s"),
        ((2996.0, 91.5), "Bytes", ("2996", "91.5"), "Bytes"),
        ((62446690.0, 2996.0), "Bytes", ("62447", "3.00"), "kB"),
        ((62446690.0,), "Bytes", ("62.4",), "MB"),
        ((124.508, 0.372), "TB", ("125", "0.372"), "TB"),
        ((1.0, 0.1), "s", ("1.00", "0.100"), "s"),
        ((1.0, -0.0994), "s", ("1000", "-99.4"), "ms"),
        ((99.9, 0.05), "s", ("99900", "50.0"), "ms"),
        ((100.0, 0.05), "s", ("100", "0.0500"), "s"),
        ((3.0, 0.0, 0.05), "s", ("3000", "0", "50.0"), "ms"),
        ((5.0, 0.00005), "s", ("5.00", "0.0000500"), "s"),
        ((0.02, 0.00002), "ms", ("20000", "20.0"), "ns"),
    ],
)
def test_values_are_written_in_the_unit_that_suits_them(
    values: tuple[float | None, ...], symbol: str, texts: tuple[str, ...], unit: str
) -> None:
    factor, prefixed_symbol = choose_prefix(values, symbol)
    assert prefixed_symbol == unit
    assert tuple(format_value(None if value is None else value * factor) for value in values) == texts
