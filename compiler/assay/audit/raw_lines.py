"""The raw records that rows of events were made of: where each stands in the files of a run, and its text."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlglot import exp

from assay.ingest import samples, table_files
from assay.ingest.files import LOGS, RunFiles
from assay.ingest.folder import connected
from assay.ingest.plain import plain, text_lines
from assay.ingest.reader import silent
from assay.ingest.sample_files import has_lines
from assay.ingest.sample_store import run
from assay.ingest.shares import FILE_STEP
from assay.spec.check_lines import TEXT_LINES
from assay.sql import dialect
from assay.sql.dialect import column
from assay.storage.scratch import folder as temporary


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a row of an event comes from: the host (empty: none) and the place of its record among the host's."""

    host: str
    seq: int


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A raw record: the file, from the run's directory, with the number of its line and its text.

    Where a file has no lines, `line` is 0 and `number` counts the records of the file from 1; the text is then the
    record as it was read.
    """

    file: str
    line: int
    number: int
    text: str

    @property
    def where(self) -> str:
        """File and line, or file and number of the record."""
        return f"{self.file}:{self.line}" if self.line else f"{self.file}#{self.number}"


def raw_records(kind: str, files: RunFiles, places: Iterable[Place]) -> dict[Place, RawRecord]:
    """The raw records at some places of a run's files, which are of a kind of source.

    Raises AssayError when a file cannot be read.
    """
    wanted = sorted(set(places))
    if not wanted:
        return {}
    if kind in (LOGS, TEXT_LINES):
        return dict(_of_logs(files, wanted))
    if kind == "csv":
        return dict(_of_tables(files, wanted))
    return _of_samples(files, wanted)


def _by_file(files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Path, str, list[Place]]]:
    """The files that places are in: path, name from the run's directory, the places."""
    hosts = {host.host: host for host in files.hosts}
    for (host, index), group in itertools.groupby(places, key=lambda item: (item.host, item.seq // FILE_STEP)):
        path = hosts[host].files[index]
        yield path, path.relative_to(files.directory).as_posix(), list(group)


def _of_logs(files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Place, RawRecord]]:
    for path, name, group in _by_file(files, places):
        texts = text_lines(path, {item.seq % FILE_STEP for item in group})
        for item in group:
            line = item.seq % FILE_STEP
            yield item, RawRecord(name, line, line, texts[line])


def _of_tables(files: RunFiles, places: Sequence[Place]) -> Iterator[tuple[Place, RawRecord]]:
    with temporary() as folder:
        for path, name, group in _by_file(files, places):
            content = plain(path, folder, "plain")
            found = table_files.chosen(path, content, [item.seq % FILE_STEP for item in group])
            for item in group:
                row = found[item.seq % FILE_STEP]
                yield item, RawRecord(name, row.line, row.number, row.text)


def _of_samples(files: RunFiles, places: Sequence[Place]) -> dict[Place, RawRecord]:
    """Samples, whose places number them in the order of time, over all files: they are gathered once more."""
    paths = [path for host in files.hosts for path in host.files]
    with temporary() as folder:
        (folder / "plain").mkdir()
        with connected(folder) as connection:
            found = samples.gathered(connection, paths, files.directory, folder, silent)
            samples.place(connection)
            query = dialect.select("seq", "file", "number", "name", "key", "t_ns", "value").from_("placed")
            query = query.join("series", on=exp.EQ(this=column("series", "placed"), expression=column("id", "series")))
            chosen = exp.In(this=column("seq"), expressions=[dialect.integer(item.seq) for item in places])
            rows = run(connection, query.where(chosen))
    lines = dict(_lines_of_samples(paths, found.files, rows))
    return {Place("", row[0]): lines.get(row[0], _sample(found.files, row)) for row in rows}


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
