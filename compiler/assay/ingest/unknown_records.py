"""Names of records that no event has: for each host how many records, and the first.

They are `unknown.parquet` of an ingested folder. They show that a new version of a system renamed its records.
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
COLUMNS = {"host": "TEXT", "name": "TEXT", "n": "BIGINT", "first_seq": "BIGINT"}
LONGEST = 200  # characters of a name, after which it is cut; the same as in unknown.rs
NAME_LIMIT = 1000  # names of a source that are counted separately
#: the same limit for a file or a chunk of a large one, since a log may give every record another name
FILE_NAME_LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class UnknownTally:
    """The records of a host with one name: how many, and the `seq` of the first.

    The name is empty for records without one, and None for all names beyond the most frequent.
    """

    host: str
    name: str | None
    rows: int
    first_seq: int

    @property
    def values(self) -> tuple[str, str | None, int, int]:
        """Return a row of the table."""
        return self.host, self.name, self.rows, self.first_seq


def merge_tallies(tallies: Iterable[UnknownTally], limit: int) -> tuple[UnknownTally, ...]:
    """Return one tally for each host and name, sorted. Names beyond the `limit` frequent of all hosts become None."""
    all_tallies = tuple(tallies)
    rows: Counter[str] = Counter()
    for item in all_tallies:
        if item.name is not None:
            rows[item.name] += item.rows
    names = set(sorted(rows, key=lambda name: (-rows[name], name))[:limit])
    merged: dict[tuple[str, str | None], UnknownTally] = {}
    for item in all_tallies:
        name = item.name if item.name in names else None
        previous = merged.get((item.host, name))
        first = min(item.first_seq, previous.first_seq) if previous else item.first_seq
        merged[item.host, name] = UnknownTally(item.host, name, item.rows + (previous.rows if previous else 0), first)
    return tuple(sorted(merged.values(), key=lambda item: (item.host, item.name is None, item.name or "")))


def write_unknown(connection: duckdb.DuckDBPyConnection, folder: Path, tallies: Iterable[UnknownTally]) -> None:
    """Write the table into an ingested folder."""
    rows = [item.values for item in merge_tallies(tallies, NAME_LIMIT)]
    small_tables.write_table(connection, folder / TABLE, COLUMNS, rows)
