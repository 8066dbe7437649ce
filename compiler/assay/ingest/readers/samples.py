"""Read samples of time series: an event is the samples of the series with some names.

The `seq` of a sample is its number in the order of time, over all series, so the last sample before an instant is the
last in this order. `series` is the number of its series in the run. A sample that marks the end of its line has no
value.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from assay.ingest import builder
from assay.ingest.discovery import RunFiles
from assay.ingest.event_forms import NumberedForm, numbered, paths_of
from assay.ingest.event_query import ENDED, typed_rows
from assay.ingest.event_writer import write_event_rows
from assay.ingest.plain_copies import text_lines
from assay.ingest.quarantine import DESCRIBED, SHOWN, Broken, missing_field_reason
from assay.ingest.readers import sample_files, sample_store
from assay.ingest.readers.protocol import IngestJob, Outcome, Place, RawRecord
from assay.ingest.readers.sample_store import Merged, listed, make, run
from assay.ingest.summary import Log, write_found
from assay.ingest.workspace_dir import MEMORY, open_engine
from assay.lang.model.package import Field, Form, Source, Unless
from assay.lang.reserved_names import KEYS_OF_SAMPLES
from assay.sql import dialect
from assay.sql.dialect import column
from assay.util.diagnostics import did_you_mean, fail
from assay.util.numbers import format_count
from assay.util.progress import Bytes, ignore_bytes
from assay.util.scratch import temporary_folder as scratch_folder

if TYPE_CHECKING:
    import duckdb

LABEL, VALUE = "labels", ("value",)
HOST = ""  # samples have no host


@dataclass(frozen=True, slots=True)
class Samples:
    """The samples of a run: `placed` (seq, series, t_ns, value, file, number) and `series` are tables.

    `notes` are warnings about them.
    """

    connection: duckdb.DuckDBPyConnection
    folder: Path
    merged: Merged
    files: tuple[str, ...]
    paths: tuple[Path, ...]
    notes: tuple[str, ...] = ()


class SampleFiles:
    """Reader of samples of time series in files of any format; `host` is empty."""

    def read(self, job: IngestJob) -> Outcome:
        """Write the samples of a run, each once.

        Raises AssayError also for a file of unknown format, and for two values of a series at one instant.
        """
        forms = numbered(job.own_events, job.wanted)
        (job.folder / "plain").mkdir()
        with open_engine(job.folder, MEMORY // job.share) as connection:
            paths = [path for host in job.files.hosts for path in host.files]
            samples = gathered(connection, paths, job.files.directory, job.folder, job.progress)
            place(samples.connection)
            counts = _counts(samples, forms)
            names = [item.event.name for item in forms if item.needed]
            incomplete = [row for name in dict.fromkeys(names) for row in _write(samples, name, forms)]
            _summarise(samples, job.source, forms, counts, incomplete)
        return Outcome(bool(incomplete), samples.notes)

    def locate(self, _: Source, files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Place, RawRecord]]:
        """Yield samples. They are numbered in the order of time over all files, which are read again."""
        paths = [path for host in files.hosts for path in host.files]
        with scratch_folder() as folder:
            (folder / "plain").mkdir()
            with open_engine(folder) as connection:
                samples = gathered(connection, paths, files.directory, folder, ignore_bytes)
                place(connection)
                query = dialect.select("seq", "file", "number", "name", "key", "t_ns", "value").from_("placed")
                query = query.join(
                    "series", on=exp.EQ(this=column("series", "placed"), expression=column("id", "series"))
                )
                chosen = exp.In(this=column("seq"), expressions=[dialect.integer(item.seq) for item in places])
                rows = run(connection, query.where(chosen))
        lines = dict(_sample_lines(paths, samples.files, rows))
        yield from ((Place("", row[0]), lines.get(row[0]) or _sample_record(samples.files, row)) for row in rows)


READER = SampleFiles()


def _sample_record(names: Sequence[str], row: tuple[Any, ...]) -> RawRecord:
    _, file, number, name, key, t_ns, value = row
    return RawRecord(names[file], 0, number, f"{name}{key} {value!r} at {t_ns} ns")


def _sample_lines(
    paths: Sequence[Path], names: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[int, RawRecord]]:
    """Yield the samples that are in files of lines, by their places."""
    by_file: dict[int, dict[int, int]] = {}
    for seq, file, number, *_ in rows:
        by_file.setdefault(file, {})[seq] = number
    for file, numbers in by_file.items():
        if sample_files.has_lines(paths[file]):
            texts = text_lines(paths[file], set(numbers.values()))
            for seq, number in numbers.items():
                yield seq, RawRecord(names[file], number, number, texts[number])


def gathered(
    connection: duckdb.DuckDBPyConnection, paths: Sequence[Path], directory: Path, folder: Path, progress: Bytes
) -> Samples:
    """Load the samples of files, each once, into `series` and `samples`; `folder` / "plain" is for temporary files."""
    sample_store.prepare(connection)
    sizes = [path.stat().st_size for path in paths]
    names = tuple(path.relative_to(directory).as_posix() for path in paths)
    warnings = []
    for index, path in enumerate(paths):
        texts = sample_files.load(connection, path, index, folder / "plain")
        warnings += [
            f"samples may be missing in {names[index]}, as the server said with them: {text}" for text in texts
        ]
        progress(sum(sizes[: index + 1]), sum(sizes))
    merged = sample_store.merge(connection, dict(enumerate(names)))
    return Samples(connection, folder, merged, names, tuple(paths), (*warnings, *merged.notes))


def place(connection: duckdb.DuckDBPyConnection) -> None:
    """Number the samples in the order of time."""
    order = exp.Order(expressions=[exp.Ordered(this=column(name)) for name in ("t_ns", "series")])
    seq = builder.alias(exp.Window(this=exp.RowNumber(), order=order), "seq")
    columns = ("series", "t_ns", "value", "file", "number")
    make(connection, "placed", builder.from_source(dialect.select(seq, *columns), "samples"))
    sample_store.drop(connection, "samples")


def _label(name: str) -> exp.Expr:
    """Return a label of a series; null if it is absent."""
    if name == sample_store.NAME:
        return column("name")
    return builder.call("map_extract_value", column("labels"), builder.text(name))


def _is(form: Form) -> exp.Expr:
    """Return the condition that a series has a form: one of its names, and no label that rules it out."""
    has_name = exp.In(this=column("name"), expressions=[builder.text(name.name) for name in form.names])
    return exp.and_(has_name, *(exp.Not(this=_ruled_out(rule)) for rule in form.unless))


def _ruled_out(rule: Unless) -> exp.Expr:
    label = _label(rule.path[-1])
    if rule.present:
        return builder.is_not_null(label)
    return exp.NullSafeEQ(this=label, expression=builder.text(rule.equals))


def _chosen(forms: Sequence[NumberedForm]) -> exp.Select:
    """Return the query for the series of an event: id, form, and the labels that fields read (`label_1`, ...)."""
    ifs = [exp.If(this=_is(item.form), true=dialect.integer(item.number)) for item in forms]
    form = builder.alias(exp.Case(ifs=ifs), "form")
    values = [builder.alias(_label(path[1]), f"label_{index}") for index, path in enumerate(_labels(forms), start=1)]
    return builder.from_source(dialect.select("id", form, *values), "series")


def _labels(forms: Sequence[NumberedForm]) -> list[tuple[str, ...]]:
    return [path for path in paths_of(forms) if path != VALUE]


def _of_event(forms: Sequence[NumberedForm]) -> exp.Select:
    """Return the query for the samples of an event with the columns of `_chosen`."""
    chosen = _chosen(forms).subquery("chosen")
    query = builder.from_source(dialect.select("*"), "placed")
    query = query.join(
        chosen, on=exp.EQ(this=column("series", "placed"), expression=column("id", "chosen")), copy=False
    )
    return query.where(builder.is_not_null(column("form")), copy=False)


def _whole_text() -> exp.Expr:
    """Return a value as text, an integer with all its digits."""
    value = column("value")
    most = builder.cast(exp.Literal.number("18446744073709551616"), "DOUBLE")
    is_integer = exp.and_(
        exp.EQ(this=builder.call("trunc", value), expression=value.copy()),
        exp.LT(this=exp.Abs(this=value.copy()), expression=most),
    )
    digits = builder.cast(builder.cast(value.copy(), "INT128"), "TEXT")
    return builder.when(is_integer, digits, builder.cast(value.copy(), "TEXT"))


def _write(samples: Samples, name: str, forms: Sequence[NumberedForm]) -> list[tuple[int, str]]:
    """Write the rows of an event; return the places of those without a required field."""
    event_forms = [item for item in forms if item.event.name == name]
    labels = _labels(event_forms)
    read: dict[tuple[str, ...], exp.Expr] = {
        path: column(f"label_{index}") for index, path in enumerate(labels, start=1)
    }
    read[VALUE] = column("value_as_text")
    rows = [
        builder.alias(builder.text(HOST), "host"),
        *(column(key) for key in KEYS_OF_SAMPLES if key != "host"),
    ]
    rows += [column("form"), column("value")]
    rows += [builder.alias(_whole_text(), "value_as_text"), *(read[path] for path in labels)]
    known_values = {
        (item.number, field.name): column("value") for item in event_forms for field in item.fields if _plain(field)
    }
    rows.append(builder.alias(builder.is_null(column("value")), ENDED))
    values = {field.name for item in event_forms for field in item.fields if VALUE in field.paths}
    query = builder.from_source(dialect.select(*rows), _of_event(event_forms).subquery("own"))
    target = samples.folder / "events" / name / "0.parquet"
    target.parent.mkdir(parents=True)

    def ordered(swift: bool) -> exp.Query:
        rows = typed_rows(event_forms, read, query.copy(), known_values, values, swift=swift, keys=KEYS_OF_SAMPLES)
        return rows.order_by("seq")

    return [(seq, name) for _, seq in write_event_rows(samples.connection, name, ordered, target)]


def _plain(field: Field) -> bool:
    """Return whether a field is the unchanged value of a sample, which may be NaN or infinite."""
    return field.paths == (VALUE,) and field.type == "real" and not field.transforms


def _counts(samples: Samples, forms: Sequence[NumberedForm]) -> dict[str, int]:
    """Return the number of samples of each event."""
    counts = {}
    for name in sorted({item.event.name for item in forms}):
        event_forms = [item for item in forms if item.event.name == name]
        query = builder.from_source(dialect.select(exp.Count(this=exp.Star())), _of_event(event_forms).subquery("own"))
        ((counts[name],),) = run(samples.connection, query)
    return {name: number for name, number in counts.items() if number}


def _summarise(
    samples: Samples,
    source: Source,
    forms: Sequence[NumberedForm],
    counts: dict[str, int],
    incomplete: Sequence[tuple[int, str]],
) -> None:
    """Write the summary of the samples. Raises AssayError if too many are malformed."""
    edges = [exp.Min(this=column("t_ns")), exp.Max(this=column("t_ns"))]
    ((first, last),) = run(samples.connection, builder.from_source(dialect.select(*edges), "placed"))
    is_known = exp.or_(*(_is(item.form) for item in forms)) if forms else exp.false()
    ids = builder.from_source(dialect.select("id"), "series").where(is_known, copy=False)
    chosen = exp.In(this=column("series"), query=ids.subquery())
    query = builder.from_source(dialect.select(exp.Count(this=exp.Star()), exp.Min(this=column("t_ns"))), "placed")
    ((recognised, first_known),) = run(samples.connection, query.where(chosen, copy=False))
    if not recognised and samples.merged.samples:
        raise no_series_error(samples, forms)
    malformed = _torn(samples)
    lost = len({seq for seq, _ in incomplete})
    broken, number = len(malformed) + lost, samples.merged.samples + samples.merged.dropped
    log = Log(HOST, number + len(malformed), number, recognised - lost, broken, 0, first, last, first_known)
    remaining = [(HOST, name, n - sum(event == name for _, event in incomplete)) for name, n in counts.items()]
    described = [*malformed, *_described(samples, forms, incomplete)]
    write_found(samples.connection, source, [log], remaining, _placed(samples, described[:DESCRIBED]), samples.folder)


def _placed(samples: Samples, broken: Sequence[Broken]) -> Iterator[Broken]:
    """Yield malformed samples with the offset of their first byte or line, none in Parquet."""
    paths = dict(zip(samples.files, samples.paths, strict=True))
    offsets: dict[tuple[str, int], int] = {}
    for name in {item.file for item in broken}:
        numbers = {item.line for item in broken if item.file == name}
        offsets |= {(name, number): at for number, at in sample_files.places(paths[name], numbers).items()}
    return (replace(item, offset=offsets.get((item.file, item.line))) for item in broken)


def no_series_error(samples: Samples, forms: Sequence[NumberedForm]) -> Exception:
    """Return the error for samples of other series than events name."""
    query = builder.from_source(exp.Select(expressions=[column("name")], distinct=exp.Distinct()), "series")
    names = [name for (name,) in run(samples.connection, query.order_by("name"))]
    required = [name.name for item in forms for name in item.form.names]
    return fail(
        "nothing-recognised",
        f"none of the {format_count(samples.merged.samples, 'sample')} is of a series that an event names",
        expected=listed(required) or "no series at all",
        found=listed(names),
        hint=did_you_mean(required[0], names) if required else "",
    )


def _torn(samples: Samples) -> list[Broken]:
    """Return the malformed samples of files."""
    query = builder.from_source(dialect.select("file", "number", "reason", "text"), "found_broken").order_by(
        "file", "number"
    )
    rows = run(samples.connection, query)
    return [
        Broken(HOST, samples.files[file], number, None, reason, text[:SHOWN]) for file, number, reason, text in rows
    ]


def _described(
    samples: Samples, forms: Sequence[NumberedForm], incomplete: Sequence[tuple[int, str]]
) -> Iterator[Broken]:
    """Yield samples without a required field."""
    events = dict(reversed(incomplete[:DESCRIBED]))
    seqs = exp.In(this=column("seq"), expressions=[dialect.integer(seq) for seq in events] or [exp.Null()])
    query = builder.from_source(dialect.select("seq", "file", "number", "t_ns", "value", "name", "key"), "placed")
    query = query.join(
        "series", on=exp.EQ(this=column("series", "placed"), expression=column("id", "series")), copy=False
    )
    for seq, file, number, t_ns, value, name, key in run(
        samples.connection, query.where(seqs, copy=False).order_by("seq")
    ):
        event_forms = [item for item in forms if item.event.name == events[seq]]
        labels: dict[str, Any] = json.loads(key)
        number_text = None if value is None else f"{value:.17g}"  # null at the end of a line
        reason = _reason(event_forms, name, {LABEL: {sample_store.NAME: name, **labels}, "value": number_text})
        text = f"{name}{key} {value!r} at {t_ns} ns"
        yield Broken(HOST, samples.files[file], number, None, reason, text[:SHOWN])


def _reason(event_forms: Sequence[NumberedForm], name: str, body: object) -> str:
    """Return why a sample is malformed: the first field without a valid value."""
    forms = sorted(event_forms, key=lambda item: name not in {series.name for series in item.form.names})
    for item in forms:
        for field in item.fields:
            reason = "" if _plain(field) else missing_field_reason(item.event.name, field, body)
            if reason:
                return reason
    return "a field is missing"
