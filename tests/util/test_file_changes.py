"""Test marks of files, and waiting for their change."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from assay.util.file_changes import ChangeWaiter, stamp_files

LONG = 60.0  # seconds: no test waits for it


def test_marks_cover_named_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "specs" / "a").mkdir(parents=True)
    (tmp_path / "specs" / "a" / "x.dhall").write_text("12", "utf-8")
    (tmp_path / "away" / "b").mkdir(parents=True)
    (tmp_path / "away" / "b" / "y").write_text("3", "utf-8")
    (tmp_path / "specs" / "link").symlink_to(tmp_path / "away" / "b" / "y")
    (tmp_path / "specs" / "a" / "round").symlink_to(tmp_path / "specs")
    (tmp_path / "specs" / "other").symlink_to(tmp_path / "away")
    (tmp_path / "specs" / "a" / "passed").write_text("", "utf-8")
    (tmp_path / "specs" / "nowhere").symlink_to(tmp_path / "none")
    os.mkfifo(tmp_path / "specs" / "pipe")
    (tmp_path / "linked").symlink_to(tmp_path / "away")
    places = [tmp_path / name for name in ("specs", "linked", "away/b/y", "none")]
    sizes = {
        name.removeprefix(str(tmp_path)): size
        for name, (size, *_) in stamp_files(places, lambda name: name == "passed").items()
    }
    of_specs = {"/specs/a/x.dhall": 2, "/specs/link": 1, "/specs/other/b/y": 1}
    assert sizes == {**of_specs, "/linked/b/y": 1, "/away/b/y": 1}


@pytest.mark.parametrize("place", [".", "file"])
def test_change_ends_the_wait_at_once(tmp_path: Path, place: str) -> None:
    file = tmp_path / "file"
    file.write_text("1", "utf-8")
    thread = threading.Thread(target=ChangeWaiter(LONG).wait, args=[[tmp_path / place]], daemon=True)
    thread.start()
    until = time.monotonic() + LONG / 2
    while thread.is_alive() and time.monotonic() < until:
        file.write_text("2", "utf-8")
        thread.join(0.05)
    assert not thread.is_alive()


def test_appearing_and_deleted_paths_time_out(tmp_path: Path) -> None:
    waiter, place = ChangeWaiter(0.01), tmp_path / "run"
    start = time.monotonic()
    waiter.wait([place])
    place.mkdir()
    waiter.wait([place])
    place.rmdir()
    waiter.wait([place])
    waiter.wait([])
    assert 0.03 <= time.monotonic() - start < LONG
