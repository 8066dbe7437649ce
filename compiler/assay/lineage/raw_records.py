"""The raw records that rows of events were made of: where each stands in the files of a run, and its text."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlglot import exp

from assay.ingest.chunks import FILE_STEP
from assay.ingest.decompress import decompressed
from assay.ingest.discovery import RunFiles
from assay.ingest.plain_copies import plain, text_lines
from assay.ingest.readers import samples
from assay.ingest.readers.json_record_positions import written_records
from assay.ingest.readers.sample_files import has_lines
from assay.ingest.readers.sample_store import run
from assay.ingest.readers.tables import form_of
from assay.ingest.workspace_dir import open_engine
from assay.lang.model.package import Source
from assay.lang.model.vocabulary import BLOCKS, JSON_LINES, RECORDS, SAMPLES, TABLES, TEXT_LINES
from assay.sql import dialect
from assay.sql.dialect import column
from assay.util.progress import unwatched
from assay.util.scratch import folder as temporary


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a row of an event comes from: the host (empty: none) and the place of its record among the host's."""

    host: str
    seq: int


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A raw record: the file, from the run's directory, with the number of its line and its text.

    `number` counts the records of the file from 1.  `line` is 0 where a file has no lines (the text is then the record
    as it was read), and of lists that have several records in a line.  Of a record of several lines `line` is the
    first; the text of one of a list is as it would be in one line, that of a block its pairs with `; ` between them.
    """

    file: str
    line: int
    number: int
    text: str

    @property
    def where(self) -> str:
        """File and line, or file and number of the record."""
        return f"{self.file}:{self.line}" if self.line else f"{self.file}#{self.number}"


def raw_records(source: Source, files: RunFiles, places: Iterable[Place]) -> dict[Place, RawRecord]:
    """The raw records at some places of the files of a run that a source reads.

    Raises AssayError when a file cannot be read, or is another than was found.
    """
    wanted = sorted(set(places))
    if not wanted:
        return {}
    return dict(FINDERS[source.kind](source, files, wanted))


def _by_file(files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Path, str, list[Place]]]:
    """The files that places are in: path, name from the run's directory, the places."""
    hosts = {host.host: host for host in files.hosts}
    for (host, index), group in itertools.groupby(places, key=lambda item: (item.host, item.seq // FILE_STEP)):
        path = hosts[host].files[index]
        yield path, path.relative_to(files.directory).as_posix(), list(group)


def _of_logs(_: Source, files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Place, RawRecord]]:
    for path, name, group in _by_file(files, places):
        texts = text_lines(path, {item.seq % FILE_STEP for item in group})
        for item in group:
            line = item.seq % FILE_STEP
            yield item, RawRecord(name, line, line, texts[line])


def _of_tables(source: Source, files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Place, RawRecord]]:
    files.unchanged()
    form = form_of(source)
    with temporary() as folder:
        for path, name, group in _by_file(files, places):
            content = plain(path, folder, "plain")
            found = form.chosen(path, content, [item.seq % FILE_STEP for item in group])
            for item in group:
                row = found[item.seq % FILE_STEP]
                yield item, RawRecord(name, row.line, row.number, row.text)


def _of_lists(source: Source, files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Place, RawRecord]]:
    files.unchanged()
    for path, name, group in _by_file(files, places):
        content = b"".join(decompressed(path))
        found = written_records(content, source.body, {item.seq % FILE_STEP for item in group})
        for item in group:
            number = item.seq % FILE_STEP
            yield item, RawRecord(name, found[number].line, number, found[number].text)


def _of_samples(_: Source, files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Place, RawRecord]]:
    """Samples, whose places number them in the order of time, over all files: they are gathered once more."""
    paths = [path for host in files.hosts for path in host.files]
    with temporary() as folder:
        (folder / "plain").mkdir()
        with open_engine(folder) as connection:
            found = samples.gathered(connection, paths, files.directory, folder, unwatched)
            samples.place(connection)
            query = dialect.select("seq", "file", "number", "name", "key", "t_ns", "value").from_("placed")
            query = query.join("series", on=exp.EQ(this=column("series", "placed"), expression=column("id", "series")))
            chosen = exp.In(this=column("seq"), expressions=[dialect.integer(item.seq) for item in places])
            rows = run(connection, query.where(chosen))
    lines = dict(_lines_of_samples(paths, found.files, rows))
    yield from ((Place("", row[0]), lines.get(row[0]) or _sample(found.files, row)) for row in rows)


def _sample(names: Sequence[str], row: tuple[Any, ...]) -> RawRecord:
    _, file, number, name, key, t_ns, value = row
    return RawRecord(names[file], 0, number, f"{name}{key} {value!r} at {t_ns} ns")


def _lines_of_samples(
    paths: Sequence[Path], names: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[int, RawRecord]]:
    """The samples that stand in files of lines, by their places."""
    by_file: dict[int, dict[int, int]] = {}
    for seq, file, number, *_ in rows:
        by_file.setdefault(file, {})[seq] = number
    for file, numbers in by_file.items():
        if has_lines(paths[file]):
            texts: Mapping[int, str] = text_lines(paths[file], set(numbers.values()))
            for seq, number in numbers.items():
                yield seq, RawRecord(names[file], number, number, texts[number])


#: kind of a source -> what finds the records at places of its files; every kind that is ingested is here
FINDERS: Mapping[str, Callable[[Source, RunFiles, Sequence[Place]], Iterator[tuple[Place, RawRecord]]]] = {
    JSON_LINES: _of_logs,
    TEXT_LINES: _of_logs,
    TABLES: _of_tables,
    BLOCKS: _of_tables,
    RECORDS: _of_lists,
    SAMPLES: _of_samples,
}
