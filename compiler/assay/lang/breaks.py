"""Tell which declared breaks lie between two days: values from both sides of a break are not comparable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.lang.model.package import Metric
from assay.lang.model.vocabulary import MetricBreak


def describe_break(item: MetricBreak) -> str:
    """Return a break in words: its day and run, and its doc."""
    start = f"{item.since}, run {item.run}" if item.run else item.since
    return f"values from {start} on are no longer comparable. {item.doc}".rstrip()


def list_crossed_breaks(metric: Metric, days: Iterable[str]) -> list[MetricBreak]:
    """Return the breaks of a metric between the first and the last of some days (YYYY-MM-DD; empty: not known)."""
    sorted_days = sorted(filter(None, days))
    return [item for item in metric.breaks if sorted_days and sorted_days[0] < item.since <= sorted_days[-1]]


def describe_crossed_breaks(metrics: Sequence[Metric], days: Iterable[str]) -> Iterator[str]:
    """Yield a sentence on each break between some days, with the metrics that it affects."""
    names: dict[MetricBreak, list[str]] = {}
    all_days = list(days)
    for metric in metrics:
        for item in list_crossed_breaks(metric, all_days):
            names.setdefault(item, []).append(metric.name)
    for item, affected in names.items():
        yield f"{', '.join(dict.fromkeys(affected))}: {describe_break(item)}"
