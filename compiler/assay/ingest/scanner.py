"""The native scanner (`native/`), and the messages that tell it what to read.

Where it is not there, or was built of another version, all lines are read by the engine: slower, to the same rows.
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
VERSION = 5  # of the messages; that of ffi.rs
ODD = -1  # the stream of odd lines
STRANGE, LEFT = 1, 2  # what was done with files that were not read
CAPSULE = b"arrow_array_stream"
VARIABLE = "ASSAY_SCANNER"  # of the environment: `off` leaves all lines to the engine, so that anybody can compare


@dataclass(frozen=True, slots=True)
class FormTally:
    """The plain lines of a file that are of one form: how many; the first and the last, from 0, and their instants."""

    form: int
    rows: int
    first: int
    first_ns: int
    last: int
    last_ns: int


@dataclass(frozen=True, slots=True)
class NameTally:
    """The plain lines of a file that have a name which no event has: its number, how many, the first, from 0."""

    name: int
    rows: int
    first: int


@dataclass(frozen=True, slots=True)
class FileFound:
    """What a file came to: its lines, and tallies of the plain ones.  Nothing is known of a strange one, which the
    engine has to read, and of one that was left, as too much was held of those before it."""

    done: int
    lines: int
    tallies: tuple[FormTally, ...]
    unknown: tuple[NameTally, ...]

    @property
    def strange(self) -> bool:
        """Whether the engine has to read it."""
        return self.done == STRANGE

    @property
    def left(self) -> bool:
        """Whether it is to be read later."""
        return self.done == LEFT


class _Stream(ctypes.Structure):
    """The struct of the interface; only the scanner looks into it."""

    _fields_ = (("pointers", ctypes.c_void_p * 5),)


class Rows:
    """Rows of a scan, as often as they are asked for: what the engine takes for a table."""

    def __init__(self, scanned: Scanned, event: int) -> None:
        self._scanned = scanned
        self._event = event
        self._streams: list[_Stream] = []

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A capsule around a new stream."""
        library = self._scanned.library
        stream = _Stream()
        if library.assay_scan_stream(self._scanned.handle, self._event, ctypes.byref(stream)):
            raise RuntimeError("the scanner has no such rows")
        self._streams.append(stream)
        return _capsule(ctypes.addressof(stream))

    def close(self) -> None:
        """Release what was not taken."""
        for stream in self._streams:
            self._scanned.library.assay_scan_release(ctypes.byref(stream))
        self._streams.clear()


class Scanned:
    """What files came to: `files` in order, the number of rows of each event, that of odd lines, the names that no
    event has."""

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
        """The rows of an event, or the odd lines."""
        return Rows(self, event)

    def close(self) -> None:
        """Let go of the rows."""
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
    """What so many files that a message names come to; None without a scanner, or where it cannot do what is asked."""
    library = _wanted()
    handle = library and library.assay_scan(message, len(message))
    return Scanned(library, handle, files) if handle else None


def is_there() -> bool:
    """Whether there is a scanner, and it is wanted."""
    return _wanted() is not None


def _wanted() -> Any:
    return None if os.environ.get(VARIABLE) == "off" else _library(PLACE)


@functools.cache
def _library(path: Path) -> Any:
    """The library; None where there is none that can be used."""
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
    """A capsule without a destructor: the stream belongs to `Rows`."""
    new = ctypes.pythonapi.PyCapsule_New
    new.argtypes, new.restype = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p], ctypes.py_object
    made: object = new(address, CAPSULE, None)
    return made


Path_ = tuple[str, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FilePart:
    """A plain file, from one place up to another."""

    path: Path
    begin: int
    end: int


def files_message(parts: Sequence[FilePart], most: int) -> bytes:
    """The part of the message about files, which comes first; of them so many bytes of rows may be held."""
    return _number(LONGEST) + _number(SEPARATOR[0]) + _number(most) + _list(parts, _part)


def lines_message(how: Recognition) -> bytes | None:
    """The part of the message about lines; None where only the engine reads them as they are to be read."""
    if not _is_tellable(how):
        return None
    source = how.source
    events = wanted_events(how.forms)
    by_event = {item.number: index for index, own in enumerate(events) for item in own}

    def form(item: NumberedForm) -> bytes:
        return _number(by_event.get(item.number, -1)) + _list(item.form.unless, lambda rule: _unless(source, rule))

    tables = (
        _list(_variants(source, table.lookup.path, table.lookup.in_body), _path)
        + _text(table.lookup.drop)
        + _list(table.forms.items(), lambda pair: _text(pair[0]) + _number(pair[1]))
        for table in how.tables
    )
    return b"".join(
        [
            _path(source.body),
            _number(_is_outside(source)),
            _text("" if source.lookups[0].in_body else source.lookups[0].path[0]),
            _path(source.time),
            _list(source.unwrap, lambda rule: _in_body(source, rule.absent) + _list(rule.present, _body_key(source))),
            _list(tables, bytes),
            _list(how.forms, form),
            _list(events, lambda own: _event(source, own)),
        ]
    )


def _is_tellable(how: Recognition) -> bool:
    """Whether instants are ISO 8601, no path leads into a list, or nowhere, and no name is that of a list."""
    source = how.source
    paths = _paths(how)
    keys = (key for path in paths for key in path)
    names = (name for table in how.tables for name in table.forms)
    plain = all(paths) and not any(key.isdigit() for key in keys) and not any(name.startswith("[") for name in names)
    return plain and bool(source.lookups) and not source.time_form


def _paths(how: Recognition) -> list[Path_]:
    """All that is read of a line; one whose instant is at another path is left to the engine."""
    source, within = how.source, bodies(how.source).values()
    found = [source.time, *(how.outer(lookup) for lookup in source.lookups)]
    found += [(*body, *path) for own in wanted_events(how.forms) for path in paths_of(own) for body in within]
    found += [(*body, *rule.path) for item in how.forms for rule in item.form.unless for body in within]
    return found + [(*source.body, key) for rule in source.unwrap for key in (rule.absent, *rule.present, rule.take)]


def _is_outside(source: Source) -> bool:
    """Whether the names that are looked up first, and the instant, stand outside of the body."""
    first, size = source.lookups[0], len(source.body)
    within = first.in_body or source.body in (first.path[:size], source.time[:size])
    return bool(source.body) and not within


def _variants(source: Source, path: Path_, in_body: bool = True) -> list[Path_]:
    """Where a path leads in a body that is not wrapped, and in one that is by each rule."""
    return [(*body, *path) if in_body else path for body in bodies(source).values()]


def _event(source: Source, own: Sequence[NumberedForm]) -> bytes:
    whole = whole_paths(own)
    return _list(paths_of(own), lambda path: _list(_variants(source, path), _path) + _number(path in whole))


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


def _list(items: Iterable[T], of: Callable[[T], bytes]) -> bytes:
    told = [of(item) for item in items]
    return _number(len(told)) + b"".join(told)
