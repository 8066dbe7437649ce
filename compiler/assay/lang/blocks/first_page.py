"""FirstPage: the place of the verdicts of all compared metrics, which a report prints once."""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang.model.report_block import ReportBlock


@dataclass(frozen=True, slots=True)
class FirstPage(ReportBlock):
    """The first page, at this place instead of before all parts."""
