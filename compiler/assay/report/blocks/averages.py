"""Render tables of series: their label filters, and the mean over time of the mean of all lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from assay.lang.blocks.averages import Averages
from assay.lang.model.series import Series
from assay.lang.series_wording import describe_labels
from assay.number_styles.cell_text import print_number
from assay.number_styles.exact_decimal import format_rounded_fraction, to_fraction
from assay.number_styles.registry import Style
from assay.number_styles.row import NO_VALUE
from assay.number_styles.unit_prefix import SHORT_SYMBOLS, choose_prefix, list_prefixed_units
from assay.report.blocks import rows as block_rows
from assay.report.blocks.context import RenderContext, RenderedBlocks, ShownRun, add_label_to_title, register_renderer
from assay.report.blocks.rows import Row
from assay.report.cell_links import LINES, MEAN, PERCENT, WORDS, CellLink, CellSource
from assay.report.run_results import add_unit
from assay.report.series_statistic import DIGITS, compute_mean_over_time, select_rows_within
from assay.report.tables import Table
from assay.util.percent_change import compute_percent_change


@register_renderer(Averages)
def render(context: RenderContext, items: Sequence[Averages]) -> RenderedBlocks:
    """Render a table for each item and run that has the row of the choice."""
    tables = (build_averages_table(context, item, shown_run) for item in items for shown_run in context.runs)
    return RenderedBlocks(
        tables=tuple(table for table in tables if table),
        choices=tuple(item.choice for item in items),
        gaps=tuple(_describe_missing_samples(context, items)),
    )


def _describe_missing_samples(context: RenderContext, items: Sequence[Averages]) -> Iterator[str]:
    """Yield a sentence on the tables of each run that are left out because it has no samples."""
    for shown_run in context.runs:
        titles = [item.title for item in items if _lacks_samples(context, item, shown_run)]
        if titles:
            label = f" ({shown_run.title_label})" if shown_run.title_label else ""
            yield f"There are no samples for: {', '.join(titles)}{label}."


def _lacks_samples(context: RenderContext, item: Averages, shown_run: ShownRun) -> bool:
    """Check that there is no sample of any series in the time of the table."""
    time_range = context.find_time_range(item.choice, shown_run.run) if item.choice else None
    if item.choice and time_range is None:
        return False
    rows_by_series = _select_rows(context, item, shown_run, time_range)
    return all(compute_mean_over_time(rows) is None for rows in rows_by_series)


def _select_rows(
    context: RenderContext, item: Averages, shown_run: ShownRun, time_range: tuple[int, int] | None
) -> list[Sequence[Row]]:
    """Return the rows of each series in a time; None: in all windows."""
    series_by_name = {series.name: series for series in context.checked.package.series}
    return [
        select_rows_within(block_rows.get_rows(shown_run.run, series_by_name[name]), time_range) for name in item.series
    ]


def build_averages_table(context: RenderContext, item: Averages, shown_run: ShownRun) -> Table | None:
    """Build a table with a row for each series: doc, labels, number of lines, average, difference from the first.

    Return None if the run has no row of the choice, or no samples.
    """
    shown_series = [
        next(candidate for candidate in context.checked.package.series if candidate.name == name)
        for name in item.series
    ]
    time_range = context.find_time_range(item.choice, shown_run.run) if item.choice else None
    if (item.choice and time_range is None) or _lacks_samples(context, item, shown_run):
        return None
    rows_by_series = _select_rows(context, item, shown_run, time_range)
    means = [compute_mean_over_time(rows) for rows in rows_by_series]
    symbol, cells = format_means(context.number_style, shown_series[0].unit.symbol, means)
    rows = [
        (
            series.doc,
            describe_labels(context.checked.package, series),
            print_number(str(_count_lines(series, series_rows))),
            cell,
            _format_percent_change(means[0], mean) if index else "",
        )
        for index, (series, series_rows, mean, cell) in enumerate(
            zip(shown_series, rows_by_series, means, cells, strict=True)
        )
    ]
    header = ("Series", "Labels", "Lines", add_unit("Average", symbol), "Δ%")
    sources = [
        CellSource(
            series.name, shown_run.run.id, since=time_range and time_range[0], until=time_range and time_range[1]
        )
        for series in shown_series
    ]
    links = tuple(link for row in range(len(sources)) for link in link_cells(row, sources[0], sources[row]))
    return Table(
        add_label_to_title(item.title, shown_run.title_label),
        header,
        tuple(rows),
        of_rows=item.series,
        leads=links,
        row_units=(symbol,) * len(rows),
    )


def format_means(number_style: Style, symbol: str, means: Sequence[float | None]) -> tuple[str, list[str]]:
    """Return the unit of a column of averages, with the prefix that suits them, and its cells."""
    factor = Fraction(1)
    if number_style.has_unit_prefixes:
        factor, symbol = choose_prefix(means, SHORT_SYMBOLS.get(symbol, symbol))
    return symbol, [NO_VALUE if mean is None else _format_mean(number_style, mean, factor) for mean in means]


def list_mean_texts(number_style: Style, symbol: str, mean: float) -> list[str]:
    """Return the texts of an average in each unit in which a column may be."""
    units = list_prefixed_units(SHORT_SYMBOLS.get(symbol, symbol)) if number_style.has_unit_prefixes else []
    return [_format_mean(number_style, mean, factor) for factor in (Fraction(1), *(factor for factor, _ in units))]


def _format_mean(number_style: Style, mean: float, factor: Fraction) -> str:
    return number_style.format_table_row([mean * factor.numerator / factor.denominator], DIGITS).cells[0]


def link_cells(row: int, first_source: CellSource, source: CellSource) -> Iterator[CellLink]:
    """Yield the links of a series' row."""
    yield CellLink(row, 1, WORDS, (source,))
    yield CellLink(row, 2, LINES, (source,))
    yield CellLink(row, 3, MEAN, (source,))
    if row:
        yield CellLink(row, 4, PERCENT, (first_source, source))


def _count_lines(series: Series, rows: Sequence[Row]) -> int:
    return len({tuple(row[name] for name in series.by) for row in rows})


def _format_percent_change(first: float | None, value: float | None) -> str:
    """Return the difference from the first value, in percent of its amount."""
    if first is None or value is None or not first:
        return NO_VALUE
    change = compute_percent_change(to_fraction(first), to_fraction(value))
    return print_number(format_rounded_fraction(change, 1))
