"""Find the files of a run: its hosts, and the log files of each host, oldest first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest import logfmt, sql_trees, timestamps
from assay.ingest.decompress import COMPRESSED
from assay.ingest.file_snapshots import FileSnapshot, read_stamp
from assay.ingest.plain_copies import read_first_lines
from assay.lang.line_pattern import parse_pattern
from assay.lang.model.package import Event, Source
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.sql import dialect
from assay.sql.dialect import build_column
from assay.util.diagnostics import AssayError, Diagnostic, fail
from assay.util.os_errors import require_utf8
from assay.util.paths import format_listing, resolve_path

if TYPE_CHECKING:
    import duckdb


LONGEST = 4096  # characters of a text line that are searched for an instant
BLANKS = b" \t\r"  # allowed before an object
LINES_PER_FILE = 8  # of a query; few, since each line may have the maximal length
CHARACTERS_PER_QUERY = 8 * 2**20  # beyond which a query has no lines of a further file
OPEN_FILES = 256


def find_first_instants(source: Source, events: Sequence[Event], paths: Sequence[Path], count: int) -> dict[Path, str]:
    """Return the first instant among the first `count` lines of each file as sortable text, empty if there is none.

    `events` are all events of the source. If the source has no pattern of all lines, their patterns locate the instant.
    """
    import duckdb

    kind = SOURCE_KINDS[source.kind]
    read_lines = _read_texts if kind.has_patterns or kind.has_pairs else _read_objects
    build_query = _build_text_query if kind.has_patterns else _build_json_query
    query = dialect.to_sql(build_query(source, events))
    instants: dict[Path, int] = {}
    with duckdb.connect() as connection:
        for begin in range(0, len(paths), OPEN_FILES):
            lines = {path: read_lines(path, count) for path in paths[begin : begin + OPEN_FILES]}
            instants |= _query_first_instants(connection, query, lines)
    return {path: f"{instants[path] + 2**64:021d}" if path in instants else "" for path in paths}


def _read_texts(path: Path, count: int) -> Iterator[str]:
    return (line.decode("utf-8", errors="replace").rstrip()[:LONGEST] for line in read_first_lines(path, count))


def _read_objects(path: Path, count: int) -> Iterator[str]:
    lines = (line.lstrip(BLANKS) for line in read_first_lines(path, count))
    return (line.decode("utf-8", errors="replace") for line in lines if line.startswith(b"{"))


def _query_first_instants(
    connection: duckdb.DuckDBPyConnection, query: str, lines: Mapping[Path, Iterator[str]]
) -> dict[Path, int]:
    """Return the first instant that the query finds in the lines of each file that has one.

    First, the first lines of the files are queried, then a few more lines of those files where they have none.
    """
    instants: dict[Path, int] = {}
    remaining, share = dict(lines), 1
    while remaining:
        for batches in _pack_lines(remaining, share):
            texts = [text for batch in batches.values() for text in batch]
            values = iter(connection.execute(query, {"lines": texts}).fetchall() if texts else ())
            for path, batch in batches.items():
                present = [t_ns for (t_ns,) in itertools.islice(values, len(batch)) if t_ns is not None]
                instants |= {path: int(present[0])} if present else {}
                if present or len(batch) < share:
                    del remaining[path]
        share = LINES_PER_FILE
    return instants


def _pack_lines(lines: Mapping[Path, Iterator[str]], share: int) -> Iterator[dict[Path, list[str]]]:
    """Yield the next lines of each file, at most `share`, of as many files at once as memory allows."""
    batches: dict[Path, list[str]] = {}
    size = 0
    for path, items in list(lines.items()):
        batches[path] = list(itertools.islice(items, share))
        size += sum(map(len, batches[path]))
        if size > CHARACTERS_PER_QUERY:
            yield batches
            batches, size = {}, 0
    if batches:
        yield batches


def _build_lines_query() -> exp.Select:
    """Return the query for the lines in the parameter `lines`, with their numbers."""
    line = sql_trees.build_alias(exp.Explode(this=sql_trees.build_list_parameter("lines", "TEXT")), "line")
    number = sql_trees.call(
        "generate_subscripts", sql_trees.build_list_parameter("lines", "TEXT"), dialect.build_integer(1)
    )
    return dialect.select(sql_trees.build_alias(number, "number"), line)


def _build_json_query(source: Source, events: Sequence[Event]) -> exp.Select:
    """Return the query for the instants of lines with JSON objects, in order; null for a line without one."""
    event_paths = (path for event in events for form in event.forms for path in form.time)
    paths = tuple(dict.fromkeys([*source.time_paths, *event_paths]))
    line = build_column("line")
    texts = sql_trees.extract_texts(logfmt.build_json(line) if SOURCE_KINDS[source.kind].has_pairs else line, paths)
    text = sql_trees.build_coalesce(
        [sql_trees.build_member(build_column("texts"), index + 1) for index, _ in enumerate(paths)]
    )
    t_ns = sql_trees.build_alias(timestamps.build_text_instant(source, build_column("text")), "t_ns")
    stages = [
        ("lines", _build_lines_query()),
        # A stage of its own, since an expression that occurs twice may be evaluated outside of TRY.
        ("objects", _select_with_number("lines", "texts", sql_trees.build_try(texts))),
        ("instants", _select_with_number("objects", "text", text)),
    ]
    query = sql_trees.set_source(dialect.select(t_ns), "instants").order_by("number")
    return dialect.add_stages(query, stages)


def _select_with_number(source: str, name: str, value: exp.Expr) -> exp.Select:
    return sql_trees.set_source(dialect.select("number", sql_trees.build_alias(value, name)), source)


def _build_text_query(source: Source, events: Sequence[Event]) -> exp.Select:
    """Return the query for the instants of text lines, in order; null for a line without one."""
    patterns = (
        [source.line] if source.line else [name.name for event in events for form in event.forms for name in form.names]
    )
    texts = [_build_text_instant(source, item) for item in patterns]
    text = sql_trees.call("coalesce", *texts)
    parts = timestamps.build_parts(source, build_column("text"))
    t_ns = sql_trees.build_alias(timestamps.build_instant(source, build_column("instant_parts")), "t_ns")
    stages = [
        ("lines", _build_lines_query()),
        ("texts", _select_with_number("lines", "text", text)),
        ("parts", _select_with_number("texts", "instant_parts", parts)),
    ]
    query = sql_trees.set_source(dialect.select(t_ns), "parts").order_by("number")
    return dialect.add_stages(query, stages)


def _build_text_instant(source: Source, pattern: str) -> exp.Expr:
    """Return the text of the instant of a line that matches a pattern, else null."""
    parts: list[exp.Expr] = []
    for place in source.time:
        expression = sql_trees.build_text(parse_pattern(pattern).build_expression((place,)))
        part = sql_trees.call("regexp_extract", build_column("line"), expression, dialect.build_integer(1))
        parts.append(sql_trees.call("nullif", part, sql_trees.build_text("")))
    return sql_trees.join_by_blanks(parts)


PROBED_LINES = 2000  # leading lines of a file that are searched for an instant
RUN_HINT = "--run takes a directory of a run, an archive of one, or an s3:// address"
SEARCHED_FOLDERS = 1000  # of a folder that is no run
SUGGESTED_RUNS = SUGGESTED_LOGS = 3
MACOS_METADATA_PREFIX = "._"  # prefix of the metadata files that macOS writes on foreign file systems
NO_INSTANT = "~"  # sort key of a file without an instant: after all others


@dataclass(frozen=True, slots=True)
class HostFiles:
    """Snapshots of the log files of a host, oldest first."""

    host: str
    snapshots: tuple[FileSnapshot, ...]

    @property
    def files(self) -> tuple[Path, ...]:
        """Return their paths."""
        return tuple(item.path for item in self.snapshots)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the bytes of each file that are read."""
        return tuple(item.size for item in self.snapshots)

    @property
    def size(self) -> int:
        """Return the bytes of all files."""
        return sum(self.sizes)


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The directory of a run and the log files of its hosts, ordered by name as text."""

    directory: Path
    hosts: tuple[HostFiles, ...]

    @property
    def size(self) -> int:
        """Return the bytes of all files of all hosts."""
        return sum(host.size for host in self.hosts)

    def check_unchanged(self) -> None:
        """Check that no file changed since it was discovered. Raises AssayError."""
        for host in self.hosts:
            for item in host.snapshots:
                item.check_unchanged()


def find_run(source: Source, directory: Path, events: Sequence[Event] = ()) -> RunFiles:
    """Return the files of a run. If the source has no hosts, they belong to one host without a name.

    `events` are all events of the source. If its lines have no common pattern, their patterns order the files.

    Raises AssayError if the directory does not exist, is unreadable, or has no hosts or no files.
    """
    try:
        return _find_run(source, directory, events)
    except OSError as error:
        raise fail(
            "broken-file",
            f"the directory cannot be read: {error.filename or directory}",
            found=error.strerror or str(error),
            hint="check its permissions" if isinstance(error, PermissionError) else "",
        ) from None


def _find_run(source: Source, directory: Path, events: Sequence[Event]) -> RunFiles:
    if not directory.exists():
        raise fail("no-run", f"the run directory does not exist: {directory}", hint=RUN_HINT)
    if not directory.is_dir():
        raise fail("no-run", f"the run is not a directory: {directory}", hint=RUN_HINT)
    if not any(directory.iterdir()):
        raise AssayError((build_empty_run_diagnostic(directory),))
    if not source.hosts:
        return RunFiles(directory, (_find_host_files(source, events, directory, ""),))
    if source.host_files:
        return RunFiles(directory, _find_file_hosts(source, directory))
    folders = sorted((path for path in directory.glob(source.hosts) if path.is_dir()), key=lambda path: path.name)
    if not folders:
        raise fail(
            "no-hosts",
            f"the run has no host directory: {directory}",
            expected=f"directories {source.hosts}",
            found=format_listing(directory),
            hint=suggest_runs([source], directory),
        )
    return RunFiles(directory, tuple(_find_host_files(source, events, folder, folder.name) for folder in folders))


def has_files(source: Source, directory: Path) -> bool:
    """Return whether a directory has files of a source, as a run would."""
    if not source.hosts:
        globs = [pattern + end for pattern in source.logs for end in ("", *COMPRESSED)]
        return any(True for glob in globs for _ in find_files(directory, glob))
    if source.host_files:
        return bool(list_host_paths(source, directory))
    return any(path.is_dir() for path in directory.glob(source.hosts))


def list_host_names(source: Source, directory: Path) -> tuple[str, ...]:
    """Return the names of the hosts that have files of a source, in order, without reading these files."""
    if not source.hosts:
        return ()
    if source.host_files:
        return tuple(sorted({_get_file_host(source, path) for path in list_host_paths(source, directory)}))
    globs = [pattern + end for pattern in source.logs for end in ("", *COMPRESSED)]
    folders = (path for path in directory.glob(source.hosts) if path.is_dir())
    return tuple(sorted(path.name for path in folders if any(True for glob in globs for _ in find_files(path, glob))))


def suggest_runs(sources: Sequence[Source], directory: Path) -> str:
    """Return a hint that names up to three runs among the folders of a directory; empty if it has none."""
    folders = itertools.chain.from_iterable(map(directory.glob, ("*/", "*/*/", "*/*/*/")))
    searched = itertools.islice(folders, SEARCHED_FOLDERS)
    runs = sorted(path for path in searched if any(has_files(source, path) for source in sources))
    if not runs:
        return ""
    more = f" There are {len(runs) - SUGGESTED_RUNS} more." if len(runs) > SUGGESTED_RUNS else ""
    return f"did you mean {' or '.join(f'`{path}`' for path in runs[:SUGGESTED_RUNS])}?{more}"


def build_empty_run_diagnostic(directory: Path) -> Diagnostic:
    """Return the diagnostic for an empty directory of a run."""
    return Diagnostic("no-run", f"the run directory is empty: {directory}")


def list_host_paths(source: Source, directory: Path) -> list[Path]:
    """Return the files of a source whose hosts are files, plain or compressed."""
    globs = (source.hosts, *(source.hosts + end for end in COMPRESSED))
    return [path for glob in globs for path in find_files(directory, glob)]


def find_files(directory: Path, glob: str) -> Iterator[Path]:
    """Yield the files below a directory that match a glob of a source."""
    return (path for path in directory.glob(glob) if not path.name.startswith(MACOS_METADATA_PREFIX) and path.is_file())


def _find_file_hosts(source: Source, directory: Path) -> tuple[HostFiles, ...]:
    """Return the hosts of a source whose hosts are files.

    Raises AssayError if a file exists both plain and compressed.
    """
    paths: dict[str, Path] = {}
    for path in sorted(list_host_paths(source, directory)):
        host = _get_file_host(source, path)
        if host in paths:
            names = " and ".join(sorted([path.name, paths[host].name]))
            raise fail("same-log", f"{names} are both the log of host {host}: {path.parent}", hint="keep one of them")
        paths[host] = path
    if not paths:
        raise fail(
            "no-hosts",
            f"the run has no log of a host: {directory}",
            expected=f"files {source.hosts} (also with .gz or .zst)",
            found=format_listing(directory),
            hint=suggest_runs([source], directory),
        )
    return tuple(HostFiles(host, (take_snapshot(path),)) for host, path in sorted(paths.items()))


def _get_file_host(source: Source, path: Path) -> str:
    """Return the host of a file of a source whose hosts are files."""
    prefix, _, suffix = source.hosts.rpartition("/")[2].partition("*")
    plain_name = path.name.removesuffix(path.suffix) if path.suffix in COMPRESSED else path.name
    return plain_name[len(prefix) : len(plain_name) - len(suffix)]


def _find_host_files(source: Source, events: Sequence[Event], folder: Path, host: str) -> HostFiles:
    require_utf8(str(folder), "the name of a folder of the run")
    next(folder.iterdir(), None)  # raises OSError for an unreadable folder; a glob would just be empty
    paths: dict[Path, Path] = {}
    for pattern in source.logs:
        compressed_paths = (path for end in COMPRESSED for path in find_files(folder, pattern + end))
        for path in (*sorted(find_files(folder, pattern)), *compressed_paths):
            paths.setdefault(resolve_path(path), path)
    if not paths:
        patterns = ", ".join(source.logs)
        problem = f"host {host} has no log file" if host else f"the run has no file of {source.name}"
        raise fail(
            "no-logs",
            f"{problem}: {folder}",
            expected=f"{patterns} (also with .gz or .zst)",
            found=format_listing(folder) or "nothing",
            hint=_build_no_host_hint(source, host) or _build_other_name_hint(source, folder),
        )
    sort_keys = _compute_sort_keys(source, events, folder, [*paths.values()])
    files = tuple(sorted(sort_keys, key=lambda path: (sort_keys[path], path.name)))
    _check_no_copies(folder, host, sort_keys)
    return HostFiles(host, tuple(map(take_snapshot, files)))


def _build_no_host_hint(source: Source, host: str) -> str:
    """Return a hint if `hosts` of the source matches any folder, so that this one need not be a host."""
    if not host or any(letter.isalnum() for letter in PurePath(source.hosts).name):
        return ""
    return f"if {host} is not a host, narrow `hosts` of source `{source.name}`, which is `{source.hosts}`"


def _build_other_name_hint(source: Source, folder: Path) -> str:
    """Return a hint with the files whose suffix is that of the source's logs; empty without such files."""
    endings = {PurePath(pattern).suffix for pattern in source.logs} - {""}
    facts = {file for constant in source.constants for file in constant.files}
    names = sorted(
        path.name
        for path in folder.iterdir()
        if path.is_file() and path.name not in facts and endings & set(path.suffixes[-2:])
    )
    if not names:
        return ""
    more = f" or {len(names) - SUGGESTED_LOGS} more" if len(names) > SUGGESTED_LOGS else ""
    listing = " or ".join(f"`{name}`" for name in names[:SUGGESTED_LOGS])
    patterns = ", ".join(f"`{pattern}`" for pattern in source.logs)
    return f"if {listing}{more} is a log, rename it, or widen `logs` of source `{source.name}`, which is {patterns}"


def take_snapshot(path: Path) -> FileSnapshot:
    """Return a snapshot of a file.

    Raises AssayError if the file does not exist or its name is not valid text.
    """
    require_utf8(str(path), "the name of a file of the run")
    stamp = read_stamp(path)
    return FileSnapshot(path, stamp, stamp.size)


def _compute_sort_keys(
    source: Source, events: Sequence[Event], folder: Path, paths: Sequence[Path]
) -> Mapping[Path, str]:
    """Return the sort key of each file: the first instant of a log; without instants and for other kinds its folder."""
    kind = SOURCE_KINDS[source.kind]
    if len(paths) == 1:
        return dict.fromkeys(paths, "")
    if kind.is_log and source.time and (not kind.has_patterns or source.line or events):
        instants = find_first_instants(source, events, paths, PROBED_LINES)
        return {path: instant or NO_INSTANT for path, instant in instants.items()}
    return {path: path.parent.relative_to(folder).as_posix() for path in paths}


def _check_no_copies(folder: Path, host: str, sort_keys: Mapping[Path, str]) -> None:
    """Check that no file exists both plain and compressed, which would count its lines twice. Raises AssayError."""
    paths_by_key: dict[tuple[str, str], Path] = {}
    for path, sort_key in sort_keys.items():
        key = (path.name.removesuffix(path.suffix) if path.suffix in COMPRESSED else path.name, sort_key)
        if sort_key != NO_INSTANT and key in paths_by_key:
            names = " and ".join(sorted([path.name, paths_by_key[key].name]))
            host_clause, noun = (f" of host {host}", "log") if host else ("", "file")
            raise fail("same-log", f"{names}{host_clause} are the same {noun}: {folder}", hint="keep one of them")
        paths_by_key[key] = path
