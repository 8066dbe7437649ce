"""Number styles on the tables of `cases/`: each row states a value and the text that is printed for it."""

from __future__ import annotations

import csv
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from assay.lang.model.report import Cell
from assay.number_styles import exact_decimal
from assay.number_styles.chart_points import HostSpread, PointKind, format_host_point, format_point
from assay.number_styles.org_2023 import Org2023, format_run_cell, reformat_cell
from assay.number_styles.registry import get_style
from assay.number_styles.row import Row, has_right_magnitude
from assay.number_styles.run_parameter_cells import format_manifest_cell
from assay.number_styles.three_digits import format_value
from assay.number_styles.typst_2026 import (
    Interval,
    Typst2026,
    format_number,
    parse_percent_interval,
    parse_printed_interval,
)

CASES = Path(__file__).parent / "cases"
Writer = Callable[[str, str], str]


def read_cases(name: str, **columns: str) -> list[tuple[str, ...]]:
    """Return the rows of a table of cases; with `columns`, those that have these values."""
    with (CASES / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [tuple(row.values()) for row in rows if all(row[key] == value for key, value in columns.items())]


def parse_number(text: str) -> int | float | None:
    """Parse `null`, a whole number of any size, or a double."""
    if text == "null":
        return None
    return int(text) if text.removeprefix("-").isdigit() else float(text)


def write_cell(name: str, value: str, width: str) -> str:
    """Write a value as the only cell of a row of a style."""
    (cell,) = get_style(name).format_table_row([parse_number(value)], int(width)).cells
    return cell


def write_on_its_side(value: str, limit: str) -> str:
    """Write a number with as many decimals as show whether it exceeds the limit."""
    is_above = Fraction(value) > int(limit)
    return exact_decimal.format_on_same_side(
        Fraction(value), 1, lambda printed_value: (printed_value > int(limit)) == is_above
    )


#: function of `numbers.csv` -> the function that formats its value; a second word is the style or kind
WRITERS: dict[str, Writer] = {
    "decimal_text": lambda value, _: exact_decimal.format_decimal(parse_number(value)),
    "exact_text": lambda value, digits: exact_decimal.format_exact(int(value), int(digits)),
    "rounded_text": lambda value, decimals: exact_decimal.format_rounded(float(value), int(decimals)),
    "rounded_fraction": lambda value, decimals: exact_decimal.format_rounded_fraction(Fraction(value), int(decimals)),
    "cut": lambda value, width: exact_decimal.cut_text(value, int(width)),
    "without_leading_zero": lambda value, _: exact_decimal.drop_leading_zero(value),
    "six_digits": lambda value, _: exact_decimal.format_six_digits(float(value)),
    "on_its_side": write_on_its_side,
    "run_cell": lambda value, _: format_run_cell(parse_number(value)),
    "reread": lambda value, _: reformat_cell(value),
    "value_text": lambda value, _: format_value(parse_number(value)),
    "number_text": lambda value, decimals: format_number(float(value), int(decimals)),
    "cell org-2023": lambda value, width: write_cell("org-2023", value, width),
    "cell prefixed": lambda value, width: write_cell("prefixed", value, width),
    "sample_count org-2023": lambda value, _: Org2023().format_sample_count(int(value)),
    **{
        f"point_text {kind}": lambda value, width, kind=kind: format_point(kind, parse_number(value), int(width))
        for kind in PointKind
    },
    **{
        f"tells {name}": lambda value, width, name=name: (
            "yes" if has_right_magnitude(write_cell(name, value, width), parse_number(value)) else "no"
        )
        for name in ("org-2023", "three-digits", "typst-2026")
    },
}


@pytest.mark.parametrize(("function", "value", "argument", "text"), read_cases("numbers.csv"))
def test_number_is_written_as_its_text(function: str, value: str, argument: str, text: str) -> None:
    assert WRITERS[function](value, argument) == text


@pytest.mark.parametrize(("kind", "width", "empty", "value", "cell"), read_cases("manifest_cells.csv"))
def test_manifest_cell_follows_its_kind(kind: str, width: str, empty: str, value: str, cell: str) -> None:
    parsed = None if value == "null" else value if kind in ("text", "unsuffixed") else parse_number(value)
    assert format_manifest_cell(parsed, Cell(kind, int(width), empty)) == cell


@pytest.mark.parametrize(("kind", "median", "least", "greatest", "deviation", "width", "texts"),
                         read_cases("host_points.csv"))  # fmt: skip
def test_hosts_have_median_range_and_band(
    kind: str, median: str, least: str, greatest: str, deviation: str, width: str, texts: str
) -> None:
    spread = HostSpread(*(parse_number(text) for text in (median, least, greatest, deviation)))
    assert " ".join(format_host_point(PointKind(kind), spread, int(width))) == texts


@pytest.mark.parametrize(("name", "base", "value", "delta", "percent"), read_cases("changes.csv", style="org-2023"))
def test_change_of_printed_cells(name: str, base: str, value: str, delta: str, percent: str) -> None:
    number_style = get_style(name)
    assert number_style.format_printed_row([base, value]) == Row((base, value), (delta,), (percent,))
    assert number_style.can_print(base, value, delta, percent, 4)
    assert not number_style.can_print(base, value, delta, percent + "1", 4)
    assert not number_style.can_print(base, value, delta + "1", percent, 4)


@pytest.mark.parametrize(
    ("name", "base", "value", "delta", "percent"),
    [row for name in ("typst-2026", "prefixed", "three-digits") for row in read_cases("changes.csv", style=name)],
)
def test_change_of_unrounded_values(name: str, base: str, value: str, delta: str, percent: str) -> None:
    row = get_style(name).format_table_row([parse_number(base), parse_number(value)], 4)
    assert (row.deltas, row.percents) == ((delta,), (percent,))


@pytest.mark.parametrize(("base", "value", "delta", "percent", "width", "is_allowed"), read_cases("allowed.csv"))
def test_cells_are_allowed_if_some_values_print_them(
    base: str, value: str, delta: str, percent: str, width: str, is_allowed: str
) -> None:
    assert Typst2026().can_print(base, value, delta, percent, int(width)) is (is_allowed == "yes")


@pytest.mark.parametrize(("function", "text", "decimals", "low", "high"), read_cases("intervals.csv"))
def test_printed_text_bounds_its_value(function: str, text: str, decimals: str, low: str, high: str) -> None:
    """A text that no number prints has no bounds."""
    interval = (
        parse_percent_interval(text) if function == "percent_interval" else parse_printed_interval(text, int(decimals))
    )
    assert interval == (Interval(Fraction(low), Fraction(high)) if low else None)
