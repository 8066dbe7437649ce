"""Quarantine: malformed records with file, line and reason, and the error if there are too many.

Only files with malformed records are read a second time, to describe them.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.ingest import small_tables
from assay.ingest.chunks import FILE_STEP
from assay.ingest.discovery import RunFiles
from assay.ingest.event_forms import INCOMPLETE, TIMELESS, NumberedForm
from assay.ingest.field_sql import DECIMAL, DIGITS, INTEGER
from assay.ingest.plain_copies import LONGEST, TOO_LONG, Line, read_lines
from assay.ingest.quantities import QUANTITIES
from assay.ingest.unknown_records import UnknownTally
from assay.lang.model.package import NO_VALUE, Field
from assay.lang.record_units import RecordUnit, simplify_unit, split_number
from assay.util.diagnostics import AssayError, Diagnostic
from assay.util.paths import resolve_path
from assay.util.scratch import get_process_folder

if TYPE_CHECKING:
    import duckdb

TEXT_LIMIT = 2000  # characters of a line in the quarantine
DESCRIBED = 10_000  # maximal number of malformed records of a file that are described, for files other than logs
DESCRIBED_LINES = 10_000  # the same for the logs of a run, in addition to the first lines of each host
#: malformed lines of a run whose reasons are exact, and in any case those of each host and of each event; other reasons
#: are general, since an exact one takes a hundred times as long as reading a line
EXPLAINED, EXPLAINED_OF_EACH = 100, 3
_INTEGER, _DECIMAL = re.compile(INTEGER), re.compile(DECIMAL)

_EXPECTED = {
    "integer": "an integer",
    "unsigned": "an integer from 0",
    "real": "a number",
    "boolean": "true or false",
    "text": "a text",
}


#: columns of a quarantine
QUARANTINE = {
    "host": "TEXT",
    "file": "TEXT",
    "line": "BIGINT",
    "offset": "BIGINT",
    "reason": "TEXT",
    "text": "TEXT",
}
MALFORMED_TABLE = "broken_lines"


@dataclass(frozen=True, slots=True, order=True)
class MalformedLine:
    """A malformed line: its `seq`; its form, a negative number of `event_forms`; its event if a field is missing."""

    host: str
    seq: int
    form: int
    event: str


@dataclass(frozen=True, slots=True)
class MalformedRecord:
    """A malformed record: its location, the reason, and its text, truncated.

    `line` is its line number, or its record number in a file without lines, from 1. `offset` is the offset of its first
    byte in the uncompressed content, from 0; None for a binary format.
    """

    host: str
    file: str
    line: int
    offset: int | None
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Explainer:
    """Explains why lines are malformed: exactly by `find_reason`, or in general; a `torn` line is no record."""

    find_reason: Callable[[MalformedLine, Line], str]
    torn: str

    def explain(self, item: MalformedLine, line: Line, is_exact: bool) -> str:
        """Return the reason for a line."""
        if line.size >= LONGEST:
            return TOO_LONG
        if is_exact:
            return self.find_reason(item, line)
        if item.form == INCOMPLETE:
            return f"a field of {item.event} is missing, or not of its type"
        return "no time, or a bad one" if item.form == TIMELESS else line.fault or self.torn


def describe_lines(
    files: RunFiles, malformed_lines: Sequence[MalformedLine], explainer: Explainer
) -> Iterator[MalformedRecord]:
    """Yield descriptions of malformed lines in order, the first ones with exact reasons.

    Raises AssayError if the lines of a file changed in the meantime.
    """
    hosts = {host.host: host for host in files.hosts}
    numbers: Counter[tuple[str, ...]] = Counter()
    for (host, index), group in itertools.groupby(malformed_lines, key=lambda item: (item.host, item.seq // FILE_STEP)):
        items = {item.seq % FILE_STEP: item for item in group}
        path = hosts[host].files[index]
        name = path.relative_to(files.directory).as_posix()
        for line in read_lines(path, items):
            item = items[line.number]
            groups = (), (host,), (str(item.form), item.event)
            is_exact = numbers[()] < EXPLAINED or min(numbers[group] for group in groups) < EXPLAINED_OF_EACH
            numbers.update(groups)
            reason = explainer.explain(item, line, is_exact)
            yield MalformedRecord(host, name, line.number, line.offset, reason, line.text[:TEXT_LIMIT])
        hosts[host].snapshots[index].check_bytes_exist()


class NumberText(str):
    """A number as a record writes it."""

    __slots__ = ()


def explain_missing_field(form: NumberedForm, field: Field, body: object) -> str:
    """Return why a body has no valid value of a field of a form of an event; empty if it has one."""
    event = form.event.name
    if not field.paths:
        return ""
    value = _find_value(field, body)
    record_unit = form.find_unit(field)
    named_by = record_unit.named_by if record_unit else None
    unit = None if named_by is None else _find_value(named_by, body) or named_by.default
    is_of_other = record_unit is not None and simplify_unit(str(unit)) in record_unit.others
    text = value if isinstance(value, str) else truncate_value(value)
    is_none = any(change.kind == NO_VALUE and change.text == text for change in field.transforms)
    if value is None or is_none or is_of_other:
        is_needed = field.required and field.default is None
        return f"field {field.name} of {event} is missing" if is_needed else ""
    if record_unit and not named_by:
        is_valid = _is_convertible(str(value), record_unit)
        expected = f"a number with a unit behind it that converts to {record_unit.unit.name}"
    elif quantity := next((QUANTITIES[item.kind] for item in field.transforms if item.kind in QUANTITIES), None):
        is_valid, expected = quantity.is_valid(str(value)), quantity.expected
    else:
        offset = sum(change.number for change in field.transforms if change.kind == "plus")
        is_valid, expected = _is_valid(field.type, value, offset), _EXPECTED[field.type]
    if record_unit and named_by and is_valid and simplify_unit(str(unit)) not in record_unit.factors:
        expected, value = f"a unit in {named_by.name} that converts to {record_unit.unit.name}", unit
        is_valid = False
    if is_valid:
        return ""
    return f"field {field.name} of {event}: expected {expected}, found {truncate_value(value)}"


def _is_convertible(text: str, record_unit: RecordUnit) -> bool:
    """Return whether a text is a number with a unit behind it that converts to the unit of its field."""
    parts = split_number(text)
    return parts is not None and math.isfinite(float(parts[0])) and simplify_unit(parts[1]) in record_unit.factors


def _find_value(field: Field, body: object) -> object:
    """Return the value of a field in a body: that of the first path that has one, else None."""
    return next((value for value in (get_value(body, path) for path in field.paths) if value is not None), None)


def _is_valid(kind: str, value: object, offset: int) -> bool:
    """Return whether a value is valid for a type, both as it is and after `offset` is added."""
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
            return bool(_DECIMAL.fullmatch(text)) and is_whole and low <= number + offset
        return low <= number + offset <= high
    except (ValueError, ArithmeticError):
        return False


def truncate_value(value: object) -> str:
    """Return a value as the record writes it, truncated to 80 characters."""
    text = (
        str(value) if isinstance(value, (Decimal, NumberText)) else json.dumps(value, ensure_ascii=False, default=str)
    )
    return text[:80]


def get_value(record: object, path: Sequence[str]) -> Any:
    """Return the value at a path of a record, None if there is none."""
    for key in path:
        record = record.get(key) if isinstance(record, Mapping) else None
    return record


FOLDER = "quarantine"  # in the cache
TABLE = "quarantine.parquet"


class QuarantineLimitError(AssayError):
    """More records are malformed than the source tolerates.

    `table` is a Parquet file that describes `described_count` of all `malformed_count` records. It exists until the
    process ends.
    """

    def __init__(self, diagnostics: Sequence[Diagnostic], malformed_count: int, described_count: int) -> None:
        super().__init__(diagnostics)
        self.malformed_count, self.described_count = malformed_count, described_count
        self.table: Path | None = None

    def store_table(self, table: Path, root: Path) -> None:
        """Move the table out of a temporary folder to the scratch of a cache. May raise OSError."""
        if table.is_file():
            target = Path(tempfile.mkdtemp(dir=get_process_folder(root))) / TABLE
            self.table = table.replace(target)

    def move_table(self, target: Path) -> AssayError:
        """Move the table to `target`; return the error with a note about it. May raise OSError."""
        if not self.table:
            return self
        target.parent.mkdir(parents=True, exist_ok=True)
        self.table.replace(target)
        count = "all" if self.described_count == self.malformed_count else f"the first {self.described_count}"
        note = f"{count} of them, with file, line, offset, reason and text, are in {target}"
        return AssayError([replace(item, notes=(*item.notes, note)) for item in self.diagnostics], self.status)


class NothingRecognisedError(AssayError):
    """No record of a run is an event; `unknown` are the names of its records.

    `has_other_records` is true if there are records and none is malformed: the files may be of another system or form.
    """

    def __init__(self, problem: AssayError, unknown: Sequence[UnknownTally], has_other_records: bool) -> None:
        super().__init__(problem.diagnostics, problem.status)
        self.unknown = tuple(unknown)
        self.has_other_records = has_other_records


def write_malformed_records(
    connection: duckdb.DuckDBPyConnection, malformed_records: Iterable[MalformedRecord], target: Path
) -> None:
    """Write malformed records as Parquet, in order."""
    rows = (tuple(getattr(item, name) for name in QUARANTINE) for item in malformed_records)
    small_tables.write_large_table(connection, target, MALFORMED_TABLE, QUARANTINE, rows)


def get_quarantine_path(cache: Path, directory: Path, source: str) -> Path:
    """Return where a cache stores the malformed records of a source of a run that was rejected."""
    name = hashlib.sha256(os.fsencode(f"{resolve_path(directory)}\0{source}")).hexdigest()[:32]
    return cache / FOLDER / f"{name}.parquet"
