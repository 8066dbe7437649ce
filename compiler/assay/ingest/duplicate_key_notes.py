"""What is told of lines of logs in which a key that is read stands twice, with other values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.ingest.chunks import FILE_STEP
from assay.ingest.discovery import RunFiles
from assay.ingest.dropped_records import parsed
from assay.ingest.event_forms import bodies
from assay.ingest.fingerprint import FileSnapshot
from assay.ingest.line_counts import LineCount, Share
from assay.ingest.plain_copies import text_lines
from assay.ingest.readers.duplicate_key_names import SMALL, paths_read
from assay.ingest.recognition import Recognition
from assay.util.json_document import told_twice


def duplicate_key_warnings(files: RunFiles, how: Recognition, found: Sequence[Share]) -> tuple[str, ...]:
    """A sentence on the lines of events that have two values of a key that is read, and where the first stands; none
    where none has."""
    tallies = [tally for share in found for tally in share.tallies if tally.twice]
    if not tallies:
        return ()
    first = min(tallies, key=lambda tally: (tally.host, tally.first_twice or 0))
    held, number = _place(files, first)
    total = sum(tally.twice for tally in tallies)
    most = "at least " if any(_place(files, tally)[0].size > SMALL for tally in tallies) else ""
    key = next(_keys(how, first.form, held.path, number), "")
    of = f" of `{key}`" if key else " of a key"
    where = f"{held.path.relative_to(files.directory).as_posix()}:{number}"
    if total == 1:
        count = f"{most}1" if most else "a"
        return (f"{count} log line has two values{of}, of which the first counts ({where}).",)
    return (f"{most}{total} log lines have two values of a key, of which the first counts (the first is {where}, two "
            f"values{of}).",)  # fmt: skip


def _place(files: RunFiles, tally: LineCount) -> tuple[FileSnapshot, int]:
    """The file and the number of the first such line."""
    host = next(host for host in files.hosts if host.host == tally.host)
    index, number = divmod(tally.first_twice or 0, FILE_STEP)
    return host.held[index], number


def _keys(how: Recognition, form: int, path: Path, number: int) -> Iterator[str]:
    """The paths of keys that have two values in a line, as far as Python reads it."""
    try:
        record = parsed(text_lines(path, [number])[number])
    except (ValueError, RecursionError):
        return
    own = next(item for item in how.forms if item.number == form)
    for wrapped in bodies(how.source):
        for read in paths_read(how.source, own, wrapped):
            prefixes = (read[:depth] for depth in range(1, len(read) + 1))
            yield from (".".join(prefix) for prefix in prefixes if told_twice(record, prefix))
