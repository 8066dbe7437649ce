"""Charts: distributions of a metric, a line for each run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from assay.lang.model import report as report_model


@dataclass(frozen=True, slots=True)
class Chart(report_model.Chart):
    """A chart in a part of a report."""

    appears_as = "chart"

    def read_metrics(self) -> Iterable[str]:
        return [self.metric]

    def list_templates(self, _suffix: str) -> Iterable[str]:
        """Return the chart template: distributions have no marks."""
        return [self.template]
