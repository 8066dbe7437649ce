"""Read lists of records: JSON documents with a list of objects, each a row of every event that does not rule it out.

The list is at the path `body` of the source, or is the document itself. Without that path, a file may also have objects
one after another, each of which is a record. With `*` as the last key of the path, the records are the members of the
object there, and the key of each is its text at the path `*`. With `[]` as a key, the rest of the path leads into each
item of the list there, or into each of the objects of a file. A missing or null key is no value. `seq` counts the
records of a host, file by file.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from assay.ingest import sql_trees, timestamps
from assay.ingest.chunks import FILE_STEP
from assay.ingest.decompress import iter_decompressed
from assay.ingest.discovery import RunFiles
from assay.ingest.event_forms import NumberedForm, number_forms
from assay.ingest.event_query import build_typed_query
from assay.ingest.event_writer import write_event_rows
from assay.ingest.malformed_reasons import parse_engine_json
from assay.ingest.output_folder import MEMORY, open_engine
from assay.ingest.quarantine import TEXT_LIMIT, MalformedRecord, explain_missing_field
from assay.ingest.readers.json_record_documents import Member, Number, get_value, read_list
from assay.ingest.readers.json_record_positions import MEMBERS, find_record_offsets, read_record_texts
from assay.ingest.readers.protocol import IngestJob, Outcome, Place, RawRecord, group_by_file
from assay.ingest.small_tables import build_create_statement
from assay.ingest.summary import HostLog, write_results
from assay.lang.model.package import Event, Form, Source
from assay.lang.reserved_names import KEYS
from assay.sql import dialect
from assay.sql.dialect import build_column
from assay.util.diagnostics import AssayError, Diagnostic, fail, suggest_names
from assay.util.json_text import has_conflicting_key
from assay.util.numbers import format_count
from assay.util.progress import ByteProgress

if TYPE_CHECKING:
    import duckdb

ROWS = "rows"
HALF = "half of a surrogate pair"
_HALF = re.compile("[\ud800-\udfff]")
Path_ = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a list: its host, file, number in the file (from 1), `seq`, and value."""

    host: str
    file: str
    number: int
    seq: int
    value: object

    def to_malformed(self, reason: str) -> MalformedRecord:
        """Return the record as a malformed one, without its offset."""
        value = self.value
        if isinstance(value, Member):
            value = {key: item for key, item in value.items() if key != MEMBERS}
        text = _replace_surrogates(_to_json(value))[:TEXT_LIMIT]
        return MalformedRecord(self.host, self.file, self.number, None, _replace_surrogates(reason), text)


@dataclass(slots=True)
class Records:
    """The records of a run, and the malformed ones by host and `seq`.

    By host and event: an item for each record without a required field, and the numbers of those that are ruled out.
    """

    source: Source
    files: RunFiles
    records: list[Record]
    malformed: dict[tuple[str, int], MalformedRecord] = field(default_factory=dict)
    incomplete_rows: list[tuple[str, str]] = field(default_factory=list)
    ruled_out: Counter[tuple[str, str]] = field(default_factory=Counter)


class JsonRecords:
    """Reader of JSON documents with a list of records."""

    def read(self, job: IngestJob) -> Outcome:
        """Write the records of a run.

        Raises AssayError also for a document without a list, and for a key that no record has.
        """
        forms = [item for item in number_forms(job.source_events, job.required_fields) if item.is_required]
        records = Records(job.source, job.files, _read_records(job.source, job.files, job.progress))
        _check_keys(records, forms)
        with open_engine(job.folder, MEMORY // job.share) as connection:
            try:
                _store_records(connection, records, job.source_events, forms, job.folder)
            except RecursionError:
                raise fail("broken-file", f"a record is nested too deep: {job.files.directory}") from None
        return Outcome(bool(records.malformed), field_notes=list_duplicate_value_warnings(records, forms))

    def locate(self, source: Source, files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Place, RawRecord]]:
        """Yield records of lists by their numbers."""
        files.check_unchanged()
        for path, name, group in group_by_file(files, places):
            content = b"".join(iter_decompressed(path))
            records = read_record_texts(content, source.body, {item.seq % FILE_STEP for item in group})
            for item in group:
                number = item.seq % FILE_STEP
                yield item, RawRecord(name, records[number].line, number, records[number].text)


READER = JsonRecords()


def list_duplicate_value_warnings(records: Records, forms: Sequence[NumberedForm]) -> tuple[str, ...]:
    """Return a warning about records with two different values of a required key, or nothing."""
    paths = [records.source.time, *_list_paths(forms)]
    duplicates = [
        (record, path) for record in records.records for path in paths if has_conflicting_key(record.value, path)
    ]
    if not duplicates:
        return ()
    record, path = duplicates[0]
    more = len({(item.file, item.number) for item, _ in duplicates}) - 1
    others = f", and {more} more have two values of a key" if more else ""
    return (f"record {record.number} of {record.file} has two values of `{'.'.join(path)}`{others}; the first counts.",)


def _store_records(
    connection: duckdb.DuckDBPyConnection,
    records: Records,
    events: Sequence[Event],
    forms: Sequence[NumberedForm],
    folder: Path,
) -> None:
    """Write the events and the summary."""
    _fill_table(connection, records, forms)
    records.ruled_out = _count_ruled_out(records, events)
    for item in forms:
        _write_event(connection, records, item, _list_paths(forms), folder)
    _write_summary(connection, records, events, folder)


def _read_records(source: Source, files: RunFiles, progress: ByteProgress) -> list[Record]:
    """Return all records of a run. Raises AssayError with the problems of all documents."""
    records: list[Record] = []
    problems: list[Diagnostic] = []
    done = 0
    for host in files.hosts:
        for order, path in enumerate(host.files):
            name = path.relative_to(files.directory).as_posix()
            try:
                items = read_list(source, path)
            except AssayError as error:
                problems += error.diagnostics
                continue
            seqs = range(order * FILE_STEP + 1, order * FILE_STEP + 1 + len(items))
            records += [
                Record(host.host, name, seq - seqs[0] + 1, seq, item) for seq, item in zip(seqs, items, strict=True)
            ]
            done += host.sizes[order]
            progress(done, files.size)
    if problems:
        raise AssayError(tuple(problems))
    return records


def _check_keys(records: Records, forms: Sequence[NumberedForm]) -> None:
    """Check that at least one record has an instant, and one a value of each required field. Raises AssayError."""
    objects = [record.value for record in records.records if isinstance(record.value, dict)]
    if not objects:
        return
    required: dict[tuple[Path_, ...], str] = {}
    if records.source.time:
        required[records.source.time,] = f"the time of source `{records.source.name}`"
    for item in forms:
        for required_field in item.fields:
            if required_field.paths and required_field.required and required_field.default is None:
                required.setdefault(required_field.paths, f"field `{required_field.name}` of event `{item.event.name}`")
    keys = {key for value in objects for key in value}
    problems = [
        _build_key_diagnostic(records, len(objects), paths, user, keys)
        for paths, user in required.items()
        if not any(get_value(value, path) is not None for path in paths for value in objects)
    ]
    if problems:
        raise AssayError(tuple(problems))


def _build_key_diagnostic(
    records: Records, number: int, paths: tuple[Path_, ...], user: str, keys: set[str]
) -> Diagnostic:
    names = " or ".join(f"`{'.'.join(path)}`" for path in paths)
    total = format_count(number, "record")
    return Diagnostic(
        "no-key",
        f"none of the {total} has a value of {names}, from which {user} is read: {records.files.directory}",
        expected=f"records with {names}",
        found=", ".join(f"`{key}`" for key in sorted(keys)) or "records without any key",
        hint=suggest_names(paths[0][0], keys)
        if paths[0][0] not in keys
        else "the key exists, but is null in every record",
    )


def _list_paths(forms: Sequence[NumberedForm]) -> list[Path_]:
    return list(dict.fromkeys(path for item in forms for path in item.paths))


def _fill_table(connection: duckdb.DuckDBPyConnection, records: Records, forms: Sequence[NumberedForm]) -> None:
    """Fill the table of all records: host, seq, t_ns, sound, and c0, c1, ... for the paths that fields read.

    `sound` is false for a malformed record, except if only its instant is malformed. `out_N` is true for a record that
    form N rules out.
    """
    values: dict[str, Sequence[object]] = {
        "host": [record.host for record in records.records],
        "seq": [record.seq for record in records.records],
    }
    stored_columns: dict[str, str] = {}
    for index, path in enumerate(_list_paths(forms)):
        stored_columns[f"c{index}"] = "TEXT"
        values[f"c{index}"] = [_to_text(value) for value in _iter_values(records, path)]
    for item in forms:
        if item.form.unless:
            stored_columns[f"out_{item.number}"] = "BOOLEAN"
            values[f"out_{item.number}"] = [_is_ruled_out(item.form, record.value) for record in records.records]
    kinds = {"host": "TEXT", "seq": "BIGINT", "t_ns": "BIGINT", "sound": "BOOLEAN"} | stored_columns
    connection.execute(build_create_statement(ROWS, kinds))
    values["sound"] = sound = [_is_sound(records, record) for record in records.records]
    time_path = records.source.time
    values["instant_text"] = instants = [
        _to_text(get_value(record.value, time_path)) if time_path and is_sound else None
        for record, is_sound in zip(records.records, sound, strict=True)
    ]
    types = {"host": "TEXT", "seq": "BIGINT", "sound": "BOOLEAN", "instant_text": "TEXT"} | stored_columns
    columns = [
        sql_trees.build_alias(exp.Explode(this=sql_trees.build_list_parameter(name, kind)), name)
        for name, kind in types.items()
    ]
    parts = sql_trees.build_alias(timestamps.build_parts(records.source, build_column("instant_text")), "instant_parts")
    stages = [
        ("records", dialect.select(*columns)),
        ("parts", sql_trees.set_source(dialect.select("*", parts), "records")),
    ]
    t_ns = sql_trees.build_alias(timestamps.build_instant(records.source, build_column("instant_parts")), "t_ns")
    query = dialect.add_stages(
        sql_trees.set_source(dialect.select("host", "seq", t_ns, "sound", *stored_columns), "parts"), stages
    )
    insert = exp.Insert(this=exp.to_table(ROWS), expression=query)
    connection.execute(insert.sql(dialect=dialect.DIALECT, copy=False), values)
    if time_path:
        _note_timeless(connection, records, instants)


def _is_sound(records: Records, record: Record) -> bool:
    """Return whether a record is an object and not malformed; note another value as malformed."""
    if not isinstance(record.value, dict):
        records.malformed.setdefault((record.host, record.seq), record.to_malformed("not an object"))
    return (record.host, record.seq) not in records.malformed


def _is_ruled_out(form: Form, value: object) -> bool:
    """Return whether a record is ruled out by a form."""
    texts = ((rule, _to_text(get_value(value, rule.path))) for rule in form.unless)
    return any(text is not None if rule.present else text == rule.equals for rule, text in texts)


def _count_ruled_out(records: Records, events: Sequence[Event]) -> Counter[tuple[str, str]]:
    """Return how many records of each host could be of an event, but are ruled out."""
    whole = [record for record in records.records if (record.host, record.seq) not in records.malformed]
    ruling = [(event.name, form) for event in events for form in event.forms if form.unless]
    return Counter(
        (record.host, name) for name, form in ruling for record in whole if _is_ruled_out(form, record.value)
    )


def _note_timeless(connection: duckdb.DuckDBPyConnection, records: Records, texts: Sequence[str | None]) -> None:
    """Note records without a valid instant as malformed; `texts` are the instants of all records."""
    is_timeless = exp.and_(build_column("sound"), sql_trees.is_null(build_column("t_ns")))
    query = sql_trees.set_source(dialect.select("host", "seq"), ROWS).where(is_timeless, copy=False)
    timeless_keys = set(connection.execute(dialect.to_sql(query)).fetchall())
    for record, text in zip(records.records, texts, strict=True):
        if (record.host, record.seq) in timeless_keys:
            instant = _to_json(get_value(record.value, records.source.time))[:80]
            records.malformed[record.host, record.seq] = record.to_malformed(
                "no time" if text is None else f"bad time: {instant}"
            )


def _iter_values(records: Records, path: Path_) -> Iterator[object]:
    """Yield the value at a path of each record.

    A record is malformed if the value has half of a surrogate pair, since values may differ only in such halves.
    """
    for record in records.records:
        value = get_value(record.value, path)
        if value is not None and _HALF.search(value if isinstance(value, str) else _to_json(value)):
            records.malformed.setdefault((record.host, record.seq), record.to_malformed(HALF))
        yield value


def _to_text(value: object) -> str | None:
    """Return a value as the text that fields are read from, JSON for lists and objects; None for null."""
    if value is None:
        return None
    return _replace_surrogates(value if isinstance(value, str) else _to_json(value))


def _replace_surrogates(text: str) -> str:
    """Replace halves of surrogate pairs, which JSON allows, but UTF-8 does not."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


def _to_json(value: object) -> str:
    """Return a value as JSON, with numbers as the document writes them."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{json.dumps(key, ensure_ascii=False)}: {_to_json(item)}" for key, item in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(_to_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _write_event(
    connection: duckdb.DuckDBPyConnection, records: Records, item: NumberedForm, paths: Sequence[Path_], folder: Path
) -> None:
    """Write the rows of an event; note records without a required field."""
    values_by_path: dict[Path_, exp.Expr] = {path: build_column(f"c{paths.index(path)}") for path in item.paths}
    stored_columns = [f"c{paths.index(path)}" for path in item.paths]
    form = sql_trees.build_alias(dialect.build_integer(item.number), "form")
    query = sql_trees.set_source(dialect.select(*KEYS, form, *stored_columns), ROWS)
    target = folder / "events" / item.event.name / "0.parquet"
    target.parent.mkdir(parents=True)
    query = query.where(_is_event_row(records), copy=False)
    if item.form.unless:
        query = query.where(exp.Not(this=build_column(f"out_{item.number}")), copy=False)

    def build_rows(is_fast: bool) -> exp.Query:
        return build_typed_query([item], values_by_path, query.copy(), is_fast=is_fast)

    records_by_place = {(record.host, record.seq): record for record in records.records}
    for host, seq in write_event_rows(connection, item.event.name, build_rows, target):
        record = records_by_place[host, seq]
        body = parse_engine_json(_to_json(record.value))
        reasons = (explain_missing_field(item, field, body) for field in item.fields)
        records.malformed.setdefault(
            (host, seq), record.to_malformed(next(filter(None, reasons), "a field is missing"))
        )
        records.incomplete_rows.append((host, item.event.name))


def _is_event_row(records: Records) -> exp.Expr:
    """Return the condition that a record may be an event: sound, and with an instant if the source has any."""
    return sql_trees.is_not_null(build_column("t_ns")) if records.source.time else build_column("sound")


def _write_summary(
    connection: duckdb.DuckDBPyConnection, records: Records, events: Sequence[Event], folder: Path
) -> None:
    """Write the summary of the lists. Raises AssayError if too many records are malformed."""
    rows = _compute_host_summaries(connection, records)
    logs = [_create_log(records, host.host, rows.get(host.host, (0, 0, None, None))) for host in records.files.hosts]
    lost = Counter(records.incomplete_rows) + records.ruled_out
    counts = [
        (host, event.name, usable - lost[host, event.name])
        for host, (_, usable, _, _) in sorted(rows.items())
        for event in sorted(events, key=lambda item: item.name)
    ]
    write_results(connection, records.source, logs, counts, _locate_malformed(records), folder)


def _locate_malformed(records: Records) -> Iterator[MalformedRecord]:
    """Yield malformed records in order, with the offset of their first byte."""
    ordered = sorted(records.malformed.values(), key=lambda item: (item.host, item.file, item.line))
    for name, group in itertools.groupby(ordered, key=lambda item: item.file):
        offsets = find_record_offsets(b"".join(iter_decompressed(records.files.directory / name)), records.source.body)
        yield from (replace(item, offset=offsets[item.line - 1]) for item in group)


def _create_log(records: Records, host: str, summary: tuple[int, int, int | None, int | None]) -> HostLog:
    number, _, first, last = summary
    malformed_count = sum(lost_host == host for lost_host, _ in records.malformed)
    return HostLog(host, number, number, number - malformed_count, malformed_count, 0, first, last, first)


def _compute_host_summaries(
    connection: duckdb.DuckDBPyConnection, records: Records
) -> Mapping[str, tuple[int, int, int | None, int | None]]:
    """Return for each host: records, records that may be events, and the first and the last instant."""
    edges = [
        exp.ArgMin(this=build_column("t_ns"), expression=build_column("seq")),
        exp.ArgMax(this=build_column("t_ns"), expression=build_column("seq")),
    ]
    numbers = [exp.Count(this=exp.Star()), exp.CountIf(this=_is_event_row(records))]
    query = sql_trees.set_source(dialect.select("host", *numbers, *edges), ROWS).group_by("host")
    return {host: tuple(rest) for host, *rest in connection.execute(dialect.to_sql(query)).fetchall()}
