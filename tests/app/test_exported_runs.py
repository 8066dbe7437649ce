"""Test that `assay ingest` and `assay sql --run` export events and constants of the named run."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import duckdb
import pytest

from assay.app import export_run
from assay.engine.result_cache import Store
from tests.support.commands import assay
from tests.support.runs import changed_json, copied

START, LATER = "2026-02-05T18:52:16Z", "2026-02-05T18:52:15.9Z"
APART = 10**8  # ns: small enough that every check stays in its slot


def shift_start(run: Path, instant: str) -> Path:
    """Create a run whose slots count from an instant."""
    changed_json(run / "genesis-shelley.json", lambda document: document.update(systemStart=instant))
    return run


def ingest_run(run: Path, cache: Path) -> Path:
    """Return the folder that `assay ingest` prints for a run."""
    done = assay("ingest", run, "--cache", cache)
    assert done.status == 0, done.err
    return Path(done.out.strip())


def read_start(folder: Path) -> int:
    """Return the start of slots in ns, from a folder's constants."""
    ((start,),) = duckdb.read_parquet(str(folder / "constants.parquet")).project("system_start").fetchall()
    return int(start)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Create a small run that a test may change."""
    return shift_start(copied("tiny/plain", tmp_path / "run"), START)


def test_runs_of_same_logs_export_their_own_constants(run: Path, tmp_path: Path) -> None:
    first = ingest_run(run, tmp_path / "cache")
    second = ingest_run(shift_start(run, LATER), tmp_path / "cache")
    assert first != second
    assert read_start(first) - read_start(second) == APART
    assert ingest_run(shift_start(run, START), tmp_path / "cache") == first


def test_concurrent_exports_of_two_runs_keep_their_constants(run: Path, tmp_path: Path) -> None:
    other = shift_start(copied("tiny/plain", tmp_path / "other"), LATER)
    done = assay("ingest", run, other, "--cache", tmp_path / "cache")
    assert done.status == 0, done.err
    assert [line.split(",")[0] for line in done.err.splitlines()] == ["run run", "run other"]
    first, second = (read_start(Path(line)) for line in done.out.splitlines())
    assert first - second == APART


def test_sql_over_exported_folder_equals_query(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = assay("sql", "cdfForgerStart").out
    for instant in (START, LATER, START):
        folder = ingest_run(shift_start(run, instant), tmp_path / "cache")
        monkeypatch.chdir(folder)
        mean = duckdb.execute(text).fetchall()[0][1]
        answer = assay("query", "cdfForgerStart", "--run", run, "--cache", tmp_path / "cache", "--format", "json")
        (average,) = (row["average"] for row in answer.json())
        assert mean / 1e9 == average


def test_exported_events_share_disk_space_with_cache(run: Path, tmp_path: Path) -> None:
    folders = [ingest_run(shift_start(run, instant), tmp_path / "cache") for instant in (START, LATER)]
    files = [{path.relative_to(folder): path for path in folder.rglob("*.parquet")} for folder in folders]
    assert set(files[0]) == set(files[1])
    other = {str(name) for name in files[0] if not files[0][name].samefile(files[1][name])}
    assert other == {"constants.parquet"}


def test_exported_folder_counts_in_cache_size_and_is_pruned(run: Path, tmp_path: Path) -> None:
    folder = ingest_run(run, tmp_path / "cache")
    shutil.rmtree(tmp_path / "cache" / "ingest")
    shutil.rmtree(tmp_path / "cache" / "batches")
    done = assay("cache", "--cache", tmp_path / "cache", "--format", "csv")
    assert done.out.splitlines()[1].startswith("logs,1,")
    assert assay("cache", "prune", "--all", "--cache", tmp_path / "cache").status == 0
    assert not folder.exists()


def test_exported_folder_survives_concurrent_exports(run: Path, tmp_path: Path) -> None:
    events = next((tmp_path / "cache" / "ingest").glob("*/*"), None)
    assert events is None
    ingest_run(run, tmp_path / "cache")
    (events,) = (tmp_path / "cache" / "ingest").glob("*/*")
    store = Store(tmp_path / "cache")
    seen = []
    together = threading.Barrier(8)

    def ask() -> None:
        together.wait()
        folder = export_run.link_run(store, events, {"named": 1})
        seen.append((folder, (folder / "constants.parquet").stat().st_ino))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert len(set(seen)) == 1


def test_constants_of_earlier_editions_are_not_exported(run: Path, tmp_path: Path) -> None:
    ingest_run(run, tmp_path / "cache")
    (events,) = (tmp_path / "cache" / "ingest").glob("*/*")
    for name in ("constants.parquet", "constants-0123456789abcdef.parquet"):
        (events / name).write_bytes(b"of another run")
    folder = ingest_run(shift_start(run, LATER), tmp_path / "cache")
    assert [path.name for path in folder.glob("constants*")] == ["constants.parquet"]
    assert read_start(folder) > 0
