"""Test that `assay ingest` and `assay sql --run` export events and constants of the named run."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import duckdb
import pytest

from assay.app.compute import export_run
from assay.engine.result_cache import Store
from tests.support.commands import run_assay
from tests.support.runs import change_json, copy_run

START, OTHER_START = "2026-02-05T18:52:16Z", "2026-02-05T18:52:15.9Z"
START_GAP_NS = 10**8  # ns: so small that every check stays in its slot


def shift_start(run: Path, instant: str) -> Path:
    """Create a run whose slots count from an instant."""
    change_json(run / "genesis-shelley.json", lambda document: document.update(systemStart=instant))
    return run


def ingest_run(run: Path, cache: Path) -> Path:
    """Return the folder that `assay ingest` prints for a run."""
    result = run_assay("ingest", run, "--cache", cache)
    assert result.status == 0, result.err
    return Path(result.out.strip())


def read_start(folder: Path) -> int:
    """Return the start of slots in ns, from a folder's constants."""
    ((start,),) = duckdb.read_parquet(str(folder / "constants.parquet")).project("system_start").fetchall()
    return int(start)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Create a small run that a test may change."""
    return shift_start(copy_run("tiny/plain", tmp_path / "run"), START)


def test_runs_of_same_logs_export_their_own_constants(run: Path, tmp_path: Path) -> None:
    first = ingest_run(run, tmp_path / "cache")
    second = ingest_run(shift_start(run, OTHER_START), tmp_path / "cache")
    assert first != second
    assert read_start(first) - read_start(second) == START_GAP_NS
    assert ingest_run(shift_start(run, START), tmp_path / "cache") == first


def test_concurrent_exports_of_two_runs_keep_their_constants(run: Path, tmp_path: Path) -> None:
    other = shift_start(copy_run("tiny/plain", tmp_path / "other"), OTHER_START)
    result = run_assay("ingest", run, other, "--cache", tmp_path / "cache")
    assert result.status == 0, result.err
    assert [line.split(",")[0] for line in result.err.splitlines()] == ["run run", "run other"]
    first, second = (read_start(Path(line)) for line in result.out.splitlines())
    assert first - second == START_GAP_NS


def test_sql_over_exported_folder_equals_query(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = run_assay("sql", "cdfForgerStart").out
    for instant in (START, OTHER_START, START):
        folder = ingest_run(shift_start(run, instant), tmp_path / "cache")
        monkeypatch.chdir(folder)
        mean = duckdb.execute(text).fetchall()[0][1]
        answer = run_assay("query", "cdfForgerStart", "--run", run, "--cache", tmp_path / "cache", "--format", "json")
        (average,) = (row["average"] for row in answer.parse_json())
        assert mean / 1e9 == average


def test_exported_events_share_disk_space_with_cache(run: Path, tmp_path: Path) -> None:
    folders = [ingest_run(shift_start(run, instant), tmp_path / "cache") for instant in (START, OTHER_START)]
    files = [{path.relative_to(folder): path for path in folder.rglob("*.parquet")} for folder in folders]
    assert set(files[0]) == set(files[1])
    other = {str(name) for name in files[0] if not files[0][name].samefile(files[1][name])}
    assert other == {"constants.parquet"}


def test_exported_folder_counts_in_cache_size_and_is_pruned(run: Path, tmp_path: Path) -> None:
    folder = ingest_run(run, tmp_path / "cache")
    shutil.rmtree(tmp_path / "cache" / "ingest")
    shutil.rmtree(tmp_path / "cache" / "batches")
    result = run_assay("cache", "--cache", tmp_path / "cache", "--format", "csv")
    assert result.out.splitlines()[1].startswith("logs,1,")
    assert run_assay("cache", "prune", "--all", "--cache", tmp_path / "cache").status == 0
    assert not folder.exists()


def test_exported_folder_survives_concurrent_exports(run: Path, tmp_path: Path) -> None:
    events = next((tmp_path / "cache" / "ingest").glob("*/*"), None)
    assert events is None
    ingest_run(run, tmp_path / "cache")
    (events,) = (tmp_path / "cache" / "ingest").glob("*/*")
    store = Store(tmp_path / "cache")
    linked_runs = []
    barrier = threading.Barrier(8)

    def link_run() -> None:
        barrier.wait()
        folder = export_run.link_run(store, events, {"named": 1})
        linked_runs.append((folder, (folder / "constants.parquet").stat().st_ino))

    threads = [threading.Thread(target=link_run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(linked_runs) == 8
    assert len(set(linked_runs)) == 1


def test_constants_of_earlier_editions_are_not_exported(run: Path, tmp_path: Path) -> None:
    ingest_run(run, tmp_path / "cache")
    (events,) = (tmp_path / "cache" / "ingest").glob("*/*")
    for name in ("constants.parquet", "constants-0123456789abcdef.parquet"):
        (events / name).write_bytes(b"of another run")
    folder = ingest_run(shift_start(run, OTHER_START), tmp_path / "cache")
    assert [path.name for path in folder.glob("constants*")] == ["constants.parquet"]
    assert read_start(folder) > 0
