"""Build the tables of metrics of a report: a row for each metric, columns for each version and its changes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay.judgement.report_judgements import ReportJudgements
from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import is_formula
from assay.lang.model.package import Metric
from assay.lang.model.report import Report, Section
from assay.number_styles.registry import Style, get_style
from assay.number_styles.unit_prefix import choose_prefix
from assay.report import run_results
from assay.report.cell_links import CellVerdict, list_printed_columns
from assay.report.formatted_text import name_anchor
from assay.report.judged_cells import format_judged_cells, get_sort_keys, list_cell_verdicts, name_judged_columns
from assay.report.percentiles import build_percentile_table, list_split_notes
from assay.report.row_units import ReportUnits, RowUnit, choose_row_unit
from assay.report.run_results import Choices, RunFigures, add_unit
from assay.report.section_notes import list_chart_notes, list_count_notes, list_verdict_notes
from assay.report.tables import MetricTable
from assay.report.versions import Version, list_mean_notes
from assay.util.percent_change import to_percent

DELTA = ("Δ", "Δ%")


@dataclass(frozen=True, slots=True)
class SectionContext:
    """What the sections of a report have in common: versions, the first of which is the baseline, and their judgements.

    Without `judgements`, sections have no intervals and verdicts. `units` are those of the metrics.
    """

    checked: CheckedPackage
    report: Report
    versions: Sequence[Version]
    choices: Choices
    judgements: ReportJudgements | None
    units: ReportUnits

    @property
    def number_style(self) -> Style:
        """Return the number style of cells."""
        return get_style(self.choices.style)

    @property
    def runs(self) -> list[RunFigures]:
        """Return the figures of each version."""
        return [item.figures for item in self.versions]

    def list_metrics(self, section: Section) -> list[Metric]:
        """Return the metrics of a section."""
        return list(map(self.checked.get_metric, section.metrics))

    def find_counted(self, section: Section) -> list[str]:
        """Return the metrics whose numbers of samples the last row of a section has; empty if it has no such row."""
        measured = [metric.id for metric in self.list_metrics(section) if not is_formula(metric)]
        if not measured or section.by or not self.number_style.has_sample_counts:
            return []
        # Without judgements, a note has the counts of the other metrics.
        return measured if self.number_style.has_unit_prefixes and self.judgements is not None else measured[:1]


def build_section(context: SectionContext, section: Section, counted: Sequence[str] = ()) -> MetricTable:
    """Return a section of a report, whose last row has the numbers of samples of the metrics `counted`, if any.

    It has no notes, `list_section_notes` has.
    """
    judgements, runs, style = context.judgements, context.runs, context.number_style
    metrics = context.list_metrics(section)
    printed = list_printed_columns(
        [item.runs for item in context.versions],
        [item.figures.version for item in context.versions],
        is_judged=judgements is not None,
    )
    rows, sort_keys, units = [], [], list[str]()
    verdicts: list[CellVerdict] = []
    for number, metric in enumerate(metrics):
        values = [run_results.get_average(run, metric, context.choices.summary) for run in runs]
        changes = [judgements.changes[metric.id, run.id] for run in runs[1:]] if judgements else []
        judged_cells = [format_judged_cells(change, metric.unit.symbol) for change in changes]
        unit = choose_row_unit(metric, metrics, context.units, context.choices)
        rows.append(compare_values(style, metric, values, judged_cells, unit))
        units.append(unit[1] if style.has_unit_prefixes else metric.unit.symbol)
        sort_keys.append(list_sort_keys(values, list(map(get_sort_keys, changes))))
        verdicts += list_cell_verdicts(number, changes, printed)
    labels = [item.label for item in context.versions]
    header = name_columns(labels, name_judged_columns(judgements.level) if judgements else ())
    metric_ids: list[str | None] = list(section.metrics)
    if counted:
        rows.append(_sample_counts(style, counted, runs, (len(header) - 2) // max(1, len(runs) - 1)))
        sort_keys.append((None,) * (len(header) - 1))
        metric_ids.append(None)
        units.append("")
    return MetricTable(
        name_anchor(section.title),
        section.title,
        section.doc,
        header,
        tuple(rows),
        tuple(metric_ids),
        counted=counted[0] if counted else "",
        printed=printed,
        sort_keys=tuple(sort_keys) if style.has_unit_prefixes or judgements else (),
        verdicts=tuple(verdicts),
        units=tuple(units),
        percentiles=build_percentile_table(context.checked, section, context.versions, context.choices, context.units),
    )


def list_section_notes(context: SectionContext, section: Section, counted: Sequence[str] = ()) -> Iterator[str]:
    """Yield the notes on a section: what its values are means of, sample counts, verdicts, rows without a chart."""
    metrics, runs, judgements = context.list_metrics(section), context.runs, context.judgements
    yield from list_mean_notes(context.versions, metrics)
    if context.number_style.has_unit_prefixes and not judgements:
        yield from list_count_notes(metrics, counted[0] if counted else "", runs)
    yield from list_verdict_notes(metrics, runs, [item.label for item in context.versions], judgements)
    if not context.choices.edition:  # its charts are those that were published
        yield from list_chart_notes(context.report, section, metrics)
    yield from list_split_notes(context.checked, section, context.versions, context.choices)


def list_sort_keys(
    values: Sequence[float | None], judged_keys: Sequence[tuple[float, ...]] = ()
) -> tuple[float | None, ...]:
    """Return the numbers by which the cells of a row of `compare_values` are sorted, in the metric's unit."""
    base, *others = values
    keys: list[float | None] = [base]
    for value, judged in zip(others, judged_keys or [()] * len(others), strict=True):
        delta = None if value is None or base is None else value - base
        keys += [value, delta, to_percent(delta, base) if delta is not None and base else None, *judged]
    return tuple(None if key is None or not math.isfinite(key) else key for key in keys)


def name_columns(run_labels: Sequence[str], judged_columns: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the header of a table of runs, each but the first followed by its differences from the first."""
    return ("", run_labels[0], *(cell for name in run_labels[1:] for cell in (name, *DELTA, *judged_columns)))


def compare_values(
    number_style: Style,
    metric: Metric,
    values: Sequence[float | None],
    judged_cells: Sequence[tuple[str, ...]] = (),
    unit: RowUnit | None = None,
) -> tuple[str, ...]:
    """Return the row of a metric: its label, the first value, then each further value with its differences.

    `judged_cells` has the cells of each further run that follow its differences. Without a `unit`, it suits the values.
    """
    factor, symbol = (
        unit if unit and number_style.has_unit_prefixes else choose_unit_of_values(number_style, metric, values)
    )
    if number_style.has_unit_prefixes:
        values = [None if value is None else value * factor.numerator / factor.denominator for value in values]
    row = run_results.format_metric_row(number_style, metric, values)
    cells = [add_unit(metric.name, symbol), row.cells[0]]
    changes = zip(row.cells[1:], row.deltas, row.percents, strict=True)
    for change, judged in zip(changes, judged_cells or [()] * len(row.deltas), strict=True):
        cells += [*change, *judged]
    return tuple(cells)


def choose_unit_of_values(number_style: Style, metric: Metric, values: Sequence[float | None]) -> RowUnit:
    """Return the unit in which a number style prints some values of a metric."""
    symbol = metric.unit.symbol
    return choose_prefix(values, symbol) if number_style.has_unit_prefixes else (Fraction(1), symbol)


def _sample_counts(
    number_style: Style, metrics: Sequence[str], runs: Sequence[RunFigures], columns_per_run: int
) -> tuple[str, ...]:
    """Return the row with the number of samples in each run: from the least to the greatest of the metrics."""
    sizes = [sorted({run.results.metrics[metric].size for metric in metrics}) for run in runs]
    texts = [dict.fromkeys(map(number_style.format_sample_count, (item[0], item[-1]))) for item in sizes]
    first, *rest = (next(iter(item)) if len(item) == 1 else "–".join(item) for item in texts)
    blanks = [""] * (columns_per_run - 1)
    return ("Sample count", first, *(cell for count in rest for cell in (count, *blanks)))
