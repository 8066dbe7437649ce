"""Turn native histograms of Prometheus, and exponential ones of OpenTelemetry, into series of buckets.

A native histogram has other buckets in each sample: those that are not empty. For `NAME`, the series `NAME_bucket` has
a sample for each bound `le`, how many values are at most this; `NAME_count` and `NAME_sum` are the number and the sum
of all. Bounds are those of the buckets of all samples of the name, apart from bounds within a bucket of another sample,
as where a server merged buckets: how many values are below them is not known.

These samples have the number 0: no line of a file is one.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from assay.ingest.readers.sample_store import NAME, add_series, execute

if TYPE_CHECKING:
    import duckdb

Bucket = tuple[float, float, float]
"""The bounds of a bucket and how many values are in it."""

BOUND, COUNT, SUM, LE = "_bucket", "_count", "_sum", "le"
_FIRST_PLACE = 2**40  # of series, behind those that files have
_DUMPED = re.compile(r"[\[(]([-+0-9.eEInf]+),([-+0-9.eEInf]+)[\])]:([0-9.eE+-]+)")
_DUMPED_COUNT = re.compile(r"\{count:([0-9.eE+-]+), sum:([-+0-9.eEInfNa]+)")


@dataclass(frozen=True, slots=True)
class Histogram:
    """A native histogram: how many values, their sum, its buckets in ascending order."""

    count: float
    total: float
    buckets: tuple[Bucket, ...]

    @property
    def is_end(self) -> bool:
        """Return whether it marks the end of its line: Prometheus writes no values with a sum that is no number."""
        return not self.count and math.isnan(self.total)

    def count_up_to(self, bounds: Sequence[float]) -> Iterator[float]:
        """Yield how many values are at most each of ascending bounds, none of which is within a bucket."""
        ordered = sorted((upper, count) for _, upper, count in self.buckets)  # of several scales, if they were added up
        uppers = [upper for upper, _ in ordered]
        totals = [0.0, *accumulate(count for _, count in ordered)]
        place = 0
        for bound in bounds:
            while place < len(uppers) and uppers[place] <= bound:
                place += 1
            yield totals[place]


@dataclass(frozen=True, slots=True)
class HistogramSample:
    """A histogram of a file at an instant, with the labels of its series, which has a name."""

    file: int
    labels: Mapping[str, str]
    t_ns: int
    histogram: Histogram
    is_native: bool = True  # its bounds are powers

    @property
    def name(self) -> str:
        """The name of its series."""
        return self.labels[NAME]


def parse_answered(value: Any) -> Histogram:
    """Return the histogram of an answer of the HTTP API: count, sum, and buckets of a rule, two bounds and a count.

    Raises ValueError, TypeError or KeyError if it is none.
    """
    buckets = [(float(lower), float(upper), float(count)) for _, lower, upper, count in value.get("buckets") or ()]
    return Histogram(float(value["count"]), float(value["sum"]), tuple(sorted(buckets)))


def is_dumped(text: str) -> bool:
    """Return whether a text is a histogram as `promtool tsdb dump` writes it."""
    return bool(_DUMPED_COUNT.match(text))


def parse_dumped(text: str) -> Histogram:
    """Return a histogram as `promtool tsdb dump` writes it."""
    match = _DUMPED_COUNT.match(text)
    assert match
    buckets = sorted((float(item[1]), float(item[2]), float(item[3])) for item in _DUMPED.finditer(text))
    return Histogram(float(match[1]), float(match[2]), tuple(buckets))


def list_series_names(name: str) -> tuple[str, ...]:
    """Return the names of the series of a histogram."""
    return f"{name}{BOUND}", f"{name}{COUNT}", f"{name}{SUM}"


def write_bound(bound: float) -> str:
    """Return a bound as the label of a bucket."""
    return "+Inf" if math.isinf(bound) else repr(bound).removesuffix(".0")


def add_histograms(connection: duckdb.DuckDBPyConnection, samples: Iterable[HistogramSample]) -> None:
    """Add the series of buckets, counts and sums of histograms of all files."""
    by_name: dict[str, list[HistogramSample]] = defaultdict(list)
    for sample in samples:
        by_name[sample.name].append(sample)
    place = _FIRST_PLACE
    for name in sorted(by_name):
        bounds = find_bounds(by_name[name])
        lines: dict[tuple[int, str], list[HistogramSample]] = defaultdict(list)
        for sample in by_name[name]:
            lines[sample.file, json.dumps(sample.labels, sort_keys=True)].append(sample)
        for (file, _), rows in sorted(lines.items(), key=lambda item: item[0]):
            for labels, values in list_columns(name, rows, bounds):
                place += 1
                instants = [row.t_ns for row in rows]
                add_column(connection, file, place, labels, list(zip(instants, values, strict=True)))


def find_bounds(samples: Sequence[HistogramSample]) -> list[float]:
    """Return the finite bounds of the buckets of all samples, apart from those within a bucket, in ascending order."""
    buckets = {(lower, upper) for sample in samples for lower, upper, _ in sample.histogram.buckets}
    bounds = sorted({bound for pair in buckets for bound in pair if math.isfinite(bound)})
    place = {bound: index for index, bound in enumerate(bounds)}
    inner = [0] * (len(bounds) + 1)  # how many buckets begin, less those that end, around a bound
    for lower, upper in buckets:
        inner[place.get(lower, -1) + 1] += 1
        inner[place.get(upper, len(bounds))] -= 1
    return [bound for bound, count in zip(bounds, accumulate(inner), strict=False) if not count]


def list_columns(
    name: str, rows: Sequence[HistogramSample], bounds: Sequence[float]
) -> Iterator[tuple[dict[str, str], list[float | None]]]:
    """Yield the labels of each series of histograms with the same labels, and its values; none at the end of a line."""
    labels = dict(rows[0].labels)
    counts = [[*row.histogram.count_up_to(bounds), row.histogram.count] for row in rows]
    ends = [row.histogram.is_end for row in rows]

    def drop_ends(values: Iterable[float]) -> list[float | None]:
        return [None if is_end else value for is_end, value in zip(ends, values, strict=True)]

    for index, bound in enumerate([*bounds, math.inf]):
        yield labels | {NAME: f"{name}{BOUND}", LE: write_bound(bound)}, drop_ends(row[index] for row in counts)
    yield labels | {NAME: f"{name}{COUNT}"}, drop_ends(row.histogram.count for row in rows)
    yield labels | {NAME: f"{name}{SUM}"}, drop_ends(row.histogram.total for row in rows)


def add_column(
    connection: duckdb.DuckDBPyConnection,
    file: int,
    place: int,
    labels: Mapping[str, str],
    samples: Sequence[tuple[int, float | None]],
) -> None:
    """Add the samples of a series of a file: their instants and values."""
    connection.execute("CREATE TABLE histogram_series (place BIGINT, name VARCHAR, labels MAP(VARCHAR, VARCHAR))")
    execute(
        connection,
        "INSERT INTO histogram_series SELECT $place, $name, map($keys::VARCHAR[], $texts::VARCHAR[])",
        place=place, name=labels[NAME], keys=[*labels], texts=[*labels.values()],
    )  # fmt: skip
    add_series(connection, file, "SELECT place, name, labels FROM histogram_series")
    connection.execute("DROP TABLE histogram_series")
    execute(
        connection,
        "INSERT INTO file_samples SELECT $file, $place, 0, unnest($instants::BIGINT[]), unnest($values::DOUBLE[])",
        file=file, place=place, instants=[t_ns for t_ns, _ in samples], values=[value for _, value in samples],
    )  # fmt: skip
