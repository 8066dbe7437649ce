"""The headings of columns and the labels of rows that specs name, as tables and grids print them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.lang.model.package import Column, Metric, Package


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that is printed, of a `kind` in messages, and the word where its declaration is.

    `is_local`: the declaration is within that of the table; otherwise it is that of a metric.
    """

    kind: str
    text: str
    word: str
    is_local: bool = True


def add_unit_if_missing(name: str, symbol: str) -> str:
    """Return a name with its unit, unless the name is the unit: `Peers`."""
    return f"{name}, {symbol}" if symbol and symbol.lower() != name.lower() else name


def format_column_heading(column: Column) -> str:
    """Return the heading of a column: its name and unit; instants are printed without a unit."""
    symbol = "" if column.type == "instant" else column.unit.symbol
    return add_unit_if_missing(column.name.replace("_", " ").capitalize(), symbol)


def format_metric_heading(metric: Metric) -> str:
    """Return the heading of a metric's values: its name and unit."""
    return add_unit_if_missing(metric.name, metric.unit.symbol)


def list_column_headings(package: Package, grain: str, names: Iterable[str]) -> Iterator[Heading]:
    """Yield the headings of columns of a grain, each once; unknown ones are left out."""
    columns = {column.name: column for item in package.grains if item.name == grain for column in item.columns}
    for name in dict.fromkeys(names):
        if name in columns:
            yield Heading("column", format_column_heading(columns[name]), name)


def list_metric_headings(package: Package, names: Iterable[str], kind: str = "metric") -> Iterator[Heading]:
    """Yield the headings of metrics, each once; unknown ones, and those without a name, are left out."""
    metrics = {metric.id: metric for metric in package.metrics}
    for name in dict.fromkeys(names):
        if name in metrics and metrics[name].name.strip():
            yield Heading(kind, format_metric_heading(metrics[name]), name, is_local=False)
