"""Files that are hashed before it is known which of them are read, or while the rest of a command is loaded."""

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

from assay.app.hashing import Hashes
from assay.ingest import fingerprint, hashing_ahead
from assay.ingest.discovery import find_run
from assay.ingest.fingerprint import FileSnapshot, mark_of
from assay.ingest.hashing import file_hashes
from assay.ingest.hashing_ahead import WORTH, BackgroundHasher
from assay.util.diagnostics import AssayError
from tests.support.commands import assay
from tests.support.ingesting import SOURCE
from tests.ingest.test_increments import plain_run

LONG_AGO = time.time() - 100
Patch = pytest.MonkeyPatch


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of two hosts, whose logs are worth to be hashed ahead, and a file that is no log."""
    folder = tmp_path / "run"
    for host in ("m-1", "m-2"):
        (folder / host).mkdir(parents=True)
        (folder / host / "out").write_bytes(f"{host}\n".encode() * (WORTH // 2))
        os.utime(folder / host / "out", (LONG_AGO, LONG_AGO))
    (folder / "m-1" / "core").write_bytes(b"\0" * (2 * WORTH))
    (folder / "meta.json").write_text("{}")
    return folder


@pytest.fixture
def asked(monkeypatch: Patch) -> list[str]:
    """The files that are hashed, in order, wherever."""
    found: list[str] = []
    real = fingerprint._digest

    def watched(path: Path, *rest: object) -> str:
        found.append(f"{path.parent.name}/{path.name}")
        return real(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(fingerprint, "_digest", watched)
    return found


def begun(*folders: Path, memo: Path) -> BackgroundHasher:
    """What is done when all is hashed."""
    found = BackgroundHasher(folders, memo)
    found.start()
    found.join()
    return found


def held(path: Path) -> FileSnapshot:
    """A file as it is found now."""
    mark = mark_of(path)
    return FileSnapshot(path, mark, mark.size)


def test_the_files_of_runs_are_hashed_in_the_order_of_their_names(run: Path, asked: list[str]) -> None:
    found = begun(run, memo=run / "none.json")
    assert asked == ["m-1/core", "m-1/out", "m-2/out"]
    for host in ("m-1", "m-2"):
        path = run / host / "out"
        told = found.reuse(held(path))
        assert told
        assert told.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found.reuse(held(run / "meta.json")) is None


def test_what_is_remembered_is_not_hashed(run: Path, tmp_path: Path, asked: list[str]) -> None:
    files, told = file_hashes(find_run(SOURCE, run), tmp_path / "memo.json")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprint, "SETTLED", 0)
        file_hashes(files, tmp_path / "memo.json")
    asked.clear()
    begun(run, memo=tmp_path / "memo.json")
    assert asked == ["m-1/core"]
    assert len(told) == 2


def test_a_file_that_is_another_by_now_is_not_what_was_hashed(run: Path) -> None:
    found = begun(run, memo=run / "none.json")
    (run / "m-1" / "out").write_bytes(b"other")
    assert found.reuse(held(run / "m-1" / "out")) is None
    assert found.reuse(held(run / "m-2" / "out"))


def test_who_ends_it_waits_for_no_look_through_a_large_folder(run: Path, monkeypatch: Patch) -> None:
    looked: list[Path] = []

    def worth(path: Path) -> None:
        looked.append(path)
        if len(looked) == 2:
            told.end()

    monkeypatch.setattr(hashing_ahead, "_worth", worth)
    told = BackgroundHasher([run], run / "none.json")
    told.start()
    told.join()
    assert len(looked) == 2


@pytest.mark.parametrize("needed", [True, False])
def test_the_file_at_hand_is_given_up_unless_it_is_needed(needed: bool, run: Path, monkeypatch: Patch) -> None:
    told = BackgroundHasher([run], run / "none.json")
    first = run / "m-1" / "core"
    seen: list[Path] = []

    def hashed(path: Path, mark: fingerprint.FileStamp, ended: Callable[[], bool]) -> FileSnapshot:
        seen.append(path)
        told.end([first] if needed else [run / "m-2" / "out"])
        return fingerprint.hashed(path, mark, ended)

    monkeypatch.setattr(hashing_ahead, "hashed", hashed)
    told.start()
    told.join()
    assert seen == [first]
    assert (told.reuse(held(first)) is not None) == needed


def test_what_cannot_be_read_is_left_to_who_reads_it(run: Path, monkeypatch: Patch) -> None:
    def refused(path: Path, *_: object) -> FileSnapshot:
        raise fingerprint.changed(path, "nothing")

    monkeypatch.setattr(hashing_ahead, "hashed", refused)
    found = begun(run, run / "none", memo=run / "none.json")
    assert found.reuse(held(run / "m-1" / "out")) is None


@pytest.mark.parametrize("first", [True, False], ids=["ahead", "not ahead"])
@pytest.mark.parametrize("at_once", [True, False], ids=["begun", "when asked"])
def test_hashes_are_the_same_however_early_they_are_begun(
    first: bool, at_once: bool, run: Path, tmp_path: Path, asked: list[str]
) -> None:
    expected = file_hashes(find_run(SOURCE, run), tmp_path / "other.json")
    asked.clear()
    found = Hashes(tmp_path / "memo.json", begun(run, memo=tmp_path / "memo.json") if first else None)
    if at_once:
        found.begin([("r", run)], [SOURCE], ())
    files, hashing = found.of("r", run, SOURCE, ())
    assert (files, hashing()) == (find_run(SOURCE, run), expected)
    assert sorted(set(asked) - {"m-1/core"}) == ["m-1/out", "m-2/out"]
    assert len(asked) == 2 + first
    found.close()


def test_what_was_begun_is_asked_for_once(run: Path, tmp_path: Path) -> None:
    """Who asks again, such as a build after an edit, wants the files as they are then."""
    found = Hashes(tmp_path / "memo.json")
    found.begin([("r", run)], [SOURCE], ())
    found.of("r", run, SOURCE, ())[1]()
    (run / "m-1" / "out").write_bytes(b"other\n")
    files, hashing = found.of("r", run, SOURCE, ())
    assert files == find_run(SOURCE, run)
    assert hashing()[1][0].sha256 == hashlib.sha256(b"other\n").hexdigest()
    found.begin([("r", run)], [SOURCE], ())
    (run / "m-1" / "out").write_bytes(b"another\n")
    found.begin([("r", run)], [SOURCE], ())
    assert found.of("r", run, SOURCE, ())[0] == find_run(SOURCE, run)
    found.close()


def test_of_several_sources_none_is_begun_with(run: Path, tmp_path: Path, asked: list[str]) -> None:
    found = Hashes(tmp_path / "memo.json")
    found.begin([("r", run)], [SOURCE, SOURCE], ())
    found.close()
    assert asked == []


def test_the_file_at_hand_is_kept_whichever_run_and_source_needs_it(
    run: Path, tmp_path: Path, monkeypatch: Patch, asked: list[str]
) -> None:
    """Of several sources it is known which are needed when the files of all runs have been found."""
    (run / "m-1" / "core").unlink()
    other = run.rename(tmp_path / "b")
    shutil.copytree(other, tmp_path / "a")
    at_work, go_on = threading.Event(), threading.Event()

    def hashed(path: Path, mark: fingerprint.FileStamp, ended: Callable[[], bool]) -> FileSnapshot:
        at_work.set()
        assert go_on.wait(60)
        return fingerprint.hashed(path, mark, ended)

    monkeypatch.setattr(hashing_ahead, "hashed", hashed)
    first = BackgroundHasher([other, tmp_path / "a"], tmp_path / "memo.json")
    first.start()
    assert at_work.wait(60)
    found = Hashes(tmp_path / "memo.json", first)
    source = replace(SOURCE, name="another")
    found.begin([], [SOURCE, source], ())
    waiting = [found.of(name, tmp_path / name, SOURCE, ())[1] for name in ("a", "b")]
    threading.Timer(0.2, go_on.set).start()
    for hashing in waiting:
        hashing()
    assert sorted(asked) == ["m-1/out", "m-1/out", "m-2/out", "m-2/out"]
    found.close()


def test_what_is_wrong_with_a_run_is_told_when_it_is_asked_for(run: Path, tmp_path: Path) -> None:
    found = Hashes(tmp_path / "memo.json")
    found.begin([("none", tmp_path / "none"), ("r", run)], [SOURCE], ())
    with pytest.raises(AssayError, match="does not exist"):
        found.of("none", tmp_path / "none", SOURCE, ())
    assert found.of("r", run, SOURCE, ())[1]()
    found.close()


def test_who_closes_waits_for_no_hash(run: Path, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(fingerprint, "PIECE", 1)  # so slow that it would not end
    (run / "m-1" / "core").unlink()
    found = Hashes(tmp_path / "memo.json")
    found.begin([("r", run)], [SOURCE], ())
    _, hashing = found.of("r", run, SOURCE, ())
    began = time.monotonic()
    found.close()
    with pytest.raises(CancelledError):
        hashing()
    assert time.monotonic() - began < 5
    assert not (tmp_path / "memo.json").exists()


def test_a_command_that_is_refused_leaves_no_file_half_hashed(tmp_path: Path) -> None:
    """It ends as if nothing had been begun."""
    big = tmp_path / "run" / "node-0"
    big.mkdir(parents=True)
    with (big / "stdout").open("wb") as stream:
        stream.truncate(2**40)  # which takes minutes to hash
    began = time.monotonic()
    done = assay("build", "cardano/none", "--run", tmp_path / "run", "-o", tmp_path / "out", "--cache", tmp_path / "c")
    assert done.status == 2
    assert "there is no report `cardano/none`" in done.err
    done = assay("ingest", tmp_path / "run", "--system", "none", "--cache", tmp_path / "c")
    assert done.status == 2
    assert time.monotonic() - began < 30


def test_commands_begin_with_the_folders_of_their_runs(tmp_path: Path, monkeypatch: Patch) -> None:
    asked: list[tuple[list[Path], Path]] = []

    class Watched(BackgroundHasher):
        def __init__(self, folders: Sequence[Path], memo: Path) -> None:
            asked.append((list(folders), memo))
            super().__init__(folders, memo)

    monkeypatch.setattr(hashing_ahead, "BackgroundHasher", Watched)
    run, cache = plain_run("tiny/plain", tmp_path / "a=b"), tmp_path / "cache"
    assert assay("ingest", run, "--system", "cardano", "--cache", cache).status == 0
    assert asked == [([run], cache / "files.json")]
    runs = ("--run", f"x={run}", "--run", tmp_path / "none")
    assert assay("build", "cardano/comparison", *runs, "-o", tmp_path / "out", "--cache", cache).status == 2
    assert asked[1:] == [([run], cache / "files.json")]
    assert assay("ingest", tmp_path / "none", "--cache", cache).status == 2
    assert len(asked) == 2
