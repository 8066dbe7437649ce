"""Read metrics of OpenTelemetry in its JSON form, as the file exporter of a collector writes them.

Numbers are samples of the name of the metric; a histogram with bounds is the series `NAME_bucket`, `NAME_count` and
`NAME_sum` of Prometheus, and so is an exponential histogram: see `native_histograms`. Labels are the attributes of the
resource and of the point, with `_` for other characters than letters and digits. What each point counts since the last
one is added up.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.ingest.readers.native_histograms import Bucket, Histogram, HistogramSample, add_column
from assay.ingest.readers.sample_store import NAME
from assay.util.diagnostics import Span, fail
from assay.util.json_text import parse_json

if TYPE_CHECKING:
    import duckdb

MARK = b'"resourceMetrics"'
_DELTA = (1, "AGGREGATION_TEMPORALITY_DELTA")
#: the scales that the specification of OpenTelemetry allows
_SCALES = range(-10, 21)
_KINDS = ("gauge", "sum", "histogram", "exponentialHistogram")


def read_documents(path: Path, plain: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the documents of a file: one, or one for each line. Raises AssayError if one is no JSON."""
    text = plain.read_text(encoding="utf-8-sig", errors="replace")
    try:
        yield parse_json(text)
        return
    except ValueError:
        pass
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                yield parse_json(line)
            except json.JSONDecodeError as error:
                raise fail("not-json", f"the metrics are not JSON: {path}", span=Span(str(path), number, error.colno),
                           found=error.msg, hint="is the file cut off?") from None  # fmt: skip


def read_points(documents: Iterator[Mapping[str, Any]]) -> Iterator[tuple[str, str, dict[str, str], Any, bool]]:
    """Yield the points of metrics: the kind, the name, the labels, the point, whether it counts since the last one."""
    for document in documents:
        for resource in document.get("resourceMetrics") or ():
            common = _read_attributes((resource.get("resource") or {}).get("attributes"))
            metrics = (metric for scope in resource.get("scopeMetrics") or () for metric in scope.get("metrics") or ())
            for metric in metrics:
                for kind in _KINDS:
                    content = metric.get(kind) or {}
                    for point in content.get("dataPoints") or ():
                        labels = common | _read_attributes(point.get("attributes"))
                        yield kind, metric["name"], labels, point, content.get("aggregationTemporality") in _DELTA


def _read_attributes(attributes: Any) -> dict[str, str]:
    """Return attributes as labels."""
    result = {}
    for item in attributes or ():
        value = next(iter((item.get("value") or {}).values()), "")
        result[re.sub(r"\W", "_", item["key"])] = json.dumps(value) if isinstance(value, bool | dict) else str(value)
    return result


def parse_exponential(point: Mapping[str, Any]) -> Histogram:
    """Return the histogram of a point: buckets are powers of 2 to the power of `2 ** -scale`, around that of zeros."""
    scale = int(point.get("scale") or 0)
    threshold, zeros = float(point.get("zeroThreshold") or 0), float(point.get("zeroCount") or 0)
    buckets: list[Bucket] = [(-threshold, threshold, zeros)] if zeros else []
    for key, sign in (("positive", 1), ("negative", -1)):
        part = point.get(key) or {}
        offset = int(part.get("offset") or 0)
        for place, count in enumerate(part.get("bucketCounts") or (), offset):
            if int(count):
                lower, upper = compute_bound(place, scale), compute_bound(place + 1, scale)
                buckets.append((lower, upper, int(count)) if sign > 0 else (-upper, -lower, int(count)))
    return Histogram(float(point["count"]), float(point.get("sum") or 0), tuple(sorted(buckets)))


def compute_bound(place: int, scale: int) -> float:
    """Return `2 ** (place * 2 ** -scale)`, with the same bits on every machine and for every scale that has it.

    Roots are correctly rounded everywhere, powers are not. Raises ValueError for a scale that no histogram has, and
    OverflowError.
    """
    if scale not in _SCALES:
        raise ValueError(f"scale {scale}")
    if scale <= 0:
        return math.ldexp(1.0, place << -scale)
    whole, rest = divmod(place, 1 << scale)
    factor, root = 1.0, 2.0
    for bit in reversed(range(scale)):
        root = math.sqrt(root)
        if rest >> bit & 1:
            factor *= root
    return math.ldexp(factor, whole)


def parse_explicit(point: Mapping[str, Any]) -> Histogram:
    """Return the histogram of a point with explicit bounds; its buckets reach to each other, also empty ones."""
    bounds = [float("-inf"), *map(float, point.get("explicitBounds") or ()), float("inf")]
    counts = [int(count) for count in point.get("bucketCounts") or (point["count"],)]
    buckets = zip(bounds[:-1], bounds[1:], counts, strict=True)
    return Histogram(float(point["count"]), float(point.get("sum") or 0), tuple(buckets))


def load(connection: duckdb.DuckDBPyConnection, path: Path, plain: Path, file: int) -> list[HistogramSample]:
    """Add the numbers of a file of metrics; return its histograms.

    Raises AssayError if it is no JSON, or its metrics have another form.
    """
    histograms: list[HistogramSample] = []
    rows: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
    earlier: dict[tuple[str, str], Any] = {}
    try:
        for kind, name, labels, point, is_delta in read_points(read_documents(path, plain)):
            key = name, json.dumps(labels, sort_keys=True)
            t_ns = int(point["timeUnixNano"])
            if kind in ("gauge", "sum"):
                value = float(point["asDouble"] if "asDouble" in point else point["asInt"])
                value = earlier[key] = value + earlier.get(key, 0.0) if is_delta else value
                rows[key].append((t_ns, value))
                continue
            histogram = (parse_exponential if kind == "exponentialHistogram" else parse_explicit)(point)
            if is_delta:
                histogram = earlier[key] = _add(earlier.get(key), histogram)
            histograms.append(HistogramSample(file, {NAME: name} | labels, t_ns, histogram))
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise fail("not-samples", f"the metrics have another form than those of OpenTelemetry: {path}",
                   expected="resourceMetrics, scopeMetrics, metrics, dataPoints",
                   found=repr(error)) from None  # fmt: skip
    _add_numbers(connection, file, rows)
    return histograms


def _add(earlier: Histogram | None, histogram: Histogram) -> Histogram:
    """Return the sum of two histograms, whose buckets may differ."""
    if earlier is None:
        return histogram
    counts: dict[tuple[float, float], float] = defaultdict(float)
    for lower, upper, count in (*earlier.buckets, *histogram.buckets):
        counts[lower, upper] += count
    buckets = tuple(sorted((*pair, count) for pair, count in counts.items()))
    return Histogram(earlier.count + histogram.count, earlier.total + histogram.total, buckets)


def _add_numbers(
    connection: duckdb.DuckDBPyConnection, file: int, rows: Mapping[tuple[str, str], list[tuple[int, float]]]
) -> None:
    for place, ((name, labels), samples) in enumerate(sorted(rows.items()), 1):
        add_column(connection, file, place, {NAME: name} | json.loads(labels), samples)
