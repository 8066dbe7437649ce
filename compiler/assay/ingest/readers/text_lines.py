"""Read text logs: lines recognized by patterns, and the reasons why lines are malformed.

Each file, or group of small files, is read once into a table of recognized lines, from which the rows of events are
written. Lines that are not events are only counted.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.ingest import sql_trees
from assay.ingest.batches import (
    FOLDER,
    WORKERS,
    Batch,
    BatchCache,
    IncompleteRow,
    IngestState,
    assemble_events,
    compute_batches_key,
)
from assay.ingest.chunks import LogFile, group_small_files, list_log_files
from assay.ingest.damaged_lines import list_nul_padding_warnings, list_unended_line_warnings, mark_unended_line
from assay.ingest.discovery import RunFiles
from assay.ingest.event_forms import INCOMPLETE, TIMELESS, number_forms_in_order
from assay.ingest.event_writer import write_event_rows
from assay.ingest.line_counts import (
    FileCounts,
    build_unreadable_error,
    count_lines,
    list_overlap_warnings,
    split_by_file,
)
from assay.ingest.output_folder import MEMORY, open_engine
from assay.ingest.plain_copies import (
    Line,
    can_scan,
    create_repaired_copy,
    decompress_file,
    join_small_files,
    read_last_byte,
)
from assay.ingest.quarantine import Explainer, MalformedLine, explain_missing_field, truncate_value
from assay.ingest.readers.lines import build_scan_parameters, list_scan_errors
from assay.ingest.readers.protocol import IngestJob, Outcome, Place, RawRecord, locate_lines
from assay.ingest.readers.text_lines_sql import (
    TextForms,
    Variant,
    build_event_rows,
    build_recognition_query,
    create_text_forms,
)
from assay.ingest.summary import write_line_summary
from assay.lang.line_pattern import Pattern, build_marks_regex
from assay.lang.model.package import Source
from assay.sql import dialect
from assay.util.os_errors import is_disk_full_error

if TYPE_CHECKING:
    import duckdb


LONGEST = 10_000  # characters of a line that are examined
EXCERPT_LENGTH = 24  # characters of unexpected text in a message


def create_explainer(connection: duckdb.DuckDBPyConnection, forms: TextForms) -> Explainer:
    """Return the explainer of malformed lines."""
    matcher = _Matcher(connection)
    return Explainer(lambda item, line: _find_reason(matcher, forms, item, line), "not the pattern of an event")


class _Matcher:
    """Matches texts with the regular expressions of the engine, so that results are the same as in ingest."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection

    def is_match(self, text: str, expression: str) -> bool:
        """Return whether an expression has a match of at least a character in a text."""
        return bool(self.match_groups(text, ((expression, 0),))[0])

    def match_groups(self, text: str, groups: tuple[tuple[str, int], ...]) -> list[str]:
        """Return the match of each group of an expression in a text; empty without a match or without an expression."""
        return [match or "" for match in self._extract(text, groups)]

    def match_places(self, text: str, pattern: Pattern) -> dict[str, str | None]:
        """Return the texts at the places of a pattern that a text matches."""
        if not pattern.places:
            return {}
        # Named groups, since numbers end at 9; not with the names of places, since the engine ignores their case.
        names = tuple(f"p{index}" for index, _ in enumerate(pattern.places))
        (groups,) = self._extract(text, ((pattern.build_expression(pattern.places), names),))
        return {place: groups[name] or None for place, name in zip(pattern.places, names, strict=True)}

    def _extract(self, text: str, groups: tuple[tuple[str, int | tuple[str, ...]], ...]) -> tuple[Any, ...]:
        row = self.connection.execute(_build_extraction(groups), {"text": text}).fetchone()
        assert row is not None
        return row


@functools.lru_cache(maxsize=10_000)
def _build_extraction(groups: tuple[tuple[str, int | tuple[str, ...]], ...]) -> str:
    """Return the statement that extracts groups of expressions, by number or by names, from a text."""
    return dialect.to_sql(exp.select(*(_build_group(*item) for item in groups)))


def _build_group(expression: str, group: int | tuple[str, ...]) -> exp.Expr:
    numbers = (
        dialect.build_integer(group)
        if isinstance(group, int)
        else exp.Array(expressions=[sql_trees.build_text(name) for name in group])
    )
    return sql_trees.call("regexp_extract", exp.Placeholder(this="text"), sql_trees.build_text(expression), numbers)


def _find_reason(matcher: _Matcher, forms: TextForms, item: MalformedLine, line: Line) -> str:
    if line.fault:
        return line.fault
    text = line.text[:LONGEST].rstrip(" \t")
    head = matcher.match_places(text, forms.layout) if forms.layout else {}
    body = head.get(forms.source.body[0]) if forms.layout else text
    if body is None:
        assert forms.layout is not None
        return f"no line of the log: {_find_fault(matcher, text, forms.layout)[1]}"
    if item.form == TIMELESS:
        time = " ".join(head.get(name) or "" for name in forms.source.time).strip() or _find_time(matcher, forms, body)
        return f"bad time: {truncate_value(time)}" if time else "no time"
    if item.form == INCOMPLETE:
        return _find_field_problem(matcher, forms, item.event, head, body)
    likely_variants = [
        variant
        for variant in forms.variants
        if body.startswith(variant.pattern.literal_prefix.split(" ")[0])
        and (not (mark := build_marks_regex([variant.pattern])) or matcher.is_match(body, f"^(?:{mark})"))
    ]
    faults = [(*_find_fault(matcher, body, variant.pattern), variant) for variant in likely_variants or forms.variants]
    _, problem, variant = max(faults, key=lambda fault: fault[0])
    clause = "" if variant.pattern.literal_prefix.rstrip() else ", which all lines resemble"
    return f"not the pattern of {variant.item.event.name}{clause}: {problem}"


def _find_time(matcher: _Matcher, forms: TextForms, body: str) -> str:
    texts = (matcher.match_places(body, variant.pattern).get(forms.time_place) for variant in forms.variants)
    return next((text for text in texts if text), "")


def _find_fault(matcher: _Matcher, text: str, pattern: Pattern) -> tuple[int, str]:
    """Return how many characters of a text match a pattern, and the expected and the actual text after them."""
    beginnings = list(pattern.iter_beginnings())
    groups = [(item.expression if item.expression != "^" else "", 0) for item in beginnings]
    groups += [(item.shortest, 1 if item.shortest else 0) for item in beginnings]
    *matches, whole = matcher.match_groups(text, (*groups, (pattern.build_expression(())[:-1], 0)))
    length, expected = 0, pattern.pieces[0].pattern_text
    for index, (item, before, shortest) in enumerate(
        zip(beginnings, matches, matches[len(beginnings) :], strict=False)
    ):
        if not before and index:  # at the first piece, optional parts may match no character
            break
        length, expected = len(shortest or before), item.piece.pattern_text
    else:
        if whole:
            return len(text), f"expected the end of the line, found {_quote_excerpt(text[len(whole) :])}"
    return length, f"expected {json.dumps(expected, ensure_ascii=False)}, found {_quote_excerpt(text[length:])}"


def _quote_excerpt(text: str) -> str:
    """Return the beginning of a text in quotes, or `the end of the line`."""
    if not text:
        return "the end of the line"
    return json.dumps(text[:EXCERPT_LENGTH] + ("..." if len(text) > EXCERPT_LENGTH else ""), ensure_ascii=False)


def _find_field_problem(matcher: _Matcher, forms: TextForms, event: str, head: dict[str, str | None], body: str) -> str:
    """Return the problem of the first field without a valid value, by the pattern that the line matches."""
    matching = [
        item for item in forms.find_variants(event) if matcher.is_match(body, item.pattern.build_expression(()))
    ]
    for variant in matching:
        if reason := _find_variant_problem(matcher, variant, head, body):
            return reason
    return "a field is missing"


def _find_variant_problem(matcher: _Matcher, variant: Variant, head: dict[str, str | None], body: str) -> str:
    places = {**head, **matcher.match_places(body, variant.pattern)}
    return next(
        (reason for field in variant.item.fields if (reason := explain_missing_field(variant.item, field, places))), ""
    )


class TextLines:
    """Reader of text logs, whose lines match patterns. A file, or several small ones, are a batch."""

    def read(self, job: IngestJob) -> Outcome:
        """Write the events of the logs of a run. Files with known content are taken from the cache."""
        with _open_reading(job) as reading:
            reading.read(list_log_files(job.files), _count_workers(job))
            names = {variant.number: variant.item.event.name for variant in reading.forms.variants}
            write_line_summary(
                reading.connection,
                job.source,
                names,
                job.files,
                reading.counts,
                reading.incomplete_rows,
                job.folder,
                create_explainer(reading.connection, reading.forms),
            )
        notes = (
            *list_overlap_warnings(job.files, reading.counts),
            *list_nul_padding_warnings(job.files, reading.counts),
        )
        return Outcome(
            bool(reading.incomplete_rows), notes, tuple(list_unended_line_warnings(job.files, reading.counts))
        )

    def read_batches(self, job: IngestJob) -> tuple[Path, ...]:
        """Read files of known content into batches of the cache; return their folders."""
        with _open_reading(job) as reading:
            reading.read_batches(list_log_files(job.files), _count_workers(job))
            return tuple(batch.folder for batch in reading.finished_batches)

    def locate(self, _: Source, files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Place, RawRecord]]:
        """Yield lines of logs."""
        return locate_lines(files, places)


READER = TextLines()


@contextmanager
def _open_reading(job: IngestJob) -> Iterator[Reading]:
    """Yield the state of reading a run, with an engine that lasts as long as the block."""
    forms = create_text_forms(job.source, number_forms_in_order(job.source_events, job.required_fields))
    with open_engine(job.folder, MEMORY // job.share) as connection:
        numbers = [variant.item for variant in forms.variants]
        batches = BatchCache(job.cache, compute_batches_key(job.source, job.events, job.required_fields, numbers))
        yield Reading(job.folder, job.progress, job.files.size, batches, connection=connection, forms=forms)


def _count_workers(job: IngestJob) -> int:
    return min(job.workers or os.cpu_count() or 1, WORKERS // job.share)


@dataclass(frozen=True, slots=True)
class Queries:
    """The query that recognizes the lines of files, and that for the lines of one that joins them."""

    of_each: exp.Select
    of_joined: exp.Select


@dataclass(slots=True, kw_only=True)
class Reading(IngestState):
    """State of reading a run; `strict_events` are the events that need the strict query."""

    connection: duckdb.DuckDBPyConnection
    forms: TextForms
    strict_events: set[str] = field(default_factory=set)

    @property
    def events(self) -> list[str]:
        """Return the names of the required events."""
        return list(dict.fromkeys(item.item.event.name for item in self.forms.variants if item.item.is_required))

    def read(self, files: Sequence[LogFile], workers: int) -> None:
        """Read all files, several at a time, and assemble the events of the run."""
        self.read_batches(files, workers)
        assemble_events(self.finished_batches, self.events, self.folder, lambda: self.connection)

    def read_batches(self, files: Sequence[LogFile], workers: int) -> None:
        """Read all files into batches."""
        self.finished_batches, rest = self.batch_cache.find_cached(files)
        self.report_progress(sum(batch.size for batch in self.finished_batches))
        queries = Queries(*(build_recognition_query(self.forms, is_joined) for is_joined in (False, True)))
        with ThreadPoolExecutor(max_workers=workers) as pool:
            self.finished_batches += pool.map(lambda group: self.read_files(group, queries), group_small_files(rest))

    def read_files(self, files: Sequence[LogFile], queries: Queries) -> Batch:
        """Recognize the lines of files and write their events; return the batch."""
        table, batch_folder = f"rows_{files[0].number}", self.folder / FOLDER / str(files[0].number)
        batch_folder.mkdir(parents=True)
        with self.connection.cursor() as cursor:
            counts, unended = _fill_table(cursor, table, queries, files, self.folder / "plain" / table)
            incomplete = [
                row for event in self.events for row in self.write(cursor, event, table, counts, batch_folder)
            ]
            cursor.execute(exp.Drop(tables=[exp.to_table(table)], kind="TABLE").sql(dialect.DIALECT))
        self.report_progress(sum(file.size for file in files))
        file_counts = split_by_file(counts)
        for index in unended:
            file_counts[index] = mark_unended_line(self.forms, file_counts[index], incomplete)
        return self.batch_cache.store_batch(batch_folder, files, file_counts, incomplete)

    def write(
        self, cursor: duckdb.DuckDBPyConnection, event: str, table: str, counts: FileCounts, batch_folder: Path
    ) -> list[IncompleteRow]:
        """Write the rows of an event; return those without a required field."""
        rows = partial(build_event_rows, self.forms, event, table)
        target = batch_folder / f"{event}.parquet"
        parameters = {"hosts": list(counts.hosts), "offsets": list(counts.offsets)}
        incomplete = write_event_rows(cursor, event, rows, target, self.strict_events, parameters)
        return [(host, seq, event) for host, seq in incomplete]


def _fill_table(
    cursor: duckdb.DuckDBPyConnection, table: str, queries: Queries, files: Sequence[LogFile], folder: Path
) -> tuple[FileCounts, list[int]]:
    """Fill a table with the lines of files, or of repaired copies if the scan rejects one.

    Return the counts, and the indices of the files whose last line has no end.
    """
    import duckdb

    folder.mkdir(parents=True)
    try:
        sources = [_get_readable_path(file, folder) for file in files]
        unended = _scan_files(cursor, table, queries, sources, folder)
        if any(
            source == file.path and not file.snapshot.is_steady for source, file in zip(sources, files, strict=True)
        ):
            # A file grew in the meantime, so it is read again from a copy.
            cursor.execute(exp.Drop(tables=[exp.to_table(table)], kind="TABLE").sql(dialect.DIALECT))
            unended = _scan_files(cursor, table, queries, [_get_readable_path(file, folder) for file in files], folder)
        return count_lines(cursor, table, files), unended
    except duckdb.Error as error:
        if is_disk_full_error(error):
            raise
        raise build_unreadable_error(files, str(error).split("\n")[0]) from None
    finally:
        shutil.rmtree(folder)


def _get_readable_path(file: LogFile, folder: Path) -> Path:
    return file.snapshot.get_readable_path(folder, f"{file.number}.copy")


def _scan_files(
    cursor: duckdb.DuckDBPyConnection, table: str, queries: Queries, sources: Sequence[Path], folder: Path
) -> list[int]:
    """Fill a table from files; return the indices of those whose last line has no end."""

    def fill(query: exp.Select, paths: Sequence[Path]) -> None:
        creation = exp.Create(this=exp.to_table(table), kind="TABLE", expression=query)
        cursor.execute(creation.sql(dialect=dialect.DIALECT), build_scan_parameters(paths))

    plain_files = [decompress_file(source, folder, f"{index}.plain") for index, source in enumerate(sources)]
    unended = [index for index, plain in enumerate(plain_files) if read_last_byte(plain) not in (b"\n", b"\r")]
    joined = join_small_files(plain_files, folder / "joined")
    if joined or all(map(can_scan, plain_files)):
        with contextlib.suppress(*list_scan_errors()):
            fill(*((queries.of_joined, [joined]) if joined else (queries.of_each, plain_files)))
            return unended
    fill(
        queries.of_each,
        [create_repaired_copy(item, folder, f"{index}.repaired")[0] for index, item in enumerate(sources)],
    )
    return unended
