"""What cells lead to, by the entries that they name: metrics, series, columns of grains and relations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from assay.app.subject_names import Item
from assay.lang.model.article import Article
from assay.lang.model.package import Column, Metric, Package
from assay.lang.model.report import Cell, Report
from assay.lang.model.vocabulary import Unit
from assay.lang.normal_form import CheckedPackage
from assay.lineage import sample_query
from assay.plan.planner import Applied, Listed, Plan, plan
from assay.report.glossary import of_column, of_row
from assay.sql.expressions import places
from assay.styles.manifest_cells import manifest_cell
from assay.util.escape import normalize_text


@dataclass(frozen=True, slots=True)
class ColumnOf:
    """A column of a grain (`listed`: its rows) or of a relation of one row, as a manifest prints it (`cell`)."""

    table: str
    column: Column
    listed: Listed | None = None
    cell: Cell | None = None

    @property
    def unit(self) -> Unit:
        """The unit of the column."""
        return self.column.unit

    def printed(self, value: object) -> str:
        """A value as tables print it."""
        if self.cell is None:
            return normalize_text(str(value))
        return normalize_text(manifest_cell(value if isinstance(value, (int, float, str)) else None, self.cell))


Told = Item | ColumnOf


def items(checked: CheckedPackage, report: Report | Article) -> dict[str, Told]:
    """All that a report's cells may lead to, by the ids of entries."""
    package = checked.package
    found: dict[str, Told] = dict(_columns(package))
    if isinstance(report, Report):
        for row in report.manifest:
            relation = next((item for item in package.relations if item.name == row.relation), None)
            for column in relation.columns if relation else ():
                if column.name == row.column and relation:
                    found[of_row(row)] = ColumnOf(relation.name, column, cell=row.cell)
    found |= {series.name: series for series in package.series}
    return found | {metric.id: metric for metric in package.metrics}


def _columns(package: Package) -> Iterator[tuple[str, ColumnOf]]:
    for grain in package.grains:
        for column in grain.every_column:
            listed = Listed(grain, tuple(dict.fromkeys((*grain.key, column.name))), ())
            yield of_column(grain.name, column.name), ColumnOf(grain.name, column, listed)


def id_of(item: Told) -> str:
    """What an item is called by."""
    if isinstance(item, ColumnOf):
        return f"{item.table}.{item.column.name}"
    return item.id if isinstance(item, Metric) else item.name


def called(item: Told) -> str:
    """What it is in words."""
    if isinstance(item, ColumnOf):
        return item.column.doc
    return item.name if isinstance(item, Metric) else item.doc


def kind_of(item: Told) -> str:
    """Which kind of item it is."""
    return "column" if isinstance(item, ColumnOf) else "metric" if isinstance(item, Metric) else "series"


def planned(checked: CheckedPackage, item: Told, applied: tuple[Applied, ...], *, cut: bool) -> Plan:
    """The plan for one item; with `cut`, for a phase of a run."""
    if isinstance(item, ColumnOf):
        listed = [item.listed] if item.listed else []
        return plan(checked.package, [], applied, [] if item.listed else [item.table], listed, cut=cut)
    if isinstance(item, Metric):
        return plan(checked.package, [item], applied, cut=cut)
    return plan(checked.package, [], applied, series=[item.name], cut=cut)


def sampled(
    checked: CheckedPackage, item: Told, made: Plan, more: tuple[str, ...], times: tuple[int | None, int | None]
) -> tuple[sample_query.SampleQuery, Fraction]:
    """The query of samples or rows (with columns `more`, or from a first to a last ns), and what converts their values
    to the item's unit."""
    if isinstance(item, ColumnOf):
        grain = item.listed.grain if item.listed else None
        return sample_query.of_column(item.table, item.column.name, grain, more), Fraction(1)
    if isinstance(item, Metric):
        grain = next(one for one in checked.package.grains if one.name == item.grain)
        names = [one.name for source in checked.package.sources for one in source.constants]
        measured = checked.measured[item.id]
        return sample_query.of_metric(item, grain, measured.integral, places(names), more), Fraction(measured.factor)
    return sample_query.of_series(next(step for step in made.series if step.name == item.name), *times), Fraction(1)
