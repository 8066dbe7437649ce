"""Test that malformed lines are all counted, but only the first ones described, and the first of these exactly."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from assay.ingest import event_writer
from tests.ingest.test_contract import INSTANT, build_source, build_tick, format_record
from tests.support.ingesting import ingest_log

READERS = ("json-lines", "logfmt", "text-lines")
FAULTS = {
    "field": (INSTANT, b"x7"),
    "instant": (b"2026-13-01", b"7"),
    "record": (INSTANT, b'7" "'),
}
GENERAL = {
    "field": "a field of tick is missing, or not of its type",
    "instant": "no time, or a bad one",
}


@pytest.fixture
def _lowered_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("quarantine", "summary", "line_counts"):
        monkeypatch.setattr(f"assay.ingest.{module}.DESCRIBED_LINES", 40, raising=module != "quarantine")
    monkeypatch.setattr("assay.ingest.quarantine.EXPLAINED", 10)


@pytest.mark.usefixtures("_lowered_limits")
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("fault", FAULTS)
def test_malformed_lines_are_counted_and_first_described(reader: str, fault: str, tmp_path: Path) -> None:
    good = format_record(reader, 1, INSTANT, b"7", b"x")
    malformed = format_record(reader, 2, *FAULTS[fault], b"x")
    source = build_source(reader)
    files = {f"m-{host}/out": good + malformed * 60 + good + malformed * host for host in (1, 2, 3)}
    ingested = ingest_log(tmp_path, files, [build_tick(source)], source=source)
    assert ingested.read_rows("logs", "host", "lines", "recognised", "quarantined") == [
        (f"m-{host}", 62 + host, 2, 60 + host) for host in (1, 2, 3)
    ]
    rows = ingested.read_rows("quarantine", "host", "line", "reason")
    lines = [(host, line) for host, line, _ in rows]
    assert lines == [("m-1", line) for line in range(2, 42)] + [(f"m-{n}", line) for n in (2, 3) for line in (2, 3, 4)]
    reasons = Counter(reason for _, _, reason in rows)
    if fault in GENERAL:
        assert reasons[GENERAL[fault]] == 30
        assert len({reason for _, _, reason in rows if reason != GENERAL[fault]}) == 1
        assert [reason for host, _, reason in rows if host != "m-1"].count(GENERAL[fault]) == 0
    else:
        assert not any(reason == "" for reason in reasons)


@pytest.mark.parametrize("reader", READERS)
def test_only_numbers_of_other_notations_are_read_twice(
    reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[bool | None] = []
    write = event_writer.write_rows
    monkeypatch.setattr(event_writer, "write_rows", lambda *args: writes.append(write(*args)) or writes[-1])
    source = build_source(reader)
    good = format_record(reader, 1, INSTANT, b"7", b"x")
    expected = {b"x7": ([False], [7]), b"1e1": ([None, True], [7, 10]), b"1.5": ([None, False], [7])}
    for number, (value, (wholes, numbers)) in enumerate(expected.items()):
        writes.clear()
        files = {"m-1/out": good + format_record(reader, 2, INSTANT, value, b"x")}
        ingested = ingest_log(tmp_path / str(number), files, [build_tick(source)], source=source)
        assert [n for (n,) in ingested.read_rows("tick", "n")] == numbers
        assert writes == wholes
