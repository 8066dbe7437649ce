"""Test that a report says if units in print are not those of the definitions."""

from __future__ import annotations

from fractions import Fraction

import pytest

from assay.lang.model.expression import Expression
from assay.lang.model.package import Metric
from assay.lang.model.vocabulary import Unit
from assay.report.row_units import ReportUnits, describe_units
from assay.report.run_results import Choices

MS = Unit("millisecond", "ms")
METRIC = Metric("m", "", "", "g", Expression("column", name="x"), None, True, None, "", MS, "neither", 4)
NOTE = "Units are scaled to the values; the data dictionary has those of the definitions."


@pytest.mark.parametrize(
    ("style", "units", "note"),
    [
        ("prefixed", {"m": (Fraction(1, 1000), "s")}, NOTE),
        ("prefixed", {"m": (Fraction(1), "ms")}, ""),
        ("prefixed", {}, ""),
        ("three-digits", {"m": (Fraction(1, 1000), "s")}, ""),
    ],
    ids=["prefix", "same unit", "no averages", "style without prefixes"],
)
def test_note_says_that_units_differ(style: str, units: ReportUnits, note: str) -> None:
    assert describe_units([METRIC], units, Choices(style, "", (), "")) == note
