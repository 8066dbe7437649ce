"""Read samples of time series: an event is the samples of the series with some names.

The `seq` of a sample is its number in the order of time over all series; so the last sample before an instant is the
last in this order. `series` is the number of its series in the run. A sample that marks the end of its line has no
value.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.ingest import sql_trees
from assay.ingest.discovery import RunFiles
from assay.ingest.event_forms import NumberedForm, list_field_paths, number_forms
from assay.ingest.event_query import ENDED, build_typed_query
from assay.ingest.event_writer import write_event_rows
from assay.ingest.output_folder import MEMORY, open_engine
from assay.ingest.plain_copies import read_texts
from assay.ingest.quarantine import DESCRIBED, TEXT_LIMIT, MalformedRecord, explain_missing_field
from assay.ingest.readers import sample_files, sample_store
from assay.ingest.readers.native_histograms import HistogramSample, add_histograms
from assay.ingest.readers.protocol import IngestJob, Outcome, Place, RawRecord
from assay.ingest.readers.sample_store import MergeResult, execute, format_names
from assay.ingest.summary import HostLog, write_results
from assay.lang.model.package import Field, Form, Source, Unless
from assay.lang.reserved_names import SAMPLE_KEYS
from assay.sql import dialect
from assay.sql.dialect import build_column
from assay.util.diagnostics import fail, suggest_names
from assay.util.numbers import format_count
from assay.util.progress import ByteProgress, ignore
from assay.util.scratch import create_temporary_folder as scratch_folder

if TYPE_CHECKING:
    import duckdb

LABEL, VALUE = "labels", ("value",)
HOST = ""  # samples have no host


@dataclass(frozen=True, slots=True)
class Samples:
    """The samples of a run, in the tables `numbered_samples` and `series`. `notes` are warnings about them.

    `numbered_samples` has the columns seq, series, t_ns, value, file, number.
    """

    connection: duckdb.DuckDBPyConnection
    folder: Path
    merged: MergeResult
    files: tuple[str, ...]
    paths: tuple[Path, ...]
    notes: tuple[str, ...] = ()


class SampleFiles:
    """Reader of samples of time series in files of any format; `host` is empty."""

    def read(self, job: IngestJob) -> Outcome:
        """Write the samples of a run, each once.

        Raises AssayError also for a file of unknown format, and for two values of a series at one instant.
        """
        forms = number_forms(job.source_events, job.required_fields)
        (job.folder / "plain").mkdir()
        with open_engine(job.folder, MEMORY // job.share) as connection:
            paths = [path for host in job.files.hosts for path in host.files]
            series_names = {name.name for event in job.source_events for form in event.forms for name in form.names}
            samples = load_samples(connection, paths, job.files.directory, job.folder, job.progress, series_names)
            number_samples(samples.connection)
            counts = _count_event_samples(samples, forms)
            names = [item.event.name for item in forms if item.is_required]
            incomplete = [row for name in dict.fromkeys(names) for row in _write_event(samples, name, forms)]
            _write_summary(samples, job.source, forms, counts, incomplete)
        return Outcome(bool(incomplete), samples.notes)

    def locate(self, _: Source, files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Place, RawRecord]]:
        """Yield samples. They are numbered in the order of time over all files, which are read again."""
        paths = [path for host in files.hosts for path in host.files]
        with scratch_folder() as folder:
            (folder / "plain").mkdir()
            with open_engine(folder) as connection:
                samples = load_samples(connection, paths, files.directory, folder, ignore)
                number_samples(connection)
                rows = execute(
                    connection,
                    """
                    SELECT seq, file, number, name, key, t_ns, value
                    FROM numbered_samples JOIN series ON series = id
                    WHERE list_contains(CAST($seqs AS BIGINT[]), seq)
                    """,
                    seqs=[item.seq for item in places],
                )
        lines = dict(_iter_sample_lines(paths, samples.files, rows))
        yield from ((Place("", row[0]), lines.get(row[0]) or _create_sample_record(samples.files, row)) for row in rows)


READER = SampleFiles()


def _create_sample_record(names: Sequence[str], row: tuple[Any, ...]) -> RawRecord:
    _, file, number, name, key, t_ns, value = row
    return RawRecord(names[file], 0, number, f"{name}{key} {value!r} at {t_ns} ns")


def _iter_sample_lines(
    paths: Sequence[Path], names: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[int, RawRecord]]:
    """Yield the samples in files of lines by their `seq`."""
    numbers_by_file: dict[int, dict[int, int]] = {}
    for seq, file, number, *_ in rows:
        if number:  # no line is a sample of a native histogram
            numbers_by_file.setdefault(file, {})[seq] = number
    for file, numbers in numbers_by_file.items():
        if sample_files.has_lines(paths[file]):
            texts = read_texts(paths[file], set(numbers.values()))
            for seq, number in numbers.items():
                yield seq, RawRecord(names[file], number, number, texts[number])


def load_samples(
    connection: duckdb.DuckDBPyConnection,
    paths: Sequence[Path],
    directory: Path,
    folder: Path,
    progress: ByteProgress,
    read_names: Collection[str] = (),
) -> Samples:
    """Load the samples of files, each once, into `series` and `samples`; `folder` / "plain" is for temporary files.

    Native histograms of series that `read_names` name as numbers are refused.
    """
    sample_store.prepare(connection)
    sizes = [path.stat().st_size for path in paths]
    names = tuple(path.relative_to(directory).as_posix() for path in paths)
    warnings = []
    histograms: list[HistogramSample] = []
    for index, path in enumerate(paths):
        texts, further = sample_files.load(connection, path, index, folder / "plain", read_names)
        histograms += further
        warnings += [
            f"samples may be missing in {names[index]}: the server warned with its response: {text}" for text in texts
        ]
        progress(sum(sizes[: index + 1]), sum(sizes))
    add_histograms(connection, histograms)
    merged = sample_store.merge(connection, dict(enumerate(names)))
    return Samples(connection, folder, merged, names, tuple(paths), (*warnings, *merged.notes))


def number_samples(connection: duckdb.DuckDBPyConnection) -> None:
    """Number the samples in the order of time, those of native histograms behind all others."""
    connection.execute(
        """
        CREATE TABLE numbered_samples AS
        SELECT row_number() OVER (ORDER BY number = 0, t_ns, series) AS seq, series, t_ns, value, file, number
        FROM samples
        """
    )
    sample_store.drop_tables(connection, "samples")


def _build_label(name: str) -> exp.Expr:
    """Return a label of a series; null if it is absent."""
    if name == sample_store.NAME:
        return build_column("name")
    return sql_trees.call("map_extract_value", build_column("labels"), sql_trees.build_text(name))


def _has_form(form: Form) -> exp.Expr:
    """Return the condition that a series has a form: one of its names, and no label that rules it out."""
    has_name = exp.In(this=build_column("name"), expressions=[sql_trees.build_text(name.name) for name in form.names])
    return exp.and_(has_name, *(exp.Not(this=_is_ruled_out(rule)) for rule in form.unless))


def _is_ruled_out(rule: Unless) -> exp.Expr:
    label = _build_label(rule.path[-1])
    if rule.present:
        return sql_trees.is_not_null(label)
    return exp.NullSafeEQ(this=label, expression=sql_trees.build_text(rule.equals))


def _build_event_series(forms: Sequence[NumberedForm]) -> exp.Select:
    """Return the query for the series of an event: id, form, and the labels that fields read (`label_1`, ...)."""
    ifs = [exp.If(this=_has_form(item.form), true=dialect.build_integer(item.number)) for item in forms]
    form = sql_trees.build_alias(exp.Case(ifs=ifs), "form")
    values = [
        sql_trees.build_alias(_build_label(path[1]), f"label_{index}")
        for index, path in enumerate(_list_label_paths(forms), start=1)
    ]
    return sql_trees.set_source(dialect.select("id", form, *values), "series")


def _list_label_paths(forms: Sequence[NumberedForm]) -> list[tuple[str, ...]]:
    return [path for path in list_field_paths(forms) if path != VALUE]


def _build_event_samples(forms: Sequence[NumberedForm]) -> exp.Select:
    """Return the query for the samples of an event with the columns of `_build_event_series`."""
    event_series = _build_event_series(forms).subquery("event_series")
    query = sql_trees.set_source(dialect.select("*"), "numbered_samples")
    query = query.join(
        event_series,
        on=exp.EQ(this=build_column("series", "numbered_samples"), expression=build_column("id", "event_series")),
        copy=False,
    )
    return query.where(sql_trees.is_not_null(build_column("form")), copy=False)


def _build_value_text() -> exp.Expr:
    """Return a value as text, an integer with all its digits."""
    value = build_column("value")
    limit = sql_trees.cast(exp.Literal.number("18446744073709551616"), "DOUBLE")  # 2^64
    is_integer = exp.and_(
        exp.EQ(this=sql_trees.call("trunc", value), expression=value.copy()),
        exp.LT(this=exp.Abs(this=value.copy()), expression=limit),
    )
    digits = sql_trees.cast(sql_trees.cast(value.copy(), "INT128"), "TEXT")
    return sql_trees.build_if(is_integer, digits, sql_trees.cast(value.copy(), "TEXT"))


def _write_event(samples: Samples, name: str, forms: Sequence[NumberedForm]) -> list[tuple[int, str]]:
    """Write the rows of an event; return `seq` and event of those without a required field."""
    event_forms = [item for item in forms if item.event.name == name]
    labels = _list_label_paths(event_forms)
    values_by_path: dict[tuple[str, ...], exp.Expr] = {
        path: build_column(f"label_{index}") for index, path in enumerate(labels, start=1)
    }
    values_by_path[VALUE] = build_column("value_as_text")
    rows = [
        sql_trees.build_alias(sql_trees.build_text(HOST), "host"),
        *(build_column(key) for key in SAMPLE_KEYS if key != "host"),
    ]
    rows += [build_column("form"), build_column("value")]
    rows += [sql_trees.build_alias(_build_value_text(), "value_as_text"), *(values_by_path[path] for path in labels)]
    typed_values = {
        (item.number, field.name): build_column("value")
        for item in event_forms
        for field in item.fields
        if _is_unchanged_value(field)
    }
    rows.append(sql_trees.build_alias(sql_trees.is_null(build_column("value")), ENDED))
    values = {field.name for item in event_forms for field in item.fields if VALUE in field.paths}
    query = sql_trees.set_source(dialect.select(*rows), _build_event_samples(event_forms).subquery("event_samples"))
    target = samples.folder / "events" / name / "0.parquet"
    target.parent.mkdir(parents=True)

    def build_rows(is_fast: bool) -> exp.Query:
        rows = build_typed_query(
            event_forms, values_by_path, query.copy(), typed_values, values, is_fast=is_fast, keys=SAMPLE_KEYS
        )
        return rows.order_by("seq")

    return [(seq, name) for _, seq in write_event_rows(samples.connection, name, build_rows, target)]


def _is_unchanged_value(field: Field) -> bool:
    """Return whether a field is the unchanged value of a sample, which may be NaN or infinite."""
    return field.paths == (VALUE,) and field.type == "real" and not field.transforms


def _count_event_samples(samples: Samples, forms: Sequence[NumberedForm]) -> dict[str, int]:
    """Return the number of samples of each event."""
    counts = {}
    for name in sorted({item.event.name for item in forms}):
        event_forms = [item for item in forms if item.event.name == name]
        query = sql_trees.set_source(
            dialect.select(exp.Count(this=exp.Star())), _build_event_samples(event_forms).subquery("event_samples")
        )
        ((counts[name],),) = execute(samples.connection, dialect.to_sql(query))
    return {name: number for name, number in counts.items() if number}


def _write_summary(
    samples: Samples,
    source: Source,
    forms: Sequence[NumberedForm],
    counts: dict[str, int],
    incomplete: Sequence[tuple[int, str]],
) -> None:
    """Write the summary of the samples. Raises AssayError if too many are malformed."""
    has_event = exp.or_(*(_has_form(item.form) for item in forms)) if forms else exp.false()
    ids = sql_trees.set_source(dialect.select("id"), "series").where(has_event, copy=False)
    is_event = exp.In(this=build_column("series"), query=ids.subquery())
    query = sql_trees.set_source(
        dialect.select(exp.Count(this=exp.Star()), exp.Min(this=build_column("t_ns"))), "numbered_samples"
    )
    ((recognised, first_event_instant),) = execute(
        samples.connection, dialect.to_sql(query.where(is_event, copy=False))
    )
    # Buckets of histograms that no event reads are no samples of the files.
    is_counted = exp.or_(exp.NEQ(this=build_column("number"), expression=dialect.build_integer(0)), is_event.copy())
    ends = (kind(this=build_column("t_ns")) for kind in (exp.Min, exp.Max))
    counted = sql_trees.set_source(dialect.select(exp.Count(this=exp.Star()), *ends), "numbered_samples")
    ((present, first, last),) = execute(samples.connection, dialect.to_sql(counted.where(is_counted, copy=False)))
    if not recognised and samples.merged.samples:
        raise _build_no_series_error(samples, forms)
    malformed = _list_malformed(samples)
    lost = len({seq for seq, _ in incomplete})
    number = present + samples.merged.dropped
    log = HostLog(
        HOST,
        number + len(malformed),
        number,
        recognised - lost,
        len(malformed) + lost,
        0,
        first,
        last,
        first_event_instant,
    )
    complete_counts = [(HOST, name, n - sum(event == name for _, event in incomplete)) for name, n in counts.items()]
    described = [*malformed, *_describe_incomplete(samples, forms, incomplete)]
    write_results(
        samples.connection,
        source,
        [log],
        complete_counts,
        _locate_malformed(samples, described[:DESCRIBED]),
        samples.folder,
    )


def _locate_malformed(samples: Samples, malformed: Sequence[MalformedRecord]) -> Iterator[MalformedRecord]:
    """Yield malformed samples with the offset of the sample or of its line; in Parquet without an offset."""
    paths = dict(zip(samples.files, samples.paths, strict=True))
    offsets: dict[tuple[str, int], int] = {}
    for name in {item.file for item in malformed}:
        numbers = {item.line for item in malformed if item.file == name}
        offsets |= {
            (name, number): offset for number, offset in sample_files.find_sample_offsets(paths[name], numbers).items()
        }
    return (replace(item, offset=offsets.get((item.file, item.line))) for item in malformed)


def _build_no_series_error(samples: Samples, forms: Sequence[NumberedForm]) -> Exception:
    """Return the error for a run without samples of the series of events."""
    rows = execute(samples.connection, "SELECT DISTINCT name FROM series ORDER BY name")
    names = [name for (name,) in rows]
    required = [name.name for item in forms for name in item.form.names]
    return fail(
        "nothing-recognised",
        f"none of the {format_count(samples.merged.samples, 'sample')} is of a series of an event",
        expected=format_names(required) or "no series",
        found=format_names(names),
        hint=suggest_names(required[0], names) if required else "",
    )


def _list_malformed(samples: Samples) -> list[MalformedRecord]:
    """Return the malformed samples of files."""
    query = "SELECT file, number, reason, text FROM malformed_samples ORDER BY file, number"
    rows = execute(samples.connection, query)
    return [
        MalformedRecord(HOST, samples.files[file], number, None, reason, text[:TEXT_LIMIT])
        for file, number, reason, text in rows
    ]


def _describe_incomplete(
    samples: Samples, forms: Sequence[NumberedForm], incomplete: Sequence[tuple[int, str]]
) -> Iterator[MalformedRecord]:
    """Yield samples without a required field."""
    events = dict(reversed(incomplete[:DESCRIBED]))
    rows = execute(
        samples.connection,
        """
        SELECT seq, file, number, t_ns, value, name, key
        FROM numbered_samples JOIN series ON series = id
        WHERE list_contains(CAST($seqs AS BIGINT[]), seq)
        ORDER BY seq
        """,
        seqs=list(events),
    )
    for seq, file, number, t_ns, value, name, key in rows:
        event_forms = [item for item in forms if item.event.name == events[seq]]
        labels: dict[str, Any] = json.loads(key)
        number_text = None if value is None else f"{value:.17g}"  # null at the end of a line
        reason = _find_reason(event_forms, name, {LABEL: {sample_store.NAME: name, **labels}, "value": number_text})
        text = f"{name}{key} {value!r} at {t_ns} ns"
        yield MalformedRecord(HOST, samples.files[file], number, None, reason, text[:TEXT_LIMIT])


def _find_reason(event_forms: Sequence[NumberedForm], name: str, body: object) -> str:
    """Return why a sample is malformed: the first field without a valid value."""
    forms = sorted(event_forms, key=lambda item: name not in {series.name for series in item.form.names})
    for item in forms:
        for field in item.fields:
            reason = "" if _is_unchanged_value(field) else explain_missing_field(item, field, body)
            if reason:
                return reason
    return "a field is missing"
