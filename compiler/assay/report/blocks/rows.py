"""Request the rows of grains and series that a report reads, and format the values in them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import NoneType

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.headings import add_unit_if_missing
from assay.lang.model.package import Grain, Metric
from assay.lang.model.parts import Block, Choice
from assay.lang.model.report import Report
from assay.lang.model.series import Series
from assay.number_styles.cell_text import print_number
from assay.number_styles.exact_decimal import format_decimal, format_rounded_fraction, to_fraction
from assay.number_styles.registry import Style
from assay.number_styles.row import NO_VALUE
from assay.number_styles.unit_prefix import choose_prefix
from assay.plan.planner import FROM, TO, name_span_statement, request_rows
from assay.plan.request import RowRequest, name_rows_statement
from assay.report.prose import Prose, Quote, find_metric_grain
from assay.report.run_results import RunFigures
from assay.report.series_statistic import (
    add_unit_to_text,
    format_statistic,
    parse_statistic,
    select_lines,
    select_rows_within,
)
from assay.util.diagnostics import fail

Row = Mapping[str, object]
Key = tuple[object, ...]
NO_LABEL_VALUE = "none"


def list_row_requests(checked: CheckedPackage, report: Report, prose_texts: Iterable[Prose]) -> tuple[RowRequest, ...]:
    """Return the rows that a report reads in each run."""
    requests = [
        *(request_choice_rows(checked, choice) for choice in report.choices),
        *request_part_rows(checked, report),
        *(
            request_quote_rows(checked, quote)
            for prose_text in prose_texts
            for quote in prose_text.quotes
            if quote.reads_row
        ),
    ]
    point_names = {request.name for request in requests if request.are_points}
    return tuple(
        {request.name: replace(request, are_points=request.name in point_names) for request in requests}.values()
    )


def list_shown_series(report: Report, prose_texts: Iterable[Prose] = ()) -> tuple[str, ...]:
    """Return the series that a report shows, each once: those of figures, of tables, then those that prose quotes."""
    blocks = sorted(report.blocks, key=lambda block: block.appears_as != "figure")
    quoted = (quote.metric for prose_text in prose_texts for quote in prose_text.quotes if quote.statistic)
    return tuple(dict.fromkeys((*(name for block in blocks for name in block.read_series()), *quoted)))


def request_part_rows(checked: CheckedPackage, report: Report) -> Iterable[RowRequest]:
    """Return the rows that the tables and figures of all parts read."""
    return (item for block in report.blocks for item in request_block_rows(checked, block))


def request_block_rows(checked: CheckedPackage, block: Block) -> tuple[RowRequest, ...]:
    """Return the rows that a block reads."""
    return tuple(
        replace(
            _build_request(checked, request.grain, request.columns, request.metrics),
            are_points=request.are_points,
            listing=request.listing,
            rejected=request.rejected,
        )
        for request in block.read_rows(checked.package)
    )


def has_rows(checked: CheckedPackage, run: RunFigures, block: Block) -> bool:
    """Return whether a run has all rows and series that a block reads, even if they are empty."""
    names = [request.name for request in request_block_rows(checked, block)]
    return {*names, *map(name_rows_statement, block.read_series())} <= run.results.rows.keys()


def _build_request(checked: CheckedPackage, grain: str, keys: Sequence[str], metrics: Sequence[str]) -> RowRequest:
    return request_rows(
        checked.package, find_grain(checked, grain), keys, [checked.get_metric(name) for name in metrics]
    )


def request_choice_rows(checked: CheckedPackage, choice: Choice) -> RowRequest:
    """Return the rows among which a choice is made."""
    grain = find_grain(checked, choice.grain)
    pinned_columns = (pin.column for pin in choice.pins)
    time_columns = (name for name in (choice.begin, choice.end) if name)
    names = (*choice.label, *choice.keys, *choice.repeats, *pinned_columns, *choice.least, choice.first, *time_columns)
    columns = dict.fromkeys((*grain.key, *names))
    metrics = dict.fromkeys(name for name in (choice.most, choice.done, choice.due) if name)
    return _build_request(checked, choice.grain, tuple(columns), tuple(metrics))


def request_quote_rows(checked: CheckedPackage, quote: Quote) -> RowRequest:
    """Return the rows among which a quote finds its value."""
    metric = checked.get_metric(quote.metric)
    grain = find_metric_grain(checked, metric)
    columns = (*(name for name, _ in quote.where), *(grain.key if quote.choice else ()))
    return request_rows(checked.package, grain, tuple(dict.fromkeys(columns)), [metric])


def find_grain(checked: CheckedPackage, name: str) -> Grain:
    """Return the grain with a name."""
    return next(grain for grain in checked.package.grains if grain.name == name)


def is_same_row(grain: Grain, row: Row, other: Row) -> bool:
    """Check that two rows have the same values in the key of their grain."""
    return all(row[name] == other[name] for name in grain.key)


def get_rows(run: RunFigures, item: RowRequest | Series) -> Sequence[Row]:
    """Return the rows of a run."""
    return run.results.rows[item.name if isinstance(item, RowRequest) else name_rows_statement(item.name)]


def get_series_span(run: RunFigures, series: Series) -> tuple[int, int]:
    """Return the begin and end of all windows of a series, in ns; 0 and 0 without windows."""
    (row,) = run.results.rows[name_span_statement(series.windows)]
    begin, end = (row[name] for name in (FROM, TO))
    return (begin, end) if isinstance(begin, int) and isinstance(end, int) else (0, 0)


def get_sort_key(value: object) -> tuple[int, float, str]:
    """Return a key to sort by: numbers before texts, each in their order."""
    return (0, value, "") if isinstance(value, (int, float)) else (1, 0.0, str(value))


def compute_exact_value(checked: CheckedPackage, metric: Metric, value: object) -> Fraction | None:
    """Return a measured value in the metric's unit, exact to its decimal text; None if it is not a finite number.

    A mean of such values is a fraction.
    """
    if isinstance(value, Fraction):
        return value * checked.measured[metric.id].factor
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return to_fraction(value) * checked.measured[metric.id].factor


def compute_value(checked: CheckedPackage, metric: Metric, value: object) -> float | None:
    """Return a measured value in the metric's unit; None if it is not a number."""
    if isinstance(value, Fraction):
        return float(value * checked.measured[metric.id].factor)
    if not isinstance(value, (int, float)):
        return None
    factor = checked.measured[metric.id].factor
    return value * factor.numerator / factor.denominator


def is_short(checked: CheckedPackage, done_metric: Metric, due_metric: Metric, row: Row, tolerance: int) -> bool:
    """Check that the value of `done_metric` is less than that of `due_metric` by more than `tolerance` percent."""
    done_value, due_value = (
        compute_exact_value(checked, done_metric, row[done_metric.id]),
        compute_exact_value(checked, due_metric, row[due_metric.id]),
    )
    return done_value is not None and due_value is not None and 100 * done_value < (100 - tolerance) * due_value


def format_metric_value(
    checked: CheckedPackage, number_style: Style, metric: Metric, value: object, decimals: int | None = None
) -> str:
    """Return a measured value as tables print it.

    Integers are printed as they are, other numbers in the number style at the metric's width, or with `decimals`.
    """
    if value is None:
        return NO_VALUE
    measured_metric = checked.measured[metric.id]
    if decimals is None and isinstance(value, int) and Fraction(measured_metric.factor) == 1:
        return print_number(str(value))
    converted_value = compute_value(checked, metric, value)
    assert converted_value is not None
    if decimals is None:
        return number_style.format_table_row([converted_value], metric.width).cells[0]
    exact_value = compute_exact_value(checked, metric, value)
    return print_number(
        format_decimal(converted_value) if exact_value is None else format_rounded_fraction(exact_value, decimals)
    )


def format_metric_column(
    checked: CheckedPackage,
    number_style: Style,
    metric: Metric,
    values: Sequence[object],
    unit: tuple[Fraction, str] | None = None,
) -> tuple[str, list[str], str]:
    """Return the heading of a column of measured values with its unit, its cells, and the unit.

    It is the `unit` of the metric in the report (a factor, and a symbol), or else that which suits the greatest value.
    Integers are printed as they are.
    """
    if Fraction(checked.measured[metric.id].factor) == 1 and all(
        isinstance(value, (int, NoneType)) for value in values
    ):
        return (
            add_unit_if_missing(metric.name, metric.unit.symbol),
            [NO_VALUE if value is None else print_number(str(value)) for value in values],
            metric.unit.symbol,
        )
    numbers = [compute_value(checked, metric, value) for value in values]
    factor, symbol = Fraction(1), metric.unit.symbol
    if number_style.has_unit_prefixes:
        factor, symbol = unit or choose_prefix(numbers, symbol)
    scale = factor.numerator / factor.denominator
    cells = [
        NO_VALUE if number is None else number_style.format_table_row([number * scale], metric.width).cells[0]
        for number in numbers
    ]
    return add_unit_if_missing(metric.name, symbol), cells, symbol


def list_quote_keys(checked: CheckedPackage, quote: Quote, chosen_row: Row | None) -> dict[str, object]:
    """Return the columns that identify the row of a quote, with their values; `chosen_row` is that of its choice."""
    key_values: dict[str, object] = dict(quote.where)
    if chosen_row is not None:
        key_values |= {
            name: chosen_row[name] for name in find_metric_grain(checked, checked.get_metric(quote.metric)).key
        }
    return key_values


def format_quote(
    checked: CheckedPackage, number_style: Style, quote: Quote, run: RunFigures, chosen_row: Row | None
) -> str:
    """Return the text of a quote: the value with its unit; `chosen_row` is the row of its choice, if it has one.

    Raises AssayError: no row, or more than one, matches.
    """
    metric = checked.get_metric(quote.metric)
    key_values = list_quote_keys(checked, quote, chosen_row)
    matching_rows = [
        row
        for row in get_rows(run, request_quote_rows(checked, quote))
        if all(row[name] == key_values[name] for name in key_values)
    ]
    if len(matching_rows) != 1:
        quoted_columns = ", ".join(f"{name} = {value}" for name, value in quote.where) or "no column"
        raise fail(
            "quote",
            f"run {run.id}: a quote of `{quote.metric}` matches {len(matching_rows)} rows of `{metric.grain}` "
            f"({quoted_columns})",
            span=quote.span,
            expected="one row",
            hint="name more columns" if matching_rows else "",
        )
    symbol = metric.unit.symbol
    value = format_metric_value(checked, number_style, metric, matching_rows[0][metric.id], quote.decimals)
    return add_unit_to_text(value, symbol)


def format_series_quote(
    checked: CheckedPackage, number_style: Style, quote: Quote, run: RunFigures, time_range: tuple[int, int] | None
) -> str:
    """Return the text of a quote of a series: a statistic of its values in a stretch of time (ns), with its unit.

    Raises AssayError: there are no values.
    """
    series = next(item for item in checked.package.series if item.name == quote.metric)
    rows = select_lines(select_rows_within(get_rows(run, series), time_range), quote.where)
    statistic = parse_statistic(quote.statistic)
    value = statistic.compute(rows) if statistic else None
    if statistic is None or value is None:
        raise fail(
            "quote",
            f"run {run.id}: a quote of `{quote.metric}` matches no values of the series",
            span=quote.span,
            excerpt=quote.excerpt,
            hint="name fewer labels, or another choice" if quote.where or quote.choice else "",
        )
    return format_statistic(checked, number_style, series, statistic, value, quote.decimals, quote.unit)


def name_keys(
    labels: Sequence[str], first: str, keys: Iterable[Key], reserved_names: Sequence[str] = ()
) -> dict[Key, str]:
    """Return a unique name for each key (the values of the labels, in their order).
    The name is the value of the label `first`; if several keys share it, their values of the other labels that differ
    follow. A name in `reserved_names` is preceded by its label.
    """
    label_index = labels.index(first)
    keys_by_value: dict[str, list[Key]] = {}
    for key in dict.fromkeys(keys):
        keys_by_value.setdefault(format_value(key[label_index]), []).append(key)
    names: dict[Key, str] = {}
    for name, group in keys_by_value.items():
        other_indexes = [
            index for index in range(len(labels)) if index != label_index and len({key[index] for key in group}) > 1
        ]
        name_with_label = f"{first} {name}" if name in reserved_names and not other_indexes else name
        names |= {
            key: ", ".join([name_with_label, *(format_value(key[index]) for index in other_indexes)]) for key in group
        }
    return names if len(set(names.values())) == len(names) else {key: _format_full_name(labels, key) for key in names}


def format_value(value: object) -> str:
    """Return the text of a label's value; `none` for an empty one."""
    return str(value) or NO_LABEL_VALUE


def _format_full_name(labels: Sequence[str], key: Key) -> str:
    return ", ".join(
        f"{name} {json.dumps(str(value), ensure_ascii=False)}" for name, value in zip(labels, key, strict=True)
    )
