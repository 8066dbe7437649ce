"""Test when values on the rows of a table are a trend."""

from __future__ import annotations

import pytest

from assay.report.cell_links import ROW
from assay.report.observations.printed_changes import Place, PrintedCell, PrintedChange


@pytest.mark.parametrize(
    ("texts", "direction", "is_monotone"),
    [
        (("1", "2", "3"), 1, True),
        (("1", "1", "3"), 1, True),
        (("3", "2", "2"), -1, True),
        (("1", "3", "2"), 1, False),
        (("2", "1", "2"), 0, False),
        (("2", "2"), 0, False),
    ],
)
def test_trend_never_goes_the_other_way(texts: tuple[str, ...], direction: int, *, is_monotone: bool) -> None:
    rows = tuple(PrintedCell("Part/Table/1/Rate", "Rate", text, ROW) for text in texts)
    change = PrintedChange("rate", "Rate", "", Place("", "", "1.0"), {}, rows)
    assert (change.direction, change.is_monotone) == (direction, is_monotone)
