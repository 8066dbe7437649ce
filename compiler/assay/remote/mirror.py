"""The mirror of a run in the cache: a folder for each address, brought to what is there before it is read.

mirror/KEY/lock           held shared while a command reads the mirror, alone while one changes it
mirror/KEY/files/         objects, under their names
mirror/KEY/objects.jsonl  what they are of
mirror/KEY/parts/         objects that are not whole yet
mirror/KEY/unpacked/      of an archive: its files, and contents.json, which says what it was unpacked from
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from assay.engine.result_cache import Store
from assay.ingest.discovery import TAKEN
from assay.remote import disk_space
from assay.remote.address import is_address, is_archive
from assay.remote.archives import unpack
from assay.remote.object_store import Object, Storage, open_storage
from assay.remote.required_files import Wanted
from assay.remote.transfer import Fetching, check_names, nothing_wanted
from assay.util.atomic import clear_way, discard
from assay.util.checksums import is_sealed
from assay.util.diagnostics import fail
from assay.util.paths import resolve_path
from assay.util.progress import Notice, Progress, ignore_notice

KIND = "mirror"
UNPACKED = "unpacked"
CONTENTS = "contents.json"


@dataclass(frozen=True, slots=True)
class _Mirror:
    """A mirror: the store, the key of its address, what runs of it are called in progress."""

    store: Store
    key: str
    address: str
    name: str
    wanted: Wanted
    progress: Progress
    notice: Notice
    fetching: Notice

    @property
    def folder(self) -> Path:
        return self.store.place(KIND, self.key)

    def tell_of(self, items: Sequence[Object]) -> None:
        """Say what is about to be fetched, and how much."""
        if items:
            number = "1 object" if len(items) == 1 else f"{len(items)} objects"
            size = sum(item.size for item in items) / 1e6
            self.fetching(f"fetching {number} of run {self.name}, {size:.1f} MB, from {self.address}")

    def tell(self, what: str) -> Callable[[int, int], None]:
        return lambda done, total: self.progress(f"{what} {self.name}", done, total)


def mirrored(
    store: Store,
    address: str,
    name: str,
    wanted: Wanted,
    held: ExitStack,
    progress: Progress,
    notice: Notice,
    fetching: Notice = ignore_notice,
) -> Path:
    """The directory of a run on object storage or in an archive, as it is now; it stays so until `held` is closed.

    `notice` is told that somebody else is waited for, `fetching` what is about to be fetched, and how much.

    Raises AssayError: the address has nothing, cannot be reached, refuses; the archive is broken or unsafe; no room.
    """
    place = address if is_address(address) else str(resolve_path(Path(address)))
    key = hashlib.sha256(place.encode()).hexdigest()[:32]
    mirror = _Mirror(store, key, address, name, wanted, progress, notice, fetching)
    try:
        lock = _open_lock(mirror)
    except OSError as error:
        raise disk_space.write_error(store.folder, address, error) from None
    held.callback(os.close, lock)
    if not is_address(address):
        return _of_archive(mirror, lock, Path(address))
    storage = open_storage(address)
    packed = storage.object() if is_archive(address) else None
    if packed:
        return _of_packed(mirror, lock, storage, packed)
    return _of_objects(mirror, lock, storage)


def _open_lock(mirror: _Mirror) -> int:
    """Open the file that is locked, in place of anything else of its name.  Raises OSError."""
    place = mirror.folder / "lock"
    clear_way(mirror.store.folder, place)
    if os.path.lexists(place) and not place.is_file():
        discard(mirror.store.folder, place)
    return os.open(place, os.O_RDWR | os.O_CREAT, 0o644)


def _of_objects(mirror: _Mirror, lock: int, storage: Storage) -> Path:
    """The objects below an address."""
    there = storage.objects()
    wanted = [item for item in there if mirror.wanted.has(item.name)]
    if not wanted:
        raise nothing_wanted("the run", mirror.address, mirror.wanted, [item.name for item in there])
    check_names(mirror.address, wanted)
    fetching = Fetching(storage, mirror.folder, mirror.tell("fetching"))
    with _sharing(mirror, lock):
        if fetching.files.is_dir() and not fetching.missing(wanted) and not fetching.vanished(there):
            return fetching.files
    with _alone(mirror, lock):
        fetching.clear(there)
        mirror.tell_of(missing := fetching.missing(wanted))
        fetching.fetch(missing)
        fetching.finish(there)
    return fetching.files


def _of_packed(mirror: _Mirror, lock: int, storage: Storage, packed: Object) -> Path:
    """An archive on object storage: it is removed when it is unpacked."""
    mark = [mirror.address, *packed.mark]
    with _sharing(mirror, lock):
        if found := _unpacked(mirror, mark):
            return found
    fetching = Fetching(storage, mirror.folder, mirror.tell("fetching"))
    with _alone(mirror, lock):
        if not _unpacked(mirror, mark):
            mirror.tell_of(missing := fetching.missing([packed]))
            fetching.fetch(missing)
            fetching.finish([packed])
            _unpack(mirror, mark, fetching.files / packed.name)
            shutil.rmtree(fetching.files)
    return mirror_folder(mirror, mark)


def _of_archive(mirror: _Mirror, lock: int, archive: Path) -> Path:
    """An archive that is a file here."""
    try:
        found = archive.stat()
    except OSError as error:
        raise fail("no-run", f"the archive of the run cannot be read: {archive}", found=error.strerror or str(error),
                   hint=TAKEN) from None  # fmt: skip
    mark = [str(resolve_path(archive)), found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]
    with _sharing(mirror, lock):
        if there := _unpacked(mirror, mark):
            return there
    with _alone(mirror, lock):
        if not _unpacked(mirror, mark):
            _unpack(mirror, mark, archive)
    return mirror_folder(mirror, mark)


def _unpacked(mirror: _Mirror, mark: Sequence[object]) -> Path | None:
    """The directory of an archive that was unpacked before, of this content, with all that is wanted now."""
    place = mirror.folder / UNPACKED
    try:
        said = json.loads((place / CONTENTS).read_text(encoding="utf-8"))
        right = said["of"] == list(mark) and set(mirror.wanted.globs) <= set(said["wanted"])
        return place / said["folder"] if right and is_sealed(place) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def mirror_folder(mirror: _Mirror, mark: Sequence[object]) -> Path:
    found = _unpacked(mirror, mark)
    assert found, "it was unpacked just now"
    return found


def _unpack(mirror: _Mirror, mark: Sequence[object], archive: Path) -> None:
    """Unpack what is wanted, and what was wanted before: else two systems that share an archive undo each other."""
    globs = {*mirror.wanted.globs, *_wanted_before(mirror)}
    wanted = Wanted(tuple(sorted(globs)))
    with mirror.store.filling(f"{KIND}/{mirror.key}", UNPACKED, ends=True) as fresh:
        (fresh / "files").mkdir()
        found = unpack(archive, fresh / "files", wanted, mirror.address, mirror.tell("unpacking"))
        folder = found.relative_to(fresh).as_posix()
        said = {"of": list(mark), "wanted": sorted(globs), "folder": folder}
        (fresh / CONTENTS).write_text(json.dumps(said), encoding="utf-8")


def _wanted_before(mirror: _Mirror) -> Sequence[str]:
    try:
        said = json.loads((mirror.folder / UNPACKED / CONTENTS).read_text(encoding="utf-8"))
        return [str(glob) for glob in said["wanted"]]
    except (OSError, ValueError, KeyError, TypeError):
        return ()


@contextmanager
def _sharing(mirror: _Mirror, lock: int) -> Iterator[None]:
    """With a lock that others may share: kept after the block, until it is closed."""
    _lock(mirror, lock, fcntl.LOCK_SH)
    yield


@contextmanager
def _alone(mirror: _Mirror, lock: int) -> Iterator[None]:
    """With the lock alone; shared afterwards."""
    fcntl.flock(lock, fcntl.LOCK_UN)
    _lock(mirror, lock, fcntl.LOCK_EX)
    try:
        yield
    except OSError as error:
        raise disk_space.write_error(mirror.folder, mirror.address, error) from None
    finally:
        fcntl.flock(lock, fcntl.LOCK_SH)


def _lock(mirror: _Mirror, lock: int, how: int) -> None:
    """Wait for a lock, and say so."""
    try:
        fcntl.flock(lock, how | fcntl.LOCK_NB)
    except BlockingIOError:
        mirror.notice(f"waiting for another assay that uses {mirror.name}")
        fcntl.flock(lock, how)
