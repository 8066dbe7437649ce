"""The native scanner (`native/`) and its request messages.

If it is not available, or has another version, the engine reads all lines: slower, to the same rows.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from assay.ingest.event_forms import NumberedForm, bodies, paths_of, wanted_events
from assay.ingest.field_sql import whole_paths
from assay.ingest.plain_copies import LONGEST, SEPARATOR
from assay.ingest.recognition import Recognition
from assay.lang.model.package import Source, Unless

NAME = "libassay_scan.dylib" if sys.platform == "darwin" else "libassay_scan.so"
PLACE = Path(__file__).parent / NAME
VERSION = 5  # of the messages; the same as in ffi.rs
ODD = -1  # the stream of odd lines
STRANGE, LEFT = 1, 2  # status of files that were not read
CAPSULE = b"arrow_array_stream"
VARIABLE = "ASSAY_SCANNER"  # environment variable; `off` leaves all lines to the engine, for comparisons


@dataclass(frozen=True, slots=True)
class FormTally:
    """The plain lines of a file with one form: their number; the first and the last, from 0, with their instants."""

    form: int
    rows: int
    first: int
    first_ns: int
    last: int
    last_ns: int


@dataclass(frozen=True, slots=True)
class NameTally:
    """The plain lines of a file with one name that no event has: number of the name, lines, the first line, from 0."""

    name: int
    rows: int
    first: int


@dataclass(frozen=True, slots=True)
class FileFound:
    """The result of a file: status, line count, and tallies of plain lines.

    All are empty for a strange file, which the engine must read, and for a file that was left for later, since earlier
    files filled the memory.
    """

    done: int
    lines: int
    tallies: tuple[FormTally, ...]
    unknown: tuple[NameTally, ...]

    @property
    def strange(self) -> bool:
        """Return whether the engine must read it."""
        return self.done == STRANGE

    @property
    def left(self) -> bool:
        """Return whether it must be read later."""
        return self.done == LEFT


class _Stream(ctypes.Structure):
    """The struct of the Arrow C stream interface. Only the scanner reads it."""

    _fields_ = (("pointers", ctypes.c_void_p * 5),)


class Rows:
    """Rows of a scan, which the engine reads as a table any number of times."""

    def __init__(self, scanned: Scanned, event: int) -> None:
        self._scanned = scanned
        self._event = event
        self._streams: list[_Stream] = []

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a capsule with a new stream."""
        library = self._scanned.library
        stream = _Stream()
        if library.assay_scan_stream(self._scanned.handle, self._event, ctypes.byref(stream)):
            raise RuntimeError("the scanner has no such rows")
        self._streams.append(stream)
        return _capsule(ctypes.addressof(stream))

    def close(self) -> None:
        """Release the streams that were not consumed."""
        for stream in self._streams:
            self._scanned.library.assay_scan_release(ctypes.byref(stream))
        self._streams.clear()


class Scanned:
    """The result of a scan: files in order, row counts of events and of odd lines, names without an event."""

    def __init__(self, library: Any, handle: int, files: int) -> None:
        self.library = library
        self.handle = handle
        self._close = weakref.finalize(self, library.assay_scan_free, handle)
        size = ctypes.c_size_t()
        start = library.assay_scan_numbers(handle, ctypes.byref(size))
        numbers = iter(start[: size.value])
        self.odd = next(numbers)
        self.events = tuple(next(numbers) for _ in range(next(numbers)))
        self.files = tuple(_file(numbers) for _ in range(files))
        start = library.assay_scan_names(handle, ctypes.byref(size))
        self.names = tuple(_names(ctypes.string_at(start, size.value)))

    def rows(self, event: int) -> Rows:
        """Return the rows of an event, or the odd lines for `ODD`."""
        return Rows(self, event)

    def close(self) -> None:
        """Free the rows."""
        self._close()


def _file(numbers: Iterator[int]) -> FileFound:
    done, lines, forms = next(numbers), next(numbers), next(numbers)
    tallies = tuple(FormTally(*(next(numbers) for _ in range(6))) for _ in range(forms))
    unknown = tuple(NameTally(*(next(numbers) for _ in range(3))) for _ in range(next(numbers)))
    return FileFound(done, lines, tallies, unknown)


def _names(text: bytes) -> Iterator[str]:
    at = 0
    while at < len(text):
        size = int.from_bytes(text[at : at + 8], "little")
        yield text[at + 8 : at + 8 + size].decode("utf-8")
        at += 8 + size


def scan(message: bytes, files: int) -> Scanned | None:
    """Scan the files of a message. Return None without a scanner, or if the message is beyond its abilities."""
    library = _wanted()
    handle = library and library.assay_scan(message, len(message))
    return Scanned(library, handle, files) if handle else None


def is_there() -> bool:
    """Return whether the scanner is available and not disabled."""
    return _wanted() is not None


def _wanted() -> Any:
    return None if os.environ.get(VARIABLE) == "off" else _library(PLACE)


@functools.cache
def _library(path: Path) -> Any:
    """Load the library; return None if there is no usable one."""
    try:
        library = ctypes.CDLL(str(path))
    except OSError:
        return None
    size = ctypes.POINTER(ctypes.c_size_t)
    kinds: Sequence[tuple[str, Sequence[Any], Any]] = [
        ("assay_scan_version", [], ctypes.c_int),
        ("assay_scan", [ctypes.c_char_p, ctypes.c_size_t], ctypes.c_void_p),
        ("assay_scan_numbers", [ctypes.c_void_p, size], ctypes.POINTER(ctypes.c_int64)),
        ("assay_scan_names", [ctypes.c_void_p, size], ctypes.c_void_p),
        ("assay_scan_stream", [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p], ctypes.c_int),
        ("assay_scan_release", [ctypes.c_void_p], None),
        ("assay_scan_free", [ctypes.c_void_p], None),
    ]
    try:
        for name, takes, gives in kinds:
            function = getattr(library, name)
            function.argtypes, function.restype = takes, gives
    except AttributeError:
        return None
    return library if library.assay_scan_version() == VERSION else None


def _capsule(address: int) -> object:
    """Return a capsule without a destructor, since the stream belongs to `Rows`."""
    new = ctypes.pythonapi.PyCapsule_New
    new.argtypes, new.restype = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p], ctypes.py_object
    capsule: object = new(address, CAPSULE, None)
    return capsule


Path_ = tuple[str, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FilePart:
    """A plain file from one byte offset to another."""

    path: Path
    begin: int
    end: int


def files_message(parts: Sequence[FilePart], most: int) -> bytes:
    """Return the first part of a message: files, and the most bytes of rows to store for them."""
    return _number(LONGEST) + _number(SEPARATOR[0]) + _number(most) + _list(parts, _part)


def lines_message(recognition: Recognition) -> bytes | None:
    """Return the second part of a message, about lines; None if only the engine can read them."""
    if not _is_tellable(recognition):
        return None
    source = recognition.source
    events = wanted_events(recognition.forms)
    by_event = {item.number: index for index, forms_of_event in enumerate(events) for item in forms_of_event}

    def form(item: NumberedForm) -> bytes:
        return _number(by_event.get(item.number, -1)) + _list(item.form.unless, lambda rule: _unless(source, rule))

    tables = (
        _list(_variants(source, table.lookup.path, table.lookup.in_body), _path)
        + _text(table.lookup.drop)
        + _list(table.forms.items(), lambda pair: _text(pair[0]) + _number(pair[1]))
        for table in recognition.tables
    )
    return b"".join(
        [
            _path(source.body),
            _number(_is_outside(source)),
            _text("" if source.lookups[0].in_body else source.lookups[0].path[0]),
            _path(source.time),
            _list(source.unwrap, lambda rule: _in_body(source, rule.absent) + _list(rule.present, _body_key(source))),
            _list(tables, bytes),
            _list(recognition.forms, form),
            _list(events, lambda forms_of_event: _event(source, forms_of_event)),
        ]
    )


def _is_tellable(recognition: Recognition) -> bool:
    """Return whether the scanner can read lines of a source.

    It requires ISO 8601 instants, lookups, paths that are neither empty nor lead into lists, and no list as a name.
    """
    source = recognition.source
    paths = _paths(recognition)
    keys = (key for path in paths for key in path)
    names = (name for table in recognition.tables for name in table.forms)
    are_plain = (
        all(paths) and not any(key.isdigit() for key in keys) and not any(name.startswith("[") for name in names)
    )
    return are_plain and bool(source.lookups) and not source.time_form


def _paths(recognition: Recognition) -> list[Path_]:
    """Return all paths that are read. Lines without the first path of instants are left to the engine."""
    source, body_paths = recognition.source, bodies(recognition.source).values()
    paths = [source.time, *(recognition.outer(lookup) for lookup in source.lookups)]
    paths += [
        (*body, *path) for forms in wanted_events(recognition.forms) for path in paths_of(forms) for body in body_paths
    ]
    paths += [(*body, *rule.path) for item in recognition.forms for rule in item.form.unless for body in body_paths]
    return paths + [(*source.body, key) for rule in source.unwrap for key in (rule.absent, *rule.present, rule.take)]


def _is_outside(source: Source) -> bool:
    """Return whether the first lookup and the instant are outside of the body."""
    first, size = source.lookups[0], len(source.body)
    within = first.in_body or source.body in (first.path[:size], source.time[:size])
    return bool(source.body) and not within


def _variants(source: Source, path: Path_, in_body: bool = True) -> list[Path_]:
    """Return the paths of a value in a body that is not wrapped, and in one wrapped by each rule."""
    return [(*body, *path) if in_body else path for body in bodies(source).values()]


def _event(source: Source, forms: Sequence[NumberedForm]) -> bytes:
    integers = whole_paths(forms)
    return _list(paths_of(forms), lambda path: _list(_variants(source, path), _path) + _number(path in integers))


def _unless(source: Source, rule: Unless) -> bytes:
    return _list(_variants(source, rule.path), _path) + _number(rule.present) + _text(rule.equals)


def _in_body(source: Source, key: str) -> bytes:
    return _path((*source.body, key))


def _body_key(source: Source) -> Callable[[str], bytes]:
    return lambda key: _in_body(source, key)


def _part(part: FilePart) -> bytes:
    return _bytes(os.fsencode(part.path)) + _number(part.begin) + _number(part.end)


def _path(path: Path_) -> bytes:
    return _list(path, _text)


def _text(text: str) -> bytes:
    return _bytes(text.encode("utf-8", errors="surrogatepass"))


def _bytes(text: bytes) -> bytes:
    return _number(len(text)) + text


def _number(number: int) -> bytes:
    return number.to_bytes(8, "little", signed=True)


def _list(items: Iterable[T], encode: Callable[[T], bytes]) -> bytes:
    parts = [encode(item) for item in items]
    return _number(len(parts)) + b"".join(parts)
