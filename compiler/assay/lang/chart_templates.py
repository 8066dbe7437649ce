"""List the number styles and chart templates that reports and editions refer to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.lang.model.package import Package
from assay.lang.model.report import Report

#: suffix of the variant of a timeline's template that marks the beginnings of phases
MARKED = "-marked"


@dataclass(frozen=True, slots=True)
class ChartRequest:
    """The number styles and chart templates of one report; `owner` is its name in messages."""

    owner: str
    styles: tuple[str, ...]
    templates: tuple[str, ...]


def list_chart_requests(package: Package) -> Iterator[ChartRequest]:
    """Yield the request of each report and edition of a package."""
    for report in package.reports:
        yield ChartRequest(f"report `{report.name}`", (report.style,), tuple(_list_block_templates(report)))
        for edition in report.editions:
            owner = f"edition `{edition.name}` of report `{report.name}`"
            yield ChartRequest(owner, (edition.style,), tuple(chart.template for chart in edition.charts))


def _list_block_templates(report: Report) -> Iterator[str]:
    suffix = MARKED if report.phases else ""
    for block in report.blocks:
        yield from block.list_templates(suffix)
