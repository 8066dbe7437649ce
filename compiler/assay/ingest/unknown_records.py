"""Names of records that no event has: `unknown.parquet` of an ingested folder.

For each host and name, the table has the number of records and the first. It shows whether a new version of a system
renamed its records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.ingest import small_tables

if TYPE_CHECKING:
    import duckdb

TABLE = "unknown.parquet"
COLUMNS = {"host": "TEXT", "name": "TEXT", "n": "BIGINT", "first_seq": "BIGINT", "malformed": "BOOLEAN"}
LONGEST = 200  # characters of a name that are stored; the same as in unknown.rs
NAME_LIMIT = 1000  # names of a source that are counted separately
#: names of a file or chunk that are counted separately, since in some logs every record has another name
FILE_NAME_LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class UnknownTally:
    """The records of a host with one name: their number, and the `seq` of the first.

    The name is empty for records without a name, and None for all names except the most frequent. Lines of a text log
    that are malformed have names, too, by which they are recognized as renamed events.
    """

    host: str
    name: str | None
    rows: int
    first_seq: int
    is_malformed: bool = False

    @property
    def values(self) -> tuple[str, str | None, int, int, bool]:
        """Return a row of the table."""
        return self.host, self.name, self.rows, self.first_seq, self.is_malformed


def merge_tallies(tallies: Iterable[UnknownTally], limit: int) -> tuple[UnknownTally, ...]:
    """Return one tally for each host and name, sorted. Only the `limit` most frequent names of all hosts are kept."""
    all_tallies = tuple(tallies)
    totals: Counter[str] = Counter()
    for item in all_tallies:
        if item.name is not None:
            totals[item.name] += item.rows
    names = set(sorted(totals, key=lambda name: (-totals[name], name))[:limit])
    merged: dict[tuple[str, str | None, bool], UnknownTally] = {}
    for item in all_tallies:
        key = item.host, item.name if item.name in names else None, item.is_malformed
        previous = merged.get(key)
        first = min(item.first_seq, previous.first_seq) if previous else item.first_seq
        rows = item.rows + (previous.rows if previous else 0)
        merged[key] = UnknownTally(*key[:2], rows, first, item.is_malformed)
    return tuple(
        sorted(merged.values(), key=lambda item: (item.host, item.name is None, item.name or "", item.is_malformed))
    )


def write_unknown(connection: duckdb.DuckDBPyConnection, folder: Path, tallies: Iterable[UnknownTally]) -> None:
    """Write the table into an ingested folder."""
    rows = [item.values for item in merge_tallies(tallies, NAME_LIMIT)]
    small_tables.write_table(connection, folder / TABLE, COLUMNS, rows)
