"""Summarize an ingested run by host: events, malformed lines and unrecognized lines."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.ingest import small_tables
from assay.ingest.account import check_file_counts, check_host_logs
from assay.ingest.discovery import RunFiles
from assay.ingest.event_forms import INCOMPLETE, OTHER, TEXT, TIMELESS, TORN
from assay.ingest.line_counts import FileCounts, LineCount, find_first_timed, find_last_timed
from assay.ingest.malformed_reasons import create_reason_finder
from assay.ingest.plain_copies import read_first_lines
from assay.ingest.quarantine import (
    DESCRIBED_LINES,
    EXPLAINED_OF_EACH,
    TABLE,
    Explainer,
    MalformedLine,
    MalformedRecord,
    NothingRecognisedError,
    QuarantineLimitError,
    describe_lines,
    write_malformed_records,
)
from assay.ingest.recognition import Recognition
from assay.ingest.unknown_records import UnknownTally, write_unknown
from assay.lang import time_format
from assay.lang.model.package import Lookup, Source
from assay.lang.model.source_kinds import SOURCE_KINDS
from assay.util.diagnostics import AssayError, Diagnostic, fail
from assay.util.escape import escape_text, truncate
from assay.util.json_text import build_object
from assay.util.numbers import format_count

if TYPE_CHECKING:
    import duckdb


LINES = 2000  # lines of the first log that are examined
NAMES = 6  # names in a message
WIDTH = 100  # characters of a line or name in a message


def sample_unrecognized_lines(source: Source, files: RunFiles) -> tuple[str, ...]:
    """Describe the names in the first log, in a sentence for each lookup, or a line of a text log."""
    for path in (path for host in files.hosts for path in host.files):
        lines = [line.decode("utf-8", "replace").strip() for line in read_first_lines(path, LINES)]
        numbered_lines = [(number, line) for number, line in enumerate(lines, 1) if line]
        if numbered_lines:
            location = str(path.relative_to(files.directory))
            if SOURCE_KINDS[source.kind].has_patterns:
                middle_line = numbered_lines[len(numbered_lines) // 2]  # since the first lines of a log are not typical
                return (_describe_text(source, location, *middle_line),)
            return tuple(dict.fromkeys(_describe_json(source, location, numbered_lines)))
    return ()


def _describe_text(source: Source, location: str, number: int, line: str) -> str:
    pattern = f", which source `{source.name}` reads as {source.line}" if source.line else ""
    return f"{location}:{number} is {_shorten(line)}{pattern}"


def _describe_json(source: Source, location: str, lines: Sequence[tuple[int, str]]) -> Iterator[str]:
    objects = [record for _, line in lines if isinstance(record := _parse_json(line), dict)]
    if not objects:
        number, line = lines[0]
        yield f"source `{source.name}` finds no JSON object in {location}:{number}: {_shorten(line)}"
        yield f"source `{source.name}` reads a JSON object a line: {source.doc}"
        return
    for lookup in source.lookups:
        path = [*source.body, *lookup.path] if lookup.in_body else [*lookup.path]
        names = list(dict.fromkeys(name for item in objects if (name := _get_name(item, path, lookup))))
        more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
        listing = ", ".join(f"`{_shorten(name)}`" for name in names[:NAMES]) + more if names else "no text"
        yield f"source `{source.name}` reads names at `{'.'.join(path)}` of {location}, which has {listing}"


def _parse_json(line: str) -> object:
    """Parse a line as JSON; return None if it is not JSON."""
    try:
        return json.loads(line, object_pairs_hook=build_object)
    except (ValueError, RecursionError):
        return None


def _get_name(value: object, path: Sequence[str], lookup: Lookup) -> str:
    """Return the name that a lookup reads from a record, empty if there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value.removeprefix(lookup.drop) if isinstance(value, str) else ""


def _shorten(text: str) -> str:
    return truncate(escape_text(text), WIDTH)


@dataclass(frozen=True, slots=True)
class HostLog:
    """Counts of a host's log: a row of logs.parquet.

    `objects` counts the lines that are complete JSON objects. `first_ns` and `last_ns` are the first and the last
    instant of these, in log order; `first_recognised_ns` is the instant of the first event.
    """

    host: str
    lines: int
    objects: int
    recognised: int
    quarantined: int
    text_lines: int
    first_ns: int | None
    last_ns: int | None
    first_recognised_ns: int | None


def write_summary(
    connection: duckdb.DuckDBPyConnection,
    recognition: Recognition,
    files: RunFiles,
    file_counts: Sequence[FileCounts],
    incomplete_rows: Sequence[tuple[str, int, str]],
    folder: Path,
) -> None:
    """Write logs.parquet, counts.parquet and quarantine.parquet of JSON logs.

    Raises AssayError if more records are malformed than the source tolerates.
    """
    names = {item.number: item.event.name for item in recognition.forms}
    write_line_summary(
        connection,
        recognition.source,
        names,
        files,
        file_counts,
        incomplete_rows,
        folder,
        create_reason_finder(connection, recognition),
    )


def write_line_summary(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    names: Mapping[int, str],
    files: RunFiles,
    file_counts: Sequence[FileCounts],
    incomplete_rows: Sequence[tuple[str, int, str]],
    folder: Path,
    explainer: Explainer,
) -> None:
    """Write the summary of the lines of a source.

    `names` are the names of events by form number; `explainer` explains why lines are malformed.
    """
    check_file_counts(file_counts)
    tallies = [tally for counts in file_counts for tally in counts.tallies]
    # Tuples, since there may be many, and they sort faster.
    malformed_lines = [(host, seq, form, "") for counts in file_counts for host, seq, form in counts.malformed]
    malformed_lines += [(host, seq, INCOMPLETE, event) for host, seq, event in incomplete_rows]
    tallies_by_host: dict[str, list[LineCount]] = {host.host: [] for host in files.hosts}
    for tally in tallies:
        tallies_by_host[tally.host].append(tally)
    incomplete = Counter(map(itemgetter(0), incomplete_rows))
    logs = [_count_host(host, of_host, incomplete[host]) for host, of_host in tallies_by_host.items()]
    malformed_lines.sort()
    write_results(
        connection,
        source,
        logs,
        _count_events(names, tallies, incomplete_rows),
        describe_lines(files, _select_first(malformed_lines), explainer),
        folder,
        lambda: sample_unrecognized_lines(source, files),
        [item for counts in file_counts for _, item in counts.unknown],
    )


def _select_first(malformed_lines: Sequence[tuple[str, int, int, str]]) -> list[MalformedLine]:
    """Return the malformed lines that are described: the first ones of all hosts, and those of each host."""
    selected = {*malformed_lines[:DESCRIBED_LINES]}
    if len(malformed_lines) > DESCRIBED_LINES:
        groups = itertools.groupby(malformed_lines, key=lambda item: item[0])
        selected |= {item for _, group in groups for item in itertools.islice(group, REPORTED_LINES)}
    return [MalformedLine(*item) for item in sorted(selected)]


def write_results(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    logs: Sequence[HostLog],
    counts: Sequence[tuple[str, str, int]],
    malformed_records: Iterable[MalformedRecord],
    folder: Path,
    describe_logs: Callable[[], tuple[str, ...]] = tuple,
    unknown: Sequence[UnknownTally] = (),
) -> None:
    """Check and write the results: logs, counts (host, event, number), malformed lines, unknown names.

    `describe_logs` describes the content of the logs if nothing was recognized.

    Raises AssayError if too many records are malformed or none is recognized, AccountError if counts do not add up.
    """
    check_host_logs(logs, unknown)
    if rejected_logs := [log for log in logs if log.quarantined > _compute_limit(source, log)]:
        raise _build_limit_error(connection, source, logs, rejected_logs, malformed_records, folder)
    if not any(log.recognised for log in logs):
        raise NothingRecognisedError(
            build_nothing_recognized_error(source, logs, malformed_records, describe_logs),
            unknown,
            any(log.lines for log in logs) and not any(log.quarantined for log in logs),
        )
    small_tables.write_table(connection, folder / "logs.parquet", LOGS, [_build_row(source, log) for log in logs])
    small_tables.write_table(connection, folder / "counts.parquet", COUNTS, counts)
    write_unknown(connection, folder, unknown)
    write_malformed_records(connection, malformed_records, folder / TABLE)


LOGS = {"source": "TEXT"} | {name: "TEXT" if name == "host" else "BIGINT" for name in HostLog.__dataclass_fields__}
COUNTS = {"host": "TEXT", "event": "TEXT", "n": "BIGINT"}
TIME_REASONS = ("no time", "bad time")  # prefixes of reasons about instants
PATTERN_REASON = "no line of the log"  # prefix of reasons about lines that do not match the pattern of all lines
REPORTED_LINES = EXPLAINED_OF_EACH  # malformed lines of a host in the error message


def _build_row(source: Source, log: HostLog) -> tuple[Any, ...]:
    return (source.name, *(getattr(log, name) for name in HostLog.__dataclass_fields__))


def _count_host(host: str, of_host: Sequence[LineCount], incomplete: int) -> HostLog:
    events = [tally for tally in of_host if tally.form >= 0]
    dated = [tally for tally in of_host if tally.form >= OTHER]
    first, last, recognised = find_first_timed(dated), find_last_timed(dated), find_first_timed(events)
    return HostLog(
        host,
        sum(tally.rows for tally in of_host),
        sum(tally.rows for tally in of_host if tally.form >= OTHER or tally.form == TIMELESS),
        sum(tally.rows for tally in events) - incomplete,
        sum(tally.rows for tally in of_host if tally.form in (TORN, TIMELESS)) + incomplete,
        sum(tally.rows for tally in of_host if tally.form == TEXT),
        first.first_ns if first else None,
        last.last_ns if last else None,
        recognised.first_ns if recognised else None,
    )


def _count_events(
    names: Mapping[int, str], tallies: Sequence[LineCount], incomplete_rows: Sequence[tuple[str, int, str]]
) -> list[tuple[str, str, int]]:
    """Return the number of records of each event in the log of each host."""
    counts: Counter[tuple[str, str]] = Counter()
    for tally in tallies:
        if tally.form in names:
            counts[tally.host, names[tally.form]] += tally.rows
    counts.subtract(Counter(map(itemgetter(0, 2), incomplete_rows)))
    return [(host, event, number) for (host, event), number in sorted(counts.items())]


def _compute_limit(source: Source, log: HostLog) -> int:
    """Return how many malformed records of a host are tolerated."""
    # Exact: with doubles, 0.29 of 100 lines is less than 29.
    return max(int(Fraction(str(source.quarantine.share)) * log.lines), source.quarantine.at_least)


def _build_limit_error(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    logs: Sequence[HostLog],
    rejected_logs: Sequence[HostLog],
    malformed_records: Iterable[MalformedRecord],
    folder: Path,
) -> QuarantineLimitError:
    """Write the described records; return the error for hosts with too many malformed records."""
    first_records: dict[str, list[MalformedRecord]] = {log.host: [] for log in rejected_logs}
    described_count = 0

    def iter_counted() -> Iterator[MalformedRecord]:
        nonlocal described_count
        for item in malformed_records:
            described_count += 1
            if item.host in first_records and len(first_records[item.host]) < REPORTED_LINES:
                first_records[item.host].append(item)
            yield item

    write_malformed_records(connection, iter_counted(), folder / TABLE)
    problems = [
        _build_limit_diagnostic(source, log, _compute_limit(source, log), first_records[log.host])
        for log in rejected_logs
    ]
    return QuarantineLimitError(problems, sum(log.quarantined for log in logs), described_count)


def build_nothing_recognized_error(
    source: Source,
    logs: Sequence[HostLog],
    malformed_records: Iterable[MalformedRecord],
    describe_logs: Callable[[], tuple[str, ...]],
) -> AssayError:
    """Return the error for a run without any recognized record."""
    kind = SOURCE_KINDS[source.kind]
    record_noun = kind.records
    if not any(log.lines for log in logs):
        return fail(
            "nothing-recognised",
            f"the files of `{source.name}` have no {record_noun}",
            hint="did the run record anything?",
        )
    host_clause = f" of {format_count(len(logs), 'host')}" if source.hosts else ""
    lines = format_count(sum(log.lines for log in logs), record_noun.removesuffix("s"), record_noun)
    return fail(
        "nothing-recognised",
        f"none of the {lines}{host_clause} is an event that the specs know",
        notes=_list_reasons(source, list(itertools.islice(malformed_records, REPORTED_LINES))) or describe_logs(),
        hint=f"are these {kind.files} of this system? list the known names with `assay list events`",
    )


def _list_reasons(source: Source, malformed_records: Sequence[MalformedRecord]) -> tuple[str, ...]:
    """Return the reasons for malformed records, and the notation of instants or lines if it is a reason."""
    notes = [f"{_format_location(item)}: {item.reason}" for item in malformed_records]
    form = (
        time_format.describe_format(source)
        if any(item.reason.startswith(TIME_REASONS) for item in malformed_records)
        else ""
    )
    if form:
        separator = " " if SOURCE_KINDS[source.kind].has_columns else "."
        paths = " or ".join(f"`{separator.join(path)}`" for path in source.time_paths)
        time_paths = f", {paths}," if source.time else ""
        notes.append(f"source `{source.name}` reads the time{time_paths} of a record as {form}")
    if any(item.reason.startswith(PATTERN_REASON) for item in malformed_records):
        notes.append(f"source `{source.name}` reads a line as `{source.line}`: {source.doc}")
    return tuple(notes)


def _format_location(item: MalformedRecord) -> str:
    """Return the file and line of a malformed record, and its offset unless it is unknown."""
    return f"{item.file}:{item.line}" + ("" if item.offset is None else f", byte {item.offset}")


def _build_limit_diagnostic(
    source: Source, log: HostLog, limit: int, malformed_records: Sequence[MalformedRecord]
) -> Diagnostic:
    notes = _list_reasons(source, malformed_records)
    host_clause = f" of host {log.host}" if log.host else ""
    return Diagnostic(
        "too-many-broken-lines",
        f"{log.quarantined} of the {log.lines} {SOURCE_KINDS[source.kind].records}{host_clause} are malformed",
        expected=f"at most {limit}",
        found=str(log.quarantined),
        notes=notes,
        hint="the limit is `quarantine` in the definition of the source",
    )
