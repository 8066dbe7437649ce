"""Damaged lines: NUL bytes before a line, and last lines without a line end.

Most files whose last line has no end are whole.  So the value is used, and it is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assay.ingest.batches import Lacking
from assay.ingest.chunks import FILE_STEP
from assay.ingest.discovery import RunFiles
from assay.ingest.line_counts import Share
from assay.ingest.readers.text_lines_sql import TextForms


def nul_padding_warnings(files: RunFiles, found: Sequence[Share]) -> tuple[str, ...]:
    """A sentence on the lines that have NUL bytes ahead of them, and where the first stands; none where none has."""
    tallies = [tally for share in found for tally in share.tallies if tally.padded]
    if not tallies:
        return ()
    hosts = {host.host: host for host in files.hosts}
    host, seq = min((tally.host, tally.first_padded or 0) for tally in tallies)
    name = hosts[host].files[seq // FILE_STEP].relative_to(files.directory).as_posix()
    total = sum(tally.padded for tally in tallies)
    lines = f"{total} log lines have NUL bytes ahead of them" if total > 1 else "a log line has NUL bytes ahead of it"
    which = "the first is" if total > 1 else "it is"
    return (f"{lines}, which are passed over ({which} {name}:{seq % FILE_STEP}): a log was cut in place while it was "
            "written, or a machine went down; what stood there is lost.",)  # fmt: skip


def marked(how: TextForms, share: Share, lacking: Sequence[Lacking]) -> Share:
    """What came of a text log whose last line has no end: told of its tally where that line is an event that is used,
    and ends in what is read of it."""
    last = max(share.tallies, key=lambda tally: tally.last_seq, default=None)
    ends = last and any(item.number == last.form and how.ends_in_value(item) for item in how.variants)
    if last is None or not ends or any((host, seq) == (last.host, last.last_seq) for host, seq, _ in lacking):
        return share
    return replace(share, tallies=tuple(replace(tally, unended=tally is last) for tally in share.tallies))


def unended(files: RunFiles, found: Sequence[Share]) -> tuple[str, ...]:
    """What is to be known of the last lines of text logs."""
    hosts = {host.host: host for host in files.hosts}
    tallies = sorted((tally.host, tally.last_seq) for share in found for tally in share.tallies if tally.unended)
    paths = [(hosts[host].files[seq // FILE_STEP], seq % FILE_STEP) for host, seq in tallies]
    return sentence([f"{path.relative_to(files.directory).as_posix()}:{line}" for path, line in paths])


def sentence(places: Sequence[str]) -> tuple[str, ...]:
    """A sentence on last lines, by where they stand; none where there are none."""
    if not places:
        return ()
    if len(places) == 1:
        return (f"the last line of a file has no line end ({places[0]}): if it was cut off there, so was its last "
                "value, which is used.",)  # fmt: skip
    return (f"the last lines of {len(places)} files have no line end (the first is {places[0]}): where they were cut "
            "off there, so were their last values, which are used.",)  # fmt: skip
