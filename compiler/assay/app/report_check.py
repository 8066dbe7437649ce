"""What a report asks of the stages that show it: number styles and chart templates that exist."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from assay.app.session import Session
from assay.lang import workspace
from assay.lang.chart_templates import list_chart_requests
from assay.lang.model.package import Package
from assay.styles.registry import style_names
from assay.util.diagnostics import Diagnostic, did_you_mean, raise_all

if TYPE_CHECKING:
    from assay.lang.positions import Place

ENDING = ".vl.json"


def refuse(session: Session, package: Package) -> None:
    """Raise AssayError where reports of a package are in a style, or have charts, that there are not."""
    raise_all(report_problems(package, session.templates(), workspace.positions(session.workspace, package.system)))


def report_problems(package: Package, templates: Path, locate: Callable[[str], Place]) -> Iterator[Diagnostic]:
    """Reports of a package in an unknown number style, or with charts of an unknown template; each name told once."""
    known = [path.name.removesuffix(ENDING) for path in (templates / "charts").glob(f"*{ENDING}")]
    told: set[str] = set()
    for asked in list_chart_requests(package):
        for style in sorted(set(asked.styles) - set(style_names()) - told):
            yield Diagnostic(
                "unknown-style",
                f"{asked.owner} is in a number style that does not exist: `{style}`",
                *locate(style),
                hint=did_you_mean(style, style_names()),
            )
        for name in sorted(set(asked.templates) - set(known) - told):
            yield Diagnostic(
                "unknown-chart-template",
                f"{asked.owner} has charts of a template that does not exist: `{name}`",
                *locate(name),
                hint=did_you_mean(name, known),
            )
        told |= {*asked.styles, *asked.templates}
