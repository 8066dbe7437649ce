"""What an article asks of its runs: rows of grains and series, and the values in them as texts and numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from assay.lang.model.article import Article, Choice, ClassTable, Listing, Part, Pivot, Scatter, Verdict
from assay.lang.model.package import Grain, Metric, Series
from assay.lang.normal_form import CheckedPackage
from assay.plan.planner import FROM, TO, RowRequest, request_rows, rows_of, span_of
from assay.report.blocks.class_tables import rows_of_classes
from assay.report.prose import Prose, Quote, grain_of
from assay.report.run_results import RunFigures
from assay.styles.exact_decimal import decimal_text, decimal_value, rounded_fraction
from assay.styles.registry import Style
from assay.styles.row import NO_VALUE
from assay.util.diagnostics import fail

Row = Mapping[str, object]


def listed(checked: CheckedPackage, article: Article, prose: Iterable[Prose]) -> tuple[RowRequest, ...]:
    """The rows that an article needs of each run."""
    found = [
        *(of_choice(checked, choice) for choice in article.choices),
        *of_parts(checked, article),
        *(of_quote(checked, quote) for item in prose for quote in item.quotes),
    ]
    return tuple({item.name: item for item in found}.values())


def series_of(article: Article) -> tuple[str, ...]:
    """The series that an article shows, each once."""
    lines = [item.series for part in article.parts for item in (*part.timelines, *_of_grids(part, "timelines"))]
    lines += [name for part in article.parts for item in part.averages for name in item.series]
    return tuple(dict.fromkeys(lines))


def scatters_of(part: Part) -> tuple[Scatter, ...]:
    """The scatters of a part, those of its grids too."""
    return (*part.scatters, *_of_grids(part, "scatters"))


def _of_grids(part: Part, member: str) -> tuple[Any, ...]:
    return tuple(item for grid in part.grids for item in getattr(grid, member))


def of_parts(checked: CheckedPackage, article: Article) -> Iterator[RowRequest]:
    """The rows that the tables and figures of all parts are made of."""
    for part in article.parts:
        for item in (*part.listings, *part.pivots, *part.verdicts, *scatters_of(part), *part.class_tables):
            yield from listed_of(checked, item)


def listed_of(checked: CheckedPackage, item: object) -> tuple[RowRequest, ...]:
    """The rows that a table, a scatter or a quote is made of; none of anything else."""
    if isinstance(item, Listing):
        return (_listed(checked, item.grain, item.keys, item.metrics),)
    if isinstance(item, Pivot):
        return (of_pivot(checked, item),)
    if isinstance(item, Verdict):
        return (of_verdict(checked, item),)
    if isinstance(item, Scatter):
        return of_scatter(checked, item)
    if isinstance(item, ClassTable):
        found = rows_of_classes(checked, item)
        return (found,) if found else ()
    return (of_quote(checked, item),) if isinstance(item, Quote) else ()


def _listed(checked: CheckedPackage, grain: str, keys: Sequence[str], metrics: Sequence[str]) -> RowRequest:
    return request_rows(checked.package, grain_named(checked, grain), keys, [checked.metric(name) for name in metrics])


def of_choice(checked: CheckedPackage, choice: Choice) -> RowRequest:
    """The rows among which a choice is made."""
    grain = grain_named(checked, choice.grain)
    pinned = (pin.column for pin in choice.pins)
    times = (name for name in (choice.begin, choice.end) if name)
    columns = dict.fromkeys((*grain.key, *choice.label, *choice.keys, *pinned, choice.first, *times))
    metrics = dict.fromkeys(name for name in (choice.most, choice.done, choice.due) if name)
    return _listed(checked, choice.grain, tuple(columns), tuple(metrics))


def of_pivot(checked: CheckedPackage, pivot: Pivot) -> RowRequest:
    """The rows that a pivot is made of."""
    metrics = [pivot.metric, *([pivot.due] if pivot.due else [])]
    keys = (pivot.down, pivot.across, pivot.first)
    return _listed(checked, pivot.grain, keys, metrics)


def of_verdict(checked: CheckedPackage, verdict: Verdict) -> RowRequest:
    """The rows that a verdict compares."""
    grain = grain_named(checked, verdict.grain)
    columns = (*verdict.keys, verdict.first, *grain.key)
    return _listed(checked, verdict.grain, tuple(dict.fromkeys(columns)), verdict.metrics)


def of_scatter(checked: CheckedPackage, scatter: Scatter) -> tuple[RowRequest, RowRequest]:
    """The points of a scatter, and what its figures are called after."""
    points = _listed(checked, scatter.grain, (scatter.per,), (scatter.x, scatter.y))
    columns = tuple(dict.fromkeys((scatter.per, *scatter.label, *scatter.keys)))
    return points, RowRequest(grain_named(checked, scatter.of), columns, ())


def of_quote(checked: CheckedPackage, quote: Quote) -> RowRequest:
    """The rows among which a quote finds its value."""
    metric = checked.metric(quote.metric)
    grain = grain_of(checked, metric)
    columns = (*(name for name, _ in quote.where), *(grain.key if quote.choice else ()))
    return request_rows(checked.package, grain, tuple(dict.fromkeys(columns)), [metric])


def grain_named(checked: CheckedPackage, name: str) -> Grain:
    """The grain of a name."""
    return next(grain for grain in checked.package.grains if grain.name == name)


def same(grain: Grain, row: Row, other: Row) -> bool:
    """Whether two rows that have the grain's key are the same row of it."""
    return all(row[name] == other[name] for name in grain.key)


def rows(run: RunFigures, item: RowRequest | Series) -> Sequence[Row]:
    """The rows of a run."""
    return run.results.rows[item.name if isinstance(item, RowRequest) else rows_of(item.name)]


def span(run: RunFigures, item: Series) -> tuple[int, int]:
    """From when to when a series is read, in ns: all of its windows; 0 and 0 where there is none."""
    (row,) = run.results.rows[span_of(item.windows)]
    first, last = (row[name] for name in (FROM, TO))
    return (first, last) if isinstance(first, int) and isinstance(last, int) else (0, 0)


def ordered(value: object) -> tuple[int, float, str]:
    """A key to sort by: numbers before texts, each in their order."""
    return (0, value, "") if isinstance(value, (int, float)) else (1, 0.0, str(value))


def exact(checked: CheckedPackage, metric: Metric, value: object) -> Fraction | None:
    """A measured value in the metric's unit as its decimal text has it; None where it is no finite number."""
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return decimal_value(value) * checked.measured[metric.id].factor


def number(checked: CheckedPackage, metric: Metric, value: object) -> float | None:
    """A measured value in the metric's unit."""
    if not isinstance(value, (int, float)):
        return None
    factor = checked.measured[metric.id].factor
    return value * factor.numerator / factor.denominator


def short(checked: CheckedPackage, done: Metric, due: Metric, row: Row, tolerance: int) -> bool:
    """Whether what is done in a row falls short of what is due by more than `tolerance` percent."""
    found, wanted = exact(checked, done, row[done.id]), exact(checked, due, row[due.id])
    return found is not None and wanted is not None and 100 * found < (100 - tolerance) * wanted


def text(checked: CheckedPackage, look: Style, metric: Metric, value: object, decimals: int | None = None) -> str:
    """A measured value as tables print it: whole numbers whole, others in the number style at the metric's width."""
    if value is None:
        return NO_VALUE
    measured = checked.measured[metric.id]
    if decimals is None and isinstance(value, int) and Fraction(measured.factor) == 1:
        return str(value)
    found = number(checked, metric, value)
    assert found is not None
    if decimals is None:
        return look.table_row([found], metric.width).cells[0]
    whole = exact(checked, metric, value)
    return decimal_text(found) if whole is None else rounded_fraction(whole, decimals)


def row_of_quote(checked: CheckedPackage, quote: Quote, chosen: Row | None) -> dict[str, object]:
    """The columns that tell which row a quote means, with their values; `chosen` is the row of its choice."""
    where: dict[str, object] = dict(quote.where)
    if chosen is not None:
        where |= {name: chosen[name] for name in grain_of(checked, checked.metric(quote.metric)).key}
    return where


def quoted(checked: CheckedPackage, look: Style, quote: Quote, run: RunFigures, chosen: Row | None) -> str:
    """What a quote says: the value with its unit; `chosen` is the row of its choice, if it has one.

    AssayError when no row, or more than one, is meant.
    """
    metric = checked.metric(quote.metric)
    where = row_of_quote(checked, quote, chosen)
    found = [row for row in rows(run, of_quote(checked, quote)) if all(row[name] == where[name] for name in where)]
    if len(found) != 1:
        said = ", ".join(f"{name} = {value}" for name, value in quote.where) or "no column"
        raise fail(
            "quote",
            f"run {run.id}: a quote of `{quote.metric}` means {len(found)} rows of `{metric.grain}` ({said})",
            span=quote.span,
            expected="one row",
            hint="name more columns" if found else "",
        )
    symbol = metric.unit.symbol
    value = text(checked, look, metric, found[0][metric.id], quote.decimals)
    return f"{value} {symbol}" if symbol else value
