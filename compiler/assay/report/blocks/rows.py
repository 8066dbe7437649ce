"""What an article asks of its runs: rows of grains and series, and the values in them as texts and numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from assay.lang.checked_package import CheckedPackage
from assay.lang.model.article import Article, Block, Choice
from assay.lang.model.package import Grain, Metric, Series
from assay.plan.planner import FROM, TO, RowRequest, request_rows, rows_of, span_of
from assay.report.prose import Prose, Quote, grain_of
from assay.report.run_results import RunFigures
from assay.styles.exact_decimal import decimal_text, decimal_value, rounded_fraction
from assay.styles.registry import Style
from assay.styles.row import NO_VALUE
from assay.util.diagnostics import fail

Row = Mapping[str, object]
Key = tuple[object, ...]
NONE = "none"


def listed(checked: CheckedPackage, article: Article, prose: Iterable[Prose]) -> tuple[RowRequest, ...]:
    """The rows that an article needs of each run."""
    found = [
        *(of_choice(checked, choice) for choice in article.choices),
        *of_parts(checked, article),
        *(of_quote(checked, quote) for item in prose for quote in item.quotes),
    ]
    return tuple({item.name: item for item in found}.values())


def series_of(article: Article) -> tuple[str, ...]:
    """The series that an article shows, each once, those of figures first."""
    blocks = sorted(article.blocks, key=lambda block: block.appears_as != "figure")
    return tuple(dict.fromkeys(name for block in blocks for name in block.read_series()))


def blocks_of(article: Article) -> Iterable[Block]:
    """Return the blocks of all parts, those of each part in the order in which the dictionary has their metrics."""
    return (block for part in article.parts for block in sorted(part.blocks, key=lambda item: item.dictionary_rank))


def of_parts(checked: CheckedPackage, article: Article) -> Iterable[RowRequest]:
    """Return the rows that the tables and figures of all parts are made of."""
    return (item for block in blocks_of(article) for item in listed_of(checked, block))


def listed_of(checked: CheckedPackage, block: Block) -> tuple[RowRequest, ...]:
    """The rows that a block is made of."""
    return tuple(
        _listed(checked, request.grain, request.columns, request.metrics)
        for request in block.read_rows(checked.package)
    )


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


def is_drawn(row: Row) -> bool:
    """Whether a row of a series has a value that can be drawn."""
    return math.isfinite(float(str(row["value"])))


def name_keys(labels: Sequence[str], first: str, keys: Iterable[Key], reserved: Sequence[str] = ()) -> dict[Key, str]:
    """A name for each key (values of the labels, in their order), no two alike.

    It is the value of the label `first`; where several keys agree in that, their values of the labels in which these
    differ follow.  A name that is `reserved` has its label ahead.
    """
    place = labels.index(first)
    alike: dict[str, list[Key]] = {}
    for key in dict.fromkeys(keys):
        alike.setdefault(format_value(key[place]), []).append(key)
    found: dict[Key, str] = {}
    for name, group in alike.items():
        others = [at for at in range(len(labels)) if at != place and len({key[at] for key in group}) > 1]
        own = f"{first} {name}" if name in reserved and not others else name
        found |= {key: ", ".join([own, *(format_value(key[at]) for at in others)]) for key in group}
    return found if len(set(found.values())) == len(found) else {key: _in_full(labels, key) for key in found}


def format_value(value: object) -> str:
    return str(value) or NONE


def _in_full(labels: Sequence[str], key: Key) -> str:
    return ", ".join(
        f"{name} {json.dumps(str(value), ensure_ascii=False)}" for name, value in zip(labels, key, strict=True)
    )
