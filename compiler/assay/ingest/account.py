"""The account of the lines of a run: each is used, unknown, malformed or another, and none is counted twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.ingest.line_counts import FileCounts
from assay.ingest.unknown_records import UnknownTally

if TYPE_CHECKING:
    from assay.ingest.summary import HostLog


class AccountError(Exception):
    """Counts of lines that do not add up: a bug of Assay, never one of the input."""


@dataclass(frozen=True, slots=True)
class LineAccount:
    """The lines of a host: `read` of them, of which each belongs to one of the other groups or is another."""

    host: str
    read: int
    used: int
    unknown: int
    malformed: int
    text: int

    def check(self) -> None:
        """Raise AccountError if a line is counted twice, or more lines than were read."""
        groups = (self.used, self.unknown, self.malformed, self.text)
        if min(groups) < 0 or sum(groups) > self.read:
            raise AccountError(f"the lines of a host do not add up: {self}")


def check_host_logs(logs: Sequence[HostLog], unknown: Sequence[UnknownTally]) -> None:
    """Check the counts of all hosts. Raises AccountError."""
    names: Counter[str] = Counter()
    for item in unknown:
        names[item.host] += 0 if item.is_malformed else item.rows
    for log in logs:
        LineAccount(log.host, log.lines, log.recognised, names[log.host], log.quarantined, log.text_lines).check()


def check_file_counts(file_counts: Sequence[FileCounts]) -> None:
    """Check that each line of some files has one form, and is listed once if it is malformed. Raises AccountError."""
    for counts in file_counts:
        read, formed = sum(counts.lines), sum(tally.rows for tally in counts.tallies)
        if read != formed:
            raise AccountError(f"{read} lines were read, {formed} have a form: {sorted(set(counts.hosts))}")
        if len({item[:2] for item in counts.malformed}) < len(counts.malformed):
            raise AccountError(f"a malformed line is listed twice: {sorted(set(counts.hosts))}")
