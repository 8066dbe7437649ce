"""Define the options of a build, and its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.lang.model.filters import FilterSource
from assay.lang.model.package import Package
from assay.lang.model.report import Report
from assay.report.output_forms import DEFAULT_FORMS, FILES
from assay.util.diagnostics import USAGE, fail, suggest_names


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a build. Empty texts select the defaults of the report; an empty date, the date of the data.

    `calibration` are runs (`NAME=DIR`) that only show how much runs of one version differ, `margin` is a percentage.
    With `measures_noise`, the report is on this noise itself.
    `columns` are names of statistics with commas between them, `details` are ids of metrics, `by` is a
    column (or empty) by whose values metrics are shown.
    `filter_files` are those that recorded filters were read from. `observations` is a file with edited observations,
    `texts` a folder with texts of the author for parts of the report. `edition` is the name of one of the report.
    """

    filters: tuple[str, ...] = ()
    no_filters: bool = False
    summary: str = ""
    style: str = ""
    title: str = ""
    author: str = ""
    date: str = ""
    at: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    columns: str = ""
    details: tuple[str, ...] = ()
    by: str = ""
    filter_files: tuple[FilterSource, ...] = ()
    forms: tuple[str, ...] = DEFAULT_FORMS
    calibration: tuple[str, ...] = ()
    margin: str = ""
    measures_noise: bool = False
    observations: str = ""
    texts: str = ""
    edition: str = ""


@dataclass(frozen=True, slots=True)
class BuildResult:
    """A finished build: its folder, the report in each of its forms, and its warnings."""

    folder: Path
    reports: tuple[Path, ...]
    warnings: tuple[str, ...]


def list_report_files(folder: Path, forms: Sequence[str]) -> tuple[Path, ...]:
    """Return the main file of each form of a report."""
    return tuple(folder / FILES[form][0] for form in forms)


def choose_summary(package: Package, report: Report | None, name: str) -> str:
    """Return the summary of a name, or else that of the report, or else the first of the package.

    Raises AssayError (usage) for an unknown summary.
    """
    summary_names = [item.name for item in package.summaries]
    summary = name or (report.summary if report else summary_names[0])
    if summary not in summary_names:
        raise fail(
            "unknown-summary",
            f"unknown summary `{summary}`",
            hint=suggest_names(summary, summary_names),
            status=USAGE,
        )
    return summary
