"""Read tables: CSV files, whose rows are events, and other files that are read as tables (`blocks.py`).

Every row is a row of each event of the source: an event selects columns by name, with types. An empty cell is no value.
If the source has no column of the instant, rows have no instant.
"""

from __future__ import annotations

import functools
import glob
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from assay.ingest import invalid_text, sql_trees, timestamps
from assay.ingest.chunks import FILE_STEP
from assay.ingest.damaged_lines import format_unended_warning
from assay.ingest.discovery import RunFiles
from assay.ingest.event_forms import number_forms
from assay.ingest.event_query import build_typed_query
from assay.ingest.event_writer import write_event_rows
from assay.ingest.output_folder import MEMORY, open_engine
from assay.ingest.plain_copies import decompress_file
from assay.ingest.quarantine import DESCRIBED, TEXT_LIMIT, MalformedRecord
from assay.ingest.readers import csv_text
from assay.ingest.readers.csv_quarantine import describe_malformed, find_non_events, locate_malformed
from assay.ingest.readers.csv_tables import (
    ROWS,
    MalformedRow,
    TableFile,
    TableFormat,
    Tables,
    get_relative_path,
    is_event_row,
)
from assay.ingest.readers.csv_text import CsvFormat
from assay.ingest.readers.protocol import IngestJob, Outcome, Place, RawRecord, group_by_file
from assay.ingest.small_tables import build_create_statement
from assay.ingest.summary import HostLog, write_results
from assay.lang.model.package import Event, Field, Source
from assay.lang.reserved_names import KEYS
from assay.sql import dialect
from assay.sql.dialect import build_column
from assay.util.diagnostics import AssayError, Diagnostic, suggest_names
from assay.util.os_errors import is_disk_full_error
from assay.util.progress import ByteProgress
from assay.util.scratch import create_temporary_folder as scratch_folder

#: an instant as an integer; any other text must be a UTC time
INTEGER = r"^-?[0-9]{1,19}$"


@dataclass(frozen=True, slots=True)
class TableReader:
    """Reader of files whose records are rows of a table; `get_format` returns the format of a source.

    `file_word` and `column_word` are the words for a file and a column in messages.
    """

    get_format: Callable[[Source], TableFormat]
    file_word: str
    column_word: str

    def read(self, job: IngestJob) -> Outcome:
        """Write the rows of the tables of a run. `seq` counts the rows of a host, file by file.

        Raises AssayError also for a file without a header or without a required column.
        """
        forms = {
            item.event.name: item for item in number_forms(job.source_events, job.required_fields) if item.is_required
        }
        (job.folder / "plain").mkdir()
        with open_engine(job.folder, MEMORY // job.share) as connection:
            tables = Tables(
                connection,
                job.source,
                job.files,
                job.folder,
                forms,
                self.get_format(job.source),
                (self.file_word, self.column_word),
            )
            files = _open_files(tables)
            _fill_table(tables, files, job.progress)
            incomplete = find_non_events(tables) + [row for name in forms for row in _write_event(tables, name)]
            _write_summary(tables, job.source_events, files, incomplete)
            last_lines = format_unended_warning(
                [get_relative_path(tables, file) for file in files if _has_unterminated_row(tables, file, incomplete)]
            )
        return Outcome(bool(incomplete), field_notes=tuple(last_lines))

    def locate(self, source: Source, files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Place, RawRecord]]:
        """Yield rows by their numbers."""
        files.check_unchanged()
        table_format = self.get_format(source)
        with scratch_folder() as folder:
            for path, name, group in group_by_file(files, places):
                content = decompress_file(path, folder, "plain")
                rows = table_format.find_records(path, content, [item.seq % FILE_STEP for item in group])
                for item in group:
                    row = rows[item.seq % FILE_STEP]
                    yield item, RawRecord(name, row.line, row.number, row.text)


READER = TableReader(lambda source: CsvFormat(source.begins), "table", "column")


def _open_files(tables: Tables) -> list[TableFile]:
    """Return all files with their columns. Raises AssayError with all missing columns."""
    files: list[TableFile] = []
    problems: list[Diagnostic] = []
    for host in tables.files.hosts:
        for order, path in enumerate(host.files):
            try:
                content = decompress_file(path, tables.folder / "plain", f"{len(files)}.plain")
                columns = tables.table_format.read_header(path, content)
                problems += _check_columns(tables, path, columns)
                files.append(TableFile(host, order, path, content, columns))
            except AssayError as error:
                problems += error.diagnostics
    if problems:
        raise AssayError(tuple(problems))
    return files


def _check_columns(tables: Tables, path: Path, columns: Sequence[str]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each missing column of the instant or a required field, and for each duplicate column."""
    fields = [item for form in tables.events.values() for item in form.fields]
    instant = [(name,) for name in tables.source.time]
    file_word, column_word = tables.message_words
    for names in dict.fromkeys([*instant, *(_list_column_names(item) for item in fields if _needs_column(item))]):
        if not set(names) & set(columns):
            yield Diagnostic(
                f"no-{column_word}",
                f"the {file_word} has no {column_word} {' or '.join(names)}: {path}",
                expected=" or ".join(names),
                found=", ".join(columns),
                hint=_suggest_edit(tables, names, columns),
            )
    for name in tables.required_columns:
        if columns.count(name) > 1:
            message = f"the {file_word} has the {column_word} {name} more than once: {path}"
            yield Diagnostic(f"{column_word}-twice", message, found=", ".join(columns))


def _suggest_edit(tables: Tables, names: Sequence[str], columns: Sequence[str]) -> str:
    """Return the hint of an error about a missing column: similar names, and the edits of the specs that help."""
    similar = suggest_names(names[0], columns)
    gap = " " if similar.endswith("?") else "; " if similar else ""
    _, column_word = tables.message_words
    fields = [(event, item.name) for event, form in tables.events.items() for item in form.fields
              if _needs_column(item) and _list_column_names(item) == tuple(names)]  # fmt: skip
    if not fields:
        return f"{similar}{gap}name the {column_word} of the instant in `time` of source `{tables.source.name}`"
    event, field = fields[0]
    return (
        f"{similar}{gap}name the {column_word} in field `{field}` of event `{event}`, or make the field "
        f"`S.event.optional` if some runs lack it"
    )


def _list_column_names(field: Field) -> tuple[str, ...]:
    return tuple(path[0] for path in field.paths)


def _needs_column(field: Field) -> bool:
    return bool(field.paths) and field.required and field.default is None


def _fill_table(tables: Tables, files: Sequence[TableFile], progress: ByteProgress) -> None:
    """Fill the table of all rows: host, seq, t_ns, sound, and c0, c1, ... for the required columns.

    `sound` is false for a row with invalid text.
    """
    kinds = {"host": "TEXT", "seq": "BIGINT", "t_ns": "BIGINT", "sound": "BOOLEAN"}
    kinds |= dict.fromkeys(_list_stored_columns(tables), "TEXT")
    tables.connection.execute(build_create_statement(ROWS, kinds))
    done = 0
    for file in files:
        _load_file(tables, file)
        done += file.host.sizes[file.order]
        progress(done, tables.files.size)


def _list_stored_columns(tables: Tables) -> list[str]:
    return [f"c{index}" for index, _ in enumerate(tables.required_columns)]


def _load_file(tables: Tables, file: TableFile) -> None:
    """Add the rows of a file; if the scan rejects it, those of a copy without malformed rows."""
    import duckdb

    begins = tables.source.begins
    if isinstance(tables.table_format, CsvFormat) and csv_text.can_scan(file.path, file.plain, begins):
        try:
            tables.connection.execute(_build_insert(tables, file, copy=False), {"file": _escape_path(file.plain)})
            return
        except duckdb.Error as error:
            if is_disk_full_error(error):
                raise
    copy = tables.folder / "plain" / "repaired.csv"
    malformed_records = tables.table_format.write_repaired_copy(file.path, file.plain, copy)
    host, name = file.host.host, get_relative_path(tables, file)
    tables.malformed += [
        MalformedRecord(host, name, item.line, item.bytes_before, item.fault, item.text[:TEXT_LIMIT])
        for item in malformed_records[:DESCRIBED]
    ]
    tables.malformed_counts[host] = tables.malformed_counts.get(host, 0) + len(malformed_records)
    tables.last_malformed[file.path] = max((item.number for item in malformed_records), default=0)
    try:
        tables.connection.execute(_build_insert(tables, file, copy=True), {"file": _escape_path(copy)})
    except duckdb.Error as error:
        if is_disk_full_error(error):
            raise
        raise _build_unreadable_error(file.path, str(error).split("\n")[0]) from None


def _build_unreadable_error(path: Path, cause: str) -> AssayError:
    return AssayError((Diagnostic("broken-file", f"the table cannot be read: {path}", found=cause),))


def _escape_path(path: Path) -> str:
    return glob.escape(str(path))


def _build_insert(tables: Tables, file: TableFile, copy: bool) -> str:
    """Return the statement that adds the rows of a file."""
    rows = exp.Subquery(
        this=csv_text.build_scan_query(len(file.columns), copy, "," if copy else csv_text.find_delimiter(file.plain)),
        alias=exp.TableAlias(this=exp.to_identifier("scan")),
    )
    seq = exp.Add(this=build_column("number"), expression=dialect.build_integer(file.order * FILE_STEP))
    texts = [
        csv_text.build_cell_column(file.columns.index(name))
        if name in file.columns
        else sql_trees.cast(exp.Null(), "TEXT")
        for name in tables.required_columns
    ]
    time_texts = [texts[tables.required_columns.index(name)] for name in tables.source.time]
    instant = _build_instant(tables.source, time_texts) if time_texts else sql_trees.cast(exp.Null(), "BIGINT")
    sound = _is_sound(tables, file, copy)
    query = sql_trees.set_source(
        dialect.select(sql_trees.build_text(file.host.host), seq, instant, sound, *texts), rows
    )
    return exp.Insert(this=exp.to_table(ROWS), expression=query).sql(dialect=dialect.DIALECT, copy=False)


def _is_sound(tables: Tables, file: TableFile, copy: bool) -> exp.Expr:
    """Return the condition that a row has no invalid text in verbatim columns or at its beginning."""
    cells = [
        csv_text.build_cell_column(file.columns.index(name)) for name in tables.verbatim_columns if name in file.columns
    ]
    conditions = [invalid_text.is_invalid_text(cell, is_repaired=copy) for cell in cells]
    if isinstance(tables.table_format, CsvFormat) and csv_text.build_cell_column(0) not in cells:
        conditions.append(
            invalid_text.build_starts_with_any(csv_text.build_cell_column(0), invalid_text.NUL, invalid_text.BOM)
        )
    # For blocks, there may be no verbatim column.
    return exp.and_(
        *(exp.Not(this=sql_trees.build_coalesce([item, exp.false()])) for item in conditions or [exp.false()])
    )


def _build_instant(source: Source, texts: Sequence[exp.Expr]) -> exp.Expr:
    """Return the instant in ns of a text in the notation of the source, by default an integer or an ISO 8601 time.

    The text of several columns is that of each, separated by blanks. The instant is null if the text is not one.
    """
    text = timestamps.trim(functools.reduce(_join_texts, [item.copy() for item in texts]))
    time = timestamps.build_text_instant(source, text)
    if source.time_form:
        return time
    integer = sql_trees.call("regexp_matches", text, sql_trees.build_text(INTEGER))
    return sql_trees.build_if(integer, sql_trees.try_cast(text.copy(), "BIGINT"), time)


def _join_texts(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Return two texts with a blank between them; null if one is."""
    return exp.DPipe(this=exp.DPipe(this=left, expression=sql_trees.build_text(" ")), expression=right)


def _write_event(tables: Tables, name: str) -> list[MalformedRow]:
    """Write the rows of an event; return those without a required field."""
    item = tables.events[name]
    values_by_path: dict[tuple[str, ...], exp.Expr] = {
        (column,): build_column(stored)
        for column, stored in zip(tables.required_columns, _list_stored_columns(tables), strict=True)
    }
    form = sql_trees.build_alias(dialect.build_integer(item.number), "form")
    query = sql_trees.set_source(dialect.select(*KEYS, form, *_list_stored_columns(tables)), ROWS).where(
        is_event_row(tables), copy=False
    )
    target = tables.folder / "events" / name / "0.parquet"
    target.parent.mkdir(parents=True)

    def build_rows(is_fast: bool) -> exp.Query:
        return build_typed_query([item], values_by_path, query.copy(), is_fast=is_fast)

    return [
        MalformedRow(host, seq, name) for host, seq in write_event_rows(tables.connection, name, build_rows, target)
    ]


def _write_summary(
    tables: Tables, events: Sequence[Event], files: Sequence[TableFile], incomplete: Sequence[MalformedRow]
) -> None:
    """Write the summary of the tables. Raises AssayError if too many rows are malformed."""
    rows = _compute_host_summaries(tables)
    lost_counts = Counter(host for host, _ in {(item.host, item.seq) for item in incomplete})
    lost_events = Counter((item.host, item.event) for item in incomplete)
    logs = []
    for host in tables.files.hosts:
        number, _, first, last = rows.get(host.host, (0, 0, None, None))
        malformed_count = tables.malformed_counts.get(host.host, 0)
        lost_count = lost_counts[host.host]
        logs.append(
            HostLog(
                host.host,
                number + malformed_count,
                number,
                number - lost_count,
                lost_count + malformed_count,
                0,
                first,
                last,
                first,
            )
        )
    counts = [
        (host, event.name, dated - lost_events[host, event.name])
        for host, (_, dated, _, _) in sorted(rows.items())
        for event in sorted(events, key=lambda item: item.name)
    ]
    malformed = list(
        locate_malformed(tables, files, [*tables.malformed, *describe_malformed(tables, files, incomplete)])
    )
    write_results(tables.connection, tables.source, logs, counts, malformed, tables.folder)


def _has_unterminated_row(tables: Tables, file: TableFile, incomplete: Sequence[MalformedRow]) -> bool:
    """Return whether the last row of a file is used, has no line end, and ends in a cell that is read."""
    if tables.table_format.find_unterminated_column(file.plain, file.columns) not in tables.required_columns:
        return False
    first = file.order * FILE_STEP
    of_host = exp.EQ(this=build_column("host"), expression=sql_trees.build_text(file.host.host))
    query = sql_trees.set_source(dialect.select(exp.Max(this=build_column("seq"))), ROWS).where(of_host, copy=False)
    query = query.where(sql_trees.build_between(build_column("seq"), first, first + FILE_STEP - 1), copy=False)
    ((last,),) = tables.connection.execute(dialect.to_sql(query)).fetchall()
    is_used = last is not None and not any((item.host, item.seq) == (file.host.host, last) for item in incomplete)
    return is_used and last - first > tables.last_malformed.get(file.path, 0)


def _compute_host_summaries(tables: Tables) -> dict[str, tuple[int, int, int | None, int | None]]:
    """Return for each host: rows, rows that may be events, and the first and the last instant of these."""
    instant = sql_trees.build_if(build_column("sound"), build_column("t_ns"))
    edges = [exp.ArgMin(this=instant, expression=build_column("seq")),
             exp.ArgMax(this=instant.copy(), expression=build_column("seq"))]  # fmt: skip
    numbers = [exp.Count(this=exp.Star()), exp.CountIf(this=is_event_row(tables))]
    query = sql_trees.set_source(dialect.select("host", *numbers, *edges), ROWS).group_by("host")
    rows = tables.connection.execute(dialect.to_sql(query)).fetchall()
    return {host: (number, dated, first, last) for host, number, dated, first, last in rows}
