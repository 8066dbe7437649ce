"""Curves: figures of rows over time, a line for each metric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assay.lang import formula
from assay.lang.check.checker import Checker
from assay.lang.check.choices import INSTANT, check_row_columns
from assay.lang.model.package import Grain, Package
from assay.lang.model.parts import Block, Part, RowRequest
from assay.lang.model.report import Report


@dataclass(frozen=True, slots=True)
class Curve(Block):
    """A figure of the rows of a grain over their instants `at`: a line for each metric, all in one unit.

    With `by`, it has one metric and a line for each value of that column.
    """

    appears_as = "figure"

    title: str
    grain: str
    metrics: tuple[str, ...]
    template: str
    by: str = ""

    def check(self, checker: Checker, owner: str, report: Report, part: Part) -> None:
        """Report a lack of metrics, unknown names, metrics in different units, and a grain without instants."""
        within = (report.name, part.title, self.title)
        place = f"figure `{self.title}` of {owner}"
        if not self.metrics:
            checker.report("curve-metrics", f"{place} has no metrics", self.title, within=within)
        if self.by and len(self.metrics) > 1:
            checker.report(
                "curve-lines",
                f"{place} has a line for each `{self.by}`, but several metrics",
                self.title,
                expected="one metric",
                found=", ".join(self.metrics),
                within=within,
            )
        columns = (self.by,) if self.by else ()
        if not check_row_columns(checker, owner, self.grain, columns, self.metrics, within):
            return
        grain = find_grain(checker.package, self.grain)
        if not grain or not has_instant_column(grain):
            checker.report(
                "curve-time",
                f"{place} shows rows of grain `{self.grain}` over time, but they have no instant",
                self.grain,
                expected=f"a column of type {INSTANT} as `at` of the grain",
                within=within,
            )
        metrics_by_id = formula.index_metrics(checker.package)
        units = {name: metrics_by_id[name].unit.name for name in self.metrics}
        if len(set(units.values())) > 1:
            checker.report(
                "curve-units",
                f"{place} has metrics in several units on one axis",
                self.title,
                found=", ".join(f"{name} in {unit or 'no unit'}" for name, unit in units.items()),
                within=within,
            )

    def read_metrics(self) -> Iterable[str]:
        return self.metrics

    def read_rows(self, package: Package) -> Iterator[RowRequest]:
        grain = find_grain(package, self.grain)
        if grain and has_instant_column(grain):
            columns = tuple(dict.fromkeys((*grain.key, grain.at, *((self.by,) if self.by else ()))))
            yield RowRequest(self.grain, columns, self.metrics, are_points=True)

    def list_templates(self, suffix: str) -> Iterable[str]:
        """Return the chart template; with marks where phases begin."""
        return [self.template + suffix]

    def locate(self, part: str) -> tuple[str, str]:
        """Return the part and the title: a figure has no section of its own."""
        return part, self.title


def find_grain(package: Package, name: str) -> Grain | None:
    """Return the grain with a name; None if there is none."""
    return next((grain for grain in package.grains if grain.name == name), None)


def has_instant_column(grain: Grain) -> bool:
    """Return whether the instant `at` of a grain is one of its columns."""
    return any(column.name == grain.at and column.type == INSTANT for column in grain.columns)
