"""Test the notes of a proposal on what records may mean otherwise than they are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.commands import run_assay

DAY = "2026-10-25"
LINES = {
    "instants-in-two-units": [
        *(f'{{"ts": {1772442000 + number}, "ms": {10 + number % 7}.5}}' for number in range(20)),
        *(f'{{"ts": {1772442000000 + number}, "ms": {10 + number % 7}.5}}' for number in range(10)),
    ],
    "instants-that-a-spreadsheet-rounded": [
        f'{{"ts": "1.77244E+12", "ms": {10 + number % 7}.5}}' for number in range(20)
    ],
    "times-that-are-durations": [f'{{"time": "{number}E+01", "ms": {10 + number % 7}.5}}' for number in range(20)],
    "time-in-two-units": [
        f'{{"time": "{DAY}T09:00:{number:02}Z", "event": "done", '
        + (f'"took_ms": {20 + number}.5}}' if number < 30 else f'"took_s": 0.0{number}5}}')
        for number in range(60)
    ],
    "end-of-summer-time": [
        *(f"{DAY} 02:{number:02}:00 INFO request took {number} ms" for number in range(60)),
        *(f"{DAY} 02:{number:02}:00 INFO request took {number} ms" for number in range(60)),
    ],
    "requests-that-overlap": [
        f'{{"time": "{DAY}T09:{10 + number - 2 * (number % 2):02}:00Z", "event": "done", "took_ms": {number}.5}}'
        for number in range(30)
    ],
}
NOTES = {
    "instants-in-two-units": ["ts: no instants, since its units differ: 20 in s, 10 in ms since 1970"],
    "instants-that-a-spreadsheet-rounded": [
        "ts: no instants, since 1.77244E+12 is rounded to 10,000,000 ms, as by a spreadsheet: write all digits"
    ],
    "times-that-are-durations": [],
    "time-in-two-units": ["took_ms, took_s: no record of done has both; are they one time in two units?"],
    "end-of-summer-time": [
        "instants of log go back by 3540 s: a clock was set back, or local times lack their zone",
        f"instants such as {DAY} 02:00:00, read as UTC",
    ],
    "requests-that-overlap": [],
}


@pytest.mark.parametrize("name", LINES)
def test_doubts_on_records_are_noted(name: str, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(LINES[name]) + "\n", encoding="utf-8")
    result = run_assay("init", tmp_path / "service", "--from", log)
    assert (result.status, result.err) == (0, "")
    notes = [line.strip() for line in result.out.splitlines() if line.startswith("  ")]
    assert [note for note in NOTES[name] if note not in notes] == []
    assert list_doubts(notes) == list_doubts(NOTES[name])


def list_doubts(notes: Sequence[str]) -> list[str]:
    return [note for note in notes if any(part in note for part in ("no instants", "go back", "two units"))]


@pytest.mark.parametrize(
    ("delimiter", "least", "is_noted"), [(";", "950", True), (",", "950", False), (";", "0.5", False)]
)
def test_points_that_may_separate_thousands_are_noted(
    delimiter: str, least: str, is_noted: bool, tmp_path: Path
) -> None:
    rows = [f"{DAY}T09:00:{number:02}Z{delimiter}{1 + number % 9}.{100 + number}" for number in range(30)]
    log = tmp_path / "log.csv"
    log.write_text(
        "\n".join([f"time{delimiter}took_ms", f"{DAY}T08:59:59Z{delimiter}{least}", *rows]), encoding="utf-8"
    )
    result = run_assay("init", tmp_path / "service", "--from", log)
    assert (result.status, result.err) == (0, "")
    note = "took_ms: do points separate thousands? 1.100 is read as a decimal, not as 1100"
    assert (note in result.out) is is_noted
