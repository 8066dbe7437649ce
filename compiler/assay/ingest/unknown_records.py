"""Names of records that no event has: how many records of each a host has, and which is the first.

They are `unknown.parquet` of an ingested folder.  A system whose new version calls its records otherwise has them.
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
LONGEST = 200  # characters of a name; of a longer one the rest is cut; that of unknown.rs
MOST = 1000  # names of a source that a run is described by
#: the same of a file, or of a piece of a large one: a log may name every record differently
MOST_OF_FILE = 10_000


@dataclass(frozen=True, slots=True)
class UnknownTally:
    """The records of a host that have a name: how many, and the `seq` of the first.

    The name is empty where a record has none, and None for those of all names beyond the most frequent.
    """

    host: str
    name: str | None
    rows: int
    first_seq: int

    @property
    def values(self) -> tuple[str, str | None, int, int]:
        """A row of the table."""
        return self.host, self.name, self.rows, self.first_seq


def merge_tallies(tallies: Iterable[UnknownTally], most: int) -> tuple[UnknownTally, ...]:
    """One tally for each host and name, sorted; names beyond the `most` frequent, over all hosts, count as None."""
    every = tuple(tallies)
    rows: Counter[str] = Counter()
    for item in every:
        if item.name is not None:
            rows[item.name] += item.rows
    names = set(sorted(rows, key=lambda name: (-rows[name], name))[:most])
    found: dict[tuple[str, str | None], UnknownTally] = {}
    for item in every:
        name = item.name if item.name in names else None
        own = found.get((item.host, name))
        first = min(item.first_seq, own.first_seq) if own else item.first_seq
        found[item.host, name] = UnknownTally(item.host, name, item.rows + (own.rows if own else 0), first)
    return tuple(sorted(found.values(), key=lambda item: (item.host, item.name is None, item.name or "")))


def write_unknown(connection: duckdb.DuckDBPyConnection, folder: Path, tallies: Iterable[UnknownTally]) -> None:
    """Write the table into an ingested folder."""
    rows = [item.values for item in merge_tallies(tallies, MOST)]
    small_tables.write(connection, folder / TABLE, COLUMNS, rows)
