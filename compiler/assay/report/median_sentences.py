"""Write in sentences which medians differ of metrics that are open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.styles.prefixed import format_percent, format_value
from assay.styles.row import NO_VALUE
from assay.styles.unit_prefix import choose_prefix
from assay.util.escape import escape_text

MOST_NAMES = 3


@dataclass(frozen=True, slots=True)
class MedianChange:
    """The medians of an open metric in base and other version, with its label and id; `unit` is the symbol of both."""

    label: str
    metric: str
    unit: str
    medians: tuple[float, float]

    @property
    def percent(self) -> str:
        """The change in percent; empty from a median of 0."""
        return format_percent(*self.medians).replace(NO_VALUE, "")


def list_median_changes(changes: Sequence[MedianChange]) -> str:
    """Return the medians that differ, at most three: `time 1.44 → 1.74 s (+20 %)`; empty without any."""
    texts = []
    for item in changes[:MOST_NAMES]:
        factor, symbol = choose_prefix(item.medians, item.unit)
        base, value = (format_value(float(median * factor)) for median in item.medians)
        percent = f" ({item.percent} %)" if item.percent else ""
        texts.append(f"{escape_text(item.label)} {base} → {f'{value} {symbol}'.rstrip()}{percent}")
    more = f" and {len(changes) - len(texts)} more" if len(changes) > len(texts) else ""
    return f"{', '.join(texts)}{more}"


def describe_median_changes(changes: Sequence[MedianChange]) -> str:
    """Return sentences on the medians that differ, and where to look; empty without any."""
    if not changes:
        return ""
    return (
        f"Medians differ although averages are open: {list_median_changes(changes)}. "
        f"A few large samples may make an average uncertain: see --details {escape_text(changes[0].metric)}."
    )


def continue_headline(changes: Sequence[MedianChange]) -> str:
    """Return how a headline that no change is certain goes on: `, but the median of time is 20 % higher`."""
    if not changes:
        return ""
    if len(changes) > 1:
        return f", but medians of {len(changes)} metrics differ"
    base, value = changes[0].medians
    size = f"{changes[0].percent.lstrip('+-')} % " if changes[0].percent else ""
    word = "higher" if value > base else "lower"
    return f", but the median of {escape_text(changes[0].label)} is {size}{word}"
