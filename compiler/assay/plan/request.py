"""Define what is requested of each run: metrics, relations, rows, series, and the numbers of rows of values."""

from __future__ import annotations

from dataclasses import dataclass, fields

from assay.lang.model.package import Grain, Metric
from assay.plan.value_request import DividedCells, ValueRequest

#: the column with the filters that reject a row
REJECTED_BY = "rejected_by"


def name_rows_statement(series: str) -> str:
    """Return the name of the statement for the rows of a series."""
    return f"rows {series}"


@dataclass(frozen=True, slots=True)
class RowRequest:
    """A request for rows of a grain in the order of its key.

    A row has columns, the values of `metrics`, and the values of `formulas` over these (`metrics` has their inputs).
    A metric of another grain has one value for all of its rows that belong to the row.  `are_points`: a figure draws
    them as points.  A listing with a file has a `listing`, the name of that file; its rows are in the order of `keys`.
    With `rejected`, it has the rows that filters reject, with the column `REJECTED_BY`.
    """

    grain: Grain
    keys: tuple[str, ...]
    metrics: tuple[Metric, ...]
    formulas: tuple[Metric, ...] = ()
    are_points: bool = False
    listing: str = ""
    rejected: bool = False

    @property
    def name(self) -> str:
        """Return the name of the rows: that of their listing, or their grain, columns, metrics and formulas."""
        if self.listing:
            return name_rows_statement(self.listing)
        ids = (metric.id for metric in (*self.metrics, *self.formulas))
        return " ".join(["rows", self.grain.name, *self.keys, *ids])

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns of the rows."""
        ids = (metric.id for metric in (*self.metrics, *self.formulas))
        return (*self.keys, *((REJECTED_BY,) if self.rejected else ()), *ids)

    @property
    def finer_metrics(self) -> tuple[Metric, ...]:
        """Return the metrics of other grains, whose rows belong to those of the grain."""
        return tuple(metric for metric in self.metrics if metric.grain != self.grain.name)


@dataclass(frozen=True, slots=True)
class Request:
    """A request for results of a run; two requests are joined with `|`.

    `relations` have one row each. Metrics that are `judged` have cells, those that are `detailed` also quantiles, those
    that are `grouped` a distribution for each value of their `per`. `values` count the rows of values,
    `divided` are cells by the values of columns.
    """

    metrics: tuple[Metric, ...] = ()
    relations: tuple[str, ...] = ()
    rows: tuple[RowRequest, ...] = ()
    series: tuple[str, ...] = ()
    judged: tuple[Metric, ...] = ()
    detailed: tuple[Metric, ...] = ()
    grouped: tuple[Metric, ...] = ()
    values: tuple[ValueRequest, ...] = ()
    divided: tuple[DividedCells, ...] = ()

    def __or__(self, other: Request) -> Request:
        """Return what either of two requests asks for, each once."""
        pairs = ((getattr(self, item.name), getattr(other, item.name)) for item in fields(Request))
        return Request(*(tuple(dict.fromkeys((*one, *more))) for one, more in pairs))
