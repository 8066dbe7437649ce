"""Replace charts of distributions that show nothing by a sentence: all, or nearly all, samples are equal."""

from __future__ import annotations

from collections.abc import Sequence

from assay.report.document import Series
from assay.styles.exact_decimal import format_six_digits

SHARE = 0.99  # of equal samples from which on a line is nothing but an edge of the chart


def describe_flat_lines(series: Sequence[Series], unit: str) -> str:
    """Return a sentence on distributions whose lines are all vertical up to `SHARE`; empty if a line is not."""
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


def _name_runs(sentence: str, runs: Sequence[str]) -> str:
    """Return a sentence with the labels of its runs in the place of `{}`."""
    named = ", ".join(runs[:-1]) + " and " + runs[-1] if len(runs) > 1 else runs[0]
    return sentence.replace("{}", named)


def _find_common_value(series: Series) -> float | None:
    """Return the value of all samples up to `SHARE`, on every host; None if they differ."""
    points = [point for point in series.points if point[1] <= SHARE]
    values = {x for point in points for x in (point[0], point[2], point[3]) if x is not None}
    return values.pop() if len(values) == 1 else None
