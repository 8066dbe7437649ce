"""Test that rows of events are in the order of hosts and of their lines, with every reader of lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from assay.ingest import batches, scanner
from assay.ingest.chunks import LogFile, divide_among_workers
from assay.ingest.file_snapshots import FileSnapshot, FileStamp
from assay.ingest.readers import json_lines_worker
from tests.support.ingesting import SOURCE, IngestedFolder, format_record, ingest_log

PLAIN = [format_record(n=number) for number in range(60)]
#: lines that the scanner leaves to the engine because of the form of an instant or number
ODD = [line.replace('Z"', '+00:00"') if number % 7 < 2 else line for number, line in enumerate(PLAIN)]
ESCAPED = [line.replace('"n"', r'"\u006e"') if number == 9 else line for number, line in enumerate(PLAIN)]
STRANGE = [*PLAIN, format_record(n=1) + "\r"]
RUNS: Mapping[str, Mapping[str, list[str]]] = {
    "odd lines among plain ones": {"m-1/out": ODD},
    "odd lines in one of several files": {"m-1/out.1": PLAIN, "m-1/out": ESCAPED, "m-2/out": ODD},
    "a strange file between plain ones": {"m-1/out.2": PLAIN, "m-1/out.1": STRANGE, "m-1/out": PLAIN, "m-2/out": PLAIN},
    "odd lines, strange files, many hosts": {
        f"m-{host}/out{part}": lines
        for host in range(1, 8)
        for part, lines in {".3": ODD, ".2": STRANGE, ".1": PLAIN, "": ESCAPED * (1 + host % 3)}.items()
    },
}


def read_stored_rows(ingested: IngestedFolder) -> list[tuple[Any, ...]]:
    """Return the rows of the event's files by file number, in their stored order."""
    files = sorted((ingested.folder / "events" / "tick").iterdir(), key=lambda path: int(path.stem))
    with duckdb.connect(config={"threads": "1"}) as connection:
        result = [connection.execute("FROM read_parquet(?)", [str(path)]).fetchall() for path in files]
    return [row for rows in result for row in rows]


def encode_files(run: Mapping[str, list[str]]) -> dict[str, bytes]:
    return {name: "".join(f"{line}\n" for line in lines).encode() for name, lines in run.items()}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_rows_have_one_order_for_every_reader(
    run: Mapping[str, list[str]], workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scanner_result = ingest_log(tmp_path / "scanner", encode_files(run), workers=workers)
    monkeypatch.setattr(scanner, "_load_library", lambda _: None)
    engine_result = ingest_log(tmp_path / "engine", encode_files(run), workers=1)
    rows = read_stored_rows(scanner_result)
    assert len(rows) == sum(len(lines) for lines in run.values())
    assert rows == sorted(rows, key=lambda row: row[:2])
    assert read_stored_rows(engine_result) == rows


@pytest.mark.parametrize("is_scanned", [True, False])
def test_first_path_with_value_is_the_instant(
    is_scanned: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines have the time at one path, at both, or an unreadable one; with and without the scanner."""
    if not is_scanned:
        monkeypatch.setattr(scanner, "_load_library", lambda _: None)
    lines = [
        format_record(n=1),
        format_record(n=2).replace('"ts":', '"time":'),
        format_record(n=3).replace('{"ts":', '{"time":"2030-01-01T00:00:00Z","ts":'),
        format_record(n=4, ts=None).replace('{"ts":', '{"time":"2026-02-05T18:52:16Z","ts":'),
        format_record(n=5, ts="then").replace('{"ts":', '{"time":"2026-02-05T18:52:16Z","ts":'),
        format_record(n=6).replace('"ts":', '"at":'),
    ]
    ingested = ingest_log(tmp_path, lines, source=replace(SOURCE, or_time=(("time",),)))
    assert [(n, str(t_ns)) for n, t_ns in ingested.read_rows("tick", "n", "t_ns")] == [
        (n, "1770317536000000000") for n in (1, 2, 3, 4)
    ]
    reasons = [row[-2].replace('"', "") for row in ingested.read_quarantine()]
    assert reasons == ["bad time: then", "no time"]


@pytest.mark.usefixtures("with_scanner")
def test_batches_of_interleaved_files_are_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of two workers leaves its second file for later, so that a batch has the first and the third."""
    merged_counts: list[int] = []
    merge = batches._merge_files

    def record_merge(connection: Any, parts: Sequence[Path], target: Path) -> None:
        merged_counts.append(len(parts))
        merge(connection, parts, target)

    monkeypatch.setattr(batches, "_merge_files", record_merge)
    monkeypatch.setattr(json_lines_worker, "SCANNER_MEMORY", 300_000)
    lines = [format_record(n=number) for number in range(4000)]
    ingested = ingest_log(tmp_path, encode_files({f"m-1/out.{part}": lines for part in (4, 3, 2, 1)}), workers=2)
    rows = read_stored_rows(ingested)
    assert merged_counts == [2]
    assert [row[1] for row in rows] == [part * 2**40 + number for part in range(4) for number in range(1, 4001)]


@pytest.mark.parametrize(
    ("sizes", "workers", "expected"),
    [
        ([5, 9, 5], 2, [[5, 9], [5]]),
        ([1, 1, 1, 1, 4], 2, [[1, 1, 1, 1], [4]]),
        ([10, 1, 1, 10], 3, [[10], [1, 1], [10]]),
        ([3], 4, [[3]]),
        ([], 2, []),
    ],
)
def test_shares_are_neighbours_of_least_weight(sizes: list[int], workers: int, expected: list[list[int]]) -> None:
    files = [
        LogFile(number, "h", number, FileSnapshot(Path("x"), FileStamp(size, 0, 0, 0), size))
        for number, size in enumerate(sizes)
    ]
    assert [[file.size for file in share] for share in divide_among_workers(files[::-1], workers)] == expected
