"""Requests for the values of columns on the rows behind metrics."""

from __future__ import annotations

from dataclasses import dataclass

from assay.lang.model.package import Metric
from assay.lang.reserved_names import choose_free_name


@dataclass(frozen=True, slots=True)
class ValueRequest:
    """A request for the numbers of rows behind a metric, for each combination of values of the columns `by`.

    Each number comes with the least and the greatest sample of these rows, before samples are reduced.
    """

    metric: Metric
    by: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the name of the statement."""
        return " ".join(["values", *self.by, self.metric.id])

    @property
    def count_name(self) -> str:
        """Return the name of the column with the number of rows, which none of the columns `by` has."""
        return choose_free_name("size", self.by)

    @property
    def end_names(self) -> tuple[str, str]:
        """Return the names of the columns with the least and the greatest sample."""
        return choose_free_name("least", self.by), choose_free_name("greatest", self.by)


@dataclass(frozen=True, slots=True)
class DividedCells:
    """A request for the cells of metrics of one grain, divided by the values of each of some columns.

    The metrics have no reduction, and all have the same `per`. Without columns, it is for the first time of each place
    of one metric.
    """

    metrics: tuple[Metric, ...]
    columns: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the name of the statement."""
        ids = (metric.id for metric in self.metrics)
        return " ".join(["divided cells" if self.columns else "times of places", *self.columns, *ids])
