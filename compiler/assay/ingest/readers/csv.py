"""Read tables: CSV files, whose rows are events, and other files that are read as tables (`blocks.py`).

Every row is one of each event of the source: an event is a choice of columns, by their names, with types.  An empty
cell holds no value.  Where the source names no column of the instant, rows have none.
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
#: an instant as an integer; any other text is to be a UTC time
INTEGER = r"^-?[0-9]{1,19}$"


class Form(Protocol):
    """How files are read; a file's uncompressed content is `plain`."""

    def header(self, path: Path, plain: Path, /) -> tuple[str, ...]:
        """The names of its columns."""

    def mended(self, path: Path, plain: Path, copy: Path, /) -> list[csv_text.Record]:
        """Write a copy that scans, its rows numbered; what is broken, which it lacks."""

    def chosen(self, path: Path, plain: Path, numbers: Sequence[int], /) -> dict[int, csv_text.Record]:
        """Some rows by their numbers."""

    def ends_in(self, plain: Path, columns: Sequence[str], /) -> str:
        """The column of the value at the end of a file that has no line end there; empty when it has one."""


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file of a run: its host, its number among the host's, its content without compression, its columns."""

    host: HostFiles
    order: int
    path: Path
    plain: Path
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lost:
    """A row that is lost to an event (empty: to all, since it has no instant), by its place."""

    host: str
    seq: int
    event: str


@dataclass(slots=True)
class Tables:
    """The tables of a run being read: the rows of files in one table, by the columns that events need."""

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
        """The name of the column of the instant; empty when there is none."""
        return next(iter(self.source.time), "")

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that are read, each once, the instant's first."""
        read = (path[0] for item in self.events.values() for path in item.paths)
        return tuple(dict.fromkeys([*([self.time] if self.time else []), *read]))

    @property
    def verbatim_columns(self) -> tuple[str, ...]:
        """The columns whose cells are taken as they stand: no number, truth value or instant has what no text holds."""
        items = [item for numbered_ in self.events.values() for item in numbered_.fields]
        return tuple({path[0]: 0 for item in items for path in item.paths if item.type == "text" or item.transforms})


@dataclass(frozen=True, slots=True)
class TableReader:
    """Reads files whose records are rows of a table: `form_of` is how the files of a source become rows.

    `file` and `column` are what messages call a file and a column of it.
    """

    form_of: Callable[[Source], Form]
    file: str
    column: str

    def read(self, job: IngestJob) -> Outcome:
        """Write the rows of a run's tables.  `seq` counts a host's rows, file by file.

        Raises AssayError also for a file without a header, or without a column that must be there.
        """
        forms = {item.event.name: item for item in numbered(job.own_events, job.wanted) if item.needed}
        (job.folder / "plain").mkdir()
        with open_engine(job.folder, MEMORY // job.share) as connection:
            tables = Tables(
                connection, job.source, job.files, job.folder, forms, self.form_of(job.source), (self.file, self.column)
            )
            found = _opened(tables)
            _fill(tables, found, job.progress)
            lost = _no_events(tables) + [row for name in forms for row in _write(tables, name)]
            _summarise(tables, job.own_events, found, lost)
            unended = sentence([_relative(tables, file) for file in found if _unended(tables, file, lost)])
        return Outcome(bool(lost), field_notes=tuple(unended))

    def locate(self, source: Source, files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Place, RawRecord]]:
        """Find rows, by their numbers."""
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
    """All files with their columns; AssayError with what all of them lack."""
    found: list[TableFile] = []
    problems: list[Diagnostic] = []
    for host in tables.files.hosts:
        for order, path in enumerate(host.files):
            try:
                content = plain(path, tables.folder / "plain", f"{len(found)}.plain")
                columns = tables.form.header(path, content)
                problems += _lacking_columns(tables, path, columns)
                found.append(TableFile(host, order, path, content, columns))
            except AssayError as error:
                problems += error.diagnostics
    if problems:
        raise AssayError(tuple(problems))
    return found


def _lacking_columns(tables: Tables, path: Path, columns: Sequence[str]) -> Iterator[Diagnostic]:
    """What a file lacks: the column of the instant, and of each field that must be there one of its columns."""
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


def _fill(tables: Tables, found: Sequence[TableFile], progress: Bytes) -> None:
    """Fill the table of all rows: host, seq, t_ns, sound (nothing is in it that no text holds), c0, ... (the needed
    columns)."""
    kinds = {"host": "TEXT", "seq": "BIGINT", "t_ns": "BIGINT", "sound": "BOOLEAN"}
    kinds |= dict.fromkeys(_stored(tables), "TEXT")
    tables.connection.execute(empty(ROWS, kinds))
    done = 0
    for file in found:
        _read(tables, file)
        done += file.host.sizes[file.order]
        progress(done, tables.files.size)


def _stored(tables: Tables) -> list[str]:
    return [f"c{index}" for index, _ in enumerate(tables.needed)]


def _read(tables: Tables, file: TableFile) -> None:
    """Add the rows of a file: swiftly, where it may scan; when that fails, out of a copy without what is broken."""
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
    """The statement that adds the rows of a file."""
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
    """Whether a row has nothing in cells that are taken as they stand that no text holds, nor ahead of it."""
    cells = [csv_text.cell(file.columns.index(name)) for name in tables.verbatim_columns if name in file.columns]
    found = [invalid_text.is_invalid_text(cell, mended=copy) for cell in cells]
    if tables.form is csv_text and csv_text.cell(0) not in cells:
        found.append(invalid_text.starts_with_any(csv_text.cell(0), invalid_text.NUL, invalid_text.BOM))
    # Of blocks nothing may be taken as it stands.
    return exp.and_(*(exp.Not(this=builder.first_of([item, exp.false()])) for item in found or [exp.false()]))


def _instant(source: Source, said: exp.Expr) -> exp.Expr:
    """The instant in ns since 1970, of a text in the form of the source, or, where it tells none, of an integer or an
    ISO 8601 time; null when it is neither."""
    other = timestamps.of_text(source, said)
    if source.time_form:
        return other
    integer = builder.call("regexp_matches", said, builder.text(INTEGER))
    return builder.when(integer, builder.try_cast(said.copy(), "BIGINT"), other)


def _events(tables: Tables) -> exp.Expr:
    """Whether a row may be an event: it is sound, and has an instant where it must have one."""
    return exp.and_(column("sound"), builder.is_not_null(column("t_ns"))) if tables.time else column("sound")


def _no_events(tables: Tables) -> list[Lost]:
    """The rows that cannot be events."""
    query = builder.from_source(dialect.select("host", "seq"), ROWS).where(exp.not_(_events(tables)), copy=False)
    rows = tables.connection.execute(dialect.text(query.order_by("host", "seq"))).fetchall()
    return [Lost(host, seq, "") for host, seq in rows]


def _write(tables: Tables, name: str) -> list[Lost]:
    """Write the rows of an event; those that lack what must be there."""
    item = tables.events[name]
    read: dict[tuple[str, ...], exp.Expr] = {
        (column_,): column(stored) for column_, stored in zip(tables.needed, _stored(tables), strict=True)
    }
    form = builder.alias(dialect.integer(item.number), "form")
    found = builder.from_source(dialect.select(*KEYS, form, *_stored(tables)), ROWS).where(_events(tables), copy=False)
    target = tables.folder / "events" / name / "0.parquet"
    target.parent.mkdir(parents=True)

    def rows(swift: bool) -> exp.Query:
        return typed_rows([item], read, found.copy(), swift=swift)

    return [Lost(host, seq, name) for host, seq in write_event_rows(tables.connection, name, rows, target)]


def _summarise(tables: Tables, own: Sequence[Event], found: Sequence[TableFile], lost: Sequence[Lost]) -> None:
    """Write what the tables hold, and judge it."""
    rows = _host_rows(tables)
    gone = {host.host: {item.seq for item in lost if item.host == host.host} for host in tables.files.hosts}
    logs = []
    for host in tables.files.hosts:
        number, _, first, last = rows.get(host.host, (0, 0, None, None))
        torn = tables.torn_records.get(host.host, 0)
        good = number - len(gone[host.host])
        logs.append(Log(host.host, number + torn, number, good, len(gone[host.host]) + torn, 0, first, last, first))
    counts = [
        (host, event.name, dated - sum(item.host == host and item.event == event.name for item in lost))
        for host, (_, dated, _, _) in sorted(rows.items())
        for event in sorted(own, key=lambda item: item.name)
    ]
    broken = list(_placed(tables, found, [*tables.torn, *_described(tables, found, lost)]))
    write_found(tables.connection, tables.source, logs, counts, broken, tables.folder)


def _unended(tables: Tables, file: TableFile, lost: Sequence[Lost]) -> bool:
    """Whether the last row of a file is used, has no line end, and ends in a cell that is read."""
    if tables.form.ends_in(file.plain, file.columns) not in tables.needed:
        return False
    first = file.order * FILE_STEP
    own = exp.EQ(this=column("host"), expression=builder.text(file.host.host))
    query = builder.from_source(dialect.select(exp.Max(this=column("seq"))), ROWS).where(own, copy=False)
    query = query.where(builder.within(column("seq"), first, first + FILE_STEP - 1), copy=False)
    ((last,),) = tables.connection.execute(dialect.text(query)).fetchall()
    used = last is not None and not any((item.host, item.seq) == (file.host.host, last) for item in lost)
    return used and last - first > tables.last_torn.get(file.path, 0)


def _placed(tables: Tables, found: Sequence[TableFile], broken: Sequence[Broken]) -> Iterator[Broken]:
    """Broken rows, told with the bytes before them in their lines, in order; each with the place of its first byte."""
    contents = {_relative(tables, file): file.plain for file in found}
    ordered = sorted(broken, key=lambda item: (item.host, item.file, item.line, item.offset or 0))
    for name, group in itertools.groupby(ordered, key=lambda item: item.file):
        items = list(group)
        offsets = csv_text.offsets(contents[name], {item.line for item in items})
        yield from (replace(item, offset=offsets[item.line] + (item.offset or 0)) for item in items)


def _host_rows(tables: Tables) -> dict[str, tuple[int, int, int | None, int | None]]:
    """Of each host: its rows, those that may be events, the instants of the first and the last of these in order."""
    instant = builder.when(column("sound"), column("t_ns"))
    edges = [exp.ArgMin(this=instant, expression=column("seq")),
             exp.ArgMax(this=instant.copy(), expression=column("seq"))]  # fmt: skip
    numbers = [exp.Count(this=exp.Star()), exp.CountIf(this=_events(tables))]
    query = builder.from_source(dialect.select("host", *numbers, *edges), ROWS).group_by("host")
    found = tables.connection.execute(dialect.text(query)).fetchall()
    return {host: (number, dated, first, last) for host, number, dated, first, last in found}


def _described(tables: Tables, found: Sequence[TableFile], lost: Sequence[Lost]) -> Iterator[Broken]:
    """Rows that are read and yet no events, described; of a file at most so many."""
    by_file: dict[tuple[str, int], dict[int, str]] = {}
    for item in lost:
        by_file.setdefault((item.host, item.seq // FILE_STEP), {}).setdefault(item.seq % FILE_STEP, item.event)
    for file in found:
        rows = by_file.get((file.host.host, file.order), {})
        numbers = sorted(rows)[:DESCRIBED]
        for number, record in tables.form.chosen(file.path, file.plain, numbers).items():
            body = {name: text or None for name, text in zip(file.columns, record.cells, strict=False)}
            reason = _reason(tables, rows[number], record.text[:1], body)
            yield Broken(
                file.host.host, _relative(tables, file), record.line, record.ahead, reason, record.text[:SHOWN]
            )


def _reason(tables: Tables, event: str, begins: str, body: Mapping[str, str | None]) -> str:
    """Why a row, which begins with a character, is broken: it has something that no text holds, no instant, or a field
    of an event cannot be had."""
    read = [begins, *(body.get(name) or "" for name in tables.needed)]
    if found := next(filter(None, map(invalid_text.fault, read)), ""):
        return found
    if not event:
        said = body.get(tables.time)
        return "no time" if said is None else f"bad time: {truncate_value(said)}"
    for item in tables.events[event].fields:
        if said := missing_field_reason(event, item, body):
            return said
    return "a field is missing"
