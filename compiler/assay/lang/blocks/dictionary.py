"""Dictionary: the data dictionary, which a report prints once."""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang.model.report_block import ReportBlock


@dataclass(frozen=True, slots=True)
class Dictionary(ReportBlock):
    """The data dictionary, at this place instead of at the end."""
