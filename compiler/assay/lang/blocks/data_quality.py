"""DataQuality: the place of the findings on data, which a report prints once."""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang.model.report_block import ReportBlock


@dataclass(frozen=True, slots=True)
class DataQuality(ReportBlock):
    """The findings on the data of the runs, at this place instead of at the end."""
