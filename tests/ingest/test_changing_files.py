"""Files that cannot be read or that change while they are read: one clear error, or the bytes of the hash."""

from __future__ import annotations

import gzip
import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.app.session.prepare import prepare
from assay.app.session.session import open_session
from assay.ingest import file_snapshots
from assay.ingest.discovery import find_run
from assay.ingest.hashing import hash_files
from assay.ingest.pipeline import ingest
from assay.runs.model import NamedRun
from assay.util.diagnostics import AssayError
from tests.compare_reference import CARDANO
from tests.ingest.test_events_of_runs import load_package
from tests.support.commands import run_assay, run_assay_process
from tests.support.ingesting import SOURCE, TICK, IngestedFolder, format_error, format_record
from tests.support.laboratory import ROOT

WANTED = {"tick": frozenset({"n"})}
LINE = format_record(n=1).encode() + b"\n"


def create_log(folder: Path, content: bytes = LINE * 3) -> Path:
    """Create a host's log."""
    path = folder / "run" / "m-1" / "out"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


DECOMPRESS = "assay.ingest.readers.json_lines_worker.decompress_file"
ASSEMBLE = "assay.ingest.readers.json_lines.assemble_events"


def run_once_after(monkeypatch: pytest.MonkeyPatch, place: str, *changes: Callable[[], object]) -> None:
    """Let something happen once, right after a function has done its work; something else after its next call."""
    module, name = place.rsplit(".", 1)
    real_function = getattr(importlib.import_module(module), name)
    remaining_changes = list(reversed(changes))

    def call_and_change(*arguments: object, **options: object) -> object:
        result = real_function(*arguments, **options)
        if remaining_changes:
            remaining_changes.pop()()
        return result

    monkeypatch.setattr(place, call_and_change)


def create_appender(path: Path, content: bytes) -> Callable[[], object]:
    """Return a function that appends to a file."""

    def add() -> None:
        with path.open("ab") as stream:
            stream.write(content)

    return add


def read(folder: Path) -> IngestedFolder:
    """Ingest a run after its files were hashed."""
    files, _ = hash_files(find_run(SOURCE, folder / "run"), folder / "memo.json")
    ingest(SOURCE, (TICK,), WANTED, files, folder / "made")
    return IngestedFolder(folder / "made")


def test_log_growing_while_hashed_has_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = create_log(tmp_path, LINE * 3 + LINE[:20])
    run_once_after(
        monkeypatch, "assay.ingest.file_snapshots._compute_digest", create_appender(path, LINE[20:] + LINE * 5)
    )
    files, (snapshot,) = hash_files(find_run(SOURCE, tmp_path / "run"), tmp_path / "memo.json")
    assert (snapshot.size, files.size) == (len(LINE) * 3, len(LINE) * 3)
    (tmp_path / "same").write_bytes(LINE * 3)
    assert (
        snapshot.sha256
        == file_snapshots.create_hashed_snapshot(tmp_path / "same", file_snapshots.read_stamp(tmp_path / "same")).sha256
    )
    assert not (tmp_path / "memo.json").exists(), "the hash is of no file as it stands"
    ingest(SOURCE, (TICK,), WANTED, files, tmp_path / "made")
    ingested = IngestedFolder(tmp_path / "made")
    assert (ingested.read_rows("tick", "seq"), ingested.read_log()["quarantined"]) == ([(1,), (2,), (3,)], 0)


@pytest.mark.parametrize("added_content", [b"\xff\n", LINE * 1000])
def test_log_growing_while_read_has_the_hashed_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, added_content: bytes
) -> None:
    path = create_log(tmp_path)
    run_once_after(monkeypatch, DECOMPRESS, create_appender(path, added_content))
    ingested = read(tmp_path)
    assert (ingested.read_rows("tick", "seq"), ingested.read_log()["lines"]) == ([(1,), (2,), (3,)], 3)
    assert path.stat().st_size == len(LINE) * 3 + len(added_content)


def test_log_growing_while_read_again_has_the_hashed_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = create_log(tmp_path)
    other_log = log.with_name("out2")
    other_log.write_bytes(LINE * 2)
    changes = (create_appender(log, LINE), lambda: None, create_appender(other_log, LINE + LINE[:9]))
    run_once_after(monkeypatch, DECOMPRESS, *changes)
    files, _ = hash_files(find_run(SOURCE, tmp_path / "run"), tmp_path / "memo.json")
    ingest(SOURCE, (TICK,), WANTED, files, tmp_path / "made", workers=1)
    ingested = IngestedFolder(tmp_path / "made")
    assert (ingested.read_log()["lines"], ingested.read_log()["recognised"], len(ingested.read_rows("tick"))) == (
        5,
        5,
        5,
    )


def test_log_rotated_before_quarantine_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = create_log(tmp_path, LINE + format_record(n="x").encode() + b"\n" + LINE)
    run_once_after(
        monkeypatch,
        ASSEMBLE,
        lambda: log.write_bytes(b"\n" + format_record(n=7).encode() + b"\n"),
    )
    with pytest.raises(AssayError) as error:
        read(tmp_path)
    assert "error[changed-file]" in str(error.value)


def test_log_growing_before_quarantine_has_the_hashed_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = create_log(tmp_path, LINE + format_record(n="x").encode() + b"\n" + LINE)
    run_once_after(monkeypatch, ASSEMBLE, create_appender(log, LINE))
    assert [row[2] for row in read(tmp_path).read_quarantine()] == [2]


def test_log_that_grew_is_read_again(tmp_path: Path) -> None:
    path = create_log(tmp_path)
    assert len(read(tmp_path).read_rows("tick")) == 3
    create_appender(path, LINE)()
    assert len(read(tmp_path).read_rows("tick")) == 4


def test_cache_holds_the_bytes_of_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log grows during the build; the cache entry does not contain the added lines."""
    shutil.copytree(CARDANO / "tiny" / "plain" / "run", tmp_path / "run")
    path = tmp_path / "run" / "node-2" / "stdout"
    content = b"".join(gzip.decompress(item.read_bytes()) for item in sorted(path.parent.glob("*.gz")))
    if content:
        for item in path.parent.iterdir():
            item.unlink()
        path.write_bytes(content)
    (path,) = [item for item in path.parent.iterdir() if item.suffix not in (".gz", ".zst")]
    before = path.read_bytes()
    last = before.splitlines(keepends=True)[-1]
    wanted = {event.name: frozenset(item.name for item in event.fields) for event in load_package().package.events}
    session = open_session(ROOT, tmp_path / "cache")
    run_once_after(monkeypatch, DECOMPRESS, create_appender(path, last * 7))
    (live_run,) = prepare(session, load_package(), [NamedRun("run", tmp_path / "run")], wanted)
    (cached_run,) = prepare(session, load_package(), [NamedRun("run", tmp_path / "run")], wanted)
    path.write_bytes(before)
    (fresh_run,) = prepare(
        open_session(ROOT, tmp_path / "fresh"), load_package(), [NamedRun("run", tmp_path / "run")], wanted
    )
    assert (live_run.content_hash, live_run.logs, live_run.counts) == (
        fresh_run.content_hash,
        fresh_run.logs,
        fresh_run.counts,
    )
    assert sum(log.lines for log in cached_run.logs) == sum(log.lines for log in fresh_run.logs) + 7


CHANGES: dict[str, Callable[[Path], object]] = {
    "cut": lambda path: path.write_bytes(LINE),
    "rotated": lambda path: (path.rename(path.parent / "old"), path.write_bytes(LINE)),
    "written anew": lambda path: path.write_bytes(LINE.replace(b'"n":1', b'"n":2') * 9),
}


@pytest.mark.parametrize("change", CHANGES)
def test_log_that_differs_from_its_hash_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    path = create_log(tmp_path)
    run_once_after(monkeypatch, DECOMPRESS, lambda: CHANGES[change](path))
    with pytest.raises(AssayError) as error:
        read(tmp_path)
    assert format_error(error.value, tmp_path) == (
        "error[changed-file]: the file changed while it was read: DIR/run/m-1/out\n"
        "  expected: an unchanged file, or a log with added lines\n"
        f"  found:    {'other bytes' if change == 'written anew' else f'{len(LINE)} bytes of {len(LINE) * 3}'}\n"
        "  hint: if it was rotated or rewritten, run this again when nothing writes to it"
    )
    assert sorted(item.name for item in tmp_path.iterdir()) == ["run"]


def test_vanished_file_is_an_error(tmp_path: Path) -> None:
    path = create_log(tmp_path)
    files = find_run(SOURCE, tmp_path / "run")
    path.unlink()
    with pytest.raises(AssayError) as error:
        hash_files(files, tmp_path / "memo.json")
    assert format_error(error.value, tmp_path) == (
        "error[broken-file]: the file cannot be read: DIR/run/m-1/out\n"
        "  found:    No such file or directory\n"
        "  hint: it existed when the files of the run were listed: does something move logs away?"
    )


def test_file_vanished_after_hashing_is_an_error(tmp_path: Path) -> None:
    path = create_log(tmp_path)
    files, _ = hash_files(find_run(SOURCE, tmp_path / "run"), tmp_path / "memo.json")
    path.unlink()
    with pytest.raises(AssayError, match="the file cannot be read"):
        ingest(SOURCE, (TICK,), WANTED, files, tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_entry_that_is_not_a_file_is_skipped(tmp_path: Path) -> None:
    """A directory, a pipe or a dangling link with the name of a log is skipped without waiting."""
    path = create_log(tmp_path)
    (path.parent / "out-1").mkdir()
    os.mkfifo(path.parent / "out-2")
    (path.parent / "out-3").symlink_to("nowhere")
    assert len(read(tmp_path).read_rows("tick")) == 3


READER = """
import os, sys
from pathlib import Path
from assay.ingest.discovery import find_run
from assay.ingest.hashing import hash_files
from assay.util.diagnostics import AssayError
from tests.support.ingesting import SOURCE
os.setgid(65534); os.setuid(65534)
try:
    print(hash_files(find_run(SOURCE, Path(sys.argv[1])), Path(sys.argv[2])))
except AssayError as error:
    sys.exit(str(error))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can read on behalf of a user who may not")
@pytest.mark.parametrize("mode", ["file", "host", "run"])
def test_entry_without_permission_is_an_error(tmp_path: Path, mode: str) -> None:
    path = create_log(tmp_path)
    forbidden_path = {"file": path, "host": path.parent, "run": path.parent.parent}[mode]
    for folder in [tmp_path, *tmp_path.parents]:
        if folder.stat().st_uid == os.getuid() and str(folder).startswith(str(Path(*tmp_path.parts[:3]))):
            folder.chmod(0o755)
    forbidden_path.chmod(0)
    python = [sys.executable, "-c", READER, str(tmp_path / "run"), str(tmp_path / "memo.json")]
    process_environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'compiler'}", "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(python, capture_output=True, text=True, env=process_environment, check=False, cwd=ROOT)
    forbidden_path.chmod(0o755)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr, result.stderr
    message = {"file": "the file cannot be read", "host": "the directory cannot be read",
            "run": "the directory cannot be read"}[mode]  # fmt: skip
    assert result.stderr.replace(str(tmp_path), "DIR").startswith(f"error[broken-file]: {message}: DIR/run")
    assert "  found:    Permission denied\n" in result.stderr


SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <stdio.h>
static int faulty(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return strstr(path, getenv("FAULTY")) != NULL;
}
static long seen;
static int fails(int fd, ssize_t n) {
    if (n <= 0 || !faulty(fd)) return 0;
    return (seen += n) > atol(getenv("FAULTY_AFTER"));
}
#define WRAP(kind, name, args, call) kind name args { \\
    static kind (*real) args; if (!real) real = dlsym(RTLD_NEXT, #name); \\
    ssize_t n = real call; if (fails(fd, n)) { errno = EIO; return -1; } return n; }
WRAP(ssize_t, read, (int fd, void *b, size_t c), (fd, b, c))
WRAP(ssize_t, pread, (int fd, void *b, size_t c, off_t o), (fd, b, c, o))
WRAP(ssize_t, pread64, (int fd, void *b, size_t c, off_t o), (fd, b, c, o))
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a library that fails reads of some files, like a bad disk."""
    folder = tmp_path_factory.mktemp("shim")
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("no C compiler, or not Linux")
    (folder / "shim.c").write_text(SHIM)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", folder / "shim.so", folder / "shim.c", "-ldl"], check=True)
    return folder / "shim.so"


@pytest.mark.parametrize("after", [0, 2_000_000])
def test_read_error_names_the_file(tmp_path: Path, shim: Path, after: int) -> None:
    """The first read fails, or a later one: while the engine reads a file that was hashed without an error."""
    run = tmp_path / "run"
    shutil.copytree(CARDANO / "tiny" / "plain" / "run", run)
    path = run / "node-2" / "stdout"
    packed_file = next(item for item in path.parent.iterdir())
    content = gzip.decompress(packed_file.read_bytes()) if packed_file.suffix == ".gz" else packed_file.read_bytes()
    packed_file.unlink()
    path.write_bytes(content + b"x\n" * 700_000)
    faults = {"LD_PRELOAD": str(shim), "FAULTY": "node-2/stdout", "FAULTY_AFTER": str(after)}
    result = run_assay_process("ingest", run, "--system", "cardano", "--cache", tmp_path / "cache", environment=faults)
    assert (result.status, result.out) == (1, "")
    assert "error[broken-file]" in result.err
    assert "node-2/stdout" in result.err
    assert "Input/output error" in result.err
    second_ingest = run_assay("ingest", run, "--system", "cardano", "--cache", tmp_path / "cache")
    assert second_ingest.status == 0
