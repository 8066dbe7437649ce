"""Find metrics of which many rows of a run have no value, though nearly all rows of another run have one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from assay.lang.model.package import Grain, Metric
from assay.quality.assess import INCOMPLETE_SHARE, Counts
from assay.quality.finding import INCOMPLETE, Finding, RunQuality, format_metric_list
from assay.sql.completeness import ROWS, VALUES, name_count_statement, select_counts

#: rows without a value that are odd, beside a share of `INCOMPLETE_SHARE` more than in the other run
LEAST_ROWS = 10

RowCounts = Mapping[str, tuple[int, int]]
"""The rows of the grain of each metric, and those without a value, by its id."""


def find_absent_values(
    runs: Sequence[tuple[str, RunQuality, Counts]], metrics: Sequence[Metric], grains: Mapping[str, Grain]
) -> tuple[tuple[Finding, ...], ...]:
    """Return the findings on each run of which many rows have no value of a metric, unlike those of another run.

    A run is a label, its quality so far and its counts of rows. Conditions of a metric leave out rows by intent.
    """
    unconditional = [item for item in metrics if not item.where]
    counted = [(label, _count_rows(unconditional, grains, counts)) for label, _, counts in runs]
    return tuple(
        tuple(_list_absent(rows, counted, unconditional, quality))
        for (_, quality, _), (_, rows) in zip(runs, counted, strict=True)
    )


def _count_rows(metrics: Sequence[Metric], grains: Mapping[str, Grain], counts: Counts) -> RowCounts:
    numbers: dict[str, tuple[int, int]] = {}
    for metric in metrics:
        rows = [
            select_counts(row, metric) for row in counts.get(name_count_statement(metric, grains[metric.grain]), ())
        ]
        total, values = (sum(int(str(row[name] or 0)) for row in rows) for name in (ROWS, VALUES))
        numbers[metric.id] = total, total - values
    return numbers


def _list_absent(
    rows: RowCounts, counted: Sequence[tuple[str, RowCounts]], metrics: Sequence[Metric], quality: RunQuality
) -> Iterator[Finding]:
    explained = {name for finding in quality.findings for name in finding.metrics}
    groups: dict[tuple[str, int, int, str, int, int], list[str]] = defaultdict(list)
    for metric in metrics:
        total, absent = rows[metric.id]
        others = [(label, *items[metric.id]) for label, items in counted if items[metric.id][0]]
        if metric.id in explained or absent < LEAST_ROWS or absent == total:
            continue
        label, other_total, other_absent = min(others, key=lambda item: item[2] / item[1])
        share = other_absent / other_total
        if share <= INCOMPLETE_SHARE and absent / total >= share + INCOMPLETE_SHARE:
            groups[metric.grain, absent, total, label, other_absent, other_total].append(metric.id)
    for (grain, absent, total, label, other_absent, other_total), ids in groups.items():
        problem = f"{absent} of {total} rows of `{grain}` have no value, in {label} {other_absent} of {other_total}"
        yield Finding(INCOMPLETE, f"{problem}{format_metric_list(ids)}.", tuple(ids), affected=absent, total=total)
