"""Read samples of time series: lines of OpenMetrics, answers of Prometheus and metrics of OpenTelemetry, as records."""

from __future__ import annotations

import itertools
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from assay.ingest.readers import openmetrics
from assay.ingest.readers.native_histograms import HistogramSample, find_bounds, list_columns, parse_answered
from assay.ingest.readers.otlp_metrics import parse_explicit, parse_exponential, read_points
from assay.ingest.readers.sample_store import NAME
from assay.util.time_units import SECOND
from assay_propose.model import KeyPath, Record

NATIVE = "is a native histogram"
"""What a note says of a name whose buckets are powers, and get smaller where there are many values."""

_ANSWER = re.compile(r'\{\s*"status"\s*:\s*"success"\s*,\s*"data"\s*:\s*\{\s*"resultType"\s*:\s*"matrix"')
_METRICS = re.compile(r'\{\s*"resourceMetrics"\s*:')


@dataclass(frozen=True, slots=True)
class SampleRecords:
    """The samples of a file as records, why they are samples, and notes on them."""

    records: tuple[Record, ...]
    reason: str
    notes: tuple[str, ...] = ()


def read_lines(lines: Sequence[str]) -> SampleRecords | str:
    """Return samples of lines of OpenMetrics; why they are none."""
    expression = re.compile(openmetrics.LINE)
    rows = [line for line in lines if not line.startswith("#")]
    matches = [match for line in rows if (match := expression.match(line)) and match[1] and is_number(match[3])]
    if not matches or len(matches) < len(rows):
        return f"{len(matches)} of {len(rows)} lines are samples"
    if not all(match[4] for match in matches):
        return "its samples have no timestamps, as on the page `/metrics` of a target; `assay fetch` gets them"
    records = []
    for position, match in enumerate(matches):
        labels = {label[0]: label[3] for label in re.findall(openmetrics.LABEL, match[2] or "") if label[0]}
        records.append(_make_record(position, match[1], match[4], float(match[3]), labels))
    return SampleRecords(tuple(records), f"{len(rows)} samples with timestamps")


def is_number(text: str) -> bool:
    """Return whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_documents(lines: Sequence[str]) -> SampleRecords | str:
    """Return the samples of an answer of Prometheus, or of metrics of OpenTelemetry; why they are none."""
    start = "".join(lines[:_FIRST])
    is_answer, is_metrics = _ANSWER.match(start), _METRICS.match(start)
    if not is_answer and not is_metrics:
        return "no samples in JSON"
    try:
        if is_answer:
            series, histograms = _read_answer(json.loads("\n".join(lines)))
        else:
            series, histograms = _read_metrics(_parse_documents(lines))
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
        return f"samples in JSON, but {error!r}"
    notes = []
    for name in sorted({item.name for item in histograms}):
        rows = [item for item in histograms if item.name == name]
        if any(item.is_native for item in rows):
            notes.append(f"`{name}` {NATIVE}: its buckets are the samples of `{name}_bucket`")
        bounds = find_bounds(rows)
        by_labels = itertools.groupby(sorted(rows, key=_rank), key=lambda item: _rank(item)[0])
        for _, items in by_labels:
            line = list(items)
            for labels, values in list_columns(name, line, bounds):
                series[json.dumps(labels, sort_keys=True)] = [
                    (_write_seconds(row.t_ns), value) for row, value in zip(line, values, strict=True)
                ]
    records = [
        (text, json.loads(key), value) for key, rows in series.items() for text, value in rows if value is not None
    ]
    named = (
        _make_record(position, labels.pop(NAME), text, value, labels)
        for position, (text, labels, value) in enumerate(records)
    )
    return SampleRecords(tuple(named), f"{len(records)} samples in JSON", tuple(notes))


_FIRST = 9  # lines in which the marks of a document are
_Series = dict[str, list[tuple[str, float | None]]]


def _rank(item: HistogramSample) -> tuple[str, int]:
    return json.dumps(item.labels, sort_keys=True), item.t_ns


def _write_seconds(t_ns: int) -> str:
    return str(Decimal(t_ns) / SECOND)


def _make_record(position: int, name: str, at: str, value: float, labels: Mapping[str, str]) -> Record:
    values: dict[KeyPath, object] = {("at",): at, ("value",): value}
    return Record("", position, name, values | {("labels", key): text for key, text in labels.items()})


def _parse_documents(lines: Sequence[str]) -> Iterator[Any]:
    try:
        yield json.loads("\n".join(lines))
    except ValueError:
        yield from map(json.loads, lines)


def _read_answer(document: Mapping[str, Any]) -> tuple[_Series, list[HistogramSample]]:
    series: _Series = {}
    histograms = []
    for item in document["data"]["result"]:
        key = json.dumps(item["metric"], sort_keys=True)
        if item.get("values"):
            series[key] = [(str(at), float(value)) for at, value in item["values"]]
        for at, value in item.get("histograms") or ():
            t_ns = int(Decimal(str(at)) * SECOND)
            histograms.append(HistogramSample(0, item["metric"], t_ns, parse_answered(value), is_native=True))
    return series, histograms


def _read_metrics(documents: Iterator[Any]) -> tuple[_Series, list[HistogramSample]]:
    """Return the samples of metrics. What points count since the last one is as good as a total, to recognize them."""
    series: _Series = defaultdict(list)
    histograms = []
    for kind, name, labels, point, _ in read_points(documents):
        t_ns = int(point["timeUnixNano"])
        if kind in ("gauge", "sum"):
            value = float(point["asDouble"] if "asDouble" in point else point["asInt"])
            series[json.dumps({NAME: name} | labels, sort_keys=True)].append((_write_seconds(t_ns), value))
            continue
        is_native = kind == "exponentialHistogram"
        histogram = (parse_exponential if is_native else parse_explicit)(point)
        histograms.append(HistogramSample(0, {NAME: name} | labels, t_ns, histogram, is_native))
    return series, histograms
