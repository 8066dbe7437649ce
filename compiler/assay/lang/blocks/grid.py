"""Grids: small multiples, a row for each run that is a case and a column for each scatter and timeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from assay.lang.blocks.scatter import Scatter
from assay.lang.blocks.timeline import Timeline
from assay.lang.check.checker import Checker
from assay.lang.check.choices import check_has_time, find_choice
from assay.lang.model.headings import Heading, add_unit_if_missing
from assay.lang.model.package import Package
from assay.lang.model.parts import Block, Part, RowRequest
from assay.lang.model.report import Report


@dataclass(frozen=True, slots=True)
class Grid(Block):
    """Small multiples: a row for each run that is a case, a column for each scatter and timeline.

    With a `choice`, scatters show the points of its row and of the repeats of that, timelines the times of these.
    """

    appears_as = "figure"

    title: str
    choice: str
    scatters: tuple[Scatter, ...]
    timelines: tuple[Timeline, ...]
    template: str

    def check(self, checker: Checker, owner: str, report: Report, _part: Part) -> None:
        """Report a report without cases, errors of scatters and timelines, and a choice that does not fit them."""
        owner = f"grid `{self.title}` in {owner}"
        choice = find_choice(checker, owner, report, self.choice)
        if not report.cases:
            checker.report(
                "grid-without-cases",
                f"{owner} has a row for each case, but the report has no `cases`",
                self.title,
                hint="set `cases` of the report to the constant with the case of a run",
            )
        for timeline in self.timelines:
            timeline.check_series(checker, owner)
        if self.timelines:
            check_has_time(checker, owner, choice)
        for scatter in self.scatters:
            scatter.check_rows(checker, owner, (report.name, self.title))
            if choice and choice.grain != scatter.of:
                checker.report(
                    "other-grain",
                    f"{owner} has a scatter with other rows than those of choice `{choice.name}`",
                    choice.name,
                    expected=scatter.of,
                    found=choice.grain,
                )

    def list_headings(self, package: Package) -> Iterator[Heading]:
        """Yield the titles of the scatters and timelines, each with the unit of its values."""
        symbols = {item.id: item.unit.symbol for item in package.metrics}
        symbols |= {f"series {item.name}": item.unit.symbol for item in package.series}
        for scatter in self.scatters:
            yield Heading("column", _add_unit(scatter.title, symbols.get(scatter.y, "")), scatter.title)
        for timeline in self.timelines:
            symbol = symbols.get(f"series {timeline.series}", "")
            yield Heading("column", _add_unit(timeline.title, symbol), timeline.title)

    def read_metrics(self) -> Iterator[str]:
        return (name for scatter in self.scatters for name in scatter.read_metrics())

    def read_series(self) -> Iterator[str]:
        return (timeline.series for timeline in self.timelines)

    def read_rows(self, package: Package) -> Iterator[RowRequest]:
        return (request for scatter in self.scatters for request in scatter.read_rows(package))

    def list_inner_blocks(self) -> tuple[Block, ...]:
        return (*self.scatters, *self.timelines)

    def keep_inner_blocks(self, blocks: Sequence[Block]) -> Self:
        return replace(
            self,
            scatters=tuple(item for item in self.scatters if item in blocks),
            timelines=tuple(item for item in self.timelines if item in blocks),
        )

    def list_templates(self, _suffix: str) -> Iterator[str]:
        """Yield the templates of the figures, then that of the grid."""
        yield from (item.template for item in self.scatters)
        yield from (item.template for item in self.timelines)
        yield self.template

    def locate_series(self, part: str, series: str) -> Iterator[tuple[str, str]]:
        """Yield section and title of each timeline of a series."""
        for timeline in self.timelines:
            if timeline.series == series:
                yield f"{part}/{self.title}", timeline.title or series


def _add_unit(title: str, symbol: str) -> str:
    """Return a title with a unit; an empty one stays empty."""
    return add_unit_if_missing(title, symbol) if title.strip() else ""
