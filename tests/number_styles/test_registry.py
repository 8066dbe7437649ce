"""Number styles are found by name."""

from __future__ import annotations

import pytest

from assay.number_styles.registry import get_style, list_style_names
from assay.number_styles.row import Row
from assay.util.diagnostics import AssayError


def test_styles_are_found_by_name() -> None:
    assert list_style_names() == ("org-2023", "prefixed", "three-digits", "typst-2026")
    assert [get_style(name).name for name in list_style_names()] == list(list_style_names())


def test_an_unknown_style_is_an_error_with_a_hint() -> None:
    with pytest.raises(AssayError) as error_info:
        get_style("typst-2025")
    [problem] = error_info.value.diagnostics
    assert problem.code == "unknown-number-style"
    assert problem.message == "no number style is called `typst-2025`"
    assert problem.hint == "did you mean `typst-2026`?"


@pytest.mark.parametrize("name", list_style_names())
def test_one_run_has_cells_and_no_deltas(name: str) -> None:
    cell = "0.500" if name in ("prefixed", "three-digits") else "0.5"
    assert get_style(name).format_table_row([0.5], 4) == Row((cell,), (), ())


@pytest.mark.parametrize("name", list_style_names())
def test_no_run_has_no_cells(name: str) -> None:
    assert get_style(name).format_table_row([], 4) == Row((), (), ())


def test_each_further_run_is_compared_with_the_first() -> None:
    row = get_style("typst-2026").format_table_row([2.0, 3.0, 1.0], 4)
    assert row == Row(("2.", "3.", "1."), ("1.000", "-1.000"), ("50", "-50"))


def test_a_row_has_as_many_deltas_as_further_runs() -> None:
    with pytest.raises(ValueError, match="1 deltas and percents belong to 2 cells"):
        Row(("1.", "2."), ("1.000",), ())
