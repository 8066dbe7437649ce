"""Build the report of the noise between runs of one version: tables of means, deviations and numbers of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from assay.judgement.noise import CHANGES, MOST_RUNS, Noise
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.package import Metric
from assay.lang.model.report import Report, Section
from assay.lang.segments import get_whole
from assay.number_styles.cell_text import print_number
from assay.number_styles.prefixed import format_value
from assay.number_styles.row import NO_VALUE
from assay.number_styles.unit_prefix import choose_prefix
from assay.report.cell_links import AVERAGE, CellLink, CellSource
from assay.report.document import Document, Part
from assay.report.row_units import RowUnit
from assay.report.run_results import RunFigures, add_unit, list_version_labels
from assay.report.tables import Table

TITLE = "Noise from run to run"
HEADER = ("", "Mean", "Deviation", "Deviation, %", *(f"Runs for {change:g} %" for change in CHANGES))
TEXT = (
    "Mean is that of the averages of the runs. Deviation is the standard deviation of the average of one run (n - 1), "
    "in the unit of the row and in percent of the mean.",
    "Runs for 1 % says how many runs of each of two versions detect a change of 1 %: in 80 % of the cases, two-sided, "
    f"at a level of 95 %. A dash in a row with a mean is more than {MOST_RUNS}.",
)


def build_noise_part(
    checked: CheckedPackage, report: Report, runs: Sequence[RunFigures], noise: Mapping[str, Noise | None]
) -> Part:
    """Return the part with the tables of noise."""
    ids = tuple(run.id for run in runs)
    tables = tuple(_build_table(checked, section, ids, noise) for _, section in report.metric_sections)
    return Part("noise", TITLE, TEXT, (), tables)


def replace_parts(document: Document, part: Part, report: Report, runs: Sequence[RunFigures], title: str) -> Document:
    """Return the document of a report with the part on noise instead of averages and charts; `title` is the user's."""
    labels = dict.fromkeys(list_version_labels(report, runs))
    return replace(
        document,
        title=title or f"{', '.join(labels)}: {TITLE.lower()}",
        intro=(f"How much {len(runs)} runs of one version differ, although nothing changed between them.",),
        differences="",
        parts=(part,),
    )


def _build_table(
    checked: CheckedPackage, section: Section, runs: Sequence[str], noise: Mapping[str, Noise | None]
) -> Table:
    means: dict[str, list[float]] = {}  # by the metric that segments are of
    for name in section.metrics:
        means.setdefault(get_whole(name), []).extend(item.mean for item in [noise[name]] if item)
    metrics = list(map(checked.get_metric, section.metrics))
    units = tuple(_choose_unit(metric, noise[metric.id], means[get_whole(metric.id)])[1] for metric in metrics)
    rows = tuple(_build_row(metric, noise[metric.id], means[get_whole(metric.id)]) for metric in metrics)
    links = tuple(
        CellLink(row, 1, AVERAGE, tuple(CellSource(name, run) for run in runs))
        for row, name in enumerate(section.metrics)
        if noise[name]
    )
    return Table(section.title, HEADER, rows, of_rows=tuple(section.metrics), leads=links, row_units=units)


def _choose_unit(metric: Metric, noise: Noise | None, means: Sequence[float]) -> RowUnit:
    symbol = metric.unit.symbol
    return choose_prefix(means, symbol) if noise else (Fraction(1), symbol)


def _build_row(metric: Metric, noise: Noise | None, means: Sequence[float]) -> tuple[str, ...]:
    """Return the row of a metric; dashes if it has no average in one of the runs, or a mean of 0.

    `means` are those of all rows with the same unit.
    """
    factor, symbol = _choose_unit(metric, noise, means)
    if noise is None:
        return (add_unit(metric.name, symbol), *[NO_VALUE] * (len(HEADER) - 1))
    mean, deviation = (value * factor.numerator / factor.denominator for value in (noise.mean, noise.deviation))
    numbers = (NO_VALUE if number is None else print_number(str(number)) for number in noise.runs_to_detect)
    cells = format_value(mean), format_value(deviation), format_value(noise.percent)
    return (add_unit(metric.name, symbol), *cells, *numbers)
