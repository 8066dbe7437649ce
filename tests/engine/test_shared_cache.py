"""Several commands share a cache: no entry that one may be reading disappears."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assay.app.session.outputs import replace_folder
from assay.app.session.session import open_session
from assay.engine.result_cache import Store
from assay.util import atomic
from assay.util.diagnostics import AssayError
from assay.util.scratch import clean_up
from tests.support.commands import build_environment, run_assay
from tests.support.outcomes import read_contents


def fill_entry(store: Store, text: str, *, replaces_sealed: bool = False) -> int:
    """Fill an entry with a text while another thread fills it with `first`; return the inode of the other's folder."""
    place = store.get_path("rendered", "key")
    with store.fill_entry("rendered", "key", replaces_sealed=replaces_sealed) as folder:
        (folder / "text").write_text(text, encoding="utf-8")
        with store.fill_entry("rendered", "key") as other_folder:
            (other_folder / "text").write_text("first", encoding="utf-8")
        return place.stat().st_ino


def test_entry_that_is_filled_twice_stays(tmp_path: Path) -> None:
    """Regression: the second of two builds replaced the folder from which the first was copying its report."""
    store = Store(tmp_path / "cache")
    inode = fill_entry(store, "second")
    place = store.get_path("rendered", "key")
    assert (place.stat().st_ino, (place / "text").read_text("utf-8")) == (inode, "first")
    assert not [path for path in store.scratch.iterdir() if list(path.iterdir())]


def test_entry_with_other_content_is_replaced_on_request(tmp_path: Path) -> None:
    store = Store(tmp_path / "cache")
    fill_entry(store, "second", replaces_sealed=True)
    assert (store.get_path("rendered", "key") / "text").read_text("utf-8") == "second"


def test_damaged_entry_is_replaced(tmp_path: Path) -> None:
    store = Store(tmp_path / "cache")
    fill_entry(store, "first")
    place = store.get_path("rendered", "key")
    (place / "text").write_text("fir", encoding="utf-8")
    with store.fill_entry("rendered", "key") as folder:
        (folder / "text").write_text("second", encoding="utf-8")
    assert (place / "text").read_text("utf-8") == "second"
    assert store.has("rendered", "key")


def test_build_ends_when_its_entry_disappears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the file system has no locks, pruning may remove a rendered report while a build copies it."""
    assert run_assay("init", tmp_path / "place").status == 0
    command = [
        "build",
        "service/comparison",
        "--run",
        "runs/1.0",
        "--run",
        "runs/1.1",
        "--cache",
        "../cache",
        "--to=md",
    ]
    copy_file, cache, lost = shutil.copyfile, tmp_path / "cache", list[str]()

    def lose_and_copy(source: Path, target: Path, **options: bool) -> object:
        place = Path(source).absolute().parent
        if place.parent.name == "rendered" and not lost:
            lost.append(place.name)
            atomic.discard(cache, place)
        return copy_file(source, target, **options)

    monkeypatch.setattr(shutil, "copyfile", lose_and_copy)
    result = run_assay(*command, "-o", "out", cwd=tmp_path / "place")
    assert (result.status, len(lost)) == (0, 1), result.err
    monkeypatch.undo()
    assert run_assay(*command, "-o", "expected", cwd=tmp_path / "place").status == 0
    assert read_contents(tmp_path / "place" / "out") == read_contents(tmp_path / "place" / "expected")


def test_prune_waits_for_command_that_only_reads(tmp_path: Path) -> None:
    assert run_assay("init", tmp_path / "place").status == 0
    cache = tmp_path / "cache"
    cache.mkdir()
    session = open_session(tmp_path / "place", cache)
    command = [sys.executable, "-m", "assay", "cache", "prune", "--all", "--cache", str(cache)]
    process = subprocess.Popen(
        command, env=build_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr
    assert process.stderr.readline() == f"waiting for other assay commands that work with {cache}\n"
    session.close()
    clean_up(cache)
    assert process.communicate() == ("removed 0 entries, 0 B\n", "")


def test_unreadable_source_is_no_error_of_the_output_folder(tmp_path: Path) -> None:
    """Regression: the message named the output folder."""
    (tmp_path / "cache").mkdir()
    missing = tmp_path / "cache" / "page.md"
    missing.symlink_to("gone")
    with pytest.raises(AssayError) as error_info, replace_folder(tmp_path / "out") as new_folder:
        shutil.copytree(missing.parent, new_folder, dirs_exist_ok=True, copy_function=shutil.copyfile)
    assert str(error_info.value) == (
        f"error[file]: a file cannot be read or written: No such file or directory: {missing}"
    )
