"""Test series: they equal the answers of a Prometheus server, and plain Python on random samples."""

from __future__ import annotations

import gzip
import json
import math
import urllib.parse
import urllib.request
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.lang.model.expression import Expression, parse_expression
from assay.lang.model.package import Unit
from assay.lang.model.series import Gone, Sampled, Series
from assay.sql import dialect, series
from tests.support.deep import scale_examples
from tests.support.laboratory import ROOT
from tests.support.prometheus import MISSING, SKIP_REASON, create_database, serve_database

PROM = ROOT / "golden" / "cometbft" / "run" / "prom"
SECOND = 10**9
MINUTES_5 = 300 * SECOND
ONE = Unit("dimensionless", "")
Line = tuple[str, ...]
Samples = Mapping[Line, Sequence[tuple[int, Any]]]
Points = dict[tuple[Line, int], float]


def parse_condition(text: str) -> Expression:
    result = parse_expression(text)
    assert result is not None
    return result


def create_series(
    reading: str, window_ns: int, missing_rule: Gone | None = None, *events: str, every_ns: int = SECOND
) -> Series:
    """Create a series over the table `told` or these tables, with the labels job and instance."""
    samples = tuple(Sampled(event, None) for event in events or ("told",))
    return Series("s", samples, ("job", "instance"), "windows", every_ns, reading, window_ns, missing_rule, ONE, "")


CONNECTION = duckdb.connect()  # starting an engine takes longer than most of its queries


def fill(connection: duckdb.DuckDBPyConnection, name: str, samples: Samples) -> None:
    """Create a table of samples."""
    connection.execute(f"CREATE OR REPLACE TABLE {name} (job TEXT, instance TEXT, t_ns BIGINT, value DOUBLE)")
    rows = [(*line, t_ns, value) for line, points in samples.items() for t_ns, value in points]
    if rows:
        connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", rows)


def compute_points(
    samples_by_line: Samples,
    definition: Series,
    from_ns: int,
    to_ns: int,
    up: Samples | None = None,
    **other_samples: Samples,
) -> Points:
    """Compute the points of a series over one window."""
    for name, samples in {"told": samples_by_line, "up": up or {}, **other_samples}.items():
        fill(CONNECTION, name, samples)
    window = "SELECT 'w' AS id, ?::BIGINT AS from_ns, ?::BIGINT AS to_ns"
    CONNECTION.execute(f"CREATE OR REPLACE TABLE windows AS {window}", [from_ns, to_ns])
    rows = CONNECTION.execute(dialect.to_sql(series.compile_series(definition, ["id"], {}))).fetchall()
    result = {((job, instance), t_ns): value for _, job, instance, t_ns, value in rows}
    assert len(result) == len(rows)
    return result


def read_raw_samples(name: str) -> Samples:
    """Return the reference samples of a series family, by job and instance."""
    return {
        (item["metric"]["job"], item["metric"]["instance"]): [
            (round(t * 1000) * 10**6, float(value)) for t, value in item["values"]
        ]
        for item in _read_answer(PROM / "raw_all_5s.json.gz")
        if item["metric"]["__name__"] == name
    }


def read_answered_points(name: str) -> Points:
    """Return the answer of the Prometheus server."""
    return {
        ((item["metric"]["job"], item["metric"]["instance"]), int(t) * SECOND): float(value)
        for item in _read_answer(PROM / f"qr_5s_{name}.json.gz")
        for t, value in item["values"]
    }


def _read_answer(path: Path) -> list[dict[str, object]]:  # type: ignore[misc]
    result: list[dict[str, object]] = json.loads(gzip.decompress(path.read_bytes()))["data"]["result"]
    return result


DOWN = Gone("up", ("job", "instance"), parse_condition("equals(field value, 0)"))
GAUGES = {
    "mempool_size": "cometbft_mempool_size",
    "peers": "cometbft_p2p_peers",
    "rounds": "cometbft_consensus_rounds",
    "memory": "process_resident_memory_bytes",
    "cpu": "node_load1",
    "blocks": "cometbft_consensus_height",
    "total_txs": "cometbft_consensus_total_txs",
}
RATES = {"block_rate": "cometbft_consensus_height", "total_txs_rate": "cometbft_consensus_total_txs"}


@pytest.mark.parametrize("name", GAUGES)
def test_gauges_are_those_of_the_server(name: str) -> None:
    expected = read_answered_points(name)
    steps = [t for _, t in expected]
    assert (
        compute_points(
            read_raw_samples(GAUGES[name]),
            create_series("latest", MINUTES_5, DOWN),
            min(steps),
            max(steps),
            read_raw_samples("up"),
        )
        == expected
    )


@pytest.mark.parametrize("name", RATES)
def test_rates_are_those_of_the_server(name: str) -> None:
    expected = read_answered_points(name)
    steps = [t for _, t in expected]
    result = compute_points(read_raw_samples(RATES[name]), create_series("rate", 20 * SECOND), min(steps), max(steps))
    assert result.keys() == expected.keys()
    assert [60 * result[key] for key in expected] == pytest.approx(list(expected.values()), rel=1e-9, abs=0)


def compute_latest(samples_by_line: Samples, window: int, steps: Iterable[int], up: Samples) -> Points:
    """Compute `latest` independently."""
    result = {}
    for line, samples in samples_by_line.items():
        times = [t for t, _ in samples]
        ends = [t for t, value in up.get(line, ()) if value == 0]
        for step in steps:
            index = bisect_right(times, step) - 1
            if index >= 0 and times[index] >= step - window and not any(times[index] < end <= step for end in ends):
                result[line, step] = samples[index][1]
    return result


def compute_rate(samples_by_line: Samples, window: int, steps: Iterable[int]) -> Points:
    """Compute `rate` independently: a transcription of the documented rule."""
    result = {}
    for line, samples in samples_by_line.items():
        for step in steps:
            window_samples = [(t, value) for t, value in samples if step - window <= t <= step]
            if len(window_samples) < 2:
                continue
            (first, low), (last, high) = window_samples[0], window_samples[-1]
            drops = [a for (_, a), (_, b) in pairwise(window_samples) if b < a]
            increase = high - low + math.fsum(drops)
            span, gap = float(last - first), float(last - first) / (len(window_samples) - 1)
            head, tail = float(first - (step - window)), float(step - last)
            if increase > 0 and low >= 0:
                head = min(head, span * (low / increase))
            head = head if head < gap * 1.1 else gap / 2
            tail = tail if tail < gap * 1.1 else gap / 2
            result[line, step] = increase * ((span + head + tail) / span) / (window / SECOND)
    return result


LINES = st.sampled_from([("a", "1"), ("a", "2"), ("b", "1")])
TIMES = st.lists(st.integers(0, 120), unique=True, max_size=25).map(sorted)


@st.composite
def generate_samples(draw: st.DrawFn, values: st.SearchStrategy[float]) -> Samples:
    """Generate samples of some lines: late starts, gaps, odd distances, drops."""
    lines = draw(st.lists(LINES, unique=True, max_size=3))
    return {line: [(t * SECOND // 2 + 7, draw(values)) for t in draw(TIMES)] for line in lines}


@settings(max_examples=scale_examples(60), deadline=None)
@given(
    samples_by_line=generate_samples(st.integers(0, 5).map(float)),
    up=generate_samples(st.sampled_from([0.0, 1.0])),
    window=st.integers(1, 40),
)
def test_latest_agrees_with_the_oracle(samples_by_line: Samples, up: Samples, window: int) -> None:
    steps = range(3 * SECOND, 60 * SECOND, SECOND)
    result = compute_points(samples_by_line, create_series("latest", window * SECOND, DOWN), steps[0], steps[-1], up)
    assert result == compute_latest(samples_by_line, window * SECOND, steps, up)


@settings(max_examples=scale_examples(60), deadline=None)
@given(samples_by_line=generate_samples(st.integers(0, 50).map(float)), window=st.integers(1, 40))
def test_rate_agrees_with_the_oracle(samples_by_line: Samples, window: int) -> None:
    steps = range(3 * SECOND, 60 * SECOND, SECOND)
    result = compute_points(samples_by_line, create_series("rate", window * SECOND), steps[0], steps[-1])
    expected = compute_rate(samples_by_line, window * SECOND, steps)
    assert result.keys() == expected.keys()
    assert [result[key] for key in expected] == pytest.approx(list(expected.values()), rel=1e-9, abs=1e-12)


VALUES = st.one_of(st.integers(0, 50).map(float), st.sampled_from([math.nan, math.inf]))


@settings(max_examples=scale_examples(60), deadline=None)
@given(samples_by_line=generate_samples(VALUES), window=st.integers(1, 40))
def test_rate_of_nan_and_infinity_agrees_with_the_oracle(samples_by_line: Samples, window: int) -> None:
    steps = range(3 * SECOND, 60 * SECOND, SECOND)
    result = compute_points(samples_by_line, create_series("rate", window * SECOND), steps[0], steps[-1])
    expected = compute_rate(samples_by_line, window * SECOND, steps)
    assert result.keys() == expected.keys()
    assert [result[key] for key in expected] == pytest.approx(list(expected.values()), rel=1e-9, abs=1e-12, nan_ok=True)


ODD = (1, 2, math.nan, 4, 9, math.inf, 12, 3, 4, math.nan, math.nan, 2, math.inf, math.inf, 5, 7, 1, 1, 2, 6)


@pytest.mark.skipif(bool(MISSING), reason=SKIP_REASON)
def test_nan_and_infinity_are_read_as_by_the_server(tmp_path: Path) -> None:
    start = 1_795_231_200
    values = [[str(start + 5 * n), str(value)] for n, value in enumerate(ODD)]
    base = create_database(tmp_path, [{"metric": {"__name__": "told", "job": "a", "instance": "1"}, "values": values}])
    samples_by_line = {("a", "1"): [(int(t) * SECOND, float(value)) for t, value in values]}
    last = start + 5 * len(ODD)
    with serve_database(base, tmp_path / "server") as url:
        for reading, window, expression in (("latest", MINUTES_5, "told"), ("rate", 15 * SECOND, "rate(told[15s])")):
            result = compute_points(samples_by_line, create_series(reading, window), start * SECOND, last * SECOND)
            expected = {int(t) * SECOND: float(value) for t, value in query_range(url, expression, start, last)}
            assert sorted(t for _, t in result) == sorted(expected)
            assert len(expected) > 80
            assert {"nan", "inf"} < {str(value) for value in expected.values()}
            assert [result[("a", "1"), t] for t in expected] == pytest.approx(
                list(expected.values()), rel=1e-9, nan_ok=True
            )


@pytest.mark.skipif(bool(MISSING), reason=SKIP_REASON)
def test_sample_as_old_as_the_window_is_read_as_by_the_server(tmp_path: Path) -> None:
    start = 1_795_231_200
    values = [[str(start), "7"], [str(start + 400), "8"]]
    base = create_database(tmp_path, [{"metric": {"__name__": "told", "job": "a", "instance": "1"}, "values": values}])
    samples_by_line = {("a", "1"): [(int(t) * SECOND, float(value)) for t, value in values]}
    with serve_database(base, tmp_path / "server") as url:
        expected = {int(t) * SECOND: float(value) for t, value in query_range(url, "told", start, start + 420)}
    result = compute_points(samples_by_line, create_series("latest", MINUTES_5), start * SECOND, (start + 420) * SECOND)
    assert {t: value for (_, t), value in result.items()} == expected
    assert max(t for t in expected if t < (start + 400) * SECOND) == (start + 300) * SECOND


LINE = ("a", "1")


def test_covered_rate_leaves_out_windows_without_samples() -> None:
    """The counter grows by 10 a second; it has samples each 15 s from 0 to 300, except between 105 and 195."""
    samples_by_line = {LINE: [(t * SECOND, 5000.0 + 10 * t) for t in range(0, 301, 15) if not 105 < t < 195]}
    definition = create_series("rate", 60 * SECOND)
    all_points = compute_points(samples_by_line, definition, 0, 400 * SECOND)
    assert min(all_points.values()) < 5
    result = compute_points(samples_by_line, replace(definition, covered=True), 0, 400 * SECOND)
    assert list(result.values()) == pytest.approx([10] * len(result), rel=1e-12)
    # 16.5 s is near a sample if samples are 15 s apart
    steps = sorted(t // SECOND for _, t in result)
    assert steps == [*range(44, 122), *range(239, 317)]
    assert all(all_points[key] == value for key, value in result.items())


def test_line_ends_when_its_target_is_scraped_no_more() -> None:
    """A server marks the end one interval after its last scrape."""
    other = ("b", "1")
    samples_by_line = {
        line: [(t * SECOND, 1.0) for t in range(0, 600, 15) if line == other or t <= 60] for line in (LINE, other)
    }
    definition = create_series("latest", MINUTES_5, DOWN)

    def find_last_seconds(up: Samples, *, ceases: bool = True) -> tuple[int, int]:
        result = compute_points(samples_by_line, replace(definition, ceases=ceases), 0, 600 * SECOND, up)
        return tuple(max(t // SECOND for known_line, t in result if known_line == line) for line in (LINE, other))  # type: ignore[return-value]

    assert find_last_seconds(samples_by_line) == (74, 600)
    assert find_last_seconds(samples_by_line, ceases=False) == (360, 600)
    # no target is scraped any more: the server is gone, and marks no line as stale
    both_targets = {
        line: [(t, value) for t, value in samples if t <= 60 * SECOND] for line, samples in samples_by_line.items()
    }
    assert find_last_seconds(both_targets) == (360, 600)
    # a single sample has no interval; twice the interval is a gap
    assert find_last_seconds({**samples_by_line, LINE: samples_by_line[LINE][:1]}) == (360, 600)
    assert find_last_seconds({**both_targets, other: [*both_targets[other], (75 * SECOND, 1.0)]}) == (360, 600)
    assert find_last_seconds({**both_targets, other: [*both_targets[other], (90 * SECOND, 1.0)]}) == (74, 600)


def test_missing_value_ends_a_gauge_and_no_counter() -> None:
    samples_by_line = {LINE: [(0, 1.0), (5 * SECOND, 9.0), (10 * SECOND, None), (15 * SECOND, 4.0), (20 * SECOND, 5.0)]}
    result = compute_points(samples_by_line, create_series("latest", MINUTES_5), 0, 16 * SECOND)
    assert sorted(t // SECOND for _, t in result) == [*range(10), 15, 16]
    (value,) = compute_points(samples_by_line, create_series("rate", 20 * SECOND), 20 * SECOND, 20 * SECOND).values()
    assert value == pytest.approx((5 - 1 + 9) / 20, rel=1e-12)


def query_range(url: str, expression: str, start: int, end: int) -> list[tuple[float, str]]:
    """Return the answer of a server to an expression, each second."""
    query = urllib.parse.urlencode({"query": expression, "start": start, "end": end, "step": 1})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{url}/api/v1/query_range?{query}", timeout=30) as answer:
        (series,) = json.load(answer)["data"]["result"]
    result: list[tuple[float, str]] = series["values"]
    return result


def test_the_first_of_several_samples_that_has_a_value_counts() -> None:
    line = ("a", "1")
    one, two = {line: [(2 * SECOND, 1.0)]}, {line: [(SECOND, 7.0), (4 * SECOND, 8.0)]}
    definition = create_series("latest", 2 * SECOND - 1, None, "told", "other")
    result = compute_points(one, definition, 0, 6 * SECOND, other=two)
    assert {t // SECOND: value for (_, t), value in result.items()} == {1: 7.0, 2: 1.0, 3: 1.0, 4: 8.0, 5: 8.0}
