"""Check that the number styles, chart templates and columns of reports exist."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from assay.app.session.session import Session
from assay.lang import workspace
from assay.lang.chart_templates import list_chart_requests
from assay.lang.model.package import Package
from assay.number_styles.registry import list_style_names
from assay.report.statistic_names import EXPECTED, STATISTICS, suggest_column
from assay.util.diagnostics import Diagnostic, raise_all, suggest_names

if TYPE_CHECKING:
    from assay.lang.positions import Place

ENDING = ".vl.json"


def check_reports(session: Session, package: Package) -> None:
    """Raise AssayError if reports of a package use unknown number styles, chart templates or columns."""
    raise_all(
        iter_report_problems(
            package, session.get_templates(), workspace.get_positions(session.workspace, package.system)
        )
    )


def iter_report_problems(package: Package, templates: Path, locate: Callable[[str], Place]) -> Iterator[Diagnostic]:
    """Yield a problem for each unknown number style, chart template or column of a package's reports, once."""
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
    yield from _iter_column_problems(package, locate)


def _iter_column_problems(package: Package, locate: Callable[[str], Place]) -> Iterator[Diagnostic]:
    """Yield a problem for each unknown column of a section, and for columns where only averages are published."""
    for report in package.reports:
        for _, section in report.metric_sections:
            for name in section.columns:
                if name not in STATISTICS:
                    message = f"section `{section.title}` of report `{report.name}` has the unknown column `{name}`"
                    yield Diagnostic(
                        "unknown-column", message, *locate(name), expected=EXPECTED, hint=suggest_column(name)
                    )
    of_published = [(f"edition `{edition.name}` of report `{report.name}`", edition.sections)
                    for report in package.reports for edition in report.editions]  # fmt: skip
    for owner, sections in of_published:
        for section in sections:
            if section.columns:
                message = f"section `{section.title}` of {owner} has columns"
                hint = "remove them: published reports have averages only"
                yield Diagnostic("published-columns", message, *locate(section.title), hint=hint)
