"""Number style `org-2023`: cells of the runs' own tables, and every delta of the published reports."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.number_styles.org_2023 import Org2023, format_run_cell, format_short_count
from assay.number_styles.row import Row
from tests.compare_reference import (
    CARDANO,
    CASES,
    PUBLISHED,
    compute_averages,
    list_published_reports,
    load_block_metrics,
    load_host_metrics,
    load_json,
    load_reference_ids,
)

STYLE = Org2023()
REPORTS = list_published_reports("org-latex")
MACHINE_TABLE = "clusterperf.report"
METRIC_TABLES = (
    "blockprop.control",
    "blockprop.endtoend",
    "blockprop.forger",
    "blockprop.peers",
    MACHINE_TABLE,
)
ORDINARY = st.floats(-99999, 99999)


def run_table_row(case: str, is_machine: bool, label: str) -> list[str]:
    """Return the row of a run's own table, from its unrounded distribution."""
    metric = load_reference_ids()[is_machine, label]
    item = (load_host_metrics if is_machine else load_block_metrics)(case)[metric]
    average, deviation = compute_averages(case)[metric], item["cdfStddev"]
    low, high = item["cdfRange"]
    variation = format_run_cell(deviation / average) if average else "NAN"
    return [
        format_run_cell(average),
        variation,
        *map(format_run_cell, (low, high, deviation, high - low)),
        format_run_cell(item["cdfSize"]),
    ]


def recompute_row(values: list[str]) -> tuple[list[str], list[str]]:
    row = STYLE.format_printed_row(values)
    return list(row.deltas), list(row.percents)


@pytest.mark.parametrize("table", METRIC_TABLES)
@pytest.mark.parametrize("case", CASES)
def test_cells_equal_the_table_of_the_run(case: str, table: str) -> None:
    header, *rows, _count = load_json(CARDANO / case / "tables-org.json")[table]
    precision = header.index("precision")
    expected = {row[0]: row[1:precision] + row[precision + 1 :] for row in rows}
    assert {label: run_table_row(case, table == MACHINE_TABLE, label) for label in expected} == expected


@pytest.mark.parametrize("table", METRIC_TABLES)
@pytest.mark.parametrize("case", CASES)
def test_sample_count_is_that_of_the_first_metric(case: str, table: str) -> None:
    rows = load_json(CARDANO / case / "tables-org.json")[table]
    metric = load_reference_ids()[table == MACHINE_TABLE, rows[1][0]]
    item = (load_host_metrics if table == MACHINE_TABLE else load_block_metrics)(case)[metric]
    assert format_short_count(item["cdfSize"]) == rows[-1][0]


def test_all_29_published_reports_of_this_style_are_checked() -> None:
    assert len(REPORTS) == 29


@pytest.mark.parametrize("report", REPORTS)
def test_published_deltas_follow_from_printed_cells(report: str) -> None:
    rows = [row for section in load_json(PUBLISHED / report)["sections"] for row in section["rows"]]
    expected = {index: (row["deltas"], row["delta_pcts"]) for index, row in enumerate(rows)}
    assert {index: recompute_row(row["values"]) for index, row in enumerate(rows)} == expected


@pytest.mark.parametrize("report", REPORTS)
def test_published_cells_are_printed_again_as_they_are(report: str) -> None:
    sections = load_json(PUBLISHED / report)["sections"]
    printed_texts = [text for section in sections for row in section["rows"] for text in row["values"]]
    assert list(STYLE.format_table_row([float(text) for text in printed_texts], 4).cells) == printed_texts


@pytest.mark.parametrize("report", REPORTS)
def test_published_sample_counts_have_the_form_of_the_style(report: str) -> None:
    sections = load_json(PUBLISHED / report)["sections"]
    printed_texts = [text for section in sections for text in section["sample_count"]]
    counts = [int(text.strip("()").replace(">", "123")) for text in printed_texts]
    assert [STYLE.format_sample_count(count) for count in counts] == printed_texts


def test_absent_value_delta_and_percent_are_dashes() -> None:
    assert STYLE.format_table_row([2.0, None, 3.0], 4) == Row(("2.0", "—", "3.0"), ("—", "1.000"), ("—", "50"))
    assert STYLE.format_table_row([None, 3.0], 4) == Row(("—", "3.0"), ("—",), ("—",))


@given(ORDINARY)
def test_a_cell_loses_less_than_its_last_digit(number: float) -> None:
    cell = format_run_cell(number)
    assert len(cell) <= 6
    decimals = len(cell.partition(".")[2])
    rounding_error = abs(Decimal(repr(number)) - Decimal(cell))
    assert rounding_error < Decimal(1).scaleb(-decimals)


@given(ORDINARY, ORDINARY)
def test_cells_keep_the_order_of_numbers(one: float, other: float) -> None:
    low, high = sorted((one, other))
    first, second = (Decimal(cell) for cell in STYLE.format_table_row([low, high], 4).cells)
    # A cell is cut towards zero, so it may be equal but never on the wrong side.
    assert first <= second


@given(st.lists(ORDINARY, min_size=1, max_size=4))
def test_recomputing_a_row_from_its_own_cells_changes_nothing(values: list[float]) -> None:
    row = STYLE.format_table_row(values, 4)
    assert STYLE.format_printed_row(row.cells) == row


@given(ORDINARY, ORDINARY)
def test_zero_percent_has_no_sign_and_delta_no_exponent(base: float, value: float) -> None:
    row = STYLE.format_table_row([base, value], 4)
    assert row.percents[0] != "-0"
    assert "e" not in row.deltas[0].lower()
    assert "." not in row.percents[0]
