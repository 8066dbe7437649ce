"""Share entries of the cache among machines: in a folder that all of them mount, or on object storage.

On object storage an entry is one object, a tar of its files: it appears whole, and many small files are one request.
Entries are named by the hash of what they depend on, so that nobody needs a lock: who puts one twice, puts the same.
"""

from __future__ import annotations

import io
import shutil
import tarfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar

from assay.engine.result_cache import Store
from assay.remote.address import explain_refusal, split_address
from assay.remote.object_store import Storage, open_storage
from assay.util import atomic
from assay.util.checksums import is_sealed, restore_times, seal_text, unseal_text
from assay.util.diagnostics import USAGE, AssayError, fail
from assay.util.os_errors import is_disk_full_error

T = TypeVar("T")
Entry = tuple[str, str]  # kind, which may be several folders, and key

ATTEMPTS = 6  # of a request that the server cannot answer
FIRST_WAIT = 0.2  # seconds before the second attempt; it doubles each time
CONNECTIONS = 8
LONGEST_TEXT = 2**32  # bytes
RETRIED = "no-server"  # the code of errors after which another attempt may succeed
OPTIONS = {"use_listings_cache": False}  # other machines write there, too
#: scheme -> options: the client makes one attempt, as `_retry` counts them
OPTIONS_BY_SCHEME = {"s3": {"config_kwargs": {"retries": {"total_max_attempts": 1}}}}


class EntryStorage(Protocol):
    """Where machines find the entries that others have put there."""

    @property
    def address(self) -> str:
        """The address of the object storage; empty for a folder, which is the cache of all machines."""

    def push(self, store: Store, entries: Iterable[Entry], /) -> None:
        """Put complete entries of a cache folder there, unless they are. Raises AssayError."""

    def pull(self, store: Store, entries: Iterable[Entry], /) -> None:
        """Get the entries that a cache folder lacks. Raises AssayError, also if one is missing or damaged."""

    def copy(self, store: Store, entry: Entry, kind: str, /) -> bool:
        """Copy an entry to another kind, there and in the cache folder, so that it stays if somebody removes it.

        False if it is no longer there. Raises AssayError.
        """

    def has(self, entry: Entry, /) -> bool:
        """Return whether an entry is there, so that it need not be computed. Raises AssayError."""

    def put_text(self, entry: Entry, text: str, /) -> None:
        """Put a text there. Raises AssayError."""

    def read_text(self, entry: Entry, /) -> str | None:
        """Return a text; None if it is not there. Raises AssayError."""

    def remove(self, entries: Iterable[Entry], /) -> None:
        """Remove entries and texts that nobody needs any more. Raises no error."""


def open_entry_storage(store: Store, address: str) -> EntryStorage:
    """Return the storage at an address; without one, the cache folder itself. Raises AssayError (usage)."""
    return ObjectStorage(address) if address else SharedFolder(store)


class SharedFolder:
    """A cache folder that all machines share: entries are there when they are complete."""

    address = ""

    def __init__(self, store: Store) -> None:
        self._store = store

    def push(self, _store: Store, _entries: Iterable[Entry], /) -> None:
        """Do nothing."""

    def pull(self, _store: Store, _entries: Iterable[Entry], /) -> None:
        """Do nothing."""

    def copy(self, store: Store, entry: Entry, kind: str, /) -> bool:
        """Make links to the files of an entry."""
        source, folder = store.get_path(*entry), store.create_folder() / entry[1]
        with store.convert_write_errors():
            folder.mkdir()
            try:
                for path in source.rglob("*"):
                    if path.is_file():
                        (folder / path.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
                        atomic.link(path, folder / path.relative_to(source))
                restore_times(folder)  # where the file system has no links
            except (
                FileNotFoundError,
                ValueError,
                KeyError,
                TypeError,
            ):  # another build has removed it, or it is damaged
                pass
            is_complete = is_sealed(folder)
            if is_complete:
                atomic.install(store.folder, folder, store.get_path(kind, entry[1]))
        shutil.rmtree(folder.parent, ignore_errors=True)
        return is_complete

    def has(self, entry: Entry, /) -> bool:
        """Return whether the folder has an entry."""
        return self._store.has(*entry)

    def put_text(self, entry: Entry, text: str, /) -> None:
        """Write a file."""
        self._store.put(*entry, text)

    def read_text(self, entry: Entry, /) -> str | None:
        """Return the content of a file."""
        with suppress(FileNotFoundError):
            return self._store.get_path(*entry).read_text(encoding="utf-8")
        return None

    def remove(self, entries: Iterable[Entry], /) -> None:
        """Remove files."""
        for entry in entries:
            self._store.get_path(*entry).unlink(missing_ok=True)


class ObjectStorage:
    """Entries as objects below an address, `KIND/KEY.tar`, and texts, `KIND/KEY`."""

    def __init__(self, address: str) -> None:
        self.address = address
        scheme, self._prefix = split_address(address)
        self._storage: Storage = open_storage(address, **OPTIONS, **OPTIONS_BY_SCHEME.get(scheme, {}))
        self._system: Any = self._storage.system
        self._system.retries = 1
        self._known: set[Entry] = set()  # entries that are there

    def push(self, store: Store, entries: Iterable[Entry], /) -> None:
        """Put complete entries there, several at a time."""
        self._run(lambda entry: self._push(store, entry), [entry for entry in entries if entry not in self._known])

    def pull(self, store: Store, entries: Iterable[Entry], /) -> None:
        """Get the entries that a cache folder lacks, several at a time."""
        self._run(lambda entry: self._pull(store, entry), list(dict.fromkeys(entries)))

    def copy(self, store: Store, entry: Entry, kind: str, /) -> bool:
        """Copy the object on the server, and get the copy."""
        source, target = f"{self._locate(entry)}.tar", f"{self._locate((kind, entry[1]))}.tar"
        try:
            self._retry("read", lambda: self._system.cp_file(source, target))
        except FileNotFoundError:
            self._known.discard(entry)
            return False
        self._pull(store, (kind, entry[1]))
        return True

    def has(self, entry: Entry, /) -> bool:
        """Return whether an entry is there."""
        if entry not in self._known and self._exists(f"{self._locate(entry)}.tar"):
            self._known.add(entry)
        return entry in self._known

    def put_text(self, entry: Entry, text: str, /) -> None:
        """Put a sealed text there."""
        content = seal_text(entry[1], text).encode()
        self._retry("write", lambda: self._system.pipe_file(self._locate(entry), content))

    def read_text(self, entry: Entry, /) -> str | None:
        """Return a text; None if it is not there or is damaged."""
        with suppress(FileNotFoundError):
            content = self._retry("read", lambda: self._read_beginning(self._locate(entry), LONGEST_TEXT))
            return unseal_text(entry[1], content.decode("utf-8", errors="replace"))
        return None

    def remove(self, entries: Iterable[Entry], /) -> None:
        """Remove objects; what cannot be removed stays, and does no harm."""
        places = [place for entry in entries for place in (self._locate(entry), f"{self._locate(entry)}.tar")]

        def remove(place: str) -> None:
            with suppress(AssayError, FileNotFoundError):
                self._retry("remove", lambda: self._system.rm_file(place), attempts=1)

        self._run(remove, places)

    def _run(self, function: Callable[[T], None], items: Sequence[T]) -> None:
        """Call a function for each item. Raises the first error."""
        with ThreadPoolExecutor(max_workers=CONNECTIONS) as pool:
            for _ in pool.map(function, items):
                pass

    def _push(self, store: Store, entry: Entry) -> None:
        if self.has(entry):
            return
        with store.convert_write_errors():
            packed = store.create_folder() / "entry.tar"
            _pack(store.get_path(*entry), packed)
        self._retry("write", lambda: self._system.put_file(str(packed), f"{self._locate(entry)}.tar"))
        shutil.rmtree(packed.parent, ignore_errors=True)
        self._known.add(entry)

    def _pull(self, store: Store, entry: Entry) -> None:
        if store.has(*entry):
            return
        with store.convert_write_errors():
            folder = store.create_folder()
            packed, unpacked = folder / "entry.tar", folder / "entry" / entry[1]
            try:
                place = f"{self._locate(entry)}.tar"
                self._retry("read", lambda: self._get_file(store, place, packed))
            except FileNotFoundError:
                raise self._build_entry_error(entry, "is missing") from None
            if not _unpack(packed, unpacked):
                self._known.discard(entry)
                self.remove([entry])
                raise self._build_entry_error(entry, "is damaged")
            atomic.install(store.folder, unpacked, store.get_path(*entry))
            shutil.rmtree(folder, ignore_errors=True)
        self._known.add(entry)

    def _get_file(self, store: Store, place: str, target: Path) -> None:
        try:
            self._system.get_file(place, str(target))
        except OSError as error:
            if is_disk_full_error(error):
                raise store.build_full_error() from None
            raise

    def _build_entry_error(self, entry: Entry, problem: str) -> AssayError:
        message = f"an entry of the cache {problem}: {self.address}/{entry[0]}/{entry[1]}.tar"
        return fail("cache", message, hint="build again, which computes it again; does anything else write there?")

    def _exists(self, place: str) -> bool:
        try:
            self._retry("read", lambda: self._read_beginning(place, 1))
        except FileNotFoundError:
            return False
        return True

    def _read_beginning(self, place: str, count: int) -> bytes:
        """Return the first bytes of an object. Unlike questions about it, this is one request, and lists nothing."""
        content: bytes = self._system.cat_file(place, start=0, end=count)
        return content

    def _locate(self, entry: Entry) -> str:
        return f"{self._prefix}/{entry[0]}/{entry[1]}"

    def _retry(self, action: str, request: Callable[[], T], attempts: int = ATTEMPTS) -> T:
        """Make a request, several times if the server cannot answer it.

        Raises FileNotFoundError if there is no such object, and AssayError.
        """
        wait = FIRST_WAIT
        for _ in range(attempts - 1):
            try:
                return self._request(action, request)
            except AssayError as error:
                if error.diagnostics[0].code != RETRIED:
                    raise
            time.sleep(wait)
            wait *= 2
        try:
            return self._request(action, request)
        except AssayError as error:
            if error.diagnostics[0].code != RETRIED:
                raise
            message = f"the object storage does not answer: {self.address}"
            cause = f"{error.diagnostics[0].found} (tried {attempts} times)"
            hint = "when it answers, build again: what is there is not computed again"
            raise fail(RETRIED, message, found=cause, hint=hint) from None

    def _request(self, action: str, request: Callable[[], T]) -> T:
        missing: list[FileNotFoundError] = []
        with self._storage.translate_errors(action):
            try:
                return request()
            except FileNotFoundError as error:
                missing.append(error)
        if action == "write":
            message, hint = f"there is no such bucket: {self.address}", "create it, or pass another --cache"
            raise fail("cache", message, hint=hint, status=USAGE)
        raise missing[0]


def _pack(folder: Path, target: Path) -> None:
    """Write the files of an entry into a tar. Equal entries have equal bytes. Raises OSError."""
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            member = tarfile.TarInfo(path.relative_to(folder).as_posix())
            member.size = path.stat().st_size
            with path.open("rb") as stream:
                tar.addfile(member, stream)


def _unpack(packed: Path, target: Path) -> bool:
    """Write the files of a tar into a folder; return whether they are those that were sealed. Raises OSError."""
    target.mkdir(parents=True)
    try:
        with tarfile.open(packed, "r:") as tar:
            for member in tar:
                content = tar.extractfile(member) if member.isfile() else None
                if content is None or explain_refusal(member.name):
                    return False
                path = target / member.name
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("xb") as stream:
                    shutil.copyfileobj(content, stream, io.DEFAULT_BUFFER_SIZE * 16)
    except (tarfile.TarError, EOFError, FileExistsError):
        return False
    if not is_sealed(target):
        return False
    restore_times(target)
    return True
