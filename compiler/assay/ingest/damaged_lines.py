"""Damaged lines: NUL bytes before a line, and last lines without a line end.

The values of a last line without a line end are used, with a warning, since most of these files are complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assay.ingest.batches import IncompleteRow
from assay.ingest.chunks import FILE_STEP
from assay.ingest.discovery import RunFiles
from assay.ingest.line_counts import FileCounts
from assay.ingest.readers.text_lines_sql import TextForms


def list_nul_padding_warnings(files: RunFiles, file_counts: Sequence[FileCounts]) -> tuple[str, ...]:
    """Return a warning with the number and first location of lines after NUL bytes, or nothing."""
    tallies = [tally for counts in file_counts for tally in counts.tallies if tally.padded]
    if not tallies:
        return ()
    hosts = {host.host: host for host in files.hosts}
    host, seq = min((tally.host, tally.first_padded or 0) for tally in tallies)
    name = hosts[host].files[seq // FILE_STEP].relative_to(files.directory).as_posix()
    total = sum(tally.padded for tally in tallies)
    lines = f"{total} log lines have NUL bytes before them" if total > 1 else "a log line has NUL bytes before it"
    subject = "the first is" if total > 1 else "it is"
    return (f"{lines}, which are ignored ({subject} {name}:{seq % FILE_STEP}): a log was truncated while it was "
            "written, or a machine crashed; the text there is lost.",)  # fmt: skip


def mark_unended_line(forms: TextForms, counts: FileCounts, incomplete_rows: Sequence[IncompleteRow]) -> FileCounts:
    """Mark the last line of a text log without a final line end, if a value that is read ends there.

    A line that is quarantined for a missing field is not marked.
    """
    last = max(counts.tallies, key=lambda tally: tally.last_seq, default=None)
    has_value_at_end = last and any(
        item.number == last.form and forms.can_end_in_value(item) for item in forms.variants
    )
    if (
        last is None
        or not has_value_at_end
        or any((host, seq) == (last.host, last.last_seq) for host, seq, _ in incomplete_rows)
    ):
        return counts
    return replace(counts, tallies=tuple(replace(tally, unended=tally is last) for tally in counts.tallies))


def list_unended_line_warnings(files: RunFiles, file_counts: Sequence[FileCounts]) -> tuple[str, ...]:
    """Return a warning about the marked last lines of text logs, or nothing."""
    hosts = {host.host: host for host in files.hosts}
    tallies = sorted(
        (tally.host, tally.last_seq) for counts in file_counts for tally in counts.tallies if tally.unended
    )
    paths = [(hosts[host].files[seq // FILE_STEP], seq % FILE_STEP) for host, seq in tallies]
    return format_unended_warning([f"{path.relative_to(files.directory).as_posix()}:{line}" for path, line in paths])


def format_unended_warning(locations: Sequence[str]) -> tuple[str, ...]:
    """Return a warning about last lines at some locations, or nothing."""
    if not locations:
        return ()
    if len(locations) == 1:
        return (f"the last line of a file has no line end ({locations[0]}); its last value is used, but may be "
                "truncated.",)  # fmt: skip
    return (
        f"the last lines of {len(locations)} files have no line end (the first is {locations[0]}); their last values "
        "are used, but may be truncated.",
    )
