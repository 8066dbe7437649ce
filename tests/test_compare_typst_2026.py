"""Number style `typst-2026`: every cell of the reference reports, from unrounded averages."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.styles.row import Row
from assay.styles.typst_2026 import Typst2026, number_text
from assay.util.diagnostics import AssayError
from tests.compare_reference import CARDANO, averages, load, reference_ids, width

STYLE = Typst2026()
RUNS = {
    "two": ("baseline", "candidate"),
    "three": ("baseline", "candidate", "candidate2"),
}
MACHINE_SECTION = "Resource Usage"
FINITE = st.floats(allow_nan=False, allow_infinity=False)
ORDINARY = st.floats(-1e9, 1e9)


def sections(report: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = load(CARDANO / "reports" / f"{report}.json")["sections"]
    return found


def printed_cells(row: Row) -> list[str]:
    """The cells in a report's order: the base, then value, delta, percent of each further run."""
    further = zip(row.cells[1:], row.deltas, row.percents, strict=True)
    return [row.cells[0], *(text for texts in further for text in texts)]


@pytest.mark.parametrize("report", RUNS)
def test_every_cell_of_the_reference_report_is_printed(report: str) -> None:
    runs = [averages(f"{run}/expected") for run in RUNS[report]]
    compared = 0
    for section in sections(report):
        for label, *expected in section["rows"]:
            metric = reference_ids()[section["title"] == MACHINE_SECTION, label]
            row = STYLE.table_row([run[metric] for run in runs], width(metric))
            assert (metric, printed_cells(row)) == (metric, expected)
            compared += len(expected)
    assert compared == 47 * (1 + 3 * (len(runs) - 1))


@pytest.mark.parametrize(
    ("number", "decimals", "text"),
    [
        (6660.0, 6, "6660."),
        (99999.5, 6, "100000"),
        (12340.0, 6, "12340"),
        (1234.56, 6, "1234.6"),
        (123.456, 6, "123.46"),
        (12.3456, 6, "12.346"),
        (1.23456, 6, "1.2346"),
        (0.000123456, 6, "0.0001"),
        (0.00118, 5, "0.00118"),
        (0.001, 5, "0.001"),
        (2.00000, 5, "2."),
        (0.00003, 5, "3.0e-5"),
        (0.0000785, 5, "7.8e-5"),
        (0.0000997, 5, "1.0e-4"),
        (-0.00003, 5, "-3.0e-5"),
        (1000.06, 6, "1000.1"),
        (0.0001, 5, "0.0001"),
        (0.00001, 5, "1.0e-5"),
        (0.0000099, 5, "0.0"),
        (0.0000099, 4, "0.0"),
        (-0.0000099, 5, "-0.0"),
        (0.0, 5, "0.0"),
        (-0.0, 5, "0.0"),
        (0.0000099, 3, "0.000"),
        (-0.0000099, 1, "-0.0"),
        (0.0000099, 0, "0"),
        (0.5, 0, "0"),
        (1.5, 0, "2"),
        (0.05, 1, "0.0"),
        (0.15, 1, "0.2"),
        (float("nan"), 5, "NaN"),
        (float("inf"), 5, "inf"),
    ],
)
def test_decimals_follow_the_magnitude(number: float, decimals: int, text: str) -> None:
    assert number_text(number, decimals) == text


@pytest.mark.parametrize(
    ("base", "value", "delta", "percent"),
    [
        (1.0, 1.00009, "0.000", "0"),
        (1.0, 0.99991, "-0.000", "0"),
        (1.0, 1.0, "0.000", "0"),
        (0.0, 0.0, "0.000", "NaN"),
        (0.0, 1.0, "1.000", "NaN"),
        (4.0, 4.03, "0.030", "0.8"),
        (4.0, 3.9985, "-0.002", "-0.0"),
        (1000.0, 1009.6, "9.600", "1.0"),
        (1000.0, 1010.0, "10.000", "1"),
        (0.001, 0.00118, "0.000", "18"),
        (0.0001, 0.0002, "0.000", "100"),
        (8.0, 9.0, "1.000", "12"),
        (40.0, 63.0, "23.000", "58"),
        (-2.0, -1.0, "1.000", "-50"),
        (None, 1.0, "—", "—"),
        (1.0, None, "—", "—"),
        (float("nan"), 1.0, "NaN", "NaN"),
    ],
)
def test_delta_and_percent_come_from_unrounded_values(
    base: float | None, value: float | None, delta: str, percent: str
) -> None:
    row = STYLE.table_row([base, value], 4)
    assert (row.deltas, row.percents) == ((delta,), (percent,))


def test_an_absent_value_is_a_dash() -> None:
    assert STYLE.table_row([2.0, None], 4) == Row(("2.", "—"), ("—",), ("—",))


def test_deltas_are_not_computed_from_printed_cells() -> None:
    with pytest.raises(AssayError, match="cannot be computed from printed cells"):
        STYLE.printed_row(["2.", "3."])


def test_the_style_has_no_sample_counts() -> None:
    assert not STYLE.has_sample_counts
    with pytest.raises(AssayError, match="has no sample counts"):
        STYLE.sample_count(52)


@given(FINITE, st.integers(0, 10))
def test_a_number_is_printed_to_half_of_its_last_place(number: float, decimals: int) -> None:
    text = number_text(number, decimals)
    error = abs(Decimal(text) - Decimal(repr(number)))
    if abs(number) >= 0.0001:
        last = Decimal(1).scaleb(-4 if decimals > 5 and abs(number) < 10 else -min(decimals, 5))
        assert error <= max(last, abs(Decimal(repr(number))) / 10**4) / 2
    else:
        assert error <= Decimal("0.00001")


@given(ORDINARY, ORDINARY, st.integers(4, 10))
def test_printed_numbers_keep_the_order(one: float, other: float, decimals: int) -> None:
    low, high = sorted((one, other))
    assert Decimal(number_text(low, decimals)) <= Decimal(number_text(high, decimals))


@given(ORDINARY, st.integers(0, 10))
def test_a_negative_number_is_printed_as_its_mirror(number: float, decimals: int) -> None:
    low = number_text(-abs(number), decimals)
    assert low == (f"-{number_text(abs(number), decimals)}" if number else number_text(0.0, decimals))


@given(FINITE, FINITE)
def test_deltas_have_no_exponent_and_zero_always_three_decimals(base: float, value: float) -> None:
    delta = STYLE.table_row([base, value], 4).deltas[0]
    assert "inf" in delta or delta.partition(".")[2].isdigit()
