"""Quarantine: broken records with file, line and reason, and the limit on their number.

Only files that have some are read again.
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

SHOWN = 2000  # characters of a line that are kept
DESCRIBED = 100_000  # broken records of a file that is no log that are described: they are held in memory
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
    """A line that is lost: where it stands (`seq`), what it is in place of an event, the event if it lacks a field."""

    host: str
    seq: int
    form: int
    event: str


@dataclass(frozen=True, slots=True)
class Broken:
    """A broken record: where it stands, why it is broken, its text (cut).

    `line` is the number of its line, or of the record where a file has no lines, from 1; `offset` the place of its
    first byte in the uncompressed content, from 0, null where the content is no text.
    """

    host: str
    file: str
    line: int
    offset: int | None
    reason: str
    text: str


def describe(files: RunFiles, lost: Sequence[Lost], why: Callable[[Lost, Line], str]) -> Iterator[Broken]:
    """Descriptions of lost lines, in order, one held at a time; `why` tells the reason by the line.

    AssayError where a file has other lines by now than were lost.
    """
    hosts = {host.host: host for host in files.hosts}
    for (host, index), group in itertools.groupby(lost, key=lambda item: (item.host, item.seq // FILE_STEP)):
        items = {item.seq % FILE_STEP: item for item in group}
        path = hosts[host].files[index]
        name = path.relative_to(files.directory).as_posix()
        for line in lines_at(path, items):
            said = TOO_LONG if line.size >= LONGEST else why(items[line.number], line)
            yield Broken(host, name, line.number, line.offset, said, line.text[:SHOWN])
        hosts[host].held[index].still()


class NumberText(str):
    """A number as a record has it."""

    __slots__ = ()


def missing_field_reason(event: str, field: Field, body: object) -> str:
    """Why a field of an event cannot be had of a body; empty when it can."""
    if not field.paths:
        return ""
    found = next((value for value in (at(body, path) for path in field.paths) if value is not None), None)
    if found is None:
        needed = field.required and field.default is None
        return f"field {field.name} of {event} is missing" if needed else ""
    if any(change.kind == DURATION for change in field.transforms):
        right, expected = is_duration(str(found)), A_DURATION
    else:
        moved = sum(change.number for change in field.transforms if change.kind == "plus")
        right, expected = _is(field.type, found, moved), _EXPECTED[field.type]
    if right:
        return ""
    return f"field {field.name} of {event}: expected {expected}, found {truncate_value(found)}"


def _is(kind: str, value: object, moved: int) -> bool:
    """Whether a value reads as a type, and does when a constant is added to it."""
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
            whole = number == number.to_integral_value() and abs(number) < 10**DIGITS
            return bool(_DECIMAL.fullmatch(text)) and whole and low <= number + moved
        return low <= number + moved <= high
    except (ValueError, ArithmeticError):
        return False


def truncate_value(value: object) -> str:
    """A value as it stands in the record, cut."""
    text = (
        str(value) if isinstance(value, (Decimal, NumberText)) else json.dumps(value, ensure_ascii=False, default=str)
    )
    return text[:80]


def at(record: object, path: Sequence[str]) -> Any:
    """What stands at a path of a record; None where nothing does."""
    for key in path:
        record = record.get(key) if isinstance(record, Mapping) else None
    return record


FOLDER = "quarantine"  # in the cache
TABLE = "quarantine.parquet"


class QuarantineLimitError(AssayError):
    """More records are broken than a source bears; `quarantine` is a Parquet file of `described` of all `broken`, until
    the process ends."""

    def __init__(self, diagnostics: Sequence[Diagnostic], broken: int, described: int) -> None:
        super().__init__(diagnostics)
        self.broken, self.described = broken, described
        self.quarantine: Path | None = None

    def hold(self, table: Path, root: Path) -> None:
        """Let the table, which is in a folder that is to vanish, be in the scratch of a cache.  May raise OSError."""
        if table.is_file():
            place = Path(tempfile.mkdtemp(dir=process_dir(root))) / TABLE
            self.quarantine = table.replace(place)

    def with_table_at(self, place: Path) -> AssayError:
        """The error that names the table, which is at `place` from now on.  May raise OSError."""
        if not self.quarantine:
            return self
        place.parent.mkdir(parents=True, exist_ok=True)
        self.quarantine.replace(place)
        count = "all" if self.described == self.broken else f"the first {self.described}"
        note = f"{count} of them, with file, line, offset, reason and text, are in {place}"
        return AssayError([replace(item, notes=(*item.notes, note)) for item in self.diagnostics], self.status)


class NothingRecognisedError(AssayError):
    """No record of a run is an event; `unknown` are the names that its records have instead."""

    def __init__(self, problem: AssayError, unknown: Sequence[UnknownTally]) -> None:
        super().__init__(problem.diagnostics, problem.status)
        self.unknown = tuple(unknown)


def place_of(cache: Path, directory: Path, source: str) -> Path:
    """Where the broken records of a run's source are kept when it is refused."""
    name = hashlib.sha256(os.fsencode(f"{resolve_path(directory)}\0{source}")).hexdigest()[:32]
    return cache / FOLDER / f"{name}.parquet"
