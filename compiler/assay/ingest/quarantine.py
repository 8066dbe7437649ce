"""Quarantine: malformed records with file, line and reason, and the limit on their number.

Only files with malformed records are read again.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from assay.ingest.chunks import FILE_STEP
from assay.ingest.discovery import RunFiles
from assay.ingest.field_sql import A_DURATION, DECIMAL, DIGITS, DURATION, INTEGER, is_duration
from assay.ingest.plain_copies import LONGEST, TOO_LONG, Line, lines_at
from assay.ingest.unknown_records import UnknownTally
from assay.lang.model.package import Field
from assay.util.diagnostics import AssayError, Diagnostic
from assay.util.paths import resolve_path
from assay.util.scratch import process_dir

SHOWN = 2000  # characters of a line in the quarantine
DESCRIBED = 100_000  # most malformed records that are described for files other than logs, since they are in memory
_INTEGER, _DECIMAL = re.compile(INTEGER), re.compile(DECIMAL)

_EXPECTED = {
    "integer": "an integer",
    "unsigned": "an integer from 0",
    "real": "a number",
    "boolean": "true or false",
    "text": "a text",
}


@dataclass(frozen=True, slots=True, order=True)
class Lost:
    """A malformed line: its `seq`, the number for lines without an event, the event if it lacks a field."""

    host: str
    seq: int
    form: int
    event: str


@dataclass(frozen=True, slots=True)
class Broken:
    """A malformed record: its location, the reason, and its text, truncated.

    `line` is its line number, or its record number in a file without lines, from 1. `offset` is the place of its first
    byte in the uncompressed content, from 0, null for a binary format.
    """

    host: str
    file: str
    line: int
    offset: int | None
    reason: str
    text: str


def describe(files: RunFiles, lost: Sequence[Lost], why: Callable[[Lost, Line], str]) -> Iterator[Broken]:
    """Yield descriptions of malformed lines in order; `why` returns the reason for a line.

    Raises AssayError if the lines of a file have changed since.
    """
    hosts = {host.host: host for host in files.hosts}
    for (host, index), group in itertools.groupby(lost, key=lambda item: (item.host, item.seq // FILE_STEP)):
        items = {item.seq % FILE_STEP: item for item in group}
        path = hosts[host].files[index]
        name = path.relative_to(files.directory).as_posix()
        for line in lines_at(path, items):
            reason = TOO_LONG if line.size >= LONGEST else why(items[line.number], line)
            yield Broken(host, name, line.number, line.offset, reason, line.text[:SHOWN])
        hosts[host].held[index].still()


class NumberText(str):
    """A number as it is written in a record."""

    __slots__ = ()


def missing_field_reason(event: str, field: Field, body: object) -> str:
    """Return why a body has no valid value of a field of an event, empty if it has."""
    if not field.paths:
        return ""
    value = next((value for value in (at(body, path) for path in field.paths) if value is not None), None)
    if value is None:
        is_needed = field.required and field.default is None
        return f"field {field.name} of {event} is missing" if is_needed else ""
    if any(change.kind == DURATION for change in field.transforms):
        is_valid, expected = is_duration(str(value)), A_DURATION
    else:
        moved = sum(change.number for change in field.transforms if change.kind == "plus")
        is_valid, expected = _is(field.type, value, moved), _EXPECTED[field.type]
    if is_valid:
        return ""
    return f"field {field.name} of {event}: expected {expected}, found {truncate_value(value)}"


def _is(kind: str, value: object, moved: int) -> bool:
    """Return whether a value is valid for a type, also after adding a constant."""
    if kind == "text":
        return True
    if kind == "boolean":
        return isinstance(value, bool) or value in ("true", "false")
    if isinstance(value, (bool, dict, list)):
        return False
    text = str(value)
    try:
        if kind == "real":
            return bool(_DECIMAL.fullmatch(text)) and math.isfinite(float(text))
        number = Decimal(text)
        low, high = (0, 2**64 - 1) if kind == "unsigned" else (-(2**63), 2**63 - 1)
        if not _INTEGER.fullmatch(text):
            is_whole = number == number.to_integral_value() and abs(number) < 10**DIGITS
            return bool(_DECIMAL.fullmatch(text)) and is_whole and low <= number + moved
        return low <= number + moved <= high
    except (ValueError, ArithmeticError):
        return False


def truncate_value(value: object) -> str:
    """Return a value as it is written in the record, truncated."""
    text = (
        str(value) if isinstance(value, (Decimal, NumberText)) else json.dumps(value, ensure_ascii=False, default=str)
    )
    return text[:80]


def at(record: object, path: Sequence[str]) -> Any:
    """Return the value at a path of a record, or None."""
    for key in path:
        record = record.get(key) if isinstance(record, Mapping) else None
    return record


FOLDER = "quarantine"  # in the cache
TABLE = "quarantine.parquet"


class QuarantineLimitError(AssayError):
    """More records are malformed than the source tolerates.

    `quarantine` is a Parquet file that describes `described` of all `broken` records. It exists until the process ends.
    """

    def __init__(self, diagnostics: Sequence[Diagnostic], broken: int, described: int) -> None:
        super().__init__(diagnostics)
        self.broken, self.described = broken, described
        self.quarantine: Path | None = None

    def hold(self, table: Path, root: Path) -> None:
        """Move the table out of a temporary folder to the scratch of a cache. May raise OSError."""
        if table.is_file():
            place = Path(tempfile.mkdtemp(dir=process_dir(root))) / TABLE
            self.quarantine = table.replace(place)

    def with_table_at(self, place: Path) -> AssayError:
        """Move the table to `place`; return the error with a note about it. May raise OSError."""
        if not self.quarantine:
            return self
        place.parent.mkdir(parents=True, exist_ok=True)
        self.quarantine.replace(place)
        count = "all" if self.described == self.broken else f"the first {self.described}"
        note = f"{count} of them, with file, line, offset, reason and text, are in {place}"
        return AssayError([replace(item, notes=(*item.notes, note)) for item in self.diagnostics], self.status)


class NothingRecognisedError(AssayError):
    """No record of a run is an event; `unknown` are the names of its records."""

    def __init__(self, problem: AssayError, unknown: Sequence[UnknownTally]) -> None:
        super().__init__(problem.diagnostics, problem.status)
        self.unknown = tuple(unknown)


def place_of(cache: Path, directory: Path, source: str) -> Path:
    """Return where a cache stores the malformed records of a source of a run that was rejected."""
    name = hashlib.sha256(os.fsencode(f"{resolve_path(directory)}\0{source}")).hexdigest()[:32]
    return cache / FOLDER / f"{name}.parquet"
