"""What a report asks of the stages that show it: number styles and chart templates that exist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.compare.style import style_names
from assay.spec.diagnostics import Diagnostic, did_you_mean
from assay.spec.model import Edition, Package, Report

ENDING = ".vl.json"


def report_problems(package: Package, templates: Path) -> Iterator[Diagnostic]:
    """Reports of a package in an unknown number style, or with charts of an unknown template."""
    known = [path.name.removesuffix(ENDING) for path in (templates / "charts").glob(f"*{ENDING}")]
    for report in package.reports:
        yield from _problems(f"report `{report.name}`", report, known)
        for edition in report.editions:
            yield from _problems(f"edition `{edition.name}` of report `{report.name}`", edition, known)


def _problems(what: str, shown: Report | Edition, templates: Sequence[str]) -> Iterator[Diagnostic]:
    if shown.style not in style_names():
        yield Diagnostic(
            "unknown-style",
            f"{what} is in a number style that does not exist: `{shown.style}`",
            hint=did_you_mean(shown.style, style_names()),
        )
    for name in sorted({chart.template for chart in shown.charts} - set(templates)):
        yield Diagnostic(
            "unknown-chart-template",
            f"{what} has charts of a template that does not exist: `{name}`",
            hint=did_you_mean(name, templates),
        )
