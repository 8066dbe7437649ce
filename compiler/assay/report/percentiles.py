"""Build the columns of a table that show more of a distribution than its average: percentiles and extremes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from assay.lang.checked_package import CheckedPackage
from assay.lang.formula import is_formula
from assay.lang.model.package import Metric
from assay.lang.model.report import Section
from assay.lang.segments import get_whole, is_segment
from assay.number_styles.cell_text import print_number
from assay.number_styles.registry import get_style
from assay.number_styles.row import NO_VALUE, Distribution
from assay.report.cell_links import PERCENT, STATISTIC, CellLink, CellSource
from assay.report.flat_charts import is_share
from assay.report.row_units import ReportUnits, RowUnit, choose_row_unit
from assay.report.run_results import Choices, RunFigures, add_unit, format_metric_row
from assay.report.section_notes import list_repeated_count_notes
from assay.report.statistic_names import COUNT, DEVIATION, GREATEST, LEAST, MEAN, MEDIAN, PERCENTILES
from assay.report.tables import Table
from assay.report.versions import Version

_TYPICAL = "p95"  # the percentile that explains all, if a table has it
#: statistics that say something of samples that are 0 or 100 %
_OF_SHARES = frozenset((MEAN, COUNT))

_MEDIAN_DOC = "The median is a sample, too: of two in the middle, the greater."


def describe_columns(names: Collection[str]) -> str:
    """Return what the columns of these names are; empty if their names say it."""
    percentiles = [name for name in PERCENTILES if name in names]
    sentences, over_hosts = [], []
    if percentiles:
        name = _TYPICAL if _TYPICAL in percentiles else percentiles[-1]
        share = name.removeprefix("p")
        sentences.append(f"At most {share} % of the samples are less than {name}; it is itself a sample.")
        if MEDIAN in names:
            sentences.append(_MEDIAN_DOC)
        over_hosts.append("percentiles are medians over the hosts")
    elif MEDIAN in names:
        sentences.append(_MEDIAN_DOC)
        over_hosts.append("medians are medians over the hosts")
    if extremes := [name for name in (LEAST, GREATEST) if name in names]:
        over_hosts.append(f"{' and '.join(extremes)} {'are those' if len(extremes) > 1 else 'is that'} of all samples")
    if over_hosts:
        sentences.append(f"Where each host has a distribution of its own, {', '.join(over_hosts)}.")
    return " ".join(sentences)


def compute_statistic(distribution: Distribution, name: str, summary: str) -> float | None:
    """Return a statistic in the metric's unit, or the number of samples; None without samples."""
    if name == COUNT:
        return float(distribution.size)
    if not distribution.size:
        return None
    if name in PERCENTILES:
        return distribution.scale_value(_find_centile(distribution, PERCENTILES[name]))
    return {
        MEAN: distribution.averages[summary],
        MEDIAN: distribution.median,
        LEAST: distribution.least,
        GREATEST: distribution.greatest,
        DEVIATION: distribution.stddevs[summary],
    }[name]


def find_percentile(distribution: Distribution, name: str) -> float | None:
    """Return the median or a percentile as measured, which is that of a sample; None for other statistics."""
    if name not in (MEDIAN, *PERCENTILES):
        return None
    return _find_centile(distribution, PERCENTILES["p50" if name == MEDIAN else name])


def _find_centile(distribution: Distribution, centile: float) -> float:
    return next(item.value for item in distribution.centiles if item.centile == centile)


#: members of a distribution as plain data that have another name than their column
_MEMBERS = {MEAN: "average", COUNT: "size"}


def read_statistic(data: Mapping[str, Any], name: str) -> object:
    """Return a statistic from a distribution as plain data (`build_distribution_data`); None without samples."""
    if name not in PERCENTILES:
        return data[_MEMBERS.get(name, name)]
    if not data["size"]:
        return None
    return next(values[1] for values in data["centiles"] if values[0] == PERCENTILES[name])


def list_further_columns(section: Section, choices: Choices) -> tuple[str, ...]:
    """Return the names of the further columns of a section, chosen or its own; a split section has a count."""
    names = choices.columns or section.columns
    return tuple(dict.fromkeys((COUNT, *names))) if section.by else names


def build_percentile_table(
    checked: CheckedPackage,
    section: Section,
    versions: Sequence[Version],
    choices: Choices,
    units: ReportUnits,
) -> Table | None:
    """Return the table of the further columns of a section; None if it has none.

    For each statistic it has a column for each version, and after each but the first the change in percent. Formulas
    have no distribution, so they have no row; nor have shares, but for their mean and their count; nor have metrics of
    `find_repeated_counts`. A split section of single samples has no table of their counts.
    """
    names = list_further_columns(section, choices)
    if _has_single_samples(checked, section, versions, choices):
        return None
    repeats = find_repeated_counts(checked, section, versions, choices)
    metrics = [item for item in _list_distributed(checked, section, versions) if get_whole(item.id) not in repeats]
    figures = [item.figures for item in versions]
    shares = {metric.id for metric in metrics if is_share(metric, figures)}
    if not {*names} & _OF_SHARES:
        metrics = [metric for metric in metrics if metric.id not in shares]
    if not names or not metrics:
        return None
    header = ["", *chain.from_iterable(_name_columns(name, [item.label for item in versions]) for name in names)]
    neighbours = list(map(checked.get_metric, section.metrics))
    rows = [
        _build_row(metric, {name: metric.id not in shares or name in _OF_SHARES for name in names}, figures, choices,
                   choose_row_unit(metric, neighbours, units, choices))
        for metric in metrics
    ]  # fmt: skip
    runs = [item.runs for item in versions]
    links = (
        CellLink(y, x, prints, sources)
        for y, metric in enumerate(metrics)
        for x, (prints, sources) in enumerate(_list_sources(metric.id, names, runs), start=1)
        if metric.id not in shares or sources[0].statistic in _OF_SHARES
    )
    title = f"{section.title}: {', '.join(names)}"
    return Table(title, tuple(header), tuple(rows), of_rows=tuple(metric.id for metric in metrics), leads=tuple(links),
                 row_units=tuple(choose_row_unit(item, neighbours, units, choices)[1] for item in metrics))  # fmt: skip


def list_split_notes(
    checked: CheckedPackage, section: Section, versions: Sequence[Version], choices: Choices
) -> Iterator[str]:
    """Yield the notes on the sample counts of a split section that its table of further columns lacks."""
    if _has_single_samples(checked, section, versions, choices):
        yield f"Each value of {' and '.join(section.by)} has a single sample in each run."
    else:
        yield from list_repeated_count_notes(checked, find_repeated_counts(checked, section, versions, choices))


def _has_single_samples(
    checked: CheckedPackage, section: Section, versions: Sequence[Version], choices: Choices
) -> bool:
    """Return whether a section only counts the samples of segments, none of which has several in any run."""
    if not section.by or list_further_columns(section, choices) != (COUNT,):
        return False
    segments = [item for item in map(checked.get_metric, section.metrics) if is_segment(item.id)]
    measured = [item for item in segments if not is_formula(item)]
    sizes = {run.results.metrics[item.id].size for item in measured for version in versions for run in version.members}
    return max(sizes, default=0) == 1


def find_repeated_counts(
    checked: CheckedPackage, section: Section, versions: Sequence[Version], choices: Choices
) -> Mapping[str, str]:
    """Return the metrics of a split table with the same sample counts, by value, as an earlier one: mapped to that.

    Empty if the section has other further columns than the count.
    """
    if not section.by or list_further_columns(section, choices) != (COUNT,):
        return {}
    rows: dict[str, list[tuple[str, ...]]] = {}
    for metric in _list_distributed(checked, section, versions):
        whole = get_whole(metric.id)
        sizes = (str(item.figures.results.metrics[metric.id].size) for item in versions)
        rows.setdefault(whole, []).append((metric.id.removeprefix(whole), *sizes))
    firsts: dict[tuple[tuple[str, ...], ...], str] = {}
    for whole, counts in rows.items():
        firsts.setdefault(tuple(counts), whole)
    return {whole: first for whole, counts in rows.items() if (first := firsts[tuple(counts)]) != whole}


def _list_distributed(checked: CheckedPackage, section: Section, versions: Sequence[Version]) -> list[Metric]:
    """Return the metrics of a section with more than one sample in each run."""
    metrics = map(checked.get_metric, section.metrics)
    return [item for item in metrics if not is_formula(item) and not _is_single_number(item, versions)]


def _is_single_number(metric: Metric, versions: Sequence[Version]) -> bool:
    """Return whether a metric is reduced to one sample in each run, which all columns would repeat."""
    is_single = all(item.figures.results.metrics[metric.id].size == 1 for item in versions)
    return metric.reduction is not None and is_single


def _name_columns(name: str, run_labels: Sequence[str]) -> Iterator[str]:
    yield f"{run_labels[0]} {name}"
    for label in run_labels[1:]:
        yield from (f"{label} {name}", "Δ%")


def _build_row(
    metric: Metric,
    statistics: Mapping[str, bool],
    runs: Sequence[RunFigures],
    choices: Choices,
    unit: RowUnit,
) -> tuple[str, ...]:
    """Return the row of a metric, in the unit that its row of averages has; of statistics that it lacks, dashes."""
    number_style, (ratio, symbol) = get_style(choices.style), unit
    factor = ratio.numerator / ratio.denominator
    cells = [add_unit(metric.name, symbol)]
    for name, is_present in statistics.items():
        values = [
            compute_statistic(run.results.metrics[metric.id], name, choices.summary) if is_present else None
            for run in runs
        ]
        scaled_values = [None if item is None else item * (1.0 if name == COUNT else factor) for item in values]
        row = format_metric_row(number_style, metric, scaled_values)
        row_cells = [print_number(f"{item:.0f}") for item in values if item is not None] if name == COUNT else row.cells
        cells += [row_cells[0], *chain.from_iterable(zip(row_cells[1:], row.percents, strict=True))]
    return tuple(cell or NO_VALUE for cell in cells)


def _list_sources(
    metric: str, names: Sequence[str], runs: Sequence[tuple[str, ...]]
) -> Iterator[tuple[str, tuple[CellSource, ...]]]:
    """Yield what each column after the first prints, and of which values."""
    for name in names:
        base, *others = (tuple(CellSource(metric, run, statistic=name) for run in ids) for ids in runs)
        yield STATISTIC, base
        for other in others:
            yield STATISTIC, other
            yield PERCENT, (*base, *other)
