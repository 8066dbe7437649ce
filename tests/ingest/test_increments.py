"""Test that added log files do not cause a second read of known ones."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
import zstandard

from assay.engine import table_cache
from assay.engine.result_cache import Store
from assay.ingest import chunks
from assay.ingest.chunks import LogFile
from assay.ingest.file_snapshots import FileSnapshot, FileStamp
from assay.ingest.readers import json_lines
from assay.ingest.readers.json_lines_worker import read_log_files
from assay.util.checksums import seal
from tests.compare_reference import CARDANO
from tests.support.commands import run_assay
from tests.support.runs import copy_run, read_lines


def create_plain_run(case: str, target: Path) -> Path:
    """Create a run with the log of each host in two plain files."""
    run = copy_run(case, target)
    for host in run.glob("node-*"):
        lines = read_lines(host)
        for file in host.iterdir():
            file.unlink()
        for name, part in (("node-0.json", lines[: len(lines) // 2]), ("node-1.json", lines[len(lines) // 2 :])):
            (host / name).write_text("".join(f"{line}\n" for line in part), encoding="utf-8")
    return run


def read_rows(run: Path, cache: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return all events of a run and the counts of its lines."""
    result = run_assay("ingest", run, "--system", "cardano", "--cache", cache)
    assert result.status == 0, result.err
    folder = Path(result.out.strip())
    places = {path.name: f"{path}/*.parquet" for path in (folder / "events").iterdir()}
    places |= {name: f"{folder}/{name}.parquet" for name in ("logs", "counts", "quarantine")}
    return {name: duckdb.execute(f"SELECT * FROM read_parquet('{place}') ORDER BY ALL").fetchall()
            for name, place in places.items()}  # fmt: skip


def test_added_file_alone_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_files: list[Path] = []

    def record_files(connection: Any, recognition: Any, files: Sequence[LogFile], folder: Path) -> Any:
        read_files.extend(file.path for file in files)
        return read_log_files(connection, recognition, files, folder)

    monkeypatch.setattr(json_lines, "read_log_files", record_files)
    run = create_plain_run("tiny/plain", tmp_path / "run")
    expected_rows = read_rows(run, tmp_path / "other cache")
    late_file = sorted(run.glob("node-*/node-1.json"))[-1]
    text = late_file.read_bytes()
    late_file.unlink()
    before = read_rows(run, tmp_path / "cache")
    read_files.clear()
    late_file.write_bytes(text)
    assert read_rows(run, tmp_path / "cache") == expected_rows != before
    assert read_files == [late_file]


def test_broken_lines_of_cached_files_are_reported(tmp_path: Path) -> None:
    run = create_plain_run("tiny/plain", tmp_path / "run")
    for file in run.glob("node-*/node-*.json"):
        file.write_text(file.read_text(encoding="utf-8") + '{"at":"2026-02-05T18\n', encoding="utf-8")
    expected_rows = read_rows(run, tmp_path / "other cache")
    late_file = sorted(run.glob("node-*/node-1.json"))[-1]
    text = late_file.read_bytes()
    late_file.unlink()
    before = read_rows(run, tmp_path / "cache")
    late_file.write_bytes(text)
    assert read_rows(run, tmp_path / "cache") == expected_rows != before
    assert len(expected_rows["quarantine"]) == len(before["quarantine"]) + 1 > 3


def test_changed_file_is_read_again(tmp_path: Path) -> None:
    run = create_plain_run("tiny/plain", tmp_path / "run")
    before = read_rows(run, tmp_path / "cache")
    file = sorted(run.glob("node-*/node-1.json"))[-1]
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:-5]), encoding="utf-8")
    after = read_rows(run, tmp_path / "cache")
    assert after == read_rows(run, tmp_path / "other cache") != before


def test_damaged_batch_is_read_again(tmp_path: Path) -> None:
    run = create_plain_run("tiny/plain", tmp_path / "run")
    expected_rows = read_rows(run, tmp_path / "cache")
    shutil.rmtree(tmp_path / "cache" / "ingest")
    (facts,) = (tmp_path / "cache").glob("batches/*/*/batch.json")
    facts.write_text(facts.read_text(encoding="utf-8")[:100], encoding="utf-8")
    assert read_rows(run, tmp_path / "cache") == expected_rows
    assert json.loads(facts.read_text(encoding="utf-8"))["files"]


@pytest.mark.parametrize("piece", [5000, 1500])
def test_large_file_in_pieces_gives_same_result(piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = create_plain_run("tiny/plain", tmp_path / "run")
    for number, file in enumerate(sorted(run.glob("node-*/node-*.json"))):
        lines = file.read_text(encoding="utf-8").splitlines()
        lines[10:10] = ["a text", '{"at":"2026-02-05T18', "\ufeff", "x" * (900 * number)]
        file.write_text(("\r\n" if number % 2 else "\n").join(lines), encoding="utf-8")
    expected_rows = read_rows(run, tmp_path / "cache")
    assert len(expected_rows["quarantine"]) >= 5
    monkeypatch.setattr(chunks, "PIECE", piece)
    monkeypatch.setattr(chunks, "ROUND", 4 * piece)
    assert read_rows(run, tmp_path / "pieces") == expected_rows
    folders = list((tmp_path / "pieces").glob("batches/*/*"))
    assert len(folders) > 3
    # Only lost pieces are read again.
    shutil.rmtree(tmp_path / "pieces" / "ingest")
    for folder in folders[::2]:
        shutil.rmtree(folder)
    assert read_rows(run, tmp_path / "pieces") == expected_rows


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_large_packed_file_in_pieces_gives_same_result(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without pieces one worker would read it while the others wait."""
    pack = gzip.compress if suffix == ".gz" else zstandard.ZstdCompressor().compress
    run = create_plain_run("tiny/plain", tmp_path / "run")
    *_, last = sorted(run.glob("node-*/node-0.json"))
    last.with_name("node-1.json").unlink()  # an odd number of files, this one the last
    for number, file in enumerate(sorted(run.glob("node-*/node-*.json"))):
        lines = file.read_text(encoding="utf-8").splitlines()
        lines[10:10] = ["a text", '{"at":"2026-02-05T18', "x" * (300 * number)]
        file.with_name(file.name + suffix).write_bytes(pack("\n".join(lines).encode()))
        file.unlink()
    expected_rows = read_rows(run, tmp_path / "cache")
    assert len(expected_rows["quarantine"]) >= 5
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(chunks, "PIECE", 700)
    monkeypatch.setattr(chunks, "ROUND", 2800)
    assert read_rows(run, tmp_path / "pieces") == expected_rows
    folders = [file.parent for file in (tmp_path / "pieces").glob("batches/*/*/batch.json") if ":" in file.read_text()]
    assert len(folders) > 3
    assert not list((tmp_path / "pieces").glob("**/plain"))
    # Only lost batches are read again.
    unpacked_files: list[Path] = []
    unpack_file = json_lines.unpack_file
    monkeypatch.setattr(
        json_lines, "unpack_file", lambda file, folder: unpacked_files.append(file.path) or unpack_file(file, folder)
    )
    shutil.rmtree(tmp_path / "pieces" / "ingest")
    assert read_rows(run, tmp_path / "pieces") == expected_rows
    assert not unpacked_files
    shutil.rmtree(tmp_path / "pieces" / "ingest")
    for folder in folders[::2]:
        shutil.rmtree(folder)
    assert read_rows(run, tmp_path / "pieces") == expected_rows
    assert unpacked_files == [last.with_name(last.name + suffix)]


def test_piece_that_is_one_long_line_is_not_split(tmp_path: Path) -> None:
    size = 3 * chunks.PIECE
    whole_file = LogFile(0, "node-0", 0, FileSnapshot(tmp_path / "log", FileStamp(size, 0, 0), size))
    assert whole_file.is_large
    assert not replace(whole_file, begin=0, end=size).is_large


def test_two_workers_read_equal_numbers_of_pieces(tmp_path: Path) -> None:
    line = 2000  # approximate bytes: a piece ends at the end of a line
    edges = [place + (line if place else 0) for place in range(0, 13 * chunks.PIECE, chunks.PIECE)]
    file = LogFile(0, "node-0", 0, FileSnapshot(tmp_path / "log", FileStamp(edges[-1], 0, 0), edges[-1]))
    pieces = [replace(file, begin=begin, end=end) for begin, end in itertools.pairwise(edges)]
    assert [len(part) for part in chunks.divide_into_rounds(pieces, 1, 2)] == [4, 4, 4]


def test_broken_lines_have_file_names_of_their_run(tmp_path: Path) -> None:
    run = create_plain_run("tiny/plain", tmp_path / "run")
    broken_file = sorted(run.glob("node-*/node-1.json"))[0]
    broken_file.write_text(broken_file.read_text(encoding="utf-8") + '{"at":"2026-02-05T18\n', encoding="utf-8")
    before = read_rows(run, tmp_path / "cache")
    broken_file.rename(broken_file.with_name("node-2.json"))
    after = read_rows(run, tmp_path / "cache")
    assert after == read_rows(run, tmp_path / "other cache")
    assert [row[1] for row in before["quarantine"]] == [f"{broken_file.parent.name}/node-1.json"]
    assert [row[1] for row in after["quarantine"]] == [f"{broken_file.parent.name}/node-2.json"]


def test_cached_table_has_same_values_and_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_cache, "SLOW", 0.0)
    statement = """CREATE TEMP TABLE t (host host_name, huge HUGEINT, counter UBIGINT, "real" DOUBLE, small FLOAT,
        none BIGINT, text VARCHAR, flag BOOLEAN)"""
    values = """INSERT INTO t VALUES ('a', 42, 18446744073709551615, 'NaN', 0.1, NULL, 'x', true),
        ('b', -170141183460469231731687303715884105728, 0, 'inf', 1e-30, 7, NULL, false)"""
    hashes_by_table = {"t": "hash of t", "nested": "hash of nested"}

    def connect_engine() -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect()
        connection.execute("CREATE TEMP TYPE host_name AS ENUM ('a', 'b')")
        return connection

    with connect_engine() as connection:
        tables = table_cache.CachedTables(Store(tmp_path), connection, hashes_by_table, has_host_type=True)
        tables.create_table("t", lambda: connection.execute(statement).execute(values) and None)
        tables.create_table(
            "nested", lambda: connection.execute("CREATE TEMP TABLE nested AS SELECT [1, 2] AS l") and None
        )
        before = [connection.execute(text).fetchall() for text in ("DESCRIBE t", "FROM t")]
        assert tables.list_cached(["t", "nested", "t"]) == {"t"}
    with connect_engine() as connection:
        table_cache.CachedTables(Store(tmp_path), connection, hashes_by_table, has_host_type=True).load_table("t")
        after = [connection.execute(text).fetchall() for text in ("DESCRIBE t", "FROM t")]
        assert repr(after) == repr(before)
    with duckdb.connect() as connection:
        table_cache.CachedTables(Store(tmp_path), connection, hashes_by_table, has_host_type=False).load_table("t")
        assert connection.execute("SELECT typeof(host), host FROM t").fetchall() == [("VARCHAR", "a"), ("VARCHAR", "b")]


METRICS = ("CentiCpu", "RSS", "Alloc", "Heap")


def test_later_metrics_use_cached_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edited metric is new to the cache; its inputs are not."""
    monkeypatch.setattr(table_cache, "SLOW", 0.0)

    def query_metric(metric: str, cache: Path) -> object:
        result = run_assay("query", metric, "--run", CARDANO / "edges" / "run", "--format", "json", "--cache", cache)
        assert result.status == 0, result.err
        return result.parse_json()

    expected_results = {metric: query_metric(metric, tmp_path / metric) for metric in METRICS}
    assert not (tmp_path / METRICS[0] / "tables").exists()
    cache = tmp_path / "cache"
    assert [query_metric(metric, cache) for metric in METRICS[:2]] == [
        expected_results[metric] for metric in METRICS[:2]
    ]
    tables = sorted(cache.glob("tables/*"))
    assert len(tables) > 3
    for file in cache.glob("ingest/*/*/events/*/*.parquet"):
        file.write_bytes(b"not these")
    for folder in cache.glob("ingest/*/*"):
        seal(folder, folder.name)  # otherwise the events are read again
    assert query_metric(METRICS[2], cache) == expected_results[METRICS[2]]
    listing = run_assay("cache", "--format", "json", "--cache", cache).parse_json()
    assert int(next(row for row in listing if row["kind"] == "results")["entries"]) >= len(tables)
    # without these entries the build needs the raw events
    shutil.rmtree(cache / "tables")
    assert run_assay("query", METRICS[3], "--run", CARDANO / "edges" / "run", "--cache", cache).status != 0
