"""Parameters: the table of run parameters, which a report prints once."""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang.model.report_block import ReportBlock


@dataclass(frozen=True, slots=True)
class Parameters(ReportBlock):
    """The table of run parameters, at this place instead of at the beginning."""
