"""Check that the number styles and chart templates of reports exist."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from assay.app.session import Session
from assay.lang import workspace
from assay.lang.chart_templates import list_chart_requests
from assay.lang.model.package import Package
from assay.styles.registry import list_style_names
from assay.util.diagnostics import Diagnostic, raise_all, suggest_names

if TYPE_CHECKING:
    from assay.lang.positions import Place

ENDING = ".vl.json"


def check_reports(session: Session, package: Package) -> None:
    """Raise AssayError if reports of a package use unknown number styles or chart templates."""
    raise_all(
        iter_report_problems(
            package, session.get_templates(), workspace.get_positions(session.workspace, package.system)
        )
    )


def iter_report_problems(package: Package, templates: Path, locate: Callable[[str], Place]) -> Iterator[Diagnostic]:
    """Yield a problem for each unknown number style or chart template of a package's reports, once."""
    template_names = [path.name.removesuffix(ENDING) for path in (templates / "charts").glob(f"*{ENDING}")]
    checked_names: set[str] = set()
    for use in list_chart_requests(package):
        for style in sorted(set(use.styles) - set(list_style_names()) - checked_names):
            yield Diagnostic(
                "unknown-style",
                f"{use.owner} uses the unknown number style `{style}`",
                *locate(style),
                hint=suggest_names(style, list_style_names()),
            )
        for name in sorted(set(use.templates) - set(template_names) - checked_names):
            yield Diagnostic(
                "unknown-chart-template",
                f"{use.owner} uses the unknown chart template `{name}`",
                *locate(name),
                hint=suggest_names(name, template_names),
            )
        checked_names |= {*use.styles, *use.templates}
