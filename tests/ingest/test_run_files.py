"""The files of a run, and the hash of its contents."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from assay.app.session.required_sources import has_source
from assay.ingest import file_snapshots, hashing
from assay.ingest.discovery import RUN_HINT, find_run
from assay.ingest.hashing import compute_content_key, hash_files
from assay.runs.model import NamedRun
from assay.util.checksums import unseal_text
from assay.util.diagnostics import AssayError
from tests.support.ingesting import SOURCE, format_error, format_record


def write(run: Path, **files: str) -> Path:
    """Write a run with files given by their paths, in which `__` is a slash."""
    for name, content in files.items():
        path = run / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(content.encode()) if path.suffix == ".gz" else content.encode())
    return run


def write_logs(run: Path, *names: str, minute: int = 0) -> Path:
    """Write a run with these log files, each a minute later than the one before."""
    for offset, name in enumerate(names):
        line = format_record(ts=f"2026-02-05T18:{minute + offset:02}:00Z", n=offset)
        write(run, **{name.replace("/", "__"): f"text\n{line}\n"})
    return run


def list_files_by_host(run: Path) -> dict[str, list[str]]:
    """Return the file names by host."""
    return {host.host: [path.name for path in host.files] for host in find_run(SOURCE, run).hosts}


def test_file_with_several_names_is_read_once(tmp_path: Path) -> None:
    run = write_logs(tmp_path, "m-1/out-a", "m-1/m-1-x.json")
    (run / "m-1" / "out").symlink_to(run / "m-1" / "out-a")
    assert [len(names) for names in list_files_by_host(run).values()] == [2]


def test_files_that_macos_adds_are_ignored(tmp_path: Path) -> None:
    tables = replace(SOURCE, kind="csv", hosts="", logs=("*.csv", "*/*.csv"))
    for name in ("a.csv", "._a.csv", "deep/b.csv.gz", "deep/._b.csv.gz"):
        write(tmp_path, **{name.replace("/", "__"): "n\n1\n"})
    (host_files,) = find_run(tables, tmp_path).hosts
    assert [path.relative_to(tmp_path).as_posix() for path in host_files.files] == ["a.csv", "deep/b.csv.gz"]
    hosts = replace(SOURCE, kind="text-lines", hosts="*.log", host_files=True, logs=())
    write(tmp_path, **{"n1.log": "", "._n1.log": "", "._n2.log.gz": ""})
    assert [host.host for host in find_run(hosts, tmp_path).hosts] == ["n1"]
    (tmp_path / "a.csv").unlink()
    run = NamedRun("run", tmp_path)
    assert [has_source(run, replace(tables, logs=(glob,))) for glob in ("*.csv", "*/*.csv", "*/b*")] == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("create", "found_text"),
    [
        (lambda place: place.symlink_to("nowhere"), "out (a broken link)"),
        (lambda place: place.symlink_to("out"), "out (a loop of symbolic links)"),
        (os.mkfifo, "out (not a regular file)"),
        (Path.mkdir, "out/"),
    ],
)
def test_entry_that_is_not_a_file_is_an_error(tmp_path: Path, create: Callable[[Path], None], found_text: str) -> None:
    (tmp_path / "m-1").mkdir()
    create(tmp_path / "m-1" / "out")
    with pytest.raises(AssayError) as error:
        find_run(SOURCE, tmp_path)
    assert format_error(error.value, tmp_path) == (
        "error[no-logs]: host m-1 has no log file: DIR/m-1\n"
        "  expected: out, out*, m-*.json (also with .gz or .zst)\n"
        f"  found:    {found_text}"
    )


def test_folder_without_logs_shows_the_glob_of_hosts(tmp_path: Path) -> None:
    (tmp_path / "clients").mkdir()
    with pytest.raises(AssayError) as error:
        find_run(replace(SOURCE, hosts="*"), tmp_path)
    message = f"if clients is not a host, narrow `hosts` of source `{SOURCE.name}`, which is `*`"
    assert error.value.diagnostics[0].hint == message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "gone",
            f"error[no-run]: the run directory does not exist: DIR/gone\n  hint: {RUN_HINT}",
        ),
        (
            "file",
            f"error[no-run]: the run is not a directory: DIR/file\n  hint: {RUN_HINT}",
        ),
        ("empty", "error[no-run]: the run directory is empty: DIR/empty"),
        (
            "bare",
            "error[no-hosts]: the run has no host directory: DIR/bare\n"
            "  expected: directories m-*\n"
            "  found:    meta.json, other/",
        ),
        (
            "idle",
            "error[no-logs]: host m-1 has no log file: DIR/idle/m-1\n"
            "  expected: out, out*, m-*.json (also with .gz or .zst)\n"
            "  found:    err",
        ),
        (
            "hollow",
            "error[no-logs]: host m-1 has no log file: DIR/hollow/m-1\n"
            "  expected: out, out*, m-*.json (also with .gz or .zst)\n"
            "  found:    nothing",
        ),
    ],
)
def test_folder_that_is_not_a_run_is_an_error(tmp_path: Path, name: str, message: str) -> None:
    write(tmp_path, file="", bare__other__out="x", idle__other__out="x", **{"bare__meta.json": "{}"})
    write(tmp_path, **{"idle__m-1__err": "x"})
    (tmp_path / "empty").mkdir()
    (tmp_path / "hollow" / "m-1").mkdir(parents=True)
    with pytest.raises(AssayError) as error:
        find_run(SOURCE, tmp_path / name)
    assert format_error(error.value, tmp_path) == message


def compute_key(run: Path, memo: Path) -> str:
    files = find_run(SOURCE, run)
    return compute_content_key(hash_files(files, memo)[1], files)


def test_hash_of_a_run_does_not_depend_on_its_path(tmp_path: Path) -> None:
    run = write_logs(tmp_path / "run", "m-1/out", "m-1/out.1", "m-2/out")
    first = compute_key(run, tmp_path / "memo.json")
    shutil.copytree(run, tmp_path / "copy")
    (tmp_path / "copy" / "m-1" / "out.1").rename(tmp_path / "copy" / "m-1" / "out.7")
    assert compute_key(tmp_path / "copy", tmp_path / "memo.json") == first
    (tmp_path / "copy" / "m-2").rename(tmp_path / "copy" / "m-3")
    assert compute_key(tmp_path / "copy", tmp_path / "memo.json") != first


@pytest.mark.parametrize("change", ["a byte", "a file less", "a file moved to another host"])
def test_hash_of_a_run_changes_with_its_contents(tmp_path: Path, change: str) -> None:
    run = write_logs(tmp_path / "run", "m-1/out", "m-1/out.1", "m-2/out")
    first = compute_key(run, tmp_path / "memo.json")
    if change == "a byte":
        path = run / "m-2" / "out"
        path.write_bytes(path.read_bytes().replace(b'"n":2', b'"n":3'))
        os.utime(path, ns=(1, 1))
    elif change == "a file less":
        (run / "m-1" / "out.1").unlink()
    else:
        (run / "m-1" / "out.1").rename(run / "m-2" / "out.1")
    assert compute_key(run, tmp_path / "memo.json") != first


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the names of the files whose bytes are read."""
    names: list[str] = []

    def record_name(path: Path, mark: file_snapshots.FileStamp) -> file_snapshots.FileSnapshot:
        names.append(path.name)
        return file_snapshots.create_hashed_snapshot(path, mark)

    monkeypatch.setattr(hashing, "create_hashed_snapshot", record_name)
    monkeypatch.setattr(file_snapshots, "SETTLED", 0)
    return names


def test_unchanged_files_are_not_hashed_again(tmp_path: Path, hashed: list[str]) -> None:
    run, memo = write_logs(tmp_path / "run", "m-1/out", "m-1/out.1"), tmp_path / "memo.json"
    first = compute_key(run, memo)
    assert (compute_key(run, memo), sorted(hashed)) == (first, ["out", "out.1"])
    before = (run / "m-1" / "out").stat()
    os.utime(run / "m-1" / "out", ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert (compute_key(run, memo), hashed[2:]) == (first, ["out"])


@pytest.mark.usefixtures("hashed")
def test_file_with_its_time_set_back_is_hashed_again(tmp_path: Path) -> None:
    run, memo = write_logs(tmp_path / "run", "m-1/out"), tmp_path / "memo.json"
    path = run / "m-1" / "out"
    first, before = compute_key(run, memo), path.stat()
    path.write_bytes(path.read_bytes().replace(b'"n":0', b'"n":1'))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (before.st_size, before.st_mtime_ns, before.st_ino)
    assert compute_key(run, memo) != first


def test_file_that_just_changed_is_hashed_again(
    tmp_path: Path, hashed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_snapshots, "SETTLED", 10**18)
    run, memo = write_logs(tmp_path / "run", "m-1/out"), tmp_path / "memo.json"
    assert (compute_key(run, memo), hashed) == (compute_key(run, memo), ["out", "out"])


@pytest.mark.usefixtures("hashed")
def test_unreadable_memo_is_replaced(tmp_path: Path) -> None:
    run, memo = write_logs(tmp_path / "run", "m-1/out"), tmp_path / "memo.json"
    first = compute_key(run, memo)
    memo.write_text("{torn")
    assert compute_key(run, memo) == first
    assert len(json.loads(unseal_text(memo.name, memo.read_text()) or "{}")) == 1
