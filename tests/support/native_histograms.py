"""Simulate native histograms, write them as Prometheus and OpenTelemetry do, and compute their percentiles."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

START, EVERY, SCRAPES = 1_795_231_200, 15, 40
FINE, COARSE = 3, 2  # scales before and after a server merges buckets
ZERO = 0.001  # values up to this are in the bucket of zeros
INSTANCES = ("a:1", "b:1")

#: instance -> for each scrape, the values since the scrape before it
Values = Mapping[str, Sequence[Sequence[float]]]


def simulate_values(seed: int, factor: float = 1.0) -> Values:
    """Return values: lognormal times, zeros, and a few below zero, as where clocks differ."""
    random = Random(seed)

    def draw() -> float:
        kind = random.random()
        value = factor * 0.08 * math.exp(random.gauss(0, 0.9))
        return 0.0 if kind < 0.05 else -value if kind < 0.08 else value

    return {name: [[draw() for _ in range(random.randrange(10, 40))] for _ in range(SCRAPES)] for name in INSTANCES}


def find_place(value: float, scale: int) -> tuple[int, int]:
    """Return the sign and the index of the bucket of a value, whose upper bound is 2 ** ((index + 1) / 2 ** scale)."""
    if abs(value) <= ZERO:
        return 0, 0
    return (1 if value > 0 else -1), math.ceil(math.log2(abs(value)) * 2**scale) - 1


def list_counts(rows: Sequence[Sequence[float]], scale: int) -> Counter[tuple[int, int]]:
    return Counter(find_place(value, scale) for row in rows for value in row)


def write_bounds(place: tuple[int, int], scale: int) -> tuple[float, float]:
    sign, index = place
    if not sign:
        return -ZERO, ZERO
    lower, upper = 2.0 ** (index / 2**scale), 2.0 ** ((index + 1) / 2**scale)
    return (lower, upper) if sign > 0 else (-upper, -lower)


def compute_centile(counts: Mapping[tuple[int, int], int], scale: int, centile: float) -> float:
    """Return a percentile as `histogramQuantile` of Prometheus computes it, from the counts of buckets."""
    buckets = sorted((*write_bounds(place, scale), count) for place, count in counts.items() if count)
    rank, below = centile * sum(counts.values()), 0
    for lower, upper, count in buckets:
        if below + count < rank:
            below += count
            continue
        share = (rank - below) / count
        if lower > 0:
            return math.exp2(math.log2(lower) + (math.log2(upper) - math.log2(lower)) * share)
        if upper < 0:
            return -math.exp2(math.log2(-upper) + (math.log2(-lower) - math.log2(-upper)) * (1 - share))
        signs = {sign for sign, _ in (place for place, count in counts.items() if count)}
        lower, upper = (0.0 if signs == {0, 1} else lower), (0.0 if signs == {0, -1} else upper)
        return lower + (upper - lower) * share
    raise AssertionError("no bucket has the rank")


def list_scrapes(values: Sequence[Sequence[float]]) -> Iterator[tuple[int, int, Sequence[Sequence[float]]]]:
    """Yield the second and the scale of each scrape, with the values that it has; buckets are merged half way."""
    for scrape in range(SCRAPES + 1):
        yield START + EVERY * scrape, FINE if scrape < SCRAPES // 2 else COARSE, values[:scrape]


def write_response(name: str, values: Values) -> str:
    """Return native histograms as the HTTP API of Prometheus answers them."""
    series = []
    for instance, rows in values.items():
        histograms: list[Any] = []
        for at, scale, seen in list_scrapes(rows):
            counts = list_counts(seen, scale)
            buckets = sorted((*write_bounds(place, scale), count) for place, count in counts.items())
            texts = [[0, repr(lower), repr(upper), str(count)] for lower, upper, count in buckets]
            total = math.fsum(value for row in seen for value in row)
            histograms.append([at, {"count": str(sum(counts.values())), "sum": repr(total), "buckets": texts}])
        series.append({"metric": {"__name__": name, "instance": instance, "handler": "/"}, "histograms": histograms})
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": series}}, separators=(",", ":"))


def write_dump(name: str, values: Values) -> str:
    """Return native histograms as `promtool tsdb dump` writes them."""
    lines = []
    for instance, rows in values.items():
        for at, scale, seen in list_scrapes(rows):
            counts = list_counts(seen, scale)
            buckets = sorted((*write_bounds(place, scale), count) for place, count in counts.items())
            texts = "".join(f", ({lower!r},{upper!r}]:{count}" for lower, upper, count in buckets)
            total = math.fsum(value for row in seen for value in row)
            lines.append(f'{{__name__="{name}", instance="{instance}", handler="/"}} '
                         f"{{count:{sum(counts.values())}, sum:{total!r}{texts}}} {at * 1000}")  # fmt: skip
    return "\n".join(lines) + "\n"


def write_otlp(name: str, values: Values, is_delta: bool) -> str:
    """Return a line of OpenTelemetry for each scrape of each instance, with what it counts so far or since the last."""
    lines = []
    for instance, rows in values.items():
        for scrape, (at, scale, seen) in enumerate(list_scrapes(rows)):
            counts = list_counts(seen[scrape - 1 :] if is_delta and scrape else seen, scale)
            point: dict[str, Any] = {"timeUnixNano": str(at * 10**9), "count": str(sum(counts.values())),
                                     "scale": scale, "zeroCount": str(counts[0, 0]), "zeroThreshold": ZERO}  # fmt: skip
            for key, sign in (("positive", 1), ("negative", -1)):
                places = [index for other, index in counts if other == sign]
                if places:
                    every = range(min(places), max(places) + 1)
                    point[key] = {"offset": every[0], "bucketCounts": [str(counts[sign, index]) for index in every]}
            metric = {"name": name, "unit": "s", "exponentialHistogram": {
                "aggregationTemporality": 1 if is_delta else 2, "dataPoints": [point]}}  # fmt: skip
            labels = {"instance": instance, "handler": "/"}
            attributes = [{"key": key, "value": {"stringValue": text}} for key, text in labels.items()]
            lines.append(json.dumps({"resourceMetrics": [
                {"resource": {"attributes": attributes}, "scopeMetrics": [{"metrics": [metric]}]}]}))  # fmt: skip
    return "\n".join(lines) + "\n"
