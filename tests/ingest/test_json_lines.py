"""Test logs of JSON lines: compressed files, workers, broken files, and cleaning up after an error."""

from __future__ import annotations

import glob
import gzip
import json
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
import zstandard

from assay.ingest import output_folder as folder
from assay.lang.model.package import Quarantine
from assay.lang.reserved_names import EVENTS
from assay.lang.scopes import LOG_COLUMNS
from assay.util.diagnostics import AssayError
from tests.support.ingesting import (
    SOURCE,
    TICK,
    build_event,
    build_field,
    build_form,
    format_error,
    format_record,
    ingest_log,
)

GOOD = format_record(n=1)


def test_columns_of_events_are_reserved_names(tmp_path: Path) -> None:
    (file,) = (ingest_log(tmp_path, [GOOD]).folder / "events" / "tick").glob("*.parquet")
    with duckdb.connect() as connection:
        columns = [item[0] for item in connection.read_parquet(glob.escape(str(file))).description]
    assert columns[-1] == "n"
    assert set(columns[:-1]) <= EVENTS


def test_columns_of_logs_are_those_of_the_checker(tmp_path: Path) -> None:
    assert {"source", *ingest_log(tmp_path, [GOOD]).read_log()} == set(LOG_COLUMNS)


@pytest.mark.parametrize("blanks", [" ", "\t", " \r \t", " " * 5000])
def test_blanks_before_an_object_are_skipped(tmp_path: Path, blanks: str) -> None:
    """JSON allows blanks before an object."""
    lines = [
        GOOD,
        blanks + format_record(n=2),
        blanks + format_record(n="x"),
        blanks + GOOD + blanks,
        blanks + GOOD[:-1],
        blanks,
    ]
    ingested = ingest_log(tmp_path, lines)
    assert ingested.read_rows("tick", "seq", "n") == [(1, 1), (2, 2), (4, 1)]
    assert ingested.read_rows("quarantine", "line", "reason") == [
        (3, 'field n of tick: expected an integer, found "x"'),
        (5, "not JSON"),
    ]
    log = ingested.read_log()
    assert (log["lines"], log["recognised"], log["quarantined"], log["text_lines"]) == (6, 3, 2, 1)


def test_line_of_megabytes_is_read(tmp_path: Path) -> None:
    long_record = format_record(n=1, text="x" * 5_000_000)
    ingested = ingest_log(tmp_path, [format_record(n=0), long_record, "x" * 3_000_000, format_record(n=2)])
    assert ingested.read_rows("tick", "seq", "n") == [(1, 0), (2, 1), (4, 2)]


def compress_content(name: str, content: bytes) -> bytes:
    if name.endswith(".gz"):
        return gzip.compress(content)
    return zstandard.ZstdCompressor().compress(content) if name.endswith(".zst") else content


@pytest.mark.parametrize("name", ["out.gz", "out.zst"])
def test_packed_file_of_several_frames_is_read(tmp_path: Path, name: str) -> None:
    parts = [compress_content(name, f"{format_record(n=n)}\n".encode()) for n in range(3)]
    assert ingest_log(tmp_path, {f"m-1/{name}": b"".join(parts)}).read_rows("tick", "seq", "n") == [
        (1, 0),
        (2, 1),
        (3, 2),
    ]


def test_zeros_after_a_packed_file_are_skipped(tmp_path: Path) -> None:
    content = compress_content("out.gz", f"{GOOD}\n".encode()) + bytes(512)
    assert ingest_log(tmp_path, {"m-1/out.gz": content}).read_rows("tick", "n") == [(1,)]


@pytest.mark.parametrize("name", ["out.gz", "out.zst"])
@pytest.mark.parametrize("remaining_share", [0.02, 0.5, 0.99])
def test_truncated_packed_file_is_an_error(tmp_path: Path, name: str, remaining_share: float) -> None:
    content = compress_content(name, "".join(f"{format_record(n=n)}\n" for n in range(5000)).encode())
    with pytest.raises(AssayError) as error:
        ingest_log(tmp_path, {f"m-1/{name}": content[: int(len(content) * remaining_share)]})
    tool = "zcat" if name == "out.gz" else "zstd -dc"
    assert format_error(error.value, tmp_path) == (
        f"error[broken-file]: the log file cannot be read to its end: DIR/run/m-1/{name}\n"
        "  found:    the compressed data ends before the content\n"
        f"  hint: is it cut off, or still being written? `{tool} {name} > out` saves the readable part; "
        f"then move {name} out of the run"
    )


@pytest.mark.parametrize(("window", "reported_size"), [(27, ""), (28, "Frame requires too much memory for decoding")])
def test_packed_file_with_a_wide_window_is_an_error(tmp_path: Path, window: int, reported_size: str) -> None:
    width = zstandard.ZstdCompressionParameters.from_level(1, window_log=window)
    packer = zstandard.ZstdCompressor(compression_params=width).compressobj()
    content = packer.compress(f"{format_record(n=1)}\n".encode()) + packer.flush()
    if not reported_size:
        assert ingest_log(tmp_path, {"m-1/out.zst": content}).read_rows("tick", "n") == [(1,)]
        return
    with pytest.raises(AssayError) as error:
        ingest_log(tmp_path, {"m-1/out.zst": content})
    assert format_error(error.value, tmp_path) == (
        "error[broken-file]: the log file cannot be read to its end: DIR/run/m-1/out.zst\n"
        f"  found:    zstd decompressor error: {reported_size}\n"
        "  hint: it was compressed with a window of more than 128 MiB (`zstd --long`): compress it again without"
    )


@pytest.mark.parametrize("place", [-6, 300])
def test_packed_file_with_a_wrong_byte_is_an_error(tmp_path: Path, place: int) -> None:
    content = bytearray(compress_content("out.gz", "".join(f"{format_record(n=n)}\n" for n in range(500)).encode()))
    content[place] ^= 0xFF
    with pytest.raises(AssayError, match="broken-file"):
        ingest_log(tmp_path, {"m-1/out.gz": bytes(content)})


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
def test_number_of_workers_changes_no_row(tmp_path: Path, workers: int) -> None:
    files = {
        f"m-{host}/out{part}": "".join(
            f"{format_record(ts=f'2026-02-05T18:{part:02}:00Z', n=host * part * line)}\n" for line in range(7 * host)
        ).encode()
        for host in range(1, 6)
        for part in range(3)
    }
    ingested = ingest_log(tmp_path, files, workers=workers)
    expected = [
        (f"m-{host}", part * 2**40 + line + 1, host * part * line)
        for host in range(1, 6)
        for part in range(3)
        for line in range(7 * host)
    ]
    assert ingested.read_rows("tick", "host", "seq", "n") == expected
    assert ingested.read_rows("counts") == [(f"m-{host}", "tick", 21 * host) for host in range(1, 6)]


def test_idle_engine_holds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine also drops the lines that it reads itself, and those of a run that is refused."""
    monkeypatch.setattr(folder, "_idle", [])
    broken_lines = ["{"] * 12
    with pytest.raises(AssayError):
        ingest_log(tmp_path, [format_record(n=1), *broken_lines])
    assert folder.get_idle_engine() is None
    ingest_log(tmp_path, [*(format_record(n=n) for n in range(2000)), *broken_lines])
    idle = folder.get_idle_engine()
    assert idle is not None
    assert idle.execute("SHOW ALL TABLES").fetchall() == []


def test_failure_leaves_earlier_results(tmp_path: Path) -> None:
    ingested = ingest_log(tmp_path, [GOOD])
    with pytest.raises(AssayError):
        ingest_log(tmp_path, ["text"])
    assert ingested.read_rows("tick", "n") == [(1,)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made", "run"]


def test_unwanted_events_are_counted_not_written(tmp_path: Path) -> None:
    ingested = ingest_log(tmp_path, [GOOD, format_record(n="x")], required_fields={"tick": frozenset()})
    assert ingested.read_rows("tick") == [("m-1", 1, 1770317536000000000, True), ("m-1", 2, 1770317536000000000, True)]
    other_result = ingest_log(tmp_path, [GOOD, format_record(n="x")], required_fields={})
    assert (other_result.read_rows("counts"), (other_result.folder / "events").exists()) == (
        [("m-1", "tick", 2)],
        False,
    )


def test_progress_ends_with_all_bytes(tmp_path: Path) -> None:
    from assay.ingest.discovery import find_run
    from assay.ingest.pipeline import ingest
    from tests.support.ingesting import SOURCE

    ingest_log(tmp_path, {f"m-{host}/out": f"{GOOD}\n".encode() for host in range(3)})
    files = find_run(SOURCE, tmp_path / "run")
    progress_reports: list[tuple[int, int]] = []
    wanted = {"tick": frozenset({"n"})}
    ingest(
        SOURCE,
        (TICK,),
        wanted,
        files,
        tmp_path / "again",
        progress=lambda amount, total: progress_reports.append((amount, total)),
    )
    assert progress_reports == sorted(progress_reports)
    assert progress_reports[-1] == (files.size, files.size)


@pytest.mark.parametrize("share", [0.07, 0.29, 0.57])
def test_share_of_broken_lines_is_exact(tmp_path: Path, share: float) -> None:
    source = replace(SOURCE, quarantine=Quarantine(share=share, at_least=1))
    broken_count = round(100 * share)
    ingested = ingest_log(
        tmp_path / "a", [GOOD] * (100 - broken_count) + [format_record(n="x")] * broken_count, source=source
    )
    assert ingested.read_log()["quarantined"] == broken_count
    with pytest.raises(AssayError):
        ingest_log(
            tmp_path / "b", [GOOD] * (99 - broken_count) + [format_record(n="x")] * (broken_count + 1), source=source
        )


def test_manifest_lists_events_and_fields(tmp_path: Path) -> None:
    other_event = build_event("tock", build_form([build_field("n")], new="Tock"))
    ingested = ingest_log(
        tmp_path, [GOOD], (TICK, other_event), required_fields={"tick": frozenset({"n"}), "tock": frozenset()}
    )
    manifest = json.loads((ingested.folder / "ingest.json").read_text())
    assert {name: item["fields"] for name, item in manifest["events"].items()} == {"tick": ["n"], "tock": []}
    assert ingested.read_rows("tock") == []
