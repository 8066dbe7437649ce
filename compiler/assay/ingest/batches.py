"""Batches: log files that are read together, cached by content.

A run is assembled from batches. When a file is added, only this file is read. An interrupted ingest continues with the
files that have no batch yet.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.ingest.absent_files import is_absent
from assay.ingest.chunks import LogFile
from assay.ingest.event_forms import NumberedForm, RequiredFields
from assay.ingest.line_counts import FileCounts, LineCount
from assay.ingest.manifest import hash_definitions
from assay.ingest.unknown_records import UnknownTally
from assay.lang.model.package import Event, Source
from assay.sql import dialect
from assay.sql.dialect import TARGET, build_copy_with_stats
from assay.util import atomic, checksums
from assay.util.progress import ByteProgress

if TYPE_CHECKING:
    import duckdb


FOLDER = "batches"  # in the cache, and in the scratch folder for batches that are not cached
METADATA_FILE = "batch.json"
_CHUNK_IDENTITY = re.compile(r"(?P<sha256>\w+):(?P<begin>\d+)-(?P<end>\d+)(?:/(?P<total>\d+))?")
NAME_PREFIX_LENGTH = 16  # leading characters of the name of a batch, from the hash of its first file

#: identity of a file: its host, its index among the files of the host, its content hash
FileIdentity = tuple[str, int, str]
BatchMetadata = Mapping[str, Sequence[Any]]
#: a row (host, seq) of an event without a required field
IncompleteRow = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class Batch:
    """The result of files or chunks of files that were read together.

    `folder` has the Parquet files of events, `lines` the line count of each file.
    """

    folder: Path
    files: tuple[LogFile, ...]
    counts: FileCounts
    lines: tuple[int, ...]
    incomplete_rows: tuple[IncompleteRow, ...]

    @property
    def size(self) -> int:
        """Return the bytes of its raw files."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class BatchCache:
    """Cached batches by the hash of the definitions with which they were read. Without a cache, nothing is stored."""

    cache: Path | None
    key: str

    @property
    def folder(self) -> Path | None:
        """Return the folder of the batches that were read with the same definitions."""
        return self.cache / FOLDER / self.key if self.cache else None

    def find_cached(self, files: Sequence[LogFile]) -> tuple[list[Batch], list[LogFile]]:
        """Return the cached batches of some of the files, the largest first, and the files without one."""
        candidates = sorted(self._list_candidates(files), key=lambda item: -len(item[0]))
        files = _divide_absent_files(files, [identity for item in candidates for identity in item[0]])
        files_by_identity = {_get_identity(file): file for file in files if file.content}
        batches = _take_complete_batches(candidates, files_by_identity)
        for identity, file in list(files_by_identity.items()):
            chunk_batches = [
                item
                for item in candidates
                if all(
                    chunk_identity[:2] == identity[:2] and _is_chunk_of(chunk_identity[2], file)
                    for chunk_identity in item[0]
                )
            ]
            complete_batches = _take_complete_batches(
                chunk_batches,
                {
                    chunk_identity: _build_chunk(file, chunk_identity)
                    for item in chunk_batches
                    for chunk_identity in item[0]
                },
            )
            if _is_whole([chunk for batch in complete_batches for chunk in batch.files]):
                batches += complete_batches
                del files_by_identity[identity]
        return batches, [file for file in files if not file.content or _get_identity(file) in files_by_identity]

    def store_batch(
        self,
        new_folder: Path,
        files: Sequence[LogFile],
        file_counts: Sequence[FileCounts],
        incomplete_rows: Sequence[IncompleteRow],
    ) -> Batch:
        """Store the events of files in the folder `new_folder` as a batch; return it. May raise OSError."""
        tallies = tuple(tally for counts in file_counts for tally in counts.tallies)
        malformed = tuple(row for counts in file_counts for row in counts.malformed)
        identities = [_get_identity(file) for file in files]
        lines = [number for counts in file_counts for number in counts.lines]
        metadata: BatchMetadata = {
            "files": identities,
            "lines": lines,
            "tallies": [item.values for item in tallies],
            "broken": malformed,
            "lacking": incomplete_rows,
            "unknown": [item.values for counts in file_counts for item in counts.unknown_names],
        }
        folder = new_folder
        if self.cache and self.folder and all(file.content for file in files):
            (new_folder / METADATA_FILE).write_text(json.dumps(metadata), encoding="utf-8")
            digest = hashlib.sha256(json.dumps(identities).encode()).hexdigest()
            name = f"{identities[0][2][:NAME_PREFIX_LENGTH]}-{digest[:32]}"
            checksums.seal(new_folder, name, checks_ends_only=True)
            folder = self.folder / name
            atomic.install(self.cache, new_folder, folder)
        return _restore_batch(folder, files, metadata)

    def _list_candidates(self, files: Sequence[LogFile]) -> Iterator[tuple[list[FileIdentity], BatchMetadata, Path]]:
        """Yield the batches of any run that begin with one of the files."""
        prefixes = {file.content[:NAME_PREFIX_LENGTH] for file in files if file.content}
        folder = self.folder
        for entry in sorted(folder.iterdir()) if folder and folder.is_dir() else ():
            if entry.name[:NAME_PREFIX_LENGTH] in prefixes and checksums.is_sealed(entry):
                try:
                    metadata = json.loads((entry / METADATA_FILE).read_text(encoding="utf-8"))
                    yield [(host, order, content) for host, order, content in metadata["files"]], metadata, entry
                except (OSError, ValueError, KeyError):
                    continue


def _take_complete_batches(
    candidates: Iterable[tuple[list[FileIdentity], BatchMetadata, Path]], files_by_identity: dict[FileIdentity, LogFile]
) -> list[Batch]:
    """Return the batches whose files are all in `files_by_identity`, and remove these files from it."""
    batches: list[Batch] = []
    for identities, metadata, folder in candidates:
        if all(identity in files_by_identity for identity in identities):
            files = tuple(files_by_identity.pop(identity) for identity in identities)
            batches.append(_restore_batch(folder, files, metadata))
            os.utime(folder)
    return batches


def _divide_absent_files(files: Sequence[LogFile], identities: Iterable[FileIdentity]) -> list[LogFile]:
    """Return the files; absent ones, which cannot be divided here, as the chunks of cached batches."""
    chunks: dict[FileIdentity, set[FileIdentity]] = {
        _get_identity(file): set() for file in files if file.content and file.end is None and is_absent(file.path)
    }
    for identity in identities if chunks else ():
        match = _CHUNK_IDENTITY.fullmatch(identity[2])
        if match and match["total"] is None:
            chunks.get((*identity[:2], match["sha256"]), set()).add(identity)
    divided = []
    for file in files:
        parts = [_build_chunk(file, identity) for identity in chunks.get(_get_identity(file), ())]
        divided += parts if _is_whole(parts) else [file]
    return divided


def _is_chunk_of(content: str, file: LogFile) -> bool:
    """Return whether a content identity is that of a chunk of a file that is not divided."""
    match = _CHUNK_IDENTITY.fullmatch(content)
    return match is not None and file.end is None and match["sha256"] == file.content


def _build_chunk(file: LogFile, identity: FileIdentity) -> LogFile:
    match = _CHUNK_IDENTITY.fullmatch(identity[2])
    assert match is not None
    return replace(file, begin=int(match["begin"]), end=int(match["end"]), total=int(match["total"] or 0))


def _is_whole(chunks: Sequence[LogFile]) -> bool:
    """Return whether chunks cover a file without a gap or an overlap."""
    position = 0
    for chunk in sorted(chunks, key=lambda item: item.begin):
        if chunk.begin != position or chunk.end is None:
            return False
        position = chunk.end
    return bool(chunks) and position == (chunks[0].total or chunks[0].snapshot.size)


def _get_identity(file: LogFile) -> FileIdentity:
    return file.host, file.order, file.content


def compute_batches_key(
    source: Source, events: Sequence[Event], required_fields: RequiredFields, forms: Sequence[NumberedForm]
) -> str:
    """Return the hash of the definitions: source, events, required fields and numbers of forms."""
    numbers = [(item.number, item.event.name) for item in forms]
    text = json.dumps([hash_definitions(source, events, required_fields), numbers])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def assemble_events(
    batches: Sequence[Batch],
    events: Sequence[str],
    folder: Path,
    open_connection: Callable[[], duckdb.DuckDBPyConnection],
) -> None:
    """Assemble the events of a run from batches, as links where possible: `folder`/events/<event>/<number>.parquet.

    In the order of their numbers, the files have the rows of each host in order. If a file of one batch belongs between
    files of another, the engine that `open_connection` returns merges all batches.
    """
    ordered = sorted(batches, key=lambda item: min((file.number, file.begin) for file in item.files))
    in_order = _is_in_order(ordered)
    for event in events:
        event_folder = folder / "events" / event
        event_folder.mkdir(parents=True)
        batch_files = [batch.folder / f"{event}.parquet" for batch in ordered]
        if in_order:
            for number, batch_file in enumerate(batch_files):
                atomic.link(batch_file, event_folder / f"{number}.parquet")
        else:
            _merge_files(open_connection(), batch_files, event_folder / "0.parquet")


def _is_in_order(batches: Sequence[Batch]) -> bool:
    """Return whether batches, one after another, have the files of each host and their chunks in order."""
    last: dict[str, tuple[int, int]] = {}
    for batch in batches:
        for file in sorted(batch.files, key=lambda item: (item.number, item.begin)):
            if (file.number, file.begin) < last.get(file.host, (0, 0)):
                return False
            last[file.host] = file.number, file.begin
    return True


def _merge_files(connection: duckdb.DuckDBPyConnection, files: Sequence[Path], target: Path) -> None:
    """Write the rows of Parquet files into one file, ordered by host and seq."""
    paths = [exp.Literal.string(str(file)) for file in files]
    rows = exp.Subquery(this=dialect.select("*").from_(exp.ReadParquet(expressions=[exp.Array(expressions=paths)])))
    query = dialect.select("*").from_(rows).order_by("host", "seq")
    connection.execute(build_copy_with_stats(query), {TARGET: str(target)})


def _restore_batch(folder: Path, files: Sequence[LogFile], metadata: BatchMetadata) -> Batch:
    tallies = tuple(LineCount(*item) for item in metadata["tallies"])
    malformed = tuple(map(tuple, metadata["broken"]))
    incomplete_rows = tuple(map(tuple, metadata["lacking"]))
    lines = tuple(metadata["lines"])
    unknown = tuple((0, UnknownTally(*item)) for item in metadata["unknown"])
    counts = FileCounts(tallies, malformed, (), (), lines, unknown=unknown)
    return Batch(folder, tuple(files), counts, lines, incomplete_rows)


WORKERS = 8  # more do not fit into memory


@dataclass(slots=True)
class IngestState:
    """State of the ingest of a run: its folder, its batches so far, and the progress out of `size` bytes."""

    folder: Path
    progress: ByteProgress
    size: int
    batch_cache: BatchCache
    finished_batches: list[Batch] = field(default_factory=list)
    bytes_done: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def counts(self) -> list[FileCounts]:
        """Return the line counts of all files."""
        return [batch.counts for batch in self.finished_batches]

    @property
    def incomplete_rows(self) -> list[IncompleteRow]:
        """Return the rows of events in which a required field is missing."""
        return [row for batch in self.finished_batches for row in batch.incomplete_rows]

    def report_progress(self, byte_count: int) -> None:
        """Report progress by a number of bytes."""
        with self.lock:
            self.bytes_done += byte_count
            self.progress(self.bytes_done, self.size)
