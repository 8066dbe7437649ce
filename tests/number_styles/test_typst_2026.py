"""Number style `typst-2026`: every cell of the reference reports, from unrounded averages."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.number_styles.row import Row
from assay.number_styles.typst_2026 import Typst2026, format_number
from assay.util.diagnostics import AssayError
from tests.compare_reference import CARDANO, compute_averages, get_width, load_json, load_reference_ids

STYLE = Typst2026()
RUNS = {
    "two": ("baseline", "candidate"),
    "three": ("baseline", "candidate", "candidate2"),
}
MACHINE_SECTION = "Resource Usage"
FINITE = st.floats(allow_nan=False, allow_infinity=False)
ORDINARY = st.floats(-1e9, 1e9)


def load_sections(report: str) -> list[dict[str, Any]]:
    tables: list[dict[str, Any]] = load_json(CARDANO / "reports" / f"{report}.json")["sections"]
    return tables


def list_printed_cells(row: Row) -> list[str]:
    """Return the cells in a report's order: the base, then value, delta, percent of each further run."""
    run_cells = zip(row.cells[1:], row.deltas, row.percents, strict=True)
    return [row.cells[0], *(text for texts in run_cells for text in texts)]


@pytest.mark.parametrize("report", RUNS)
def test_every_cell_of_the_reference_report_is_printed(report: str) -> None:
    runs = [compute_averages(f"{run}/expected") for run in RUNS[report]]
    compared_count = 0
    for section in load_sections(report):
        for label, *expected in section["rows"]:
            metric = load_reference_ids()[section["title"] == MACHINE_SECTION, label]
            row = STYLE.format_table_row([run[metric] for run in runs], get_width(metric))
            assert (metric, list_printed_cells(row)) == (metric, expected)
            compared_count += len(expected)
    assert compared_count == 47 * (1 + 3 * (len(runs) - 1))


def test_an_absent_value_is_a_dash() -> None:
    assert STYLE.format_table_row([2.0, None], 4) == Row(("2.", "—"), ("—",), ("—",))


def test_deltas_are_not_computed_from_printed_cells() -> None:
    with pytest.raises(AssayError, match="cannot be computed from printed cells"):
        STYLE.format_printed_row(["2.", "3."])


def test_the_style_has_no_sample_counts() -> None:
    assert not STYLE.has_sample_counts
    with pytest.raises(AssayError, match="has no sample counts"):
        STYLE.format_sample_count(52)


@given(FINITE, st.integers(0, 10))
def test_a_number_is_printed_to_half_of_its_last_place(number: float, decimals: int) -> None:
    text = format_number(number, decimals)
    error = abs(Decimal(text) - Decimal(repr(number)))
    if abs(number) >= 0.0001:
        last = Decimal(1).scaleb(-4 if decimals > 5 and abs(number) < 10 else -min(decimals, 5))
        assert error <= max(last, abs(Decimal(repr(number))) / 10**4) / 2
    else:
        assert error <= Decimal("0.00001")


@given(ORDINARY, ORDINARY, st.integers(4, 10))
def test_printed_numbers_keep_the_order(one: float, other: float, decimals: int) -> None:
    low, high = sorted((one, other))
    assert Decimal(format_number(low, decimals)) <= Decimal(format_number(high, decimals))


@given(ORDINARY, st.integers(0, 10))
def test_a_negative_number_is_printed_as_its_mirror(number: float, decimals: int) -> None:
    low = format_number(-abs(number), decimals)
    assert low == (f"-{format_number(abs(number), decimals)}" if number else format_number(0.0, decimals))


@given(FINITE, FINITE)
def test_delta_has_decimals_and_no_exponent(base: float, value: float) -> None:
    delta = STYLE.format_table_row([base, value], 4).deltas[0]
    assert "inf" in delta or delta.partition(".")[2].isdigit()
