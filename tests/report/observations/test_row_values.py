"""Test when values on the rows of a table are a trend, and what is behind a silence on a metric."""

from __future__ import annotations

import pytest

from assay.report.cell_links import ROW, VERDICT, CellVerdict
from assay.report.cells import Cell
from assay.report.observations.printed_changes import Place, PrintedCell, PrintedChange
from assay.report.observations.statements import get_silence


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
    rows = tuple(PrintedCell("Part/Table/1/Rate", "Rate", Cell(text, int(text), prints=ROW)) for text in texts)
    change = PrintedChange("rate", "Rate", "", Place("", "", "1.0"), {}, rows)
    assert (change.direction, change.is_monotone) == (direction, is_monotone)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (("same", "worse"), "same"),
        (("cannot tell", "same"), "cannot tell"),
        (("–", "same"), ""),
        (("", "same"), ""),
        (("worse", "same"), ""),
        (("", ""), "unjudged"),
    ],
)
def test_silence_on_a_metric_follows_its_verdict(verdicts: tuple[str, str], expected: str) -> None:
    changes = {
        name: PrintedChange(
            name,
            name,
            "s",
            Place("", "1.0", "1.1"),
            {VERDICT: PrintedCell(name, "Verdict", Cell(verdict, verdict=CellVerdict(0, 5, verdict), prints=VERDICT))}
            if verdict
            else {},
        )
        for name, verdict in zip(("first", "second"), verdicts, strict=True)
    }
    assert get_silence(changes, "first") == expected
