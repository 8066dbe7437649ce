"""Define findings on the data of runs, the quality of a run's data, and both in words and as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from assay.util.numbers import format_count

if TYPE_CHECKING:
    from assay.quality.extents import LogExtent

TITLE = "Data quality"
MAX_LISTED_NAMES = 3  # names in a message; it counts the others

#: kinds of findings
DEFAULTS, ON_SOME_HOSTS, RARE, UNKNOWN_KEY = "default-samples", "missing-on-hosts", "rare-event", "unknown-key"
INCOMPLETE, DROPPED, UNKNOWN, RENAMED = "incomplete-rows", "dropped-records", "unknown-records", "likely-rename"
NO_SAMPLES, MISSING_EVENT, CRASH, STRAY = "no-samples", "missing-event", "crash-lines", "stray-lines"
REPEATED, SHORT_LOG, SHORT_RUN = "repeated-records", "short-log", "short-run"
UNLIKE, NEGATIVE_SAMPLES, LOG_GAP = "unlike-values", "negative-samples", "log-gap"
ZERO_SAMPLES, SENTINEL_SAMPLES, LONG_SAMPLES = "zero-samples", "sentinel-samples", "long-samples"
ABOVE_WHOLE, GROWING, CLOCK_STEP, ABOVE_BOUNDS = "above-whole", "growing-samples", "clock-step", "above-bounds"
#: kinds of findings by which records are missing that other runs may have
LOST_RECORDS = (ON_SOME_HOSTS, RARE, INCOMPLETE, DROPPED, MISSING_EVENT, SHORT_LOG, SHORT_RUN, LOG_GAP)


@dataclass(frozen=True, slots=True)
class Finding:
    """One gap in the data of a run: `affected` of `total` samples, rows or records, if it can be counted.

    `metrics` are the ids of affected metrics, `hosts` the hosts with the gap (empty: all). `events` are the events that
    `hosts` lack, or of which many records are repeated; of a single one that they lack, `event` is the name.
    `are_missing` says that samples stand for missing values.
    """

    code: str
    message: str
    metrics: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    event: str = ""
    affected: int | None = None
    total: int | None = None
    events: tuple[str, ...] = ()
    are_missing: bool = False


@dataclass(frozen=True, slots=True)
class RunQuality:
    """The completeness of a run's data: hosts, lines read, used, unknown and malformed, and findings.

    `blank_metrics` are metrics whose samples all come from a default: their values are not printed.
    `impossible_metrics` are those of whose samples many are impossible: they are not judged. `notes` explain metrics
    without samples for which no records need be missing, and name lines of text. `unused` counts the records that
    metrics pass over by their definition: reports say it, but it is nothing to warn of. `extents` are those of logs, by
    source.
    """

    hosts: int = 0
    lines_read: int = 0
    lines_used: int = 0
    lines_unknown: int = 0
    lines_malformed: int = 0
    findings: tuple[Finding, ...] = ()
    blank_metrics: frozenset[str] = frozenset()
    notes: tuple[Finding, ...] = ()
    unused: tuple[Finding, ...] = ()
    impossible_metrics: frozenset[str] = frozenset()
    extents: Mapping[str, Sequence[LogExtent]] = field(default_factory=dict)

    @property
    def lines_other(self) -> int:
        """Return the number of all other lines read: empty, without an instant, or declared as ignored."""
        return self.lines_read - self.lines_used - self.lines_unknown - self.lines_malformed

    @property
    def bounded_metrics(self) -> frozenset[str]:
        """Return the metrics of which some samples are only known to be at least their value: they are not judged."""
        return frozenset(name for item in self.findings if item.code == ABOVE_BOUNDS for name in item.metrics)

    @property
    def codes(self) -> tuple[str, ...]:
        """Return the kinds of the findings."""
        return tuple(item.code for item in self.findings)

    @property
    def messages(self) -> tuple[str, ...]:
        """Return the findings and notes in words."""
        return tuple(item.message for item in (*self.findings, *self.notes))

    def list_messages_about(self, metrics: Iterable[str]) -> tuple[str, ...]:
        """Return the findings that concern some of these metrics or no metric in particular, and the notes on them."""
        names = set(metrics)
        findings = (item for item in self.findings if not item.metrics or names & set(item.metrics))
        notes = (item for item in self.notes if names & set(item.metrics))
        return tuple(item.message for item in (*findings, *notes))

    def add_findings(self, findings: Iterable[Finding]) -> RunQuality:
        """Return the quality with more findings, without the notes of which these are certain."""
        more = tuple(findings)
        certain = {(item.code, item.metrics) for item in more}
        notes = tuple(item for item in self.notes if (item.code, item.metrics) not in certain)
        return replace(self, findings=(*self.findings, *more), notes=notes)


UNMEASURED = RunQuality()


def list_names(names: Sequence[str], most: int = MAX_LISTED_NAMES) -> str:
    """Return a list in words, cut after a few names: `a, b, c and 2 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def list_hosts(hosts: Sequence[str]) -> str:
    """Return a list of hosts in words: `host a`, `hosts a, b`."""
    return f"host{'' if len(hosts) == 1 else 's'} {list_names(hosts)}"


def format_metric_list(metrics: Sequence[str]) -> str:
    """Return metrics in brackets, as the end of a message: ` (cdfA, cdfB)`; empty without metrics."""
    return f" ({list_names(metrics)})" if metrics else ""


def list_quality_warnings(runs: Mapping[str, RunQuality]) -> Iterator[str]:
    """Yield a sentence for each run with findings that points to the block."""
    for label, item in runs.items():
        if item.findings:
            yield f"{label}: {_describe_codes(item.codes)}, under {TITLE}."


def describe_findings(codes: Mapping[str, Sequence[str]], place: str = f"under {TITLE}") -> str:
    """Return a sentence on the findings of runs, whose codes are by label; empty if no run has any.

    `place` says where the findings are.
    """
    listed = [f"{label} has {_describe_codes(items)}" for label, items in codes.items() if items]
    return f"Data: {', '.join(listed)}, {place}." if listed else ""


def _describe_codes(codes: Sequence[str]) -> str:
    """Return findings by their kind: `2 findings on incomplete data and 1 on what looks like a crash`."""
    crashes = codes.count(CRASH)
    if crashes == len(codes):
        return f"{format_count(crashes, 'finding')} on what looks like a crash"
    also = f" and {crashes} on what looks like a crash" if crashes else ""
    return f"{format_count(len(codes) - crashes, 'finding')} on incomplete data{also}"


def build_quality_data(quality: RunQuality) -> dict[str, object]:
    """Return the quality of a run as plain data."""
    return {
        "hosts": quality.hosts,
        "lines": {
            "read": quality.lines_read,
            "used": quality.lines_used,
            "unknown": quality.lines_unknown,
            "malformed": quality.lines_malformed,
            "other": quality.lines_other,
        },
        "findings": [_build_finding_data(item) for item in quality.findings],
    }


def _build_finding_data(item: Finding) -> dict[str, object]:
    data: dict[str, object] = {"code": item.code, "message": item.message}
    data |= {"metrics": list(item.metrics), "hosts": list(item.hosts)}
    data |= {"event": item.event} if item.event else {}
    data |= {"affected": item.affected} if item.affected is not None else {}
    return data | ({"total": item.total} if item.total is not None else {})
