"""Ingest of lists of records: JSON documents that hold a list of objects, each a row of every event of the source.

The list stands at the source's `body`; a document that is a list is the list itself.  A key that is missing or null is
no value.  `seq` counts a host's records, file by file.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.ingest import builder, timestamps
from assay.ingest.chunks import FILE_STEP
from assay.ingest.decompress import decompressed
from assay.ingest.discovery import RunFiles
from assay.ingest.dropped_records import parsed
from assay.ingest.event_forms import NumberedForm, numbered
from assay.ingest.event_query import typed_rows
from assay.ingest.event_writer import write_event_rows
from assay.ingest.quarantine import SHOWN, Broken, missing_field_reason
from assay.ingest.readers.json_record_positions import record_offsets, written_records
from assay.ingest.readers.protocol import IngestJob, Outcome, Place, RawRecord, group_by_file
from assay.ingest.small_tables import empty
from assay.ingest.summary import Log, write_found
from assay.ingest.workspace_dir import MEMORY, open_engine
from assay.lang.model.package import Event, Source
from assay.lang.reserved_names import KEYS
from assay.sql import dialect
from assay.sql.dialect import column
from assay.util.diagnostics import AssayError, Diagnostic, did_you_mean, fail
from assay.util.json_text import build_object, has_conflicting_key
from assay.util.numbers import format_count
from assay.util.progress import Bytes

if TYPE_CHECKING:
    import duckdb

ROWS = "rows"
HALF = "half of a surrogate pair"
_HALF = re.compile("[\ud800-\udfff]")
Path_ = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a list: its host, file, place in the file (from 1), `seq`, and what stands there."""

    host: str
    file: str
    number: int
    seq: int
    value: object

    def broken(self, reason: str) -> Broken:
        """The record as a broken one, its place not known yet."""
        text = _plain_text(_json(self.value))[:SHOWN]
        return Broken(self.host, self.file, self.number, None, _plain_text(reason), text)


@dataclass(slots=True)
class Records:
    """The records of a run, and those that are broken, by their `seq` and event (empty: all of them)."""

    source: Source
    files: RunFiles
    found: list[Record]
    lost: dict[tuple[str, int], Broken] = field(default_factory=dict)
    lost_to: list[tuple[str, str]] = field(default_factory=list)


class JsonRecords:
    """Reads JSON documents that hold a list of records."""

    def read(self, job: IngestJob) -> Outcome:
        """Write the records of a run.

        Raises AssayError also for a document without a list, and for a key that no record has.
        """
        forms = [item for item in numbered(job.own_events, job.wanted) if item.needed]
        records = Records(job.source, job.files, _read(job.source, job.files, job.progress))
        _keys(records, forms)
        with open_engine(job.folder, MEMORY // job.share) as connection:
            try:
                _stored(connection, records, job.own_events, forms, job.folder)
            except RecursionError:
                raise fail("broken-file", f"a record is nested too deep: {job.files.directory}") from None
        return Outcome(bool(records.lost), field_notes=duplicate_value_warnings(records, forms))

    def locate(self, source: Source, files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Place, RawRecord]]:
        """Find records of lists, by their numbers."""
        files.unchanged()
        for path, name, group in group_by_file(files, places):
            content = b"".join(decompressed(path))
            records = written_records(content, source.body, {item.seq % FILE_STEP for item in group})
            for item in group:
                number = item.seq % FILE_STEP
                yield item, RawRecord(name, records[number].line, number, records[number].text)


READER = JsonRecords()


def duplicate_value_warnings(records: Records, forms: Sequence[NumberedForm]) -> tuple[str, ...]:
    """A sentence on the records that have two values of what is read of them; none where none has."""
    paths = [records.source.time, *_columns(forms)]
    found = [(record, path) for record in records.found for path in paths if has_conflicting_key(record.value, path)]
    if not found:
        return ()
    record, path = found[0]
    more = len({(item.file, item.number) for item, _ in found}) - 1
    others = f", and {more} more have two values of a key" if more else ""
    return (f"record {record.number} of {record.file} has two values of `{'.'.join(path)}`{others}; the first counts.",)


def _stored(
    connection: duckdb.DuckDBPyConnection,
    records: Records,
    own: Sequence[Event],
    forms: Sequence[NumberedForm],
    folder: Path,
) -> None:
    """Write the events, and what else the records come to."""
    _filled(connection, records, forms)
    for item in forms:
        _write(connection, records, item, _columns(forms), folder)
    _summarise(connection, records, own, folder)


def _read(source: Source, files: RunFiles, progress: Bytes) -> list[Record]:
    """All records of a run; AssayError with what is wrong of all documents."""
    found: list[Record] = []
    problems: list[Diagnostic] = []
    done = 0
    for host in files.hosts:
        for order, path in enumerate(host.files):
            name = path.relative_to(files.directory).as_posix()
            try:
                listed = _list(source, path)
            except AssayError as error:
                problems += error.diagnostics
                continue
            seqs = range(order * FILE_STEP + 1, order * FILE_STEP + 1 + len(listed))
            found += [
                Record(host.host, name, seq - seqs[0] + 1, seq, item) for seq, item in zip(seqs, listed, strict=True)
            ]
            done += host.sizes[order]
            progress(done, files.size)
    if problems:
        raise AssayError(tuple(problems))
    return found


def _list(source: Source, path: Path) -> list[object]:
    """The list of a document; its numbers are texts, as the document writes them."""
    try:
        text = b"".join(decompressed(path)).decode("utf-8-sig")
        document: Any = json.loads(
            text, parse_float=_Number, parse_int=_Number, parse_constant=_Number, object_pairs_hook=build_object
        )
    except UnicodeDecodeError as error:
        raise fail("broken-file", f"the document is no UTF-8: {path}", found=str(error)) from None
    except json.JSONDecodeError as error:
        raise fail(
            "broken-file",
            f"the document cannot be read to its end: {path}",
            found=f"{error.msg}, line {error.lineno}, column {error.colno}",
            hint="is it cut off, or still being written?",
        ) from None
    except RecursionError:
        raise fail("broken-file", f"the document is nested too deep: {path}") from None
    if isinstance(document, list):
        return document
    found = _at(document, source.body)
    if has_conflicting_key(document, source.body):
        raise fail("no-list", f"the document has two lists of records: {path}", expected="one",
                   found=f"a key of `{'.'.join(source.body)}` that stands twice")  # fmt: skip
    if isinstance(found, list):
        return found
    where = f"at `{'.'.join(source.body)}`" if source.body else "as the whole document"
    raise fail(
        "no-list",
        f"the document has no list of records: {path}",
        expected=f"a list {where}",
        found=describe_value(document),
    )


class _Number(str):
    """A number of a document, as it is written there."""

    __slots__ = ()


def _at(value: object, path: Sequence[str]) -> object:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def describe_value(value: object) -> str:
    """What a value is, in words."""
    if isinstance(value, dict):
        return "an object with " + (", ".join(f"`{key}`" for key in list(value)[:8]) or "no key")
    return "null" if value is None else "a number" if isinstance(value, _Number) else f"a {type(value).__name__}"


def _keys(records: Records, forms: Sequence[NumberedForm]) -> None:
    """AssayError when no record has the time, or a key that a wanted field is read from."""
    objects = [record.value for record in records.found if isinstance(record.value, dict)]
    if not objects:
        return
    asked: dict[tuple[Path_, ...], str] = {}
    if records.source.time:
        asked[records.source.time,] = f"the time of source `{records.source.name}`"
    for item in forms:
        for found in item.fields:
            if found.paths:
                asked.setdefault(found.paths, f"field `{found.name}` of event `{item.event.name}`")
    known = {key for value in objects for key in value}
    problems = [
        _no_key(records, len(objects), paths, user, known)
        for paths, user in asked.items()
        if not any(_at(value, path) is not None for path in paths for value in objects)
    ]
    if problems:
        raise AssayError(tuple(problems))


def _no_key(records: Records, number: int, paths: tuple[Path_, ...], user: str, known: set[str]) -> Diagnostic:
    names = " or ".join(f"`{'.'.join(path)}`" for path in paths)
    asked = format_count(number, "record")
    return Diagnostic(
        "no-key",
        f"none of the {asked} has a value of {names}, which {user} is read from: {records.files.directory}",
        expected=f"records with {names}",
        found=", ".join(f"`{key}`" for key in sorted(known)) or "records without any key",
        hint=did_you_mean(paths[0][0], known) if paths[0][0] not in known else "the key is there, and null in each",
    )


def _columns(forms: Sequence[NumberedForm]) -> list[Path_]:
    return list(dict.fromkeys(path for item in forms for path in item.paths))


def _filled(connection: duckdb.DuckDBPyConnection, records: Records, forms: Sequence[NumberedForm]) -> None:
    """Fill the table of all records: host, seq, t_ns, sound (nothing of it is broken but the instant), c0, ... (what
    fields are read from)."""
    paths = _columns(forms)
    stored = [f"c{index}" for index, _ in enumerate(paths)]
    kinds = {"host": "TEXT", "seq": "BIGINT", "t_ns": "BIGINT", "sound": "BOOLEAN"} | dict.fromkeys(stored, "TEXT")
    connection.execute(empty(ROWS, kinds))
    values: dict[str, Sequence[object]] = {
        "host": [record.host for record in records.found],
        "seq": [record.seq for record in records.found],
    }
    for name, path in zip(stored, paths, strict=True):
        values[name] = [_text(value) for value in _read_at(records, path)]
    values["sound"] = sound = [_is_sound(records, record) for record in records.found]
    timed = records.source.time
    values["said"] = said = [
        _text(_at(record.value, timed)) if timed and whole else None
        for record, whole in zip(records.found, sound, strict=True)
    ]
    types = {"host": "TEXT", "seq": "BIGINT", "sound": "BOOLEAN", "said": "TEXT"} | dict.fromkeys(stored, "TEXT")
    given = [builder.alias(exp.Explode(this=builder.given_list(name, kind)), name) for name, kind in types.items()]
    moment = builder.alias(timestamps.parse_parts(records.source, column("said")), "moment")
    stages = [("given", dialect.select(*given)), ("parted", builder.from_source(dialect.select("*", moment), "given"))]
    t_ns = builder.alias(timestamps.instant(records.source, column("moment")), "t_ns")
    query = dialect.staged(builder.from_source(dialect.select("host", "seq", t_ns, "sound", *stored), "parted"), stages)
    insert = exp.Insert(this=exp.to_table(ROWS), expression=query)
    connection.execute(insert.sql(dialect=dialect.DIALECT, copy=False), values)
    if timed:
        _timeless(connection, records, said)


def _is_sound(records: Records, record: Record) -> bool:
    """Whether a record may be an event; one that is no object is lost."""
    if not isinstance(record.value, dict):
        records.lost.setdefault((record.host, record.seq), record.broken("not an object"))
    return (record.host, record.seq) not in records.lost


def _timeless(connection: duckdb.DuckDBPyConnection, records: Records, said: Sequence[str | None]) -> None:
    """Note the records whose instant, `said`, is none: they are lost."""
    timeless = exp.and_(column("sound"), builder.is_null(column("t_ns")))
    query = builder.from_source(dialect.select("host", "seq"), ROWS).where(timeless, copy=False)
    gone = set(connection.execute(dialect.text(query)).fetchall())
    for record, text in zip(records.found, said, strict=True):
        if (record.host, record.seq) in gone:
            shown = _json(_at(record.value, records.source.time))[:80]
            records.lost[record.host, record.seq] = record.broken("no time" if text is None else f"bad time: {shown}")


def _read_at(records: Records, path: Path_) -> Iterator[object]:
    """What stands at a path of each record.  One that holds half of a surrogate pair there is lost: what would stand
    for the half may be all that tells two values apart."""
    for record in records.found:
        value = _at(record.value, path)
        if value is not None and _HALF.search(value if isinstance(value, str) else _json(value)):
            records.lost.setdefault((record.host, record.seq), record.broken(HALF))
        yield value


def _text(value: object) -> str | None:
    """A value as the text that fields are read from; a list or an object is one that no number is read from."""
    if value is None:
        return None
    return _plain_text(value if isinstance(value, str) else _json(value))


def _plain_text(text: str) -> str:
    """A text without halves of surrogate pairs, which JSON may write and no text may hold."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


def _json(value: object) -> str:
    """A value as JSON, its numbers as the document has them."""
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key, ensure_ascii=False)}: {_json(of)}" for key, of in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _write(
    connection: duckdb.DuckDBPyConnection, records: Records, item: NumberedForm, paths: Sequence[Path_], folder: Path
) -> None:
    """Write the rows of an event; note the records that lack what must be there."""
    read: dict[Path_, exp.Expr] = {path: column(f"c{paths.index(path)}") for path in item.paths}
    places = [f"c{paths.index(path)}" for path in item.paths]
    form = builder.alias(dialect.integer(item.number), "form")
    found = builder.from_source(dialect.select(*KEYS, form, *places), ROWS)
    target = folder / "events" / item.event.name / "0.parquet"
    target.parent.mkdir(parents=True)
    found = found.where(_events(records), copy=False)

    def rows(swift: bool) -> exp.Query:
        return typed_rows([item], read, found.copy(), swift=swift)

    places_of = {(record.host, record.seq): record for record in records.found}
    for host, seq in write_event_rows(connection, item.event.name, rows, target):
        record = places_of[host, seq]
        body = parsed(_json(record.value))
        reasons = (missing_field_reason(item.event.name, own, body) for own in item.fields)
        records.lost.setdefault((host, seq), record.broken(next(filter(None, reasons), "a field is missing")))
        records.lost_to.append((host, item.event.name))


def _events(records: Records) -> exp.Expr:
    """Whether a record may be an event: it is sound, and has an instant where it must have one."""
    return builder.is_not_null(column("t_ns")) if records.source.time else column("sound")


def _summarise(connection: duckdb.DuckDBPyConnection, records: Records, own: Sequence[Event], folder: Path) -> None:
    """Write what the lists hold, and judge it."""
    rows = _host_rows(connection, records)
    logs = [_log(records, host.host, rows.get(host.host, (0, 0, None, None))) for host in records.files.hosts]
    counts = [
        (host, event.name, usable - records.lost_to.count((host, event.name)))
        for host, (_, usable, _, _) in sorted(rows.items())
        for event in sorted(own, key=lambda item: item.name)
    ]
    broken = _placed(records)
    write_found(connection, records.source, logs, counts, broken, folder)


def _placed(records: Records) -> Iterator[Broken]:
    """Broken records in order, each with the place of its first byte."""
    ordered = sorted(records.lost.values(), key=lambda item: (item.host, item.file, item.line))
    for name, group in itertools.groupby(ordered, key=lambda item: item.file):
        offsets = record_offsets(b"".join(decompressed(records.files.directory / name)), records.source.body)
        yield from (replace(item, offset=offsets[item.line - 1]) for item in group)


def _log(records: Records, host: str, found: tuple[int, int, int | None, int | None]) -> Log:
    number, _, first, last = found
    gone = sum(of == host for of, _ in records.lost)
    return Log(host, number, number, number - gone, gone, 0, first, last, first)


def _host_rows(
    connection: duckdb.DuckDBPyConnection, records: Records
) -> Mapping[str, tuple[int, int, int | None, int | None]]:
    """Of each host: its records, those that may be events, the instants of the first and the last of these in order."""
    edges = [
        exp.ArgMin(this=column("t_ns"), expression=column("seq")),
        exp.ArgMax(this=column("t_ns"), expression=column("seq")),
    ]
    numbers = [exp.Count(this=exp.Star()), exp.CountIf(this=_events(records))]
    query = builder.from_source(dialect.select("host", *numbers, *edges), ROWS).group_by("host")
    return {host: tuple(rest) for host, *rest in connection.execute(dialect.text(query)).fetchall()}
