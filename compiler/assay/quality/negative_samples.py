"""Find metrics with samples below 0 that measure what is never below 0: durations, sizes, counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from assay.lang.quantities import unwrap_measure
from assay.quality.assess import Assessment
from assay.report.data_quality import NEGATIVE_SAMPLES, Finding, format_metric_list
from assay.sql.completeness import NEGATIVE, VALUES

_SWAPPED = "`from` and `to` may be swapped"
_SET_BACK = "a clock was set back or is ahead of others, or -1 stands for no value"


def find_negative_samples(assessment: Assessment) -> Iterator[Finding]:
    """Yield a finding on metrics with equal numbers of samples below 0; only what is never below 0 was counted."""
    groups: dict[tuple[int, int, str], list[str]] = defaultdict(list)
    for metric in assessment.metrics:
        number, values = (assessment.compute_total(metric, name) for name in (NEGATIVE, VALUES))
        may_be_swapped = 2 * number > values and unwrap_measure(metric.measure).op == "minus"
        if number:
            groups[number, values, _SWAPPED if may_be_swapped else _SET_BACK].append(metric.id)
    for (number, values, cause), metrics in groups.items():
        verb = "is" if number == 1 else "are"
        message = f"{number} of {values} samples {verb} negative{format_metric_list(metrics)}: {cause}."
        yield Finding(NEGATIVE_SAMPLES, message, tuple(metrics), affected=number, total=values)
