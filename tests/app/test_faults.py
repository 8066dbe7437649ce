"""Test killed commands, concurrent commands and full disks: the next command succeeds as if nothing happened."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assay.app.session.inputs import SETTLED
from assay.app.session.outputs import replace_folder
from assay.util.diagnostics import AssayError
from assay.util.locks import acquire_lock
from assay.util.scratch import get_process_folder
from tests.support.commands import SUMMARY, build_environment, run_assay_process
from tests.support.deep import get_turn, is_deep
from tests.support.laboratory import DATE, ROOT
from tests.support.outcomes import read_contents

KILLS = 50 if is_deep() else 10
SEED = 20261122 + get_turn()  # another commit kills at other times
RUNS = ("--run", "1.0=runs/1.0", "--run", "1.1=runs/1.1")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a workspace with `assay init`."""
    folder = tmp_path_factory.mktemp("faults") / "place"
    result = run_assay_process("init", str(folder))
    assert result.status == 0, result.err
    time.sleep(SETTLED / 1e9)  # otherwise only later builds would be cached
    return folder


def build_command(out: Path, cache: Path) -> list[str]:
    return ["build", "service/comparison", *RUNS, "-o", str(out), "--cache", str(cache), "--date", DATE]


def list_cached_files(cache: Path) -> set[str]:
    """Return the files of a cache without tables: whether a table is cached depends on its run time."""
    return {name for name in read_contents(cache) if not name.startswith("tables/")}


@pytest.fixture(scope="module")
def undisturbed_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the cache folder of an undisturbed build."""
    return tmp_path_factory.mktemp("undisturbed") / "cache"


@pytest.fixture(scope="module")
def undisturbed_results(place: Path, undisturbed_cache: Path) -> tuple[dict[str, bytes], set[str]]:
    """Return the output and the cache files of an undisturbed build."""
    folder = undisturbed_cache.parent
    result = run_assay_process(*build_command(folder / "out", folder / "cache"), cwd=place)
    assert result.status == 0, result.err
    return read_contents(folder / "out"), list_cached_files(folder / "cache")


def count_killed(times: Sequence[float], command: Sequence[str], place: Path, plan: Path) -> int:
    """Return the number of commands that were killed before they ended."""
    plan.write_text(json.dumps({"times": times, "command": command}), encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'compiler'}"}
    program = [sys.executable, "-m", "tests.support.killed", str(plan)]
    result = subprocess.run(program, cwd=place, env=env, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return sum(os.WIFSIGNALED(status) for status in json.loads(result.stdout))


def test_killed_build_leaves_no_partial_files(
    place: Path, undisturbed_results: tuple[dict[str, bytes], set[str]], tmp_path: Path
) -> None:
    chance = random.Random(SEED)
    number = 0
    while number < KILLS:
        out, cache = tmp_path / "out", tmp_path / "cache"
        times = [chance.uniform(0.02, 0.25) * (1 + place_) for place_ in range(5) for _ in range(2)]
        number += count_killed(times, build_command(out, cache), place, tmp_path / "plan.json")
        result = run_assay_process(*build_command(out, cache), cwd=place)
        assert (result.status, result.err) == (0, ""), f"after {times}"
        assert read_contents(out) == undisturbed_results[0], f"after {times}"
        assert list_cached_files(cache) == undisturbed_results[1], f"after {times}"
        shutil.rmtree(out)
        shutil.rmtree(cache)


def test_killed_init_succeeds_when_repeated(place: Path, tmp_path: Path) -> None:
    """Regression: files of the killed command made the folder count as nonempty."""
    started_folder, moved_folder = tmp_path / "begun", tmp_path / "moved"
    for folder in (started_folder, moved_folder):
        (folder / ".assay-of_adead" / "report" / "specs").mkdir(parents=True)
    (moved_folder / "queries").mkdir()
    (moved_folder / ".assay-of_adead" / "complete.json").write_text("[]", encoding="utf-8")
    for folder in (started_folder, moved_folder):
        result = run_assay_process("init", str(folder))
        assert (result.status, result.err) == (0, "")
        assert read_contents(folder) == read_contents(place)


def test_build_killed_during_cleanup_does_not_block_next(tmp_path: Path) -> None:
    """Regression: every later command failed on files that had been moved already."""
    leftover = tmp_path / ".assay-of_adead"
    leftover.mkdir()
    (leftover / "complete.json").write_text("[]", encoding="utf-8")
    with replace_folder(tmp_path) as new_folder:
        (new_folder / "report.md").touch()
        temporary_folders = list(tmp_path.glob(".assay-*"))
    assert temporary_folders == [new_folder.parent]
    assert read_contents(tmp_path) == {"report.md": b""}


def test_concurrent_builds_into_one_folder_and_cache_succeed(
    place: Path, undisturbed_results: tuple[dict[str, bytes], set[str]], tmp_path: Path
) -> None:
    out, cache = tmp_path / "out", tmp_path / "cache"
    with ThreadPoolExecutor(max_workers=2) as pool:
        results = list(pool.map(lambda _: run_assay_process(*build_command(out, cache), cwd=place), range(2)))
    waits = {
        f"waiting for another assay that writes {out}",
        *(f"waiting for another assay that reads {run}" for run in ("1.0", "1.1")),
    }
    for item in results:
        assert item.status == 0
        assert set(item.err.splitlines()) <= waits
    assert read_contents(out) == undisturbed_results[0]
    assert list_cached_files(cache) == undisturbed_results[1]


def test_command_reports_that_it_waits_for_a_folder_lock(
    place: Path, undisturbed_results: tuple[dict[str, bytes], set[str]], undisturbed_cache: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "assay", *build_command(out, undisturbed_cache)]
    env = build_environment()
    with acquire_lock(out):
        process = subprocess.Popen(
            command, cwd=place, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stderr
        assert process.stderr.readline() == f"waiting for another assay that writes {out}\n"
        assert not list(out.iterdir())
    assert SUMMARY.fullmatch(process.communicate()[1])
    assert process.returncode == 0
    assert read_contents(out) == undisturbed_results[0]


def test_scratch_of_living_process_is_not_removed(place: Path, tmp_path: Path) -> None:
    (get_process_folder(tmp_path / "cache") / "mine").touch()
    dead = tmp_path / "cache" / "scratch" / "of_adead"
    dead.mkdir()
    result = run_assay_process("ingest", "runs/1.0", "--cache", str(tmp_path / "cache"), cwd=place)
    assert result.status == 0, result.err
    assert (get_process_folder(tmp_path / "cache") / "mine").exists()
    assert not dead.exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 64 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def grow_disk(disk: Path, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", disk], check=True)


def test_full_output_disk_is_reported_and_outputs_stay(
    place: Path, undisturbed_results: tuple[dict[str, bytes], set[str]], small_disk: Path, tmp_path: Path
) -> None:
    out, cache = small_disk / "out", tmp_path / "cache"
    out.mkdir()
    (out / "provenance.json").write_text("{}", encoding="utf-8")
    (out / "notes.txt").write_text("mine", encoding="utf-8")
    result = run_assay_process(*build_command(out, cache), cwd=place)
    assert result.status == 1
    assert result.err == (
        f"error[disk-full]: the disk of the output folder is full: {out}\n"
        "  hint: free disk space and run the same command again: it keeps complete files, and continues, or "
        "choose a writable folder with -o\n"
    )
    assert read_contents(out) == {"provenance.json": b"{}", "notes.txt": b"mine"}
    grow_disk(small_disk, "64m")
    assert run_assay_process(*build_command(out, cache), cwd=place).status == 0
    assert read_contents(out) == {**undisturbed_results[0], "notes.txt": b"mine"}


def test_cache_is_pruned_on_full_disk(small_disk: Path) -> None:
    """Regression: the command that frees space needed space itself."""
    for name in ("results/0123456789abcdef", "rendered/0123456789abcdef/report.pdf"):
        (small_disk / name).parent.mkdir(parents=True, exist_ok=True)
        (small_disk / name).touch()
    state = os.statvfs(small_disk)
    remount = ["mount", "-o", f"remount,nr_inodes={state.f_files - state.f_ffree}", small_disk]
    subprocess.run(remount, check=True)
    with pytest.raises(OSError, match="No space left"):
        (small_disk / "more").mkdir()
    result = run_assay_process("cache", "prune", "--all", "--cache", str(small_disk))
    assert (result.status, result.out, result.err) == (0, "removed 2 entries, 0 B\n", "")
    assert not list(small_disk.iterdir())


def test_disk_full_during_cleanup_is_reported(small_disk: Path) -> None:
    """Regression: the message named the disk of the cache."""
    grow_disk(small_disk, "1500k")
    with pytest.raises(AssayError) as error_info, replace_folder(small_disk / "out") as new_folder:
        (new_folder / "report.html").write_bytes(b" " * 2**21)
    assert str(error_info.value).startswith(
        f"error[disk-full]: the disk of the output folder is full: {small_disk}/out\n"
    )


def test_full_cache_disk_is_reported_and_retry_succeeds(
    place: Path, undisturbed_results: tuple[dict[str, bytes], set[str]], small_disk: Path, tmp_path: Path
) -> None:
    out, cache = tmp_path / "out", small_disk / "cache"
    (small_disk / "filled").write_bytes(b"x" * 44 * 1024)
    result = run_assay_process(*build_command(out, cache), cwd=place)  # the disk has room for folders, but for no file
    assert result.err.startswith("error[disk-full]: the disk of the ")
    assert str(cache) in result.err.splitlines()[0]
    (small_disk / "filled").unlink()
    for size in ("64k", "400k", "1600k"):
        grow_disk(small_disk, size)
        result = run_assay_process(*build_command(out, cache), cwd=place)
        if result.status == 0:
            break
        assert result.err == (
            f"error[disk-full]: the disk of the cache folder is full: {cache}\n"
            "  hint: free disk space and run the same command again: it keeps complete files, and continues, or "
            "pass --cache DIR\n"
        ), size
        assert not out.exists()
        assert not list((cache / "scratch").glob("*"))
    grow_disk(small_disk, "64m")
    assert run_assay_process(*build_command(out, cache), cwd=place).status == 0
    assert read_contents(out) == undisturbed_results[0]
    assert list_cached_files(cache) == undisturbed_results[1]
