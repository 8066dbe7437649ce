"""Batches: log files that are read together, cached by content.

A run is assembled from batches. When a file is added, only that file is read. A run whose reading was interrupted
continues where it stopped.
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

from assay.ingest.chunks import LogFile
from assay.ingest.event_forms import NumberedForm, Wanted
from assay.ingest.line_counts import LineCount, Share
from assay.ingest.manifest import definitions_hash
from assay.ingest.unknown_records import UnknownTally
from assay.lang.model.package import Event, Source
from assay.util import atomic, checksums
from assay.util.progress import Bytes

if TYPE_CHECKING:
    import duckdb


FOLDER = "batches"  # in the cache, and in the scratch folder for batches that are not cached
FACTS = "batch.json"
_PIECE = re.compile(r"(?P<sha256>\w+):(?P<begin>\d+)-(?P<end>\d+)/(?P<total>\d+)")
NAMED = 16  # leading characters of a batch's name, taken from the hash of its first file

#: identity of a file: its host, its index among the files of the host, its content hash
Place = tuple[str, int, str]
Facts = Mapping[str, Sequence[Any]]
#: a row (host, seq) of an event without a required field
Lacking = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class Batch:
    """The result of files or chunks of files that were read together.

    `folder` has the Parquet files of events, `lines` the line count of each file.
    """

    folder: Path
    files: tuple[LogFile, ...]
    share: Share
    lines: tuple[int, ...]
    lacking: tuple[Lacking, ...]

    @property
    def size(self) -> int:
        """Return the bytes of its raw files."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True)
class Batches:
    """Cached batches, by the hash of the definitions that they were read with. Without a cache, nothing is stored."""

    cache: Path | None
    key: str

    @property
    def folder(self) -> Path | None:
        """Return the folder of batches that were read with the same definitions."""
        return self.cache / FOLDER / self.key if self.cache else None

    def known(self, files: Sequence[LogFile]) -> tuple[list[Batch], list[LogFile]]:
        """Return the cached batches of some of the files, the largest first, and the files without one."""
        by_place = {_place(file): file for file in files if file.content}
        candidates = sorted(self._list_candidates(files), key=lambda item: -len(item[0]))
        batches = take_complete_batches(candidates, by_place)
        for place, file in list(by_place.items()):
            chunk_batches = [
                item
                for item in candidates
                if all(part[:2] == place[:2] and is_chunk_of(part[2], file) for part in item[0])
            ]
            chosen = take_complete_batches(
                chunk_batches, {part: _piece(file, part) for item in chunk_batches for part in item[0]}
            )
            if _is_whole([piece for batch in chosen for piece in batch.files]):
                batches += chosen
                del by_place[place]
        return batches, [file for file in files if not file.content or _place(file) in by_place]

    def keep(
        self, fresh: Path, files: Sequence[LogFile], shares: Sequence[Share], incomplete: Sequence[Lacking]
    ) -> Batch:
        """Store the events of files, which are in the folder `fresh`, as a batch; return it. May raise OSError."""
        tallies = tuple(tally for share in shares for tally in share.tallies)
        broken = tuple(row for share in shares for row in share.broken)
        places = [_place(file) for file in files]
        lines = [number for share in shares for number in share.lines]
        facts = {
            "files": places,
            "lines": lines,
            "tallies": [item.values for item in tallies],
            "broken": broken,
            "lacking": incomplete,
            "unknown": [item.values for share in shares for item in share.unknown_names],
        }
        text = json.dumps(facts)
        folder = fresh
        if self.cache and self.folder and all(file.content for file in files):
            (fresh / FACTS).write_text(text, encoding="utf-8")
            name = f"{places[0][2][:NAMED]}-{hashlib.sha256(json.dumps(places).encode()).hexdigest()[:32]}"
            checksums.seal(fresh, name, ends=True)
            folder = self.folder / name
            atomic.install(self.cache, fresh, folder)
        return _restored(folder, files, json.loads(text))

    def _list_candidates(self, files: Sequence[LogFile]) -> Iterator[tuple[list[Place], Facts, Path]]:
        """Yield the batches of any run that begin with one of the files."""
        first = {file.content[:NAMED] for file in files if file.content}
        folder = self.folder
        for entry in sorted(folder.iterdir()) if folder and folder.is_dir() else ():
            if entry.name[:NAMED] in first and checksums.is_sealed(entry):
                try:
                    facts = json.loads((entry / FACTS).read_text(encoding="utf-8"))
                    yield [(host, order, content) for host, order, content in facts["files"]], facts, entry
                except (OSError, ValueError, KeyError):
                    continue


def take_complete_batches(
    candidates: Iterable[tuple[list[Place], Facts, Path]], by_place: dict[Place, LogFile]
) -> list[Batch]:
    """Return the batches all of whose files are in `by_place`, and remove these files from it."""
    batches: list[Batch] = []
    for places, facts, folder in candidates:
        if all(place in by_place for place in places):
            files = tuple(by_place.pop(place) for place in places)
            batches.append(_restored(folder, files, facts))
            os.utime(folder)
    return batches


def is_chunk_of(content: str, file: LogFile) -> bool:
    """Return whether a content is a chunk of a compressed file that was unpacked for reading."""
    match = _PIECE.fullmatch(content)
    return match is not None and file.end is None and match["sha256"] == file.content


def _piece(file: LogFile, place: Place) -> LogFile:
    match = _PIECE.fullmatch(place[2])
    assert match is not None
    return replace(file, begin=int(match["begin"]), end=int(match["end"]), total=int(match["total"]))


def _is_whole(pieces: Sequence[LogFile]) -> bool:
    """Return whether chunks cover a file without a gap or an overlap."""
    at = 0
    for piece in sorted(pieces, key=lambda item: item.begin):
        if piece.begin != at or piece.end is None:
            return False
        at = piece.end
    return bool(pieces) and at == pieces[0].total


def _place(file: LogFile) -> Place:
    return file.host, file.order, file.content


def batches_key(source: Source, events: Sequence[Event], wanted: Wanted, forms: Sequence[NumberedForm]) -> str:
    """Return the hash of the definitions: source, events, required fields, and the numbers of forms."""
    numbers = [(item.number, item.event.name) for item in forms]
    text = json.dumps([definitions_hash(source, events, wanted), numbers])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def gather(
    batches: Sequence[Batch], events: Sequence[str], folder: Path, connection: Callable[[], duckdb.DuckDBPyConnection]
) -> None:
    """Assemble the events of a run from batches, as links where possible: `folder`/events/<event>/<number>.parquet.

    Read in the order of their numbers, the files have the rows of each host in order. If a file of one batch belongs
    between files of another, the engine that `connection` opens merges all batches.
    """
    ordered = sorted(batches, key=lambda item: min((file.number, file.begin) for file in item.files))
    are_in_order = _are_in_order(ordered)
    for event in events:
        place = folder / "events" / event
        place.mkdir(parents=True)
        parts = [batch.folder / f"{event}.parquet" for batch in ordered]
        if are_in_order:
            for number, part in enumerate(parts):
                atomic.link(part, place / f"{number}.parquet")
        else:
            _merge(connection(), parts, place / "0.parquet")


def _are_in_order(batches: Sequence[Batch]) -> bool:
    """Return whether batches, one after another, have the files of each host and their chunks in order."""
    last: dict[str, tuple[int, int]] = {}
    for batch in batches:
        for file in sorted(batch.files, key=lambda item: (item.number, item.begin)):
            if (file.number, file.begin) < last.get(file.host, (0, 0)):
                return False
            last[file.host] = file.number, file.begin
    return True


def _merge(connection: duckdb.DuckDBPyConnection, parts: Sequence[Path], target: Path) -> None:
    """Write the rows of Parquet files into one file, ordered by host and seq."""
    from sqlglot import exp

    from assay.sql import dialect
    from assay.sql.dialect import TARGET, copied

    paths = [exp.Literal.string(str(part)) for part in parts]
    rows = exp.Subquery(this=dialect.select("*").from_(exp.ReadParquet(expressions=[exp.Array(expressions=paths)])))
    query = dialect.select("*").from_(rows).order_by("host", "seq")
    connection.execute(copied(query), {TARGET: str(target)})


def _restored(folder: Path, files: Sequence[LogFile], facts: Facts) -> Batch:
    tallies = tuple(LineCount(*item) for item in facts["tallies"])
    broken = tuple((host, seq, form) for host, seq, form in facts["broken"])
    incomplete = tuple((host, seq, event) for host, seq, event in facts["lacking"])
    lines = tuple(facts["lines"])
    unknown = tuple((0, UnknownTally(*item)) for item in facts["unknown"])
    share = Share(tallies, broken, (), (), lines, unknown=unknown)
    return Batch(folder, tuple(files), share, lines, incomplete)


WORKERS = 8  # more do not fit into memory


@dataclass(slots=True)
class Collected:
    """State of the ingest of a run: its batches so far, its folder, and the progress out of `size` bytes."""

    folder: Path
    progress: Bytes
    size: int
    batches: Batches
    kept: list[Batch] = field(default_factory=list)
    done: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def counts(self) -> list[Share]:
        """Return the line counts of all files."""
        return [batch.share for batch in self.kept]

    @property
    def incomplete_rows(self) -> list[Lacking]:
        """Return the rows of events without a required field."""
        return [row for batch in self.kept for row in batch.lacking]

    def tell(self, more: int) -> None:
        """Report progress by a number of bytes."""
        with self.lock:
            self.done += more
            self.progress(self.done, self.size)
