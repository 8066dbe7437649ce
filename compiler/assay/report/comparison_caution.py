"""Describe why a comparison of runs is suspect: what differs between them, though it should not."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, product
from operator import itemgetter

from assay.lang.model.report import Report
from assay.quality.finding import (
    ABOVE_WHOLE,
    DEFAULTS,
    DROPPED,
    GROWING,
    INCOMPLETE,
    LOG_GAP,
    LONG_SAMPLES,
    NEGATIVE_SAMPLES,
    RARE,
    SENTINEL_SAMPLES,
    SHORT_LOG,
    SHORT_RUN,
    UNKNOWN_KEY,
    UNLIKE,
    ZERO_SAMPLES,
    list_names,
)
from assay.report.run_results import RunFigures
from assay.util.numbers import format_range


def list_unequal_parameters(
    report: Report | None, versions: tuple[Sequence[RunFigures], Sequence[RunFigures]], labels: tuple[str, str]
) -> tuple[str, ...]:
    """Return what should agree between the runs of two versions but differs: constants, hosts, time, records, values.

    Constants are those that the report compares, by their labels in its manifest. Hosts also differ if an event that
    metrics need is missing on some of them in one version only.
    """
    names = {row.constant: row.label for row in report.manifest if row.constant} if report else {}
    first, *others = (*versions[0], *versions[1])
    hosts = describe_unequal_hosts(*([run.hosts for run in runs] for runs in versions))
    constants = [
        names.get(name, name)
        for name in (report.compare if report else ())
        if any(run.constants[name] != first.constants[name] for run in others)
    ]
    times = _list_unequal_times(versions, labels)
    parts = [*constants, *times, *([hosts] if hosts else _list_unequal_events(versions, labels))]
    # Fewer hosts or a shorter time explain that records are missing.
    kinds = _KINDS if parts == constants else _KINDS[:1]
    repetitions = _list_unequal_repetitions(versions, labels)
    return (*parts, *repetitions, *_list_unequal_findings(versions, labels, kinds))


def _list_unequal_times(
    versions: tuple[Sequence[RunFigures], Sequence[RunFigures]], labels: tuple[str, str]
) -> Iterator[str]:
    """Yield that the logs of one version end early, of some hosts or of whole runs, but not those of the other."""
    hosts, other_hosts = map(_find_hosts_that_end_early, versions)
    for label, unshared in zip(labels, (hosts - other_hosts, other_hosts - hosts), strict=True):
        if unshared:
            yield f"The time that logs cover (shorter on {list_names(sorted(unshared))} in {label})"
    has_short_runs = [any(SHORT_RUN in run.quality.codes for run in runs) for runs in versions]
    if any(has_short_runs) and not all(has_short_runs):
        yield f"The time that runs cover (shorter in {labels[has_short_runs.index(True)]})"


def _find_hosts_that_end_early(runs: Sequence[RunFigures]) -> set[str]:
    """Return the hosts whose logs end early in some run, if metrics read them."""
    findings = [item for run in runs for item in run.quality.findings if item.code == SHORT_LOG and item.metrics]
    return {host for finding in findings for host in finding.hosts}


def _list_unequal_events(
    versions: tuple[Sequence[RunFigures], Sequence[RunFigures]], labels: tuple[str, str]
) -> Iterator[str]:
    """Yield the events of metrics that are missing on some hosts of one version, but not on those of the other."""
    gaps, other_gaps = map(_find_events_missing_on_hosts, versions)
    for label, unshared in zip(labels, (gaps - other_gaps, other_gaps - gaps), strict=True):
        for event, pairs in groupby(sorted(unshared), key=itemgetter(0)):
            hosts = [host for _, host in pairs]
            yield f"The set of hosts with `{event}` records (without {list_names(hosts)} in {label})"


def _find_events_missing_on_hosts(runs: Sequence[RunFigures]) -> set[tuple[str, str]]:
    """Return each event that metrics need with each host that lacks it, in some run."""
    return {
        pair
        for run in runs
        for finding in run.quality.findings
        if finding.metrics
        for pair in product(finding.events, finding.hosts)
    }


def _list_unequal_repetitions(
    versions: tuple[Sequence[RunFigures], Sequence[RunFigures]], labels: tuple[str, str]
) -> Iterator[str]:
    """Yield the events of which keys have several records in one version only."""
    first, second = (
        {event for run in runs for item in run.quality.unused for event in item.events} for runs in versions
    )
    for label, unshared in zip(labels, (first - second, second - first), strict=True):
        if unshared:
            names = list_names([f"`{event}`" for event in sorted(unshared)])
            yield f"The number of records of a key (several {names} in {label})"


#: what differs if one version has findings of some kinds on metrics
_KINDS = (
    (
        "The meaning of values",
        (UNLIKE, NEGATIVE_SAMPLES, ZERO_SAMPLES, SENTINEL_SAMPLES, LONG_SAMPLES, ABOVE_WHOLE, GROWING),
    ),
    ("The completeness of records", (DEFAULTS, RARE, LOG_GAP, UNKNOWN_KEY, INCOMPLETE, DROPPED)),
)


def _list_unequal_findings(
    versions: tuple[Sequence[RunFigures], Sequence[RunFigures]],
    labels: tuple[str, str],
    kinds: Sequence[tuple[str, tuple[str, ...]]],
) -> Iterator[str]:
    """Yield the metrics on which only one version has findings of such kinds."""
    for subject, codes in kinds:
        first, second = (_list_metrics_with_findings(runs, codes) for runs in versions)
        for label, metrics, others in ((labels[0], first, second), (labels[1], second, first)):
            if unshared := [name for name in metrics if name not in others]:
                yield f"{subject} (of {list_names(unshared)} in {label})"


def _list_metrics_with_findings(runs: Sequence[RunFigures], codes: Collection[str]) -> dict[str, None]:
    findings = (item for run in runs for item in run.quality.findings if item.code in codes)
    return dict.fromkeys(name for item in findings for name in item.metrics)


def describe_unequal_hosts(base: Sequence[int], compared: Sequence[int]) -> str:
    """Return that the number of hosts differs between runs, for a caution; empty if it does not, or is not known."""
    if not base or not compared or len({*base, *compared}) == 1:
        return ""
    return f"The number of hosts ({', '.join(format_range(min(item), max(item)) for item in (base, compared))})"


def describe_caution(names: Sequence[str]) -> str:
    """Return a sentence on what differs between the compared runs, though it should not; empty if nothing does."""
    if not names:
        return ""
    first, *others = (names[0], *(re.sub("^The ", "the ", name) for name in names[1:]))
    listed = f"{', '.join([first, *others[:-1]])} and {others[-1]}" if others else first
    verb = "differ" if len(names) > 1 else "differs"
    return f"The comparison itself is suspect. {listed} {verb} between the runs, and may be the cause of other changes."
