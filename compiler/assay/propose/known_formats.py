"""Known formats of benchmark tools: what their field names do not say."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from assay.propose.model import KeyPath


@dataclass(frozen=True, slots=True)
class KnownFormat:
    """A format: the paths that mark a record of it, and what to take from it.

    `lookup` names events and `ruled_out` marks records that are none. `units` are those of fields, by the last key.
    """

    name: str
    kind: str
    signature: frozenset[KeyPath]
    lookup: KeyPath = ()
    ruled_out: KeyPath = ()
    units: Mapping[str, str] = field(default_factory=dict)
    split: tuple[str, str] = ("", "")  # the column that says what a value is, and the column of the values


def _columns(*names: str) -> frozenset[KeyPath]:
    return frozenset((name,) for name in names)


_MS, _S, _BYTE = "millisecond", "second", "byte"
_HYPERFINE = dict.fromkeys(("mean", "stddev", "median", "user", "system", "min", "max"), _S)

KNOWN_FORMATS = (
    KnownFormat("JMeter JTL", "csv", _columns("timeStamp", "elapsed", "label"),
                units={"elapsed": _MS, "Latency": _MS, "Connect": _MS, "IdleTime": _MS}),
    KnownFormat("k6 JSON", "json-lines", frozenset({("metric",), ("type",), ("data", "time"), ("data", "value")}),
                lookup=("metric",), ruled_out=("data", "contains")),
    KnownFormat("k6 CSV", "csv", _columns("metric_name", "timestamp", "metric_value"),
                split=("metric_name", "metric_value")),
    KnownFormat("Locust statistics", "csv", _columns("Type", "Name", "Request Count", "Average Response Time"),
                units={"Median Response Time": _MS, "Average Response Time": _MS, "Min Response Time": _MS,
                       "Max Response Time": _MS, "Average Content Size": _BYTE}),
    KnownFormat("Locust history", "csv", _columns("Timestamp", "User Count", "Total Average Response Time"),
                units={"Total Median Response Time": _MS, "Total Average Response Time": _MS,
                       "Total Average Content Size": _BYTE}),
    KnownFormat("hyperfine", "json-records", _columns("command", "mean", "median", "min", "max"), units=_HYPERFINE),
    KnownFormat("Google Benchmark", "json-records", _columns("name", "real_time", "cpu_time", "time_unit")),
    KnownFormat("JMH", "json-records", frozenset({("benchmark",), ("primaryMetric", "score")})),
)  # fmt: skip


def find_known_format(kind: str, paths: Collection[KeyPath]) -> KnownFormat | None:
    """Return the format whose marks are all among the paths of records; of several, the first."""
    return next((item for item in KNOWN_FORMATS if item.kind == kind and item.signature <= set(paths)), None)
