"""Summarize an ingested run host by host: events, broken and unrecognized lines."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.ingest import small_tables
from assay.ingest.discovery import RunFiles
from assay.ingest.dropped_records import Reasons
from assay.ingest.event_forms import LACKING, OTHER, TEXT, TIMELESS
from assay.ingest.line_counts import LineCount, Share
from assay.ingest.plain_copies import Line, first_lines
from assay.ingest.quarantine import (
    DESCRIBED,
    TABLE,
    Broken,
    Lost,
    NothingRecognisedError,
    QuarantineLimitError,
    describe,
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


LINES = 2000  # of the first log, which are looked at
NAMES = 6  # that are told
WIDTH = 100  # characters of a line or name


def sample_unrecognized_lines(source: Source, files: RunFiles) -> tuple[str, ...]:
    """What the first log that holds anything has in the places of names, or of patterns: a sentence for each lookup."""
    for path in (path for host in files.hosts for path in host.files):
        lines = [line.decode("utf-8", "replace").strip() for line in first_lines(path, LINES)]
        written = [(number, line) for number, line in enumerate(lines, 1) if line]
        if written:
            where = str(path.relative_to(files.directory))
            if SOURCE_KINDS[source.kind].has_patterns:
                return (_of_text(source, where, *written[len(written) // 2]),)  # a log begins unlike it goes on
            return tuple(dict.fromkeys(_of_json(source, where, written)))
    return ()


def _of_text(source: Source, where: str, number: int, line: str) -> str:
    pattern = f", which is read as {source.line}" if source.line else ""
    return f"source `{source.name}` finds in {where}:{number}: {_short(line)}{pattern}"


def _of_json(source: Source, where: str, lines: Sequence[tuple[int, str]]) -> Iterator[str]:
    objects = [found for _, line in lines if isinstance(found := _json(line), dict)]
    if not objects:
        number, line = lines[0]
        yield f"source `{source.name}` finds no JSON object in {where}:{number}: {_short(line)}"
        return
    for lookup in source.lookups:
        path = [*source.body, *lookup.path] if lookup.in_body else [*lookup.path]
        names = list(dict.fromkeys(name for item in objects if (name := _name(item, path, lookup))))
        more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
        said = ", ".join(f"`{_short(name)}`" for name in names[:NAMES]) + more if names else "no text"
        yield f"source `{source.name}` finds as names at {'.'.join(path)} of {where}: {said}"


def _json(line: str) -> object:
    """What a line says as JSON; None where it is none."""
    try:
        return json.loads(line, object_pairs_hook=build_object)
    except (ValueError, RecursionError):
        return None


def _name(found: object, path: Sequence[str], lookup: Lookup) -> str:
    """The name that a lookup reads of a record; empty where there is none."""
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found.removeprefix(lookup.drop) if isinstance(found, str) else ""


def _short(text: str) -> str:
    return truncate(escape_text(text), WIDTH)


@dataclass(frozen=True, slots=True)
class Log:
    """What a host's log holds: a row of logs.parquet.

    `objects` are the lines that are whole JSON objects; `first_ns` and `last_ns` the instants of the first and the last
    of them in log order that have one, `first_recognised_ns` that of the first event.
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
    how: Recognition,
    files: RunFiles,
    found: Sequence[Share],
    lacking: Sequence[tuple[str, int, str]],
    folder: Path,
) -> None:
    """Write logs.parquet, counts.parquet, quarantine.parquet; AssayError when more is broken than the source bears."""
    names = {item.number: item.event.name for item in how.forms}
    summarised(connection, how.source, names, files, found, lacking, folder, Reasons(connection, how))


def summarised(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    names: Mapping[int, str],
    files: RunFiles,
    found: Sequence[Share],
    lacking: Sequence[tuple[str, int, str]],
    folder: Path,
    why: Callable[[Lost, Line], str],
) -> None:
    """Write what was found of the lines of a source; `names` are the events by the numbers of their forms, `why` tells
    the reason of a lost line by the line."""
    tallies = [tally for share in found for tally in share.tallies]
    lost = [Lost(host, seq, form, "") for share in found for host, seq, form in share.broken]
    lost += [Lost(host, seq, LACKING, event) for host, seq, event in lacking]
    logs = [_log(host.host, tallies, lost) for host in files.hosts]
    lost.sort()
    told = lost if all(log.quarantined <= _limit(source, log) for log in logs) else _first(lost)
    write_found(
        connection,
        source,
        logs,
        _counts(names, tallies, lost),
        describe(files, told, why),
        folder,
        lambda: sample_unrecognized_lines(source, files),
        [item for share in found for _, item in share.unknown],
    )


def _first(lost: Sequence[Lost]) -> list[Lost]:
    """The first lost lines of all, and of each host."""
    groups = itertools.groupby(lost, key=lambda item: item.host)
    of_hosts = (item for _, group in groups for item in itertools.islice(group, TOLD))
    return sorted({*lost[:DESCRIBED], *of_hosts})


def write_found(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    logs: Sequence[Log],
    counts: Sequence[tuple[str, str, int]],
    broken: Iterable[Broken],
    folder: Path,
    first_names: Callable[[], tuple[str, ...]] = tuple,
    unknown: Sequence[UnknownTally] = (),
) -> None:
    """Judge what was found, and write it: logs, events (host, event, number), broken lines, names that no event has.
    `first_names` tells what stands where nothing was recognised."""
    if many := [log for log in logs if log.quarantined > _limit(source, log)]:
        raise _refused(connection, source, logs, many, broken, folder)
    if not any(log.recognised for log in logs):
        raise NothingRecognisedError(nothing_recognized_error(source, logs, broken, first_names), unknown)
    small_tables.write(connection, folder / "logs.parquet", LOGS, [_row(source, log) for log in logs])
    small_tables.write(connection, folder / "counts.parquet", COUNTS, counts)
    write_unknown(connection, folder, unknown)
    _write_broken(connection, broken, folder / TABLE)


LOGS = {"source": "TEXT"} | {name: "TEXT" if name == "host" else "BIGINT" for name in Log.__dataclass_fields__}
COUNTS = {"host": "TEXT", "event": "TEXT", "n": "BIGINT"}
QUARANTINE = {
    "host": "TEXT",
    "file": "TEXT",
    "line": "BIGINT",
    "offset": "BIGINT",
    "reason": "TEXT",
    "text": "TEXT",
}
BROKEN = "broken_lines"
UNTIMED = ("no time", "bad time")  # how reasons begin that are about a time
UNLIKE = "no line of the log"  # how a reason begins that is about a line as a whole
TOLD = 3  # broken lines of a host that the error names


def _row(source: Source, log: Log) -> tuple[Any, ...]:
    return (source.name, *(getattr(log, name) for name in Log.__dataclass_fields__))


def _log(host: str, tallies: Sequence[LineCount], lost: Sequence[Lost]) -> Log:
    own = [tally for tally in tallies if tally.host == host]
    broken = Counter(item.form for item in lost if item.host == host)
    events = [tally for tally in own if tally.form >= 0]
    dated = [tally for tally in own if tally.form >= OTHER]
    first = min(dated, key=lambda tally: tally.first_seq, default=None)
    last = max(dated, key=lambda tally: tally.last_seq, default=None)
    recognised = min(events, key=lambda tally: tally.first_seq, default=None)
    return Log(
        host,
        sum(tally.rows for tally in own),
        sum(tally.rows for tally in own if tally.form >= OTHER or tally.form == TIMELESS),
        sum(tally.rows for tally in events) - broken[LACKING],
        broken.total(),
        sum(tally.rows for tally in own if tally.form == TEXT),
        first.first_ns if first else None,
        last.last_ns if last else None,
        recognised.first_ns if recognised else None,
    )


def _counts(names: Mapping[int, str], tallies: Sequence[LineCount], lost: Sequence[Lost]) -> list[tuple[str, str, int]]:
    """How often each event stands in each host's log."""
    found: Counter[tuple[str, str]] = Counter()
    for tally in tallies:
        if tally.form in names:
            found[tally.host, names[tally.form]] += tally.rows
    found.subtract((item.host, item.event) for item in lost if item.form == LACKING)
    return [(host, event, number) for (host, event), number in sorted(found.items())]


def _write_broken(connection: duckdb.DuckDBPyConnection, broken: Iterable[Broken], place: Path) -> None:
    """Broken lines as Parquet, in order."""
    rows = (tuple(getattr(item, name) for name in QUARANTINE) for item in broken)
    small_tables.write_many(connection, place, BROKEN, QUARANTINE, rows)


def _limit(source: Source, log: Log) -> int:
    """How many broken records of a host are borne."""
    # As the share is written: as a double 0.29 of 100 lines is less than 29.
    return max(int(Fraction(str(source.quarantine.share)) * log.lines), source.quarantine.at_least)


def _refused(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    logs: Sequence[Log],
    many: Sequence[Log],
    broken: Iterable[Broken],
    folder: Path,
) -> QuarantineLimitError:
    """The error of hosts with too many broken records; what is described of them is written beside."""
    first: dict[str, list[Broken]] = {log.host: [] for log in many}
    described = 0

    def passed() -> Iterator[Broken]:
        nonlocal described
        for item in broken:
            described += 1
            if item.host in first and len(first[item.host]) < TOLD:
                first[item.host].append(item)
            yield item

    _write_broken(connection, passed(), folder / TABLE)
    problems = [_too_many(source, log, _limit(source, log), first[log.host]) for log in many]
    return QuarantineLimitError(problems, sum(log.quarantined for log in logs), described)


def nothing_recognized_error(
    source: Source, logs: Sequence[Log], broken: Iterable[Broken], first_names: Callable[[], tuple[str, ...]]
) -> AssayError:
    """The error of a run without any recognised line."""
    kind = SOURCE_KINDS[source.kind]
    things = kind.records
    if not any(log.lines for log in logs):
        return fail(
            "nothing-recognised",
            f"the files of `{source.name}` hold no {things} at all",
            hint="did the run record anything?",
        )
    where = f" of {format_count(len(logs), 'host')}" if source.hosts else ""
    lines = format_count(sum(log.lines for log in logs), things.removesuffix("s"), things)
    return fail(
        "nothing-recognised",
        f"none of the {lines}{where} is an event that the specs know",
        notes=_reasons(source, list(itertools.islice(broken, TOLD))) or first_names(),
        hint=f"are these {kind.files} of this system? `assay list events` tells the names that are known",
    )


def _reasons(source: Source, broken: Sequence[Broken]) -> tuple[str, ...]:
    """Why records are broken; where they lack a time or are unlike the lines of the source, how these are read."""
    notes = [f"{_where(item)}: {item.reason}" for item in broken]
    form = time_format.describe_format(source) if any(item.reason.startswith(UNTIMED) for item in broken) else ""
    if form:
        paths = " or ".join(f"`{'.'.join(path)}`" for path in source.times)
        at = f", {paths}," if source.time else ""
        notes.append(f"the time{at} of a record of source `{source.name}` is read as {form}")
    if any(item.reason.startswith(UNLIKE) for item in broken):
        notes.append(f"a line of source `{source.name}` is read as `{source.line}`: {source.doc}")
    return tuple(notes)


def _where(item: Broken) -> str:
    """Where a broken record stands: its line, and its first byte where that is known."""
    return f"{item.file}:{item.line}" + ("" if item.offset is None else f", byte {item.offset}")


def _too_many(source: Source, log: Log, limit: int, broken: Sequence[Broken]) -> Diagnostic:
    notes = _reasons(source, broken)
    where = f" of host {log.host}" if log.host else ""
    return Diagnostic(
        "too-many-broken-lines",
        f"{log.quarantined} of the {log.lines} {SOURCE_KINDS[source.kind].records}{where} are broken",
        expected=f"at most {limit}",
        found=str(log.quarantined),
        notes=notes,
        hint="the limit stands in the source's definition (`quarantine`)",
    )
