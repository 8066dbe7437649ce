"""What a report asks of the stages that show it: number styles and chart templates that exist."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay.compare.style import style_names
from assay.spec.diagnostics import Diagnostic, did_you_mean
from assay.spec.model import Package

ENDING = ".vl.json"


def report_problems(package: Package, templates: Path) -> Iterator[Diagnostic]:
    """Reports of a package in an unknown number style, or with charts of an unknown template."""
    known = [path.name.removesuffix(ENDING) for path in (templates / "charts").glob(f"*{ENDING}")]
    for report in package.reports:
        if report.style not in style_names():
            yield Diagnostic(
                "unknown-style",
                f"report `{report.name}` is in a number style that does not exist: `{report.style}`",
                hint=did_you_mean(report.style, style_names()),
            )
        for name in sorted({chart.template for chart in report.charts} - set(known)):
            yield Diagnostic(
                "unknown-chart-template",
                f"report `{report.name}` has charts of a template that does not exist: `{name}`",
                hint=did_you_mean(name, known),
            )
