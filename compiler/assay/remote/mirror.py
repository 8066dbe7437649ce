"""Mirror runs in the cache: a folder per address, updated before it is read.

mirror/KEY/lock           locked shared while a command reads the mirror, exclusively while one changes it
mirror/KEY/files/         objects, under their names
mirror/KEY/objects.jsonl  sizes and versions of the objects
mirror/KEY/parts/         incomplete objects
mirror/KEY/unpacked/      for an archive: its files, and contents.json, which identifies the archive
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from assay.engine.result_cache import Store
from assay.ingest.discovery import RUN_HINT
from assay.remote import disk_space
from assay.remote.address import is_address, is_archive, split_address
from assay.remote.archives import unpack
from assay.remote.object_store import Object, Storage, open_storage
from assay.remote.required_files import RequiredFiles
from assay.remote.transfer import Transfer, build_no_files_error, check_names, read_journal
from assay.util.atomic import create_parents, discard
from assay.util.checksums import is_sealed
from assay.util.diagnostics import fail
from assay.util.paths import resolve_path
from assay.util.progress import Notice, Progress, ignore

KIND = "mirror"
UNPACKED = "unpacked"
#: returns which objects of a run, by their names, get a placeholder instead of being fetched
SelectDeferred = Callable[[Collection[str]], Collection[str]]


def select_none(_names: Collection[str]) -> Collection[str]:
    """Select no object, so that all are fetched."""
    return ()


CONTENTS = "contents.json"


@dataclass(frozen=True, slots=True)
class _Mirror:
    """A mirror: its store, the key of its address, and the name of the run for progress."""

    store: Store
    key: str
    address: str
    name: str
    wanted: RequiredFiles
    progress: Progress
    notice: Notice
    report_fetching: Notice
    select_deferred: SelectDeferred

    @property
    def folder(self) -> Path:
        return self.store.get_path(KIND, self.key)

    def announce(self, items: Sequence[Object]) -> None:
        """Report how many objects are about to be fetched, and their size."""
        if items:
            number = "1 object" if len(items) == 1 else f"{len(items)} objects"
            size = sum(item.size for item in items) / 1e6
            self.report_fetching(f"fetching {number} of run {self.name}, {size:.1f} MB, from {self.address}")

    def report_progress(self, action: str) -> Callable[[int, int], None]:
        return lambda done, total: self.progress(f"{action} {self.name}", done, total)


def mirror_run(
    store: Store,
    address: str,
    name: str,
    wanted: RequiredFiles,
    exit_stack: ExitStack,
    progress: Progress,
    notice: Notice,
    report_fetching: Notice = ignore,
    select_deferred: SelectDeferred = select_none,
) -> Path:
    """Return the local directory of a run on object storage or in an archive, brought up to date.

    It does not change until `exit_stack` is closed. `notice` is called before waiting for another
    process, `report_fetching` with the number and size of the objects that are about to be fetched. `select_deferred`
    selects objects that need not be here: they get placeholders. An archive is always fetched.

    Raises AssayError: the address is empty, unreachable or refuses; the archive is broken or unsafe; the disk is full.
    """
    location = address if is_address(address) else str(resolve_path(Path(address)))
    key = hashlib.sha256(location.encode()).hexdigest()[:32]
    mirror = _Mirror(store, key, address, name, wanted, progress, notice, report_fetching, select_deferred)
    try:
        lock = _open_lock(mirror)
    except OSError as error:
        raise disk_space.build_write_error(store.folder, address, error) from None
    exit_stack.callback(os.close, lock)
    if not is_address(address):
        return _mirror_local_archive(mirror, lock, Path(address))
    storage = open_storage(address)
    archive_object = storage.find_object() if is_archive(address) else None
    if archive_object:
        return _mirror_remote_archive(mirror, lock, storage, archive_object)
    return _mirror_objects(mirror, lock, storage)


def _open_lock(mirror: _Mirror) -> int:
    """Open the lock file, replacing anything else of its name.  Raises OSError."""
    lock_path = mirror.folder / "lock"
    create_parents(mirror.store.folder, lock_path)
    if os.path.lexists(lock_path) and not lock_path.is_file():
        discard(mirror.store.folder, lock_path)
    return os.open(lock_path, os.O_RDWR | os.O_CREAT, 0o644)


def _mirror_objects(mirror: _Mirror, lock: int, storage: Storage) -> Path:
    """Mirror the objects below an address."""
    objects = storage.list_objects()
    wanted = [item for item in objects if mirror.wanted.has(item.name)]
    if not wanted:
        raise build_no_files_error("the run", mirror.address, mirror.wanted, [item.name for item in objects])
    check_names(mirror.address, wanted)
    transfer = Transfer(storage, mirror.folder, mirror.report_progress("fetching"))
    deferred = mirror.select_deferred([item.name for item in wanted])
    with _lock_shared(mirror, lock):
        if (
            transfer.files.is_dir()
            and not any(_list_missing(transfer, wanted, deferred))
            and not transfer.list_removed(objects)
        ):
            return transfer.files
    with _lock_exclusively(mirror, lock):
        transfer.clear(objects)
        missing, without_placeholder = _list_missing(transfer, wanted, deferred)
        mirror.announce(missing)
        transfer.fetch(missing)
        if without_placeholder:
            transfer.create_placeholders(without_placeholder)
        transfer.finish(objects)
    return transfer.files


def _list_missing(
    transfer: Transfer, wanted: Sequence[Object], deferred: Collection[str]
) -> tuple[Sequence[Object], Sequence[Object]]:
    """Return the objects to fetch, and those that need a placeholder."""
    outdated = transfer.list_outdated(wanted)
    without_content = [item for item in outdated if item.name in deferred]
    return [item for item in outdated if item.name not in deferred], transfer.list_without_placeholder(without_content)


def fetch_absent_file(address: str, files: Path, path: Path, progress: Progress) -> None:
    """Fetch a log of a run on object storage in place of its placeholder below the mirror's folder `files`.

    Raises AssayError.
    """
    name = path.relative_to(files).as_posix()
    size, version = read_versions(files)[name]
    storage = open_storage(address)
    transfer = Transfer(storage, files.parent, lambda done, total: progress(f"fetching {name}", done, total))
    transfer.fetch([Object(name, f"{split_address(address)[1]}/{name}", size, version)])


def read_versions(files: Path) -> Mapping[str, tuple[int, str]]:
    """Return the size and version of each object of a mirror's folder of files; empty for any other folder."""
    folder = files.parent
    journals = (folder / "absent.jsonl", folder / "objects.jsonl")
    return {name: item for path in journals for name, item in read_journal(folder.parent.parent, path).items()}


def _mirror_remote_archive(mirror: _Mirror, lock: int, storage: Storage, archive_object: Object) -> Path:
    """Mirror an archive on object storage; the archive is deleted once it is unpacked."""
    identity = [mirror.address, *archive_object.fingerprint]
    with _lock_shared(mirror, lock):
        if unpacked := _find_unpacked(mirror, identity):
            return unpacked
    transfer = Transfer(storage, mirror.folder, mirror.report_progress("fetching"))
    with _lock_exclusively(mirror, lock):
        if not _find_unpacked(mirror, identity):
            mirror.announce(missing := transfer.list_outdated([archive_object]))
            transfer.fetch(missing)
            transfer.finish([archive_object])
            _unpack(mirror, identity, transfer.files / archive_object.name)
            shutil.rmtree(transfer.files)
    return _get_unpacked_folder(mirror, identity)


def _mirror_local_archive(mirror: _Mirror, lock: int, archive: Path) -> Path:
    """Unpack an archive that is a local file."""
    try:
        status = archive.stat()
    except OSError as error:
        raise fail("no-run", f"the archive of the run cannot be read: {archive}", found=error.strerror or str(error),
                   hint=RUN_HINT) from None  # fmt: skip
    identity = [str(resolve_path(archive)), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
    with _lock_shared(mirror, lock):
        if unpacked := _find_unpacked(mirror, identity):
            return unpacked
    with _lock_exclusively(mirror, lock):
        if not _find_unpacked(mirror, identity):
            _unpack(mirror, identity, archive)
    return _get_unpacked_folder(mirror, identity)


def _find_unpacked(mirror: _Mirror, identity: Sequence[object]) -> Path | None:
    """Return the folder of this archive if it was unpacked with all files that are wanted now; else None."""
    folder = mirror.folder / UNPACKED
    try:
        contents = json.loads((folder / CONTENTS).read_text(encoding="utf-8"))
        is_usable = contents["of"] == list(identity) and set(mirror.wanted.globs) <= set(contents["wanted"])
        return folder / contents["folder"] if is_usable and is_sealed(folder) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _get_unpacked_folder(mirror: _Mirror, identity: Sequence[object]) -> Path:
    """Return the directory of an archive that was just unpacked."""
    folder = _find_unpacked(mirror, identity)
    assert folder, "it was unpacked just now"
    return folder


def _unpack(mirror: _Mirror, identity: Sequence[object], archive: Path) -> None:
    """Unpack the wanted files, and those that were wanted before.

    Otherwise two systems that read the same archive would discard each other's files.
    """
    globs = {*mirror.wanted.globs, *_read_previous_globs(mirror)}
    wanted = RequiredFiles(tuple(sorted(globs)))
    with mirror.store.fill_entry(f"{KIND}/{mirror.key}", UNPACKED, ends=True, replaces_sealed=True) as new_folder:
        (new_folder / "files").mkdir()
        run = unpack(archive, new_folder / "files", wanted, mirror.address, mirror.report_progress("unpacking"))
        folder = run.relative_to(new_folder).as_posix()
        contents = {"of": list(identity), "wanted": sorted(globs), "folder": folder}
        (new_folder / CONTENTS).write_text(json.dumps(contents), encoding="utf-8")


def _read_previous_globs(mirror: _Mirror) -> Sequence[str]:
    try:
        contents = json.loads((mirror.folder / UNPACKED / CONTENTS).read_text(encoding="utf-8"))
        return [str(glob) for glob in contents["wanted"]]
    except (OSError, ValueError, KeyError, TypeError):
        return ()


@contextmanager
def _lock_shared(mirror: _Mirror, lock: int) -> Iterator[None]:
    """Acquire the shared lock; it is held after the block, until the lock file is closed."""
    _wait_for_lock(mirror, lock, fcntl.LOCK_SH)
    yield


@contextmanager
def _lock_exclusively(mirror: _Mirror, lock: int) -> Iterator[None]:
    """Acquire the exclusive lock for the block, and the shared one afterwards."""
    fcntl.flock(lock, fcntl.LOCK_UN)
    _wait_for_lock(mirror, lock, fcntl.LOCK_EX)
    try:
        yield
    except OSError as error:
        raise disk_space.build_write_error(mirror.folder, mirror.address, error) from None
    finally:
        fcntl.flock(lock, fcntl.LOCK_SH)


def _wait_for_lock(mirror: _Mirror, lock: int, operation: int) -> None:
    """Wait for a lock, with a notice if another process has it."""
    try:
        fcntl.flock(lock, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        mirror.notice(f"waiting for another assay that uses {mirror.name}")
        fcntl.flock(lock, operation)
