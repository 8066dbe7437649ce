"""Lines of logs with NUL bytes ahead of them: records may have stood there."""

from __future__ import annotations

from collections.abc import Sequence

from assay.ingest.chunks import FILE_STEP
from assay.ingest.discovery import RunFiles
from assay.ingest.line_counts import Share


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
