"""What a report asks of the stages that show it: number styles and chart templates that exist."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay.compare.style import style_names
from assay.spec.checker import Locate
from assay.spec.diagnostics import Diagnostic, did_you_mean
from assay.spec.model import Package

ENDING = ".vl.json"


def report_problems(package: Package, templates: Path, locate: Locate) -> Iterator[Diagnostic]:
    """Reports of a package in an unknown number style, or with charts of an unknown template; each name told once."""
    known = [path.name.removesuffix(ENDING) for path in (templates / "charts").glob(f"*{ENDING}")]
    told: set[str] = set()
    for what, styles, names in _asked(package):
        for style in sorted(set(styles) - set(style_names()) - told):
            yield Diagnostic(
                "unknown-style",
                f"{what} is in a number style that does not exist: `{style}`",
                *locate(style, 0),
                hint=did_you_mean(style, style_names()),
            )
        for name in sorted(set(names) - set(known) - told):
            yield Diagnostic(
                "unknown-chart-template",
                f"{what} has charts of a template that does not exist: `{name}`",
                *locate(name, 0),
                hint=did_you_mean(name, known),
            )
        told |= {*styles, *names}


def _asked(package: Package) -> Iterator[tuple[str, list[str], list[str]]]:
    """What reports, editions, histories and articles ask for: number styles, chart templates."""
    for report in package.reports:
        yield f"report `{report.name}`", [report.style], [chart.template for chart in report.charts]
        for edition in report.editions:
            what = f"edition `{edition.name}` of report `{report.name}`"
            yield what, [edition.style], [chart.template for chart in edition.charts]
    for history in package.histories:
        yield f"history `{history.name}`", [], [history.template]
    for article in package.articles:
        marked = "-marked" if article.phases else ""
        names = [item.template + marked for part in article.parts for item in part.timelines]
        names += [item.template for part in article.parts for item in part.scatters]
        yield f"article `{article.name}`", [article.style], names
