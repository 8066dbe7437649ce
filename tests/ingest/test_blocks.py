"""Blocks of `Key: value` lines: published reports, long blocks, and durations as Go writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.ingest.quantities import QUANTITIES
from assay.lang.model.package import Event, Transform
from assay.sql import dialect
from tests.support.deep import scale_examples
from tests.support.ingesting import SOURCES, IngestedFolder, build_field, build_form, ingest_log
from tests.support.laboratory import ROOT

GOLDEN = ROOT / "golden" / "cometbft"
BLOCKS = SOURCES["blocks"]
DURATION = [Transform("duration", 0, "")]


def create_event(*fields: Any) -> Event:
    return Event("block", BLOCKS.name, (build_form(list(fields)),), "")


BLOCK = create_event(build_field("id", "text", "Id"), build_field("n", "integer", "N"))


def ingest_files(
    folder: Path, content: str | bytes | Mapping[str, bytes], event_read: Event = BLOCK, **source: Any
) -> IngestedFolder:
    """Ingest `a.txt`, or files by their paths."""
    text = content.encode() if isinstance(content, str) else content
    files = text if isinstance(text, Mapping) else {"a.txt": text}
    return ingest_log(folder, files, (event_read,), source=replace(BLOCKS, **source))


def read_quarantine(ingested: IngestedFolder) -> list[tuple[Any, ...]]:
    assert ingested.read_log()["quarantined"] == len(ingested.read_rows("quarantine"))
    return ingested.read_rows("quarantine", "line", "reason")


# Published reports of the load tool, read by an independent parser (places of columns, the order of keys)

NUMBERS = ("Connections", "Rate", "Size", "Total Valid Tx", "Total Negative Latencies")
TIMES = ("Minimum Latency", "Maximum Latency", "Average Latency", "Standard Deviation")
NANOSECONDS = {"h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6, "µs": 10**3, "ns": 1}


def parse_duration(text: str) -> int:
    """Parse a duration as Go writes it, in ns."""
    parts = re.findall(r"([\d.]+)(h|ms|µs|ns|m|s)", text)
    assert "".join(a + b for a, b in parts) == text
    exact = sum(Fraction(number) * NANOSECONDS[unit] for number, unit in parts)
    assert exact.denominator == 1
    return int(exact)


def parse_report(text: str) -> list[tuple[object, ...]]:
    """Return the blocks of a report: all values of each key in order, on any line."""

    def find_values(key: str) -> list[str]:
        return re.findall(rf"{key}: (\S+)", text)

    columns = [find_values("Experiment ID"), *(list(map(int, find_values(key))) for key in NUMBERS)]
    columns += [[parse_duration(value) for value in find_values(key)] for key in TIMES]
    return list(zip(*columns, strict=True))


SUMMARY = create_event(
    build_field("id", "text", "Experiment ID"),
    *(build_field(name.lower().replace(" ", "_"), "integer", name) for name in NUMBERS),
    *(build_field(name.lower().replace(" ", "_"), "integer", name, transforms=DURATION) for name in TIMES),
)
REPORTS = [*sorted(GOLDEN.glob("published/*/*.txt")), GOLDEN / "run" / "report" / "report_node0.txt"]


@pytest.mark.parametrize("path", REPORTS, ids=[path.stem for path in REPORTS])
def test_published_reports_are_exact(tmp_path: Path, path: Path) -> None:
    ingested = ingest_files(tmp_path, path.read_bytes(), SUMMARY, begins="Experiment ID")
    expected_rows = parse_report(path.read_text(encoding="utf-8"))
    assert len(expected_rows) == (8 if path.parent.name == "report" else 12)
    assert ingested.read_rows("block", *(item.name for item in SUMMARY.fields)) == expected_rows
    assert ingested.read_quarantine() == []


@given(st.lists(st.integers(-(2**63) + 1, 2**63 - 1), min_size=1, max_size=20))
@settings(max_examples=scale_examples(30), deadline=None)
def test_durations_of_go_are_read_back(durations_ns: list[int]) -> None:
    texts = [format_duration(ns) for ns in durations_ns]
    duration = QUANTITIES["duration"]
    value = duration.build_value(dialect.build_column("written")).sql(dialect=dialect.DIALECT)
    rows = duckdb.execute(f"SELECT {value} FROM (SELECT unnest(?::TEXT[]) AS written)", [texts]).fetchall()
    assert [row[0] for row in rows] == [str(ns) for ns in durations_ns]
    assert all(duration.is_valid(text) for text in texts)


def format_duration(ns: int) -> str:
    """Format a duration as Go's `Duration.String` does."""
    sign, size = "-" * (ns < 0), abs(ns)
    if size < 10**9:
        unit, factor = next(((u, f) for u, f in (("ns", 1), ("µs", 10**3), ("ms", 10**6)) if size < 1000 * f))
        return f"{sign}{format_decimal(size, factor)}{unit}" if size else "0s"
    hours, remainder = divmod(size, 3600 * 10**9)
    minutes, remainder = divmod(remainder, 60 * 10**9)
    parts = [f"{hours}h"] * bool(hours) + [f"{minutes}m"] * bool(hours or minutes)
    return f"{sign}{''.join(parts)}{format_decimal(remainder, 10**9)}s"


def format_decimal(number: int, factor: int) -> str:
    integral_part, part = divmod(number, factor)
    digits = str(part).rjust(len(str(factor)) - 1, "0").rstrip("0")
    return f"{integral_part}.{digits}" if digits else str(integral_part)


def test_truncated_report_loses_only_its_end(tmp_path: Path) -> None:
    text = (GOLDEN / "published" / "v038" / "v038_report_tabbed.txt").read_text(encoding="utf-8")
    cut = text[: text.rindex("Maximum Latency") - 3]
    ingested = ingest_files(tmp_path, cut, SUMMARY, begins="Experiment ID")
    assert ingested.read_rows("block", *(item.name for item in SUMMARY.fields)) == parse_report(text)[:9]
    assert read_quarantine(ingested) == [
        (31, "field maximum_latency of block is missing"),
        (31, "field maximum_latency of block is missing"),
        (31, "field maximum_latency of block is missing"),
        (38, "expected a cell for each of 3 blocks, found 2"),
    ]


def test_long_line_of_blocks_is_broken(tmp_path: Path) -> None:
    ingested = ingest_files(tmp_path, f"Id: a\nN: 1\nX: {'x' * 9 * 2**20}\nId: b\nN: 2\n")
    assert ingested.read_rows("block", "id", "n") == [("a", 1), ("b", 2)]
    assert ingested.read_quarantine() == [("", "a.txt", 3, "longer than 8 MiB", "X: " + "x" * 1997)]


@pytest.mark.parametrize("filling", [b"x", b'"'])
@pytest.mark.parametrize(
    ("sizes", "numbers"), [([9], [1, 2, 3]), ([4, 3], [1, 2, 3]), ([4, 4], [1, 3]), ([7] * 3, [1, 3])]
)
def test_long_block_is_broken_alone(tmp_path: Path, filling: bytes, sizes: list[int], numbers: list[int]) -> None:
    """Regression: the engine refused the whole file if a block of several long lines exceeded its limit."""
    long_blocks = b"".join(b"K%d: %s\n" % (place, filling * (size * 2**20)) for place, size in enumerate(sizes))
    if sizes == [9]:
        long_blocks = b"K: " + filling * (8 * 2**20 - 100) + b"\n"
    text = b"Id: 1\nN: 1\nId: 2\nN: 2\n" + long_blocks + b"Id: 3\nN: 3\n"
    ingested = ingest_files(tmp_path, text)
    assert ingested.read_rows("block", "n") == [(n,) for n in numbers]
    expected_quarantine = [] if 2 in numbers else [("a.txt", 3, "longer than 8 MiB")]
    assert [(file, line, reason) for _, file, line, reason, _ in ingested.read_quarantine()] == expected_quarantine
    assert (ingested.read_log()["lines"], ingested.read_log()["quarantined"]) == (3, len(expected_quarantine))
