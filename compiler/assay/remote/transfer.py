"""Fetch objects into files: several at a time, each renamed once it is complete; interrupted ones are resumed."""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from assay.ingest.absent_files import create_placeholder, is_absent
from assay.ingest.decompress import COMPRESSED
from assay.remote import disk_space
from assay.remote.address import explain_refusal, split_path
from assay.remote.object_store import Object, Storage
from assay.remote.required_files import RequiredFiles
from assay.util.atomic import create_parents, discard
from assay.util.diagnostics import AssayError, fail
from assay.util.escape import escape_text
from assay.util.progress import ByteProgress

WORKERS = 4
NAME_LIMIT = 8  # names in an error

Fingerprint = tuple[int, str]


@dataclass(slots=True)
class Transfer:
    """The transfer of objects of a storage into a mirror folder that no other process writes meanwhile.

    `files/` holds the objects under their names, `parts/` incomplete ones (named by content, so that a part is resumed
    only with the same content), `objects.jsonl` the size and version of every file. Some files may be placeholders;
    `absent.jsonl` has their sizes and versions.
    """

    storage: Storage
    folder: Path
    report_progress: ByteProgress
    done: int = 0
    total: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def files(self) -> Path:
        """The folder of complete objects."""
        return self.folder / "files"

    @property
    def parts(self) -> Path:
        """The folder of incomplete objects."""
        return self.folder / "parts"

    @property
    def journal(self) -> Path:
        """The file with the size and version of each object."""
        return self.folder / "objects.jsonl"

    @property
    def absent_journal(self) -> Path:
        """The file with the size and version of each object that has a placeholder."""
        return self.folder / "absent.jsonl"

    @property
    def cache(self) -> Path:
        """The cache that the mirror belongs to."""
        return self.folder.parent.parent

    def list_outdated(self, wanted: Sequence[Object]) -> tuple[Object, ...]:
        """Return the objects that are missing or outdated."""
        fetched = read_journal(self.cache, self.journal)
        return tuple(item for item in wanted if fetched.get(item.name) != item.fingerprint or not self._is_whole(item))

    def list_removed(self, objects: Sequence[Object]) -> tuple[Path, ...]:
        """Return the files whose objects are gone."""
        names = {item.name for item in objects}
        files = (path for path in self.files.rglob("*") if path.is_file() or path.is_symlink())
        return tuple(path for path in files if path.relative_to(self.files).as_posix() not in names)

    def list_without_placeholder(self, items: Sequence[Object]) -> tuple[Object, ...]:
        """Return the objects that have no placeholder of their size and version."""
        fingerprints = read_journal(self.cache, self.absent_journal)
        return tuple(
            item
            for item in items
            if fingerprints.get(item.name) != item.fingerprint
            or not self._is_whole(item)
            or not is_absent(self.files / item.name)
        )

    def create_placeholders(self, items: Sequence[Object]) -> None:
        """Create placeholders of objects in place of outdated files. Raises OSError."""
        self._write_journal(self.journal, read_journal(self.cache, self.journal), {item.name for item in items})
        create_parents(self.cache, self.parts / "any")
        for item in items:
            part, target = self._get_part_path(item), self.files / item.name
            create_placeholder(part, item.size)
            create_parents(self.cache, target)
            part.replace(target)
        fingerprints = read_journal(self.cache, self.absent_journal)
        self._write_journal(self.absent_journal, fingerprints | {item.name: item.fingerprint for item in items}, set())

    def fetch(self, items: Sequence[Object]) -> None:
        """Fetch objects.  Raises the first AssayError; complete objects stay."""
        if not items:
            return
        for folder in (self.files, self.parts):
            create_parents(self.cache, folder / "any")
        partial_size = sum(part.stat().st_size for item in items if (part := self._get_part_path(item)).exists())
        self.total = sum(item.size for item in items)
        disk_space.check_room(self.folder, self.total - partial_size, self.storage.address)
        with ThreadPoolExecutor(max_workers=WORKERS) as pool:
            pending = [pool.submit(self._fetch_object, item) for item in items]
            try:
                for future in pending:
                    future.result()
            except BaseException:
                self.stop.set()
                for future in pending:
                    future.cancel()
                raise

    def clear(self, objects: Sequence[Object]) -> None:
        """Remove the files and folders of objects that are gone, and create the folders of those that exist.

        A host folder without a log must exist, so that it is reported as in a local directory.
        """
        for path in self.list_removed(objects):
            path.unlink()
        folders = {parent for item in objects if not explain_refusal(item.name) for parent in Path(item.name).parents}
        for path in sorted((path for path in self.files.rglob("*") if path.is_dir()), reverse=True):
            if path.relative_to(self.files) not in folders:
                shutil.rmtree(path)
        for parent in folders - {Path(item.name) for item in objects}:
            (self.files / parent).mkdir(parents=True, exist_ok=True)

    def finish(self, objects: Sequence[Object]) -> None:
        """Rewrite the journal for the present objects, and remove incomplete ones."""
        fingerprints = read_journal(self.cache, self.journal)
        self._write_journal(self.journal, fingerprints, fingerprints.keys() - {item.name for item in objects})
        shutil.rmtree(self.parts, ignore_errors=True)

    def _write_journal(self, journal: Path, fingerprints: Mapping[str, Fingerprint], removed: Collection[str]) -> None:
        lines = [_format_line(item) for item in sorted(fingerprints.items()) if item[0] not in removed]
        new_journal = journal.with_suffix(".fresh")
        new_journal.write_text("".join(lines), encoding="utf-8")
        new_journal.replace(journal)

    def _fetch_object(self, item: Object) -> None:
        part, target = self._get_part_path(item), self.files / item.name
        try:
            start = part.stat().st_size if part.exists() else 0
            self._report(start)
            with part.open("ab") as stream:
                for piece in self.storage.read_pieces(item, start):
                    stream.write(piece)
                    self._report(len(piece))
                    if self.stop.is_set():
                        return
            target.parent.mkdir(parents=True, exist_ok=True)
            part.replace(target)
            with self.lock, self.journal.open("a", encoding="utf-8") as stream:
                stream.write(_format_line((item.name, item.fingerprint)))
        except OSError as error:
            raise disk_space.build_write_error(self.folder, self.storage.address, error) from None

    def _report(self, count: int) -> None:
        with self.lock:
            self.done += count
            self.report_progress(self.done, self.total)

    def _get_part_path(self, item: Object) -> Path:
        key = json.dumps([item.name, *item.fingerprint])
        return self.parts / hashlib.sha256(key.encode()).hexdigest()[:32]

    def _is_whole(self, item: Object) -> bool:
        path = self.files / item.name
        return not explain_refusal(item.name) and path.is_file() and path.stat().st_size == item.size


def read_journal(cache: Path, journal: Path) -> dict[str, Fingerprint]:
    """Return the size and version of each object of a journal below a cache; incomplete lines are skipped."""
    fingerprints: dict[str, Fingerprint] = {}
    try:
        lines = journal.read_text(encoding="utf-8", errors="replace").split("\n")
    except FileNotFoundError:
        return fingerprints
    except OSError:  # not a regular file
        discard(cache, journal)
        return fingerprints
    for line in lines:
        try:
            name, size, version = json.loads(line)
            fingerprints[name] = (size, version)
        except (ValueError, TypeError):
            continue
    return fingerprints


def _format_line(entry: tuple[str, Fingerprint]) -> str:
    return json.dumps([entry[0], *entry[1]]) + "\n"


def check_names(address: str, items: Sequence[Object]) -> None:
    """Check that each object can be a file of the mirror.  Raises AssayError."""
    names = {item.name for item in items}
    for name in sorted(names):
        reason = explain_refusal(name) or (
            "" if "/".join(split_path(name)) == name else "a part of its name is empty or `.`"
        )
        if reason:
            raise build_unsafe_name_error("an object of the run", name, reason, address)
        if parents := [str(folder) for folder in Path(name).parents if str(folder) in names]:
            cause = f"{escape_text(parents[0])} is an object"
            raise build_unsafe_name_error("an object of the run", name, cause, address)


def build_unsafe_name_error(subject: str, name: str, reason: str, location: str) -> AssayError:
    """Return the error of a subject with a name that no file of a run can have."""
    message = f"{subject} is refused: {escape_text(name)}"
    return fail(
        "unsafe-name", message, expected="names of files below the run", found=reason, notes=(f"in {location}",)
    )


def build_no_files_error(subject: str, location: str, wanted: RequiredFiles, names: Sequence[str]) -> AssayError:
    """Return the error of a run without any file that a source reads."""
    more = f" and {len(names) - NAME_LIMIT} more" if len(names) > NAME_LIMIT else ""
    plain = [glob for glob in wanted.globs if not glob.endswith(COMPRESSED)]
    return fail("no-run", f"{subject} holds no file that a source reads: {location}", expected=", ".join(plain),
                found=", ".join(map(escape_text, sorted(names)[:NAME_LIMIT])) + more or "nothing")  # fmt: skip
