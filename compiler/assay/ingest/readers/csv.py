"""Read tables: CSV files, whose rows are events, and other files that are read as tables (`blocks.py`).

Every row is one of each event of the source: an event selects columns by name, with types. An empty cell is no value.
If the source names no column of the instant, rows have none.
"""

from __future__ import annotations

import glob
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from assay.ingest import builder, invalid_text, timestamps
from assay.ingest.chunks import FILE_STEP
from assay.ingest.damaged_lines import sentence
from assay.ingest.discovery import HostFiles, RunFiles
from assay.ingest.event_forms import NumberedForm, numbered
from assay.ingest.event_query import typed_rows
from assay.ingest.event_writer import write_event_rows
from assay.ingest.plain_copies import plain
from assay.ingest.quarantine import DESCRIBED, SHOWN, Broken, missing_field_reason, truncate_value
from assay.ingest.readers import csv_text
from assay.ingest.readers.protocol import IngestJob, Outcome, Place, RawRecord, group_by_file
from assay.ingest.small_tables import empty
from assay.ingest.summary import Log, write_found
from assay.ingest.workspace_dir import MEMORY, open_engine
from assay.lang.model.package import Event, Field, Source
from assay.lang.reserved_names import KEYS
from assay.sql import dialect
from assay.sql.dialect import column
from assay.util.diagnostics import AssayError, Diagnostic, did_you_mean
from assay.util.os_errors import is_full
from assay.util.progress import Bytes
from assay.util.scratch import temporary_folder as scratch_folder

if TYPE_CHECKING:
    import duckdb

ROWS = "rows"
#: an instant as an integer; any other text must be a UTC time
INTEGER = r"^-?[0-9]{1,19}$"


class Form(Protocol):
    """Format of files; `plain` is the uncompressed content of a file."""

    def header(self, path: Path, plain: Path, /) -> tuple[str, ...]:
        """Return the names of its columns."""

    def mended(self, path: Path, plain: Path, copy: Path, /) -> list[csv_text.Record]:
        """Write a copy for the engine with row numbers; return the malformed records, which are left out."""

    def chosen(self, path: Path, plain: Path, numbers: Sequence[int], /) -> dict[int, csv_text.Record]:
        """Return some rows by their numbers."""

    def ends_in(self, plain: Path, columns: Sequence[str], /) -> str:
        """Return the column of the last value of a file without a final line end, else an empty text."""


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file of a run: its host, its index among files of the host, its uncompressed content, its columns."""

    host: HostFiles
    order: int
    path: Path
    plain: Path
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lost:
    """A malformed row, by its place. Without an instant, it is lost to all events, and `event` is empty."""

    host: str
    seq: int
    event: str


@dataclass(slots=True)
class Tables:
    """State of reading the tables of a run: the rows of all files in one table, with the required columns."""

    connection: duckdb.DuckDBPyConnection
    source: Source
    files: RunFiles
    folder: Path
    events: Mapping[str, NumberedForm]
    form: Form
    words: tuple[str, str]
    torn: list[Broken] = field(default_factory=list)
    torn_records: dict[str, int] = field(default_factory=dict)
    last_torn: dict[Path, int] = field(default_factory=dict)

    @property
    def time(self) -> str:
        """Return the name of the column of the instant, empty if there is none."""
        return next(iter(self.source.time), "")

    @property
    def needed(self) -> tuple[str, ...]:
        """Return the columns that are read, without duplicates, that of the instant first."""
        read = (path[0] for item in self.events.values() for path in item.paths)
        return tuple(dict.fromkeys([*([self.time] if self.time else []), *read]))

    @property
    def verbatim_columns(self) -> tuple[str, ...]:
        """Return the columns whose cells are used as text.

        Only these are checked for invalid text, which no number, boolean or instant contains.
        """
        items = [item for numbered_ in self.events.values() for item in numbered_.fields]
        return tuple({path[0]: 0 for item in items for path in item.paths if item.type == "text" or item.transforms})


@dataclass(frozen=True, slots=True)
class TableReader:
    """Reader of files whose records are rows of a table; `form_of` returns the format of a source.

    `file` and `column` are the words for a file and a column in messages.
    """

    form_of: Callable[[Source], Form]
    file: str
    column: str

    def read(self, job: IngestJob) -> Outcome:
        """Write the rows of the tables of a run. `seq` counts the rows of a host, file by file.

        Raises AssayError also for a file without a header or without a required column.
        """
        forms = {item.event.name: item for item in numbered(job.own_events, job.wanted) if item.needed}
        (job.folder / "plain").mkdir()
        with open_engine(job.folder, MEMORY // job.share) as connection:
            tables = Tables(
                connection, job.source, job.files, job.folder, forms, self.form_of(job.source), (self.file, self.column)
            )
            files = _opened(tables)
            _fill(tables, files, job.progress)
            incomplete = _no_events(tables) + [row for name in forms for row in _write(tables, name)]
            _summarise(tables, job.own_events, files, incomplete)
            last_lines = sentence([_relative(tables, file) for file in files if _unended(tables, file, incomplete)])
        return Outcome(bool(incomplete), field_notes=tuple(last_lines))

    def locate(self, source: Source, files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Place, RawRecord]]:
        """Yield rows by their numbers."""
        files.unchanged()
        form = self.form_of(source)
        with scratch_folder() as folder:
            for path, name, group in group_by_file(files, places):
                content = plain(path, folder, "plain")
                rows = form.chosen(path, content, [item.seq % FILE_STEP for item in group])
                for item in group:
                    row = rows[item.seq % FILE_STEP]
                    yield item, RawRecord(name, row.line, row.number, row.text)


READER = TableReader(lambda _: csv_text, "table", "column")


def _opened(tables: Tables) -> list[TableFile]:
    """Return all files with their columns. Raises AssayError with all missing columns."""
    files: list[TableFile] = []
    problems: list[Diagnostic] = []
    for host in tables.files.hosts:
        for order, path in enumerate(host.files):
            try:
                content = plain(path, tables.folder / "plain", f"{len(files)}.plain")
                columns = tables.form.header(path, content)
                problems += _lacking_columns(tables, path, columns)
                files.append(TableFile(host, order, path, content, columns))
            except AssayError as error:
                problems += error.diagnostics
    if problems:
        raise AssayError(tuple(problems))
    return files


def _lacking_columns(tables: Tables, path: Path, columns: Sequence[str]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each missing column, of the instant or of a required field, and each duplicate one."""
    fields = [item for event in tables.events.values() for item in event.fields]
    instant = [(tables.time,)] if tables.time else []
    file, column_ = tables.words
    for names in dict.fromkeys([*instant, *(_names(item) for item in fields if _must_be(item))]):
        if not set(names) & set(columns):
            message, hint = f"the {file} has no {column_} {' or '.join(names)}: {path}", did_you_mean(names[0], columns)
            yield Diagnostic(f"no-{column_}", message, expected=" or ".join(names), found=", ".join(columns), hint=hint)
    for name in tables.needed:
        if columns.count(name) > 1:
            message = f"the {file} has the {column_} {name} more than once: {path}"
            yield Diagnostic(f"{column_}-twice", message, found=", ".join(columns))


def _names(field: Field) -> tuple[str, ...]:
    return tuple(path[0] for path in field.paths)


def _must_be(field: Field) -> bool:
    return bool(field.paths) and field.required and field.default is None


def _fill(tables: Tables, files: Sequence[TableFile], progress: Bytes) -> None:
    """Fill the table of all rows: host, seq, t_ns, sound, c0, ... (the required columns).

    `sound` is false for a row with invalid text.
    """
    kinds = {"host": "TEXT", "seq": "BIGINT", "t_ns": "BIGINT", "sound": "BOOLEAN"}
    kinds |= dict.fromkeys(_stored(tables), "TEXT")
    tables.connection.execute(empty(ROWS, kinds))
    done = 0
    for file in files:
        _read(tables, file)
        done += file.host.sizes[file.order]
        progress(done, tables.files.size)


def _stored(tables: Tables) -> list[str]:
    return [f"c{index}" for index, _ in enumerate(tables.needed)]


def _read(tables: Tables, file: TableFile) -> None:
    """Add the rows of a file; if the scan rejects it, those of a copy without malformed rows."""
    import duckdb

    if tables.form is csv_text and csv_text.may_scan(file.path, file.plain):
        try:
            tables.connection.execute(_added(tables, file, copy=False), {"file": _literal_path(file.plain)})
            return
        except duckdb.Error as error:
            if is_full(error):
                raise
    copy = tables.folder / "plain" / "mended.csv"
    broken = tables.form.mended(file.path, file.plain, copy)
    host, name = file.host.host, _relative(tables, file)
    tables.torn += [
        Broken(host, name, item.line, item.ahead, item.fault, item.text[:SHOWN]) for item in broken[:DESCRIBED]
    ]  # fmt: skip
    tables.torn_records[host] = tables.torn_records.get(host, 0) + len(broken)
    tables.last_torn[file.path] = max((item.number for item in broken), default=0)
    try:
        tables.connection.execute(_added(tables, file, copy=True), {"file": _literal_path(copy)})
    except duckdb.Error as error:
        if is_full(error):
            raise
        raise _unreadable(file.path, str(error).split("\n")[0]) from None


def _unreadable(path: Path, cause: str) -> AssayError:
    return AssayError((Diagnostic("broken-file", f"the table cannot be read: {path}", found=cause),))


def _literal_path(path: Path) -> str:
    return glob.escape(str(path))


def _relative(tables: Tables, file: TableFile) -> str:
    return file.path.relative_to(tables.files.directory).as_posix()


def _added(tables: Tables, file: TableFile, copy: bool) -> str:
    """Return the statement that adds the rows of a file."""
    rows = exp.Subquery(
        this=csv_text.scan(len(file.columns), copy), alias=exp.TableAlias(this=exp.to_identifier("scan"))
    )
    seq = exp.Add(this=column("number"), expression=dialect.integer(file.order * FILE_STEP))
    texts = [
        csv_text.cell(file.columns.index(name)) if name in file.columns else builder.cast(exp.Null(), "TEXT")
        for name in tables.needed
    ]
    instant = _instant(tables.source, texts[0].copy()) if tables.time else builder.cast(exp.Null(), "BIGINT")
    sound = _sound(tables, file, copy)
    query = builder.from_source(dialect.select(builder.text(file.host.host), seq, instant, sound, *texts), rows)
    return exp.Insert(this=exp.to_table(ROWS), expression=query).sql(dialect=dialect.DIALECT, copy=False)


def _sound(tables: Tables, file: TableFile, copy: bool) -> exp.Expr:
    """Return the condition that a row has no invalid text in verbatim columns or at its beginning."""
    cells = [csv_text.cell(file.columns.index(name)) for name in tables.verbatim_columns if name in file.columns]
    conditions = [invalid_text.is_invalid_text(cell, mended=copy) for cell in cells]
    if tables.form is csv_text and csv_text.cell(0) not in cells:
        conditions.append(invalid_text.starts_with_any(csv_text.cell(0), invalid_text.NUL, invalid_text.BOM))
    # For blocks, there may be no verbatim column.
    return exp.and_(*(exp.Not(this=builder.first_of([item, exp.false()])) for item in conditions or [exp.false()]))


def _instant(source: Source, text: exp.Expr) -> exp.Expr:
    """Return the instant in ns of a text in the notation of the source, by default an integer or an ISO 8601 time.

    Null if the text is not one.
    """
    time = timestamps.of_text(source, text)
    if source.time_form:
        return time
    integer = builder.call("regexp_matches", text, builder.text(INTEGER))
    return builder.when(integer, builder.try_cast(text.copy(), "BIGINT"), time)


def _events(tables: Tables) -> exp.Expr:
    """Return the condition that a row may be an event: it is sound, and has an instant if the source requires one."""
    return exp.and_(column("sound"), builder.is_not_null(column("t_ns"))) if tables.time else column("sound")


def _no_events(tables: Tables) -> list[Lost]:
    """Return the rows that cannot be events."""
    query = builder.from_source(dialect.select("host", "seq"), ROWS).where(exp.not_(_events(tables)), copy=False)
    rows = tables.connection.execute(dialect.text(query.order_by("host", "seq"))).fetchall()
    return [Lost(host, seq, "") for host, seq in rows]


def _write(tables: Tables, name: str) -> list[Lost]:
    """Write the rows of an event; return those without a required field."""
    item = tables.events[name]
    read: dict[tuple[str, ...], exp.Expr] = {
        (column_,): column(stored) for column_, stored in zip(tables.needed, _stored(tables), strict=True)
    }
    form = builder.alias(dialect.integer(item.number), "form")
    query = builder.from_source(dialect.select(*KEYS, form, *_stored(tables)), ROWS).where(_events(tables), copy=False)
    target = tables.folder / "events" / name / "0.parquet"
    target.parent.mkdir(parents=True)

    def rows(swift: bool) -> exp.Query:
        return typed_rows([item], read, query.copy(), swift=swift)

    return [Lost(host, seq, name) for host, seq in write_event_rows(tables.connection, name, rows, target)]


def _summarise(tables: Tables, events: Sequence[Event], files: Sequence[TableFile], incomplete: Sequence[Lost]) -> None:
    """Write the summary of the tables. Raises AssayError if too many rows are malformed."""
    rows = _host_rows(tables)
    lost_rows = {host.host: {item.seq for item in incomplete if item.host == host.host} for host in tables.files.hosts}
    logs = []
    for host in tables.files.hosts:
        number, _, first, last = rows.get(host.host, (0, 0, None, None))
        torn = tables.torn_records.get(host.host, 0)
        good = number - len(lost_rows[host.host])
        logs.append(
            Log(host.host, number + torn, number, good, len(lost_rows[host.host]) + torn, 0, first, last, first)
        )
    counts = [
        (host, event.name, dated - sum(item.host == host and item.event == event.name for item in incomplete))
        for host, (_, dated, _, _) in sorted(rows.items())
        for event in sorted(events, key=lambda item: item.name)
    ]
    broken = list(_placed(tables, files, [*tables.torn, *_described(tables, files, incomplete)]))
    write_found(tables.connection, tables.source, logs, counts, broken, tables.folder)


def _unended(tables: Tables, file: TableFile, incomplete: Sequence[Lost]) -> bool:
    """Return whether the last row of a file is used, has no line end, and ends in a cell that is read."""
    if tables.form.ends_in(file.plain, file.columns) not in tables.needed:
        return False
    first = file.order * FILE_STEP
    of_host = exp.EQ(this=column("host"), expression=builder.text(file.host.host))
    query = builder.from_source(dialect.select(exp.Max(this=column("seq"))), ROWS).where(of_host, copy=False)
    query = query.where(builder.within(column("seq"), first, first + FILE_STEP - 1), copy=False)
    ((last,),) = tables.connection.execute(dialect.text(query)).fetchall()
    is_used = last is not None and not any((item.host, item.seq) == (file.host.host, last) for item in incomplete)
    return is_used and last - first > tables.last_torn.get(file.path, 0)


def _placed(tables: Tables, files: Sequence[TableFile], broken: Sequence[Broken]) -> Iterator[Broken]:
    """Yield malformed rows in order. Their offsets, so far within their lines, become offsets in the file."""
    contents = {_relative(tables, file): file.plain for file in files}
    ordered = sorted(broken, key=lambda item: (item.host, item.file, item.line, item.offset or 0))
    for name, group in itertools.groupby(ordered, key=lambda item: item.file):
        items = list(group)
        offsets = csv_text.offsets(contents[name], {item.line for item in items})
        yield from (replace(item, offset=offsets[item.line] + (item.offset or 0)) for item in items)


def _host_rows(tables: Tables) -> dict[str, tuple[int, int, int | None, int | None]]:
    """Return for each host: rows, rows that may be events, instants of the first and the last of these."""
    instant = builder.when(column("sound"), column("t_ns"))
    edges = [exp.ArgMin(this=instant, expression=column("seq")),
             exp.ArgMax(this=instant.copy(), expression=column("seq"))]  # fmt: skip
    numbers = [exp.Count(this=exp.Star()), exp.CountIf(this=_events(tables))]
    query = builder.from_source(dialect.select("host", *numbers, *edges), ROWS).group_by("host")
    rows = tables.connection.execute(dialect.text(query)).fetchall()
    return {host: (number, dated, first, last) for host, number, dated, first, last in rows}


def _described(tables: Tables, files: Sequence[TableFile], incomplete: Sequence[Lost]) -> Iterator[Broken]:
    """Yield descriptions of rows that are not events, for each file up to a limit."""
    by_file: dict[tuple[str, int], dict[int, str]] = {}
    for item in incomplete:
        by_file.setdefault((item.host, item.seq // FILE_STEP), {}).setdefault(item.seq % FILE_STEP, item.event)
    for file in files:
        rows = by_file.get((file.host.host, file.order), {})
        numbers = sorted(rows)[:DESCRIBED]
        for number, record in tables.form.chosen(file.path, file.plain, numbers).items():
            body = {name: text or None for name, text in zip(file.columns, record.cells, strict=False)}
            reason = _reason(tables, rows[number], record.text[:1], body)
            yield Broken(
                file.host.host, _relative(tables, file), record.line, record.ahead, reason, record.text[:SHOWN]
            )


def _reason(tables: Tables, event: str, begins: str, body: Mapping[str, str | None]) -> str:
    """Return why a row is malformed: invalid text, no instant, or no valid value of a field."""
    read = [begins, *(body.get(name) or "" for name in tables.needed)]
    if fault := next(filter(None, map(invalid_text.fault, read)), ""):
        return fault
    if not event:
        text = body.get(tables.time)
        return "no time" if text is None else f"bad time: {truncate_value(text)}"
    for item in tables.events[event].fields:
        if text := missing_field_reason(event, item, body):
            return text
    return "a field is missing"
