"""Combine repeats: rows of a run that agree in the key columns of a block."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from assay.judgement.change import Change
from assay.judgement.interval import Reason, Version, compare
from assay.judgement.repeats import pool_variances
from assay.number_styles.exact_decimal import to_fraction
from assay.report.blocks.rows import Key, Row, get_sort_key
from assay.report.cell_links import REPEATS, ROW, CellSource, create_row_source

Groups = Mapping[Key, Sequence[Row]]
"""Values of key columns -> the rows that have them."""


def group_repeats(rows: Iterable[Row], keys: Sequence[str], first: str) -> dict[Key, list[Row]]:
    """Return rows by the values of key columns, in ascending order; repeats are in the order of the column `first`."""
    groups: dict[Key, list[Row]] = {}
    for row in sorted(rows, key=lambda row: get_sort_key(row[first])):
        groups.setdefault(tuple(row[name] for name in keys), []).append(row)
    return dict(sorted(groups.items(), key=lambda item: tuple(map(get_sort_key, item[0]))))


def average_rows(rows: Sequence[Row], metrics: Iterable[str]) -> Row:
    """Return the first of some repeats, with the exact mean of each metric over those that have a value."""
    if len(rows) == 1:
        return rows[0]
    return {**rows[0], **{name: _compute_mean([row[name] for row in rows]) for name in metrics}}


def _compute_mean(values: Sequence[object]) -> object:
    """Return the mean of the numbers among some values: an integer if it is whole, else exact; None without numbers."""
    numbers = [value for value in values if isinstance(value, (int, float))]
    if not numbers:
        return None
    if not all(map(math.isfinite, numbers)):
        return sum(map(float, numbers)) / len(numbers)
    mean = sum(map(to_fraction, numbers), Fraction()) / len(numbers)
    return int(mean) if mean.denominator == 1 and all(isinstance(value, int) for value in numbers) else mean


def compare_repeats(base: Sequence[Fraction], other: Sequence[Fraction]) -> Change | None:
    """Return the change from the mean of some repeats to that of others, in percent, with its standard error.

    The error is the noise between repeats: the variances within `base` and within `other`, pooled. None if both have
    fewer than two repeats more than means, if repeats do not vary, or if a mean cannot be compared in percent.
    """
    noise = pool_variances((base, other))
    if noise is None:
        return None
    comparison = compare(Version(tuple(base)), Version(tuple(other)), noise)
    return None if isinstance(comparison, Reason) else comparison.percent


def add_count_of_repeats(text: str, rows: Sequence[Row], metric: str) -> str:
    """Return the text of a mean with the number of repeats that it is of; one of a single row stays as it is."""
    count = format_count_of_repeats(rows, metric)
    return text + count if count else text


def format_count_of_repeats(rows: Sequence[Row], metric: str) -> str:
    """Return how many repeats a printed mean is of, to be appended to it; empty for one row."""
    count = sum(row[metric] is not None for row in rows)
    if len(rows) == 1 or not count:
        return ""
    return f" (n={len(rows)})" if count == len(rows) else f" (n={count} of {len(rows)})"


def link_repeats(metric: str, run: str, rows: Sequence[Row], key_columns: Sequence[str]) -> tuple[CellSource, ...]:
    """Return the values of a metric on repeats, which key columns identify."""
    return tuple(create_row_source(metric, run, row, key_columns) for row in rows)


def get_printed_kind(rows: Sequence[Row]) -> str:
    """Return what the cell of a metric prints: the value of a row, or the mean of repeats."""
    return REPEATS if len(rows) > 1 else ROW
