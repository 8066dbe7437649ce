"""Write some records of a run as a run of its own: the same files, with these records alone.

Logs and tables have their lines verbatim; a table has its header too. Files of other kinds, which are one document, are
copied whole, and so are documents with constants of the run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from assay.app.author.slice_records import Record
from assay.ingest.chunks import FILE_STEP
from assay.ingest.constant_lines import find_line
from assay.ingest.decompress import COMPRESSED, iter_decompressed
from assay.ingest.pipeline import find_records
from assay.ingest.plain_copies import decompress_file, read_raw_lines
from assay.ingest.readers import csv_text
from assay.ingest.readers.protocol import RawRecord, group_by_file
from assay.ingest.run_constants import find_constant_file
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.source_kinds import SOURCE_KINDS, TABLES
from assay.runs.model import IngestedRun, Part
from assay.util.scratch import create_temporary_folder


@dataclass(frozen=True, slots=True)
class SlicedFile:
    """A file of a slice: its path in the run, and the numbers of its lines there; none if it is whole."""

    path: str
    lines: tuple[int, ...]


@dataclass(slots=True)
class _Selection:
    """What to copy of each file of a run: lines by their numbers, rows of a table by theirs, or all of it."""

    lines: dict[Path, set[int]] = field(default_factory=lambda: defaultdict(set))
    rows: dict[Path, set[int]] = field(default_factory=lambda: defaultdict(set))
    whole: set[Path] = field(default_factory=set)
    begins: dict[Path, str] = field(default_factory=dict)  # of the tables of `rows`: `begins` of their source


@dataclass(slots=True)
class RunSlicer:
    """Writes records of a run; it remembers the lines that it read."""

    checked: CheckedPackage
    ingested_run: IngestedRun
    lines: dict[Path, dict[int, bytes]] = field(default_factory=lambda: defaultdict(dict))
    tables: dict[Path, _Table] = field(default_factory=dict)

    def write(self, records: Collection[Record], folder: Path) -> tuple[SlicedFile, ...]:
        """Write records and the constants of the run into an empty folder; return its files, by path.

        Raises AssayError if a file of the run cannot be read.
        """
        selection = self._select(records)
        directory = self.ingested_run.run.directory
        sliced_files = []
        for path in sorted({*selection.lines, *selection.rows, *selection.whole}):
            content, numbers = self._read_content(path, selection)
            name = path.relative_to(directory).as_posix()
            if path.suffix in COMPRESSED:
                name = name.removesuffix(path.suffix)
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            sliced_files.append(SlicedFile(name, numbers))
        return tuple(sliced_files)

    def locate(self, records: Collection[Record]) -> list[str]:
        """Return the locations of records in the run, ordered: file and line, or file and number of the record."""
        located = self._find(records)
        return list(dict.fromkeys(located[record].location for record in sorted(records, key=lambda item: item[::-1])))

    def read_texts(self, records: Collection[Record]) -> frozenset[tuple[str, str, str]]:
        """Return event, host and text of records."""
        return frozenset((event, place.host, item.text) for (event, place), item in self._find(records).items())

    def _find(self, records: Collection[Record]) -> dict[Record, RawRecord]:
        """Return the raw records at the places of records."""
        raw_records: dict[Record, RawRecord] = {}
        for part, part_records in self._group_by_part(records):
            located = find_records(part.source, part.files, {place for _, place in part_records})
            raw_records |= {record: located[record[1]] for record in part_records}
        return raw_records

    def _group_by_part(self, records: Iterable[Record]) -> Iterator[tuple[Part, set[Record]]]:
        """Yield the parts of the run, each with the records that are its own."""
        source_of_event = {event.name: event.source for event in self.checked.package.events}
        part_records: Mapping[str, set[Record]] = defaultdict(set)
        for record in records:
            part_records[source_of_event[record[0]]].add(record)
        return ((part, part_records[part.source.name]) for part in self.ingested_run.parts)

    def _select(self, records: Collection[Record]) -> _Selection:
        selection = _Selection()
        directory = self.ingested_run.run.directory
        for part, part_records in self._group_by_part(records):
            places = {place for _, place in part_records}
            kind = SOURCE_KINDS[part.source.kind]
            if kind.is_log or kind is TABLES:
                numbers_by_path = selection.lines if kind.is_log else selection.rows
                for path, _, group in group_by_file(part.files, sorted(places)):
                    numbers_by_path[path] |= {place.seq % FILE_STEP for place in group}
                    selection.begins[path] = part.source.begins
            else:
                located = find_records(part.source, part.files, places).values()
                selection.whole |= {directory / record.file for record in located}
        for constant in (item for source in self.checked.package.sources for item in source.constants):
            line = find_line(constant, directory) if constant.line else None
            if line:
                selection.lines[line.file].add(line.number)
            elif not constant.line and (document := find_constant_file(constant, directory)):
                selection.whole.add(document)
        # A line with a constant in a table is no row of it.
        selection.whole |= selection.lines.keys() & selection.rows.keys()
        return selection

    def _read_content(self, path: Path, selection: _Selection) -> tuple[bytes, tuple[int, ...]]:
        """Return the selected content of a file, and the numbers of its lines; none if it is whole."""
        if path in selection.whole:
            return b"".join(iter_decompressed(path)), ()
        if path in selection.rows:
            if path not in self.tables:
                self.tables[path] = _Table(path, selection.begins[path])
            return self.tables[path].read_rows(selection.rows[path])
        numbers, read_lines = tuple(sorted(selection.lines[path])), self.lines[path]
        read_lines |= read_raw_lines(path, selection.lines[path] - read_lines.keys())
        return b"".join(read_lines[number] for number in numbers), numbers


class _Table:
    """The rows of a table as bytes, with the numbers of their lines."""

    def __init__(self, path: Path, begins: str = "") -> None:
        with create_temporary_folder() as folder:
            plain = decompress_file(path, folder, "plain")
            records = list(csv_text.iter_records(path, plain, begins))
            ends = {record.line + record.lines for record in records}
            offsets = csv_text.find_line_offsets(plain, {*ends, *(record.line for record in records)})
            content = plain.read_bytes()
        self.rows = {
            record.number: (
                range(record.line, record.line + record.lines),
                # Whatever precedes the header, such as the name of the delimiter, belongs to it.
                content[offsets[record.line] if record.number else 0 : offsets.get(record.line + record.lines)],
            )
            for record in records
        }

    def read_rows(self, numbers: Collection[int]) -> tuple[bytes, tuple[int, ...]]:
        """Return the header and rows of these numbers, and the numbers of their lines."""
        chosen = [self.rows[number] for number in sorted({0, *numbers})]
        return b"".join(content for _, content in chosen), tuple(line for lines, _ in chosen for line in lines)
