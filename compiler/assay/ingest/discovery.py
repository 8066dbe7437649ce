"""The files of a run: its hosts, and each host's log files, oldest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from assay.ingest.decompress import COMPRESSED
from assay.ingest.fingerprint import FileSnapshot, mark_of
from assay.lang.model.package import Event, Source
from assay.lang.model.source_kinds import JSON_LINES, TEXT_LINES
from assay.util.diagnostics import AssayError, Diagnostic, fail
from assay.util.os_errors import whole
from assay.util.paths import LOOP, is_loop, resolve_path

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
    whole(str(folder), "the name of a folder of the run")
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
    whole(str(path), "the name of a file of the run")
    mark = mark_of(path)
    return FileSnapshot(path, mark, mark.size)


def _place(source: Source, events: Sequence[Event], folder: Path, path: Path) -> str:
    """What orders the files of a host: the first instant of a log; of other kinds the folder a file is in."""
    if source.kind in (JSON_LINES, TEXT_LINES) and (source.kind == JSON_LINES or source.line or events):
        from assay.ingest import text_order  # loads much, which a host of one file does without

        return text_order.first_instant(source, events, path, PROBED) or NO_OBJECT
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
