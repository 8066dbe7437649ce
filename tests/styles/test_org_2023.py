"""Number style `org-2023`: cells of the runs' own tables, and every delta of the published reports."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.styles.org_2023 import Org2023, run_cell, shortened_count
from assay.styles.row import Row
from tests.compare_reference import (
    CARDANO,
    CASES,
    PUBLISHED,
    averages,
    block_metrics,
    host_metrics,
    load,
    published_reports,
    reference_ids,
)

STYLE = Org2023()
REPORTS = published_reports("org-latex")
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
    """The row that a run's own table shows, from its unrounded distribution."""
    metric = reference_ids()[is_machine, label]
    item = (host_metrics if is_machine else block_metrics)(case)[metric]
    average, deviation = averages(case)[metric], item["cdfStddev"]
    low, high = item["cdfRange"]
    variation = run_cell(deviation / average) if average else "NAN"
    return [
        run_cell(average),
        variation,
        *map(run_cell, (low, high, deviation, high - low)),
        run_cell(item["cdfSize"]),
    ]


def recomputed(values: list[str]) -> tuple[list[str], list[str]]:
    row = STYLE.printed_row(values)
    return list(row.deltas), list(row.percents)


@pytest.mark.parametrize("table", METRIC_TABLES)
@pytest.mark.parametrize("case", CASES)
def test_cells_are_those_of_the_runs_own_table(case: str, table: str) -> None:
    header, *rows, _count = load(CARDANO / case / "tables-org.json")[table]
    precision = header.index("precision")
    expected = {row[0]: row[1:precision] + row[precision + 1 :] for row in rows}
    assert {label: run_table_row(case, table == MACHINE_TABLE, label) for label in expected} == expected


@pytest.mark.parametrize("table", METRIC_TABLES)
@pytest.mark.parametrize("case", CASES)
def test_sample_count_is_that_of_the_first_metric(case: str, table: str) -> None:
    rows = load(CARDANO / case / "tables-org.json")[table]
    metric = reference_ids()[table == MACHINE_TABLE, rows[1][0]]
    item = (host_metrics if table == MACHINE_TABLE else block_metrics)(case)[metric]
    assert shortened_count(item["cdfSize"]) == rows[-1][0]


def test_all_29_published_reports_of_this_style_are_checked() -> None:
    assert len(REPORTS) == 29


@pytest.mark.parametrize("report", REPORTS)
def test_published_deltas_follow_from_printed_cells(report: str) -> None:
    rows = [row for section in load(PUBLISHED / report)["sections"] for row in section["rows"]]
    expected = {index: (row["deltas"], row["delta_pcts"]) for index, row in enumerate(rows)}
    assert {index: recomputed(row["values"]) for index, row in enumerate(rows)} == expected


@pytest.mark.parametrize("report", REPORTS)
def test_published_cells_are_printed_again_as_they_are(report: str) -> None:
    sections = load(PUBLISHED / report)["sections"]
    printed = [text for section in sections for row in section["rows"] for text in row["values"]]
    assert list(STYLE.table_row([float(text) for text in printed], 4).cells) == printed


@pytest.mark.parametrize("report", REPORTS)
def test_published_sample_counts_have_the_form_of_the_style(report: str) -> None:
    sections = load(PUBLISHED / report)["sections"]
    printed = [text for section in sections for text in section["sample_count"]]
    counts = [int(text.strip("()").replace(">", "123")) for text in printed]
    assert [STYLE.sample_count(count) for count in counts] == printed


def test_absent_value_delta_and_percent_are_dashes() -> None:
    assert STYLE.table_row([2.0, None, 3.0], 4) == Row(("2.0", "—", "3.0"), ("—", "1.000"), ("—", "50"))
    assert STYLE.table_row([None, 3.0], 4) == Row(("—", "3.0"), ("—",), ("—",))


@given(ORDINARY)
def test_a_cell_loses_less_than_its_last_digit(number: float) -> None:
    cell = run_cell(number)
    assert len(cell) <= 6
    decimals = len(cell.partition(".")[2])
    lost = abs(Decimal(repr(number)) - Decimal(cell))
    assert lost < Decimal(1).scaleb(-decimals)


@given(ORDINARY, ORDINARY)
def test_cells_keep_the_order_of_numbers(one: float, other: float) -> None:
    low, high = sorted((one, other))
    first, second = (Decimal(cell) for cell in STYLE.table_row([low, high], 4).cells)
    # A cell is cut towards zero, so it may be equal but never the wrong way round.
    assert first <= second


@given(st.lists(ORDINARY, min_size=1, max_size=4))
def test_recomputing_a_row_from_its_own_cells_changes_nothing(values: list[float]) -> None:
    row = STYLE.table_row(values, 4)
    assert STYLE.printed_row(row.cells) == row


@given(ORDINARY, ORDINARY)
def test_zero_percent_has_no_sign_and_delta_no_exponent(base: float, value: float) -> None:
    row = STYLE.table_row([base, value], 4)
    assert row.percents[0] != "-0"
    assert "e" not in row.deltas[0].lower()
    assert "." not in row.percents[0]
