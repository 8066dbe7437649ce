"""Ingest of samples of time series: an event is the samples of the series of some names.

A sample's place (`seq`) is its number in the order of time, over all series: the last sample before an instant is the
last in that order; `series` is the number of its series in the run.  A sample that marks the end of its line has no
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
HOST = ""  # samples have none


@dataclass(frozen=True, slots=True)
class Samples:
    """The samples of a run: `placed` (seq, series, t_ns, value, file, number) and `series` are tables.

    `notes` tell what is to be known of them.
    """

    connection: duckdb.DuckDBPyConnection
    folder: Path
    merged: Merged
    files: tuple[str, ...]
    paths: tuple[Path, ...]
    notes: tuple[str, ...] = ()


class SampleFiles:
    """Reads samples of time series, in files of any form; `host` is empty."""

    def read(self, job: IngestJob) -> Outcome:
        """Write the samples of a run, each once.

        Raises AssayError also for a file of no known form, and for two values of a series at an instant.
        """
        forms = numbered(job.own_events, job.wanted)
        (job.folder / "plain").mkdir()
        with open_engine(job.folder, MEMORY // job.share) as connection:
            paths = [path for host in job.files.hosts for path in host.files]
            found = gathered(connection, paths, job.files.directory, job.folder, job.progress)
            place(found.connection)
            counts = _counts(found, forms)
            names = [item.event.name for item in forms if item.needed]
            lost = [row for name in dict.fromkeys(names) for row in _write(found, name, forms)]
            _summarise(found, job.source, forms, counts, lost)
        return Outcome(bool(lost), found.notes)

    def locate(self, _: Source, files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Place, RawRecord]]:
        """Find samples, which are numbered in the order of time over all files: these are read once more."""
        paths = [path for host in files.hosts for path in host.files]
        with scratch_folder() as folder:
            (folder / "plain").mkdir()
            with open_engine(folder) as connection:
                found = gathered(connection, paths, files.directory, folder, ignore_bytes)
                place(connection)
                query = dialect.select("seq", "file", "number", "name", "key", "t_ns", "value").from_("placed")
                query = query.join(
                    "series", on=exp.EQ(this=column("series", "placed"), expression=column("id", "series"))
                )
                chosen = exp.In(this=column("seq"), expressions=[dialect.integer(item.seq) for item in places])
                rows = run(connection, query.where(chosen))
        lines = dict(_sample_lines(paths, found.files, rows))
        yield from ((Place("", row[0]), lines.get(row[0]) or _sample_record(found.files, row)) for row in rows)


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
    """The samples of files, each once, in tables `series` and `samples`; `folder` / "plain" is for scratch."""
    sample_store.prepare(connection)
    sizes = [path.stat().st_size for path in paths]
    names = tuple(path.relative_to(directory).as_posix() for path in paths)
    told = []
    for index, path in enumerate(paths):
        warned = sample_files.load(connection, path, index, folder / "plain")
        told += [f"samples may be missing in {names[index]}, as the server said with them: {text}" for text in warned]
        progress(sum(sizes[: index + 1]), sum(sizes))
    merged = sample_store.merge(connection, dict(enumerate(names)))
    return Samples(connection, folder, merged, names, tuple(paths), (*told, *merged.notes))


def place(connection: duckdb.DuckDBPyConnection) -> None:
    """Number the samples in the order of time."""
    order = exp.Order(expressions=[exp.Ordered(this=column(name)) for name in ("t_ns", "series")])
    seq = builder.alias(exp.Window(this=exp.RowNumber(), order=order), "seq")
    columns = ("series", "t_ns", "value", "file", "number")
    make(connection, "placed", builder.from_source(dialect.select(seq, *columns), "samples"))
    sample_store.drop(connection, "samples")


def _label(name: str) -> exp.Expr:
    """A label of a series; null where it has none."""
    if name == sample_store.NAME:
        return column("name")
    return builder.call("map_extract_value", column("labels"), builder.text(name))


def _is(form: Form) -> exp.Expr:
    """Whether a series is of a form: of one of its names, and not ruled out by a label."""
    known = exp.In(this=column("name"), expressions=[builder.text(name.name) for name in form.names])
    return exp.and_(known, *(exp.Not(this=_ruled_out(rule)) for rule in form.unless))


def _ruled_out(rule: Unless) -> exp.Expr:
    label = _label(rule.path[-1])
    if rule.present:
        return builder.is_not_null(label)
    return exp.NullSafeEQ(this=label, expression=builder.text(rule.equals))


def _chosen(own: Sequence[NumberedForm]) -> exp.Select:
    """The series of an event: id, form, its labels that fields read (`label_1`, ...)."""
    ifs = [exp.If(this=_is(item.form), true=dialect.integer(item.number)) for item in own]
    form = builder.alias(exp.Case(ifs=ifs), "form")
    values = [builder.alias(_label(path[1]), f"label_{index}") for index, path in enumerate(_labels(own), start=1)]
    return builder.from_source(dialect.select("id", form, *values), "series")


def _labels(own: Sequence[NumberedForm]) -> list[tuple[str, ...]]:
    return [path for path in paths_of(own) if path != VALUE]


def _of_event(own: Sequence[NumberedForm]) -> exp.Select:
    """The samples of an event with what `_chosen` tells of their series."""
    chosen = _chosen(own).subquery("chosen")
    query = builder.from_source(dialect.select("*"), "placed")
    query = query.join(
        chosen, on=exp.EQ(this=column("series", "placed"), expression=column("id", "chosen")), copy=False
    )
    return query.where(builder.is_not_null(column("form")), copy=False)


def _whole_text() -> exp.Expr:
    """A value as a text, an integer with all its digits."""
    value = column("value")
    most = builder.cast(exp.Literal.number("18446744073709551616"), "DOUBLE")
    whole = exp.and_(
        exp.EQ(this=builder.call("trunc", value), expression=value.copy()),
        exp.LT(this=exp.Abs(this=value.copy()), expression=most),
    )
    digits = builder.cast(builder.cast(value.copy(), "INT128"), "TEXT")
    return builder.when(whole, digits, builder.cast(value.copy(), "TEXT"))


def _write(found: Samples, name: str, forms: Sequence[NumberedForm]) -> list[tuple[int, str]]:
    """Write the rows of an event; the places of those that lack what must be there."""
    own = [item for item in forms if item.event.name == name]
    labels = _labels(own)
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
    given = {(item.number, field.name): column("value") for item in own for field in item.fields if _plain(field)}
    rows.append(builder.alias(builder.is_null(column("value")), ENDED))
    values = {field.name for item in own for field in item.fields if VALUE in field.paths}
    query = builder.from_source(dialect.select(*rows), _of_event(own).subquery("own"))
    target = found.folder / "events" / name / "0.parquet"
    target.parent.mkdir(parents=True)

    def ordered(swift: bool) -> exp.Query:
        rows = typed_rows(own, read, query.copy(), given, values, swift=swift, keys=KEYS_OF_SAMPLES)
        return rows.order_by("seq")

    return [(seq, name) for _, seq in write_event_rows(found.connection, name, ordered, target)]


def _plain(field: Field) -> bool:
    """Whether a field is a sample's value as it is: then it may be no number, or infinite."""
    return field.paths == (VALUE,) and field.type == "real" and not field.transforms


def _counts(found: Samples, forms: Sequence[NumberedForm]) -> dict[str, int]:
    """How many samples each event has."""
    counts = {}
    for name in sorted({item.event.name for item in forms}):
        own = [item for item in forms if item.event.name == name]
        query = builder.from_source(dialect.select(exp.Count(this=exp.Star())), _of_event(own).subquery("own"))
        ((counts[name],),) = run(found.connection, query)
    return {name: number for name, number in counts.items() if number}


def _summarise(
    found: Samples,
    source: Source,
    forms: Sequence[NumberedForm],
    counts: dict[str, int],
    lost: Sequence[tuple[int, str]],
) -> None:
    """Write what the samples hold, and judge it."""
    edges = [exp.Min(this=column("t_ns")), exp.Max(this=column("t_ns"))]
    ((first, last),) = run(found.connection, builder.from_source(dialect.select(*edges), "placed"))
    known = exp.or_(*(_is(item.form) for item in forms)) if forms else exp.false()
    ids = builder.from_source(dialect.select("id"), "series").where(known, copy=False)
    chosen = exp.In(this=column("series"), query=ids.subquery())
    query = builder.from_source(dialect.select(exp.Count(this=exp.Star()), exp.Min(this=column("t_ns"))), "placed")
    ((recognised, first_known),) = run(found.connection, query.where(chosen, copy=False))
    if not recognised and found.merged.samples:
        raise no_series_error(found, forms)
    torn = _torn(found)
    gone = len({seq for seq, _ in lost})
    broken, number = len(torn) + gone, found.merged.samples + found.merged.dropped
    log = Log(HOST, number + len(torn), number, recognised - gone, broken, 0, first, last, first_known)
    left = [(HOST, name, n - sum(event == name for _, event in lost)) for name, n in counts.items()]
    described = [*torn, *_described(found, forms, lost)]
    write_found(found.connection, source, [log], left, _placed(found, described[:DESCRIBED]), found.folder)


def _placed(found: Samples, broken: Sequence[Broken]) -> Iterator[Broken]:
    """Broken samples, each with the place of its first byte, of a text that of its line; none in Parquet."""
    paths = dict(zip(found.files, found.paths, strict=True))
    offsets: dict[tuple[str, int], int] = {}
    for name in {item.file for item in broken}:
        numbers = {item.line for item in broken if item.file == name}
        offsets |= {(name, number): at for number, at in sample_files.places(paths[name], numbers).items()}
    return (replace(item, offset=offsets.get((item.file, item.line))) for item in broken)


def no_series_error(found: Samples, forms: Sequence[NumberedForm]) -> Exception:
    """The error of samples of other series than events name."""
    query = builder.from_source(exp.Select(expressions=[column("name")], distinct=exp.Distinct()), "series")
    names = [name for (name,) in run(found.connection, query.order_by("name"))]
    asked = [name.name for item in forms for name in item.form.names]
    return fail(
        "nothing-recognised",
        f"none of the {format_count(found.merged.samples, 'sample')} is of a series that an event names",
        expected=listed(asked) or "no series at all",
        found=listed(names),
        hint=did_you_mean(asked[0], names) if asked else "",
    )


def _torn(found: Samples) -> list[Broken]:
    """What stands in files in the place of samples, and is none."""
    query = builder.from_source(dialect.select("file", "number", "reason", "text"), "found_broken").order_by(
        "file", "number"
    )
    rows = run(found.connection, query)
    return [Broken(HOST, found.files[file], number, None, reason, text[:SHOWN]) for file, number, reason, text in rows]


def _described(found: Samples, forms: Sequence[NumberedForm], lost: Sequence[tuple[int, str]]) -> Iterator[Broken]:
    """Samples that lack what their event must have."""
    events = dict(reversed(lost[:DESCRIBED]))
    seqs = exp.In(this=column("seq"), expressions=[dialect.integer(seq) for seq in events] or [exp.Null()])
    query = builder.from_source(dialect.select("seq", "file", "number", "t_ns", "value", "name", "key"), "placed")
    query = query.join(
        "series", on=exp.EQ(this=column("series", "placed"), expression=column("id", "series")), copy=False
    )
    for seq, file, number, t_ns, value, name, key in run(
        found.connection, query.where(seqs, copy=False).order_by("seq")
    ):
        own = [item for item in forms if item.event.name == events[seq]]
        labels: dict[str, Any] = json.loads(key)
        said = None if value is None else f"{value:.17g}"  # the end of a line has none
        reason = _reason(own, name, {LABEL: {sample_store.NAME: name, **labels}, "value": said})
        text = f"{name}{key} {value!r} at {t_ns} ns"
        yield Broken(HOST, found.files[file], number, None, reason, text[:SHOWN])


def _reason(own: Sequence[NumberedForm], name: str, body: object) -> str:
    """Why a sample is broken: the first field that cannot be had."""
    forms = sorted(own, key=lambda item: name not in {known.name for known in item.form.names})
    for item in forms:
        for field in item.fields:
            said = "" if _plain(field) else missing_field_reason(item.event.name, field, body)
            if said:
                return said
    return "a field is missing"
