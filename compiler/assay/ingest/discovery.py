"""Find the files of a run: its hosts, and the log files of each host, oldest first."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest import builder, timestamps
from assay.ingest.decompress import COMPRESSED
from assay.ingest.fingerprint import FileSnapshot, mark_of
from assay.ingest.plain_copies import first_lines
from assay.lang.line_pattern import parse
from assay.lang.model.package import Event, Source
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.sql import dialect
from assay.sql.dialect import column
from assay.util.diagnostics import AssayError, Diagnostic, fail
from assay.util.os_errors import require_utf8
from assay.util.paths import LOOP, is_loop, resolve_path

if TYPE_CHECKING:
    import duckdb


LONGEST = 4096  # characters of a line of text that are looked at
BLANKS = b" \t\r"  # that may stand ahead of an object
AT_ONCE = 8  # lines that are looked at together: each may be as long as a line may be


def first_instant(source: Source, events: Sequence[Event], path: Path, count: int) -> str:
    """The instant as a text that sorts by time, out of so many lines at most; empty when none of them has one.

    `events` are all of the source: where it has no pattern of all lines, theirs tell where the instant is.
    """
    import duckdb

    if SOURCE_KINDS[source.kind].has_patterns:
        query, lines = _of_text(source, events), _texts(path, count)
    else:
        query, lines = _of_json(source), _objects(path, count)
    with duckdb.connect() as connection:
        first = _first(connection, dialect.text(query), lines)
    return "" if first is None else f"{first + 2**64:021d}"


def _texts(path: Path, count: int) -> Iterator[str]:
    return (line.decode("utf-8", errors="replace").rstrip()[:LONGEST] for line in first_lines(path, count))


def _objects(path: Path, count: int) -> Iterator[str]:
    lines = (line.lstrip(BLANKS) for line in first_lines(path, count))
    return (line.decode("utf-8", errors="replace") for line in lines if line.startswith(b"{"))


def _first(connection: duckdb.DuckDBPyConnection, query: str, lines: Iterable[str]) -> int | None:
    """The first instant that the query finds in the lines; None where there is none."""
    rest = iter(lines)
    while some := list(itertools.islice(rest, AT_ONCE)):
        found = (t_ns for (t_ns,) in connection.execute(query, {"lines": some}).fetchall())
        if (first := next((t_ns for t_ns in found if t_ns is not None), None)) is not None:
            return int(first)
    return None


def _lines() -> exp.Select:
    """The lines `$lines` with their numbers."""
    line = builder.alias(exp.Explode(this=builder.given_list("lines", "TEXT")), "line")
    number = builder.call("generate_subscripts", builder.given_list("lines", "TEXT"), dialect.integer(1))
    return dialect.select(builder.alias(number, "number"), line)


def _of_json(source: Source) -> exp.Select:
    """The instants of lines that are JSON objects, in order; null for a line without one."""
    texts = builder.texts_at(column("line"), source.times)
    found = builder.tried(
        builder.first_of([builder.member(texts.copy(), index + 1) for index in range(len(source.times))])
    )
    said = builder.from_source(dialect.select("number", builder.alias(found, "said")), "lines")
    query = builder.from_source(
        dialect.select(builder.alias(timestamps.of_text(source, column("said")), "t_ns")), "said"
    )
    return dialect.staged(query.order_by("number"), [("lines", _lines()), ("said", said)])


def _of_text(source: Source, events: Sequence[Event]) -> exp.Select:
    """The instants of lines of text, in order; null for a line without one."""
    patterns = (
        [source.line] if source.line else [name.name for event in events for form in event.forms for name in form.names]
    )
    expressions = [builder.text(parse(item).expression((source.time[0],))) for item in patterns]
    found = [builder.call("regexp_extract", column("line"), item, dialect.integer(1)) for item in expressions]
    said = [builder.call("nullif", item, builder.text("")) for item in found]
    stages = [
        ("lines", _lines()),
        (
            "said",
            builder.from_source(
                dialect.select("number", builder.alias(builder.call("coalesce", *said), "said")), "lines"
            ),
        ),
        (
            "parted",
            builder.from_source(
                dialect.select("number", builder.alias(timestamps.parse_parts(source, column("said")), "moment")),
                "said",
            ),
        ),
    ]
    query = builder.from_source(
        dialect.select(builder.alias(timestamps.instant(source, column("moment")), "t_ns")), "parted"
    )
    return dialect.staged(query.order_by("number"), stages)


PROBED = 2000  # lines looked at for the first object of a file
TAKEN = "--run takes a directory of a run, an archive of one, or an s3:// address"
BESIDE = "._"  # how the names begin of what macOS writes beside files, on disks that are not its own
NO_OBJECT = "~"  # the instant of a file without any: after all others


@dataclass(frozen=True, slots=True)
class HostFiles:
    """A host's log files, oldest first, each with what is held of it."""

    host: str
    held: tuple[FileSnapshot, ...]

    @property
    def files(self) -> tuple[Path, ...]:
        """Where they are."""
        return tuple(item.path for item in self.held)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Bytes of each that are read."""
        return tuple(item.size for item in self.held)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(self.sizes)


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The directory of a run and the logs of its hosts, ordered by name as text."""

    directory: Path
    hosts: tuple[HostFiles, ...]

    @property
    def size(self) -> int:
        """Bytes of all files of all hosts."""
        return sum(host.size for host in self.hosts)

    def unchanged(self) -> None:
        """AssayError when a file is not as it was found."""
        for host in self.hosts:
            for item in host.held:
                item.unchanged()


def find_run(source: Source, directory: Path, events: Sequence[Event] = ()) -> RunFiles:
    """The files of a run; where the source has no hosts, those of one host without a name, the directory itself.

    `events` are all of the source: where its lines have no pattern in common, theirs tell which file is the oldest.

    AssayError when the directory is not one, or holds no hosts or no files, or cannot be looked through.
    """
    try:
        return _find_run(source, directory, events)
    except OSError as error:
        raise fail(
            "broken-file",
            f"the directory cannot be read: {error.filename or directory}",
            found=error.strerror or str(error),
            hint="may the user who runs this read it?" if isinstance(error, PermissionError) else "",
        ) from None


def _find_run(source: Source, directory: Path, events: Sequence[Event]) -> RunFiles:
    if not directory.exists():
        raise fail("no-run", f"the run directory does not exist: {directory}", hint=TAKEN)
    if not directory.is_dir():
        raise fail("no-run", f"the run is no directory: {directory}", hint=TAKEN)
    if not any(directory.iterdir()):
        raise AssayError((empty_run(directory),))
    if not source.hosts:
        return RunFiles(directory, (_host(source, events, directory, ""),))
    if source.host_files:
        return RunFiles(directory, _file_hosts(source, directory))
    folders = sorted((path for path in directory.glob(source.hosts) if path.is_dir()), key=lambda path: path.name)
    if not folders:
        raise fail(
            "no-hosts",
            f"the run has no host directory: {directory}",
            expected=f"directories {source.hosts}",
            found=listed(directory),
        )
    return RunFiles(directory, tuple(_host(source, events, folder, folder.name) for folder in folders))


def empty_run(directory: Path) -> Diagnostic:
    """The problem of a run's directory that has nothing in it."""
    return Diagnostic("no-run", f"the run directory is empty: {directory}")


def host_paths(source: Source, directory: Path) -> list[Path]:
    """The files of a source whose hosts are files, plain or packed."""
    globs = (source.hosts, *(source.hosts + end for end in COMPRESSED))
    return [path for glob in globs for path in files_of(directory, glob)]


def files_of(directory: Path, glob: str) -> Iterator[Path]:
    """The files below a directory that a glob of a source finds."""
    return (path for path in directory.glob(glob) if not path.name.startswith(BESIDE) and path.is_file())


def _file_hosts(source: Source, directory: Path) -> tuple[HostFiles, ...]:
    """Hosts that are files; a file that is there both plain and packed is an error."""
    before, _, after = source.hosts.rpartition("/")[2].partition("*")
    found: dict[str, Path] = {}
    for path in sorted(host_paths(source, directory)):
        plain = path.name.removesuffix(path.suffix) if path.suffix in COMPRESSED else path.name
        host = plain[len(before) : len(plain) - len(after)]
        if host in found:
            names = " and ".join(sorted([path.name, found[host].name]))
            raise fail("same-log", f"{names} are both the log of host {host}: {path.parent}", hint="keep one of them")
        found[host] = path
    if not found:
        raise fail(
            "no-hosts",
            f"the run has no log of a host: {directory}",
            expected=f"files {source.hosts} (also with .gz or .zst)",
            found=listed(directory),
        )
    return tuple(HostFiles(host, (take_snapshot(path),)) for host, path in sorted(found.items()))


def listed(directory: Path) -> str:
    """What a directory holds, in words."""
    names = sorted(map(_called, directory.iterdir()))
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _called(path: Path) -> str:
    """What a member of a folder is called, and what it is when it is no file."""
    if path.is_dir():
        return f"{path.name}/"
    if path.is_file():
        return path.name
    if is_loop(path):
        return f"{path.name} ({LOOP})"
    return f"{path.name} ({'a link that leads to nothing' if path.is_symlink() else 'no regular file'})"


def _host(source: Source, events: Sequence[Event], folder: Path, host: str) -> HostFiles:
    require_utf8(str(folder), "the name of a folder of the run")
    next(folder.iterdir(), None)  # which fails where patterns just find nothing
    found: dict[Path, Path] = {}
    for pattern in source.logs:
        packed = (path for end in COMPRESSED for path in files_of(folder, pattern + end))
        for path in (*sorted(files_of(folder, pattern)), *packed):
            found.setdefault(resolve_path(path), path)
    if not found:
        patterns = ", ".join(source.logs)
        lack = f"host {host} has no log file" if host else f"the run has no file of {source.name}"
        raise fail(
            "no-logs",
            f"{lack}: {folder}",
            expected=f"{patterns} (also with .gz or .zst)",
            found=listed(folder) or "nothing",
            hint=_perhaps_none(source, host),
        )
    first = {path: _place(source, events, folder, path) if len(found) > 1 else "" for path in found.values()}
    files = tuple(sorted(first, key=lambda path: (first[path], path.name)))
    _no_copies(folder, host, first)
    return HostFiles(host, tuple(map(take_snapshot, files)))


def _perhaps_none(source: Source, host: str) -> str:
    """A hint where the hosts of a source are folders of any name, of which this one may be none."""
    if not host or any(letter.isalnum() for letter in PurePath(source.hosts).name):
        return ""
    return (
        f"if {host} is no host, `hosts` of source `{source.name}` is to find the others alone: it is `{source.hosts}`"
    )


def take_snapshot(path: Path) -> FileSnapshot:
    """A file as it is now; AssayError when it is gone, or has a name that is no text."""
    require_utf8(str(path), "the name of a file of the run")
    mark = mark_of(path)
    return FileSnapshot(path, mark, mark.size)


def _place(source: Source, events: Sequence[Event], folder: Path, path: Path) -> str:
    """What orders the files of a host: the first instant of a log; of other kinds the folder a file is in."""
    kind = SOURCE_KINDS[source.kind]
    if kind.is_log and (not kind.has_patterns or source.line or events):
        return first_instant(source, events, path, PROBED) or NO_OBJECT
    return path.parent.relative_to(folder).as_posix()


def _no_copies(folder: Path, host: str, first: Mapping[Path, str]) -> None:
    """AssayError when a file is there both plain and packed, which would count its lines twice."""
    seen: dict[tuple[str, str], Path] = {}
    for path, place in first.items():
        key = (path.name.removesuffix(path.suffix) if path.suffix in COMPRESSED else path.name, place)
        if place != NO_OBJECT and key in seen:
            names = " and ".join(sorted([path.name, seen[key].name]))
            of, what = (f" of host {host}", "log") if host else ("", "file")
            raise fail("same-log", f"{names}{of} are the same {what}: {folder}", hint="keep one of them")
        seen[key] = path
