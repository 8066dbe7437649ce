"""The native scanner (`native/`) and its request messages.

If it is not available, or has another version, the engine reads all lines: more slowly, with the same result.
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

from assay.ingest.event_forms import NumberedForm, group_required_forms, list_field_paths, map_body_paths
from assay.ingest.field_sql import find_integer_paths
from assay.ingest.plain_copies import LONGEST, SEPARATOR
from assay.ingest.recognition import Recognition
from assay.lang.model.package import Source, Unless
from assay.lang.model.source_kinds import JSON_LINES
from assay.lang.time_format import parse_offset

NAME = "libassay_scan.dylib" if sys.platform == "darwin" else "libassay_scan.so"
LIBRARY_PATH = Path(__file__).parent / NAME
VERSION = 6  # of the messages; the same as in ffi.rs
ODD = -1  # the stream of odd lines
STRANGE, POSTPONED = 1, 2  # status of files that the scanner did not read
CAPSULE = b"arrow_array_stream"
VARIABLE = "ASSAY_SCANNER"  # environment variable; `off` leaves all lines to the engine, for comparisons


@dataclass(frozen=True, slots=True)
class FormTally:
    """The plain lines of a file with one form: their number; place, from 0, and instant of the first and the last."""

    form: int
    rows: int
    first: int
    first_ns: int
    last: int
    last_ns: int


@dataclass(frozen=True, slots=True)
class NameTally:
    """The plain lines of a file with one name that no event has.

    `name` is the index of the name, `rows` the number of lines, `first` the first line, from 0.
    """

    name: int
    rows: int
    first: int


@dataclass(frozen=True, slots=True)
class FileScan:
    """The result of a file: status, line count, and tallies of plain lines.

    The counts are empty for a strange file, which the engine must read, and for a postponed one, which did not fit into
    memory after earlier files.
    """

    status: int
    lines: int
    tallies: tuple[FormTally, ...]
    unknown: tuple[NameTally, ...]

    @property
    def is_strange(self) -> bool:
        """Return whether the engine must read it."""
        return self.status == STRANGE

    @property
    def is_postponed(self) -> bool:
        """Return whether it must be read later."""
        return self.status == POSTPONED


class _Stream(ctypes.Structure):
    """The struct of the Arrow C stream interface. Only the scanner reads it."""

    _fields_ = (("pointers", ctypes.c_void_p * 5),)


class ScanRows:
    """Rows of a scan, a table that the engine can read more than once."""

    def __init__(self, scan_result: Scan, event: int) -> None:
        self._scan_result = scan_result
        self._event = event
        self._streams: list[_Stream] = []

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a capsule with a new stream."""
        library = self._scan_result.library
        stream = _Stream()
        if library.assay_scan_stream(self._scan_result.handle, self._event, ctypes.byref(stream)):
            raise RuntimeError("the scanner has no such rows")
        self._streams.append(stream)
        return _create_capsule(ctypes.addressof(stream))

    def close(self) -> None:
        """Release the streams that the engine did not consume."""
        for stream in self._streams:
            self._scan_result.library.assay_scan_release(ctypes.byref(stream))
        self._streams.clear()


class Scan:
    """The result of a scan: files in order, row counts of events and of odd lines, names without an event."""

    def __init__(self, library: Any, handle: int, files: int) -> None:
        self.library = library
        self.handle = handle
        self._close = weakref.finalize(self, library.assay_scan_free, handle)
        size = ctypes.c_size_t()
        start = library.assay_scan_numbers(handle, ctypes.byref(size))
        numbers = iter(start[: size.value])
        self.odd_count = next(numbers)
        self.event_counts = tuple(next(numbers) for _ in range(next(numbers)))
        self.files = tuple(_read_file_scan(numbers) for _ in range(files))
        start = library.assay_scan_names(handle, ctypes.byref(size))
        self.names = tuple(_decode_names(ctypes.string_at(start, size.value)))

    def get_rows(self, event: int) -> ScanRows:
        """Return the rows of an event, or the odd lines for `ODD`."""
        return ScanRows(self, event)

    def close(self) -> None:
        """Free the rows."""
        self._close()


def _read_file_scan(numbers: Iterator[int]) -> FileScan:
    status, lines, forms = next(numbers), next(numbers), next(numbers)
    tallies = tuple(FormTally(*(next(numbers) for _ in range(6))) for _ in range(forms))
    unknown = tuple(NameTally(*(next(numbers) for _ in range(3))) for _ in range(next(numbers)))
    return FileScan(status, lines, tallies, unknown)


def _decode_names(text: bytes) -> Iterator[str]:
    position = 0
    while position < len(text):
        size = int.from_bytes(text[position : position + 8], "little")
        yield text[position + 8 : position + 8 + size].decode("utf-8")
        position += 8 + size


def scan(message: bytes, files: int) -> Scan | None:
    """Scan the files of a message. Return None without a scanner, or if the scanner does not support the message."""
    library = _load_enabled_library()
    handle = library and library.assay_scan(message, len(message))
    return Scan(library, handle, files) if handle else None


def is_missing() -> bool:
    """Return whether the library does not exist or has another version, though nobody disabled it."""
    return os.environ.get(VARIABLE) != "off" and not is_available()


def is_available() -> bool:
    """Return whether the scanner is available and not disabled."""
    return _load_enabled_library() is not None


def _load_enabled_library() -> Any:
    return None if os.environ.get(VARIABLE) == "off" else _load_library(LIBRARY_PATH)


@functools.cache
def _load_library(path: Path) -> Any:
    """Load the library; return None if it does not exist or has another version."""
    try:
        library = ctypes.CDLL(str(path))
    except OSError:
        return None
    size = ctypes.POINTER(ctypes.c_size_t)
    signatures: Sequence[tuple[str, Sequence[Any], Any]] = [
        ("assay_scan_version", [], ctypes.c_int),
        ("assay_scan", [ctypes.c_char_p, ctypes.c_size_t], ctypes.c_void_p),
        ("assay_scan_numbers", [ctypes.c_void_p, size], ctypes.POINTER(ctypes.c_int64)),
        ("assay_scan_names", [ctypes.c_void_p, size], ctypes.c_void_p),
        ("assay_scan_stream", [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p], ctypes.c_int),
        ("assay_scan_release", [ctypes.c_void_p], None),
        ("assay_scan_free", [ctypes.c_void_p], None),
    ]
    try:
        for name, argument_types, result_type in signatures:
            function = getattr(library, name)
            function.argtypes, function.restype = argument_types, result_type
    except AttributeError:
        return None
    return library if library.assay_scan_version() == VERSION else None


def _create_capsule(address: int) -> object:
    """Return a capsule without a destructor, since the stream belongs to `ScanRows`."""
    create_capsule = ctypes.pythonapi.PyCapsule_New
    create_capsule.argtypes, create_capsule.restype = (
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
        ctypes.py_object,
    )
    capsule: object = create_capsule(address, CAPSULE, None)
    return capsule


Path_ = tuple[str, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FilePart:
    """A plain file from one byte offset to another."""

    path: Path
    begin: int
    end: int


def encode_files(parts: Sequence[FilePart], size_limit: int) -> bytes:
    """Return the first part of a message: the files, and the maximal bytes of rows to store."""
    return (
        _encode_number(LONGEST)
        + _encode_number(SEPARATOR[0])
        + _encode_number(size_limit)
        + _encode_list(parts, _encode_part)
    )


def encode_lines(recognition: Recognition) -> bytes | None:
    """Return the second part of a message: how lines are read; None if only the engine can read them."""
    if not _is_supported(recognition):
        return None
    source = recognition.source
    events = group_required_forms(recognition.forms)
    offset = parse_offset(source.zone)
    by_event = {item.number: index for index, forms_of_event in enumerate(events) for item in forms_of_event}

    def encode_form(item: NumberedForm) -> bytes:
        return (
            _encode_number(by_event.get(item.number, -1))
            + _encode_list(item.form.unless, lambda rule: _encode_unless(source, rule))
            + _encode_path(_get_time_path(source, item))
        )

    tables = (
        _encode_list(_list_path_variants(source, table.lookup.path, table.lookup.in_body), _encode_path)
        + _encode_text(table.lookup.drop)
        + _encode_list(table.forms.items(), lambda pair: _encode_text(pair[0]) + _encode_number(pair[1]))
        for table in recognition.tables
    )
    return b"".join(
        [
            _encode_path(source.body),
            _encode_number(_is_outside(recognition)),
            _encode_text("" if source.lookups[0].in_body else source.lookups[0].path[0]),
            _encode_path(source.time),
            _encode_list([] if offset is None else [offset], _encode_number),
            _encode_list(
                source.unwrap,
                lambda rule: (
                    _encode_body_path(source, rule.absent) + _encode_list(rule.present, _create_key_encoder(source))
                ),
            ),
            _encode_list(tables, bytes),
            _encode_list(recognition.forms, encode_form),
            _encode_list(events, lambda forms_of_event: _encode_event(source, forms_of_event)),
        ]
    )


def _is_supported(recognition: Recognition) -> bool:
    """Return whether the scanner can read lines of a source.

    It requires JSON lines, ISO 8601 instants, at least one lookup, paths that are neither empty nor lead into lists,
    and names that are not lists.
    """
    source = recognition.source
    paths = _list_read_paths(recognition)
    keys = (key for path in paths for key in path)
    names = (name for table in recognition.tables for name in table.forms)
    is_plain = all(paths) and not any(key.isdigit() for key in keys) and not any(name.startswith("[") for name in names)
    return is_plain and source.kind == JSON_LINES.name and bool(source.lookups) and not source.time_form


def _list_read_paths(recognition: Recognition) -> list[Path_]:
    """Return all paths that are read; only the first path of instants, since other lines are left to the engine."""
    source, body_paths = recognition.source, map_body_paths(recognition.source).values()
    paths = [source.time, *(_get_time_path(source, item) for item in recognition.forms)]
    paths += [*(recognition.get_outer_path(lookup) for lookup in source.lookups)]
    paths += [
        (*body, *path)
        for forms in group_required_forms(recognition.forms)
        for path in list_field_paths(forms)
        for body in body_paths
    ]
    paths += [(*body, *rule.path) for item in recognition.forms for rule in item.form.unless for body in body_paths]
    return paths + [(*source.body, key) for rule in source.unwrap for key in (rule.absent, *rule.present, rule.take)]


def _get_time_path(source: Source, item: NumberedForm) -> Path_:
    """Return the path of a form's instants that the scanner reads: the first."""
    return item.form.time[0] if item.form.time else source.time


def _is_outside(recognition: Recognition) -> bool:
    """Return whether the first lookup and all instants are outside of the body."""
    source = recognition.source
    first, size = source.lookups[0], len(source.body)
    outer_paths = [first.path, source.time, *(_get_time_path(source, item) for item in recognition.forms)]
    is_inside = first.in_body or any(path[:size] == source.body for path in outer_paths)
    return bool(source.body) and not is_inside


def _list_path_variants(source: Source, path: Path_, in_body: bool = True) -> list[Path_]:
    """Return the paths of a value in a body that is not wrapped, and in a body that each rule unwraps."""
    return [(*body, *path) if in_body else path for body in map_body_paths(source).values()]


def _encode_event(source: Source, forms: Sequence[NumberedForm]) -> bytes:
    integers = find_integer_paths(forms)
    return _encode_list(
        list_field_paths(forms),
        lambda path: _encode_list(_list_path_variants(source, path), _encode_path) + _encode_number(path in integers),
    )


def _encode_unless(source: Source, rule: Unless) -> bytes:
    return (
        _encode_list(_list_path_variants(source, rule.path), _encode_path)
        + _encode_number(rule.present)
        + _encode_text(rule.equals)
    )


def _encode_body_path(source: Source, key: str) -> bytes:
    return _encode_path((*source.body, key))


def _create_key_encoder(source: Source) -> Callable[[str], bytes]:
    return lambda key: _encode_body_path(source, key)


def _encode_part(part: FilePart) -> bytes:
    return _encode_bytes(os.fsencode(part.path)) + _encode_number(part.begin) + _encode_number(part.end)


def _encode_path(path: Path_) -> bytes:
    return _encode_list(path, _encode_text)


def _encode_text(text: str) -> bytes:
    return _encode_bytes(text.encode("utf-8", errors="surrogatepass"))


def _encode_bytes(text: bytes) -> bytes:
    return _encode_number(len(text)) + text


def _encode_number(number: int) -> bytes:
    return number.to_bytes(8, "little", signed=True)


def _encode_list(items: Iterable[T], encode: Callable[[T], bytes]) -> bytes:
    parts = [encode(item) for item in items]
    return _encode_number(len(parts)) + b"".join(parts)
