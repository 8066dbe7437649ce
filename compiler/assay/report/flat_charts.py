"""Recognize distributions that show nothing.

Nearly all samples are equal, or each is one of the ends of a share, or there are fewer than three.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from assay.lang.model.package import Metric
from assay.number_styles.exact_decimal import format_six_digits
from assay.report.document import Series
from assay.report.run_results import RunFigures
from assay.util.numbers import format_count

LEAST_SAMPLES, MOST_NAMED = 3, 3  # samples of a line that is drawn, and lines that a sentence names
SHARE = 0.99  # of equal samples from which on a line is nothing but an edge of the chart


_WHOLES = {"%": 100.0, "": 1.0}  # what a share is of, by its unit


def is_share(metric: Metric, runs: Sequence[RunFigures]) -> bool:
    """Return whether the samples of a metric are 0 or 100 %, or 0 and 1, in all runs: its average is all they say."""
    distributions = [item for run in runs if (item := run.results.metrics[metric.id]).size]
    values = {
        item.scale_value(value)
        for item in distributions
        for centile in item.centiles
        for value in (centile.value, centile.low, centile.high)
        if value is not None
    }
    return _has_only_ends(
        {*values, *(end for item in distributions for end in (item.least, item.greatest))}, metric.unit.symbol
    )


def _has_only_ends(values: Collection[float], unit: str) -> bool:
    whole = _WHOLES.get(unit)
    return whole is not None and bool(values) and {*values} <= {0.0, whole} and (unit != "" or len({*values}) > 1)


def describe_flat_lines(series: Sequence[Series], unit: str) -> str:
    """Return a sentence on distributions whose lines are all vertical up to `SHARE`; empty if a line is not.

    Of shares, all lines are two steps, at 0 and at 100 %.
    """
    ends = {x for item in series for point in item.points for x in (point[0], point[2], point[3]) if x is not None}
    if len(ends) > 1 and _has_only_ends(ends, unit):
        whole = f"{_WHOLES[unit]:.0f} {unit}".rstrip()
        return f"Not drawn: each sample is 0 or {whole}; the average is the share of samples of {whole}."
    values = [_find_common_value(item) for item in series]
    if not series or None in values:
        return ""
    greatest = [max(x for point in item.points for x in (point[0], point[3]) if x is not None) for item in series]
    suffix = f" {unit}" if unit else ""
    labels: dict[str, list[str]] = {}
    for item, value, most in zip(series, values, greatest, strict=True):
        assert value is not None
        share = "all" if most == value else f"at least {100 * SHARE:.0f} % of the"
        beyond = "" if most == value else f", the greatest is {format_six_digits(most)}{suffix}"
        labels.setdefault(f"{share} samples of {{}} are {format_six_digits(value)}{suffix}{beyond}", []).append(
            item.run
        )
    return f"Not drawn: {'; '.join(_name_runs(sentence, runs) for sentence, runs in labels.items())}."


def describe_few_samples(sizes: Mapping[str, int]) -> str:
    """Return a sentence on lines each of which has fewer than three samples, by their labels; empty if one has more.

    Lines without samples are none.
    """
    labels_by_size: dict[int, list[str]] = {}
    for label, size in sizes.items():
        if size:
            labels_by_size.setdefault(size, []).append(label)
    if not labels_by_size or max(labels_by_size) >= LEAST_SAMPLES:
        return ""
    parts = []
    for size, labels in labels_by_size.items():
        count = format_count(size, "sample")
        sentence = f"{{}} have {count} each" if len(labels) > 1 else f"{{}} has {count}"
        named = labels if len(labels) <= MOST_NAMED else [f"{len(labels)} lines"]
        parts.append(_name_runs(sentence, named))
    return f"Not drawn: {'; '.join(parts)}."


def _name_runs(sentence: str, runs: Sequence[str]) -> str:
    """Return a sentence with the labels of its runs in the place of `{}`."""
    named = ", ".join(runs[:-1]) + " and " + runs[-1] if len(runs) > 1 else runs[0]
    return sentence.replace("{}", named)


def _find_common_value(series: Series) -> float | None:
    """Return the value of all samples up to `SHARE`, on every host; None if they differ."""
    points = [point for point in series.points if point[1] <= SHARE]
    values = {x for point in points for x in (point[0], point[2], point[3]) if x is not None}
    return values.pop() if len(values) == 1 else None
