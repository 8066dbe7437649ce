"""Find metrics with samples below 0 that measure what is never below 0: durations, sizes, counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from assay.engine.results import Distribution
from assay.lang.quantities import unwrap_measure
from assay.quality.assess import Assessment
from assay.quality.finding import NEGATIVE_SAMPLES, SENTINEL_SAMPLES, Finding, format_metric_list
from assay.quality.implausible_samples import LEAST_SHARE
from assay.sql.completeness import NEGATIVE, VALUES

_SWAPPED = "`from` and `to` may be swapped"
_SET_BACK = "a clock was set back or is ahead of others, or -1 stands for a missing value"

_NO_VALUE = "the least is -1, which may stand for a missing value"
_MOST = Fraction(1, 20)  # of samples that cannot be, in a metric that is judged


def find_negative_samples(assessment: Assessment, distributions: Mapping[str, Distribution]) -> Iterator[Finding]:
    """Yield a finding on metrics with equal numbers of samples below 0; only what is never below 0 was counted."""
    groups: dict[tuple[int, int, str], list[str]] = defaultdict(list)
    for metric in assessment.metrics:
        number, values = (assessment.compute_total(metric, name) for name in (NEGATIVE, VALUES))
        item = distributions.get(metric.id)
        is_read = unwrap_measure(metric.measure).op in ("column", "taken") and not metric.reduction
        usual = _NO_VALUE if is_read and item and item.least == item.scale_value(-1) else _SET_BACK
        may_be_swapped = 2 * number > values and unwrap_measure(metric.measure).op == "minus"
        if number:
            groups[number, values, _SWAPPED if may_be_swapped else usual].append(metric.id)
    for (number, values, cause), metrics in groups.items():
        verb = "is" if number == 1 else "are"
        message = f"{number} of {values} samples {verb} negative{format_metric_list(metrics)}: {cause}."
        are_missing = cause == _NO_VALUE
        yield Finding(NEGATIVE_SAMPLES, message, tuple(metrics), affected=number, total=values, are_missing=are_missing)


def list_impossible_metrics(findings: Sequence[Finding], distributions: Mapping[str, Distribution]) -> frozenset[str]:
    """Return the metrics of findings of whose samples many cannot be, or so many that an average is below 0.

    A clock that is ahead makes all its durations too short, also those that are not below 0. Of samples that stand for
    a missing value, a hundredth is enough: they count in averages as if they were measured.
    """
    return frozenset(
        name
        for item in findings
        if (item.affected or 0) > (item.total or 0) * _find_most(item)
        or (item.code == NEGATIVE_SAMPLES and any(_is_below_0(distributions.get(id_)) for id_ in item.metrics))
        for name in item.metrics
    )


def _find_most(finding: Finding) -> Fraction:
    """Return the share of impossible samples up to which a metric is judged."""
    return LEAST_SHARE if finding.are_missing or finding.code == SENTINEL_SAMPLES else _MOST


def _is_below_0(item: Distribution | None) -> bool:
    return item is not None and item.size > 0 and any(average < 0 for average in item.averages.values())
