"""Test hashing of files in the background, before the command knows which files it reads."""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path

import pytest

from assay.app.session import hashing as run_hashing
from assay.app.session import ingester
from assay.app.session.hashing import RunHasher
from assay.ingest import file_snapshots
from assay.ingest import hashing as hashing_ahead
from assay.ingest.discovery import RunFiles, find_run
from assay.ingest.file_snapshots import FileSnapshot, read_stamp
from assay.ingest.hashing import MINIMUM_SIZE, BackgroundHasher, hash_files
from assay.ingest.pipeline import read_batches
from assay.lang.model.package import Source
from assay.util.diagnostics import AssayError
from tests.ingest.test_increments import create_plain_run, read_rows
from tests.support.commands import run_assay
from tests.support.ingesting import SOURCE

LONG_AGO = time.time() - 100
Patch = pytest.MonkeyPatch


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Create a run of two hosts with logs large enough to hash in advance, and a file that is no log."""
    folder = tmp_path / "run"
    for host in ("m-1", "m-2"):
        (folder / host).mkdir(parents=True)
        (folder / host / "out").write_bytes(f"{host}\n".encode() * (MINIMUM_SIZE // 2))
        os.utime(folder / host / "out", (LONG_AGO, LONG_AGO))
    (folder / "m-1" / "core").write_bytes(b"\0" * (2 * MINIMUM_SIZE))
    (folder / "meta.json").write_text("{}")
    return folder


@pytest.fixture
def hashed_names(monkeypatch: Patch) -> list[str]:
    """Record the files that are hashed, in order."""
    names: list[str] = []
    digest_file = file_snapshots._compute_digest

    def record_name(path: Path, *arguments: object) -> str:
        names.append(f"{path.parent.name}/{path.name}")
        return digest_file(path, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(file_snapshots, "_compute_digest", record_name)
    return names


def finish_hashing(*folders: Path, memo: Path) -> BackgroundHasher:
    """Return a hasher after all its hashes are done."""
    hasher = BackgroundHasher(folders, memo)
    hasher.start()
    hasher.join()
    return hasher


def create_file_snapshot(path: Path) -> FileSnapshot:
    """Return a file with its current state."""
    mark = read_stamp(path)
    return FileSnapshot(path, mark, mark.size)


def test_files_of_runs_are_hashed_in_order_of_names(run: Path, hashed_names: list[str]) -> None:
    hasher = finish_hashing(run, memo=run / "none.json")
    assert hashed_names == ["m-1/core", "m-1/out", "m-2/out"]
    for host in ("m-1", "m-2"):
        path = run / host / "out"
        hash_or_none = hasher.get_hashed(create_file_snapshot(path))
        assert hash_or_none
        assert hash_or_none.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert hasher.get_hashed(create_file_snapshot(run / "meta.json")) is None


def test_known_hash_is_not_computed_again(run: Path, tmp_path: Path, hashed_names: list[str]) -> None:
    files, hashes = hash_files(find_run(SOURCE, run), tmp_path / "memo.json")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_snapshots, "SETTLED", 0)
        hash_files(files, tmp_path / "memo.json")
    hashed_names.clear()
    finish_hashing(run, memo=tmp_path / "memo.json")
    assert hashed_names == ["m-1/core"]
    assert len(hashes) == 2


def test_hash_of_changed_file_is_not_used(run: Path) -> None:
    hasher = finish_hashing(run, memo=run / "none.json")
    (run / "m-1" / "out").write_bytes(b"other")
    assert hasher.get_hashed(create_file_snapshot(run / "m-1" / "out")) is None
    assert hasher.get_hashed(create_file_snapshot(run / "m-2" / "out"))


def test_stop_does_not_wait_for_scan_of_large_folder(run: Path, monkeypatch: Patch) -> None:
    examined_paths: list[Path] = []

    def check_worth(path: Path) -> None:
        examined_paths.append(path)
        if len(examined_paths) == 2:
            hasher.stop()

    monkeypatch.setattr(hashing_ahead, "_snapshot_large_file", check_worth)
    hasher = BackgroundHasher([run], run / "none.json")
    hasher.start()
    hasher.join()
    assert len(examined_paths) == 2


@pytest.mark.parametrize("is_needed", [True, False])
def test_stop_abandons_current_file_unless_needed(is_needed: bool, run: Path, monkeypatch: Patch) -> None:
    hasher = BackgroundHasher([run], run / "none.json")
    first = run / "m-1" / "core"
    hashed_paths: list[Path] = []

    def hash_and_stop(path: Path, mark: file_snapshots.FileStamp, has_ended: Callable[[], bool]) -> FileSnapshot:
        hashed_paths.append(path)
        hasher.stop([first] if is_needed else [run / "m-2" / "out"])
        return file_snapshots.create_hashed_snapshot(path, mark, has_ended)

    monkeypatch.setattr(hashing_ahead, "create_hashed_snapshot", hash_and_stop)
    hasher.start()
    hasher.join()
    assert hashed_paths == [first]
    assert (hasher.get_hashed(create_file_snapshot(first)) is not None) == is_needed


def test_unreadable_file_is_left_to_its_reader(run: Path, monkeypatch: Patch) -> None:
    def refuse_file(path: Path, *_: object) -> FileSnapshot:
        raise file_snapshots.build_changed_error(path, "nothing")

    monkeypatch.setattr(hashing_ahead, "create_hashed_snapshot", refuse_file)
    hasher = finish_hashing(run, run / "none", memo=run / "none.json")
    assert hasher.get_hashed(create_file_snapshot(run / "m-1" / "out")) is None


@pytest.mark.parametrize("first", [True, False], ids=["ahead", "not ahead"])
@pytest.mark.parametrize("is_started_at_once", [True, False], ids=["begun", "when asked"])
def test_hashes_are_independent_of_start_time(
    first: bool, is_started_at_once: bool, run: Path, tmp_path: Path, hashed_names: list[str]
) -> None:
    expected = hash_files(find_run(SOURCE, run), tmp_path / "other.json")
    hashed_names.clear()
    hashes = RunHasher(tmp_path / "memo.json", finish_hashing(run, memo=tmp_path / "memo.json") if first else None)
    if is_started_at_once:
        hashes.begin([("r", run)], [SOURCE], ())
    pending = hashes.get_pending("r", run, SOURCE, ())
    assert (pending.files, pending.join()) == (find_run(SOURCE, run), expected)
    assert sorted(set(hashed_names) - {"m-1/core"}) == ["m-1/out", "m-2/out"]
    assert len(hashed_names) == 2 + first
    hashes.close()


def test_started_hash_is_requested_once(run: Path, tmp_path: Path) -> None:
    """A second request, such as a build after an edit, reads the files again."""
    hashes = RunHasher(tmp_path / "memo.json")
    hashes.begin([("r", run)], [SOURCE], ())
    hashes.get_pending("r", run, SOURCE, ()).join()
    (run / "m-1" / "out").write_bytes(b"other\n")
    pending = hashes.get_pending("r", run, SOURCE, ())
    assert pending.files == find_run(SOURCE, run)
    assert pending.join()[1][0].sha256 == hashlib.sha256(b"other\n").hexdigest()
    hashes.begin([("r", run)], [SOURCE], ())
    (run / "m-1" / "out").write_bytes(b"another\n")
    hashes.begin([("r", run)], [SOURCE], ())
    assert hashes.get_pending("r", run, SOURCE, ()).files == find_run(SOURCE, run)
    hashes.close()


def test_hashing_does_not_start_for_several_sources(run: Path, tmp_path: Path, hashed_names: list[str]) -> None:
    hashes = RunHasher(tmp_path / "memo.json")
    hashes.begin([("r", run)], [SOURCE, SOURCE], ())
    hashes.close()
    assert hashed_names == []


def test_current_file_is_finished_for_any_run_and_source(
    run: Path, tmp_path: Path, monkeypatch: Patch, hashed_names: list[str]
) -> None:
    """With several sources, the needed files are known only after all runs are listed."""
    (run / "m-1" / "core").unlink()
    renamed_run = run.rename(tmp_path / "b")
    shutil.copytree(renamed_run, tmp_path / "a")
    has_started, may_continue = threading.Event(), threading.Event()

    def hash_when_released(path: Path, mark: file_snapshots.FileStamp, has_ended: Callable[[], bool]) -> FileSnapshot:
        has_started.set()
        assert may_continue.wait(60)
        return file_snapshots.create_hashed_snapshot(path, mark, has_ended)

    monkeypatch.setattr(hashing_ahead, "create_hashed_snapshot", hash_when_released)
    first = BackgroundHasher([renamed_run, tmp_path / "a"], tmp_path / "memo.json")
    first.start()
    assert has_started.wait(60)
    hashes = RunHasher(tmp_path / "memo.json", first)
    source = replace(SOURCE, name="another")
    hashes.begin([], [SOURCE, source], ())
    pending_hashes = [hashes.get_pending(name, tmp_path / name, SOURCE, ()) for name in ("a", "b")]
    threading.Timer(0.2, may_continue.set).start()
    for pending in pending_hashes:
        pending.join()
    assert sorted(hashed_names) == ["m-1/out", "m-1/out", "m-2/out", "m-2/out"]
    hashes.close()


def test_error_of_run_is_raised_on_request(run: Path, tmp_path: Path) -> None:
    hashes = RunHasher(tmp_path / "memo.json")
    hashes.begin([("none", tmp_path / "none"), ("r", run)], [SOURCE], ())
    with pytest.raises(AssayError, match="does not exist"):
        hashes.get_pending("none", tmp_path / "none", SOURCE, ())
    assert hashes.get_pending("r", run, SOURCE, ()).join()
    hashes.close()


def test_close_does_not_wait_for_a_hash(run: Path, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(file_snapshots, "PIECE", 1)  # slow enough to be still running
    (run / "m-1" / "core").unlink()
    hashes = RunHasher(tmp_path / "memo.json")
    hashes.begin([("r", run)], [SOURCE], ())
    pending = hashes.get_pending("r", run, SOURCE, ())
    start = time.monotonic()
    hashes.close()
    with pytest.raises(CancelledError):
        pending.join()
    assert time.monotonic() - start < 5
    assert not (tmp_path / "memo.json").exists()


def test_refused_command_leaves_no_hash_in_progress(tmp_path: Path) -> None:
    """It ends as if no hash had started."""
    big = tmp_path / "run" / "node-0"
    big.mkdir(parents=True)
    with (big / "stdout").open("wb") as stream:
        stream.truncate(2**40)  # which takes minutes to hash
    start = time.monotonic()
    result = run_assay(
        "build", "cardano/none", "--run", tmp_path / "run", "-o", tmp_path / "out", "--cache", tmp_path / "c"
    )
    assert result.status == 2
    assert "there is no report `cardano/none`" in result.err
    result = run_assay("ingest", tmp_path / "run", "--system", "none", "--cache", tmp_path / "c")
    assert result.status == 2
    assert time.monotonic() - start < 30


def test_commands_start_with_folders_of_their_runs(tmp_path: Path, monkeypatch: Patch) -> None:
    calls: list[tuple[list[Path], Path]] = []

    class RecordingHasher(BackgroundHasher):
        def __init__(self, folders: Sequence[Path], memo: Path) -> None:
            calls.append((list(folders), memo))
            super().__init__(folders, memo)

    monkeypatch.setattr(hashing_ahead, "BackgroundHasher", RecordingHasher)
    run, cache = create_plain_run("tiny/plain", tmp_path / "a=b"), tmp_path / "cache"
    assert run_assay("ingest", run, "--system", "cardano", "--cache", cache).status == 0
    assert calls == [([run], cache / "files.json")]
    runs = ("--run", f"x={run}", "--run", tmp_path / "none")
    assert run_assay("build", "cardano/comparison", *runs, "-o", tmp_path / "out", "--cache", cache).status == 2
    assert calls[1:] == [([run], cache / "files.json")]
    assert run_assay("ingest", tmp_path / "none", "--cache", cache).status == 2
    assert len(calls) == 2


def test_portion_is_read_before_files_beyond_the_next_are_hashed(
    run: Path, tmp_path: Path, monkeypatch: Patch, hashed_names: list[str]
) -> None:
    shutil.copytree(run / "m-2", run / "m-3")
    expected = hash_files(find_run(SOURCE, run), tmp_path / "other.json")
    hashed_names.clear()
    monkeypatch.setattr(run_hashing, "LARGE", 0)
    monkeypatch.setattr(run_hashing, "PORTION", 1)
    hasher = RunHasher(tmp_path / "memo.json")
    hasher.begin([("r", run)], [SOURCE], ())
    pending = hasher.get_pending("r", run, SOURCE, ())
    portions = pending.iter_portions()
    assert [host.host for host in next(portions).hosts] == ["m-1"]
    assert "m-3/out" not in hashed_names
    assert [host.host for portion in portions for host in portion.hosts] == ["m-2", "m-3"]
    assert pending.join() == expected
    assert hashed_names == ["m-1/out", "m-2/out", "m-3/out"]
    hasher.close()


@pytest.mark.parametrize("is_damaged", [False, True])
def test_run_in_portions_gives_the_same_rows_and_errors(tmp_path: Path, monkeypatch: Patch, is_damaged: bool) -> None:
    run = create_plain_run("tiny/plain", tmp_path / "run")
    if is_damaged:
        (run / "node-10" / "node-0.json").write_bytes(b"no record\n" * 1000)
    read_hosts: list[str] = []

    def record_hosts(
        source: Source, events: object, fields: object, files: RunFiles, *rest: object, **options: object
    ) -> None:
        read_hosts.extend(host.host for host in files.hosts)
        read_batches(source, events, fields, files, *rest, **options)  # type: ignore[arg-type]

    expected = ingest_run(run, tmp_path / "whole")
    monkeypatch.setattr(run_hashing, "LARGE", 0)
    monkeypatch.setattr(run_hashing, "PORTION", 1)
    monkeypatch.setattr(file_snapshots, "SETTLED", 0)  # else the second command reads files again that are too new
    monkeypatch.setattr(ingester, "read_batches", record_hosts)
    assert ingest_run(run, tmp_path / "portions") == expected
    assert sorted(read_hosts) == sorted(item.name for item in run.glob("node-*"))


def ingest_run(run: Path, cache: Path) -> object:
    """Return all events of a run, or the error of reading it without the place of the cache."""
    result = run_assay("ingest", run, "--system", "cardano", "--cache", cache)
    return result.err.replace(str(cache), "CACHE") if result.status else read_rows(run, cache)
