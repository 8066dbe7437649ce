"""Find impossible samples, and numbers that programs write for a missing value, in each run alone.

They are counted, by a statement of their own, only for metrics whose greatest sample may be one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay.engine.results import MEDIAN, Distribution
from assay.lang.expression_types import UnitError
from assay.lang.model.package import Metric
from assay.lang.quantities import DURATION, RATE, SHARE, SIZE
from assay.lang.units import UnitLibrary, UnknownUnitError
from assay.quality.extents import LogExtent, format_seconds
from assay.quality.finding import (
    ABOVE_WHOLE,
    LONG_SAMPLES,
    SENTINEL_SAMPLES,
    ZERO_SAMPLES,
    Finding,
    format_metric_list,
    list_names,
)
from assay.util.time_units import NANOSECONDS, SECOND

#: numbers that programs write for a missing value: the greatest of 16, 32 and 64 bits, and of four to nine digits
SENTINELS = (2**16 - 1, 2**31 - 1, 2**32 - 1, 2**63 - 1, *(10**digits - 1 for digits in range(4, 10)))
#: the least share of such samples, and how many times the median they are: fewer are a note, as they may be a limit
LEAST_SHARE, LEAST_TIMES = Fraction(1, 100), 100
#: samples of which all are 0 before it is odd: a benchmark that allocates nothing has fewer
LEAST_ZEROS = 20
#: quantities that are 0 throughout only if nothing measures them, or nothing is there; counts and shares may be
_MEASURED = (SIZE, DURATION, RATE)
#: why samples may be longer than the run: they need not be wrong
_MAY_BE = "the log may begin late, or the unit may be wrong"
_YEAR_NS = 366 * NANOSECONDS["day"]

Distributions = Mapping[str, Distribution]


@dataclass(frozen=True, slots=True)
class Suspects:
    """Samples of a metric to count: those equal to a value as measured, or, if `is_limit`, those above it.

    `problem` says what is odd about them, `cause` why it may be.
    """

    metric: str
    code: str
    value: int | float
    is_limit: bool
    problem: str
    cause: str

    @property
    def name(self) -> str:
        """Return the name of the statement that counts them."""
        return f"{self.code} {self.metric}"


def list_suspects(
    metrics: Iterable[Metric],
    distributions: Distributions,
    quantities: Mapping[str, str],
    library: UnitLibrary,
    extents: Mapping[str, Sequence[LogExtent]],
) -> Iterator[Suspects]:
    """Yield the samples to count, those that explain more first.

    `extents` are those of the logs that a metric reads, by its id.
    """
    for metric in metrics:
        item = distributions.get(metric.id)
        if metric.reduction or not item or not item.size:
            continue
        if (sentinel := _find_sentinel(item)) is not None:
            yield Suspects(
                metric.id, SENTINEL_SAMPLES, sentinel, False, f"{sentinel}", "it may stand for a missing value"
            )
        limits = _list_limits(metric, quantities.get(metric.id, ""), library, extents.get(metric.id, ()))
        for code, limit, problem, cause in limits:
            if item.greatest > limit:
                value = limit / item.factor
                yield Suspects(metric.id, code, int(value) if item.integral else float(value), True, problem, cause)
                break


def _find_sentinel(item: Distribution) -> int | None:
    """Return the greatest sample if it is a sentinel far above the usual samples."""
    for value in SENTINELS:
        if item.greatest == item.scale_value(value):
            below = [centile.value for centile in item.centiles if item.scale_value(centile.value) < item.greatest]
            usual = min(item.centiles[MEDIAN].value, max(below, default=value))
            return value if usual * LEAST_TIMES <= value else None
    return None


def _list_limits(
    metric: Metric, quantity: str, library: UnitLibrary, extents: Sequence[LogExtent]
) -> Iterator[tuple[str, Fraction, str, str]]:
    """Yield the limits that samples of a metric may exceed, in its unit, the most certain first."""
    try:
        factor, base = library.convert_to_base(metric.unit.name)
    except (UnitError, UnknownUnitError):
        return
    if quantity == SHARE and base in ("", "dimensionless"):
        yield ABOVE_WHOLE, 1 / factor, f"above {float(1 / factor):g} {metric.unit.symbol}".rstrip(), "it is no share"
    if quantity == DURATION and base == "second":
        nanosecond = 1 / (factor * SECOND)
        yield LONG_SAMPLES, _YEAR_NS * nanosecond, "longer than a year", "an instant may be read as a duration"
        duration = max((item.last_ns for item in extents), default=0) - min((e.first_ns for e in extents), default=0)
        if duration > 0:
            problem = f"longer than the run of {format_seconds(duration)}"
            yield LONG_SAMPLES, duration * nanosecond, problem, _MAY_BE


def find_implausible_samples(
    suspects: Sequence[Suspects], counts: Mapping[str, tuple[int, int]]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Return the findings on samples that cannot be, and notes on those that only may be wrong.

    `counts`: name of a statement -> the number of such samples, and of all of the metric.
    """
    groups: dict[tuple[str, int, int, str, str, bool], list[str]] = defaultdict(list)
    explained: set[str] = set()
    doubted: set[str] = set()
    for item in suspects:
        number, total = counts[item.name]
        is_few = item.code == SENTINEL_SAMPLES and number < LEAST_SHARE * total
        is_certain = not is_few and item.cause != _MAY_BE
        if number and item.metric not in (explained if is_certain else explained | doubted):
            (doubted if is_few else explained).add(item.metric)
            groups[item.code, number, total, item.problem, item.cause, is_certain].append(item.metric)
    findings: list[Finding] = []
    notes: list[Finding] = []
    for (code, number, total, problem, cause, is_certain), metrics in groups.items():
        verb = "is" if number == 1 else "are"
        message = f"{number} of {total} samples {verb} {problem}{format_metric_list(metrics)}: {cause}."
        finding = Finding(code, message, tuple(metrics), affected=number, total=total)
        (findings if is_certain else notes).append(finding)
    return tuple(findings), tuple(notes)


def find_zero_samples(
    metrics: Iterable[Metric], distributions: Distributions, quantities: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield findings, as notes, on sizes, durations and rates that are always 0: nothing may be there to measure."""
    groups: dict[int, list[str]] = defaultdict(list)
    for metric in metrics:
        if _is_zero(metric, distributions, quantities):
            groups[distributions[metric.id].size].append(metric.id)
    for size, ids in groups.items():
        message = f"all {size} samples are 0{format_metric_list(ids)}: nothing was there, or it was not measured."
        yield Finding(ZERO_SAMPLES, message, tuple(ids), affected=size, total=size)


def find_unlike_zeros(
    runs: Sequence[tuple[str, Distributions]],
    metrics: Sequence[Metric],
    quantities: Mapping[str, str],
    readers: Mapping[str, Sequence[str]],
) -> tuple[tuple[Finding, ...], ...]:
    """Return the findings on each run in which a size, duration or rate is always 0, and never in another run.

    Then whatever else the same records measure, and is always 0 only here, was switched off with it. A run is a label
    and the distributions of `metrics`; `readers` are the metrics that read each event.
    """
    events = {item.id: frozenset(name for name, ids in readers.items() if item.id in ids) for item in metrics}
    return tuple(tuple(_list_unlike_zeros(results, runs, metrics, quantities, events)) for _, results in runs)


def _list_unlike_zeros(
    results: Distributions,
    runs: Sequence[tuple[str, Distributions]],
    metrics: Sequence[Metric],
    quantities: Mapping[str, str],
    events: Mapping[str, frozenset[str]],
) -> Iterator[Finding]:
    groups: dict[tuple[int, str], list[str]] = defaultdict(list)
    for metric in metrics:
        others = [label for label, items in runs if (other := items.get(metric.id)) and other.size and other.least > 0]
        if others and _is_zero(metric, results, quantities):
            groups[results[metric.id].size, others[0]].append(metric.id)
    off = {name for ids in groups.values() for name in ids}
    off_events = {events[name] for name in off}
    also: dict[tuple[int, str], list[str]] = defaultdict(list)
    for metric in metrics:
        others = [label for label, items in runs if (other := items.get(metric.id)) and other.size and other.greatest]
        if others and metric.id not in off and events[metric.id] in off_events and _has_zeros_only(results, metric):
            also[results[metric.id].size, others[0]].append(metric.id)
    for (size, label), ids in groups.items():
        message = f"all {size} samples are 0, in {label} none is{format_metric_list(ids)}: it was not measured."
        yield Finding(ZERO_SAMPLES, message, tuple(ids), affected=size, total=size)
    for (size, label), ids in also.items():
        problem = f"all {size} samples are 0, in {label} not all are{format_metric_list(ids)}"
        message = f"{problem}: nor were {list_names(sorted(off))} of the same records measured."
        yield Finding(ZERO_SAMPLES, message, tuple(ids), affected=size, total=size)


def _has_zeros_only(results: Distributions, metric: Metric) -> bool:
    item = results.get(metric.id)
    return item is not None and item.size >= LEAST_ZEROS and item.least == item.greatest == 0


def _is_zero(metric: Metric, distributions: Distributions, quantities: Mapping[str, str]) -> bool:
    return quantities.get(metric.id) in _MEASURED and _has_zeros_only(distributions, metric)
